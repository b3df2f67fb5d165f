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

GET_CONTEXT, ALLOC_PD, REG_MR, REREG_MR, ALLOC_MW, CREATE_CQ, RESIZE_CQ = 0, 3, 9, 11, 14, 18, 19
CREATE_QP, MODIFY_QP, CREATE_SRQ, MODIFY_SRQ, OPEN_XRCD, CREATE_XSRQ = 24, 26, 32, 33, 37, 39
IOCTL_CMD = 0xC0181B01
DEVICE_OBJECT, DEVICE_GET_CONTEXT = 0, 3
UAR_OBJECT, UAR_ALLOC = 0x1008, 0x1000
DRIVER_INPUT, DRIVER_OUTPUT = 0x1000, 0x1001
DRIVER_MLX5 = 1
RC, XRC_INI, XRC_TGT = 2, 9, 10
SRQ_XRC = 1
MW_TYPE_1, MW_TYPE_2 = 1, 2
REREG_TRANS, REREG_PD, REREG_ACCESS = 1, 2, 4
CLOCK_PAGE, CLOCK_INFO_PAGE = 5 << 8, 7 << 8
QP_UAR_PAGE_INDEX, CQ_UAR_PAGE_INDEX = 1 << 10, 1 << 1


def pack(layout: str, *values: int) -> bytes:
    """As struct.pack, but numbers that are too large for their field are cut."""
    kinds = [kind for kind in layout.lstrip("<") if kind.isalpha() and kind != "x"]
    cut = (value if value < 0 else value & ((1 << 8 * struct.calcsize(kind)) - 1) for kind, value in zip(kinds, values))
    return struct.pack(layout, *cut)


class Memory:
    """Anonymous memory with an address."""

    def __init__(self, size: int) -> None:
        self.map = mmap.mmap(-1, size)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.map))


def uverbs_node(name: str) -> str:
    """The character device of an RDMA device."""
    (node,) = [path.name for path in pathlib.Path(f"/sys/class/infiniband/{name}/device/infiniband_verbs").iterdir()]
    return f"/dev/infiniband/{node}"


