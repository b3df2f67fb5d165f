# SPDX-License-Identifier: GPL-2.0-or-later
"""IP over InfiniBand in both modes, between two network namespaces that share nothing but the emulated wire."""

import contextlib
import json
import pathlib
import subprocess
import unittest
from collections.abc import Iterator

import disks
import ipoib
import rdma
import subnet_manager
import ulp
from control import control

NEAR, FAR = "10.8.0.1", "10.8.0.2"
ROUTER, BEYOND = "10.7.0.1", "10.7.0.2"
GROUP = "239.7.7.7"
GROUP_PORT = 7777
MESSAGES = 50
# Runs in the far namespace: counts the messages of a multicast group that arrive and are right.
RECEIVER = f"""
import socket, struct
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
    receiver.bind(("{GROUP}", {GROUP_PORT}))
    wanted = struct.pack("4s4s", socket.inet_aton("{GROUP}"), socket.inet_aton("{FAR}"))
    receiver.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, wanted)
    receiver.settimeout(60)
    print("joined", flush=True)
    seen = set()
    while len(seen) < {MESSAGES}:
        data = receiver.recv(4096)
        if data[4:] == data[:1] * 1500:
            seen.add(data[:4])
    print("complete")
"""
SENDER = f"""
import socket, time
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
    sender.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("{NEAR}"))
    while True:
        for number in range({MESSAGES}):
            data = bytes([number, 1, 2, 3])
            sender.sendto(data + data[:1] * 1500, ("{GROUP}", {GROUP_PORT}))
        time.sleep(0.5)
"""


def serve() -> contextlib.AbstractContextManager:
    """The tests make their own ends."""
    return contextlib.nullcontext()


def unload() -> None:
    disks.unload("ib_ipoib")


def set_mode(interface: str, mode: str, mtu: int) -> None:
    disks.write(pathlib.Path("/sys/class/net") / interface / "mode", mode)
    rdma.run("ip", "link", "set", interface, "mtu", mtu)


class Hosts:
    """Two hosts with one InfiniBand port each, in modes with an MTU; they are in datagram mode afterwards."""

    modes: tuple[tuple[str, int], tuple[str, int]]

    @classmethod
    def setUpClass(cls) -> None:
        near, far = rdma.ports()[:2]
        cls.interfaces = (near.interface, far.interface)
        for name, (mode, mtu) in zip(cls.interfaces, cls.modes, strict=True):
            set_mode(name, mode, mtu)
            cls.addClassCleanup(set_mode, name, "datagram", 2044)
        cls.enterClassContext(ipoib.namespace("near", near, f"{NEAR}/24"))
        cls.enterClassContext(ipoib.namespace("far", far, f"{FAR}/24"))
        cls.await_answer(FAR)

    @staticmethod
    def near(*words: str | int) -> str:
        return rdma.run("ip", "netns", "exec", "near", *words)

    @staticmethod
    def await_answer(address: str) -> None:
        program = ("ip", "netns", "exec", "near", "ping", "-n", "-c", 1, "-W", 2, address)
        rdma.until(lambda: rdma.succeeds(*program), f"{address} answers")

    @staticmethod
    @contextlib.contextmanager
    def streaming(*options: str | int) -> Iterator[subprocess.Popen]:
        """iperf3 in both hosts."""
        with rdma.background("ip", "netns", "exec", "far", "iperf3", "-s", "-1") as server:
            rdma.until(lambda: "LISTEN" in rdma.run("ip", "netns", "exec", "far", "ss", "-ltn"), "iperf3 listens")
            with rdma.background("ip", "netns", "exec", "near", "iperf3", "-J", "-c", FAR, *options) as client:
                yield client
            rdma.finish(server)

    @staticmethod
    def received(client: subprocess.Popen) -> dict[str, float]:
        return json.loads(rdma.finish(client))["end"]["sum_received"]


