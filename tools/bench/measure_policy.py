#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures the cost of a completion without done() if the RDMA core polls, in a guest whose time stamp counter counts
instructions. Writes JSON to OUTPUT.

usage: measure_policy.py TEST_MODULE OUTPUT
"""

import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "polling"))

import bench_polling  # noqa: E402

SAMPLES = 101


def main() -> int:
    module, output = sys.argv[1:]
    subprocess.run(["insmod", module], check=True)
    samples = bench_polling.core(SAMPLES)
    subprocess.run(["rmmod", "bench_polling"], check=True)
    event, arming = zip(*samples, strict=True)
    pathlib.Path(output).write_text(json.dumps({"event": event, "arming": arming}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
