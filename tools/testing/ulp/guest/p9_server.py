#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A file server for 9P2000.L over RDMA, with the requests that the kernel's client needs to write and read files.

Debian has no such server. Each 9P message is one RDMA message; the client numbers the files that it opens (fid). The
server handles one connection, as root, without locks, links and extended attributes:

    p9_server.py ADDRESS PORT DIRECTORY
"""

import collections
import dataclasses
import errno
import os
import stat
import struct
import sys

from pyverbs import cm_enums, enums
from pyverbs.cmid import CMID, AddrInfo
from pyverbs.qp import QPCap, QPInitAttr

MESSAGE = 64 << 10  # bytes of the longest message, which the client learns from the server
DEPTH = 33  # requests: the client's maximum and one more
HEADER = struct.Struct("<IBH")  # total length, type, tag
VERSION, ERROR = 100, 6
BASIC = 0x7FF  # attributes that every file has: mode to blocks


class Reader:
    """Reads the parts of a message one after another."""

    def __init__(self, data: bytes) -> None:
        self.data, self.place = data, 0

    def numbers(self, layout: str) -> tuple[int, ...]:
        found = struct.unpack_from("<" + layout, self.data, self.place)
        self.place += struct.calcsize("<" + layout)
        return found

    def bytes(self, length: int) -> bytes:
        self.place += length
        return self.data[self.place - length : self.place]

    def name(self) -> str:
        """Reads a path component that does not lead out of its directory."""
        (length,) = self.numbers("H")
        name = os.fsdecode(self.bytes(length))
        if "/" in name or name in ("", "."):
            raise OSError(errno.EINVAL, name)
        return name


def string(text: str) -> bytes:
    data = os.fsencode(text)
    return struct.pack("<H", len(data)) + data


def identity(path: str) -> bytes:
    """The unique identifier of a file (qid)."""
    found = os.lstat(path)
    kind = 0x80 if stat.S_ISDIR(found.st_mode) else 0x02 if stat.S_ISLNK(found.st_mode) else 0
    return struct.pack("<BIQ", kind, found.st_mtime_ns & 0xFFFFFFFF, found.st_ino)


@dataclasses.dataclass
class File:
    """The file of a fid; the descriptor is set while it is open."""

    path: str
    descriptor: int = -1

    def close(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)


class Server:
    """Handles requests for the files in a directory."""

    def __init__(self, directory: str) -> None:
        self.root = os.path.realpath(directory)
        self.files: dict[int, File] = {}
        self.handlers = {
            8: self.statfs, 12: self.open, 14: self.create, 24: self.attributes, 26: self.set_attributes,
            40: self.entries, 50: self.sync, 72: self.make_directory, 76: self.unlink, VERSION: self.version,
            104: self.attach, 108: self.flush, 110: self.walk, 116: self.read, 118: self.write, 120: self.clunk,
        }

    def answer(self, request: bytes) -> bytes:
        _, kind, tag = HEADER.unpack_from(request)
        try:
            handler = self.handlers.get(kind)
            if handler is None:
                raise OSError(errno.EOPNOTSUPP, str(kind))
            kind, body = kind + 1, handler(Reader(request[HEADER.size :]))
        except OSError as error:
            kind, body = ERROR + 1, struct.pack("<I", error.errno)
        return HEADER.pack(HEADER.size + len(body), kind, tag) + body

    def file(self, reader: Reader) -> File:
        (fid,) = reader.numbers("I")
        if fid not in self.files:
            raise OSError(errno.EBADF, str(fid))
        return self.files[fid]

    def version(self, reader: Reader) -> bytes:
        (longest,) = reader.numbers("I")
        return struct.pack("<I", min(longest, MESSAGE)) + string("9P2000.L")

    def attach(self, reader: Reader) -> bytes:
        (fid,) = reader.numbers("I")
        self.files[fid] = File(self.root)
        return identity(self.root)

    def flush(self, _: Reader) -> bytes:
        """Requests are handled in order, so the flushed request already has its reply."""
        return b""

    def walk(self, reader: Reader) -> bytes:
        path = self.file(reader).path
        fid, count = reader.numbers("IH")
        passed = []
        for _ in range(count):
            name = reader.name()
            following = path if name == ".." and path == self.root else os.path.normpath(os.path.join(path, name))
            try:
                passed.append(identity(following))
            except OSError:
                if not passed:
                    raise
                break
            path = following
        if len(passed) == count:
            self.files[fid] = File(path)
        return struct.pack("<H", len(passed)) + b"".join(passed)

    def clunk(self, reader: Reader) -> bytes:
        (fid,) = reader.numbers("I")
        self.files.pop(fid, File("")).close()
        return b""

    def open(self, reader: Reader) -> bytes:
        file = self.file(reader)
        (flags,) = reader.numbers("I")
        file.descriptor = os.open(file.path, flags & (os.O_ACCMODE | os.O_TRUNC | os.O_APPEND))
        return identity(file.path) + struct.pack("<I", 0)

    def create(self, reader: Reader) -> bytes:
        file = self.file(reader)
        file.path = os.path.join(file.path, reader.name())
        flags, mode, _ = reader.numbers("III")
        file.descriptor = os.open(file.path, os.O_CREAT | flags & (os.O_ACCMODE | os.O_EXCL | os.O_TRUNC), mode)
        return identity(file.path) + struct.pack("<I", 0)

    def read(self, reader: Reader) -> bytes:
        file = self.file(reader)
        offset, count = reader.numbers("QI")
        data = os.pread(file.descriptor, count, offset)
        return struct.pack("<I", len(data)) + data

    def write(self, reader: Reader) -> bytes:
        file = self.file(reader)
        offset, count = reader.numbers("QI")
        return struct.pack("<I", os.pwrite(file.descriptor, reader.bytes(count), offset))

    def sync(self, reader: Reader) -> bytes:
        os.fsync(self.file(reader).descriptor)
        return b""

    def attributes(self, reader: Reader) -> bytes:
        path = self.file(reader).path
        found = os.lstat(path)
        times = [part for time in (found.st_atime_ns, found.st_mtime_ns, found.st_ctime_ns, 0)
                 for part in divmod(time, 1_000_000_000)]
        return (struct.pack("<Q", BASIC) + identity(path)
                + struct.pack("<IIIQQQQQ", found.st_mode, found.st_uid, found.st_gid, found.st_nlink, found.st_rdev,
                              found.st_size, found.st_blksize, found.st_blocks)
                + struct.pack("<8Q", *times) + struct.pack("<QQ", 0, 0))

    def set_attributes(self, reader: Reader) -> bytes:
        """Sets modes and sizes, but not owners and times."""
        path = self.file(reader).path
        valid, mode, _, _, size = reader.numbers("IIIIQ")
        if valid & 1:
            os.chmod(path, stat.S_IMODE(mode))
        if valid & 8:
            os.truncate(path, size)
        return b""

    def entries(self, reader: Reader) -> bytes:
        path = self.file(reader).path
        offset, count = reader.numbers("QI")
        data = b""
        for number, name in enumerate([".", "..", *sorted(os.listdir(path))][offset:], offset + 1):
            entry = identity(os.path.join(path, name)) + struct.pack("<QB", number, 0) + string(name)
            if len(data) + len(entry) > count:
                break
            data += entry
        return struct.pack("<I", len(data)) + data

    def make_directory(self, reader: Reader) -> bytes:
        path = os.path.join(self.file(reader).path, reader.name())
        (mode,) = reader.numbers("I")
        os.mkdir(path, mode)
        return identity(path)

    def unlink(self, reader: Reader) -> bytes:
        path = os.path.join(self.file(reader).path, reader.name())
        (flags,) = reader.numbers("I")
        (os.rmdir if flags & 0x200 else os.unlink)(path)
        return b""

    def statfs(self, _: Reader) -> bytes:
        found = os.statvfs(self.root)
        return struct.pack("<IIQQQQQQI", 0x01021997, found.f_bsize, found.f_blocks, found.f_bfree, found.f_bavail,
                           found.f_files, found.f_ffree, 0, found.f_namemax)


def accept(address: str, port: str) -> tuple[CMID, collections.deque]:
    """Waits for the client; returns the connection, and its buffers in the order in which requests fill them."""
    source = AddrInfo(src=address, src_service=port, port_space=cm_enums.RDMA_PS_TCP, flags=cm_enums.RAI_PASSIVE)
    capacity = QPCap(max_send_wr=DEPTH, max_recv_wr=DEPTH, max_send_sge=1, max_recv_sge=1)
    listener = CMID(creator=source, qp_init_attr=QPInitAttr(qp_type=enums.IBV_QPT_RC, cap=capacity))
    listener.listen()
    print("listens", flush=True)
    connection = listener.get_request()
    buffers = collections.deque(connection.reg_msgs(MESSAGE) for _ in range(DEPTH))
    for buffer in buffers:
        connection.post_recv(buffer)
    connection.accept()
    return connection, buffers


def main(address: str, port: str, directory: str) -> None:
    server = Server(directory)
    connection, buffers = accept(address, port)
    reply = connection.reg_msgs(MESSAGE)
    while (completion := connection.get_recv_comp()) and completion.status == enums.IBV_WC_SUCCESS:
        answer = server.answer(buffers[0].read(completion.byte_len, 0))
        # The client may send its next request as soon as it has the reply.
        connection.post_recv(buffers[0])
        buffers.rotate(-1)
        reply.write(answer, len(answer))
        connection.post_send(reply, enums.IBV_SEND_SIGNALED, len(answer))
        connection.get_send_comp()


if __name__ == "__main__":
    main(*sys.argv[1:])
