#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Signature pipelining on a device that loses one report of an error, or writes it twice: no response is sent, and the MR is
not trusted any more.

The fault plan of the guest, whose rules are used up here: cqe type=0xc drop nth=1 times=2 @hca1;cqe type=0xc duplicate nth=3
times=2 @hca1.
"""

import unittest

from exerciser import UlpTest


class WrongReports(UlpTest):
    def test_mr_of_wrong_report_is_not_trusted(self) -> None:
        for seed in range(4):
            self.assert_right("pipelining_wrong_report", seed)


if __name__ == "__main__":
    unittest.main()
