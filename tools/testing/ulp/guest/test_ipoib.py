# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests IPoIB in both modes between two hosts that share only the emulated wire."""

import contextlib
import json
import subprocess
import unittest
from collections.abc import Iterator

import disks
import ip_hosts
import ipoib
import peer
import rdma
import subnet_manager
import ulp
import wire
from control import control
from machines import EVERY_PROTOCOL, LOSS, LOSS_ALL, STOCK

GUESTS = [
    STOCK.with_tests("Datagram", "PathMtu", "PacketUnderWay", "Unloading"),
    LOSS.with_tests("Connected.test_tcp_streams_in_both_directions_complete"),
    *EVERY_PROTOCOL, LOSS_ALL,
]
NEAR, FAR = "10.8.0.1", "10.8.0.2"
ROUTER, BEYOND = "10.7.0.1", "10.7.0.2"
GROUP, GROUP_PORT = "239.7.7.7", 7777
MESSAGES = 50
IPERF_PORT, CONNECTIONS = 5201, 2  # one connection is for control


def unload() -> None:
    """Keeps the module if this guest is one of two, because it still needs its interface."""
    disks.unload("ib_ipoib")
    if not wire.ALONE:
        wire.restore(*wire.ends())


class Hosts:
    """Two hosts with a mode and an MTU each, the local host's first. The programs run in the local host."""

    modes: tuple[tuple[str, int], tuple[str, int]]

    @classmethod
    def setUpClass(cls) -> None:
        near_mode, far_mode = cls.modes
        cls.far, cls.near = peer.call(ip_hosts.far), ip_hosts.near()
        cls.enterClassContext(peer.holding(cls.far.running, FAR, *far_mode))
        # This context ends first: while the other guest's interface is down, it cannot handle requests.
        cls.enterClassContext(cls.near.running(NEAR, *near_mode))
        cls.await_answer(FAR)

    @classmethod
    def await_answer(cls, address: str) -> None:
        rdma.until(lambda: cls.near.succeeds("ping", "-n", "-c", 1, "-W", 2, address), f"{address} answers",
                   evidence=ipoib.state)

    @contextlib.contextmanager
    def streaming(self, *options: str | int) -> Iterator[subprocess.Popen]:
        """Runs iperf3 in both hosts."""
        with peer.holding(self.far.iperf3) as server:
            with self.near.background("iperf3", "-J", "-c", FAR, *options) as client:
                yield client
            server.finish()

    @staticmethod
    def received(client: subprocess.Popen) -> dict[str, float]:
        return json.loads(rdma.finish(client))["end"]["sum_received"]


class Traffic(Hosts):
    """Tests that both modes must pass."""

    mode = "datagram"
    mtu = 2044

    def test_ping_of_many_packet_lengths(self) -> None:
        for size in (0, 1, 700, self.mtu - 28, self.mtu - 27, 60000):
            options = ("-A", "-s", size, "-p", "a5", FAR)
            if ulp.LOSS:
                # ping ends after five replies.
                text = self.near.run("ping", "-n", "-w", 120, "-c", 5, *options)
            else:
                text = ipoib.ping(self.near.run, 5, *options)
            self.assertNotIn("wrong data byte", text)

    def test_packets_up_to_mtu_not_fragmented(self) -> None:
        self.near.run("ping", "-n", "-M", "do", "-i", "0.02", "-c", 3, "-s", self.mtu - 28, FAR)

    def test_link_local_ipv6_address_responds(self) -> None:
        address = peer.call(self.far.link_local_address)
        self.await_answer(f"{address}%{self.near.interface}")

    def test_tcp_streams_in_both_directions_complete(self) -> None:
        # The amount exceeds the sender's socket buffer, without a time limit: the first packets may be lost.
        for direction in ([], ["--reverse"]):
            with self.streaming("-n", "8M", *direction) as client:
                received = self.received(client)
            self.assertGreater(received["bytes"], 100_000)
            print(f"\n    {self.mode} mode: {received['bits_per_second'] / 8e6:.1f} MB/s", flush=True)

    def test_tcp_echo_returns_sent_bytes(self) -> None:
        for length in (1, (1 << 20 if ulp.LOSS else 4 << 20) + 37):
            with self.subTest(length), peer.holding(self.far.answering, FAR) as server:
                self.near.run(ip_hosts.TRAFFIC, "send", FAR, ip_hosts.ANSWER_PORT, length)
                server.finish()

    def test_multicast_messages_reach_members(self) -> None:
        with (peer.holding(self.far.joined, FAR, GROUP, GROUP_PORT, MESSAGES) as receiver,
              self.near.background(ip_hosts.TRAFFIC, "multicast", NEAR, GROUP, GROUP_PORT, MESSAGES)):
            self.assertIn(f"{MESSAGES} messages are right", receiver.finish())

    def test_interface_down_and_up_responds(self) -> None:
        for _ in range(10 if ulp.WHOLE else 2):
            for name, restart in (("far", lambda: peer.call(self.far.restart_interface)),
                                  ("near", self.near.restart_interface)):
                with self.subTest(name):
                    restart()
                    self.await_answer(FAR)

    def flap(self) -> None:
        control("link", "down", "@hca1")
        rdma.until(lambda: not self.near.has_carrier(), "the interface notices")
        control("link", "up", "@hca1")
        rdma.until(self.near.has_carrier, "the interface notices")

    def connections(self) -> list[str]:
        return self.near.run("ss", "-Htn", "state", "established", f"dport = :{IPERF_PORT}").splitlines()

    @contextlib.contextmanager
    def stream(self) -> Iterator[None]:
        """Runs traffic inside the context that must continue and arrive intact. Without a link no connection can be
        made."""
        with self.streaming("-n", "2M", "-b", "2M") as client:
            # The stream may end before its connections are seen, if this program is not scheduled for eight seconds.
            rdma.until(lambda: len(self.connections()) == CONNECTIONS or client.poll() is not None,
                       "iperf3 has its connections")
            yield
            self.assertGreaterEqual(self.received(client)["bytes"], 2 << 20)

    def test_link_down_and_up_under_traffic_responds(self) -> None:
        with self.stream():
            for _ in range(10 if ulp.WHOLE else 2):
                self.flap()
        self.await_answer(FAR)

    def test_subnet_manager_restarted_under_traffic_responds(self) -> None:
        peer.call(subnet_manager.take_over)
        with self.stream():
            peer.call(subnet_manager.end)
            peer.call(subnet_manager.start)
            # Without a subnet manager the port would stay inactive.
            self.flap()
        self.await_answer(FAR)


