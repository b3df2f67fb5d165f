# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests bring-up and tear-down of emulated HCAs: the objects that exist, what the driver shows, and the removal of all
objects.

The emulator's strict checker is on, and the lab checks the kernel log.
"""

import os
import pathlib
import re
import subprocess

import guest
import module_machines as machines
from control import control, until
from guest import MELLANOX, driver_of, find_devices
from hca import DEBUGFS, HcaTest, driver_interrupts, interrupts
from machine import LONG, Guest

VIRTUAL_ID = "1018"
VIRTUAL = Guest("bring-up-virtual-debug", driver="none", kernel="debug", cxemu=f"--device-id {VIRTUAL_ID}",
                settings=("CXIB_CYCLES=1",), level=LONG)
REFUSED = Guest("bring-up-refused", driver="none", hcas=1, cxemu="--capability port_type=1")
CYCLES_100 = machines.BRING_UP.but("cycles", cxemu="", settings=("CXIB_CYCLES=100",), level=LONG, seconds=7200)
PHYSICAL = (machines.BRING_UP, machines.BRING_UP_DEBUG, machines.UNCOUNTED, CYCLES_100)
GUESTS = [
    *(each.with_tests("BringUp", "FailedReset") for each in PHYSICAL),
    VIRTUAL.with_tests("BringUp"),
    *(each.with_tests("Refusal") for each in (REFUSED, machines.on_debug(REFUSED))),
]
TRACING = pathlib.Path("/sys/kernel/tracing")
CYCLES = int(os.environ.get("CXIB_CYCLES", "10"))
PKEYS = 128
MAX_COMMANDS = 150 + PKEYS
"""A command reads one P_Key."""

COMMAND, BUS_MASTER = 4, 1 << 2
"""A register of PCI's configuration space, and its bit that lets a function access memory."""


def interrupt_file(number: int, name: str) -> str:
    return pathlib.Path(f"/proc/irq/{number}/{name}").read_text().strip()


class FailedReset(HcaTest):
    """After a failed reset the driver cannot know which addresses an HCA still has."""

    def forbid_resets(self, hca: pathlib.Path) -> None:
        guest.write_attribute(hca / "reset_method", "\n")
        self.addCleanup(guest.write_attribute, hca / "reset_method", "default")

    def assert_is_not_started(self, hca: pathlib.Path) -> None:
        self.assertNotEqual(guest.bind_error(hca), "")
        self.assert_logged(rf"{hca.name}: cannot reset the device: error -\d+")
        self.assertFalse((hca / "config").read_bytes()[COMMAND] & BUS_MASTER)

    def test_hca_not_started_by_other_module_instance(self) -> None:
        hca = self.hcas[0]
        self.assertEqual(guest.bind_error(hca), "")
        self.forbid_resets(hca)
        control("health", "fatal", "1", "@hca0")
        until(lambda: "automatic recovery skipped or failed" in self.new_messages(), "the recovery fails")
        control("health", "clear", "@hca0")
        guest.unbind(hca)

        guest.unload()
        guest.load()
        self.log.forget()
        self.assert_is_not_started(hca)

        guest.write_attribute(hca / "reset_method", "default")
        self.assertEqual(guest.bind_error(hca), "")
        self.assert_logged(rf"{hca.name}: device was left running, resetting it")


