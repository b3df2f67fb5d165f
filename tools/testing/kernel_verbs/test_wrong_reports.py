# SPDX-License-Identifier: GPL-2.0-or-later
"""Signature pipelining on a device that loses a report of an error, or writes it twice: no response is sent, and the MR is
not trusted any more."""

from control import control, control_lines
from exerciser import UlpTest
from machines import OWN_KEYS, STOCK

GUESTS = [STOCK, OWN_KEYS]
SIG_ERR = "type=0xc"  # of the CQE


class WrongReports(UlpTest):
    def inject(self, *rules: str) -> None:
        """Applies rules to the signature errors of the second HCA during the test."""
        self.addCleanup(control, "faults", "clear")
        control_lines(*(f"fault cqe {SIG_ERR} {rule} @hca1" for rule in rules))

    def test_stop_without_report_closes_connection(self) -> None:
        self.inject("drop")
        for seed in range(4):
            self.assert_right("pipelining_error_without_report", seed)

    def test_mr_of_wrong_report_is_not_trusted(self) -> None:
        self.inject("drop nth=1 times=2", "duplicate nth=3 times=2")
        for seed in range(4):
            self.assert_right("pipelining_wrong_report", seed)
