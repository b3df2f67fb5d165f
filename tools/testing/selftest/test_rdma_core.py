# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests tools/testing/rdma_core/guest/verdict.py: when a run of rdma-core's test suite fails."""

import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SUITE = HERE.parent / "rdma_core"
sys.path.insert(0, str(SUITE / "guest"))

import verdict  # noqa: E402  (found through the path above)

EXPECTED = verdict.Expectations(2, (verdict.KnownSkip(("test_odp.*",), "No ODP", "no pages", True),
                                    verdict.KnownSkip(("test_flow.Flow.test_eth",), "Ethernet", "no port", False)))
GOOD = {"test_odp.Odp.test_rc": ("skipped", "No ODP caps"), "test_flow.Flow.test_eth": ("skipped", "on Ethernet"),
        "test_qp.QP.test_one": ("passed", ""), "test_qp.QP.test_two": ("passed", "")}


def complaints(**changes: tuple[str, str]) -> str:
    """Complaints about good outcomes with the given changes, by method name."""
    outcomes = {name: changes.get(name.rsplit(".", 1)[1], outcome) for name, outcome in GOOD.items()}
    found = {name: {"outcome": outcome, "text": text} for name, (outcome, text) in outcomes.items()}
    return "\n".join(verdict.complaints(found, EXPECTED))


class Verdict(unittest.TestCase):
    def test_known_skips_pass(self) -> None:
        self.assertEqual(complaints(), "")

    def test_failures_and_errors_fail(self) -> None:
        self.assertIn("test_one: failed: wrong", complaints(test_one=("failed", "wrong")))
        self.assertIn("test_two: error: gone", complaints(test_two=("error", "gone")))

    def test_unknown_skip_fails(self) -> None:
        self.assertIn("test_two: skipped, and no entry", complaints(test_two=("skipped", "No ODP caps")))

    def test_known_skip_with_other_reason_fails(self) -> None:
        self.assertIn("test_rc: skipped, and no entry", complaints(test_rc=("skipped", "no memory")))

    def test_unused_entry_fails(self) -> None:
        self.assertIn("no skip is like ('test_odp.*',)", complaints(test_rc=("passed", "")))

    def test_too_few_tests_fail(self) -> None:
        self.assertIn("1 tests were executed, and at least 2", complaints(test_two=("skipped", "")))

    def test_gaps_exclude_other_networks(self) -> None:
        found = {name: {"outcome": outcome, "text": text} for name, (outcome, text) in GOOD.items()}
        self.assertEqual(verdict.gaps(found, EXPECTED), ["test_odp.Odp.test_rc"])

    def test_list_readable(self) -> None:
        self.assertGreater(len(verdict.load(SUITE / "skips.toml").skips), 10)


if __name__ == "__main__":
    unittest.main()
