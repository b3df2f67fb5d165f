# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests iSER: an initiator reads what it has written over the wire to the target's disk."""

import contextlib

import disks
import iser
import ulp
from machines import EVERY_PROTOCOL, LOSS, LOSS_ALL, POLLING, RXE, STOCK

GUESTS = [STOCK.with_tests("Disk.test_several_sessions_verified", "Disk.test_file_system_keeps_files"),
          LOSS.with_tests("Disk.test_file_system_keeps_files"), *EVERY_PROTOCOL, RXE, LOSS_ALL, *POLLING]


def serve() -> contextlib.AbstractContextManager:
    return iser.target(disks.in_memory(1))


def unload() -> None:
    disks.unload("ib_iser", "ib_isert", "iscsi_target_mod")


class Disk(ulp.Protocol):
    def test_blocks_of_all_sizes_verified(self) -> None:
        with iser.connection() as (disk,):
            for block in ("4k", "64k", "256k", "1m"):
                with self.subTest(block):
                    disks.verify(disk, block)

    def test_several_sessions_verified(self) -> None:
        with iser.connection(sessions=3) as found:
            for disk in found:
                disks.verify(disk, "16k", size="1m")

    def test_file_system_keeps_files(self) -> None:
        with iser.connection() as (disk,), disks.mounted(disk, "/mnt/iser") as files:
            written = files.write_files(20, 1 << 18)
            self.assertEqual(files.digests(), written)
