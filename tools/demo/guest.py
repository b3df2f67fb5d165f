#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the demonstration in the guest and prints a table of what ran, how much it transferred and how fast."""

import contextlib
import dataclasses
import json
import sys
import time
from collections.abc import Callable

import disks
import iser
import nfs
import nvme
import rdma
import rds
import srp
import wire

MEGABYTE = 1_000_000
FILES, FILE_SIZE = 40, 1 << 19


@dataclasses.dataclass(frozen=True)
class Row:
    what: str
    moved: str
    speed: str
    verdict: str


def say(text: str) -> None:
    print(f"\n== {text}", flush=True)


def show(text: str) -> None:
    print("\n".join(f"   {line}" for line in text.strip().splitlines()), flush=True)


def describe_fabric() -> Row:
    say("The fabric as the subnet manager has set it up (ibnetdiscover)")
    show(rdma.run("ibnetdiscover", *rdma.MAD_TIMEOUT))
    say("The devices (rdma link, ibv_devinfo)")
    show(rdma.run("rdma", "link"))
    show("\n".join(line for line in rdma.run("ibv_devinfo").splitlines() if any(
        word in line for word in ("hca_id", "fw_ver", "node_guid", "state", "active_mtu", "port_lid"))))
    active = sum(port.state == "ACTIVE" for port in rdma.ports())
    return Row("OpenSM", f"{len(rdma.ports())} HCAs, 1 switch", "", f"{active} ports active")


def last_columns(output: str) -> list[float]:
    """The last row of perftest's table."""
    return [float(column) for column in rdma.perftest_rows(output)[-1]]


def run_verbs() -> list[Row]:
    say("Verbs from user space, with an unmodified rdma-core (perftest, ibv_rc_pingpong)")
    source, target = rdma.ports()[:2]
    rows = []
    for name, program, size, count in (("RDMA write", "ib_write_bw", 65536, 500), ("RDMA read", "ib_read_bw", 65536, 500),
                                       ("send", "ib_send_bw", 65536, 500)):
        _, output = rdma.exchange([program, "-F", "-s", size, "-n", count], source, target)
        speed = last_columns(output)[3] * (1 << 20) / MEGABYTE
        rows.append(Row(f"verbs: {name}", f"{size * count / MEGABYTE:.0f} MB", f"{speed:.0f} MB/s", "complete"))
        show(f"{program}: {speed:.0f} MB/s")
    for name, program in (("latency of a send", "ib_send_lat"), ("latency of an atomic", "ib_atomic_lat")):
        size = [] if "atomic" in program else ["-s", 64]
        _, output = rdma.exchange([program, "-F", "-n", 500, *size], source, target)
        median = last_columns(output)[4]
        rows.append(Row(f"verbs: {name}", "500 messages", f"{median:.0f} µs", "complete"))
        show(f"{program}: {median:.0f} µs")
    _, output = rdma.exchange(["ibv_rc_pingpong", "-c", "-n", 500], source, target)
    show(output)
    rows.append(Row("verbs: ping-pong", "500 messages", "", "data right" if "invalid" not in output else "WRONG DATA"))
    return rows


def run_ip() -> Row:
    say("IP over InfiniBand (ping, iperf3)")
    show(rdma.run("ping", "-n", "-c", 3, "-i", "0.2", "-I", wire.CLIENT, wire.SERVER))
    with rdma.background("iperf3", "-s", "-1", "-B", wire.SERVER) as server:
        rdma.until(lambda: rdma.listens(5201), "iperf3 listens")
        report = json.loads(rdma.run("iperf3", "-J", "-t", 3, "-B", wire.CLIENT, "-c", wire.SERVER))
        rdma.finish(server)
    received = report["end"]["sum_received"]
    return Row("IPoIB: TCP", f"{received['bytes'] / MEGABYTE:.0f} MB", f"{received['bits_per_second'] / 8e6:.0f} MB/s",
               "complete")


def try_files(name: str, files: disks.FileSystem) -> Row:
    began = time.monotonic()
    written = files.write_files(FILES, FILE_SIZE)
    right = files.digests() == written
    took = time.monotonic() - began
    moved = 2 * sum(path.stat().st_size for path in files.directory.glob("file*")) / MEGABYTE
    show(f"{FILES} files written, read from the disk again, {'the same' if right else 'DIFFERENT'}")
    return Row(name, f"{moved:.0f} MB", f"{moved / took:.0f} MB/s", "files right" if right else "FILES WRONG")


