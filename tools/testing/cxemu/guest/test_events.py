# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests asynchronous events of ports.

Needs a subnet manager and two devices on one switch. It runs after the other tests because it restarts the subnet
manager.
"""

import contextlib
import pathlib
import re
import tempfile
import time
import unittest
from collections.abc import Iterator

import rdma
from cxemu_machines import FABRIC, FABRIC_WHOLE, SUBNET_CXIB

GUESTS = [FABRIC, FABRIC_WHOLE, *SUBNET_CXIB]


class Watch:
    """The asynchronous events of a device, read from ibv_asyncwatch."""

    def __init__(self, child) -> None:
        self.child = child
        self.lines: list[str] = []

    def await_events(self, *names: str) -> None:
        """Waits for these events in any order; ignores others."""
        wanted = set(names)
        while wanted:
            line = self.child.stdout.readline()
            if not line:
                raise AssertionError(f"ibv_asyncwatch ended without {wanted}: {self.lines}")
            self.lines.append(line)
            wanted -= set(re.findall(r"event_type IBV_EVENT_(\w+)", line))


@contextlib.contextmanager
def watch(port: rdma.Port) -> Iterator[Watch]:
    with rdma.background("stdbuf", "-oL", "timeout", rdma.PATIENCE, "ibv_asyncwatch", "-d", port.device) as child:
        child.stdout.readline()  # printed after it has opened the device
        yield Watch(child)


class PortEvents(unittest.TestCase):
    """Tests the second device, because the subnet manager uses the first one."""

    def setUp(self) -> None:
        self.port = rdma.ports()[1]
        self.switch = rdma.number(rdma.ask("ibswitches"), r"lid (\d+)")
        table = rdma.ask("ibroute", self.switch)
        self.switch_port = rdma.number(table, rf"(?m)^0x{self.port.lid:04x} (\d+) ")

    def await_state(self, state: str) -> None:
        rdma.until(lambda: self.port.state == state, f"{self.port} is {state}")

    def test_cable_pulled_and_plugged_raises_events(self) -> None:
        self.addCleanup(rdma.succeeds, "ibportstate", self.switch, self.switch_port, "enable")
        with watch(self.port) as events:
            rdma.ask("ibportstate", self.switch, self.switch_port, "disable")
            events.await_events("PORT_ERR")
            self.await_state("DOWN")
            rdma.ask("ibportstate", self.switch, self.switch_port, "enable")
            events.await_events("PORT_ACTIVE")
            self.await_state("ACTIVE")

    def test_subnet_manager_changes_raise_events(self) -> None:
        """The device has no separate event for a new subnet manager: it raises the event that asks clients to register
        again. The kernel reports no GID change to user space, but reads the GIDs again."""
        lid, prefix = self.port.lid, self.prefix()
        partitions = self.file("Default=0x7fff: ALL=full;\nMore=0x0003: ALL=full;\n")
        settings = self.file("subnet_prefix 0xfe80000000000001\n")
        with watch(self.port) as events:
            self.restart_subnet_manager("--lmc", 2, "--Pconfig", partitions, "--config", settings)
            events.await_events("LID_CHANGE", "PKEY_CHANGE", "CLIENT_REREGISTER")
        rdma.until(lambda: self.port.lid != lid, "the port has another LID")
        rdma.until(lambda: "0x8003" in self.p_keys(), "it is in the partition")
        rdma.until(lambda: self.prefix() == "fe80:0000:0000:0001", "its GID has the new prefix")
        self.await_state("ACTIVE")
        self.restart_subnet_manager()
        rdma.until(lambda: self.port.attribute("lid_mask_count") == "0", "the LMC is 0 again")
        rdma.until(lambda: "0x8003" not in self.p_keys(), "the partition is gone")
        rdma.until(lambda: self.prefix() == prefix, "the prefix is the usual one")
        self.await_state("ACTIVE")

    def p_keys(self) -> list[str]:
        return [path.read_text().strip() for path in (self.port.directory / "pkeys").iterdir()]

    def prefix(self) -> str:
        return self.port.attribute("gids/0")[:19]

    def file(self, text: str) -> pathlib.Path:
        path = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "settings"
        path.write_text(text)
        return path

    def restart_subnet_manager(self, *options: str | int) -> None:
        rdma.succeeds("pkill", "-x", "opensm")
        rdma.until(lambda: not rdma.succeeds("pgrep", "-x", "opensm"), "OpenSM has ended")
        time.sleep(1)
        rdma.run("opensm", "--daemon", "--reassign_lids", "--log_file", "/tmp/opensm.log", *options)


if __name__ == "__main__":
    unittest.main(verbosity=2)
