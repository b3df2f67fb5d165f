# SPDX-License-Identifier: GPL-2.0-or-later
"""Memory whose first access blocks, even in the kernel (userfaultfd), until the memory is unmapped; then the access
fails."""

import ctypes
import fcntl
import mmap
import os
import select
import struct

SYS_USERFAULTFD = 323
"""On x86-64."""
API, API_VERSION = 0xC018AA3F, 0xAA
REGISTER, MISSING = 0xC020AA00, 1
PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS = mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
SIZE = 2 * mmap.PAGESIZE

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


class StalledPage:
    """A page at .address; the page before it is present."""

    def __init__(self) -> None:
        self.start: int = libc.mmap(None, SIZE, PROT_READ_WRITE, MAP_PRIVATE_ANONYMOUS, -1, 0)
        self.address = self.start + mmap.PAGESIZE
        self.faults: int = libc.syscall(SYS_USERFAULTFD, os.O_CLOEXEC | os.O_NONBLOCK)
        if self.faults < 0:
            raise OSError(ctypes.get_errno(), "userfaultfd")
        fcntl.ioctl(self.faults, API, bytearray(struct.pack("<QQQ", API_VERSION, 0, 0)))
        fcntl.ioctl(self.faults, REGISTER, bytearray(struct.pack("<QQQQ", self.address, mmap.PAGESIZE, MISSING, 0)))

    def await_access(self) -> None:
        if not select.select([self.faults], [], [], 300)[0]:
            raise TimeoutError("the page has not been accessed")

    def take_away(self) -> None:
        """Unmaps the page: a thread that waits for it gets a fault."""
        if self.faults < 0:
            return
        libc.munmap(self.start, SIZE)
        os.close(self.faults)
        self.faults = -1
