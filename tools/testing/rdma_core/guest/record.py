#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs rdma-core's run_tests.py as it is, and writes down what became of each test.

usage: record.py FILE ARGUMENT…    ARGUMENTs are those of run_tests.py
"""

import importlib
import json
import multiprocessing.context
import pathlib
import runpy
import sys
import time
import types
import unittest

TESTS = pathlib.Path("/usr/share/rdma-core-tests/tests")
PATIENCE = 300  # seconds; only ends a test that has failed anyway


class Recorder(unittest.TextTestResult):
    """The result that unittest prints, which keeps the outcomes as well."""

    outcomes: dict[str, dict[str, object]] = {}
    began = 0.0

    def startTest(self, test: unittest.TestCase) -> None:  # noqa: N802  (unittest's name)
        Recorder.began = time.monotonic()
        super().startTest(test)

    def note(self, test: unittest.TestCase, outcome: str, text: str = "") -> None:
        # What goes wrong outside a test (in setUpClass, while a module loads) has a name, too.
        Recorder.outcomes[test.id().removeprefix("tests.")] = {
            "outcome": outcome, "text": text, "seconds": time.monotonic() - Recorder.began}

    def addSuccess(self, test):  # noqa: N802
        super().addSuccess(test)
        self.note(test, "passed")

    def addSkip(self, test, reason):  # noqa: N802
        super().addSkip(test, reason)
        self.note(test, "skipped", reason)

    def addFailure(self, test, err):  # noqa: N802
        super().addFailure(test, err)
        self.note(test, "failed", str(err[1]))

    def addError(self, test, err):  # noqa: N802
        super().addError(test, err)
        self.note(test, "error", str(err[1]))

    def addSubTest(self, test, subtest, err):  # noqa: N802
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.note(test, "failed", str(err[1]))

    def addUnexpectedSuccess(self, test):  # noqa: N802
        super().addUnexpectedSuccess(test)
        self.note(test, "failed", "unexpected success")


def be_patient() -> None:
    """The suite waits 10 s for a completion; two programs that connect have 15 s to meet and 30 s in all. A guest that is
    kept from its processor needs more."""
    importlib.import_module("tests.utils").POLL_CQ_TIMEOUT = PATIENCE
    make_barrier, join = multiprocessing.context.BaseContext.Barrier, multiprocessing.context.ForkProcess.join

    def patient_barrier(context, parties, action=None, timeout=None):
        return make_barrier(context, parties, action, PATIENCE if timeout else None)

    def patient_join(process, timeout=None):
        return join(process, timeout and 10 * timeout)

    multiprocessing.context.BaseContext.Barrier = patient_barrier
    multiprocessing.context.ForkProcess.join = patient_join


def leave_manufacturers_out() -> None:
    """Scapy reads the list of all manufacturers of network interfaces when it is imported, which takes three quarters of
    the time of that; no test looks at it."""
    manufacturers = types.ModuleType("scapy.libs.manuf")
    manufacturers.DATA = ""
    sys.modules[manufacturers.__name__] = manufacturers


def main() -> int:
    file = pathlib.Path(sys.argv[1])
    sys.argv[:2] = [str(TESTS / "run_tests.py")]
    sys.path[:0] = [str(TESTS), str(TESTS.parent)]
    be_patient()
    leave_manufacturers_out()
    unittest.TextTestRunner.resultclass = Recorder
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
        return 0
    finally:
        file.write_text(json.dumps(Recorder.outcomes), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
