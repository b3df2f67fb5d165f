# SPDX-License-Identifier: GPL-2.0-or-later
"""Sends MADs through the kernel's ib_umad without a library, so that a test can select the P_Key index."""

import ctypes
import fcntl
import itertools
import os
import pathlib
import select
import struct

import rdma

CLASS = pathlib.Path("/sys/class/infiniband_mad")
MAD_SIZE = 256
GENERAL_SERVICES = 1
GENERAL_SERVICES_Q_KEY = 0x80010000
MAGIC = 0x1B
LIMIT_MS = 2000  # time-out of a reply; the MAD is then repeated
RETRIES = 20  # ends only a test that has already failed
HEADER_SIZE, STATUS_OFFSET, P_KEY_OFFSET = 64, 4, 56


class Registration(ctypes.Structure):
    """struct ib_user_mad_reg_req."""

    _fields_ = [
        ("id", ctypes.c_uint32),
        ("methods", ctypes.c_uint32 * 4),
        ("queue_pair", ctypes.c_uint8),
        ("management_class", ctypes.c_uint8),
        ("class_version", ctypes.c_uint8),
        ("oui", ctypes.c_uint8 * 3),
        ("rmpp_version", ctypes.c_uint8),
    ]


def request_code(direction: int, number: int, size: int) -> int:
    return direction << 30 | size << 16 | MAGIC << 8 | number


REGISTER = request_code(3, 1, ctypes.sizeof(Registration))
ENABLE_P_KEY = request_code(0, 3, 0)


def node_of(port: rdma.Port) -> pathlib.Path:
    for path in CLASS.glob("umad*"):
        if (path / "ibdev").read_text().strip() == port.device and int((path / "port").read_text()) == port.number:
            return pathlib.Path("/dev/infiniband") / path.name
    raise AssertionError(f"{port} has no node for MADs")


class Agent:
    """Sends requests of one management class from a port and receives the replies."""

    def __init__(self, port: rdma.Port, management_class: int) -> None:
        rdma.run("modprobe", "ib_umad")
        rdma.until(CLASS.is_dir, "ib_umad has its class")
        self.file = os.open(node_of(port), os.O_RDWR)
        fcntl.ioctl(self.file, ENABLE_P_KEY)
        wanted = Registration(queue_pair=GENERAL_SERVICES, management_class=management_class, class_version=1)
        fcntl.ioctl(self.file, REGISTER, wanted)
        self.number = wanted.id
        self.transactions = itertools.count(1)
        self.management_class = management_class

    def close(self) -> None:
        os.close(self.file)

    def header(self, lid: int, p_key_index: int, retries: int) -> bytes:
        """struct ib_user_mad_hdr. Fields that appear on the wire are big-endian."""
        return struct.pack("=5I", self.number, 0, LIMIT_MS, retries, MAD_SIZE) + struct.pack(
            ">IIH6B16sI", GENERAL_SERVICES, GENERAL_SERVICES_Q_KEY, lid, 0, 0, 0, 0, 0, 0, bytes(16), 0
        ) + struct.pack("=H6x", p_key_index)

    def get(self, lid: int, attribute: int, p_key_index: int, retries: int = RETRIES) -> tuple[int, int, bytes]:
        """Sends a Get. Returns 0 or the send error, the P_Key index of the reply, and the reply."""
        # A repeated request may get two replies. With a new transaction ID, the second one does not match the next
        # request.
        transaction = next(self.transactions)
        datagram = struct.pack(">BBBBHHQHHI", 1, self.management_class, 1, 1, 0, 0, transaction, attribute, 0, 0)
        os.write(self.file, self.header(lid, p_key_index, retries) + datagram.ljust(MAD_SIZE, b"\0"))
        if not select.select([self.file], [], [], 2 * rdma.PATIENCE)[0]:
            raise AssertionError(f"the kernel says nothing about a datagram to LID {lid}")
        answer = os.read(self.file, HEADER_SIZE + MAD_SIZE)
        status = struct.unpack_from("=I", answer, STATUS_OFFSET)[0]
        return status, struct.unpack_from("=H", answer, P_KEY_OFFSET)[0], answer[HEADER_SIZE:]
