# SPDX-License-Identifier: GPL-2.0-or-later
"""Loads the test module in the guest and runs its cases."""

import json
import os
import pathlib
import subprocess
import unittest

MODULE = pathlib.Path(os.environ.get("CXIB_KVERBS_MODULE", "cxib_kverbs.ko"))
DEBUGFS = pathlib.Path("/sys/kernel/debug/cxib_kverbs")


def cases() -> list[str]:
    return (DEBUGFS / "cases").read_text().split()


def report() -> str:
    """The report of the last case."""
    return (DEBUGFS / "report").read_text().strip()


def run_case(name: str, seed: int = 1, rounds: int = 1) -> str:
    """Runs a case; returns its complaint, or an empty string on success."""
    descriptor = os.open(DEBUGFS / "run", os.O_WRONLY)
    try:
        os.write(descriptor, f"{name} seed={seed} rounds={rounds}".encode())
    except OSError as error:
        return report() or os.strerror(error.errno or 0)
    finally:
        os.close(descriptor)
    return ""


def kernel_objects() -> dict[str, dict[str, int]]:
    """Number of the RDMA core's objects by device and kind."""
    shown = subprocess.run(["rdma", "-j", "resource", "show"], check=True, capture_output=True, text=True).stdout
    kinds = ("pd", "cq", "qp", "mr", "srq", "ctx")
    return {device["ifname"]: {kind: device[kind] for kind in kinds if kind in device} for device in json.loads(shown)}


class UlpTest(unittest.TestCase):
    """A test during which the module is loaded."""

    @classmethod
    def setUpClass(cls) -> None:
        subprocess.run(["insmod", MODULE], check=True)
        cls.addClassCleanup(subprocess.run, ["rmmod", "cxib_kverbs"], check=True)

    def assert_right(self, name: str, seed: int = 1, rounds: int = 1) -> None:
        with self.subTest(case=name, seed=seed):
            found = run_case(name, seed, rounds)
            if found:
                self.fail(found)
