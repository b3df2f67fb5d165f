# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests the page of the long steps."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import long_steps  # noqa: E402
from long_steps import Pass  # noqa: E402

OLD = Pass("2026-11-20T10:00Z", "a" * 12, "1:00", "0:30")
NEW = Pass("2026-11-21T10:00Z", "b" * 12, "2:00", "1:30")


class LongSteps(unittest.TestCase):
    def test_long_steps_listed_in_order(self) -> None:
        text = "need|kernel|true\nfast|one|true\nlong|two|true\nlong:kernel|three|true\n"
        self.assertEqual(long_steps.long_steps(text), ["two", "three"])

    def test_page_read_as_written(self) -> None:
        text = long_steps.page(["one", "two"], {"one": OLD})
        self.assertEqual(dict(long_steps.of_page(text)), {"one": OLD, "two": Pass()})

    def test_newest_pass_of_step_counts(self) -> None:
        for order in ((OLD, NEW), (NEW, OLD)):
            self.assertEqual(long_steps.newest(*(iter([("one", each)]) for each in order)), {"one": NEW})

    def test_pass_counts_more_than_none(self) -> None:
        for order in ((OLD, Pass()), (Pass(), OLD)):
            self.assertEqual(long_steps.newest(*(iter([("one", each)]) for each in order)), {"one": OLD})

    def test_notes_of_checkout_read(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            (pathlib.Path(name) / "one").write_text(f"{'c' * 40} 2026-11-22T09:30Z 754321 61000\n", encoding="ascii")
            self.assertEqual(
                dict(long_steps.of_checkout(pathlib.Path(name))),
                {"one": Pass("2026-11-22T09:30Z", "c" * 12, "12:34", "1:01")},
            )

    def test_missing_step_has_no_row(self) -> None:
        text = long_steps.page(["one"], {"one": OLD, "gone": NEW})
        self.assertNotIn("gone", text)

    def test_page_of_project_lists_each_long_step(self) -> None:
        rows = [name for name, _ in long_steps.of_page(long_steps.PAGE.read_text(encoding="utf-8"))]
        self.assertEqual(rows, long_steps.long_steps(long_steps.STEPS.read_text(encoding="utf-8")))


if __name__ == "__main__":
    unittest.main()
