# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the KUnit suites of the driver. Each case is a test: Cq.test_destroy_cq_frees_empty_nodes.

The module of the suites is loaded once, before the first test. KUnit can select one suite or one case; if cases of
several suites are chosen, all suites run.
"""

import contextlib
import os
import pathlib
import re
import subprocess
import sys
import time
import unittest
from collections.abc import Iterator

import ktap
from machine import LONG, Guest

REPO = pathlib.Path(__file__).resolve().parents[3]
PATIENCE = 300.0  # seconds; ends only a recorder that has already failed

# The suites log 600 KiB, five times the kernel's default buffer. A larger buffer keeps every line for a slow recorder.
SUITES = Guest("suites", driver="none", kernel="debug", hcas=0, append="log_buf_len=2M", settings=("KUNIT_SAMPLE=4",))
GUESTS = [
    SUITES,
    SUITES.but("suites-whole", level=LONG, settings=()),
    # Newer kernels run the suites of a module only with kunit.autorun=1.
    SUITES.but("suites-backports", kernel="debug-backports", append="log_buf_len=2M kunit.autorun=1", level=LONG, settings=()),
    SUITES.but("suites-oldstable", kernel="debug-oldstable", level=LONG, settings=()),
]

MODULES = pathlib.Path(os.environ.get("CXIB_MODULE", "/repo/build/modules-debug/cxib.ko")).parent
SUITES_MODULE = MODULES / os.environ.get("KUNIT_MODULE", "kunit/cxib_kunit.ko")
SAMPLE = os.environ.get("KUNIT_SAMPLE")  # inject faults into one of so many bring-up commands
RECORD = pathlib.Path(os.environ.get("TEST_DIRECTORY", "/tmp")) / "kmsg"
FILTER = pathlib.Path("/sys/module/kunit/parameters/filter_glob")


def listed_cases() -> dict[str, list[str]]:
    """The cases of each suite, from the sources."""
    directory = "kunit/broken" if "KUNIT_MODULE" in os.environ else "kunit"
    found: dict[str, list[str]] = {}
    for file in sorted((REPO / directory).glob("*_kunit.c")):
        text = file.read_text(encoding="utf-8")
        lists = dict(re.findall(r"struct kunit_case (\w+)\[\] = \{(.*?)\n\};", text, re.DOTALL))
        for suite in re.findall(r"struct kunit_suite \w+ = \{(.*?)\n\};", text, re.DOTALL):
            name = re.search(r'\.name = "(\w+)"', suite)
            cases = re.search(r"\.test_cases = (\w+)", suite)
            assert name and cases, f"{file.name}: a suite without a name or cases"
            found[name[1]] = re.findall(r"KUNIT_CASE\w*\((\w+)", lists[cases[1]])
    return found


def load(module: pathlib.Path, *parameters: str) -> None:
    depends = subprocess.run(["modinfo", "-F", "depends", module], capture_output=True, text=True, check=True).stdout
    for name in depends.strip().split(","):
        if name not in ("", "cxib"):
            subprocess.run(["modprobe", name], check=True)
    subprocess.run(["insmod", module, *parameters], check=True)


def mark(text: str) -> None:
    pathlib.Path("/dev/kmsg").write_text(f"{text}\n", encoding="ascii")


@contextlib.contextmanager
def recorded_log() -> Iterator[None]:
    """Records the kernel log until it contains the end mark."""
    with RECORD.open("wb") as record, subprocess.Popen(["cat", "/dev/kmsg"], stdout=record) as recorder:
        try:
            mark(ktap.BEGIN_MARK)
            yield
            mark(ktap.END_MARK)
            end = time.monotonic() + PATIENCE
            while ktap.END_MARK not in RECORD.read_text(errors="replace") and time.monotonic() < end:
                time.sleep(0.1)
        finally:
            recorder.kill()


def let_allocations_fail() -> None:
    """Suites make their own allocations fail. This includes sleeping allocations and single pages."""
    debugfs = pathlib.Path("/sys/kernel/debug")
    if not os.path.ismount(debugfs):
        subprocess.run(["mount", "-t", "debugfs", "debugfs", debugfs], check=True)
    for kind in ("failslab", "fail_page_alloc"):
        if (debugfs / kind).is_dir():
            (debugfs / kind / "ignore-gfp-wait").write_text("N")
            (debugfs / kind / "verbose").write_text("0")
    if (debugfs / "fail_page_alloc").is_dir():
        (debugfs / "fail_page_alloc/min-order").write_text("0")


def run_suites(glob: str) -> ktap.Run:
    """Runs the suites, or those that a glob selects: SUITE or SUITE.CASE."""
    parameters = [f"sample={SAMPLE}"] if SAMPLE else []
    # If KUnit cannot select the suites of a module, the module selects them.
    if FILTER.exists():
        FILTER.write_text(glob)
    elif glob:
        parameters.append(f"filter_glob={glob}")
    let_allocations_fail()
    with recorded_log():
        load(MODULES / "cxib.ko")
        load(SUITES_MODULE, *parameters)
    with RECORD.open(encoding="utf-8", errors="replace") as log:
        return ktap.parse(log)


def glob_of(chosen: set[tuple[str, str]]) -> str:
    """The glob that selects one case, or one suite; empty for cases of several suites."""
    suites = {suite for suite, _ in chosen}
    if len(chosen) == 1:
        return ".".join(next(iter(chosen)))
    return next(iter(suites)) if len(suites) == 1 else ""


CASES = listed_cases()


class Whole(unittest.TestCase):
    """Tests the run as a whole."""

    def test_run_is_complete(self) -> None:
        self.assertEqual(RUN.problems, [])
        if not GLOB:
            reported = {suite.name: [case.name for case in suite.cases] for suite in RUN.suites}
            self.assertEqual(reported, CASES)


class Suite(unittest.TestCase):
    """Tests the cases of a suite; the classes of the suites derive from it."""

    suite = ""

    def check(self, name: str) -> None:
        found = [case for suite in RUN.suites if suite.name == self.suite for case in suite.cases if case.name == name]
        self.assertEqual(len(found), 1, "\n".join(["the case was not reported", *RUN.problems]))
        if found[0].outcome == "skipped":
            self.skipTest(found[0].reason)
        self.assertEqual(found[0].outcome, "passed", "\n".join(ktap.describe_case(found[0], "")))


def class_of(suite: str) -> type[Suite]:
    def test_of(name: str):
        return lambda self: self.check(name)

    tests = {f"test_{name}": test_of(name) for name in CASES[suite]}
    return type(suite.title().replace("_", ""), (Suite,), {"suite": suite, "__module__": __name__, **tests})


CLASSES = {kind.__name__: kind for kind in map(class_of, CASES)}
globals().update(CLASSES)


def chosen_cases(names: list[str]) -> set[tuple[str, str]]:
    """Suite and case of each test with such a name."""
    parts = [name.split(".") for name in names]
    return {(CLASSES[each[1]].suite, each[2].removeprefix("test_")) for each in parts if len(each) == 3 and each[1] in CLASSES}


RUN = ktap.Run()
GLOB = ""


def setUpModule() -> None:
    global RUN, GLOB
    GLOB = glob_of(chosen_cases(sys.argv[1:]))
    RUN = run_suites(GLOB)


def tearDownModule() -> None:
    for module in (SUITES_MODULE.stem, "cxib"):
        subprocess.run(["rmmod", module], check=True)
