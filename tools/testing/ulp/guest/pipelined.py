# SPDX-License-Identifier: GPL-2.0-or-later
"""An NVMe target that posts data and response together, and disks with bad blocks."""

import contextlib
import json
import os
import pathlib
from collections.abc import Iterator

import disks
import nvme
import rdma
import wire

KERNEL = os.environ["LAB_KERNEL"]
MODULE = f"/repo/build/ulp/pipelined_nvmet-{KERNEL}/nvmet-rdma.ko"
BAD_BLOCKS = f"/repo/build/ulp/bad_blocks-{KERNEL}/bad_blocks.ko"
# With the in-tree driver the target finds no signature pipelining and works as the unchanged target.
HAS_PIPELINING = os.environ.get("ULP_DRIVER") == "cxib"
CXIB = f"/repo/build/modules-{KERNEL}/cxib.ko"  # for a guest of the in-tree driver
SWITCH = pathlib.Path("/sys/kernel/debug/cxib/signature_pipelining")
MEGABYTES = 32
BLOCK = 512
# Name that the tool rdma prints for IB_POLL_WORKQUEUE, as it uses the numbers of Linux before 5.8. No other CQ of the
# device has this context: the RDMA core polls its own CQs in other contexts.
POLLED_BY_TARGET = "SOFTIRQ"
COUNTERS = tuple(f"drv_signature_{name}" for name in ("stops", "cancelled", "spurious_events"))


@contextlib.contextmanager
def target(*options: str) -> Iterator[None]:
    """Exports a disk with protection information through the changed module. The options are for the disk."""
    with disks.appearing("sd*") as found:
        rdma.run("modprobe", "sd_mod")
        rdma.run("modprobe", "scsi_debug", f"dev_size_mb={MEGABYTES}", "dif=1", "dix=1", "guard=0", "delay=0",
                 *options)
    try:
        rdma.run("modprobe", "-a", "nvmet", "rdma_cm")
        rdma.run("insmod", MODULE)
        with nvme.target(found[0], protected=True):
            yield
    finally:
        disks.unload("scsi_debug")


@contextlib.contextmanager
def bad_blocks(*blocks: int) -> Iterator[None]:
    """Makes these blocks of the disk bad inside the context."""
    rdma.run("insmod", BAD_BLOCKS, f"blocks={','.join(str(block) for block in blocks)}")
    try:
        yield
    finally:
        rdma.run("rmmod", "bad_blocks")


def bad_reads() -> int:
    """Number of bad blocks that the target has read."""
    return int(pathlib.Path("/sys/module/bad_blocks/parameters/reads").read_text())


@contextlib.contextmanager
def switched_off() -> Iterator[None]:
    """Connections made inside the context have no signature pipelining: cxib's switch is off, or the device is not
    cxib's."""
    if not HAS_PIPELINING:
        rdma.run("insmod", CXIB)
        try:
            yield
        finally:
            rdma.run("rmmod", "cxib")
        return
    SWITCH.write_text("N")
    try:
        yield
    finally:
        SWITCH.write_text("Y")


def _resources(kind: str) -> list[dict]:
    """Resources of the target's HCA, with the driver's details."""
    entries = json.loads(rdma.run("rdma", "-j", "-dd", "resource", "show", kind))
    return [entry for entry in entries if entry["ifname"] == wire.ends()[0].device]


def _queue_pairs() -> list[dict]:
    """The target's QPs that have signature pipelining."""
    return [entry for entry in _resources("qp") if COUNTERS[0] in entry]


def counters() -> dict[int, tuple[int, ...]]:
    """For each of the target's QPs with signature pipelining: stops, cancelled responses, unexplained events."""
    return {entry["lqpn"]: tuple(entry[name] for name in COUNTERS) for entry in _queue_pairs()}


def completions() -> int:
    """Number of CQEs that the target has polled, read when it has no outstanding WR."""
    rdma.until(lambda: all(entry["drv_send_produced"] == entry["drv_send_consumed"]
                           for entry in _resources("qp") if entry["type"] == "RC"), "all responses of the target have completed")
    return sum(entry["drv_consumer"] for entry in _resources("cq") if entry["poll-ctx"] == POLLED_BY_TARGET)
