#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs all parts of one line of the profile matrix in a guest with two HCAs; a failed part does not stop the next one.

usage: matrix.py DEVICE_ID RESULT OUTCOMES

DEVICE_ID is the PCI device ID in hexadecimal. RESULT gets the result of each part, OUTCOMES the outcome of each
rdma-core test as JSON. Needs LAB_DRIVER, and in PYTHONPATH this directory, tools/testing/guest and
tools/testing/rdma_core/guest.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import time

import rdma
import suite

REPO = pathlib.Path(__file__).resolve().parents[4]
PROGRAMS = ["test_pingpong", "test_cm_programs.Examples"]
DISK = "nvme.Disk.test_several_queues_verified"


def bring_up(device_id: int) -> bool:
    """Whether both HCAs have the device ID and an active port."""
    shown = subprocess.run(["ibv_devinfo", "-v"], check=True, capture_output=True, text=True).stdout
    ids = [int(value) for value in re.findall(r"vendor_part_id:\s+(\d+)", shown)]
    states = re.findall(r"^\s*state:\s+(\S+)", shown, re.MULTILINE)
    print(f"bring-up: devices {[hex(value) for value in ids]}, ports {states}", flush=True)
    return ids == [device_id] * 2 and states == ["PORT_ACTIVE"] * 2


def succeeds(words: list[str]) -> bool:
    return subprocess.run(words, check=False, env=os.environ | {"ULP_DRIVER": os.environ["LAB_DRIVER"]}).returncode == 0


def run_suite(file: pathlib.Path) -> bool:
    """Runs rdma-core's tests. The host evaluates the outcomes, as a profile may lack a feature that a test needs."""
    ports = rdma.ports()
    suite.prepare(ports)
    file.write_text(json.dumps(suite.run(ports, [])), encoding="utf-8")
    return True


def main() -> int:
    device_id, result, outcomes = int(sys.argv[1], 16), pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    ulp = REPO / "tools/testing/ulp/guest"
    parts = {
        "bring-up": lambda: bring_up(device_id),
        # NVMe comes later, because its IP addresses stay on the ports.
        "rdma-core": lambda: run_suite(outcomes),
        "programs": lambda: succeeds([sys.executable, "-m", "unittest", "--verbose", *PROGRAMS]),
        "NVMe": lambda: succeeds([str(ulp / "python"), str(ulp / "main.py"), DISK]),
    }
    results = {}
    for name, run in parts.items():
        begin = time.monotonic()
        results[name] = run()
        print(f"{name}: {'passed' if results[name] else 'FAILED'} in {time.monotonic() - begin:.0f} s", flush=True)
    result.write_text(json.dumps(results), encoding="utf-8")
    return 0 if all(results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
