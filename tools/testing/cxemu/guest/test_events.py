# SPDX-License-Identifier: GPL-2.0-or-later
"""What programs are told when something happens to a port.

Needs a subnet manager and two devices on one switch. Runs after the other tests: it restarts the subnet manager.
"""

import contextlib
import re
import time
import unittest
from collections.abc import Iterator

import rdma


class Watch:
    """The asynchronous events of a device, as ibv_asyncwatch tells them."""

    def __init__(self, child) -> None:
        self.child = child
        self.lines: list[str] = []

    def await_event(self, name: str) -> None:
        """Waits for an event; those before it are passed over."""
        for line in self.child.stdout:
            self.lines.append(line)
            if re.search(rf"event_type IBV_EVENT_{name}\b", line):
                return
        raise AssertionError(f"ibv_asyncwatch ended without '{name}': {self.lines}")


@contextlib.contextmanager
def watch(port: rdma.Port) -> Iterator[Watch]:
    with rdma.background("stdbuf", "-oL", "timeout", rdma.PATIENCE, "ibv_asyncwatch", "-d", port.device) as child:
        child.stdout.readline()  # it has opened the device
        yield Watch(child)


class PortEvents(unittest.TestCase):
    """The second device: the subnet manager is on the first one."""

    def setUp(self) -> None:
        self.port = rdma.ports()[1]
        self.switch = rdma.number(rdma.run("ibswitches"), r"lid (\d+)")
        table = rdma.run("ibroute", self.switch)
        self.switch_port = rdma.number(table, rf"(?m)^0x{self.port.lid:04x} (\d+) ")

    def await_state(self, state: str) -> None:
        rdma.until(lambda: self.port.state == state, f"{self.port} is {state}")

    def test_a_cable_that_is_pulled_and_put_back(self) -> None:
        self.addCleanup(rdma.succeeds, "ibportstate", self.switch, self.switch_port, "enable")
        with watch(self.port) as events:
            rdma.run("ibportstate", self.switch, self.switch_port, "disable")
            events.await_event("PORT_ERR")
            self.await_state("DOWN")
            rdma.run("ibportstate", self.switch, self.switch_port, "enable")
            events.await_event("PORT_ACTIVE")
            self.await_state("ACTIVE")

    def test_a_subnet_manager_that_starts_anew_asks_clients_to_register(self) -> None:
        with watch(self.port) as events:
            self.restart_subnet_manager()
            events.await_event("CLIENT_REREGISTER")
        self.await_state("ACTIVE")

    def test_a_lid_that_changes(self) -> None:
        before = self.port.lid
        with watch(self.port) as events:
            self.restart_subnet_manager("--lmc", 2)
            events.await_event("LID_CHANGE")
        self.assertNotEqual(self.port.lid, before)
        self.await_state("ACTIVE")
        self.restart_subnet_manager()
        rdma.until(lambda: self.port.attribute("lid_mask_count") == "0", "the LMC is 0 again")
        self.await_state("ACTIVE")

    def restart_subnet_manager(self, *options: str | int) -> None:
        rdma.succeeds("pkill", "-x", "opensm")
        rdma.until(lambda: not rdma.succeeds("pgrep", "-x", "opensm"), "OpenSM has ended")
        time.sleep(1)
        rdma.run("opensm", "--daemon", "--reassign_lids", "--log_file", "/tmp/opensm.log", *options)


if __name__ == "__main__":
    unittest.main(verbosity=2)
