#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Lets the second HCA write wrong CQEs. After an invalid CQE the driver reports a fatal error, and the device recovers.
After a wrong but valid CQE the ULP still gets one completion for each WR.

KVERBS_CORRUPTIONS is a regular expression that selects corruptions.
"""

import os
import pathlib
import re
import unittest

from control import control, until
from exerciser import UlpTest, run_case
from recovering import RecoveryTest, trouble

PARAMETERS = pathlib.Path("/sys/module/cxib_kverbs/parameters")
CHOSEN = re.compile(os.environ.get("KVERBS_CORRUPTIONS", ""))
PATIENCE = PARAMETERS / "patience"
"""Seconds that a case waits for a completion."""
SHORT = "20"  # the case waits in vain for the CQE that the device does not write
LONG = "120"
CASES = ("rc_everything", "rc_shared_receives", "uc_everything", "ud_sends")
NONSENSE = {
    "for a queue pair that there isn't": "field=qpn:0x77",
    "for a request that was not posted": "type=REQ field=wqe_counter:0xfff0",
    "of a type that there isn't": "unknown",
}
"""No completion of such a kind can be: the driver has to notice."""
NONSENSE_OF_RECEIVES = {"of more bytes than there is room for": "type=RESP_SEND field=byte_cnt:0xffffffff"}
NONSENSE_OF_SHARED_RECEIVES = {"for a request that was not posted": "type=RESP_SEND field=wqe_counter:0xfff0"}
LIES = {
    "of another length": "field=byte_cnt:1",
    "of other flags": "field=opcode:4",
    "that is not written": "drop",
    "that is written twice": "duplicate",
    "of anything": "random",
    "of anything, beside the right one": "extra",
}
"""These can pass for right ones."""
MISSING = "there are not two HCAs"


class LyingCompletions(UlpTest, RecoveryTest):
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
            self.assertEqual([rule["injected"] for rule in control("faults")["rules"]], [1])
        finally:
            PATIENCE.write_text(LONG)
            control("faults", "clear")
        return found

    def assert_works(self, case: str) -> None:
        until(self.is_active, "the port is active")
        until(lambda: run_case(case) != MISSING, "the test module has both HCAs")
        self.assert_right(case)

    def endure(self, lies: dict[str, str], is_noticed: bool, among: tuple[str, ...] = CASES) -> None:
        for what, lie in filter(lambda item: CHOSEN.search(item[0]), lies.items()):
            for case in among:
                with self.subTest(completion=what, case=case):
                    self.log.forget()
                    found = self.run_with(case, lie, is_noticed)
                    if is_noticed:
                        self.assertRegex(self.new_messages(), r"unexpected CQE|exceeds WQE", f"the case says {found!r}")
                        until(self.failures, "the fatal error is reported")
                    print(f"{case}, a completion {what}: {found.splitlines()[:1]}, fatal: {self.failures()}", flush=True)
                    self.assert_works(case)

    def test_nonsense_cqes_survived(self) -> None:
        self.endure(NONSENSE, True)

    def test_nonsense_receive_cqes_survived(self) -> None:
        self.endure(NONSENSE_OF_RECEIVES, True)

    def test_nonsense_shared_receive_cqes_survived(self) -> None:
        self.endure(NONSENSE_OF_SHARED_RECEIVES, True, ("rc_shared_receives", "ud_shared_receives"))

    def test_plausible_cqes_survived(self) -> None:
        self.endure(LIES, False)


if __name__ == "__main__":
    unittest.main(verbosity=2)