class Device:
    """An open device with a context, a protection domain and a page of doorbells."""

    def __init__(self, name: str) -> None:
        self.file = os.open(uverbs_node(name), os.O_RDWR | os.O_CLOEXEC)
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

    def ioctl(self, kind: int, method: int, *attributes: tuple[int, int, int]) -> None:
        """Calls a method; an attribute is its number, its size, and its value or address."""
        body = b"".join(struct.pack("<HHHHQ", number, size, 1, 0, data) for number, size, data in attributes)
        header = struct.pack("<HHHHQII", 24 + len(body), kind, method, len(attributes), 0, DRIVER_MLX5, 0)
        fcntl.ioctl(self.file, IOCTL_CMD, bytearray(header + body), True)

    def open_context_by_ioctl(self, driver: bytes) -> None:
        request, response = ctypes.create_string_buffer(driver), ctypes.create_string_buffer(72)
        self.ioctl(DEVICE_OBJECT, DEVICE_GET_CONTEXT, (DRIVER_INPUT, len(driver), ctypes.addressof(request)),
                   (DRIVER_OUTPUT, 72, ctypes.addressof(response)))

    def make_basics(self) -> None:
        self.open_context()
        (self.pd,) = struct.unpack("<I", self.command(ALLOC_PD, b"", 8)[:4])
        self.uar = self.allocate_uar(1)

    def allocate_uar(self, kind: int) -> int:
        page, length, offset = ctypes.c_uint32(), ctypes.c_uint32(), ctypes.c_uint64()
        self.ioctl(
            UAR_OBJECT, UAR_ALLOC,
            (0x1000, 0, 0),
            (0x1001, 8, kind),
            (0x1002, 8, ctypes.addressof(offset)),
            (0x1003, 4, ctypes.addressof(length)),
            (0x1004, 4, ctypes.addressof(page)),
        )
        return page.value

    def create_cq(self, **changes: int) -> int:
        """A completion queue of 63 entries; each field of the request can be changed."""
        fields = {"cqe": 63, "vector": 0, "channel": -1, "reserved": 0, "buffer": self.queue.address,
                  "record": self.record.address, "cqe_size": 64, "compress": 0, "format": 0,
                  "flags": CQ_UAR_PAGE_INDEX, "uar": self.uar, "reserved0": 0, "reserved1": 0} | changes
        request = pack("<QIIiIQQIBBHHHI", 0, *fields.values())
        return struct.unpack("<I", self.command(CREATE_CQ, request, 16)[:4])[0]

    def create_qp(self, cq: int, **changes: int) -> int:
        """A queue pair for connections; each field of the request can be changed."""
        fields = {"pd": self.pd, "send_cq": cq, "recv_cq": cq, "srq": 0, "max_send_wr": 4, "max_recv_wr": 4,
                  "max_send_sge": 1, "max_recv_sge": 1, "max_inline": 0, "signal_all": 0, "type": RC, "is_srq": 0,
                  "reserved": 0, "buffer": self.queue.address + 65536, "record": self.record.address + 64,
                  "sq_count": 16, "rq_count": 4, "rq_shift": 4, "flags": QP_UAR_PAGE_INDEX, "uidx": 1,
                  "bfreg": self.uar, "access_key": 0, "ece": 0} | changes
        request = pack("<QIIIIIIIIIBBBBQQIIIIIIQI4x", 0, *fields.values())
        return struct.unpack("<I", self.command(CREATE_QP, request, 32 + 32)[:4])[0]

    def register(self, start: int, length: int, address: int, access: int) -> int:
        request = pack("<QQQII", start, length, address, self.pd, access)
        return struct.unpack("<I", self.command(REG_MR, request, 12)[:4])[0]

    def reregister(self, region: int, flags: int, **changes: int) -> int:
        """Registers a region again; each field of the request can be changed."""
        fields = {"start": self.queue.address, "length": 8192, "address": self.queue.address, "pd": self.pd,
                  "access": 1} | changes
        request = pack("<IIQQQII", region, flags, *fields.values())
        return struct.unpack("<I", self.command(REREG_MR, request, 8)[:4])[0]

    def create_mw(self, kind: int, **changes: int) -> int:
        fields = {"pd": self.pd, "kind": kind, "comp_mask": 0, "pieces": 0, "reserved1": 0, "reserved2": 0} | changes
        request = pack("<IB3xIBBH", *fields.values())
        return struct.unpack("<I", self.command(ALLOC_MW, request, 8)[:4])[0]

    def resize_cq(self, cq: int, **changes: int) -> int:
        """Resizes a completion queue to 127 entries; each field of the request can be changed."""
        fields = {"cq": cq, "cqe": 127, "buffer": self.queue.address + 16384, "cqe_size": 64, "reserved0": 0,
                  "reserved1": 0} | changes
        request = pack("<IIQHHI", *fields.values())
        return struct.unpack("<I", self.command(RESIZE_CQ, request, 8)[:4])[0]

    def _shared_queue(self, changes: dict[str, int]) -> dict[str, int]:
        return {"max_wr": 15, "max_sge": 1, "limit": 0, "buffer": self.queue.address + 131072,
                "record": self.record.address + 128, "flags": 0, "reserved0": 0, "uidx": 1, "reserved1": 0} | changes

    def create_srq(self, **changes: int) -> int:
        """A shared receive queue of 15 requests; each field of the request can be changed."""
        fields = {"pd": self.pd} | self._shared_queue(changes)
        request = pack("<QIIIIQQIIII", 0, *fields.values())
        return struct.unpack("<I", self.command(CREATE_SRQ, request, 16 + 8)[:4])[0]

    def modify_srq(self, srq: int, mask: int, max_wr: int, limit: int) -> None:
        body = pack("<IIII", srq, mask, max_wr, limit)
        os.write(self.file, struct.pack("<IHH", MODIFY_SRQ, (8 + len(body)) // 4, 0) + body)

    def open_xrcd(self) -> int:
        request = pack("<iI", -1, os.O_CREAT)
        return struct.unpack("<I", self.command(OPEN_XRCD, request, 4))[0]

    def create_xrc_srq(self, cq: int, xrcd: int, **changes: int) -> int:
        """A shared receive queue of an XRC domain; each field of the request can be changed."""
        kind = changes.pop("type", SRQ_XRC)
        fields = self._shared_queue(changes)
        sizes = [fields.pop(name) for name in ("max_wr", "max_sge", "limit")]
        request = pack("<QIIIIIIII", 0, kind, self.pd, *sizes, 0, xrcd, cq) + \
            pack("<QQIIII", *fields.values())
        return struct.unpack("<I", self.command(CREATE_XSRQ, request, 16 + 8)[:4])[0]

    def map(self, offset: int, protection: int = mmap.PROT_READ, pages: int = 1) -> mmap.mmap:
        """Maps pages of the device by their page offset."""
        return mmap.mmap(self.file, pages * mmap.PAGESIZE, mmap.MAP_SHARED, protection, offset=offset * mmap.PAGESIZE)
