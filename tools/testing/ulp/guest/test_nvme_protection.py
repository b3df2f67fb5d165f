# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests NVMe over Fabrics with metadata: protection information that the HCAs insert, strip and check."""

import contextlib
import os
import unittest
from collections.abc import Iterator

import disks
import nvme
import protection
import rdma
from machines import EVERY_PROTOCOL, STOCK

GUESTS = [STOCK, *EVERY_PROTOCOL]
MEGABYTES = 32


@contextlib.contextmanager
def serve() -> Iterator[None]:
    with disks.appearing("sd*") as found:
        rdma.run("modprobe", "sd_mod")
        rdma.run("modprobe", "scsi_debug", f"dev_size_mb={MEGABYTES}", "dif=1", "dix=1", "guard=0")
    try:
        with nvme.target(found[0], protected=True):
            yield
    finally:
        disks.unload("scsi_debug")


def unload() -> None:
    disks.unload("nvme_rdma", "nvmet_rdma", "nvme_fabrics", "nvmet")


@unittest.skipIf(os.environ["LAB_KERNEL"] == "backports", "this kernel would crash (Documentation/ulps.rst)")
class Disk(protection.Protected):
    ERROR = "sct 0x2 / sc 0x82"  # guard check (NVM Express NVM Command Set Specification, 3.1)

    def assert_not_written(self, disk: str, before: bytes) -> None:
        self.assertEqual(protection.read(disk), before)

    def connection(self) -> contextlib.AbstractContextManager[str]:
        return nvme.connection(2, nvme.PATIENT)
