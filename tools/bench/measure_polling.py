#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures, in a guest whose time stamp counter counts instructions, how polling contexts share one completion vector.
Writes JSON to the file that it is given.

usage: measure_polling.py TEST_MODULE OUTPUT SECONDS
"""

import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "polling"))

import bench_polling  # noqa: E402

EQUAL_US = [20] * 7
MIXED_US = [5, 5, 10, 20, 20, 50, 100]
PERIOD_US = 5000
SAMPLES = 101
PREEMPTION = pathlib.Path("/sys/kernel/debug/sched/preempt")


def preemption() -> str:
    """The kernel's choice, which it prints in parentheses."""
    found = re.search(r"\((\w+)\)", PREEMPTION.read_text())
    return found[1] if found else "fixed"


def measure(context: str, seconds: int) -> dict:
    found = {"alone": bench_polling.alone(context, SAMPLES)}
    for name, costs in (("equal", EQUAL_US), ("mixed", MIXED_US)):
        found[name] = bench_polling.load(context, costs, period_us=PERIOD_US, seconds=seconds)
    return found


def main() -> int:
    module, output, seconds = sys.argv[1:]
    subprocess.run(["insmod", module], check=True)
    results = {"seconds": int(seconds), "preemption": preemption(), "contexts": {}}
    for context in bench_polling.contexts():
        print(context, flush=True)
        results["contexts"][context] = measure(context, int(seconds))
    subprocess.run(["rmmod", "bench_polling"], check=True)
    pathlib.Path(output).write_text(json.dumps(results) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
