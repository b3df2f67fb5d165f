#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures the cost of posting and polling with the loaded driver, in a guest whose time stamp counter counts
instructions. Writes JSON to OUTPUT.

usage: measure_verbs.py TEST_MODULE OUTPUT
"""

import json
import os
import pathlib
import subprocess
import sys

DEBUGFS = pathlib.Path("/sys/kernel/debug/cxib_kverbs")


def measure() -> str:
    """The report of the test module's case `cost`."""
    descriptor = os.open(DEBUGFS / "run", os.O_WRONLY)
    try:
        os.write(descriptor, b"cost")
    except OSError as error:
        raise SystemExit(f"cost: {(DEBUGFS / 'report').read_text().strip()} ({error.strerror})") from error
    finally:
        os.close(descriptor)
    return (DEBUGFS / "report").read_text()


def parse(report: str) -> dict[str, dict[str, int]]:
    """Parses lines that consist of a name, then words and numbers in turn."""
    found = {}
    for line in report.splitlines():
        name, *words = line.split()
        found[name] = dict(zip(words[::2], map(int, words[1::2]), strict=True))
    return found


def main() -> int:
    module, output = sys.argv[1:]
    subprocess.run(["insmod", module], check=True)
    found = parse(measure())
    subprocess.run(["rmmod", "cxib_kverbs"], check=True)
    pathlib.Path(output).write_text(json.dumps(found, indent=4) + "\n")
    print(json.dumps(found), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
