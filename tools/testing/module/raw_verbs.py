# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's verbs without a library, for requests that no library would send.

Numbers and layouts are those of rdma/ib_user_verbs.h, rdma/mlx5-abi.h and rdma/rdma_user_ioctl_cmds.h.
"""

import ctypes
import fcntl
import mmap
import os
import pathlib
import select
import struct

TELLS_DUMP_FILL_KEY = 1 << 1
GET_CONTEXT, ALLOC_PD, DEALLOC_PD, CREATE_AH, REG_MR, REREG_MR, DEREG_MR, ALLOC_MW = 0, 3, 4, 5, 9, 11, 13, 14
CREATE_CQ, RESIZE_CQ, DESTROY_CQ = 18, 19, 20
CREATE_QP, MODIFY_QP, DESTROY_QP, CREATE_SRQ, MODIFY_SRQ, DESTROY_SRQ = 24, 26, 27, 32, 33, 35
ATTACH_MCAST, DETACH_MCAST = 30, 31
OPEN_XRCD, CREATE_XSRQ = 37, 39
EXTENDED = 1 << 31
XRC_REGISTRATION = 0x100B
XRC_FIND, XRC_REGISTER, XRC_UNREGISTER = 0x1005, 0x1006, 0x1007
XRC_HANDLE, XRC_DOMAIN, XRC_QPN, XRC_RESP_HANDLE, XRC_EVENTS = 0x1010, 0x1011, 0x1012, 0x1013, 0x1014
"""Of rdma/cxib_user_ioctl_cmds.h."""
IOCTL_CMD = 0xC0181B01
DEVICE_OBJECT, DEVICE_GET_CONTEXT = 0, 3
DRIVER_INPUT, DRIVER_OUTPUT = 0x1000, 0x1001
DEVX, DEVX_OBJECT, DEVX_MEMORY, UAR_OBJECT = 0x1000, 0x1001, 0x1002, 0x1008
DEVX_OTHER, DEVX_QUERY_UAR, DEVX_QUERY_EQN = 0x1000, 0x1001, 0x1002
DEVX_CREATE, DEVX_DESTROY, DEVX_MODIFY, DEVX_QUERY = 0x1000, 0x1001, 0x1002, 0x1003
MEMORY_REGISTER, MEMORY_DEREGISTER = 0x1000, 0x1001
UAR_ALLOC = 0x1000
CQ_OBJECT, QP_OBJECT, SRQ_OBJECT, CREATE_METHOD = 3, 4, 5, 0
CQ_BUFFER_VA, CQ_BUFFER_LENGTH, CQ_BUF_UMEM = 8, 9, 12
QP_BUF_UMEM, QP_RQ_BUF_UMEM, QP_SQ_BUF_UMEM, SRQ_BUF_UMEM = 15, 16, 17, 14
BUFFER_TYPE_VA = 1
MR_OBJECT, ADVISE_MR, ADVICE_PREFETCH = 7, 2, 0
MANDATORY = 1
CONTEXT_WITH_COMMANDS = 1
DRIVER_MLX5 = 1
RC, UC, UD, XRC_INI, XRC_TGT, DRIVER = 2, 3, 4, 9, 10, 255
SRQ_XRC, SRQ_TAGGED = 1, 2
EVENT_DEVICE_FATAL, EVENT_SRQ_LIMIT = 8, 15
MW_TYPE_1, MW_TYPE_2 = 1, 2
REREG_TRANS, REREG_PD, REREG_ACCESS = 1, 2, 4
CLOCK_PAGE, CLOCK_INFO_PAGE = 5 << 8, 7 << 8
PAGE_OF_CONTEXT, COMBINING_PAGE, UNCACHED_PAGE, ADDED_PAGE = 0, 2 << 8, 3 << 8, 6 << 8
"""Offsets in pages at which UAR pages are mapped; the index of the page is added."""
QP_UAR_PAGE_INDEX, QP_ADDED_REGISTER, CQ_UAR_PAGE_INDEX = 1 << 10, 1 << 3, 1 << 1
QP_TARGET, QP_INITIATOR, QP_CREDITS_BY_PACKET, QP_STREAMS = 1 << 4, 1 << 5, 1 << 9, 1 << 11
QP_STATE, QP_ACCESS_FLAGS, QP_PKEY_INDEX, QP_PORT, QP_QKEY, QP_AV, QP_PATH_MTU, QP_MIN_RNR_TIMER = \
    1 << 0, 1 << 3, 1 << 4, 1 << 5, 1 << 6, 1 << 7, 1 << 8, 1 << 15
RESET, INIT, RTR, RTS, ERR = 0, 1, 2, 3, 6


def pack(layout: str, *values: int) -> bytes:
    """Packs like struct.pack(), but truncates numbers that are too large for their field."""
    kinds = [kind for kind in layout.lstrip("<") if kind.isalpha() and kind != "x"]
    cut = (value if value < 0 else value & ((1 << 8 * struct.calcsize(kind)) - 1) for kind, value in zip(kinds, values))
    return struct.pack(layout, *cut)


class Memory:
    """Anonymous memory with an address."""

    def __init__(self, size: int, flags: int = mmap.MAP_SHARED) -> None:
        self.map = mmap.mmap(-1, size, flags)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.map))


def uverbs_node(name: str) -> str:
    """The character device of an RDMA device."""
    (node,) = [path.name for path in pathlib.Path(f"/sys/class/infiniband/{name}/device/infiniband_verbs").iterdir()]
    return f"/dev/infiniband/{node}"


class Device:
    """An open device with a context, a PD and a UAR page."""

    def __init__(self, name: str) -> None:
        self.file = os.open(uverbs_node(name), os.O_RDWR | os.O_CLOEXEC)
        self.events: int | None = None
        self.register_size = 0
        self.response_address = 0
        """Where responses to commands go; 0: to memory that is read afterwards."""
        self.queue = Memory(1 << 20)
        self.record = Memory(4096)

    def close(self) -> None:
        os.close(self.file)
        if self.events is not None:
            os.close(self.events)

    def command(self, number: int, request: bytes, response_size: int) -> bytes:
        """Sends a write command whose first word is the address of the response."""
        response = ctypes.create_string_buffer(response_size)
        body = struct.pack("<Q", self.response_address or ctypes.addressof(response)) + request
        assert len(body) % 4 == 0 and response_size % 4 == 0
        os.write(self.file, struct.pack("<IHH", number, (8 + len(body)) // 4, response_size // 4) + body)
        return response.raw

    def ioctl(self, kind: int, method: int, *attributes: tuple[int, int, int]) -> list[int]:
        """Calls a method. An attribute is its number, its size, and its value or address. Returns the values, which
        include new handles."""
        body = b"".join(pack("<HHHHQ", number, size, MANDATORY, 0, data) for number, size, data in attributes)
        header = struct.pack("<HHHHQII", 24 + len(body), kind, method, len(attributes), 0, DRIVER_MLX5, 0)
        request = bytearray(header + body)
        fcntl.ioctl(self.file, IOCTL_CMD, request, True)
        return [struct.unpack_from("<Q", request, 24 + 16 * place + 8)[0] for place in range(len(attributes))]

    def open_context(self, driver: bytes | None = None, flags: int = 0) -> None:
        if driver is None:
            driver = struct.pack("<IIIIB3xIQ", 16, 4, flags, 0, 1, 0, 3)
        answer = self.command(GET_CONTEXT, driver, 8 + 72)
        self.events, _, _, self.register_size, self.registers = struct.unpack_from("<IIIII", answer)
        self.registers_to_add, dump_fill_key = struct.unpack_from("<II", answer, 8 + 64)
        (mask,) = struct.unpack_from("<I", answer, 8 + 36)
        self.dump_fill_key = dump_fill_key if mask & TELLS_DUMP_FILL_KEY else None

    def open_context_by_ioctl(self, driver: bytes) -> None:
        request, response = ctypes.create_string_buffer(driver), ctypes.create_string_buffer(72)
        self.ioctl(DEVICE_OBJECT, DEVICE_GET_CONTEXT, (DRIVER_INPUT, len(driver), ctypes.addressof(request)),
                   (DRIVER_OUTPUT, 72, ctypes.addressof(response)))

    def open_older_context(self, registers: int = 16, exclusive: int = 4, flags: int = 0) -> None:
        """Opens a context like a libmlx5 without dynamic UAR pages, with this number of bfregs."""
        self.open_context(struct.pack("<IIIIB3xIQ", registers, exclusive, flags, 0, 1, 0, 1))

    def allocate_pd(self) -> None:
        self.pd, self.pd_number = struct.unpack("<II", self.command(ALLOC_PD, b"", 8))
        self.uar = 0

    def make_basics(self, flags: int = 0) -> None:
        self.open_context(flags=flags)
        self.allocate_pd()
        self.uar = self.allocate_uar(1)

    def make_older_basics(self, flags: int = 0) -> None:
        self.open_older_context(flags=flags)
        self.allocate_pd()

    def deallocate_pd(self) -> None:
        os.write(self.file, struct.pack("<IHHI", DEALLOC_PD, 3, 0, self.pd))

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
        self.uar_offset, self.uar_length = offset.value, length.value
        return page.value

    def map_doorbells(self) -> mmap.mmap:
        """Maps the last allocated UAR page."""
        return mmap.mmap(self.file, self.uar_length, mmap.MAP_SHARED, mmap.PROT_WRITE, offset=self.uar_offset)

    def await_event(self, kind: int) -> None:
        """Waits for an asynchronous event of a kind and skips others."""
        found = None
        while found != kind:
            if not select.select([self.events], [], [], 60)[0]:
                raise TimeoutError(f"no event {kind} came")
            found = struct.unpack("<QII", os.read(self.events, 16))[1]

    def create_cq(self, **changes: int) -> int:
        """Creates a CQ of 63 CQEs. The arguments override fields of the request."""
        fields = {"cqe": 63, "vector": 0, "channel": -1, "reserved": 0, "buffer": self.queue.address,
                  "record": self.record.address, "cqe_size": 64, "compress": 0, "format": 0,
                  "flags": CQ_UAR_PAGE_INDEX, "uar": self.uar, "reserved0": 0, "reserved1": 0} | changes
        request = pack("<QIIiIQQIBBHHHI", 0, *fields.values())
        handle, _, self.cq_number = struct.unpack("<III", self.command(CREATE_CQ, request, 16)[:12])
        return handle

    def destroy_cq(self, cq: int) -> None:
        self.command(DESTROY_CQ, struct.pack("<II", cq, 0), 8)

    def create_qp(self, cq: int, **changes: int) -> int:
        """Creates an RC QP. The arguments override fields of the request."""
        fields = {"pd": self.pd, "send_cq": cq, "recv_cq": cq, "srq": 0, "max_send_wr": 4, "max_recv_wr": 4,
                  "max_send_sge": 1, "max_recv_sge": 1, "max_inline": 0, "signal_all": 0, "type": RC, "is_srq": 0,
                  "reserved": 0, "buffer": self.queue.address + 65536, "record": self.record.address + 64,
                  "sq_count": 16, "rq_count": 4, "rq_shift": 4, "flags": QP_UAR_PAGE_INDEX, "uidx": 1,
                  "bfreg": self.uar, "access_key": 0, "ece": 0, "streams": 0, "failed_streams": 0,
                  "reserved1": 0} | changes
        request = pack("<QIIIIIIIIIBBBBQQIIIIIIQIBBH", 0, *fields.values())
        answer = self.command(CREATE_QP, request, 32 + 32)
        handle, self.qp_number = struct.unpack("<II", answer[:8])
        (self.register_name,) = struct.unpack_from("<I", answer, 32)
        return handle

    def destroy_qp(self, qp: int) -> None:
        self.command(DESTROY_QP, struct.pack("<II", qp, 0), 4)

    def create_initiator(self, cq: int, **changes: int) -> int:
        """Creates a DCI. The arguments override fields of the request."""
        return self.create_qp(cq, **({"type": DRIVER, "max_recv_wr": 0, "rq_count": 0, "rq_shift": 0,
                                      "flags": QP_UAR_PAGE_INDEX | QP_INITIATOR} | changes))

    def create_target(self, cq: int, srq: int, **changes: int) -> int:
        """Creates a DCT. The arguments override fields of the request."""
        return self.create_qp(cq, **({"type": DRIVER, "srq": srq, "is_srq": 1, "buffer": 0, "record": 0, "sq_count": 0,
                                      "rq_count": 0, "rq_shift": 0, "flags": QP_TARGET, "bfreg": 0,
                                      "access_key": 0x1122334455667788} | changes))

    def modify_qp(self, qp: int, mask: int, state: int, room: int = 16, **changes: int) -> int:
        """Modifies a QP. The arguments override fields of the request. Returns the number of a DCT that this
        creates."""
        fields = {"access": 0, "pkey_index": 0, "path_mtu": 3, "min_rnr_timer": 12, "port": 1, "hop_limit": 64,
                  "flow_label": 0, "sgid_index": 0, "comp_mask": 0, "ece": 0} | changes
        path = pack("<16xI4xBB3xxBB", fields["flow_label"], fields["sgid_index"], fields["hop_limit"], 1, 1)
        core = path + bytes(32) + pack("<II16xIHHBBBBBBBBB7x", qp, mask | QP_STATE, fields["access"],
                                       fields["pkey_index"], 0, state, 0, fields["path_mtu"], 0, 0, 0, 0,
                                       fields["min_rnr_timer"], fields["port"]) + bytes(8)
        driver = pack("<I8xI", fields["comp_mask"], fields["ece"])
        response = ctypes.create_string_buffer(8 + 16)
        header = struct.pack("<IHHQHHI", EXTENDED | MODIFY_QP, len(core) // 8, 1, ctypes.addressof(response),
                             len(driver) // 8, room // 8, 0)
        os.write(self.file, header + core + driver)
        return struct.unpack_from("<I", response.raw, 8 + 4)[0]

    def attach(self, qp: int, mgid: bytes, mlid: int) -> None:
        os.write(self.file, struct.pack("<IHH16sIHH", ATTACH_MCAST, 8, 0, mgid, qp, mlid, 0))

    def detach(self, qp: int, mgid: bytes, mlid: int) -> None:
        os.write(self.file, struct.pack("<IHH16sIHH", DETACH_MCAST, 8, 0, mgid, qp, mlid, 0))

    def register_region(self, start: int, length: int, address: int, access: int) -> tuple[int, int]:
        """Returns the handle and the key."""
        request = pack("<QQQII", start, length, address, self.pd, access)
        return struct.unpack("<II", self.command(REG_MR, request, 12)[:8])

    def deregister(self, region: int) -> None:
        os.write(self.file, struct.pack("<IHHI", DEREG_MR, 3, 0, region))

    def register(self, start: int, length: int, address: int, access: int) -> int:
        return self.register_region(start, length, address, access)[0]

    def advise(self, key: int, address: int, length: int, flush: bool = False) -> None:
        """Requests a prefetch of memory in an ODP MR; with flush, it ends before the call returns."""
        sges = struct.pack("<QII", address, length, key)
        buffer = ctypes.create_string_buffer(sges, len(sges))
        self.ioctl(MR_OBJECT, ADVISE_MR, (0, 0, self.pd), (1, 8, ADVICE_PREFETCH), (2, 4, int(flush)),
                   (3, len(sges), ctypes.addressof(buffer)))

    def reregister(self, region: int, flags: int, **changes: int) -> int:
        """Reregisters an MR. The arguments override fields of the request. Returns the key."""
        fields = {"start": self.queue.address, "length": 8192, "address": self.queue.address, "pd": self.pd,
                  "access": 1} | changes
        request = pack("<IIQQQII", region, flags, *fields.values())
        return struct.unpack("<I", self.command(REREG_MR, request, 8)[:4])[0]

    def create_ah(self, **changes: int) -> int:
        """Creates an AH with a GRH. The arguments override fields of the request."""
        fields = {"flow_label": 0, "sgid_index": 0, "hop_limit": 64, "traffic_class": 0, "dlid": 1, "sl": 0,
                  "path_bits": 0, "rate": 0, "is_global": 1, "port": 1} | changes
        request = pack("<QI4x16xIBBBxHBBBBBx", 0, self.pd, *fields.values())
        return struct.unpack("<I", self.command(CREATE_AH, request, 4 + 4)[:4])[0]

    def create_mw(self, kind: int, **changes: int) -> int:
        fields = {"pd": self.pd, "kind": kind, "comp_mask": 0, "pieces": 0, "reserved1": 0, "reserved2": 0} | changes
        request = pack("<IB3xIBBH", *fields.values())
        return struct.unpack("<I", self.command(ALLOC_MW, request, 8)[:4])[0]

    def resize_cq(self, cq: int, **changes: int) -> int:
        """Resizes a CQ to 127 CQEs. The arguments override fields of the request."""
        fields = {"cq": cq, "cqe": 127, "buffer": self.queue.address + 16384, "cqe_size": 64, "reserved0": 0,
                  "reserved1": 0} | changes
        request = pack("<IIQHHI", *fields.values())
        return struct.unpack("<I", self.command(RESIZE_CQ, request, 8)[:4])[0]

    def _shared_queue(self, changes: dict[str, int]) -> dict[str, int]:
        return {"max_wr": 15, "max_sge": 1, "limit": 0, "buffer": self.queue.address + 131072,
                "record": self.record.address + 128, "flags": 0, "reserved0": 0, "uidx": 1, "reserved1": 0} | changes

    def create_srq(self, **changes: int) -> int:
        """Creates an SRQ of 15 WRs. The arguments override fields of the request."""
        fields = {"pd": self.pd} | self._shared_queue(changes)
        request = pack("<QIIIIQQIIII", 0, *fields.values())
        answer = self.command(CREATE_SRQ, request, 16 + 8)
        (self.srq_number,) = struct.unpack_from("<I", answer, 16)
        return struct.unpack_from("<I", answer)[0]

    def modify_srq(self, srq: int, mask: int, max_wr: int, limit: int) -> None:
        body = pack("<IIII", srq, mask, max_wr, limit)
        os.write(self.file, struct.pack("<IHH", MODIFY_SRQ, (8 + len(body)) // 4, 0) + body)

    def destroy_srq(self, srq: int) -> None:
        self.command(DESTROY_SRQ, struct.pack("<II", srq, 0), 4)

    def open_xrcd(self) -> int:
        request = pack("<iI", -1, os.O_CREAT)
        return struct.unpack("<I", self.command(OPEN_XRCD, request, 4))[0]

    def create_xrc_srq(self, cq: int, xrcd: int, **changes: int) -> int:
        """Creates an XRC SRQ with a CQ. The arguments override fields of the request."""
        kind = changes.pop("type", SRQ_XRC)
        tags = changes.pop("tags", 0)
        fields = self._shared_queue(changes)
        sizes = [fields.pop(name) for name in ("max_wr", "max_sge", "limit")]
        request = pack("<QIIIIIIII", 0, kind, self.pd, *sizes, tags, xrcd, cq) + \
            pack("<QQIIII", *fields.values())
        return struct.unpack("<I", self.command(CREATE_XSRQ, request, 16 + 8)[:4])[0]

    def create_tagged_srq(self, cq: int, **changes: int) -> int:
        """Creates an SRQ of 15 WRs and 7 tags. The arguments override fields of the request."""
        return self.create_xrc_srq(cq, changes.pop("xrcd", 0), **({"type": SRQ_TAGGED, "tags": 7} | changes))

    def create_xrc_target(self, cq: int, xrcd: int) -> int:
        """Creates an XRC_TGT QP, which uses no memory of the process."""
        return self.create_qp(cq, type=XRC_TGT, pd=xrcd, buffer=0, record=0, sq_count=0, rq_count=0, rq_shift=0)

    def register_qp(self, xrcd: int, number: int) -> int:
        """Registers an XRC_TGT QP."""
        assert self.events is not None
        return self.ioctl(XRC_REGISTRATION, XRC_REGISTER, (XRC_HANDLE, 0, 0), (XRC_DOMAIN, 0, xrcd), (XRC_QPN, 4, number),
                          (XRC_EVENTS, 0, self.events))[0]

    def find_registration(self, xrcd: int, number: int) -> int:
        handle = ctypes.c_uint32()
        self.ioctl(XRC_REGISTRATION, XRC_FIND, (XRC_DOMAIN, 0, xrcd), (XRC_QPN, 4, number),
                   (XRC_RESP_HANDLE, 4, ctypes.addressof(handle)))
        return handle.value

    def unregister_qp(self, handle: int, xrcd: int, number: int) -> None:
        self.ioctl(XRC_REGISTRATION, XRC_UNREGISTER, (XRC_HANDLE, 0, handle), (XRC_DOMAIN, 0, xrcd), (XRC_QPN, 4, number))

    def map(self, offset: int, protection: int = mmap.PROT_READ, pages: int = 1) -> mmap.mmap:
        """Maps pages of the device by page offset."""
        return mmap.mmap(self.file, pages * mmap.PAGESIZE, mmap.MAP_SHARED, protection, offset=offset * mmap.PAGESIZE)

    def _run(self, kind: int, method: int, first: list[tuple[int, int, int]], request: bytes, room: int) -> \
            tuple[list[int], bytes]:
        """Calls a method that passes a command to the device. The command's attributes follow the given ones."""
        sent, answer = ctypes.create_string_buffer(request, len(request)), ctypes.create_string_buffer(room)
        place = 0x1000 + len(first)
        values = self.ioctl(kind, method, *first, (place, len(request), ctypes.addressof(sent)),
                            (place + 1, room, ctypes.addressof(answer)))
        return values, answer.raw

    def _create_by_ioctl(self, kind: int, driver: bytes, *attributes: tuple[int, int, int]) -> int:
        """Calls a create method of the RDMA core with libmlx5's driver data."""
        sent, answer = ctypes.create_string_buffer(driver, len(driver)), ctypes.create_string_buffer(64)
        return self.ioctl(kind, CREATE_METHOD, (0, 0, 0), (DRIVER_INPUT, len(driver), ctypes.addressof(sent)),
                          (DRIVER_OUTPUT, 8, ctypes.addressof(answer)), *attributes)[0] & 0xFFFFFFFF

    def create_cq_by_ioctl(self, *attributes: tuple[int, int, int]) -> int:
        answer = ctypes.create_string_buffer(4)
        driver = pack("<QQIBBHHHI", self.queue.address, self.record.address, 64, 0, 0, CQ_UAR_PAGE_INDEX, self.uar, 0, 0)
        return self._create_by_ioctl(CQ_OBJECT, driver, (1, 4, 63), (2, 8, 0), (4, 4, 0), (6, 4, ctypes.addressof(answer)),
                                     *attributes)

    def create_srq_by_ioctl(self, *attributes: tuple[int, int, int]) -> int:
        answers = [ctypes.create_string_buffer(4) for _ in range(3)]
        driver = pack("<QQIIII", self.queue.address + 131072, self.record.address + 128, 0, 0, 1, 0)
        return self._create_by_ioctl(SRQ_OBJECT, driver, (1, 0, self.pd), (4, 8, 0), (5, 4, 15), (6, 4, 1), (7, 4, 0), (9, 8, 0),
                                     *((11 + place, 4, ctypes.addressof(answer)) for place, answer in enumerate(answers)),
                                     *attributes)

    def create_qp_by_ioctl(self, cq: int, *attributes: tuple[int, int, int]) -> int:
        capacity = ctypes.create_string_buffer(struct.pack("<IIIII", 4, 4, 1, 1, 0), 20)
        answer, number = ctypes.create_string_buffer(20), ctypes.create_string_buffer(4)
        driver = pack("<QQIIIIIIQIBBH", self.queue.address + 65536, self.record.address + 64, 16, 4, 4, QP_UAR_PAGE_INDEX, 1,
                      self.uar, 0, 0, 0, 0, 0)
        return self._create_by_ioctl(QP_OBJECT, driver, (2, 0, self.pd), (4, 0, cq), (5, 0, cq), (7, 8, 0),
                                     (8, 20, ctypes.addressof(capacity)), (9, 8, RC), (13, 20, ctypes.addressof(answer)),
                                     (14, 4, ctypes.addressof(number)), *attributes)

    def ask_device(self, request: bytes, room: int = 16) -> bytes:
        """Sends a command that names no object."""
        return self._run(DEVX, DEVX_OTHER, [], request, room)[1]

    def create_object(self, request: bytes, room: int = 64) -> tuple[int, bytes]:
        """Sends a command that creates an object; returns its handle and the output."""
        values, answer = self._run(DEVX_OBJECT, DEVX_CREATE, [(0x1000, 0, 0)], request, room)
        return values[0] & 0xFFFFFFFF, answer

    def modify_object(self, handle: int, request: bytes, room: int = 16) -> bytes:
        return self._run(DEVX_OBJECT, DEVX_MODIFY, [(0x1000, 0, handle)], request, room)[1]

    def query_object(self, handle: int, request: bytes, room: int = 0x200) -> bytes:
        return self._run(DEVX_OBJECT, DEVX_QUERY, [(0x1000, 0, handle)], request, room)[1]

    def destroy_object(self, handle: int) -> None:
        self.ioctl(DEVX_OBJECT, DEVX_DESTROY, (0x1000, 0, handle))

    def query_eqn(self, vector: int) -> int:
        eqn = ctypes.c_uint32()
        self.ioctl(DEVX, DEVX_QUERY_EQN, (0x1000, 4, vector), (0x1001, 4, ctypes.addressof(eqn)))
        return eqn.value

    def query_uar(self, register: int) -> int:
        """Returns the device's number of the UAR page of a bfreg that the process has added."""
        page = ctypes.c_uint32()
        self.ioctl(DEVX, DEVX_QUERY_UAR, (0x1000, 4, register), (0x1001, 4, ctypes.addressof(page)))
        return page.value

    def register_memory(self, address: int, length: int, access: int = 1) -> tuple[int, int]:
        """Registers memory that commands can name; returns its handle and its number."""
        number = ctypes.c_uint32()
        values = self.ioctl(DEVX_MEMORY, MEMORY_REGISTER, (0x1000, 0, 0), (0x1001, 8, address), (0x1002, 8, length),
                            (0x1003, 4, access), (0x1004, 4, ctypes.addressof(number)))
        return values[0] & 0xFFFFFFFF, number.value

    def deregister_memory(self, handle: int) -> None:
        self.ioctl(DEVX_MEMORY, MEMORY_DEREGISTER, (0x1000, 0, handle))
