# SPDX-License-Identifier: GPL-2.0-or-later
"""Lets the second HCA write wrong CQEs. After an invalid CQE the driver reports a fatal error, and the device recovers.
After a wrong but valid CQE the ULP still gets one completion for each WR."""

import pathlib

from control import control, until
from exerciser import UlpTest, run_case
from machines import DEBUG, FAULTS
from recovering import RecoveryTest, trouble

GUESTS = [
    DEBUG.with_tests("Nonsense.test_cqe_for_wr_that_was_not_posted_to_srq", "Lies.test_random_cqe"),
    FAULTS,
]
PATIENCE = pathlib.Path("/sys/module/cxib_kverbs/parameters/patience")
"""Seconds that a case waits for a completion."""
SHORT = "20"  # the case waits in vain for the CQE that the device does not write
LONG = "120"
CASES = ("rc_everything", "rc_shared_receives", "uc_everything", "ud_sends")
CASES_WITH_SRQ = ("rc_shared_receives", "ud_shared_receives")
MISSING = "there are not two HCAs"


class WrongCompletions(UlpTest, RecoveryTest):
    def setUp(self) -> None:
        super().setUp()
        self.addCleanup(control, "faults", "clear")
        self.addCleanup(PATIENCE.write_text, LONG)

    def run_with(self, case: str, lie: str, is_noticed: bool) -> str:
        """Runs a case with a corrupted CQE; returns its complaint."""
        number = 3 if "type=" in lie else 10  # fewer CQEs have this type
        trouble("fault", f"cqe nth={number} data {lie}")  # data of the case, not MADs of OpenSM
        PATIENCE.write_text(LONG if is_noticed else SHORT)
        try:
            found = run_case(case)
            self.assertEqual([rule["injected"] for rule in control("faults")["rules"]], [1], f"the case says {found!r}")
        finally:
            PATIENCE.write_text(LONG)
            control("faults", "clear")
        return found

    def assert_works(self, case: str) -> None:
        until(self.is_active, "the port is active")
        until(lambda: run_case(case) != MISSING, "the test module has both HCAs")
        self.assert_right(case)

    def endure(self, lie: str, is_noticed: bool, cases: tuple[str, ...] = CASES) -> None:
        for case in cases:
            with self.subTest(case=case):
                self.log.forget()
                found = self.run_with(case, lie, is_noticed)
                if is_noticed:
                    self.assertRegex(self.new_messages(), r"unexpected CQE|exceeds WQE", f"the case says {found!r}")
                    until(self.failures, "the fatal error is reported")
                print(f"{case}: {found.splitlines()[:1]}, fatal: {self.failures()}", flush=True)
                self.assert_works(case)


class Nonsense(WrongCompletions):
    """There can be no such completion: the driver has to notice."""

    def test_cqe_for_unknown_qp(self) -> None:
        self.endure("field=qpn:0x77", True)

    def test_cqe_for_wr_that_was_not_posted(self) -> None:
        self.endure("type=REQ field=wqe_counter:0xfff0", True)

    def test_cqe_for_wr_that_was_not_posted_to_srq(self) -> None:
        self.endure("type=RESP_SEND field=wqe_counter:0xfff0", True, CASES_WITH_SRQ)

    def test_cqe_of_unknown_type(self) -> None:
        self.endure("unknown", True)

    def test_cqe_of_more_bytes_than_there_is_room_for(self) -> None:
        self.endure("type=RESP_SEND field=byte_cnt:0xffffffff", True)


class Lies(WrongCompletions):
    """Such a completion can pass for a right one."""

    def test_cqe_of_another_length(self) -> None:
        self.endure("field=byte_cnt:1", False)

    def test_cqe_of_other_flags(self) -> None:
        self.endure("field=opcode:4", False)

    def test_cqe_not_written(self) -> None:
        self.endure("drop", False)

    def test_cqe_written_twice(self) -> None:
        self.endure("duplicate", False)

    def test_random_cqe(self) -> None:
        self.endure("random", False)

    def test_random_cqe_beside_right_one(self) -> None:
        self.endure("extra", False)
