# SPDX-License-Identifier: GPL-2.0-or-later
"""IP addresses on the InfiniBand ports of this guest."""

import contextlib
import json
import pathlib
import re
from collections.abc import Iterator

import rdma


def mode(interface: str) -> str:
    return pathlib.Path(f"/sys/class/net/{interface}/mode").read_text().strip()


def set_up(port: rdma.Port, address: str) -> None:
    rdma.run("ip", "address", "flush", "dev", port.interface)
    rdma.run("ip", "address", "add", address, "dev", port.interface)
    rdma.run("ip", "link", "set", port.interface, "up")
    await_carrier(port.interface)


def await_carrier(interface: str, namespace: str = "") -> None:
    """The interface runs as soon as it has joined the broadcast group."""
    inside = ["ip", "netns", "exec", namespace] if namespace else []
    path = f"/sys/class/net/{interface}/carrier"
    rdma.until(lambda: rdma.run(*inside, "cat", path).strip() == "1", f"{interface} has a carrier")


def restart(interface: str, namespace: str) -> None:
    """Takes an interface in a namespace down, and up again."""
    for word in ("down", "up"):
        rdma.run("ip", "-n", namespace, "link", "set", interface, word)
    await_carrier(interface, namespace)


def _namespaces() -> list[list[str]]:
    """The beginnings of commands that run in each network namespace."""
    names = [line.split()[0] for line in rdma.run("ip", "netns", "list").splitlines()]
    return [[], *(["ip", "netns", "exec", name] for name in names)]


def _tables(interface: str) -> Iterator[str]:
    """The multicast groups and the paths that ib_ipoib has for an interface, as its files in debugfs show them."""
    for kind in ("mcg", "path"):
        table = pathlib.Path(f"/sys/kernel/debug/ipoib/{interface}_{kind}")
        if table.exists():
            yield f"{table.name}: {' '.join(table.read_text().split())}"


def state() -> str:
    """How each interface is: its packets, its neighbours, its groups and its paths."""
    lines = []
    for inside in _namespaces():
        links = json.loads(rdma.run(*inside, "ip", "-j", "-s", "link", "show", "type", "ipoib"))
        for link in links:
            lines.append(f"{' '.join(inside)} {link['ifname']} {link['operstate']} {link['stats64']}")
            lines += _tables(link["ifname"])
        lines += rdma.run(*inside, "ip", "-s", "neighbor", "show").splitlines()
    for port in rdma.ports():
        counters = (port.directory / "counters").glob("*_packets")  # software devices have none of these
        lines.append(f"{port.device}: {' '.join(f'{path.name} {path.read_text().strip()}' for path in sorted(counters))}")
    return "\n".join(lines)


def are_answered(ping: str, count: int) -> bool:
    """Whether ping, with a deadline, has got that many replies, one for each request and none left out. It continues to
    send while replies are slow, so there may be more; a request that it calls lost may have been outstanding when it
    ended."""
    answers = sorted(int(number) for number in re.findall(r"icmp_seq=(\d+)", ping))
    return len(answers) >= count and answers == list(range(1, len(answers) + 1))


def _has_connections(port: rdma.Port) -> bool:
    shown = rdma.run("rdma", "resource", "show", "qp", "link", f"{port.device}/{port.number}")
    return any(" type RC " in line and "[ib_ipoib]" in line for line in shown.splitlines())


def await_end(port: rdma.Port) -> None:
    """Waits for the end of the connections of an interface that is down.

    One that was sending lasts some seconds longer than its interface. A device or a module that goes meanwhile has
    ib_ipoib destroy the completion queue before the queue pair, of which ib_core warns, with mlx5_ib and with cxib.
    """
    rdma.until(lambda: not _has_connections(port), f"the connections of {port.device} have ended")


@contextlib.contextmanager
def namespace(name: str, port: rdma.Port, address: str) -> Iterator[str]:
    """A network namespace that has nothing but the interface of a port."""
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
