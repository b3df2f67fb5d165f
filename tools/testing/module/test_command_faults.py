#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every command of a probe goes wrong in turn, in every way: nothing is left of it, the log says what went wrong, and the
next probe works.

CXIB_COMMANDS is how many commands are tried in each way, spread over the probe; without it, all are.
"""

import os
import unittest

import guest
from control import control
from guest import driver_of
from hca import DEBUGFS, HcaTest, spread

SAMPLE = int(os.environ.get("CXIB_COMMANDS", "0"))
LIMIT_MS = 2000
USUAL_LIMIT_MS = 60000

NO_ANSWER = r"was not answered within|no further command|found no free slot"
MALFORMED = r"makes no sense: "


class CommandFaults(HcaTest):
    def setUp(self) -> None:
        super().setUp()
        self.hca = self.hcas[0]
        guest.write_attribute(DEBUGFS / "command_limit_ms", str(LIMIT_MS))
        self.addCleanup(guest.write_attribute, DEBUGFS / "command_limit_ms", str(USUAL_LIMIT_MS))
        self.addCleanup(control, "faults", "clear")

    def commands_of_probe(self) -> int:
        self.assertEqual(guest.bind_error(self.hca), "")
        issued = int(self.values(self.hca, "command_queue")["issued"])
        guest.unbind(self.hca)
        return issued

    def probe_with(self, number: int, fault: str) -> str:
        """Returns what the log says of a probe whose command `number` goes wrong, "mad_ifc" if that was the command: a
        datagram that the firmware refuses is the business of its sender."""
        self.log_before = guest.kernel_log()
        control("fault", f"command * nth={number} {fault} @hca0")
        error = guest.bind_error(self.hca)
        said = ""
        if driver_of(self.hca) == "cxib":
            if [name for name, counts in self.commands(self.hca).items() if counts[1]] == ["mad_ifc"]:
                said = "mad_ifc"
            guest.unbind(self.hca)
        else:
            self.assertNotEqual(error, "")
            self.assert_logged(rf"{self.hca.name}: (bring-up failed at step|cannot register an RDMA device)")
        control("faults", "clear")
        self.assert_nothing_is_left()
        return said or self.new_messages()

    def fail_each(self, fault: str, message: str = ".*") -> None:
        count = self.commands_of_probe()
        for number in spread(count, SAMPLE):
            with self.subTest(command=number, of=count):
                said = self.probe_with(number, fault)
                self.assertRegex(said, rf"{message}|^mad_ifc$")
        self.assertEqual(guest.bind_error(self.hca), "")
        guest.unbind(self.hca)
        self.assert_device_has_nothing(0)

    def test_status(self) -> None:
        self.fail_each("status=NO_RESOURCES syndrome=0x5ca1ab", r"failed: .*, syndrome 0x5ca1ab|status 0x0?f, syndrome 0x5ca1ab")

    def test_status_that_the_interface_does_not_know(self) -> None:
        self.fail_each("status=0xee", r"status 0xee")

    def test_length_beyond_the_room(self) -> None:
        self.fail_each("bad-length=0x7fffffff", MALFORMED)

    def test_no_length(self) -> None:
        self.fail_each("bad-length", MALFORMED)

    def test_token_of_another_command(self) -> None:
        self.fail_each("token=0", MALFORMED)

    def test_not_delivered(self) -> None:
        self.fail_each("delivery=1", r"was not delivered: ")

    def test_garbage_behind_the_status(self) -> None:
        self.fail_each("garbage")

    def test_garbage_altogether(self) -> None:
        self.fail_each("garbage=all")

    def test_no_answer(self) -> None:
        self.fail_each("no-answer", NO_ANSWER)

    def test_answer_that_is_lost(self) -> None:
        self.fail_each("lost-answer", NO_ANSWER)

    def test_answer_that_no_event_tells_of(self) -> None:
        self.fail_each("no-event")

    def test_late_answer(self) -> None:
        self.fail_each(f"delay={LIMIT_MS + 1000}ms", NO_ANSWER)


if __name__ == "__main__":
    unittest.main(verbosity=2)
