# SPDX-License-Identifier: GPL-2.0-or-later
"""An HCA without a driver: reads and writes its registers and submits one command from a page of this process."""

import ctypes
import mmap
import os
import pathlib
import struct

import hw
import rdma

PAGE = 4096
INIT_SEGMENT = 0x3000  # mapped bytes
ADDRESS_HIGH, ADDRESS_LOW = hw.HW_INITIAL_SEG_OFFSET_CMDQ_PHY_ADDR_63_32, hw.HW_INITIAL_SEG_OFFSET_CMDQ_PHY_ADDR_31_12
DOORBELL, INITIALIZING = hw.HW_INITIAL_SEG_OFFSET_COMMAND_DOORBELL_VECTOR, hw.HW_INITIAL_SEG_OFFSET_INITIALIZING
COMMAND, STATUS = 0x04, 0x06  # offsets in configuration space
MEMORY_AND_BUS_MASTER = 0x6
RECEIVED_MASTER_ABORT = 1 << 13

ENABLE_HCA = hw.HW_CMD_ENABLE_HCA
ENTRY = 64
LENGTH = 16  # bytes of input and of output
OWNER = 0x3F
PCIE_TRANSPORT = 7


class Page:
    """A page of memory whose physical address the device can use, as the guest has no IOMMU."""

    def __init__(self) -> None:
        self.memory = mmap.mmap(-1, PAGE)
        self.memory.write(bytes(PAGE))
        self._anchor = ctypes.c_char.from_buffer(self.memory)
        virtual = ctypes.addressof(self._anchor)
        if ctypes.CDLL(None, use_errno=True).mlock(ctypes.c_void_p(virtual), ctypes.c_size_t(PAGE)) != 0:
            raise OSError(ctypes.get_errno(), "mlock")
        with open("/proc/self/pagemap", "rb") as table:
            table.seek(virtual // PAGE * 8)
            entry = struct.unpack("<Q", table.read(8))[0]
        self.address = (entry & ((1 << 55) - 1)) * PAGE
        if self.address == 0:
            raise OSError("the kernel does not report the address of a page")


class RawHca:
    """A PCI function without a driver."""

    def __init__(self, function: pathlib.Path) -> None:
        self.function = function
        (function / "reset").write_text("1")
        self._config(COMMAND, MEMORY_AND_BUS_MASTER)
        self._config(STATUS, RECEIVED_MASTER_ABORT)  # cleared by writing 1
        with open(function / "resource0", "r+b") as bar:
            self._registers = mmap.mmap(bar.fileno(), INIT_SEGMENT)
        rdma.until(lambda: self.read(INITIALIZING) >> 31 == 0, "the firmware is ready")

    def _config(self, offset: int, value: int) -> None:
        with open(self.function / "config", "r+b", buffering=0) as config:
            os.pwrite(config.fileno(), struct.pack("<H", value), offset)

    @property
    def has_aborted(self) -> bool:
        """Whether the device has accessed an address that no PCI function decodes."""
        with open(self.function / "config", "rb", buffering=0) as config:
            status = struct.unpack("<H", os.pread(config.fileno(), 2, STATUS))[0]
        return bool(status & RECEIVED_MASTER_ABORT)

    def _register(self, offset: int) -> ctypes.c_uint32:
        return ctypes.c_uint32.from_buffer(self._registers, offset)

    def read(self, offset: int) -> int:
        return int.from_bytes(self._register(offset).value.to_bytes(4, "little"), "big")

    def write(self, offset: int, value: int) -> None:
        self._register(offset).value = int.from_bytes(value.to_bytes(4, "big"), "little")

    def submit_enable_hca(self, page: Page) -> None:
        """Sets the page as the command queue, writes one command to it and rings the doorbell."""
        entry = bytearray(ENTRY)
        struct.pack_into(">B3xI", entry, 0, PCIE_TRANSPORT, LENGTH)
        struct.pack_into(">HHI", entry, 0x10, ENABLE_HCA, 0, 0)
        struct.pack_into(">I", entry, 0x38, LENGTH)
        entry[0x3C] = 0x5A  # token
        entry[OWNER] = 1
        signature = 0xFF
        for byte in entry:
            signature ^= byte
        entry[0x3D] = signature
        page.memory[:ENTRY] = bytes(entry)
        self.write(ADDRESS_HIGH, page.address >> 32)
        self.write(ADDRESS_LOW, page.address & 0xFFFFFFFF)
        rdma.until(lambda: self.read(INITIALIZING) >> 31 == 0, "the device has taken the address of its queue")
        self.write(DOORBELL, 1)
