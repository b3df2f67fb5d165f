#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Signature pipelining on a device that stops without a report of the error: no response is sent.

The fault plan of the guest is: cqe type=0xc drop @hca1.
"""

import unittest

from exerciser import UlpTest


class LostReports(UlpTest):
    def test_stop_without_report_closes_connection(self) -> None:
        for seed in range(4):
            self.assert_right("pipelining_error_without_report", seed)


if __name__ == "__main__":
    unittest.main()
