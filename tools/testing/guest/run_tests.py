#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs in a guest: runs tests that unittest can name, and reports each as a line with JSON after MARK, and their end by {}.

The first of several guests runs serve() of the module TEST_SERVER instead, if there is one.

usage: run_tests.py NAME…
"""

import importlib
import json
import os
import sys
import time
import unittest

MARK = "@@test "
FORKED = 70  # exit status of a process that a test has forked and that leaves the test
SHOWN_RECORDS = 40  # records of the kernel log behind a failure


def report(test: str, outcome: str, reason: str, seconds: float) -> None:
    fields = {"test": test, "outcome": outcome, "reason": reason, "seconds": seconds}
    print(f"\n{MARK}{json.dumps(fields)}", flush=True)


class KernelLog:
    """The records of the kernel log since the start of a test."""

    def __init__(self) -> None:
        self.descriptor = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
        self.begin()

    def begin(self) -> None:
        os.lseek(self.descriptor, 0, os.SEEK_END)

    def lines(self) -> list[str]:
        found = []
        while True:
            try:
                record = os.read(self.descriptor, 8192)
            except BrokenPipeError:
                continue  # The oldest records were overwritten; reading continues with the existing ones.
            except BlockingIOError:
                return found
            found.append(record.decode(errors="replace").split("\n", 1)[0].partition(";")[2])


class Reporting(unittest.TextTestResult):
    """Reports the outcome of each test when it has ended, with the kernel log of one that failed."""

    def __init__(self, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **options)
        self.log = KernelLog()
        self.process = os.getpid()
        self.outcome, self.reason = "", ""

    def _report(self, test: str, outcome: str, reason: str, seconds: float) -> None:
        if os.getpid() != self.process:
            os._exit(FORKED)  # the process of the tests reports
        self.stream.flush()
        report(test, outcome, reason, seconds)

    def _fail(self, err: object, test: unittest.TestCase) -> None:
        text = self._exc_info_to_string(err, test)
        self.outcome, self.reason = "failed", "\n".join(filter(None, [self.reason, text]))

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self.outcome, self.reason = "", ""
        self.log.begin()
        self.began = time.monotonic()

    def stopTest(self, test: unittest.TestCase) -> None:
        super().stopTest(test)
        if not self.outcome:
            self.outcome, self.reason = "failed", "the test was interrupted"
        if self.outcome == "failed":
            records = self.log.lines()[-SHOWN_RECORDS:]
            self.reason += "\n".join(["the kernel log of the test:", *records]) if records else ""
        self._report(test.id(), self.outcome, self.reason, time.monotonic() - self.began)

    def addError(self, test: unittest.TestCase, err: object) -> None:
        super().addError(test, err)
        self._fail(err, test)
        # A fixture of a class or a module has no test that stops.
        if not hasattr(test, "_testMethodName"):
            self._report(test.id(), "failed", self.reason, 0)

    def addFailure(self, test: unittest.TestCase, err: object) -> None:
        super().addFailure(test, err)
        self._fail(err, test)

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: object) -> None:
        super().addSubTest(test, subtest, err)
        if err:
            self.reason = "\n".join(filter(None, [self.reason, str(subtest)]))
            self._fail(err, test)

    def addSuccess(self, test: unittest.TestCase) -> None:
        super().addSuccess(test)
        self.outcome = self.outcome or "passed"

    def addExpectedFailure(self, test: unittest.TestCase, err: object) -> None:
        super().addExpectedFailure(test, err)
        self.outcome = self.outcome or "passed"

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        super().addUnexpectedSuccess(test)
        self.outcome, self.reason = "failed", "unexpected success"

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        if not self.outcome:
            self.outcome, self.reason = "skipped", reason
        if not hasattr(test, "_testMethodName"):
            self._report(test.id(), "skipped", reason, 0)


def main() -> None:
    server = os.environ.get("TEST_SERVER")
    if server and os.environ["LAB_VM"] == "0":
        importlib.import_module(server).serve()
        return
    runner = unittest.TextTestRunner(resultclass=Reporting, verbosity=2)
    run = unittest.main(module=None, argv=sys.argv, testRunner=runner, exit=False)
    print(f"\n{MARK}{{}}", flush=True)
    sys.exit(not run.result.wasSuccessful())


if __name__ == "__main__":
    main()
