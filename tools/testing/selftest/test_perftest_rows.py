# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests how tools/testing/guest/rdma.py reads perftest's output."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "guest"))

import rdma  # noqa: E402  (found through the path above)

HEAD = """---------------------------------------------------------------------------------------
 local address: LID 0x01 QPN 0x0106 PSN 0x5fb3a3
 #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]
"""


class Rows(unittest.TestCase):
    def test_every_size_has_row(self) -> None:
        rows = rdma.perftest_rows(HEAD + " 2          10             88.41              88.63\t\t   0.000092\n"
                                         " 65536      10             755.29             754.02\t\t   0.012064\n" + "-" * 87)
        self.assertEqual([row[:2] for row in rows], [["2", "10"], ["65536", "10"]])

    def test_interrupted_round_has_no_standard_deviation(self) -> None:
        row = " 4096    10          29.31        96156.13      35.22  \t       4001.80     \t-nan\t\t96156.13\t\t96156.13 \n"
        self.assertEqual(rdma.perftest_rows(HEAD + row)[0][4:7], ["35.22", "4001.80", "-nan"])

    def test_missing_frequency_has_no_times(self) -> None:
        row = " 4096    10          inf        inf      inf  \t       inf     \t-nan\t\tinf\t\tinf \n"
        self.assertEqual(rdma.perftest_rows(HEAD + row), [["4096", "10", *["inf"] * 4, "-nan", "inf", "inf"]])

    def test_program_without_results_fails(self) -> None:
        with self.assertRaisesRegex(AssertionError, "(?s)no row of results in: .*local address"):
            rdma.perftest_rows(HEAD)


if __name__ == "__main__":
    unittest.main(verbosity=2)
