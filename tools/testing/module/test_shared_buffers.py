# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests dma-buf buffers as RDMA memory. Their pages belong to a process."""

import fcntl
import mmap
import os
import pathlib
import random
import struct
import unittest

import module_machines as machines
import rdma
import verbs
from pyverbs import enums
from pyverbs.mr import DmaBufMR
from pyverbs.pyverbs_error import PyverbsRDMAError
from test_user_space import ProgramTest

GUESTS = [machines.USER_SPACE, machines.USER_SPACE_DEBUG]
MAKER = pathlib.Path("/dev/udmabuf")
CREATE = 0x40187542  # UDMABUF_CREATE of linux/udmabuf.h
SIZE, OFFSET, LENGTH = 1 << 20, 0x3040, 0x54321


@unittest.skipUnless(MAKER.exists(), "this kernel makes no such buffers of a program's pages (CONFIG_UDMABUF)")
class SharedBuffers(ProgramTest):
    def setUp(self) -> None:
        super().setUp()
        self.memory = os.memfd_create("shared", os.MFD_ALLOW_SEALING)
        self.addCleanup(os.close, self.memory)
        os.ftruncate(self.memory, SIZE)
        fcntl.fcntl(self.memory, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
        self.view = mmap.mmap(self.memory, SIZE)
        self.addCleanup(self.view.close)
        with MAKER.open("rb") as maker:
            self.buffer = fcntl.ioctl(maker, CREATE, bytearray(struct.pack("<IIQQ", self.memory, 0, 0, SIZE)))
        self.addCleanup(os.close, self.buffer)
        self.near, self.far = verbs.connect("rc", *rdma.ports()[:2])
        self.addCleanup(self.far.close)
        self.addCleanup(self.near.close)

    def region(self, offset: int = OFFSET, length: int = LENGTH, access: int = verbs.ALL_ACCESS,
               buffer: int | None = None) -> DmaBufMR:
        region = DmaBufMR(self.far.domain, length, access, self.buffer if buffer is None else buffer, offset=offset)
        self.addCleanup(region.close)
        return region

    def carry_out(self, opcode: int, region: DmaBufMR) -> None:
        request = self.near.request(opcode, self.near.bulk, LENGTH)
        request.set_wr_rdma(region.rkey, OFFSET)
        self.near.post(request, self.far)
        verbs.await_completions(self.near, 1)

    def test_writes_and_reads_reach_buffer(self) -> None:
        region = self.region()
        before = bytes(self.view)
        written, read = random.randbytes(LENGTH), random.randbytes(LENGTH)
        self.near.memory.write(written, LENGTH, self.near.bulk)
        self.carry_out(enums.IBV_WR_RDMA_WRITE, region)
        self.assertEqual(bytes(self.view), before[:OFFSET] + written + before[OFFSET + LENGTH:])
        self.view[OFFSET:OFFSET + LENGTH] = read
        self.carry_out(enums.IBV_WR_RDMA_READ, region)
        self.assertEqual(self.near.memory.read(LENGTH, self.near.bulk), read)

    def test_invalid_input_refused(self) -> None:
        for changes in ({"length": SIZE}, {"offset": SIZE}, {"offset": 1 << 62}, {"buffer": self.memory},
                        {"buffer": -1}, {"access": enums.IBV_ACCESS_REMOTE_WRITE}):
            with self.subTest(changes=changes), self.assertRaises(PyverbsRDMAError):
                self.region(**changes)
        with self.assertRaises(PyverbsRDMAError):
            self.region().rereg(enums.IBV_REREG_MR_CHANGE_ACCESS, access=enums.IBV_ACCESS_LOCAL_WRITE)
