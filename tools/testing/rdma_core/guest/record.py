#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs rdma-core's unchanged run_tests.py and reports the outcome of each test.

usage: record.py ARGUMENT…    ARGUMENTs are those of run_tests.py
"""

import errno
import gc
import importlib
import multiprocessing.context
import pathlib
import random
import runpy
import sys
import time
import types
import unittest

from pyverbs.device import Context
from pyverbs.pyverbs_error import PyverbsError, PyverbsRDMAError
from run_tests import report

TESTS = pathlib.Path("/usr/share/rdma-core-tests/tests")
PATIENCE = 300  # seconds; ends only a test that has already failed
RESOLUTION_MS = 100_000
SEED = 1  # each run uses the same random lengths and numbers


class Recorder(unittest.TextTestResult):
    """unittest's text result that also reports the outcomes."""

    def startTest(self, test: unittest.TestCase) -> None:  # noqa: N802  (unittest's name)
        self.began = time.monotonic()
        self.outcome, self.reason = "passed", ""
        super().startTest(test)

    def stopTest(self, test: unittest.TestCase) -> None:  # noqa: N802
        super().stopTest(test)
        close_contexts()
        report(test.id(), self.outcome, self.reason, time.monotonic() - self.began)

    def note(self, test: unittest.TestCase, outcome: str, reason: str) -> None:
        self.outcome, self.reason = outcome, reason
        # A fixture of a class or a module has no test that stops.
        if not hasattr(test, "_testMethodName"):
            report(test.id(), outcome, reason, 0)

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


def close_contexts() -> None:
    """Closes what an interrupted test has left: each context, after its objects. Python's garbage collector frees
    objects in any order, so that pyverbs may destroy a QP after its context and crash."""
    for context in [one for one in gc.get_objects() if isinstance(one, Context)]:
        try:
            context.close()
        except PyverbsError as error:
            print(f"a context that a test has left: {error}", file=sys.stderr)
    gc.collect()


def be_patient() -> None:
    """Extends time limits: the suite waits 5 or 10 s for a completion, and two connecting programs have 15 s to meet
    and 30 s in all. A guest without enough processor time needs longer."""
    importlib.import_module("tests.utils").POLL_CQ_TIMEOUT = PATIENCE
    importlib.import_module("tests.mlx5_base").POLL_CQ_TIMEOUT = PATIENCE
    make_barrier, join = multiprocessing.context.BaseContext.Barrier, multiprocessing.context.ForkProcess.join

    def patient_barrier(context, parties, action=None, timeout=None):
        return make_barrier(context, parties, action, PATIENCE if timeout else None)

    def patient_join(process, timeout=None):
        return join(process, timeout and 10 * timeout)

    multiprocessing.context.BaseContext.Barrier = patient_barrier
    multiprocessing.context.ForkProcess.join = patient_join
    resolve_patiently()


def resolve_patiently() -> None:
    """Extends the default of 2 s for resolving addresses and routes. A resolution that takes longer fails even if the
    reply arrives."""
    module = importlib.import_module("tests.base_rdmacm")
    original = module.CMID

    class PatientCMID(original):
        def resolve_addr(self, addr_info, timeout_ms=RESOLUTION_MS):
            super().resolve_addr(addr_info, timeout_ms)

        def resolve_route(self, timeout_ms=RESOLUTION_MS):
            super().resolve_route(timeout_ms)

    def make_cmid(**arguments):
        """Resolves the address first: librdmacm does so for an endpoint created from an address, and has a fixed
        limit."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                return PatientCMID(**arguments)
            except PyverbsRDMAError as error:
                if error.error_code != errno.ETIMEDOUT or time.monotonic() > deadline:
                    raise

    module.CMID = make_cmid


def leave_manufacturers_out() -> None:
    """Prevents Scapy from reading the list of all network card vendors, which takes three quarters of its import time
    and which no test uses."""
    manufacturers = types.ModuleType("scapy.libs.manuf")
    manufacturers.DATA = ""
    sys.modules[manufacturers.__name__] = manufacturers


def modules() -> list[types.ModuleType]:
    """The modules with rdma-core's tests: tests.test_qp and others."""
    sys.path += [str(TESTS), str(TESTS.parent)]
    leave_manufacturers_out()
    return importlib.import_module("tests").__test_modules__


def test_names() -> set[str]:
    """The names of all tests, as tests.test_qp.QPTest.test_create_rc_qp."""
    loader = unittest.defaultTestLoader
    return {f"{kind.__module__}.{kind.__name__}.{name}" for module in modules() for kind in vars(module).values()
            if isinstance(kind, type) and issubclass(kind, unittest.TestCase) for name in loader.getTestCaseNames(kind)}


def main() -> None:
    modules()
    sys.argv[0] = str(TESTS / "run_tests.py")
    random.seed(SEED)
    be_patient()
    unittest.TextTestRunner.resultclass = Recorder
    gc.disable()  # close_contexts() collects
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
