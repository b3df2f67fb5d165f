# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests iSER with T10 protection information, which the HCAs insert, strip and check.

The initiator's kernel guards blocks with IP checksums, and its HCA converts them to CRCs. So the target cannot detect a
block that was bad before the conversion. The initiator detects and reports it, but the block is written.
"""

import contextlib
from collections.abc import Iterator

import disks
import iser
import peer
import protection
import rdma
from machines import EVERY_PROTOCOL, STOCK

GUESTS = [STOCK, *EVERY_PROTOCOL]


def serve() -> contextlib.AbstractContextManager:
    return iser.protected_target()


def unload() -> None:
    # After such errors the kernel's target stays in use (with mlx5_ib too), because one of its sessions does not end.
    disks.unload("ib_iser")


class Disk(protection.Protected):
    ERROR = "Logical block guard check failed"

    @contextlib.contextmanager
    def connection(self) -> Iterator[str]:
        rdma.run("modprobe", "ib_iser", "pi_enable=1")
        with iser.connection() as (disk,):
            yield disk

    def test_bad_read_block_reported_to_reader(self) -> None:
        good = b"y" * protection.SIZE
        with self.connection() as disk:
            protection.write(disk, good)
            with peer.holding(protection.corruption, protection.TARGET):
                self.assert_fails(protection.read, disk, said=self.ERROR)
            self.assertEqual(protection.read(disk), good)
