# SPDX-License-Identifier: GPL-2.0-or-later
"""Two addresses that reach each other over the emulated wire only: of two guests, or of two devices of one guest.

The storage protocols of the kernel use its first network namespace only, so the two devices of one guest share it.
Without rules of its own the kernel takes a packet to an address that it has for one that need not leave the machine,
and the RDMA connection manager connects such an address with itself, over one device. The rules made here send what
the guest itself has for its other address out at the right interface, and let it take what comes in there.

Under rdma_rxe the wire is a pair of virtual Ethernet interfaces, and the kernel loses packets where the emulator would.
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
LOSS = bool(os.environ.get("ULP_LOSS"))  # one percent of the packets
ALONE = os.environ.get("LAB_VMS", "1") == "1"
NUMBER = int(os.environ.get("LAB_VM", "0"))
CALLS = ALONE or NUMBER == 1
TABLES = {CLIENT: 10, SERVER: 11}  # of routes to these addresses, by rules of the same priority
LAST = 1000  # the metric of a route that holds where there is no other


@dataclasses.dataclass(frozen=True)
class End:
    """One of the two ends, if it is of this guest."""

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
    """What this guest has for ADDRESS leaves at the interface of SOURCE, although the guest has that address.

    While the interface is gone there is no way to ADDRESS. Otherwise the next rule would apply, and an initiator that
    reconnects meanwhile would be connected with the target over the target's own device, for as long as that is there.
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
    """Sets the wire up; returns the ends of this guest: server and client, or the one that it is."""
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
    """Gives interfaces that have come back what the ones before them had."""
    for end in returned:
        _restore(end)
    rdma.until(lambda: all(answers(end.address, _other(end.address)) for end in ends()),
               "the two ends reach each other again", evidence=ipoib.state)


def sent(device: str) -> int:
    """Packets that a port has sent so far."""
    counters = rdma.CLASS / device / "ports/1"
    name = "hw_counters/sent_pkts" if RXE else "counters/port_xmit_packets"
    return int((counters / name).read_text())


def lost() -> int:
    """Packets that have been lost so far."""
    if not RXE:
        return sum(rule["injected"] for rule in control("faults")["rules"])
    shown = (json.loads(rdma.run("tc", "-s", "-j", "qdisc", "show", "dev", end.interface)) for end in ends())
    return sum(discipline["drops"] for disciplines in shown for discipline in disciplines)


@contextlib.contextmanager
def used():
    """Fails unless both ends send something meanwhile: what stays within one device proves nothing."""
    before = [sent(end.device) for end in ends()]
    yield
    for end, count in zip(ends(), before, strict=True):
        if sent(end.device) <= count:
            raise AssertionError(f"{end.device} has sent nothing")


def client_guid() -> str:
    """GUID of the client's port, 16 hexadecimal digits, as the server finds it."""
    if ALONE:
        return rdma.Port(ends()[1].device).attribute("gids/0").replace(":", "")[16:]
    rdma.until(lambda: answers(SERVER, CLIENT), "the client's guest answers")
    # An address of IP over InfiniBand ends with the GID (RFC 4391, 9.1.1).
    neighbour = rdma.run("ip", "neighbour", "show", CLIENT)
    return neighbour.split("lladdr ")[1].split()[0].replace(":", "")[-16:]
