#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the kernel's semantic checks (coccicheck) over the module, and records clean files.

Runs in the lab tree with the build directory of a kernel ('tools/lab/kdir debug'), which has the checks.
coccicheck_known lists findings that are no faults, one per line: "FILE|TEXT|REASON", where TEXT is part of the finding.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

from cache import cache_directory, digest
from files import REPO, project_files

CHECKED = ("drivers/", "include/cxib/", "include/uapi/")
KNOWN = pathlib.Path(__file__).with_name("coccicheck_known")
FINDING = re.compile(r"^(?P<file>[^:\s]+):(?P<line>\d+):(?P<text>.*)$")


def checks(kernel: pathlib.Path) -> list[pathlib.Path]:
    """The checks of a kernel that have a report mode. A check with OCaml code needs an OCaml compiler."""
    texts = {check: check.read_text() for check in (kernel / "scripts/coccinelle").rglob("*.cocci")}
    return sorted(check for check, text in texts.items() if "virtual report" in text and "script:ocaml" not in text)


def fingerprint(scripts: list[pathlib.Path]) -> str:
    return digest(b"".join(script.read_bytes() for script in scripts))


def options(check: pathlib.Path) -> list[str]:
    """The options that a check names in its comment."""
    match = re.search(r"^// Options: *(.*)$", check.read_text(), re.MULTILINE)
    return match[1].split() if match else []


def run(check: pathlib.Path, names: list[str]) -> str:
    """Output of a check for the given files."""
    command = ["spatch", "-D", "report", "--very-quiet", "--no-show-diff", "--timeout", "300", "--cocci-file", check,
               *options(check), *names]
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True, check=False)
    if done.returncode:
        return f"{check.name}: spatch ended with status {done.returncode}: {done.stderr.strip()[-500:]}"
    return done.stdout


def read_known() -> list[tuple[str, str]]:
    lines = [line for line in KNOWN.read_text().splitlines() if line and not line.startswith("#")]
    return [(name, text) for name, text, _reason in (line.split("|", 2) for line in lines)]


def is_known(finding: str, known: list[tuple[str, str]]) -> bool:
    return any(finding.startswith(f"{name}:") and text in finding for name, text in known)


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs the kernel's semantic checks over the module.")
    parser.add_argument("kernel", type=pathlib.Path, help="build directory of a kernel: 'tools/lab/kdir debug' prints it")
    kernel = parser.parse_args().kernel
    names = [name for name in project_files() if name.startswith(CHECKED) and name.endswith((".c", ".h"))]
    scripts = checks(kernel)
    if not scripts:
        parser.error(f"kernel is '{kernel}', must be the build directory of a kernel: no checks in its scripts/coccinelle")
    version = fingerprint(scripts)
    clean = {name: cache_directory("coccicheck") / digest(version.encode() + (REPO / name).read_bytes())
             for name in names}
    wanted = [name for name in names if not clean[name].exists()]
    known = read_known()
    findings: set[str] = set()
    if wanted:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for output in pool.map(lambda check: run(check, wanted), scripts):
                findings.update(line for line in output.splitlines() if line.strip() and not is_known(line, known))
    for name in wanted:
        if not any(finding.startswith(f"{name}:") or not FINDING.match(finding) for finding in findings):
            clean[name].touch()
    print("\n".join([*sorted(findings), f"{len(scripts)} checks, {len(names)} files, {len(findings)} findings"]))
    return 1 if findings or not names else 0


if __name__ == "__main__":
    sys.exit(main())
