# SPDX-License-Identifier: GPL-2.0-or-later
"""IP over InfiniBand in both modes, between two network namespaces that share nothing but the emulated wire."""

import contextlib
import json
import pathlib
import unittest

import disks
import ipoib
import rdma
import ulp

NEAR, FAR = "10.8.0.1", "10.8.0.2"
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


class Hosts:
    """Two hosts with one InfiniBand port each; what both modes have to do."""

    mode = "datagram"
    mtu = 2044

    @classmethod
    def setUpClass(cls) -> None:
        near, far = rdma.ports()[:2]
        cls.interfaces = (near.interface, far.interface)
        for name in cls.interfaces:
            disks.write(pathlib.Path("/sys/class/net") / name / "mode", cls.mode)
            rdma.run("ip", "link", "set", name, "mtu", cls.mtu)
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

    def test_ping_with_packets_of_every_kind_of_length(self) -> None:
        for size in (0, 1, 700, self.mtu - 28, self.mtu - 27, 60000):
            text = self.near("ping", "-n", "-i", "0.02", "-w", 120, "-c", 5, "-s", size, "-p", "a5", FAR)
            self.assertRegex(text, r" 0% packet loss")
            self.assertNotIn("wrong data byte", text)

    def test_packets_up_to_the_mtu_need_no_fragments(self) -> None:
        self.near("ping", "-n", "-M", "do", "-i", "0.02", "-c", 3, "-s", self.mtu - 28, FAR)

    def test_link_local_ipv6_addresses(self) -> None:
        found = json.loads(rdma.run("ip", "-n", "far", "-6", "-j", "address", "show", "dev", self.interfaces[1]))
        address = next(info["local"] for info in found[0]["addr_info"] if info["scope"] == "link")
        self.await_answer(f"{address}%{self.interfaces[0]}")

    def test_tcp_streams_arrive_in_both_directions(self) -> None:
        for direction in ([], ["--reverse"]):
            with rdma.background("ip", "netns", "exec", "far", "iperf3", "-s", "-1") as server:
                rdma.until(lambda: "LISTEN" in rdma.run("ip", "netns", "exec", "far", "ss", "-ltn"), "iperf3 listens")
                report = json.loads(self.near("iperf3", "-J", "-t", 2, "-c", FAR, *direction))
                rdma.finish(server)
            received = report["end"]["sum_received"]
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


@ulp.ALONE_ONLY
@ulp.IB_ONLY
class Datagram(Hosts, unittest.TestCase):
    pass


@ulp.ALONE_ONLY
@ulp.IB_ONLY
class Connected(Hosts, unittest.TestCase):
    mode = "connected"
    mtu = 65520

    @classmethod
    def tearDownClass(cls) -> None:
        for namespace, interface in zip(("near", "far"), cls.interfaces, strict=True):
            rdma.run("ip", "-n", namespace, "link", "set", interface, "mtu", 2044)
            rdma.run("ip", "netns", "exec", namespace, "sh", "-c", f"echo datagram > /sys/class/net/{interface}/mode")


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
