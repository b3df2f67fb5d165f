# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests tools/testing/kunit/ktap.py with recorded kernel logs, complete and faulty ones."""

import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "kunit"))

import ktap  # noqa: E402  (found through the path above)


def recorded(name: str) -> list[str]:
    return (HERE / "samples" / f"{name}.kmsg").read_text(encoding="utf-8").splitlines()


def log(*messages: str) -> list[str]:
    """A log in the format of /dev/kmsg, with the marks around the messages."""
    texts = [ktap.BEGIN_MARK, *messages, ktap.END_MARK]
    return [f"6,{number},{1000 * number},-;{text}" for number, text in enumerate(texts)]


def summary(run: ktap.Run) -> str:
    return "\n".join(ktap.describe(run))


def without(lines: list[str], text: str) -> list[str]:
    """Removes the only line that ends with a text, and renumbers the rest."""
    place = next(index for index, line in enumerate(lines) if line.endswith(text))
    return log(*(line.split(";", 1)[1] for line in lines[1:place] + lines[place + 1 : -1] if ";" in line))


class RecordedLogs(unittest.TestCase):
    def test_run_without_failures_passes(self) -> None:
        run = ktap.parse(recorded("passing"))
        self.assertFalse(run.failed(), summary(run))
        self.assertEqual([suite.name for suite in run.suites], ["hw_accessors", "init_segment"])
        self.assertEqual(run.count("passed"), 18)
        self.assertIn("2 suites, 18 cases: 18 passed, 0 failed, 0 skipped", summary(run))

    def test_parameters_belong_to_case(self) -> None:
        run = ktap.parse(recorded("passing"))
        case = next(case for case in run.suites[1].cases if case.parameters)
        self.assertEqual(case.name, "init_segment_other_revision_returns_eprotonosupport")
        self.assertEqual([parameter.name for parameter in case.parameters][:2], ["revision 1", "revision 4"])

    def test_failed_expectation_shown_with_text_and_place(self) -> None:
        run = ktap.parse(recorded("failing"))
        self.assertTrue(run.failed())
        self.assertEqual(run.count("failed"), 2)
        self.assertIn("FAILED  fails_an_expectation", summary(run))
        self.assertIn("EXPECTATION FAILED at kunit/broken/broken_kunit.c:19", summary(run))
        self.assertIn("1 + 1 == 2 (0x2)", summary(run))

    def test_kernel_report_shown_with_case(self) -> None:
        case = ktap.parse(recorded("failing")).suites[0].cases[2]
        self.assertEqual((case.name, case.outcome), ("writes_behind_a_buffer", "failed"))
        self.assertTrue(any("BUG: KASAN: slab-out-of-bounds" in line for line in case.diagnostics))

    def test_crashed_case_fails(self) -> None:
        run = ktap.parse(recorded("crashing"))
        case = run.suites[0].cases[2]
        self.assertEqual((case.name, case.outcome), ("writes_behind_a_buffer", "failed"))
        self.assertIn("Oops: general protection fault", summary(run))

    def test_truncated_log_fails_at_every_line(self) -> None:
        lines = recorded("passing")
        for length in range(len(lines)):
            with self.subTest(lines=length):
                self.assertTrue(ktap.parse(lines[:length]).failed())

    def test_stopped_suite_names_last_case(self) -> None:
        lines = recorded("crashing")
        end = next(index for index, line in enumerate(lines) if "Oops" in line) + 1
        text = summary(ktap.parse(lines[:end]))
        self.assertIn("suite broken did not end: it stopped after case fails_an_expectation, 2 of 3", text)
        self.assertIn("Oops: general protection fault", text)


