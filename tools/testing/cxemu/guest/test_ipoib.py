# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests IPoIB in datagram mode between two network namespaces that share only the emulated wire.

Needs a subnet manager and two devices on one switch.
"""

import json
import os
import re
import unittest

import ipoib
import rdma
from cxemu_machines import FABRIC, FABRIC_WHOLE, SUBNET_CXIB

GUESTS = [FABRIC.with_tests("Interface", "Datagram.test_ping", "Datagram.test_tcp_streams_complete"), FABRIC_WHOLE, *SUBNET_CXIB]
AMOUNT = "16M"  # amount that a stream transfers, without a time limit
ATTEMPT = 60.0  # seconds until the interface is restarted


class Datagram(unittest.TestCase):
    """Tests two hosts with one InfiniBand port each."""

    def setUp(self) -> None:
        self.near, self.far = rdma.ports()[:2]
        self.near_namespace = self.enterContext(ipoib.namespace("near", self.near, "10.9.0.1/24"))
        self.far_namespace = self.enterContext(ipoib.namespace("far", self.far, "10.9.0.2/24"))
        self.await_answer("10.9.0.2")

    def near_run(self, *words: str | int) -> str:
        return rdma.run("ip", "netns", "exec", self.near_namespace, *words)

    def await_answer(self, address: str) -> None:
        """Sends pings until one is answered: IPoIB queues few packets while it resolves a path and drops the others.

        With mlx5_ib an interface may receive nothing after it was down, because the driver loses the arming before a
        late event (the case pending_event in kernel_verbs). The interface is then taken down once more.
        """
        program = ["ip", "netns", "exec", self.near_namespace, "ping", "-n", "-c", 1, "-W", 2, address]

        def await_ping(timeout: float) -> None:
            rdma.until(lambda: rdma.succeeds(*program), f"{address} answers", timeout, ipoib.state)

        if os.environ["LAB_DRIVER"] == "cxib":
            return await_ping(rdma.PATIENCE)
        try:
            await_ping(ATTEMPT)
        except AssertionError as error:
            print(f"restarted: {error}", flush=True)
            ipoib.restart(self.near_interface(), self.near_namespace)
            ipoib.restart(self.far_interface(), self.far_namespace)
            await_ping(rdma.PATIENCE)

    def check_ping(self, count: int, *options: str | int) -> str:
        return ipoib.ping(self.near_run, count, "-i", "0.02", *options)

    def test_ping(self) -> None:
        self.check_ping(50, "10.9.0.2")

    def test_ping_of_many_packet_lengths(self) -> None:
        for size in (0, 1, 3, 700, 2016):
            # ping compares the pattern and reports bytes that differ.
            text = self.check_ping(5, "-s", size, "-p", "a5", "10.9.0.2")
            self.assertNotIn("wrong data byte", text)

    def test_ping_with_fragments(self) -> None:
        self.check_ping(5, "-s", 20000, "10.9.0.2")

    def test_ping_of_link_local_ipv6_address(self) -> None:
        shown = ("ip", "-n", self.far_namespace, "-6", "address", "show", "dev", self.far_interface())
        rdma.until(lambda: "inet6 fe80" in rdma.run(*shown), "the far host has a link-local address")
        address = f"{re.search(r'inet6 (fe80[0-9a-f:]+)/64', rdma.run(*shown))[1]}%{self.near_interface()}"
        self.await_answer(address)
        self.check_ping(5, "-6", address)

    def test_tcp_streams_complete(self) -> None:
        for direction in ([], ["--reverse"]):
            with rdma.background("ip", "netns", "exec", self.far_namespace, "iperf3", "-s", "-1") as server:
                rdma.until(lambda: "LISTEN" in rdma.run("ip", "netns", "exec", self.far_namespace, "ss", "-ltn"),
                           "iperf3 listens")
                report = json.loads(self.near_run("iperf3", "-J", "-n", AMOUNT, "-c", "10.9.0.2", *direction))
                rdma.finish(server)
            self.assertNotIn("error", report)
            received = report["end"]["sum_received"]
            self.assertGreater(received["bytes"], 100_000)
            print(f"\n    iperf3{' --reverse' if direction else ''}: "
                  f"{received['bits_per_second'] / 1e6:.1f} Mbit/s", flush=True)

    def near_interface(self) -> str:
        return self.interface_in(self.near_namespace)

    def far_interface(self) -> str:
        return self.interface_in(self.far_namespace)

    def interface_in(self, namespace: str) -> str:
        links = json.loads(rdma.run("ip", "-n", namespace, "-j", "link", "show"))
        return next(link["ifname"] for link in links if link["link_type"] == "infiniband")


class Interface(unittest.TestCase):
    """Tests the attributes of the IPoIB interface of a port."""

    def test_broadcast_group_has_forwarding_entry(self) -> None:
        for port in rdma.ports():
            rdma.run("ip", "link", "set", port.interface, "up")
            ipoib.await_carrier(port.interface)
        switch = rdma.number(rdma.ask("ibswitches"), r"lid (\d+)")
        # The subnet manager replies to the join before it configures the switch.
        rdma.until(lambda: re.search(r"(?m)^0xc000 ", rdma.ask("ibroute", "-M", switch)) is not None,
                   "the switch forwards the broadcast group")

    def test_mode_is_datagram_with_broadcast_mtu(self) -> None:
        for port in rdma.ports():
            rdma.run("ip", "link", "set", port.interface, "up")
            ipoib.await_carrier(port.interface)
            self.assertEqual(ipoib.mode(port.interface), "datagram")
            link = json.loads(rdma.run("ip", "-j", "link", "show", "dev", port.interface))[0]
            self.assertEqual(link["mtu"], 2044)


if __name__ == "__main__":
    unittest.main(verbosity=2)
