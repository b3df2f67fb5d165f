#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures in a guest the message rate, latency and bandwidth of emulated HCAs and of rdma_rxe, and how the emulator
scales with many QPs. Writes JSON to OUTPUT.

usage: measure_transport.py OUTPUT CONNECTIONS
"""

import dataclasses
import itertools
import json
import pathlib
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

CLASS = pathlib.Path("/sys/class/infiniband")
PATIENCE = 600  # seconds; ends only a run that has already failed
ROUNDS = 3  # of each measurement; devices take turns, the median is reported
TCP_PORTS = itertools.count(20000)


@dataclasses.dataclass(frozen=True)
class Pair:
    """Two devices that send to each other, or one device that sends to itself."""

    name: str
    server: str
    client: str
    options: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Measurement:
    key: str
    title: str
    unit: str
    better: str  # "higher" or "lower"
    command: tuple[str, ...]
    value: Callable[[list[float]], float]


# perftest's columns. Bandwidth: size, iterations, peak and average in MB/s (or Gb/s), million messages per second.
# Latency: size, iterations, minimum, maximum, typical (the median), ...
MEASUREMENTS = (
    Measurement("message_rate", "64-byte RC sends", "messages/s", "higher",
                ("ib_send_bw", "-s", "64", "-n", "20000"), lambda columns: columns[4] * 1e6),
    Measurement("latency", "4 KiB RC send, median latency", "µs", "lower",
                ("ib_send_lat", "-s", "4096", "-n", "2000"), lambda columns: columns[4]),
    Measurement("bandwidth", "64 KiB RDMA writes", "MB/s", "higher",
                ("ib_write_bw", "-s", "65536", "-n", "5000"), lambda columns: columns[3]),
)


def show(text: str) -> None:
    print(text, flush=True)


def run(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True, timeout=PATIENCE).stdout


def add_rxe() -> Pair:
    """One rdma_rxe device on an interface without a peer: it sends packets to itself."""
    run("ip", "link", "add", "bench0", "type", "dummy")
    run("ip", "address", "add", "192.0.2.1/24", "dev", "bench0")
    run("ip", "link", "set", "bench0", "up", "mtu", "4200")
    run("modprobe", "rdma_rxe")
    run("rdma", "link", "add", "rxe0", "type", "rxe", "netdev", "bench0")
    gid = next(index for index, value in enumerate(gids("rxe0")) if value.endswith("ffff:c000:0201"))
    return Pair("rdma_rxe", "rxe0", "rxe0", ("-x", str(gid)))


def gids(device: str) -> list[str]:
    directory = CLASS / device / "ports/1/gids"
    return [(directory / str(index)).read_text().strip() for index in range(len(list(directory.iterdir())))]


def await_listener(port: int, server: subprocess.Popen) -> None:
    limit = time.monotonic() + PATIENCE
    while f":{port} " not in run("ss", "-ltnH") + " ":
        if server.poll() is not None or time.monotonic() > limit:
            raise RuntimeError(f"the server has not come up: {server.communicate()}")
        time.sleep(0.05)


def columns_of(output: str) -> list[float]:
    """The result line, which follows the heading line that begins with #bytes."""
    lines = output.splitlines()
    heading = next(index for index, line in enumerate(lines) if line.strip().startswith("#bytes"))
    return [float(word) for word in lines[heading + 1].split()]


def measure(measurement: Measurement, pair: Pair) -> float:
    port = next(TCP_PORTS)
    words = [*measurement.command, *pair.options, "-F", "-p", str(port)]
    server = subprocess.Popen([*words, "-d", pair.server], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        await_listener(port, server)
        output = run(*words, "-d", pair.client, "127.0.0.1")
        server.communicate(timeout=PATIENCE)
    finally:
        server.kill()
    return measurement.value(columns_of(output))


def measure_peers(pairs: list[Pair]) -> dict:
    results = {}
    for measurement in MEASUREMENTS:
        values: dict[str, list[float]] = {pair.name: [] for pair in pairs}
        for _ in range(ROUNDS):
            for pair in pairs:
                values[pair.name].append(measure(measurement, pair))
                show(f"{measurement.title}, {pair.name}: {values[pair.name][-1]:.0f} {measurement.unit}")
        results[measurement.key] = {
            "title": measurement.title,
            "unit": measurement.unit,
            "better": measurement.better,
            "values": {name: statistics.median(found) for name, found in values.items()},
        }
    return results


def main() -> int:
    output, connections = pathlib.Path(sys.argv[1]), sys.argv[2]
    first, second = sorted(path.name for path in CLASS.iterdir())[:2]
    results = {"queue_pairs": json.loads(run("build/bench/queue_pairs", first, second, connections))}
    show(f"queue pairs: {results['queue_pairs']}")
    results["peers"] = measure_peers([Pair("cxemu", first, second), add_rxe()])
    output.write_text(json.dumps(results, indent=4, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
