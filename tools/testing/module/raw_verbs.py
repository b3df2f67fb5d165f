# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's verbs without a library: requests can say what no library would.

Numbers and layouts are those of rdma/ib_user_verbs.h, rdma/mlx5-abi.h and rdma/rdma_user_ioctl_cmds.h.
"""

import ctypes
import fcntl
import mmap
import os
import pathlib
import struct

GET_CONTEXT, ALLOC_PD, REG_MR, CREATE_CQ, CREATE_QP, MODIFY_QP = 0, 3, 9, 18, 24, 26
IOCTL_CMD = 0xC0181B01
UAR_OBJECT, UAR_ALLOC = 0x1008, 0x1000
DRIVER_MLX5 = 1
RC = 2
QP_UAR_PAGE_INDEX, CQ_UAR_PAGE_INDEX = 1 << 10, 1 << 1


class Memory:
    """Anonymous memory with an address."""

    def __init__(self, size: int) -> None:
        self.map = mmap.mmap(-1, size)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.map))


class Device:
    """An open device with a context, a protection domain and a page of doorbells."""

    def __init__(self, name: str) -> None:
        (node,) = [path.name for path in pathlib.Path(f"/sys/class/infiniband/{name}/device/infiniband_verbs").iterdir()]
        self.file = os.open(f"/dev/infiniband/{node}", os.O_RDWR | os.O_CLOEXEC)
        self.queue = Memory(1 << 20)
        self.record = Memory(4096)

    def close(self) -> None:
        os.close(self.file)

    def command(self, number: int, request: bytes, response_size: int) -> bytes:
        """One write command whose first word is the address of the response."""
        response = ctypes.create_string_buffer(response_size)
        body = struct.pack("<Q", ctypes.addressof(response)) + request
        assert len(body) % 4 == 0 and response_size % 4 == 0
        os.write(self.file, struct.pack("<IHH", number, (8 + len(body)) // 4, response_size // 4) + body)
        return response.raw

    def open_context(self, driver: bytes | None = None) -> None:
        if driver is None:
            driver = struct.pack("<IIIIB3xIQ", 16, 4, 0, 0, 1, 0, 3)
        self.command(GET_CONTEXT, driver, 8 + 72)

    def make_basics(self) -> None:
        self.open_context()
        (self.pd,) = struct.unpack("<I", self.command(ALLOC_PD, b"", 8)[:4])
        self.uar = self.allocate_uar(1)

    def allocate_uar(self, kind: int) -> int:
        page, length, offset = ctypes.c_uint32(), ctypes.c_uint32(), ctypes.c_uint64()
        attributes = [
            (0x1000, 0, 0),
            (0x1001, 8, kind),
            (0x1002, 8, ctypes.addressof(offset)),
            (0x1003, 4, ctypes.addressof(length)),
            (0x1004, 4, ctypes.addressof(page)),
        ]
        body = b"".join(struct.pack("<HHHHQ", number, size, 1, 0, data) for number, size, data in attributes)
        header = struct.pack("<HHHHQII", 24 + len(body), UAR_OBJECT, UAR_ALLOC, len(attributes), 0, DRIVER_MLX5, 0)
        fcntl.ioctl(self.file, IOCTL_CMD, bytearray(header + body), True)
        return page.value

    def create_cq(self, **changes: int) -> int:
        """A completion queue of 63 entries; each field of the request can be changed."""
        fields = {"cqe": 63, "vector": 0, "channel": -1, "reserved": 0, "buffer": self.queue.address,
                  "record": self.record.address, "cqe_size": 64, "compress": 0, "format": 0,
                  "flags": CQ_UAR_PAGE_INDEX, "uar": self.uar, "reserved0": 0, "reserved1": 0} | changes
        request = struct.pack("<QIIiIQQIBBHHHI", 0, *fields.values())
        return struct.unpack("<I", self.command(CREATE_CQ, request, 16)[:4])[0]

    def create_qp(self, cq: int, **changes: int) -> int:
        """A queue pair for connections; each field of the request can be changed."""
        fields = {"pd": self.pd, "send_cq": cq, "recv_cq": cq, "srq": 0, "max_send_wr": 4, "max_recv_wr": 4,
                  "max_send_sge": 1, "max_recv_sge": 1, "max_inline": 0, "signal_all": 0, "type": RC, "is_srq": 0,
                  "reserved": 0, "buffer": self.queue.address + 65536, "record": self.record.address + 64,
                  "sq_count": 16, "rq_count": 4, "rq_shift": 4, "flags": QP_UAR_PAGE_INDEX, "uidx": 1,
                  "bfreg": self.uar, "access_key": 0, "ece": 0} | changes
        request = struct.pack("<QIIIIIIIIIBBBBQQIIIIIIQI4x", 0, *fields.values())
        return struct.unpack("<I", self.command(CREATE_QP, request, 32 + 32)[:4])[0]

    def register(self, start: int, length: int, address: int, access: int) -> int:
        request = struct.pack("<QQQII", start, length, address, self.pd, access)
        return struct.unpack("<I", self.command(REG_MR, request, 12)[:4])[0]
