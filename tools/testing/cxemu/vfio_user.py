# SPDX-License-Identifier: GPL-2.0-or-later
"""The client side of the vfio-user protocol, as far as tests of cxemu without a virtual machine need it."""

import os
import socket
import struct
from pathlib import Path

VERSION, DMA_MAP, REGION_READ, REGION_WRITE = 1, 2, 9, 10
READ_AND_WRITE = 3  # access flags of DMA_MAP


def message(command: int, body: bytes = b"") -> bytes:
    """A request of the vfio-user protocol."""
    return struct.pack("<HHIII", 1, command, 16 + len(body), 0, 0) + body


class Connection:
    """A client's connection to an adapter of cxemu. Each call raises OSError with the error of the reply, TimeoutError
    after `patience` seconds without a reply, and EOFError if cxemu closes the connection."""

    def __init__(self, path: Path, patience: float) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(patience)
        self.socket.connect(str(path))
        self.call(VERSION, struct.pack("<HH", 0, 0) + b'{"capabilities":{}}\0')

    def close(self) -> None:
        self.socket.close()

    def call(self, command: int, body: bytes, fds: tuple[int, ...] = ()) -> bytes:
        """Sends a request; returns the body of its reply."""
        socket.send_fds(self.socket, [message(command, body)], fds)
        size, error = struct.unpack("<4xI4xI", self._receive(16))
        if error:
            raise OSError(error, os.strerror(error))
        return self._receive(size - 16)

    def _receive(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            part = self.socket.recv(size - len(data))
            if not part:
                raise EOFError("cxemu has hung up")
            data += part
        return data

    def map_memory(self, size: int) -> int:
        """Maps new memory of `size` bytes at I/O address 0; returns its file descriptor, which the caller closes."""
        memory = os.memfd_create("guest")
        try:
            os.ftruncate(memory, size)
            self.call(DMA_MAP, struct.pack("<IIQQQ", 32, READ_AND_WRITE, 0, 0, size), (memory,))
        except BaseException:
            os.close(memory)
            raise
        return memory
