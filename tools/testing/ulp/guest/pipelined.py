# SPDX-License-Identifier: GPL-2.0-or-later
"""An NVMe target that posts data and response together, and disks whose blocks are bad."""

import contextlib
import json
import os
import pathlib
from collections.abc import Iterator

import disks
import nvme
import rdma
import wire

MODULE = os.environ.get("ULP_PIPELINED_NVMET", "nvmet-rdma.ko")
BAD_BLOCKS = os.environ.get("ULP_BAD_BLOCKS", "bad_blocks.ko")
# Without it the kernel's own driver has the HCAs: the target finds nothing, and works as before.
HAS_PIPELINING = os.environ.get("ULP_DRIVER") == "cxib"
CXIB = os.environ.get("ULP_CXIB", "")  # the module, for the other driver's guest
SWITCH = pathlib.Path("/sys/kernel/debug/cxib/signature_pipelining")
MEGABYTES = 32
BLOCK = 512
# What rdma calls IB_POLL_WORKQUEUE, by the numbers of Linux before 5.8. No other CQ of the device has it: those of the RDMA
# core are polled in other contexts.
POLLED_BY_TARGET = "SOFTIRQ"
COUNTERS = tuple(f"drv_signature_{name}" for name in ("stops", "cancelled", "spurious_events"))


@contextlib.contextmanager
def target(*options: str) -> Iterator[None]:
    """A disk with protection information, served by the changed module; options are for the disk."""
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
    """Some blocks of the disk are bad meanwhile."""
    rdma.run("insmod", BAD_BLOCKS, f"blocks={','.join(str(block) for block in blocks)}")
    try:
        yield
    finally:
        rdma.run("rmmod", "bad_blocks")


def bad_reads() -> int:
    """How often the target has read one of the bad blocks."""
    return int(pathlib.Path("/sys/module/bad_blocks/parameters/reads").read_text())


@contextlib.contextmanager
def switched_off() -> Iterator[None]:
    """Targets find no signature pipelining when a connection is made meanwhile: by cxib's switch, or on a device that
    is not cxib's."""
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
    """Of the target's HCA, with what its driver says."""
    entries = json.loads(rdma.run("rdma", "-j", "-dd", "resource", "show", kind))
    return [entry for entry in entries if entry["ifname"] == wire.ends()[0].device]


def _queue_pairs() -> list[dict]:
    """Those of the target that have signature pipelining."""
    return [entry for entry in _resources("qp") if COUNTERS[0] in entry]


def counters() -> dict[int, tuple[int, ...]]:
    """Of the target's QPs with signature pipelining, by number: stops, cancelled responses, unexplained events."""
    return {entry["lqpn"]: tuple(entry[name] for name in COUNTERS) for entry in _queue_pairs()}


def completions() -> int:
    """How many CQEs the target has polled; counted when none of its WRs is outstanding."""
    rdma.until(lambda: all(entry["drv_send_produced"] == entry["drv_send_consumed"]
                           for entry in _resources("qp") if entry["type"] == "RC"), "all responses of the target have completed")
    return sum(entry["drv_consumer"] for entry in _resources("cq") if entry["poll-ctx"] == POLLED_BY_TARGET)