class Traffic(Hosts):
    """What both modes have to do."""

    mode = "datagram"
    mtu = 2044

    def test_ping_with_packets_of_every_kind_of_length(self) -> None:
        for size in (0, 1, 700, self.mtu - 28, self.mtu - 27, 60000):
            # Ends when five answers are there.
            text = self.near("ping", "-n", "-i", "0.02", "-w", 120, "-c", 5, "-s", size, "-p", "a5", FAR)
            if not ulp.LOSS:
                self.assertTrue(ipoib.are_answered(text, 5), text)
            self.assertNotIn("wrong data byte", text)

    def test_packets_up_to_the_mtu_need_no_fragments(self) -> None:
        self.near("ping", "-n", "-M", "do", "-i", "0.02", "-c", 3, "-s", self.mtu - 28, FAR)

    def test_link_local_ipv6_addresses(self) -> None:
        found = json.loads(rdma.run("ip", "-n", "far", "-6", "-j", "address", "show", "dev", self.interfaces[1]))
        address = next(info["local"] for info in found[0]["addr_info"] if info["scope"] == "link")
        self.await_answer(f"{address}%{self.interfaces[0]}")

    def test_tcp_streams_arrive_in_both_directions(self) -> None:
        # More than the socket of the sender keeps, however long it takes: the first packets may be lost.
        for direction in ([], ["--reverse"]):
            with self.streaming("-n", "8M", *direction) as client:
                received = self.received(client)
            self.assertGreater(received["bytes"], 100_000)
            print(f"\n    {self.mode} mode: {received['bits_per_second'] / 8e6:.1f} MB/s", flush=True)

    def test_multicast_messages_reach_those_who_have_joined(self) -> None:
        with rdma.background("ip", "netns", "exec", "far", "python3", "-c", RECEIVER) as receiver:
            self.assertEqual(receiver.stdout.readline(), "joined\n")
            with rdma.background("ip", "netns", "exec", "near", "python3", "-c", SENDER):
                self.assertIn("complete", rdma.finish(receiver))

    def test_interface_that_goes_down_and_up_again(self) -> None:
        for _ in range(10 if ulp.WHOLE else 2):
            for state in ("down", "up"):
                rdma.run("ip", "-n", "far", "link", "set", self.interfaces[1], state)
            self.await_answer(FAR)

    def has_carrier(self) -> bool:
        text = rdma.run("ip", "-n", "far", "-j", "link", "show", "dev", self.interfaces[1])
        return "LOWER_UP" in json.loads(text)[0]["flags"]

    def flap(self) -> None:
        control("link", "down", "@hca1")
        rdma.until(lambda: not self.has_carrier(), "the interface notices")
        control("link", "up", "@hca1")
        rdma.until(self.has_carrier, "the interface notices")

    @contextlib.contextmanager
    def stream(self) -> Iterator[None]:
        """Traffic meanwhile, which has to go on and to arrive whole."""
        with self.streaming("-n", "2M", "-b", "2M") as client:
            yield
            self.assertGreaterEqual(self.received(client)["bytes"], 2 << 20)

    def test_link_that_goes_down_and_up_under_traffic(self) -> None:
        with self.stream():
            for _ in range(10 if ulp.WHOLE else 2):
                self.flap()
        self.await_answer(FAR)

    def test_subnet_manager_that_starts_anew_under_traffic(self) -> None:
        with self.stream():
            subnet_manager.end()
            subnet_manager.start()
            # Without a manager nobody would make the port active again.
            self.flap()
        self.await_answer(FAR)


@ulp.ALONE_ONLY
@ulp.IB_ONLY
class Datagram(Traffic, unittest.TestCase):
    modes = (("datagram", 2044), ("datagram", 2044))


@ulp.ALONE_ONLY
@ulp.IB_ONLY
class Connected(Traffic, unittest.TestCase):
    modes = (("connected", 65520), ("connected", 65520))
    mode = "connected"
    mtu = 65520


@ulp.ALONE_ONLY
@ulp.IB_ONLY
class PathMtu(Hosts, unittest.TestCase):
    """The far host is a router: what lies behind it cannot take packets as long as the wire can."""

    modes = (("connected", 65520), ("connected", 65520))
    mtu = 1500

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        rdma.run("ip", "netns", "add", "beyond")
        cls.addClassCleanup(rdma.run, "ip", "netns", "delete", "beyond")
        rdma.run("ip", "-n", "far", "link", "add", "inner", "mtu", cls.mtu, "type", "veth",
                 "peer", "outer", "mtu", cls.mtu, "netns", "beyond")
        for namespace, interface, address in (("far", "inner", ROUTER), ("beyond", "outer", BEYOND)):
            rdma.run("ip", "-n", namespace, "address", "add", f"{address}/24", "dev", interface)
            rdma.run("ip", "-n", namespace, "link", "set", interface, "up")
        rdma.run("ip", "netns", "exec", "far", "sysctl", "-q", "net.ipv4.ip_forward=1")
        rdma.run("ip", "-n", "near", "route", "add", BEYOND, "via", FAR)
        rdma.run("ip", "-n", "beyond", "route", "add", "default", "via", ROUTER)
        cls.await_answer(BEYOND)

    def test_longer_packets_are_refused_until_they_fit(self) -> None:
        def is_known() -> bool:
            ping = ("ping", "-n", "-M", "do", "-c", 1, "-W", 1, "-s", 60000)
            rdma.succeeds("ip", "netns", "exec", "near", *ping, BEYOND)
            return f"mtu {self.mtu}" in self.near("ip", "route", "get", BEYOND)

        rdma.until(is_known, "the path has an MTU of its own")
        self.near("ping", "-n", "-M", "do", "-c", 1, "-w", 60, "-s", self.mtu - 28, BEYOND)


@ulp.ALONE_ONLY
@ulp.IB_ONLY
@unittest.skipIf(ulp.LOSS, "has a plan of its own of what is lost")
class PacketUnderWay(Hosts, unittest.TestCase):
    """A connection that waits for an acknowledgement when its interface goes down; the module is unloaded next."""

    modes = (("connected", 65520), ("connected", 65520))

    @classmethod
    def setUpClass(cls) -> None:
        # Runs last, when the interfaces have left their namespaces.
        cls.addClassCleanup(unload)
        super().setUpClass()

    def test_module_unloaded_when_the_connection_has_ended(self) -> None:
        rule = "packet drop service=rc times=1 direction=out @hca0"
        control("fault", rule)
        # The only one: another one behind it would be answered, which ends the wait.
        with rdma.background("ip", "netns", "exec", "near", "ping", "-n", "-c", 1, FAR):
            rdma.until(lambda: any(found["struck"] for found in control("faults")["rules"] if found["line"] == rule),
                       "the packet is lost")
            rdma.run("ip", "-n", "near", "link", "set", self.interfaces[0], "down")


@ulp.IB_ONLY
class Unloading(unittest.TestCase):
    def test_module_with_interfaces_that_run(self) -> None:
        for port in rdma.ports():
            rdma.run("ip", "link", "set", port.interface, "up")
        unload()
        for port in rdma.ports():
            self.assertTrue(port.interface, "the interface is there again")


if __name__ == "__main__":
    unittest.main()
