# SPDX-License-Identifier: GPL-2.0-or-later
"""Two hosts on an IPoIB network: two guests, or two network namespaces of one guest.

A Host value names its location. Its methods must be called in the guest of the host (peer.py).
"""

import contextlib
import dataclasses
import json
import pathlib
import subprocess
from collections.abc import Iterator

import disks
import ipoib
import rdma
import wire

TRAFFIC = pathlib.Path(__file__).with_name("ip_traffic.py")
IPERF_PORT, ANSWER_PORT = 5201, 5202


def set_mode(interface: str, mode: str, mtu: int) -> None:
    disks.write(pathlib.Path("/sys/class/net") / interface / "mode", mode)
    rdma.run("ip", "link", "set", interface, "mtu", mtu)


@dataclasses.dataclass(frozen=True)
class Program:
    """A running program that must end with success."""

    child: subprocess.Popen

    def finish(self) -> str:
        return rdma.finish(self.child)


@dataclasses.dataclass(frozen=True)
class Host:
    """A host with one InfiniBand port. A host without a namespace is its whole guest."""

    port: rdma.Port
    interface: str
    namespace: str

    def _inside(self, *words: str | int) -> tuple[str | int, ...]:
        return ("ip", "netns", "exec", self.namespace, *words) if self.namespace else words

    def run(self, *words: str | int) -> str:
        return rdma.run(*self._inside(*words))

    def succeeds(self, *words: str | int) -> bool:
        return rdma.succeeds(*self._inside(*words))

    def background(self, *words: str | int) -> contextlib.AbstractContextManager[subprocess.Popen]:
        return rdma.background(*self._inside(*words))

    @contextlib.contextmanager
    def running(self, address: str, mode: str, mtu: int) -> Iterator[None]:
        """Connects the host to the network inside the context; afterwards its interface is in datagram mode."""
        set_mode(self.interface, mode, mtu)
        try:
            with self._addressed(f"{address}/24"):
                yield
        finally:
            set_mode(self.interface, "datagram", 2044)

    @contextlib.contextmanager
    def _addressed(self, address: str) -> Iterator[None]:
        if self.namespace:
            with ipoib.namespace(self.namespace, self.port, address):
                yield
            return
        rdma.run("ip", "address", "add", address, "dev", self.interface)
        try:
            yield
        finally:
            rdma.run("ip", "address", "delete", address, "dev", self.interface)
            # This ends connections, as moving the interface to another namespace does.
            rdma.run("ip", "link", "set", self.interface, "down")
            ipoib.await_end(self.port)
            rdma.run("ip", "link", "set", self.interface, "up")
            ipoib.await_carrier(self.interface)

    def _shown(self, what: str) -> dict:
        return json.loads(self.run("ip", "-j", what, "show", "dev", self.interface))[0]

    def _link_local_addresses(self) -> list[str]:
        return [info["local"] for info in self._shown("address")["addr_info"]
                if info["family"] == "inet6" and info["scope"] == "link"]

    def link_local_address(self) -> str:
        """Waits for the link-local address, which the kernel adds some time after the carrier."""
        rdma.until(lambda: bool(self._link_local_addresses()), f"{self.interface} has a link-local address")
        return self._link_local_addresses()[0]

    def has_carrier(self) -> bool:
        return "LOWER_UP" in self._shown("link")["flags"]

    def restart_interface(self) -> None:
        for state in ("down", "up"):
            self.run("ip", "link", "set", self.interface, state)

    @contextlib.contextmanager
    def _listening(self, port: int, *program: str | int) -> Iterator[Program]:
        with self.background(*program) as child:
            rdma.until(lambda: bool(self.run("ss", "-Hltn", f"sport = :{port}")), f"{program} listens")
            yield Program(child)

    def iperf3(self) -> contextlib.AbstractContextManager[Program]:
        """Runs an iperf3 server for one connection."""
        patience = 1000 * int(rdma.PATIENCE)  # milliseconds
        return self._listening(IPERF_PORT, "iperf3", "-s", "-1", "-p", IPERF_PORT, "--rcv-timeout", patience)

    def answering(self, address: str) -> contextlib.AbstractContextManager[Program]:
        """Runs a program that returns to one connection what it has received."""
        return self._listening(ANSWER_PORT, TRAFFIC, "answer", address, ANSWER_PORT)

    @contextlib.contextmanager
    def joined(self, address: str, group: str, port: int, count: int) -> Iterator[Program]:
        """Joins a multicast group and waits for that many messages."""
        with self.background(TRAFFIC, "join", address, group, port, count) as child:
            yield Program(child)

    @contextlib.contextmanager
    def routing(self, mtu: int, address: str, beyond: str) -> Iterator[None]:
        """Makes the host a router to another host BEYOND, over a link with another MTU."""
        rdma.run("ip", "netns", "add", "beyond")
        try:
            self.run("ip", "link", "add", "inner", "mtu", mtu, "type", "veth",
                     "peer", "outer", "mtu", mtu, "netns", "beyond")
            self.run("ip", "address", "add", f"{address}/24", "dev", "inner")
            self.run("ip", "link", "set", "inner", "up")
            self.run("sysctl", "-q", "net.ipv4.ip_forward=1")
            for words in (["address", "add", f"{beyond}/24", "dev", "outer"], ["link", "set", "outer", "up"],
                          ["route", "add", "default", "via", address]):
                rdma.run("ip", "-n", "beyond", *words)
            yield
        finally:
            rdma.run("ip", "netns", "delete", "beyond")


def _host(number: int, namespace: str) -> Host:
    port = rdma.ports()[number]
    return Host(port, port.interface, namespace if wire.ALONE else "")


def far() -> Host:
    """The remote host, on the first HCA."""
    return _host(0, "far")


def near() -> Host:
    """The local host, on the second HCA."""
    return _host(1 if wire.ALONE else 0, "near")
