# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests NVMe over Fabrics: a host reads what it has written over the wire to the target's disk."""

import contextlib

import disks
import nvme
import peer
import rdma
import ulp
import wire
from machines import EVERY_PROTOCOL, LOSS_ALL, POLLING, RXE, STOCK

GUESTS = [STOCK.with_tests("Disk.test_blocks_of_all_sizes_verified", "Disk.test_several_queues_verified",
                           "Disk.test_file_system_keeps_files", "SharedReceives"),
          *EVERY_PROTOCOL, RXE, LOSS_ALL, *POLLING]


def serve() -> contextlib.AbstractContextManager:
    return nvme.target(disks.in_memory(0))


def unload() -> None:
    disks.unload("nvme_rdma", "nvmet_rdma", "nvme_fabrics", "nvmet")


def shared_receive_queues() -> str:
    return rdma.run("rdma", "resource", "show", "srq", "dev", wire.ends()[0].device)


class Disk(ulp.Protocol):
    def test_blocks_of_all_sizes_verified(self) -> None:
        with nvme.connection() as disk:
            for block in ("512", "4k", "64k", "256k", "1m"):
                with self.subTest(block):
                    disks.verify(disk, block)

    def test_several_queues_verified(self) -> None:
        for queues in (1, 4 if ulp.WHOLE else 2):
            with self.subTest(queues), nvme.connection(queues) as disk:
                disks.fio(disk, "--rw=randwrite", "--bs=16k", "--iodepth=8", "--numjobs=4", "--offset_increment=4m",
                          "--verify=crc32c", "--verify_fatal=1", "--verify_state_save=0")

    def test_file_system_keeps_files(self) -> None:
        with nvme.connection() as disk, disks.mounted(disk, "/mnt/nvme") as files:
            written = files.write_files(20, 1 << 18)
            self.assertEqual(files.digests(), written)

    def test_successive_connections_verified(self) -> None:
        for _ in range(20 if ulp.WHOLE else 3):
            with nvme.connection() as disk:
                disks.verify(disk, "4k", size="64k")


class SharedReceives(ulp.Protocol):
    """The target's connections share an SRQ."""

    @classmethod
    def setUpClass(cls) -> None:
        peer.call(unload)
        peer.call(rdma.run, "modprobe", "nvmet_rdma", "use_srq=1")
        super().setUpClass()

    def test_several_queues_verified(self) -> None:
        with nvme.connection(2) as disk:
            self.assertIn("nvmet", peer.call(shared_receive_queues))
            for block in ("4k", "64k"):
                disks.verify(disk, block)
