# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the result of each test as one JSON object per line, so that the results survive a crash of the guest."""

import json
import os
import unittest

from labrun.reports import Scanner, complaints

FILE = os.environ.get("ULP_RESULTS")
LOSS = bool(os.environ.get("ULP_LOSS"))
RECORD = 8192  # maximum length of a log record


class KernelLog:
    """Complaints of the kernel from now on as tools/lab/run defines them, without those known to be harmless.

    :param records: /dev/kmsg, opened non-blocking; it returns one record per read
    """

    def __init__(self, records: int) -> None:
        self.records = records
        self.scanner = Scanner()
        self.reported = 0

    def _read(self) -> None:
        while True:
            try:
                record = os.read(self.records, RECORD)
            except BrokenPipeError:
                continue  # The oldest records were overwritten; reading continues with the existing ones.
            except BlockingIOError:
                return
            # A record has level, number and time, then the text, then lines with device names.
            text = record.decode(errors="replace").split("\n", 1)[0].partition(";")[2]
            for line in text.split("\\x0a"):
                self.scanner.feed(line)

    def complaints(self) -> list[str]:
        """The first lines of the complaints since the last call."""
        self._read()
        new, self.reported = self.scanner.reports[self.reported:], len(self.scanner.reports)
        return [report.headline for report in complaints(new)]


def open_log() -> KernelLog:
    records = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
    os.lseek(records, 0, os.SEEK_END)
    return KernelLog(records)


class Recorded(unittest.TextTestResult):
    """Records results. Each test starts with a line "died", which its later lines replace: the last line counts."""

    def __init__(self, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **options)
        self.log = open_log()
        self.last = "the start"

    def _write(self, test: str, outcome: str, reason: str = "") -> None:
        if FILE:
            with open(FILE, "a") as file:
                file.write(json.dumps({"test": test, "loss": LOSS, "outcome": outcome, "reason": reason}) + "\n")

    def _write_complaints_after_the_last_test(self) -> None:
        """Records complaints after the last test: a class then removes its objects and unloads modules."""
        if new := self.log.complaints():
            self._write(f"after {self.last}", "complaint", new[0])

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self._write_complaints_after_the_last_test()
        self.outcome = ("passed", "")
        self._write(test.id(), "died")

    def stopTest(self, test: unittest.TestCase) -> None:
        super().stopTest(test)
        outcome, reason = self.outcome
        new = self.log.complaints()
        if outcome == "passed" and new:
            outcome, reason = "complaint", new[0]
        elif new:
            reason = f"{reason}; the kernel: {new[0]}"
        self._write(test.id(), outcome, reason)
        self.last = test.id()

    def stopTestRun(self) -> None:
        super().stopTestRun()
        self._write_complaints_after_the_last_test()

    def _fail(self, error: object) -> None:
        self.outcome = ("failed", str(error[1]).strip().splitlines()[0][:200])

    def addError(self, test: unittest.TestCase, err: object) -> None:
        super().addError(test, err)
        self._fail(err)
        if not hasattr(test, "_testMethodName"):
            self._write(test.id(), *self.outcome)

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
    """A test runner that records results."""

    resultclass = Recorded
