# SPDX-License-Identifier: GPL-2.0-or-later
"""Loads the test module in the guest and runs its cases.

KVERBS_SEEDS is the number of seeds for random cases, KVERBS_ROUNDS the number of rounds for each seed.
"""

import json
import os
import pathlib
import re
import subprocess
import unittest
from collections.abc import Callable

HERE = pathlib.Path(__file__).resolve().parent
MODULE = HERE.parents[2] / f"build/kernel-verbs-{os.environ['LAB_KERNEL']}/cxib_kverbs.ko"
DEBUGFS = pathlib.Path("/sys/kernel/debug/cxib_kverbs")
SEEDS = int(os.environ.get("KVERBS_SEEDS", "3"))
ROUNDS = int(os.environ.get("KVERBS_ROUNDS", "2"))
RANDOM = re.compile(r"(rc|uc|ud|arming|concurrent|resizing)_|context_\w+_(changes|resizes|free)$")


def all_cases() -> list[str]:
    """The names of the cases in the module's sources. A kernel may lack what some of them need."""
    texts = [file.read_text(encoding="ascii") for file in sorted((HERE / "module").glob("cases_*.c"))]
    return [name for text in texts for name in re.findall(r'(?m)^\t\{ "(\w+)", \w+ \},$', text)]


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

    def check_case(self, name: str) -> None:
        """Runs a case, a random one with several seeds."""
        for seed in range(1, SEEDS + 1) if RANDOM.match(name) else [1]:
            self.assert_right(name, seed, ROUNDS)


def tests_each_case(pattern: str) -> Callable[[type[UlpTest]], type[UlpTest]]:
    """Gives a class a test test_NAME for each case whose name matches the pattern; the test calls check_case(NAME)."""
    def test_of(name: str) -> Callable[[UlpTest], None]:
        def test(self: UlpTest) -> None:
            if name not in (DEBUGFS / "cases").read_text().split():
                self.skipTest("the kernel lacks what the case needs")
            self.check_case(name)
        return test

    def add(kind: type[UlpTest]) -> type[UlpTest]:
        for name in filter(re.compile(pattern).match, all_cases()):
            setattr(kind, f"test_{name}", test_of(name))
        return kind
    return add
