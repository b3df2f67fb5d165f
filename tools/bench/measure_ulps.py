#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures the ULPs in a guest with its current driver. Adds the results to the JSON file OUTPUT.

usage: measure_ulps.py OUTPUT NAME SECONDS

SECONDS is the time of each measurement. Runs with tools/testing/ulp/guest/python.
"""

import contextlib
import json
import pathlib
import re
import sys
from collections.abc import Callable, Iterator

import disks
import iser
import nfs
import nvme
import rdma
import rds
import srp
import wire

MEGABYTE = 1e6
# Name, measured quantity, fio's direction, block size, queue depth.
WORKLOADS = (
    ("read 4 KiB", "iops", "randread", "4k", 16),
    ("write 4 KiB", "iops", "randwrite", "4k", 16),
    ("read 4 KiB, one at a time", "latency", "randread", "4k", 1),
    ("read 256 KiB", "bandwidth", "read", "256k", 8),
    ("write 256 KiB", "bandwidth", "write", "256k", 8),
)


class Results:
    """Rows of name, unit and value."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds  # for each measurement
        self.rows: list[dict] = []

    def add(self, protocol: str, what: str, unit: str, value: float) -> None:
        self.rows.append({"protocol": protocol, "what": what, "unit": unit, "value": value})
        print(f"   {protocol:8} {what:40} {value:10.0f} {unit}", flush=True)


def busy_seconds() -> float:
    """Busy time of all processors of this guest."""
    words = [int(word) for word in pathlib.Path("/proc/stat").read_text().splitlines()[0].split()[1:]]
    return (sum(words) - words[3] - words[4]) / 100


def run_fio(path: str, direction: str, block: str, depth: int, seconds: int) -> tuple[dict, float]:
    """The part of fio's report for this direction, and the busy time of the processors. Repeats a measurement in which
    the guest was not scheduled at all."""
    while True:
        before = busy_seconds()
        job = disks.fio(path, f"--rw={direction}", f"--bs={block}", f"--iodepth={depth}", "--time_based",
                        f"--runtime={seconds}", "--norandommap", size="32m")
        part = job["read" if "read" in direction else "write"]
        if part["total_ios"]:
            return part, busy_seconds() - before


def measure_disk(results: Results, protocol: str, path: str) -> None:
    for name, kind, direction, block, depth in WORKLOADS:
        part, busy = run_fio(path, direction, block, depth, results.seconds)
        if kind == "iops":
            results.add(protocol, f"{name}, depth {depth}", "IOPS", part["iops"])
            results.add(protocol, f"{name}, processor time an I/O", "µs", busy / part["total_ios"] * 1e6)
        elif kind == "latency":
            results.add(protocol, name, "µs", part["clat_ns"]["mean"] / 1000)
        else:
            results.add(protocol, name, "MB/s", part["bw_bytes"] / MEGABYTE)


@contextlib.contextmanager
def nvme_disk() -> Iterator[str]:
    with nvme.target(disks.in_memory(0)), nvme.connection() as disk:
        yield disk


@contextlib.contextmanager
def iser_disk() -> Iterator[str]:
    with iser.target(disks.in_memory(1)), iser.connection() as (disk,):
        yield disk


@contextlib.contextmanager
def srp_disk() -> Iterator[str]:
    with srp.target(disks.in_memory(2), wire.client_guid()), srp.ip_connection(srp.service_guid()) as disk:
        yield disk


@contextlib.contextmanager
def nfs_file() -> Iterator[str]:
    with nfs.server(disks.in_memory(3)), nfs.mounted() as files:
        yield str(files.directory / "measured")


def measure_rds(results: Results) -> None:
    rdma.run("modprobe", "rds_rdma")
    ends = ("--local", wire.CLIENT, "--remote", wire.SERVER)
    with rds.exerciser(wire.SERVER):
        rdma.run("rds_exercise", "ping", *ends)
        trips = rdma.run("rds_exercise", "ping", *ends, "--count", 1000)
        stream = rdma.run("rds_exercise", "stream", *ends, "--count", 4000, "--size", 16384)
    results.add("RDS", "round trip of 64 bytes", "µs", rdma.number(trips, r"mean (\d+)"))
    results.add("RDS", "messages of 16 KiB, verified", "MB/s", float(re.search(r"([\d.]+) MB/s", stream)[1]))


def measure_tcp(results: Results) -> None:
    with rdma.background("iperf3", "-s", "-1", "-B", wire.SERVER) as server:
        rdma.until(lambda: rdma.listens(5201), "iperf3 listens")
        report = json.loads(rdma.run("iperf3", "-J", "-t", results.seconds, "-B", wire.CLIENT, "-c", wire.SERVER))
        rdma.finish(server)
    results.add("IPoIB", "TCP", "MB/s", report["end"]["sum_received"]["bits_per_second"] / 8e6)


def attempt(name: str, measure: Callable[[], None], failures: list[str]) -> None:
    try:
        measure()
    except (AssertionError, OSError) as error:
        failures.append(f"{name}: {error}")


def measure_all(results: Results) -> list[str]:
    failures: list[str] = []
    for protocol, place in {"NVMe-oF": nvme_disk, "iSER": iser_disk, "SRP": srp_disk, "NFS": nfs_file}.items():
        def measure(protocol: str = protocol, place: Callable = place) -> None:
            with place() as path:
                measure_disk(results, protocol, path)
        attempt(protocol, measure, failures)
    attempt("RDS", lambda: measure_rds(results), failures)
    if not wire.RXE:
        attempt("IPoIB", lambda: measure_tcp(results), failures)
    return failures


def main() -> int:
    output, name, seconds = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    wire.ends()
    results = Results(seconds)
    failures = measure_all(results)
    so_far = json.loads(output.read_text()) if output.exists() else {}
    output.write_text(json.dumps({**so_far, name: [*so_far.get(name, []), results.rows]}, indent=1))
    for failure in failures:
        print(f"FAILED: {failure}", file=sys.stderr)
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
