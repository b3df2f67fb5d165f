# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the KUnit suites of the driver. Each case is a test: Cq.test_destroy_cq_frees_empty_nodes.

The module of the suites is loaded once, before the first test. KUnit can select one suite or one case; if cases of
several suites are chosen, all suites run.
"""

import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import unittest

from machine import LONG, Guest

REPO = pathlib.Path(__file__).resolve().parents[3]
SUITES = Guest("suites", driver="none", kernel="debug", hcas=0, leaks=False, settings=("KUNIT_SAMPLE=16",))
GUESTS = [
    SUITES,
    SUITES.but("suites-whole", leaks=True, level=LONG, settings=()),
    # Newer kernels run the suites of a module only with kunit.autorun=1.
    SUITES.but("suites-backports", kernel="debug-backports", append="kunit.autorun=1", level=LONG),
    SUITES.but("suites-oldstable", kernel="debug-oldstable", level=LONG),
]

MODULES = pathlib.Path(os.environ.get("CXIB_MODULE", "/repo/build/modules-debug/cxib.ko")).parent
SUITES_MODULE = MODULES / os.environ.get("KUNIT_MODULE", "kunit/cxib_kunit.ko")
SAMPLE = os.environ.get("KUNIT_SAMPLE")  # inject faults into one of so many bring-up commands
DEBUGFS = pathlib.Path("/sys/kernel/debug")
KEPT = pathlib.Path(os.environ.get("TEST_DIRECTORY", "/tmp")) / "results"
FILTER = pathlib.Path("/sys/module/kunit/parameters/filter_glob")
RESULT = re.compile(r"^    (ok|not ok) \d+ (?:- )?(\w+)(?: # SKIP ?(.*))?$")
SHOWN_LINES = 20


@dataclasses.dataclass
class Case:
    """The result of a case, and what KUnit has printed for it."""

    passed: bool
    skipped: str | None
    lines: list[str]


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


def results_of(suite: str) -> dict[str, Case]:
    """The results of a suite that has run. Those of parameters are indented further, and belong to what a case has printed."""
    text = (DEBUGFS / "kunit" / suite / "results").read_text(encoding="utf-8", errors="replace")
    with KEPT.open("a", encoding="utf-8") as kept:
        kept.write(text)
    cases: dict[str, Case] = {}
    printed: list[str] = []
    for line in text.splitlines():
        result = RESULT.match(line)
        if not result:
            printed.append(re.sub(r"/repo/build/modules-[\w-]+/", "", line))
            continue
        cases[result[2]] = Case(result[1] == "ok", result[3], printed)
        printed = []
    return cases


def let_allocations_fail() -> None:
    """Suites make their own allocations fail. This includes sleeping allocations and single pages."""
    if not os.path.ismount(DEBUGFS):
        subprocess.run(["mount", "-t", "debugfs", "debugfs", DEBUGFS], check=True)
    for kind in ("failslab", "fail_page_alloc"):
        if (DEBUGFS / kind).is_dir():
            (DEBUGFS / kind / "ignore-gfp-wait").write_text("N")
            (DEBUGFS / kind / "verbose").write_text("0")
    if (DEBUGFS / "fail_page_alloc").is_dir():
        (DEBUGFS / "fail_page_alloc/min-order").write_text("0")


def run_suites(glob: str) -> dict[str, dict[str, Case]]:
    """Runs the suites, or those that a glob selects: SUITE or SUITE.CASE."""
    parameters = [f"sample={SAMPLE}"] if SAMPLE else []
    # If KUnit cannot select the suites of a module, the module selects them.
    if FILTER.exists():
        FILTER.write_text(glob)
    elif glob:
        parameters.append(f"filter_glob={glob}")
    let_allocations_fail()
    load(MODULES / "cxib.ko")
    load(SUITES_MODULE, *parameters)
    return {directory.name: results_of(directory.name) for directory in (DEBUGFS / "kunit").iterdir()}


def glob_of(chosen: set[tuple[str, str]]) -> str:
    """The glob that selects one case, or one suite; empty for cases of several suites."""
    suites = {suite for suite, _ in chosen}
    if len(chosen) == 1:
        return ".".join(next(iter(chosen)))
    return next(iter(suites)) if len(suites) == 1 else ""


CASES = listed_cases()


class Whole(unittest.TestCase):
    """Tests the run as a whole."""

    def test_every_case_has_run(self) -> None:
        if GLOB:
            self.skipTest(f"only {GLOB} was to run")
        self.assertEqual({suite: list(cases) for suite, cases in sorted(RESULTS.items())}, CASES)


class Suite(unittest.TestCase):
    """Tests the cases of a suite; the classes of the suites derive from it."""

    suite = ""

    def check(self, name: str) -> None:
        case = RESULTS.get(self.suite, {}).get(name)
        assert case, "the case has no result"
        if case.skipped is not None:
            self.skipTest(case.skipped or "no reason")
        self.assertTrue(case.passed, "\n".join([f"FAILED  {name}", *case.lines[:SHOWN_LINES]]))


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


RESULTS: dict[str, dict[str, Case]] = {}
GLOB = ""


def setUpModule() -> None:
    global RESULTS, GLOB
    GLOB = glob_of(chosen_cases(sys.argv[1:]))
    RESULTS = run_suites(GLOB)


def tearDownModule() -> None:
    for module in (SUITES_MODULE.stem, "cxib"):
        subprocess.run(["rmmod", module], check=True)
