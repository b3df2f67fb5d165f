# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests the recovery of an HCA that fails: the driver reports a fatal error, the users release the device, it restarts.

cxib has bound two HCAs on one switch with a subnet manager. The tests make the second HCA fail.
"""

import json
import os
import pathlib
import re
import subprocess
import time

import guest
import module_machines as machines
from control import control, until
from recovering import RecoveryTest, trouble

GUESTS = [
    machines.RECOVERY.with_tests(*(f"Recovery.test_{name}" for name in (
        "reported_fatal_fault_recovered", "stopped_firmware_recovered", "eq_overrun_recovered",
        "late_completion_under_load_frees_slot", "device_absent_unbound", "device_warning_only_reported",
        "automatic_recovery_off_waits_for_administrator", "failed_recovery_repeated_by_administrator",
        "failed_reset_keeps_bus_mastering_off", "device_left_running_reset_first", "firmware_page_requests_served",
        "link_down_and_up_reported"))),
    machines.RECOVERY_DEBUG,
    machines.DEBUG.with_tests("Recovery.test_fault_under_load_recovered", "Recovery.test_device_absent_under_load_recovered",
                              "Recovery.test_flr_under_load_recovered"),
]
COMMAND, BUS_MASTER = 4, 1 << 2
"""A register of PCI's configuration space, and its bit that lets a function access memory."""
ASYNCHRONOUS_EVENTS = 1024
"""Entries of the EQ for asynchronous events."""
LIMIT_MS = 5000
"""That a command may take. The emulator may get no processor for some seconds: then others time out as well."""


