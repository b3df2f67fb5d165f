# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests tools/testing/kunit/suites.py: which driver files need a KUnit suite."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "kunit"))

import suites  # noqa: E402  (found through the path above)


def entry(covered: int, total: int, name: str = "drivers/cxib/a.c") -> dict:
    return {"filename": name, "line_covered": covered, "line_total": total}


class Suites(unittest.TestCase):
    def test_hardly_reached_file_needs_reason(self) -> None:
        self.assertIn("19% of 100 lines", suites.complaints([entry(19, 100)], {})[0])
        self.assertEqual(suites.complaints([entry(19, 100)], {"drivers/cxib/a.c": "a test"}), [])

    def test_reached_file_refuses_reason(self) -> None:
        self.assertEqual(suites.complaints([entry(20, 100)], {}), [])
        self.assertIn("is not needed", suites.complaints([entry(20, 100)], {"drivers/cxib/a.c": "a test"})[0])

    def test_headers_and_short_files_ignored(self) -> None:
        self.assertEqual(suites.complaints([entry(0, 19), entry(0, 50, "drivers/cxib/a.h")], {}), [])

    def test_reason_for_missing_file_refused(self) -> None:
        self.assertIn("is no file", suites.complaints([], {"drivers/cxib/a.c": "a test"})[0])
