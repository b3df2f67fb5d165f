#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Evaluates the results of KUnit suites in a recorded kernel log and prints a summary.

The log has the format of /dev/kmsg; the results are between the lines "cxib-kunit: begin" and "cxib-kunit: end". A plan
that is not kept, a suite that does not end, a lost log line and a run without a case are failures, as a failed case is.
"""

import argparse
import dataclasses
import re
import sys
from typing import Iterable, Iterator, Optional

BEGIN_MARK = "cxib-kunit: begin"
END_MARK = "cxib-kunit: end"
INDENT = 4
LINES_OF_A_FAILURE = 20

KMSG_RECORD = re.compile(r"^\d+,(\d+),\d+,[^;]*;(.*)$")
VERSION = re.compile(r"^KTAP version 1$")
SUBTEST = re.compile(r"^# Subtest: (.+)$")
PLAN = re.compile(r"^1\.\.(\d+)$")
RESULT = re.compile(r"^(ok|not ok) (\d+)(?: ([^#]*?))?(?: # (SKIP)\b ?(.*))?(?: # .*)?$")


@dataclasses.dataclass
class Case:
    """A test case, or one parameter of a case."""

    name: str
    outcome: str  # passed, failed or skipped
    reason: str = ""  # why a case was skipped
    diagnostics: list[str] = dataclasses.field(default_factory=list)
    parameters: list["Case"] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Suite:
    name: str
    planned: Optional[int] = None
    cases: list[Case] = dataclasses.field(default_factory=list)
    outcome: Optional[str] = None  # None: the suite did not end


@dataclasses.dataclass
class Run:
    """All suites of a log, and the faults of the log itself."""

    suites: list[Suite] = dataclasses.field(default_factory=list)
    problems: list[str] = dataclasses.field(default_factory=list)

    def count(self, outcome: str) -> int:
        return sum(case.outcome == outcome for suite in self.suites for case in suite.cases)

    def failed(self) -> bool:
        return bool(self.problems) or self.count("failed") > 0


def shorten(line: str) -> str:
    """Removes the build directory from a line, so that paths are relative to the checkout."""
    return re.sub(r"/repo/build/modules-[\w-]+/", "", line)


def unescape(text: str) -> str:
    """Decodes the hexadecimal escapes that /dev/kmsg writes for unprintable bytes."""
    return re.sub(r"\\x([0-9a-f]{2})", lambda match: chr(int(match.group(1), 16)), text)


def messages(lines: Iterable[str], problems: list[str]) -> Iterator[str]:
    """Yields the lines of kernel messages; a gap in the numbering adds a lost record to `problems`."""
    expected = None
    for line in lines:
        record = KMSG_RECORD.match(line.rstrip("\n"))
        if not record:
            continue  # key=value lines of the record above
        sequence = int(record.group(1))
        if expected is not None and sequence != expected:
            problems.append(f"the kernel log lost {sequence - expected} records before: {record.group(2)}")
        expected = sequence + 1
        yield from unescape(record.group(2)).split("\n")


def between_marks(texts: Iterable[str], problems: list[str]) -> Iterator[str]:
    """Yields the lines between the begin and the end mark."""
    begun = False
    for text in texts:
        if text == END_MARK and begun:
            return
        if begun:
            yield text
        begun = begun or text == BEGIN_MARK
    problems.append(
        f'the log ends without "{END_MARK}": the guest stopped in the middle'
        if begun
        else f'the log has no "{BEGIN_MARK}": no suite was started'
    )


class Parser:
    """Reads the log line by line into `run`."""

    def __init__(self, problems: list[str]) -> None:
        self.run = Run(problems=problems)
        self.planned_suites: Optional[int] = None
        self.suites_ended = 0
        self.suite: Optional[Suite] = None
        self.parameters: list[Case] = []
        self.diagnostics: list[str] = []

    def feed(self, line: str) -> None:
        text = line.lstrip(" ")
        level, rest = divmod(len(line) - len(text), INDENT)
        handlers = [self.top_line, self.suite_line, self.parameter_line]
        if rest or level >= len(handlers) or not handlers[level](text):
            if self.suite and self.suite.planned is not None:
                self.diagnostics.append(line)

    def problem(self, text: str) -> None:
        self.run.problems.append(text)

    def top_line(self, text: str) -> bool:
        """Reads a line that a module prints around its suites."""
        if VERSION.match(text):
            self.end_module()
            self.planned_suites, self.suites_ended = -1, 0
            return True
        plan = PLAN.match(text)
        if plan and self.planned_suites == -1:
            self.planned_suites = int(plan.group(1))
            if self.planned_suites == 0:
                self.problem("a module of tests was loaded, but no suite of it was chosen")
            return True
        result = RESULT.match(text)
        if result and self.planned_suites is not None:
            self.end_suite(result)
            return True
        return False

    def suite_line(self, text: str) -> bool:
        """Reads a line that a suite prints: its header, then the results of its cases."""
        if VERSION.match(text):
            if self.suite:
                self.problem(self.unfinished(self.suite))
            self.begin_suite()
            return True
        if not self.suite:
            return False
        name, plan = SUBTEST.match(text), PLAN.match(text)
        if name and not self.suite.name:
            self.suite.name = name.group(1)
            return True
        if plan and self.suite.planned is None:
            self.suite.planned = int(plan.group(1))
            return True
        result = RESULT.match(text)
        if result:
            self.end_case(result)
            return True
        return False

    def parameter_line(self, text: str) -> bool:
        """Reads a line that a parameterized case prints. Such a case has no plan, but numbers its results without
        gaps."""
        if VERSION.match(text) or SUBTEST.match(text):
            return True
        result = RESULT.match(text)
        if not result or not self.suite:
            return False
        number = int(result.group(2))
        if number != len(self.parameters) + 1:
            self.problem(
                f"suite {self.suite.name}: parameter {len(self.parameters) + 1} of a case is missing, "
                f"the next is {number}"
            )
        self.parameters.append(self.take_case(result))
        return True

    def begin_suite(self) -> None:
        self.suite = Suite(name="")
        self.parameters, self.diagnostics = [], []
        self.run.suites.append(self.suite)

    def take_case(self, result: re.Match[str]) -> Case:
        outcome = "failed" if result.group(1) == "not ok" else "passed"
        if result.group(4):
            outcome = "skipped"
        case = Case(result.group(3) or "", outcome, result.group(5) or "", self.diagnostics)
        self.diagnostics = []
        return case

    def end_case(self, result: re.Match[str]) -> None:
        assert self.suite
        number, expected = int(result.group(2)), len(self.suite.cases) + 1
        if number != expected:
            self.problem(f"suite {self.suite.name}: result {number} comes where {expected} was due")
        case = self.take_case(result)
        case.parameters, self.parameters = self.parameters, []
        self.suite.cases.append(case)
        if case.outcome == "passed" and any(p.outcome == "failed" for p in case.parameters):
            self.problem(f"suite {self.suite.name}: {case.name} passes although a parameter of it failed")

    def end_suite(self, result: re.Match[str]) -> None:
        self.suites_ended += 1
        number, name = int(result.group(2)), result.group(3) or ""
        if number != self.suites_ended:
            self.problem(f"result {number} of a suite ({name}) comes where {self.suites_ended} was due")
        if not self.suite or self.suite.name != name:
            self.problem(f"suite {name} ends without having begun")
            return
        self.judge_suite(self.suite, result)
        self.suite = None

    def judge_suite(self, suite: Suite, result: re.Match[str]) -> None:
        suite.outcome = "failed" if result.group(1) == "not ok" else "passed"
        if suite.planned is None:
            self.problem(f"suite {suite.name} has no plan")
        elif suite.planned != len(suite.cases):
            self.problem(f"suite {suite.name}: {suite.planned} cases planned, {len(suite.cases)} reported")
        if suite.planned == 0:
            self.problem(f"suite {suite.name} has no cases")
        case_failed = any(case.outcome == "failed" for case in suite.cases)
        if suite.outcome == "failed" and not case_failed:
            self.problem(f"suite {suite.name} failed outside its cases" + quoted(self.diagnostics))
        if suite.outcome == "passed" and case_failed:
            self.problem(f"suite {suite.name} passes although a case of it failed")

    def unfinished(self, suite: Suite) -> str:
        last = f"after case {suite.cases[-1].name}" if suite.cases else "in its first case"
        return (
            f"suite {suite.name} did not end: it stopped {last}, {len(suite.cases)} of "
            f"{suite.planned or 0} cases reported" + quoted(self.diagnostics)
        )

    def end_module(self) -> None:
        if self.suite:
            self.problem(self.unfinished(self.suite))
            self.suite = None
        if self.planned_suites == -1:
            self.problem("a module of tests has no plan")
        elif self.planned_suites is not None and self.suites_ended != self.planned_suites:
            self.problem(f"{self.planned_suites} suites planned, {self.suites_ended} ended")

    def finish(self) -> Run:
        self.end_module()
        if not self.run.problems and self.run.count("passed") + self.run.count("failed") == 0:
            self.problem("no test has run")
        return self.run


def excerpt(lines: list[str]) -> list[str]:
    """The first lines about a failure, without empty lines."""
    kept = [shorten(line).rstrip() for line in lines if line.strip()]
    if len(kept) <= LINES_OF_A_FAILURE:
        return kept
    return kept[:LINES_OF_A_FAILURE] + [f"... {len(kept) - LINES_OF_A_FAILURE} more lines in the log"]


def quoted(lines: list[str]) -> str:
    """Formats lines that follow a message."""
    return "".join(f"\n    | {line}" for line in excerpt(lines))


def parse(lines: Iterable[str]) -> Run:
    """Reads a recorded /dev/kmsg."""
    problems: list[str] = []
    parser = Parser(problems)
    for line in between_marks(messages(lines, problems), problems):
        parser.feed(line)
    return parser.finish()


def describe_case(case: Case, indent: str) -> Iterator[str]:
    if case.outcome == "skipped":
        yield f"{indent}skipped {case.name}: {case.reason or 'no reason given'}"
    if case.outcome != "failed":
        return
    yield f"{indent}FAILED  {case.name}"
    for parameter in case.parameters:
        yield from describe_case(parameter, indent + "    ")
    for line in excerpt(case.diagnostics):
        yield f"{indent}    | {line.removeprefix(' ' * INDENT)}"


def describe_suite(suite: Suite) -> Iterator[str]:
    counts = [
        f"{number} {outcome}"
        for outcome in ("passed", "failed", "skipped")
        if (number := sum(case.outcome == outcome for case in suite.cases))
    ]
    mark = "" if suite.outcome else ", did not end"
    yield f"{suite.name}: {', '.join(counts) or 'no case reported'}{mark}"
    for case in suite.cases:
        yield from describe_case(case, "    ")


def describe(run: Run) -> Iterator[str]:
    """Yields the lines of the summary."""
    for suite in run.suites:
        yield from describe_suite(suite)
    for problem in run.problems:
        yield f"PROBLEM {problem}"
    cases = sum(len(suite.cases) for suite in run.suites)
    yield (
        f"{len(run.suites)} suites, {cases} cases: {run.count('passed')} passed, "
        f"{run.count('failed')} failed, {run.count('skipped')} skipped"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="Evaluates the KUnit results in a recorded /dev/kmsg.")
    parser.add_argument("log", help="file with the records of /dev/kmsg")
    arguments = parser.parse_args()
    try:
        with open(arguments.log, encoding="utf-8", errors="replace") as log:
            run = parse(log)
    except OSError as error:
        print(f"PROBLEM there is no log of the kernel: {error}")
        return 1
    print("\n".join(describe(run)))
    return 1 if run.failed() else 0


if __name__ == "__main__":
    sys.exit(main())
