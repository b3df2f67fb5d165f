# SPDX-License-Identifier: GPL-2.0-or-later
"""Injects each kind of fault into each command of a probe in turn: the probe leaves nothing behind, the log names the
fault, and the next probe succeeds. All HCAs of the guest are tested in parallel, each with another command.

CXIB_COMMANDS is the number of commands to test with each kind of fault, spread over the probe; default: all.
"""

import collections
import os
import pathlib
import re
import threading

import guest
import module_machines as machines
from control import control
from guest import driver_of
from hca import DEBUGFS, HcaTest, spread
from machine import LONG

SOME = tuple(f"CommandFaults.test_{name}" for name in (
    "status_fails_command", "zero_length_fails_command", "garbage_output_survived", "hang_times_out"))
FAULTS = machines.WRONG_DEVICES.but("faults", settings=("CXIB_COMMANDS=6",))
GUESTS = [
    FAULTS.with_tests(*SOME, "CommandFaults.test_bring_up_continues_without_optional_commands",
                      "CommandFaults.test_bring_up_without_registers_has_port"),
    machines.WRONG_DEVICES_DEBUG.with_tests(*(name for name in SOME if "garbage" not in name)),
    machines.on_debug(FAULTS, settings=("CXIB_COMMANDS=3",)).with_tests(*SOME),
    FAULTS.but("faults-all", settings=("CXIB_COMMANDS=60",), level=LONG, seconds=18000),
]
CLIENTS = {  # for objects of ib_mad and ib_cm's port bit: the port stays, and the client that fails complains
    "alloc_pd 0x0", "create_cq 0x0", "create_qp 0x0", "modify_hca_vport_context 0x0",
    "rst2init_qp 0x0", "init2rtr_qp 0x0", "rtr2rts_qp 0x0",
}
OPTIONAL = {
    "access_register 0x0",  # the byte order of the host
    "access_register 0x1",  # link, MTU, virtual lanes, name of the node
    "alloc_q_counter 0x0", "query_q_counter 0x0",
    "mad_ifc 0x1", "mad_ifc 0x3",
    "query_adapter 0x0",
    "query_hca_cap 0x4", "query_hca_cap 0x5",  # page faults
    "query_hca_cap 0x7",  # atomic operations
    "query_hca_cap 0x1f",  # device memory
    "query_hca_cap 0x41",  # the second general page: a larger number of EQs
    "query_hca_vport_gid 0x0",  # the table of GIDs; without it each entry is read separately
    "query_special_contexts 0x0",
    "set_driver_version 0x0",
    "set_hca_cap 0x4",  # page faults
    "set_hca_cap 0x6",  # atomic operations
    *CLIENTS,
}
"""Commands that a start can do without, with their op_mod."""
NEEDED_FIRST = {
    "create_eq 0x0",  # EQs of commands, events and the first vector; those of other vectors and page faults are optional
    "query_hca_vport_context 0x0",  # for the RDMA core, not for its clients
    "query_hca_vport_pkey 0x0",  # for the RDMA core, not for its clients
}
"""Those that it can do without when they are issued again."""

