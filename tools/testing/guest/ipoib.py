# SPDX-License-Identifier: GPL-2.0-or-later
"""IP addresses on the InfiniBand ports of this guest."""

import contextlib
import json
import pathlib
import re
from collections.abc import Callable, Iterator

import rdma

PINGS = 3  # runs of ping until one has all replies


def mode(interface: str) -> str:
    return pathlib.Path(f"/sys/class/net/{interface}/mode").read_text().strip()


def set_up(port: rdma.Port, address: str) -> None:
    rdma.run("ip", "address", "flush", "dev", port.interface)
    rdma.run("ip", "address", "add", address, "dev", port.interface)
    rdma.run("ip", "link", "set", port.interface, "up")
    await_carrier(port.interface)


def await_carrier(interface: str, namespace: str = "") -> None:
    """Waits until the interface has carrier: it has then joined the broadcast group."""
    inside = ["ip", "netns", "exec", namespace] if namespace else []
    path = f"/sys/class/net/{interface}/carrier"
    rdma.until(lambda: rdma.run(*inside, "cat", path).strip() == "1", f"{interface} has a carrier")


def restart(interface: str, namespace: str) -> None:
    """Takes an interface of a namespace down and up again."""
    for word in ("down", "up"):
        rdma.run("ip", "-n", namespace, "link", "set", interface, word)
    await_carrier(interface, namespace)


def _namespaces() -> list[list[str]]:
    """Command prefixes that run a command in each network namespace."""
    names = [line.split()[0] for line in rdma.run("ip", "netns", "list").splitlines()]
    return [[], *(["ip", "netns", "exec", name] for name in names)]


def _tables(interface: str) -> Iterator[str]:
    """Multicast groups and paths of an interface, from ib_ipoib's debugfs files."""
    for kind in ("mcg", "path"):
        table = pathlib.Path(f"/sys/kernel/debug/ipoib/{interface}_{kind}")
        if table.exists():
            yield f"{table.name}: {' '.join(table.read_text().split())}"


def state() -> str:
    """State of each interface: packet counters, neighbours, multicast groups and paths."""
    lines = []
    for inside in _namespaces():
        links = json.loads(rdma.run(*inside, "ip", "-j", "-s", "link", "show", "type", "ipoib"))
        for link in links:
            lines.append(f"{' '.join(inside)} {link['ifname']} {link['operstate']} {link['stats64']}")
            lines += _tables(link["ifname"])
        lines += rdma.run(*inside, "ip", "-s", "neighbor", "show").splitlines()
    for port in rdma.ports():
        counters = (port.directory / "counters").glob("*_packets")  # software devices have no such counters
        lines.append(f"{port.device}: {' '.join(f'{path.name} {path.read_text().strip()}' for path in sorted(counters))}")
    return "\n".join(lines)


def _are_answered(ping: str, count: int) -> bool:
    """Whether ping, run with a deadline, has received at least `count` replies without a gap in the numbers. Ping sends
    until its deadline, so more replies may have come. A request that ping reports as lost may only have been
    outstanding at the deadline."""
    answers = sorted(int(number) for number in re.findall(r"icmp_seq=(\d+)", ping))
    return len(answers) >= count and answers == list(range(1, len(answers) + 1))


def _dropped() -> int:
    """Packets that IPoIB itself has dropped, on the interfaces of this guest."""
    return sum(link["stats64"]["tx"]["dropped"] for inside in _namespaces()
               for link in json.loads(rdma.run(*inside, "ip", "-j", "-s", "link", "show", "type", "ipoib")))


def ping(run: Callable[..., str], count: int, *options: str | int) -> str:
    """Pings until one run of ping has all its replies, and returns its output.

    Ping has a deadline: without one it ignores a reply that takes much longer than those before. A run is repeated if
    IPoIB counts packets that it has dropped meanwhile: it keeps only three while it resolves the path to a neighbour
    again, after an event of the subnet manager for example, and drops the other fragments.
    """
    for _ in range(PINGS):
        dropped = _dropped()
        text = run("ping", "-n", "-w", 120, "-c", count, *options)
        if _are_answered(text, count):
            return text
        print(f"replies are missing: {text}\n{state()}", flush=True)
        if _dropped() == dropped:
            break
    raise AssertionError(f"replies are missing: {text}")


def _has_connections(port: rdma.Port) -> bool:
    shown = rdma.run("rdma", "resource", "show", "qp", "link", f"{port.device}/{port.number}")
    return any(" type RC " in line and "[ib_ipoib]" in line for line in shown.splitlines())


def await_end(port: rdma.Port) -> None:
    """Waits until all connections of an interface that is down have ended.

    A connection that was sending outlives its interface by some seconds. If the device or the module is removed during
    that time, ib_ipoib destroys the CQ before the QP, and ib_core warns (with mlx5_ib too).
    """
    rdma.until(lambda: not _has_connections(port), f"the connections of {port.device} have ended")


@contextlib.contextmanager
def namespace(name: str, port: rdma.Port, address: str) -> Iterator[str]:
    """A network namespace whose only interface is the IPoIB interface of a port."""
    interface = port.interface
    rdma.run("ip", "netns", "add", name)
    try:
        rdma.run("ip", "link", "set", interface, "netns", name)
        for words in (["address", "add", address, "dev", interface], ["link", "set", interface, "up"]):
            rdma.run("ip", "-n", name, *words)
        await_carrier(interface, name)
        yield name
    finally:
        rdma.run("ip", "-n", name, "link", "set", interface, "netns", "1")
        rdma.run("ip", "netns", "delete", name)
        await_end(port)