class BrokenPromises(unittest.TestCase):
    """Logs that must fail although each reported case has passed."""

    def assert_problem(self, lines: list[str], text: str) -> None:
        run = ktap.parse(lines)
        self.assertTrue(run.failed())
        self.assertIn(text, "\n".join(run.problems))

    def test_missing_case_reported(self) -> None:
        lines = without(recorded("passing"), "ok 3 init_segment_ready_at_limit_returns_0")
        self.assert_problem(lines, "suite init_segment: result 4 comes where 3 was due")
        self.assert_problem(lines, "suite init_segment: 11 cases planned, 10 reported")

    def test_missing_last_case_reported(self) -> None:
        lines = without(recorded("passing"), "ok 11 init_segment_longest_explanation_fits_buffer")
        self.assert_problem(lines, "suite init_segment: 11 cases planned, 10 reported")

    def test_missing_parameter_reported(self) -> None:
        lines = without(recorded("passing"), "ok 2 revision 4")
        self.assert_problem(lines, "suite init_segment: parameter 2 of a case is missing, the next is 3")

    def test_missing_suite_end_reported(self) -> None:
        lines = without(recorded("passing"), "ok 2 init_segment")
        self.assert_problem(lines, "suite init_segment did not end")
        self.assert_problem(lines, "2 suites planned, 1 ended")

    def test_missing_plan_reported(self) -> None:
        self.assert_problem(without(recorded("passing"), "1..11"), "suite init_segment has no plan")

    def test_lost_log_record_reported(self) -> None:
        lines = recorded("passing")
        del lines[12]
        self.assert_problem(lines, "the kernel log lost 1 records")

    def test_log_without_suite_reported(self) -> None:
        self.assert_problem(log("cxib: loading out-of-tree module taints kernel."), "no test has run")

    def test_module_without_results_reported(self) -> None:
        lines = log("KTAP version 1", "1..2", "kunit: disabled")
        self.assert_problem(lines, "2 suites planned, 0 ended")

    def test_filter_without_suite_reported(self) -> None:
        self.assert_problem(log("KTAP version 1", "1..0"), "no suite of it was chosen")

    def test_suite_without_cases_reported(self) -> None:
        lines = log("KTAP version 1", "1..1", "    KTAP version 1", "    # Subtest: empty", "    1..0", "ok 1 empty")
        self.assert_problem(lines, "suite empty has no cases")

    def test_run_with_all_skipped_reported(self) -> None:
        lines = log(
            "KTAP version 1", "1..1", "    KTAP version 1", "    # Subtest: idle", "    1..1",
            "    ok 1 needs_more # SKIP too little memory", "ok 1 idle # SKIP",
        )  # fmt: skip
        self.assert_problem(lines, "no test has run")
        self.assertIn("skipped needs_more: too little memory", summary(ktap.parse(lines)))

    def test_suite_failing_before_first_case_reported(self) -> None:
        lines = log(
            "KTAP version 1", "1..1", "    KTAP version 1", "    # Subtest: hopeless", "    1..1",
            "    # failed to initialize (-12)", "not ok 1 hopeless",
        )  # fmt: skip
        self.assert_problem(lines, "suite hopeless failed outside its cases\n    |     # failed to initialize (-12)")

    def test_suite_passing_with_failed_case_reported(self) -> None:
        lines = log(
            "KTAP version 1", "1..1", "    KTAP version 1", "    # Subtest: liar", "    1..1",
            "    not ok 1 lies", "ok 1 liar",
        )  # fmt: skip
        self.assert_problem(lines, "suite liar passes although a case of it failed")


class OtherMessages(unittest.TestCase):
    def test_messages_between_results_ignored(self) -> None:
        mixed = []
        for line in recorded("passing"):
            if ";" in line:
                mixed += [line.split(";", 1)[1], "random: crng init done", "  ok, said somebody", "12345"]
        run = ktap.parse(log(*mixed[4:-4]))
        self.assertFalse(run.failed(), summary(run))
        self.assertEqual(run.count("passed"), 18)

    def test_log_before_begin_mark_is_ignored(self) -> None:
        lines = recorded("passing")
        first = int(lines[0].split(",")[1])
        earlier = [f"6,{first - 2},0,-;KTAP version 1", f"6,{first - 1},0,-;1..0"]
        run = ktap.parse(earlier + lines)
        self.assertFalse(run.failed(), summary(run))

    def test_two_modules_counted_together(self) -> None:
        module = [line.split(";", 1)[1] for line in recorded("passing")[1:-1] if ";" in line]
        run = ktap.parse(log(*module, *module))
        self.assertFalse(run.failed(), summary(run))
        self.assertEqual(run.count("passed"), 36)


if __name__ == "__main__":
    unittest.main()