SILENT = {
    "mad_ifc 0x1", "mad_ifc 0x3",  # only the sender of a MAD handles its failure
    "query_issi 0x0",  # has its own message
}
"""Commands whose refusal is not logged as such."""
REFUSAL = "status=BAD_OPERATION syndrome=0x5ca1ab"
INFORMATION = r": firmware \d|: enabling device "

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
        """Kernel messages about an HCA since the last call."""
        return "\n".join(line for line in self.logs[index].read() if self.hcas[index].name in line)

    def commands_of_probe(self) -> tuple[int, int]:
        """Numbers of commands: until the device is up, and until it is registered. The later ones may then still be
        outstanding."""
        self.messages(0)
        self.assertEqual(guest.bind_error(self.hcas[0]), "")
        issued = int(self.values(self.hcas[0], "command_queue")["issued"])
        guest.unbind(self.hcas[0])
        until_up = re.search(r"up after (\d+) commands", self.messages(0))
        assert until_up
        return int(until_up[1]), issued

    def probe(self, index: int) -> str:
        """Probes an HCA; returns the log messages. Returns "mad_ifc" if only a MAD has failed: its sender handles a
        refusal by firmware."""
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
        """Returns whether command `number` of a probe was issued and has failed, and the log messages."""
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

    def start(self, index: int) -> bool:
        """Binds an HCA with newly started firmware; returns whether it has a port afterwards."""
        hca = self.hcas[index]
        guest.write_attribute(hca / "reset", "1")
        self.messages(index)
        guest.bind_error(hca)
        return any(hca.glob("infiniband/*/ports/1/state"))

    def stop(self, index: int) -> None:
        if driver_of(self.hcas[index]) == "cxib":
            guest.unbind(self.hcas[index])
        control("faults", "clear", f"@hca{index}")

    def complaints(self, index: int) -> list[str]:
        return [line for line in self.messages(index).splitlines() if not re.search(INFORMATION, line)]

    def commands_of_start(self) -> list[tuple[str, str, int]]:
        """Commands that a start issues directly, not in work that it queues: opcode, name with op_mod, and position
        among the commands with this opcode."""
        guest.write_attribute(TRACING / "trace", "")
        guest.write_attribute(TRACING / "events/cxib/enable", "1")
        self.assertTrue(self.start(0))
        guest.write_attribute(TRACING / "events/cxib/enable", "0")
        trace = (TRACING / "trace").read_text()
        self.stop(0)
        issued = rf"^ *\S+-{threading.get_native_id()} .* cmd_issue: {self.hcas[0].name} (\w+) \((0x\w+)\) op_mod (0x\w+)"
        counts: collections.Counter[str] = collections.Counter()
        commands = []
        for name, opcode, op_mod in re.findall(issued, trace, re.MULTILINE):
            counts[opcode] += 1
            commands.append((opcode, f"{name} {op_mod}", counts[opcode]))
        return commands

    def refuse(self, index: int, opcode: str, name: str, number: int) -> bool:
        """Makes the device refuse a command of a start. Returns whether a port exists nevertheless; the log then has
        one line about the command."""
        control("fault", f"command {opcode} nth={number} {REFUSAL} @hca{index}")
        has_port = self.start(index)
        self.assertTrue(self.has_struck(index), "the command was not issued")
        said = self.complaints(index)
        self.stop(index)
        about = [line for line in said if re.search(r"command (\w+) \(0x\w+, op_mod (0x\w+)\).*0x5ca1ab", line)]
        self.assertEqual(len(about), 0 if name in SILENT else 1, said)
        self.assertEqual([name.replace(" ", f" ({opcode}, op_mod ") in line for line in about], [True] * len(about), said)
        if has_port:
            self.assertEqual(said, about)
        return has_port

    def test_bring_up_continues_without_optional_commands(self) -> None:
        """The device refuses each command of a start in turn; in a sample, the first one of each name."""
        commands = self.commands_of_start()
        if SAMPLE:
            firsts = {name: command for command in reversed(commands) for name in [command[1]]}
            commands = [command for command in commands if firsts[command[1]] == command]
        outcomes: dict[str, list[bool]] = collections.defaultdict(list)

        def refuse(index: int, command: tuple[str, str, int]) -> None:
            has_port = self.refuse(index, *command)
            outcomes[command[1]].append(has_port)
            if command[1] not in NEEDED_FIRST:
                self.assertEqual(has_port, command[1] in OPTIONAL)

        self.share_out(commands, refuse)
        for name, found in sorted(outcomes.items()):
            print(f"\n    {name}: {'port' if all(found) else 'sometimes a port' if any(found) else 'none'}", end="")
        for name in NEEDED_FIRST:
            self.assertEqual(set(outcomes[name]), {False} if SAMPLE else {True, False}, name)

    def test_bring_up_without_registers_has_port(self) -> None:
        """Link and MTU then have the smallest values that every port supports. The driver logs each register once."""
        control("fault", f"command ACCESS_REGISTER {REFUSAL} @hca0")
        self.assertTrue(self.start(0))
        port = next(self.hcas[0].glob("infiniband/*/ports/1"))
        self.assertEqual((port / "rate").read_text().strip(), "10 Gb/sec (4X SDR)")
        said = self.complaints(0)
        self.stop(0)
        # host endianness, PVLC, node description, PTYS, PMTU
        self.assertEqual(len(said), 5, said)

    def test_status_fails_command(self) -> None:
        self.fail_each("status=NO_RESOURCES syndrome=0x5ca1ab", r"failed: .*, syndrome 0x5ca1ab|status 0x0?f, syndrome 0x5ca1ab")

    def test_unknown_status_fails_command(self) -> None:
        self.fail_each("status=0xee", r"status 0xee")

    def test_length_beyond_output_fails_command(self) -> None:
        self.fail_each("bad-length=0x7fffffff", MALFORMED)

    def test_zero_length_fails_command(self) -> None:
        self.fail_each("bad-length", MALFORMED)

    def test_foreign_token_fails_command(self) -> None:
        self.fail_each("token=0", MALFORMED)

    def test_delivery_error_fails_command(self) -> None:
        self.fail_each("delivery=1", r"not delivered: ")

    def test_garbage_behind_status_survived(self) -> None:
        self.fail_each("garbage")

    def test_garbage_output_survived(self) -> None:
        self.fail_each("garbage=all")

    def test_hang_times_out(self) -> None:
        self.fail_each("hang", NO_ANSWER)

    def test_lost_completion_times_out(self) -> None:
        self.fail_each("drop-completion", NO_ANSWER)

    def test_lost_event_survived(self) -> None:
        self.fail_each("drop-eqe")

    def test_late_completion_times_out(self) -> None:
        self.fail_each(f"delay={LIMIT_MS + 1000}ms", NO_ANSWER)
