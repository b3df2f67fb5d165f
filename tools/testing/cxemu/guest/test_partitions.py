# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests two partitions: a MAD carries the P_Key that its sender selects, and so does the response.

Needs two devices on one switch. The test restarts OpenSM with a second partition of all ports.
"""

import itertools
import pathlib
import tempfile
import time
import unittest

import ipoib
import rdma
import umad
from cxemu_machines import FABRIC, FABRIC_WHOLE, SUBNET_CXIB

GUESTS = [FABRIC, FABRIC_WHOLE, *SUBNET_CXIB]
PARTITIONS = """
Default=0x7fff, ipoib: ALL=full;
Second=0x0002, ipoib: ALL=full;
"""
SECOND = "0x8002"
PERFORMANCE_CLASS = 4
CLASS_PORT_INFO = 1
NUMBERS = itertools.count(7700)


def restart_subnet_manager(*options: str | int) -> None:
    rdma.succeeds("pkill", "-x", "opensm")
    rdma.until(lambda: not rdma.succeeds("pgrep", "-x", "opensm"), "OpenSM has ended")
    time.sleep(1)
    rdma.run("opensm", "--daemon", "--log_file", "/tmp/opensm.log", *options)


def index_of(port: rdma.Port, p_key: str) -> int | None:
    for path in (port.directory / "pkeys").iterdir():
        if path.read_text().strip() == p_key:
            return int(path.name)
    return None


class Partitions(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.near, cls.far = rdma.ports()[:2]
        file = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory())) / "partitions.conf"
        file.write_text(PARTITIONS)
        restart_subnet_manager("--Pconfig", file)
        cls.addClassCleanup(restart_subnet_manager)
        for port in (cls.near, cls.far):
            rdma.until(lambda port=port: index_of(port, SECOND) is not None, f"{port} is in the second partition")
            rdma.until(lambda port=port: port.state == "ACTIVE", f"{port} is active")

    def agent(self) -> umad.Agent:
        agent = umad.Agent(self.near, PERFORMANCE_CLASS)
        self.addCleanup(agent.close)
        return agent

    def test_mad_response_uses_pkey_of_request(self) -> None:
        agent = self.agent()
        for index in (0, index_of(self.near, SECOND), 0):
            with self.subTest(p_key_index=index):
                status, answered, answer = agent.get(self.far.lid, CLASS_PORT_INFO, index)
                self.assertEqual(status, 0)
                self.assertEqual(answered, index)
                self.assertEqual(answer[3], 0x81)  # GetResp

    def test_mad_with_invalid_pkey_not_delivered(self) -> None:
        free = index_of(self.near, "0x0000")
        try:
            status, _, _ = self.agent().get(self.far.lid, CLASS_PORT_INFO, free, retries=1)
        except OSError:
            return  # the driver refuses to send it
        self.assertNotEqual(status, 0)

    def test_connection_in_second_partition_established(self) -> None:
        """The MADs of the connection manager use the P_Key of the connection."""
        rdma.run("modprobe", "-a", "ib_ipoib", "rdma_ucm")
        interfaces = []
        for port in (self.near, self.far):
            child = f"{port.interface}.8002"
            rdma.run("ip", "link", "set", port.interface, "up")
            rdma.run("ip", "link", "add", "link", port.interface, "name", child, "type", "ipoib", "pkey", SECOND)
            self.addCleanup(rdma.run, "ip", "link", "delete", child)
            interfaces.append(child)
        self.connect(*interfaces)

    def connect(self, near: str, far: str) -> None:
        """Connects two addresses. The remote end has its own namespace, so that the kernel treats the addresses as two
        hosts."""
        rdma.run("ip", "netns", "add", "second")
        self.addCleanup(rdma.run, "ip", "netns", "delete", "second")
        rdma.run("ip", "link", "set", far, "netns", "second")
        self.addCleanup(rdma.run, "ip", "-n", "second", "link", "set", far, "netns", 1)
        inside = ("ip", "netns", "exec", "second")
        rdma.run("ip", "address", "add", "10.10.0.1/24", "dev", near)
        rdma.run("ip", "link", "set", near, "up")
        rdma.run(*inside, "ip", "address", "add", "10.10.0.2/24", "dev", far)
        rdma.run(*inside, "ip", "link", "set", far, "up")
        rdma.run(*inside, "ip", "link", "set", "lo", "up")
        ipoib.await_carrier(near)
        rdma.until(lambda: rdma.succeeds("ping", "-n", "-c", 1, "-W", 2, "10.10.0.2"), "10.10.0.2 answers",
                   evidence=ipoib.state)
        common = ["rping", "-a", "10.10.0.2", "-p", next(NUMBERS), "-V", "-C", 5]
        with rdma.background(*inside, *common, "-s") as server:
            rdma.until(lambda: "LISTEN" in rdma.run(*inside, "rdma", "resource", "show", "cm_id"), "rping listens")
            rdma.run_client(*common, "-c")
            rdma.finish(server)


if __name__ == "__main__":
    unittest.main(verbosity=2)
