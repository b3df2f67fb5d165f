#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs rdma-core's test suite in this guest, one part on each HCA at the same time, and checks the outcomes.

usage: suite.py FILE [NAME…]

FILE gets the outcome of each test. NAMEs are those of run_tests.py.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import ipoib
import rdma
import record
import verdict

HERE = pathlib.Path(__file__).resolve().parent
HUGE_PAGES = pathlib.Path("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages")
HUGE_PAGES_WANTED = 64
PATIENCE = int(os.environ.get("SUITE_PATIENCE", "2200"))  # seconds


def prepare(ports: list[rdma.Port]) -> None:
    """Prepares what some tests need: huge pages, and an IP address on each port for the connection manager."""
    HUGE_PAGES.write_text(str(HUGE_PAGES_WANTED))
    for number, port in enumerate(ports, 1):
        ipoib.set_up(port, f"10.9.0.{number}/24")


def shares(parts: int) -> list[list[str]]:
    """Divides the suite's modules into parts with about the same number of tests."""
    sizes = {file.stem: len(re.findall(r"^ +def test_", file.read_text(encoding="utf-8"), re.MULTILINE))
             for file in record.TESTS.glob("test_*.py")}
    result: list[list[str]] = [[] for _ in range(parts)]
    for name in sorted(sizes, key=lambda name: (-sizes[name], name)):
        min(result, key=lambda share: sum(sizes[member] for member in share)).append(name)
    return [[f"tests.{name}" for name in share] for share in result]


def start(port: rdma.Port, names: list[str], directory: pathlib.Path) -> subprocess.Popen[str]:
    log = (directory / f"{port.device}.log").open("w", encoding="utf-8")
    with log:
        return subprocess.Popen([sys.executable, str(HERE / "record.py"), str(directory / f"{port.device}.json"), "--dev",
                                 port.device, "--port", str(port.number), "-v", *names],
                                stdout=log, stderr=subprocess.STDOUT, text=True)


def run(ports: list[rdma.Port], names: list[str]) -> verdict.Outcomes:
    """Runs the tests; returns their outcomes."""
    parts = [names] if names else shares(len(ports))
    outcomes: verdict.Outcomes = {}
    with tempfile.TemporaryDirectory() as path:
        directory = pathlib.Path(path)
        runs = [(port, start(port, part, directory)) for port, part in zip(ports, parts)]
        for port, child in runs:
            status = child.wait(PATIENCE)
            print(f"--- {port.device}", (directory / f"{port.device}.log").read_text(encoding="utf-8"), sep="\n")
            file = directory / f"{port.device}.json"
            # A process killed by a signal leaves no file.
            part = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
            if status != 0 and not verdict.failures(part):
                part[f"run_tests.py on {port.device}"] = {"outcome": "error", "text": f"it ended with {status}"}
            outcomes |= part
    return outcomes


def report(outcomes: verdict.Outcomes, expected: verdict.Expectations) -> None:
    counts = verdict.count(outcomes)
    missing = verdict.gaps(outcomes, expected)
    slowest = sorted(outcomes, key=lambda name: -outcomes[name].get("seconds", 0))[:5]
    print("slowest:", ", ".join(f"{name} {outcomes[name].get('seconds', 0):.1f} s" for name in slowest))
    print(f"skips of what an InfiniBand HCA can do: {len(missing)}", *missing, sep="\n  ")
    print(f"rdma-core: {len(outcomes)} tests, {len(outcomes) - counts['skipped']} executed: {counts['passed']} passed, "
          f"{counts['failed'] + counts['error']} failed; {counts['skipped']} skipped")


def main(file: pathlib.Path, names: list[str]) -> int:
    ports = rdma.ports()
    prepare(ports)
    outcomes = run(ports, names)
    file.write_text(json.dumps(outcomes, indent=1, sort_keys=True), encoding="utf-8")
    expected = verdict.load(HERE.parent / "skips.toml")
    whole = not names and os.environ.get("LAB_DRIVER") == "mlx5"
    complaints = verdict.complaints(outcomes, expected) if whole else verdict.failures(outcomes)
    report(outcomes, expected)
    for complaint in complaints:
        print(f"rdma-core: {complaint}", file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), sys.argv[2:]))
