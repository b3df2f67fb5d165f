# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests 9P over RDMA: client and server read the files that the client has written."""

import contextlib
import pathlib

import disks
import p9
import peer
import ulp
from machines import EVERY_PROTOCOL, RXE, STOCK

GUESTS = [STOCK.with_tests("Files.test_files_of_many_lengths_verified"), *EVERY_PROTOCOL, RXE]


def serve() -> contextlib.AbstractContextManager:
    return contextlib.nullcontext()


def unload() -> None:
    disks.unload("9pnet_rdma")


class Files(ulp.Protocol):
    def setUp(self) -> None:
        self.enterContext(peer.holding(p9.server))
        self.files = self.enterContext(p9.mounted())

    def test_files_of_many_lengths_verified(self) -> None:
        written = self.files.write_files(20, 1 << 18)
        self.assertEqual(self.files.digests(), written)
        self.assertEqual(peer.call(disks.FileSystem(pathlib.Path(p9.SERVED)).digests), written)

    def test_random_writes_verified(self) -> None:
        for block in ("4k", "64k", "1m"):
            with self.subTest(block):
                disks.verify(str(self.files.directory / "random"), block, size="1m")