@ulp.IB_ONLY
class Datagram(Traffic, unittest.TestCase):
    modes = (("datagram", 2044), ("datagram", 2044))


@ulp.IB_ONLY
class Connected(Traffic, unittest.TestCase):
    modes = (("connected", 65520), ("connected", 65520))
    mode = "connected"
    mtu = 65520


@ulp.IB_ONLY
class PathMtu(Hosts, unittest.TestCase):
    """The remote host is a router to a link with a smaller MTU than the wire."""

    modes = (("connected", 65520), ("connected", 65520))
    mtu = 1500

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.enterClassContext(peer.holding(cls.far.routing, cls.mtu, ROUTER, BEYOND))
        cls.near.run("ip", "route", "add", BEYOND, "via", FAR)
        cls.addClassCleanup(cls.near.run, "ip", "route", "delete", BEYOND)
        cls.await_answer(BEYOND)

    def test_packets_beyond_path_mtu_refused(self) -> None:
        def is_known() -> bool:
            ping = ("ping", "-n", "-M", "do", "-c", 1, "-W", 1, "-s", 60000)
            self.near.succeeds(*ping, BEYOND)
            return f"mtu {self.mtu}" in self.near.run("ip", "route", "get", BEYOND)

        rdma.until(is_known, "the path has an MTU of its own")
        self.near.run("ping", "-n", "-M", "do", "-c", 1, "-w", 60, "-s", self.mtu - 28, BEYOND)


@ulp.IB_ONLY
@unittest.skipIf(ulp.LOSS, "has a plan of its own of what is lost")
class PacketUnderWay(Hosts, unittest.TestCase):
    """An interface goes down while its connection waits for an acknowledgement; then the module is unloaded."""

    modes = (("connected", 65520), ("connected", 65520))

    @classmethod
    def setUpClass(cls) -> None:
        # This cleanup runs last, when the interfaces have left their namespaces.
        cls.addClassCleanup(unload)
        super().setUpClass()

    def test_module_unloaded_after_connection_ends(self) -> None:
        rule = "packet drop service=rc times=1 direction=out @hca1"
        control("fault", rule)
        # A second packet would be answered, which ends the wait.
        with self.near.background("ping", "-n", "-c", 1, FAR):
            rdma.until(lambda: any(found["injected"] for found in control("faults")["rules"] if found["line"] == rule),
                       "the packet is lost")
            self.near.run("ip", "link", "set", self.near.interface, "down")


@ulp.IB_ONLY
class Unloading(unittest.TestCase):
    def test_module_unloaded_with_running_interfaces(self) -> None:
        for port in rdma.ports():
            rdma.run("ip", "link", "set", port.interface, "up")
        peer.call(unload)
        unload()
        for port in rdma.ports():
            self.assertTrue(port.interface, "the interface is there again")
