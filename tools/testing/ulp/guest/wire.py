# SPDX-License-Identifier: GPL-2.0-or-later
"""Two addresses that reach each other over the emulated wire only: of two guests, or of two devices of one guest.

The kernel's storage protocols use only the first network namespace, so two devices of one guest share it. By default
the kernel does not send packets to one of its own addresses out of the machine, and the RDMA connection manager
connects such an address to itself over one device. The rules made here send packets for the guest's other address out
through the correct interface, and accept them there.

With rdma_rxe the wire is a pair of virtual Ethernet interfaces, and the kernel drops packets where otherwise the
emulator would.
"""

import contextlib
import dataclasses
import functools
import json
import os
import pathlib

import ipoib
import rdma
from control import control

SERVER, CLIENT = "10.9.0.1", "10.9.0.2"
RXE = os.environ.get("ULP_DRIVER") == "rxe"
LOSS = bool(os.environ.get("ULP_LOSS"))  # one percent of the packets is lost
ALONE = os.environ.get("LAB_VMS", "1") == "1"
NUMBER = int(os.environ.get("LAB_VM", "0"))
TABLES = {CLIENT: 10, SERVER: 11}  # of routes to these addresses, for rules of equal priority
LAST = 1000  # metric of the route that is used if there is no other


@dataclasses.dataclass(frozen=True)
class End:
    """One of the two ends, if it is in this guest."""

    address: str
    device: str
    interface: str


def _lose_packets(interface: str) -> None:
    rdma.run("modprobe", "sch_netem")
    rdma.run("tc", "qdisc", "add", "dev", interface, "root", "netem", "loss", "1%")


def _make_rxe() -> list[tuple[str, str]]:
    rdma.run("modprobe", "-a", "veth", "rdma_rxe")
    rdma.run("ip", "link", "add", "wire0", "type", "veth", "peer", "name", "wire1")
    pairs = []
    for interface in ("wire0", "wire1"):
        rdma.run("ip", "link", "set", interface, "mtu", 4200, "up")
        device = f"rxe{interface[-1]}"
        rdma.run("rdma", "link", "add", device, "type", "rxe", "netdev", interface)
        if LOSS:
            _lose_packets(interface)
        pairs.append((device, interface))
    return pairs


def _find_devices() -> list[tuple[str, str]]:
    return _make_rxe() if RXE else [(port.device, port.interface) for port in rdma.ports()]


def _send_out(address: str, source: End) -> None:
    """Sends packets for ADDRESS out through SOURCE's interface, although this guest has that address.

    Without the interface there must be no route to ADDRESS. Otherwise the next rule would apply, and an initiator that
    reconnects would reach the target over the target's own device.
    """
    table = TABLES[address]
    rdma.run("ip", "rule", "add", "pref", table, "iif", "lo", "to", address, "lookup", table)
    rdma.run("ip", "route", "add", address, "dev", source.interface, "src", source.address, "table", table)
    rdma.run("ip", "route", "add", "unreachable", address, "metric", LAST, "table", table)


def _accept_own(interface: str) -> None:
    settings = pathlib.Path("/proc/sys/net/ipv4/conf") / interface
    for name, value in {"accept_local": 1, "rp_filter": 0, "arp_ignore": 1, "arp_announce": 2}.items():
        (settings / name).write_text(str(value))


def _part(ends: list[End]) -> None:
    for interface in ("all", *(end.interface for end in ends)):
        _accept_own(interface)
    rdma.run("ip", "rule", "add", "pref", 100, "lookup", "local")
    rdma.run("ip", "rule", "delete", "pref", 0)
    server, client = ends
    _send_out(client.address, server)
    _send_out(server.address, client)


def answers(source: str, target: str) -> bool:
    return rdma.succeeds("ping", "-n", "-c", 1, "-W", 2, "-I", source, target)


@functools.cache
def ends() -> tuple[End, ...]:
    """Sets up the wire; returns the ends in this guest: server and client, or only one of them."""
    addresses = (SERVER, CLIENT) if ALONE else ((SERVER, CLIENT)[NUMBER],)
    found = [End(address, *pair) for address, pair in zip(addresses, _find_devices(), strict=False)]
    for end in found:
        rdma.run("ip", "address", "flush", "dev", end.interface)
        rdma.run("ip", "address", "add", f"{end.address}/24", "dev", end.interface)
        rdma.run("ip", "link", "set", end.interface, "up")
        ipoib.await_carrier(end.interface)
    if ALONE:
        _part(found)
        rdma.until(lambda: answers(CLIENT, SERVER) and answers(SERVER, CLIENT), "the two ends reach each other",
                   evidence=ipoib.state)
    return tuple(found)


def _restore(end: End) -> None:
    port = rdma.Port(end.device)
    if port.interface != end.interface:
        raise AssertionError(f"{end.device} has the interface {port.interface} now, not {end.interface}")
    rdma.run("ip", "address", "add", f"{end.address}/24", "dev", end.interface)
    rdma.run("ip", "link", "set", end.interface, "up")
    ipoib.await_carrier(end.interface)
    if ALONE:
        _accept_own(end.interface)
        rdma.run("ip", "route", "add", _other(end.address), "dev", end.interface, "src", end.address,
                 "table", TABLES[_other(end.address)])


def _other(address: str) -> str:
    return CLIENT if address == SERVER else SERVER


def restore(*returned: End) -> None:
    """Gives interfaces that are back the configuration of the earlier ones."""
    for end in returned:
        _restore(end)
    rdma.until(lambda: all(answers(end.address, _other(end.address)) for end in ends()),
               "the two ends reach each other again", evidence=ipoib.state)


def sent(device: str) -> int:
    """Number of packets that a port has sent."""
    counters = rdma.CLASS / device / "ports/1"
    name = "hw_counters/sent_pkts" if RXE else "counters/port_xmit_packets"
    return int((counters / name).read_text())


def lost() -> int:
    """Number of packets that have been lost."""
    if not RXE:
        return sum(rule["injected"] for rule in control("faults")["rules"])
    shown = (json.loads(rdma.run("tc", "-s", "-j", "qdisc", "show", "dev", end.interface)) for end in ends())
    return sum(discipline["drops"] for disciplines in shown for discipline in disciplines)


@contextlib.contextmanager
def used():
    """Asserts that both ends send packets inside the context: traffic inside one device proves nothing."""
    before = [sent(end.device) for end in ends()]
    yield
    for end, count in zip(ends(), before, strict=True):
        if sent(end.device) <= count:
            raise AssertionError(f"{end.device} has sent nothing")


def client_guid() -> str:
    """GUID of the client's port as the server sees it: 16 hexadecimal digits."""
    if ALONE:
        return rdma.Port(ends()[1].device).attribute("gids/0").replace(":", "")[16:]
    rdma.until(lambda: answers(SERVER, CLIENT), "the client's guest answers")
    # An IPoIB hardware address ends with the GID (RFC 4391, 9.1.1).
    neighbour = rdma.run("ip", "neighbour", "show", CLIENT)
    return neighbour.split("lladdr ")[1].split()[0].replace(":", "")[-16:]
