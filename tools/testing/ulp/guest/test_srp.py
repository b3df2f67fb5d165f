# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests SRP over both connection managers: an initiator reads what it has written over the wire to the target's
disk."""

import contextlib

import disks
import rdma
import srp
import ulp
import wire
from machines import EVERY_PROTOCOL, LOSS, LOSS_ALL, POLLING, RXE

GUESTS = [LOSS.with_tests("Disk.test_file_system_keeps_files"), *EVERY_PROTOCOL, RXE, LOSS_ALL, *POLLING]


def serve() -> contextlib.AbstractContextManager:
    return srp.target(disks.in_memory(2), wire.client_guid())


def unload() -> None:
    disks.unload("ib_srp", "ib_srpt")


class Disk(ulp.Protocol):
    """In an InfiniBand fabric, the initiator discovers the target's identifiers."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        if wire.RXE:
            cls.target_gid, cls.target_guid = "", srp.service_guid()
            return
        cls.target_gid, line = next(iter(srp.discover().items()))
        cls.target_guid = line.split("ioc_guid=")[1].split(",")[0]

    @ulp.IB_ONLY
    def test_target_found_in_fabric(self) -> None:
        self.assertIn(self.target_gid[16:], rdma.saquery("NodeRecord").replace("0x", ""))

    @ulp.IB_ONLY
    def test_blocks_over_native_cm_verified(self) -> None:
        with srp.native_connection(self.target_gid) as disk:
            for block in ("4k", "64k", "256k", "1m"):
                with self.subTest(block):
                    disks.verify(disk, block)

    def test_blocks_over_rdma_cm_verified(self) -> None:
        with srp.ip_connection(self.target_guid) as disk:
            for block in ("4k", "64k", "256k", "1m"):
                with self.subTest(block):
                    disks.verify(disk, block)

    def test_file_system_keeps_files(self) -> None:
        with srp.connection(self.target_gid) as disk, disks.mounted(disk, "/mnt/srp") as files:
            written = files.write_files(20, 1 << 18)
            self.assertEqual(files.digests(), written)
