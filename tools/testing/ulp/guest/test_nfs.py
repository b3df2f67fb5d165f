# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests NFS over RDMA: client and server read the files that the client has written."""

import contextlib
import pathlib

import disks
import nfs
import peer
import rdma
import ulp
from machines import EVERY_PROTOCOL, LOSS_ALL, POLLING, RXE, STOCK

GUESTS = [STOCK.with_tests("Files.test_mount_uses_rdma", "Files.test_server_files_match_client_writes",
                           "Files.test_random_writes_verified"),
          *EVERY_PROTOCOL, RXE, LOSS_ALL, *POLLING]


def serve() -> contextlib.AbstractContextManager:
    return nfs.server(disks.in_memory(3))


def unload() -> None:
    disks.unload("rpcrdma")


class Files(ulp.Protocol):
    def setUp(self) -> None:
        self.files = self.enterContext(nfs.mounted())

    def test_mount_uses_rdma(self) -> None:
        self.assertIn("proto=rdma", pathlib.Path("/proc/mounts").read_text())

    def test_files_of_many_lengths_verified(self) -> None:
        written = self.files.write_files(20, 1 << 19)
        self.assertEqual(self.files.digests(), written)

    def test_server_files_match_client_writes(self) -> None:
        written = self.files.write_files(5, 1 << 20, seed=2)
        rdma.run("sync", "-f", self.files.directory)
        served = peer.call(disks.FileSystem(pathlib.Path(nfs.EXPORTED)).digests)
        self.assertEqual({name: served[name] for name in written}, written)

    def test_random_writes_verified(self) -> None:
        for block in ("4k", "64k", "1m"):
            with self.subTest(block):
                disks.verify(str(self.files.directory / "random"), block)