class BringUp(HcaTest):
    """Tests working HCAs."""

    def setUp(self) -> None:
        super().setUp()
        self.addCleanup(self.assert_no_complaints)
        self.bind()

    def test_log_names_firmware_and_board(self) -> None:
        for hca in self.hcas:
            self.assert_logged(rf"{hca.name}: firmware \d+\.\d+\.\d+, command interface revision 5, board \S+, ")

    def test_hca_becomes_rdma_device(self) -> None:
        for hca in self.hcas:
            names = [path.name for path in (hca / "infiniband").iterdir()]
            self.assertRegex(" ".join(names), r"^cxib\d+$")

    def test_few_commands_issued(self) -> None:
        for hca in self.hcas:
            self.assertLessEqual(int(self.values(hca, "command_queue")["issued"]), MAX_COMMANDS)

    def test_every_command_succeeds(self) -> None:
        for hca in self.hcas:
            commands = self.commands(hca)
            self.assertEqual({name: counts for name, counts in commands.items() if counts[1:] != [0, 0]}, {})
            self.assertIn("enable_hca", commands)
            self.assertIn("init_hca", commands)

    def test_commands_complete_by_events(self) -> None:
        for hca in self.hcas:
            queue = self.values(hca, "command_queue")
            self.assertEqual((queue["mode"], queue["fatal"], queue["late completions"]), ("events", "no", "0"))

    def test_command_latencies_readable(self) -> None:
        for hca in self.hcas:
            for line in self.shown(hca, "commands").splitlines()[1:]:
                words = line.split()
                self.assertGreater(int(words[2]), 0, line)
                self.assertLessEqual(int(words[5]), int(words[6]), line)

    def free_slots(self, hca: pathlib.Path) -> int:
        shown = self.shown(hca, "command_queue")
        return len(re.findall(r"^slot \d+: free\n(?:    (?:[0-9a-f]{8} ?){8}\n){2}", shown, re.M))

    def test_command_queue_slots_readable(self) -> None:
        for hca in self.hcas:
            slots = int(self.values(hca, "command_queue")["slots"])
            # The RDMA core, for example, may still query the ports of the new device.
            until(lambda: self.free_slots(hca) == slots, "each slot is free")

    def test_core_reports_driver_queue_details(self) -> None:
        for hca in self.hcas:
            name = next((hca / "infiniband").iterdir()).name
            for kind, detail in (("qp", "send_blocks"), ("cq", "consumer")):
                shown = subprocess.run(["rdma", "-dd", "resource", "show", kind, "dev" if kind == "cq" else "link", name],
                                       check=True, capture_output=True, text=True).stdout
                self.assertIn(f"drv_{detail}", shown)

    def test_interrupts_for_each_purpose_and_processor(self) -> None:
        processors = os.cpu_count() or 1
        for hca in self.hcas:
            purposes = ["commands", "events", *(f"comp{number}" for number in range(processors))]
            self.assertEqual(driver_interrupts(hca), sorted(f"cxib-{purpose}@{hca.name}" for purpose in purposes))

    def test_pages_accounted_for(self) -> None:
        for hca in self.hcas:
            pages = {name: int(value) for name, value in self.values(hca, "pages").items()}
            self.assertGreater(pages["held"], 0)
            self.assertEqual(pages["held"], pages["given"] - pages["reclaimed"])
            self.assertEqual(pages["requests failed"], 0)

    def test_capabilities_listed(self) -> None:
        for hca in self.hcas:
            capabilities = self.values(hca, "capabilities")
            self.assertEqual((capabilities["port_type"], capabilities["rc"], capabilities["ud"]), ("0", "1", "1"))

    def test_device_healthy(self) -> None:
        for hca in self.hcas:
            health = self.values(hca, "health")
            self.assertEqual((health["fatal"], health["syndrome"]), ("no", "0x0 none"))

    def test_unbound_leaves_nothing(self) -> None:
        self.unbind()
        self.assert_nothing_is_left()

    def test_unloaded_leaves_nothing(self) -> None:
        guest.unload()
        self.assert_nothing_is_left()
        self.assertFalse(DEBUGFS.exists())
        guest.load()

    def test_device_bound_repeatedly(self) -> None:
        for _ in range(CYCLES):
            self.unbind()
            self.bind()

    def test_module_unloaded_with_devices_repeatedly(self) -> None:
        for _ in range(CYCLES):
            guest.unload()
            guest.load()
            self.assertEqual([driver_of(hca) for hca in self.hcas], ["cxib"] * len(self.hcas))

    def test_flr_then_bind_succeeds(self) -> None:
        self.unbind()
        for hca in self.hcas:
            self.assertIn("flr", (hca / "reset_method").read_text())
            guest.write_attribute(hca / "reset", "1")
        self.bind()

    def test_removed_and_rescanned_device_binds(self) -> None:
        for hca in self.hcas:
            guest.write_attribute(hca / "remove", "1")
        self.assertEqual(find_devices(MELLANOX), [])
        guest.write_attribute(pathlib.Path("/sys/bus/pci/rescan"), "1")
        self.assertEqual(find_devices(MELLANOX), self.hcas)
        for hca in self.hcas:
            guest.write_attribute(hca / "driver_override", "cxib\n")
        self.bind()

    def trace(self) -> str:
        """The records of the tracepoints while the device is bound."""
        self.unbind()
        guest.write_attribute(TRACING / "trace", "")
        guest.write_attribute(TRACING / "events/cxib/enable", "1")
        self.bind()
        guest.write_attribute(TRACING / "events/cxib/enable", "0")
        return (TRACING / "trace").read_text()

    def test_host_endianness_set_by_physical_function_only(self) -> None:
        trace = self.trace()
        for hca in self.hcas:
            issued = re.findall(rf"cmd_issue: {hca.name} (\w+) ", trace)
            before = issued[: issued.index("init_hca")]
            self.assertEqual("access_register" in before, not guest.device_id(hca).endswith(VIRTUAL_ID), issued)

    def test_bring_up_traced(self) -> None:
        trace = self.trace()
        for hca in self.hcas:
            self.assertRegex(trace, rf"cmd_issue: {hca.name} enable_hca \(0x104\) op_mod 0x0 slot \d+ token 0x")
            self.assertRegex(trace, rf"cmd_done: {hca.name} init_hca \(0x102\) slot \d+ .* error 0 after \d+ ns")
            self.assertRegex(trace, rf"eq_event: {hca.name} cmd \(0x0a\) sub-type 0x00")

    def test_completion_vector_affine_to_each_processor(self) -> None:
        for hca in self.hcas:
            vectors = [number for number, name in interrupts(hca).items() if "-comp" in name]
            homes = [interrupt_file(number, "smp_affinity_list") for number in vectors]
            self.assertEqual(sorted(homes), [str(number) for number in range(os.cpu_count() or 1)])
            # irqbalance uses this hint.
            self.assertEqual([int(interrupt_file(number, "affinity_hint").replace(",", ""), 16) for number in vectors],
                             [1 << int(home) for home in homes])

    def test_completion_vector_affinity_changed(self) -> None:
        for hca in self.hcas:
            for number, name in interrupts(hca).items():
                if "-comp" in name:
                    for home in range(os.cpu_count() or 1):
                        guest.write_attribute(pathlib.Path(f"/proc/irq/{number}/smp_affinity_list"), str(home))
                        self.assertEqual(interrupt_file(number, "smp_affinity_list"), str(home))


class Refusal(HcaTest):
    """Tests HCAs that lack a feature."""

    def test_missing_capability_refused_with_reason(self) -> None:
        for hca in self.hcas:
            self.assertEqual(guest.bind_error(hca), "Operation not supported")
            self.assert_logged(rf"{hca.name}: capability port_type: 1 out of range \[0, 0\]: "
                               r"port not in InfiniBand mode \(LINK_TYPE_P1\)")
            self.assert_logged(rf"{hca.name}: bring-up failed at step \d+ of \d+, HCA capabilities: error -95")
        self.assert_nothing_is_left()
