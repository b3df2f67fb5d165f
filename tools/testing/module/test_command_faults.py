#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every command of a probe goes wrong in turn, in every way: nothing is left of it, the log says what went wrong, and the
next probe works. All HCAs of the guest do it at the same time, each with a command of another number.

CXIB_COMMANDS is how many commands are tried in each way, spread over the probe; without it, all are.
"""

import os
import pathlib
import re
import time
import unittest

import guest
from control import control
from guest import driver_of
from hca import DEBUGFS, HcaTest, spread

OPTIONAL = {
    "access_register 0x0",  # the byte order of the host
    "alloc_q_counter 0x0",
    "mad_ifc 0x1", "mad_ifc 0x3",
    "query_adapter 0x0",
    "query_hca_cap 0x7",  # atomic operations
    "query_hca_cap 0x4", "query_hca_cap 0x5",  # page faults
    "query_hca_cap 0x41",  # the second general page: a larger number of EQs
    "query_special_contexts 0x0",
    "set_driver_version 0x0",
    "set_hca_cap 0x6",  # atomic operations
    "set_hca_cap 0x4",  # page faults
}
"""Commands that a start can do without, with their op_mod."""
SOME = {
    "access_register 0x1",  # virtual lanes and the name of the node; not the link and the MTU
    "create_eq 0x0",  # event queues for completions, but for the first one
}
"""Those that it can do without sometimes."""

SILENT = {
    "mad_ifc 0x1", "mad_ifc 0x3",  # answered or not, a datagram is the business of its sender
    "query_issi 0x0",  # a message of its own
}
"""Commands whose refusal is not logged as such."""
INFORMATION = r": firmware \d|: enabling device "
LATE_S = 5
"""How long after a start the RDMA core may still ask for a command. Only a command that never comes takes so long."""

TRACING = pathlib.Path("/sys/kernel/tracing")

SAMPLE = int(os.environ.get("CXIB_COMMANDS", "0"))
LIMIT_MS = 4000
USUAL_LIMIT_MS = 60000

NO_ANSWER = r"timed out after|commands timed out|no free slot"
MALFORMED = r"bad output: "


class CommandFaults(HcaTest):
    def setUp(self) -> None:
        super().setUp()
        guest.write_attribute(DEBUGFS / "command_timeout_ms", str(LIMIT_MS))
        self.addCleanup(guest.write_attribute, DEBUGFS / "command_timeout_ms", str(USUAL_LIMIT_MS))
        self.addCleanup(control, "faults", "clear")
        self.logs = [guest.LogTail() for _ in self.hcas]
        for log in self.logs:
            self.addCleanup(log.close)

    def messages(self, index: int) -> str:
        """What the kernel has said of an HCA since the last call."""
        return "\n".join(line for line in self.logs[index].read() if self.hcas[index].name in line)

    def commands_of_probe(self) -> tuple[int, int]:
        """Numbers of commands: of those that bring the device up, and of all until it is registered. The later ones may
        still be outstanding then."""
        self.messages(0)
        self.assertEqual(guest.bind_error(self.hcas[0]), "")
        issued = int(self.values(self.hcas[0], "command_queue")["issued"])
        guest.unbind(self.hcas[0])
        until_up = re.search(r"up after (\d+) commands", self.messages(0))
        assert until_up
        return int(until_up[1]), issued

    def probe(self, index: int) -> str:
        """Probes an HCA; returns what the log says, "mad_ifc" if that has failed: a datagram that the firmware refuses
        is the business of its sender."""
        hca = self.hcas[index]
        error = guest.bind_error(hca)
        if driver_of(hca) == "cxib":
            failed = [name for name, counts in self.commands(hca).items() if counts[1]]
            guest.unbind(hca)
            return "mad_ifc" if failed == ["mad_ifc"] else self.messages(index)
        said = self.messages(index)
        self.assertNotEqual(error, "")
        self.assertRegex(said, rf"{hca.name}: (bring-up failed at step|RDMA device: registration failed)")
        return said

    def has_struck(self, index: int) -> bool:
        return any(rule["injected"] for rule in control("faults")["rules"] if rule["line"].endswith(f"@hca{index}"))

    def probe_with(self, index: int, number: int, fault: str) -> tuple[bool, str]:
        """Returns whether the command `number` of a probe was issued, and has gone wrong, and what the log says."""
        self.messages(index)
        control("fault", f"command * nth={number} {fault} @hca{index}")
        said = self.probe(index)
        injected = self.has_struck(index)
        control("faults", "clear", f"@hca{index}")
        self.assert_has_let_go(self.hcas[index])
        return injected, said

    def fail_each(self, fault: str, message: str = ".*") -> None:
        certain, count = self.commands_of_probe()

        def fail(index: int, number: int) -> None:
            injected, said = self.probe_with(index, number, fault)
            self.assertTrue(injected or number > certain, said)
            if injected:
                self.assertRegex(said, rf"{message}|^mad_ifc$")

        self.share_out(spread(count, SAMPLE), fail)
        self.bind()
        self.unbind()
        for index in range(len(self.hcas)):
            self.assert_device_has_nothing(index)

    def issued(self) -> list[str]:
        """The commands of a probe, with their op_mod."""
        guest.write_attribute(TRACING / "trace", "")
        guest.write_attribute(TRACING / "events/cxib/enable", "1")
        self.assertEqual(guest.bind_error(self.hcas[0]), "")
        guest.write_attribute(TRACING / "events/cxib/enable", "0")
        trace = (TRACING / "trace").read_text()
        guest.unbind(self.hcas[0])
        found = re.findall(rf"cmd_issue: {self.hcas[0].name} (\w+) \(0x\w+\) op_mod (0x\w+)", trace)
        return [" ".join(words) for words in found]

    def fault_occurs(self, index: int) -> bool:
        """Whether the fault meets a command of a start that has ended: some are issued by work that it has queued."""
        limit = time.monotonic() + LATE_S
        while not self.has_struck(index):
            if time.monotonic() > limit or driver_of(self.hcas[index]) != "cxib":
                return False
            time.sleep(0.1)
        return True

    def refuse(self, index: int, number: int) -> tuple[bool, str, bool]:
        """Has a command of a probe refused. Returns whether it was issued, which one it was, empty if the log does not name
        it, and whether there is a port nevertheless. Then the log has one line about it, and no further complaint."""
        hca = self.hcas[index]
        self.messages(index)
        control("fault", f"command * nth={number} status=BAD_OPERATION syndrome=0x5ca1ab @hca{index}")
        guest.bind_error(hca)
        occurred = self.fault_occurs(index)
        has_port = any(hca.glob("infiniband/*/ports/1/state"))
        said = [line for line in self.messages(index).splitlines() if not re.search(INFORMATION, line)]
        if driver_of(hca) == "cxib":
            guest.unbind(hca)
        control("faults", "clear", f"@hca{index}")
        lines = [line for line in said if "0x5ca1ab" in line]
        self.assertLessEqual(len(lines), 1, "one line in the log")
        refused = re.search(r"command (\w+) \(0x\w+, op_mod (0x\w+)\)", "".join(lines))
        if has_port:
            self.assertEqual(said, lines)
            self.assertEqual(len(lines), 1 if refused else 0)
        return occurred, " ".join(refused.groups()) if refused else "", has_port

    def test_start_goes_on_without_what_is_optional(self) -> None:
        """The first, the second and the last command of each name is refused."""
        certain, _ = self.commands_of_probe()
        commands = self.issued()
        numbers = set()
        for name in set(commands):
            places = [number for number, other in enumerate(commands, 1) if other == name]
            numbers |= {*places[:2], places[-1]}
        outcomes: dict[str, set[bool]] = {}

        def refuse(index: int, number: int) -> None:
            occurred, name, has_port = self.refuse(index, number)
            if not occurred:
                self.assertGreater(number, certain)
                return
            if not name:
                self.assertIn(commands[number - 1], SILENT)
            outcomes.setdefault(name or commands[number - 1], set()).add(has_port)

        self.share_out(sorted(numbers), refuse)
        print("\n    " + "\n    ".join(f"{name}: {sorted(found)}" for name, found in sorted(outcomes.items())))
        self.assertEqual(set(outcomes), set(commands))
        for name, found in outcomes.items():
            with self.subTest(command=name):
                self.assertEqual(found, {True, False} if name in SOME else {name in OPTIONAL})

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
        self.fail_each("delivery=1", r"not delivered: ")

    def test_garbage_behind_the_status(self) -> None:
        self.fail_each("garbage")

    def test_garbage_altogether(self) -> None:
        self.fail_each("garbage=all")

    def test_hang(self) -> None:
        self.fail_each("hang", NO_ANSWER)

    def test_answer_that_is_lost(self) -> None:
        self.fail_each("drop-completion", NO_ANSWER)

    def test_answer_that_no_event_tells_of(self) -> None:
        self.fail_each("drop-eqe")

    def test_late_answer(self) -> None:
        self.fail_each(f"delay={LIMIT_MS + 1000}ms", NO_ANSWER)


if __name__ == "__main__":
    unittest.main(verbosity=2)
