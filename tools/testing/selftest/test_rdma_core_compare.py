# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests tools/testing/rdma_core/compare.py: when cxib has worse outcomes than the in-tree driver."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "rdma_core"))

import compare  # noqa: E402  (found through the path above)

REFERENCE = {"test_qp.QP.test_one": "passed", "test_odp.Odp.test_rc": "skipped", "test_mr.MR.test_rereg": "passed"}


def complaints(exceptions: compare.Exceptions, **changes: str) -> str:
    """Complaints about the reference outcomes with the given changes, by method name."""
    ours = {name: changes.get(name.rsplit(".", 1)[1], outcome) for name, outcome in REFERENCE.items()}
    return "\n".join(compare.complaints(REFERENCE, ours, exceptions))


class Compare(unittest.TestCase):
    def test_equal_outcomes_pass(self) -> None:
        self.assertEqual(complaints([]), "")

    def test_better_outcome_passes(self) -> None:
        self.assertEqual(complaints([], test_rc="passed"), "")

    def test_skip_behind_pass_reported(self) -> None:
        self.assertIn("test_mr.MR.test_rereg: skipped, and passed", complaints([], test_rereg="skipped"))

    def test_failure_behind_skip_reported(self) -> None:
        self.assertIn("test_odp.Odp.test_rc: failed, and skipped", complaints([], test_rc="failed"))

    def test_exception_accepts_failure(self) -> None:
        self.assertEqual(complaints([("test_mr.*", "not yet")], test_rereg="error"), "")

    def test_unused_exception_reported(self) -> None:
        self.assertIn("'test_mr.*'", complaints([("test_mr.*", "not yet")]))

    def test_missing_test_reported(self) -> None:
        self.assertIn("not run", "\n".join(compare.complaints(REFERENCE, {}, [])))

    def test_page_round_trips_reference(self) -> None:
        ours = {**REFERENCE, "test_qp.QP.test_one": "failed", "test_pd.PD.test_neither": "skipped"}
        reference = {**REFERENCE, "test_pd.PD.test_neither": "skipped"}
        self.assertEqual(compare.reference_of_page(compare.page(reference, ours, []), ours), reference)


if __name__ == "__main__":
    unittest.main(verbosity=2)