def try_disk(name: str, disk: str) -> list[Row]:
    """Writes random blocks and compares what it reads, then tests a file system."""
    began = time.monotonic()
    disks.verify(disk, "64k", size="16m")
    took = time.monotonic() - began
    show(f"{disk}: 16 MiB in random order written, read and compared (fio)")
    rows = [Row(f"{name}: blocks", "34 MB", f"{34 / took:.0f} MB/s", "verified")]
    with disks.mounted(disk, f"/mnt/{name.lower()}") as files:
        rows.append(try_files(f"{name}: ext4", files))
    return rows


def run_nvme() -> list[Row]:
    say("NVMe over Fabrics: the kernel's target and host")
    with nvme.target(disks.in_memory(0)), nvme.connection() as disk:
        show(rdma.run("nvme", "list-subsys"))
        return try_disk("NVMe-oF", disk)


def run_iser() -> list[Row]:
    say("iSER: the kernel's SCSI target, open-iscsi")
    with iser.target(disks.in_memory(1)), iser.connection() as (disk,):
        show(rdma.run("lsscsi"))
        return try_disk("iSER", disk)


def run_srp() -> list[Row]:
    say("SRP: the kernel's SCSI target, found in the fabric by srp_daemon")
    with srp.target(disks.in_memory(2), wire.client_guid()):
        server = srp.gid(wire.ends()[0].device)
        show(srp.discover()[server])
        with srp.native_connection(server) as disk:
            show(rdma.run("lsscsi"))
            return try_disk("SRP", disk)


def run_nfs() -> list[Row]:
    say("NFS over RDMA: the kernel's server and client")
    with nfs.server(disks.in_memory(3)), nfs.mounted() as files:
        show(next(line for line in rdma.run("mount").splitlines() if "proto=rdma" in line))
        return [try_files("NFS", files)]


def run_rds() -> list[Row]:
    say("Reliable Datagram Sockets")
    rdma.run("modprobe", "rds_rdma")
    ends = ("--local", wire.CLIENT, "--remote", wire.SERVER)
    with rds.exerciser(wire.SERVER):
        rdma.run("rds_exercise", "ping", *ends)  # connects
        trips = rdma.run("rds_exercise", "ping", *ends, "--count", 200)
        stream = rdma.run("rds_exercise", "stream", *ends, "--count", 1000, "--size", 16384)
    show(trips + stream)
    mean = rdma.number(trips, r"mean (\d+)")
    speed = stream.rsplit(",", 1)[1].split()[0]
    return [Row("RDS: round trips", "200 messages", f"{mean} µs", "data right"),
            Row("RDS: stream", "16 MB", f"{float(speed):.0f} MB/s", "data right")]


def print_table(rows: list[Row]) -> None:
    say("What ran, what it moved, how fast (the processors of this guest are emulated, too)")
    lines = [dataclasses.astuple(row) for row in rows]
    widths = [max(len(line[column]) for line in lines) for column in range(4)]
    for what, moved, speed, verdict in lines:
        print(f"   {what:<{widths[0]}}  {moved:>{widths[1]}}  {speed:>{widths[2]}}  {verdict}")


def run_part(part: Callable[[], Row | list[Row]], rows: list[Row]) -> None:
    """Runs a part; a failed part does not stop the other ones."""
    try:
        result = part()
        rows.extend(result if isinstance(result, list) else [result])
    except (AssertionError, OSError) as error:
        show(f"FAILED: {error}")
        rows.append(Row(part.__name__.removeprefix("run_"), "", "", "FAILED"))


def main() -> int:
    rows: list[Row] = []
    run_part(describe_fabric, rows)
    run_part(run_verbs, rows)
    wire.ends()
    for part in (run_ip, run_nvme, run_iser, run_srp, run_nfs, run_rds):
        run_part(part, rows)
    print_table(rows)
    return int(any(word in row.verdict for row in rows for word in ("FAILED", "WRONG")))


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        sys.exit(main())
