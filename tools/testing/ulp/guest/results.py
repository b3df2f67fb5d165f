# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes down how each test ended, for tables: one JSON object a line, so that what a guest leaves when it dies counts."""

import json
import os
import re
import unittest

import rdma

FILE = os.environ.get("ULP_RESULTS")
COMPLAINT = re.compile(r"\] (?:WARNING: |BUG: |Oops: |refcount_t: )")


def _complaints() -> list[str]:
    """What the kernel has complained of so far, without times and addresses of code."""
    return [line.split("] ", 1)[1].strip() for line in rdma.run("dmesg").splitlines() if COMPLAINT.search(line)]


class Recorded(unittest.TextTestResult):
    """A result that is also kept. The last line of a test counts: each begins as one that the guest does not survive."""

    def _write(self, test: unittest.TestCase, outcome: str, reason: str = "") -> None:
        if FILE:
            with open(FILE, "a") as file:
                file.write(json.dumps({"test": test.id(), "outcome": outcome, "reason": reason}) + "\n")

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self.outcome, self.before = ("passed", ""), _complaints()
        self._write(test, "died")

    def stopTest(self, test: unittest.TestCase) -> None:
        super().stopTest(test)
        outcome, reason = self.outcome
        if outcome == "passed" and (new := _complaints()[len(self.before):]):
            outcome, reason = "complaint", new[0]
        self._write(test, outcome, reason)

    def _fail(self, error: object) -> None:
        self.outcome = ("failed", str(error[1]).strip().splitlines()[0][:200])

    def addError(self, test: unittest.TestCase, err: object) -> None:
        super().addError(test, err)
        self._fail(err)
        if not hasattr(test, "_testMethodName"):
            self._write(test, *self.outcome)

    def addFailure(self, test: unittest.TestCase, err: object) -> None:
        super().addFailure(test, err)
        self._fail(err)

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: object) -> None:
        super().addSubTest(test, subtest, err)
        if err:
            self._fail(err)

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        self.outcome = ("skipped", reason)


class Runner(unittest.TextTestRunner):
    """Keeps results."""

    resultclass = Recorded