class Recovery(RecoveryTest):
    def test_reported_fatal_fault_recovered(self) -> None:
        with self.recovers("fatal health syndrome"):
            trouble("health", "fatal", "1")

    def devlink_health(self, *words: str, reporter: str = "device") -> dict:
        shown = subprocess.run(["devlink", "-j", "health", *words, self.name, "reporter", reporter],
                               check=True, capture_output=True, text=True)
        return json.loads(shown.stdout)

    def test_cause_readable_after_recovery(self) -> None:
        self.clear_dump("device")
        with self.recovers("fatal health syndrome"):
            trouble("health", "fatal", "1")
        then, now = self.devlink_health("dump", "show"), self.devlink_health("diagnose")
        self.assertTrue(then["fatal"])
        self.assertEqual(then["syndrome"], "fw_internal_err")
        self.assertTrue(then["reset required"])
        self.assertGreater(then["commands issued"], 0)
        self.assertFalse(now["fatal"])
        self.assertEqual(now["syndrome"], "none")

    def clear_dump(self, reporter: str) -> None:
        subprocess.run(["devlink", "health", "dump", "clear", self.name, "reporter", reporter], check=True)

    def test_stopped_firmware_recovered(self) -> None:
        with self.recovers("health counter stalled"):
            trouble("health", "stop")

    def put_under_load(self, programs: str = "smpquery -D nodeinfo 0 -C $0; perfquery -x -C $0") -> None:
        """Runs programs that send MADs to the agents of the device until the end of the test."""
        load = subprocess.Popen(
            ["bash", "-c", f"while :; do {programs}; done", self.device_name()],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )
        self.addCleanup(load.wait)
        self.addCleanup(os.killpg, load.pid, 9)
        time.sleep(2)

    def test_fault_under_load_recovered(self) -> None:
        self.put_under_load()
        with self.recovers("fatal health syndrome"):
            trouble("health", "fatal", "1")

    def test_stopped_firmware_under_load_recovered(self) -> None:
        self.put_under_load()
        with self.recovers("health counter stalled"):
            trouble("health", "stop")

    def test_flr_under_load_recovered(self) -> None:
        self.put_under_load()
        guest.write_attribute(self.hca / "reset", "1")
        until(self.is_active, "the port is active again")

    def test_eq_overrun_recovered(self) -> None:
        control("violations", "allow", "event_queue_overrun", "1", "more events at once than the queue has room for")
        with self.recovers("fatal health syndrome"):
            trouble("pages", "request", "1", str(2 * ASYNCHRONOUS_EVENTS))
        self.assertIn("health buffer: asynchronous_eq_buf_overrun (syndrome 0xc", self.new_messages())
        self.assertEqual(control("violations")["rules"]["event_queue_overrun"]["allowed"], 1)

    def query_agent(self) -> int:
        """Queries the agent of the device, which is its firmware."""
        return subprocess.run(["smpquery", "-D", "-C", self.device_name(), "nodeinfo", "0"],
                              capture_output=True, check=False).returncode

    def test_command_unanswered_costs_one_slot(self) -> None:
        self.limit_commands(LIMIT_MS)
        trouble("fault", "command MAD_IFC nth=1 hang")
        while f"timed out after {LIMIT_MS} ms" not in self.new_messages():
            self.query_agent()
        self.assertEqual(self.query_agent(), 0)
        self.assertNotIn("fatal error: ", self.new_messages())
        until(lambda: self.reporter("commands")["state"] == "error", "devlink shows it")
        slots = self.devlink_health("dump", "show", reporter="commands")["slots"]
        self.assertIn(("mad_ifc", "timed out"), [(slot["command"], slot["state"]) for slot in slots])
        # Other commands that have timed out complete late as well.
        until(lambda: self.devlink_health("diagnose", reporter="commands")["timed out"] == 1, "one slot is held")

    def test_late_completion_under_load_frees_slot(self) -> None:
        self.limit_commands(LIMIT_MS)
        self.put_under_load()
        trouble("fault", "command MAD_IFC nth=5 drop-completion")
        until(lambda: re.search(r"mad_ifc \(0x50d, op_mod 0x\w+\): timed out", self.new_messages()) is not None,
              "the command times out")
        trouble("complete")
        until(lambda: "mad_ifc (0x50d): late completion" in self.new_messages(), "the late answer is absorbed")
        until(lambda: self.reporter("commands")["state"] == "healthy", "devlink shows it")
        self.assertEqual(self.query_agent(), 0)
        self.assertNotIn("fatal error: ", self.new_messages())

    def test_commands_unanswered_under_load_recovered(self) -> None:
        self.limit_commands(LIMIT_MS)
        for _ in range(8):
            self.put_under_load("smpquery -D nodeinfo 0 -C $0")
        with self.recovers("command interface failed"):
            trouble("fault", "command MAD_IFC hang")
            until(lambda: "fatal error: " in self.new_messages(), "the fatal error is reported")
            control("faults", "clear")

    def test_device_absent_under_load_recovered(self) -> None:
        self.put_under_load()
        self.test_device_absent_recovered()

    def remove(self) -> None:
        """Removes the device until the control command "insert"."""
        trouble("fault", "surprise-removal")
        self.addCleanup(control, "insert")
        self.addCleanup(control, "faults", "clear")

    def test_device_absent_recovered(self) -> None:
        self.remove()
        until(lambda: "fatal error: PCI reads return all ones" in self.new_messages(), "its absence is noticed")
        until(lambda: "device lost: waiting" in self.new_messages(), "it is waited for")
        control("insert")
        until(lambda: "the device has recovered" in self.new_messages(), "it is started when it is there again")
        until(self.is_active, "the port is active again")
        until(lambda: self.reporter()["state"] == "healthy", "devlink shows it")

    def is_there(self) -> bool:
        return (self.hca / "config").read_bytes()[:2] != b"\xff\xff"

    def test_device_absent_unbound(self) -> None:
        self.remove()
        until(lambda: "device lost: waiting" in self.new_messages(), "its absence is noticed")
        guest.unbind(self.hca)
        self.assertFalse(self.is_there())
        self.assertNotIn("not ready", self.new_messages())  # the kernel did not wait for the end of a reset
        control("insert")
        until(self.is_there, "the device is there again")
        self.assertEqual(guest.bind_error(self.hca), "")
        until(self.is_active, "the port is active again")

    def test_repeated_faults_recovered(self) -> None:
        for _ in range(3):
            with self.recovers("fatal health syndrome"):
                trouble("health", "fatal", "1")

    def test_device_warning_only_reported(self) -> None:
        trouble("health", "report", "16")
        until(lambda: "high_temp_err (syndrome 0x10" in self.new_messages(), "it is mentioned")
        until(lambda: self.reporter("firmware")["state"] == "error", "devlink shows it")
        self.assertEqual(self.devlink_health("diagnose", reporter="firmware")["syndrome"], "high_temp_err")
        trouble("health", "clear")
        until(lambda: self.reporter("firmware")["state"] == "healthy", "devlink shows that it is over")
        self.assertEqual(self.devlink_health("dump", "show", reporter="firmware")["severity"], "warning")
        self.clear_dump("firmware")
        self.assertTrue(self.is_active())

    def test_flr_while_active_recovered(self) -> None:
        guest.write_attribute(self.hca / "reset", "1")
        until(self.is_active, "the port is active again")

    def test_automatic_recovery_off_waits_for_administrator(self) -> None:
        self.set_automatic("false")
        self.addCleanup(self.set_automatic, "true")
        trouble("health", "fatal", "1")
        until(lambda: "fatal error: " in self.new_messages(), "the fatal error is reported")
        until(lambda: self.reporter()["state"] == "error", "devlink shows it")
        trouble("health", "clear")
        subprocess.run(["devlink", "health", "recover", self.name, "reporter", "device"], check=True)
        until(self.is_active, "the port is active again")

    def test_failed_recovery_repeated_by_administrator(self) -> None:
        self.addCleanup(control, "faults", "clear")
        trouble("fault", "command INIT_HCA status=0x1 times=1")
        trouble("health", "fatal", "1")
        until(lambda: "automatic recovery skipped or failed" in self.new_messages(), "the recovery fails")
        self.assertEqual(self.reporter()["state"], "error")
        subprocess.run(["devlink", "health", "recover", self.name, "reporter", "device"], check=True)
        until(self.is_active, "the port is active again")
        until(lambda: self.reporter()["state"] == "healthy", "devlink shows it")

    def set_automatic(self, value: str) -> None:
        subprocess.run(["devlink", "health", "set", self.name, "reporter", "device", "auto_recover", value], check=True)

    def test_fatal_device_unbound(self) -> None:
        self.set_automatic("false")
        trouble("health", "fatal", "1")
        until(lambda: "fatal error: " in self.new_messages(), "the fatal error is reported")
        trouble("health", "clear")
        guest.unbind(self.hca)
        self.assertEqual(guest.bind_error(self.hca), "")
        until(self.is_active, "the port is active again")

    def has_bus_mastering(self) -> bool:
        return bool((self.hca / "config").read_bytes()[COMMAND] & BUS_MASTER)

    def forbid_resets(self) -> None:
        methods = self.hca / "reset_method"
        guest.write_attribute(methods, "\n")
        self.addCleanup(guest.write_attribute, methods, "default")

    def test_failed_reset_keeps_bus_mastering_off(self) -> None:
        """The device may have DMA addresses of memory that has been freed and reused."""
        self.forbid_resets()
        trouble("health", "fatal", "1")
        until(lambda: "automatic recovery skipped or failed" in self.new_messages(), "the recovery fails")
        trouble("health", "clear")
        self.assertRegex(self.new_messages(), rf"{self.hca.name}: cannot reset the device: error -\d+")
        self.assertFalse(self.has_bus_mastering())

        guest.unbind(self.hca)
        self.assertNotEqual(guest.bind_error(self.hca), "", "another owner does not make it better")
        self.assertFalse(self.has_bus_mastering())

        guest.write_attribute(self.hca / "reset_method", "default")
        self.assertEqual(guest.bind_error(self.hca), "")
        self.assertRegex(self.new_messages(), rf"{self.hca.name}: device was left running, resetting it")
        until(self.is_active, "the port is active again")

    def test_device_left_running_reset_first(self) -> None:
        """The device is left as by a crashed kernel."""
        guest.unbind(self.hca)
        with (self.hca / "config").open("r+b", buffering=0) as config:
            config.seek(COMMAND)
            command = config.read(1)[0]
            config.seek(COMMAND)
            config.write(bytes([command | BUS_MASTER]))
        self.assertEqual(guest.bind_error(self.hca), "")
        self.assertRegex(self.new_messages(), rf"{self.hca.name}: device was left running, resetting it")
        until(self.is_active, "the port is active again")

    def test_firmware_page_requests_served(self) -> None:
        held = self.pages("held")
        trouble("pages", "request", "100")
        until(lambda: self.pages("held") == held + 100, "the pages are given")
        trouble("pages", "request", "-100")
        until(lambda: self.pages("held") == held, "the pages are taken back")

    def pages(self, name: str) -> int:
        lines = pathlib.Path(f"/sys/kernel/debug/cxib/{self.hca.name}/pages").read_text().splitlines()
        return int(dict(line.split(": ") for line in lines)[name])

    def test_link_down_and_up_reported(self) -> None:
        trouble("link", "down")
        until(lambda: "DOWN" in self.port_state(), "the port is down")
        trouble("link", "up")
        until(self.is_active, "the port is active again")
