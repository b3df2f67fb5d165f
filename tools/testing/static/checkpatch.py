#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the kernel's checkpatch --strict over the module and its suites, and records clean files.

Runs in the lab tree, which has checkpatch in its linux-source package.
"""

import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

from cache import cache_directory, digest
from files import REPO, project_files
from list_files import is_kernel

SCRIPTS = ("checkpatch.pl", "spelling.txt", "const_structs.checkpatch")
OPTIONS = ["--no-tree", "--strict", "--quiet", "--terse", "--show-types"]

GENERATED = ("include/hw/",)
# Exceptions for generated headers: accessor names are as long as in the public interface, a structure of one word is an
# array of one word, words are spelled as in the specifications, and macros of access.h define functions.
GENERATED_OPTIONS = [
    "--ignore",
    "COMPLEX_MACRO,FLEXIBLE_ARRAY,LONG_LINE,LONG_LINE_COMMENT,LONG_LINE_STRING,MACRO_ARG_REUSE,MACRO_ARG_UNUSED,TYPO_SPELLING",
]


def unpacked_scripts() -> pathlib.Path:
    """The directory of checkpatch, unpacked from the kernel source archive if necessary."""
    archive = next(pathlib.Path("/usr/src").glob("linux-source-*.tar.xz"))
    fingerprint = digest(f"{archive.name} {archive.stat().st_size}".encode())[:16]
    above = cache_directory("checkpatch")
    scripts = above / f"scripts-{fingerprint}"
    if not scripts.exists():
        with tempfile.TemporaryDirectory(dir=above) as directory:
            members = [f"*/scripts/{name}" for name in SCRIPTS]
            command = ["tar", "-xJf", archive, "-C", directory, "--strip-components=2", "--wildcards", *members]
            subprocess.run(command, check=True)
            os.rename(directory, scripts)
            os.mkdir(directory)  # so that the context manager can remove it
    return scripts


def options_for(name: str) -> list[str]:
    return OPTIONS + (GENERATED_OPTIONS if name.startswith(GENERATED) else [])


def complaints(scripts: pathlib.Path, name: str) -> str:
    """Output of checkpatch for a file; empty if the file is clean."""
    key = digest(" ".join([scripts.name, *options_for(name)]).encode() + (REPO / name).read_bytes())
    clean = cache_directory("checkpatch") / key
    if clean.exists():
        return ""
    command = ["perl", scripts / "checkpatch.pl", *options_for(name), "--file", name]
    run = subprocess.run(command, cwd=REPO, capture_output=True, text=True, check=False)
    if run.returncode == 0:
        clean.touch()
        return ""
    return (run.stdout + run.stderr).strip() or f"{name}: checkpatch ended with status {run.returncode}"


def main() -> int:
    names = [name for name in project_files() if is_kernel(name)]
    scripts = unpacked_scripts()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = [text for text in pool.map(lambda name: complaints(scripts, name), names) if text]
    print("\n".join(found + [f"{len(names)} files, {len(found)} with complaints"]))
    return 1 if found or not names else 0


if __name__ == "__main__":
    sys.exit(main())
