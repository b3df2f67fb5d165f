# SPDX-License-Identifier: GPL-2.0-or-later
"""RDS sockets: messages with RDMA and atomic operations (linux/rds.h)."""

import contextlib
import ctypes
import dataclasses
import lzma
import mmap
import socket
import struct
import subprocess
from collections.abc import Iterator

import rdma

PATIENCE = 250  # seconds; ends only a test that has already failed
SOL_RDS = 276
RDMA_ARGUMENTS, RDMA_DESTINATION, RDMA_MAP, RDMA_STATUS = 1, 2, 3, 4
FETCH_ADD, COMPARE_SWAP, MASKED_FETCH_ADD, MASKED_COMPARE_SWAP = 6, 7, 8, 9
FLAG_WRITE, FLAG_NOTIFY = 0x01, 0x20


def unloading_waits() -> bool:
    """Whether unloading waits until connections have ended; otherwise the kernel crashes (Documentation/ulps.rst).

    Unloading waits for one workqueue. In some kernels each connection has another workqueue, with this name.
    """
    file = rdma.run("modinfo", "-n", "rds").strip()
    with lzma.open(file) if file.endswith(".xz") else open(file, "rb") as module:
        return b"krds_cp_wq" not in module.read()


class Memory:
    """Memory whose address does not change."""

    def __init__(self, size: int) -> None:
        self.bytes = mmap.mmap(-1, size)
        self.size = size
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.bytes))

    def word(self, offset: int) -> int:
        return struct.unpack_from("=Q", self.bytes, offset)[0]

    def set_word(self, offset: int, value: int) -> None:
        struct.pack_into("=Q", self.bytes, offset, value)


@dataclasses.dataclass(frozen=True)
class Received:
    """A message with its control messages."""

    data: bytes
    source: tuple[str, int]
    control: dict[int, bytes]


class Socket:
    """An RDS socket that sends to its peer."""

    def __init__(self, address: str, port: int, peer: tuple[str, int]) -> None:
        self.socket = socket.socket(socket.AF_RDS, socket.SOCK_SEQPACKET)
        self.socket.bind((address, port))
        self.socket.settimeout(PATIENCE)
        self.peer = peer
        self.token = 0

    def close(self) -> None:
        self.socket.close()

    def send(self, data: bytes, kind: int = 0, control: bytes = b"") -> None:
        more = [(SOL_RDS, kind, control)] if kind else []
        self.socket.sendmsg([data], more, 0, self.peer)

    def receive(self) -> Received:
        data, control, _, source = self.socket.recvmsg(1 << 21, 512)
        return Received(data, source, {kind: value for level, kind, value in control if level == SOL_RDS})

    def ping(self) -> None:
        """Sends an empty message to port 0 of the peer, whose kernel replies."""
        self.socket.sendto(b"", (self.peer[0], 0))
        answer = self.receive()
        if answer.data or answer.source != (self.peer[0], 0):
            raise AssertionError(f"unexpected answer {answer}")

    def offer(self, memory: Memory) -> None:
        """Sends a message that lets the peer read and write the memory."""
        cookie = ctypes.c_uint64(0)
        self.send(b"memory", RDMA_MAP,
                  struct.pack("=4Q", memory.address, memory.size, ctypes.addressof(cookie), FLAG_WRITE))

    def accept_offer(self) -> int:
        """Receives an offer; returns the cookie of the peer's memory."""
        return struct.unpack("=Q", self.receive().control[RDMA_DESTINATION])[0]

    def transfer(self, cookie: int, offset: int, pieces: list[tuple[int, int]], *, write: bool) -> int:
        """Reads or writes memory of the peer, from or to local pieces (address, length).

        Sends a message after the operation, which the peer must receive. Returns the status, 0 on success.
        """
        vector = ctypes.create_string_buffer(b"".join(struct.pack("=2Q", *piece) for piece in pieces))
        flags = FLAG_NOTIFY | (FLAG_WRITE if write else 0)
        self.token += 1
        length = sum(length for _, length in pieces)
        self.send(b"transfer", RDMA_ARGUMENTS,
                  struct.pack("=7Q", cookie, offset, length, ctypes.addressof(vector), len(pieces), flags, self.token))
        return self._status()

    def atomic(self, kind: int, cookie: int, offset: int, result: int, *operands: int) -> int:
        """Runs an atomic operation on eight bytes of the peer's memory. The old value goes to the address RESULT.

        :param operands: add | compare, swap | add, no-carry mask | compare, swap, their masks
        """
        words = (*operands, 0, 0, 0)[:4]
        self.token += 1
        self.send(b"atomic", kind, struct.pack("=9Q", cookie, result, offset, *words, FLAG_NOTIFY, self.token))
        return self._status()

    def _status(self) -> int:
        token, status = struct.unpack("=Qi4x", self.receive().control[RDMA_STATUS])
        if token != self.token:
            raise AssertionError(f"the status is of operation {token}, not {self.token}")
        return status


class Server:
    """The end with the memory. All arguments and results are plain values."""

    def __init__(self, connected: Socket, size: int) -> None:
        self.socket, self.memory = connected, Memory(size)

    def offer(self, contents: bytes) -> None:
        """Lets the peer read and write memory with these contents."""
        self.memory.bytes[:] = contents
        self.socket.offer(self.memory)

    def set_word(self, offset: int, value: int) -> None:
        self.memory.set_word(offset, value)

    def contents(self) -> bytes:
        return self.memory.bytes[:]

    def next_message(self) -> bytes:
        return self.socket.receive().data


@contextlib.contextmanager
def exerciser(address: str) -> Iterator[subprocess.Popen]:
    """Runs the program that replies to pings and verifies streams. RDS drops messages to a port without a program."""
    with rdma.background("rds_exercise", "serve", "--local", address, "--time-limit", 0) as program:
        if not program.stdout.readline().startswith("serving on "):
            raise AssertionError(f"the server has ended: {program.communicate()[0]}")
        yield program


@contextlib.contextmanager
def server(address: str, port: int, peer: str, size: int) -> Iterator[Server]:
    """A server for the socket of a peer with the same port."""
    with contextlib.closing(Socket(address, port, (peer, port))) as connected:
        yield Server(connected, size)
