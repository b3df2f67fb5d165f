# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests how outcomes of rdma-core's tests are judged (tools/testing/rdma_core), and the page that compares drivers."""

import pathlib
import sys
import unittest

SUITE = pathlib.Path(__file__).resolve().parents[1] / "rdma_core"
sys.path[:0] = [str(SUITE), str(SUITE / "guest")]

import compare  # noqa: E402  (found through the path above)
import verdict  # noqa: E402

ODP, FLOW, ONE, TWO, MR = ("test_odp.Odp.test_rc", "test_flow.Flow.test_eth", "test_qp.QP.test_one", "test_qp.QP.test_two",
                           "test_mr.MR.test_rereg")
GOOD = {ODP: ("skipped", "No ODP caps"), FLOW: ("skipped", "on Ethernet"), ONE: ("passed", ""), TWO: ("passed", "")}


class InTree(unittest.TestCase):
    JUDGE = verdict.InTree(2, (verdict.KnownSkip(("test_odp.*",), "No ODP"), verdict.KnownSkip((FLOW,), "Ethernet")))

    def judge(self, name: str, outcome: str, reason: str = "") -> str:
        return self.JUDGE.judge(name, outcome, reason)[0]

    def test_known_skip_stays_skip(self) -> None:
        self.assertEqual(self.judge(ODP, "skipped", "No ODP caps"), "skipped")

    def test_other_skips_fail(self) -> None:
        self.assertEqual(self.judge(ODP, "skipped", "no memory"), "failed")
        self.assertEqual(self.judge(TWO, "skipped", "No ODP caps"), "failed")

    def test_other_outcomes_stay(self) -> None:
        for outcome in ("passed", "failed", "error"):
            self.assertEqual(self.judge(ONE, outcome), outcome)

    def test_whole_run_without_known_skip_complains(self) -> None:
        self.assertEqual(self.JUDGE.complaints(GOOD), [])
        self.assertIn("no skip is like ('test_odp.*',)", self.JUDGE.complaints(GOOD | {ODP: ("passed", "")})[0])

    def test_too_few_tests_complain(self) -> None:
        self.assertIn("1 tests were executed, and at least 2", self.JUDGE.complaints(GOOD | {TWO: ("skipped", "")})[-1])

    def test_lists_readable(self) -> None:
        self.assertGreater(len(verdict.InTree.load().skips), 10)
        self.assertGreater(len(verdict.InTreeOnProfile.of("connectx4-2016").failures), 1)


class InTreeOnProfile(unittest.TestCase):
    def test_expected_failure_accepted_and_demanded(self) -> None:
        judge = verdict.InTreeOnProfile([("test_odp.*", "no clock")])
        self.assertEqual(judge.judge(ODP, "error", ""), ("skipped", "fails on this profile: no clock"))
        self.assertEqual(judge.judge(ODP, "passed", "")[0], "failed")
        self.assertEqual(judge.judge(ONE, "error", "")[0], "error")
        self.assertEqual(judge.judge(ONE, "skipped", "")[0], "skipped")


REFERENCE = {ONE: "passed", ODP: "skipped", MR: "passed", TWO: "failed"}


class Cxib(unittest.TestCase):
    JUDGE = verdict.Cxib(REFERENCE, [("test_mr.*", "not yet")])

    def judge(self, name: str, outcome: str) -> str:
        return self.JUDGE.judge(name, outcome, "")[0]

    def test_equal_and_better_outcomes_stay(self) -> None:
        self.assertEqual(self.judge(ONE, "passed"), "passed")
        self.assertEqual(self.judge(ODP, "skipped"), "skipped")
        self.assertEqual(self.judge(ODP, "passed"), "passed")

    def test_worse_outcomes_fail(self) -> None:
        self.assertEqual(self.judge(ONE, "skipped"), "failed")
        self.assertEqual(self.judge(ODP, "error"), "failed")

    def test_failure_on_both_drivers_accepted(self) -> None:
        self.assertEqual(self.judge(TWO, "error"), "skipped")

    def test_exception_accepted(self) -> None:
        self.assertEqual(self.JUDGE.judge(MR, "error", ""), ("skipped", "not yet"))


class Page(unittest.TestCase):
    OURS = {**REFERENCE, ONE: "failed", FLOW: "skipped", MR: "error"}

    def setUp(self) -> None:
        self.page = compare.page({**REFERENCE, FLOW: "skipped"}, self.OURS, [])

    def complaints(self, **changes: str) -> list[str]:
        judge = verdict.Cxib(REFERENCE, [("test_mr.*", "not yet")], self.page)
        ours = {name: changes.get(name.rsplit(".", 1)[1], outcome) for name, outcome in self.OURS.items()}
        return judge.complaints({name: (outcome, "") for name, outcome in ours.items()})

    def test_page_has_outcomes_of_both_drivers(self) -> None:
        for column, outcomes in enumerate((REFERENCE, self.OURS)):
            shown = {name: outcome for name, outcome in outcomes.items() if name not in (ODP, FLOW)}
            self.assertEqual(compare.outcomes_of_page(self.page, column), shown)

    def test_run_as_on_page_passes(self) -> None:
        self.assertEqual(self.complaints(), [])

    def test_other_outcome_than_on_page_reported(self) -> None:
        self.assertIn("test_one: passed; 'make compare-tests'", self.complaints(test_one="passed")[0])
        self.assertIn("test_eth: passed", self.complaints(test_eth="passed")[0])

    def test_unused_exception_reported(self) -> None:
        self.assertIn("'test_mr.*'", self.complaints(test_rereg="passed")[0])


if __name__ == "__main__":
    unittest.main()
