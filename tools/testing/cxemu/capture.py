#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks a packet capture of cxemu: Wireshark's dissection, both CRCs of each packet, and the order of opcodes and PSNs
in each connection.

usage: capture.py FILE [KIND…] The capture must contain each KIND of packet (names below).
"""

import collections
import pathlib
import struct
import subprocess
import sys
import zlib
from collections.abc import Iterator

DLT_ERF = 197
ERF_HEADER = 16
ERF_INFINIBAND = 21
MAGIC_NANOSECONDS = 0xA1B23C4D

LRH, GRH, BTH, DETH = 8, 40, 12, 8
UD_SEND, UD_SEND_IMMEDIATE = 0x64, 0x65
SERVICES = {0: "rc", 1: "uc", 5: "xrc"}  # upper three bits of the opcode
# Lower five bits of the opcode: first, middle and last packets of messages with several packets.
MESSAGES = {"send": (0x00, 0x01, (0x02, 0x03, 0x16)), "write": (0x06, 0x07, (0x08, 0x09)),
            "read-response": (0x0D, 0x0E, (0x0F,))}
READ_REQUEST, ACKNOWLEDGE, ATOMIC_ACKNOWLEDGE, COMPARE_SWAP, FETCH_ADD = 0x0C, 0x11, 0x12, 0x13, 0x14
RESPONSES = (0x0D, 0x0E, 0x0F, 0x10, ACKNOWLEDGE, ATOMIC_ACKNOWLEDGE)
PSN_MODULUS = 1 << 24
# Protocols that Wireshark guesses from the payload. Random bytes sometimes match one of them, and Wireshark then
# reports a malformed packet. Wireshark identifies IPoIB by its Ethernet types, not by a guess.
GUESSES = ("smcr_infiniband", "smb_direct_infiniband", "rpcrdma_infiniband", "nvme_rdma", "nvme_rdma_cm_private",
           "lnet_ib", "lnet_ib_cm_private", "iser_infiniband", "iser_ib_private", "mellanox_eoib", "sdp_infiniband",
           "sdp_ib_private", "fc_infiniband")
LOCAL, GLOBAL = 2, 3  # LRH.LNH

KINDS = {
    "smp": "subnet management (queue pair 0)",
    "directed-route": "subnet management by directed route",
    "gmp": "general management (queue pair 1)",
    "datagram": "datagrams of ordinary queue pairs",
    "multicast": "packets to multicast LIDs",
    "global": "packets with a global route header",
    "rc": "packets of reliable connections",
    "uc": "packets of unreliable connections",
    "xrc": "packets of extended reliable connections",
    "long": "messages of several packets",
    "read": "RDMA reads",
    "atomic": "atomic operations",
    "acknowledge": "acknowledgements",
}


class CaptureError(Exception):
    """The fault of the file, in words."""


def packets(file: pathlib.Path) -> Iterator[bytes]:
    """Yields the packets of a pcap file of ERF InfiniBand records, written on a host of the same byte order."""
    data = file.read_bytes()
    magic, _, _, _, _, _, link_type = struct.unpack_from("=IHHiIII", data)
    if magic != MAGIC_NANOSECONDS or link_type != DLT_ERF:
        raise CaptureError(f"{file} has magic number {magic:#x} and link type {link_type}")
    position = 24
    while position < len(data):
        if position + 16 > len(data):
            raise CaptureError(f"{file} ends within a record header")
        _, _, captured, length = struct.unpack_from("=IIII", data, position)
        position += 16
        if captured != length or position + captured > len(data):
            raise CaptureError(f"{file} has a packet that is cut off, at byte {position}")
        kind, _, record, _, size = struct.unpack_from(">BBHHH", data, position + 8)
        if kind != ERF_INFINIBAND or record != captured or size != captured - ERF_HEADER:
            raise CaptureError(f"{file} has a record of type {kind}, {record} and {size} bytes at byte {position}")
        yield data[position + ERF_HEADER:position + captured]
        position += captured


def make_crc16_table() -> list[int]:
    """CRC-16 of the link layer: x^16 + x^12 + x^3 + x + 1, least significant bit first."""
    reversed_polynomial = int(f"{0x100B:016b}"[::-1], 2)
    table = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (reversed_polynomial if value & 1 else 0)
        table.append(value)
    return table


CRC16 = make_crc16_table()


def variant_crc(packet: bytes) -> bytes:
    value = 0xFFFF
    for byte in packet[:-2]:
        value = value >> 8 ^ CRC16[(value ^ byte) & 0xFF]
    return struct.pack("<H", value ^ 0xFFFF)


def invariant_crc(packet: bytes) -> bytes:
    """ICRC. Fields that routers and switches may change count as ones."""
    masked = bytearray(packet[:-6])
    transport = LRH
    if packet[1] & 3 == GLOBAL:
        masked[0:LRH] = b"\xff" * LRH
        masked[LRH] |= 0x0F  # traffic class and flow label
        masked[LRH + 1:LRH + 4] = b"\xff" * 3
        masked[LRH + 7] = 0xFF  # hop limit
        transport += GRH
    else:
        masked[0] |= 0xF0  # virtual lane
    masked[transport + 4] = 0xFF
    return struct.pack("<I", zlib.crc32(masked))


def check(packet: bytes) -> None:
    length = (struct.unpack_from(">H", packet, 4)[0] & 0x7FF) * 4 + 2
    if length != len(packet):
        raise CaptureError(f"PktLen says {length} bytes, the packet has {len(packet)}")
    if length < transport_of(packet) + BTH + 6:
        raise CaptureError(f"{length} bytes are too few for the headers")
    if packet[-6:-2] != invariant_crc(packet):
        raise CaptureError(f"ICRC is {packet[-6:-2].hex()}, not {invariant_crc(packet).hex()}")
    if packet[-2:] != variant_crc(packet):
        raise CaptureError(f"VCRC is {packet[-2:].hex()}, not {variant_crc(packet).hex()}")


def kinds_of(packet: bytes) -> Iterator[str]:
    """The names in KINDS that apply to a packet."""
    transport = LRH
    if packet[1] & 3 == GLOBAL:
        yield "global"
        transport += GRH
    if 0xC000 <= struct.unpack_from(">H", packet, 2)[0] < 0xFFFF:
        yield "multicast"
    if packet[transport] not in (UD_SEND, UD_SEND_IMMEDIATE):
        return
    destination = struct.unpack_from(">I", packet, transport + 4)[0] & 0xFFFFFF
    management_class = packet[transport + BTH + DETH + 1]
    if destination == 0:
        yield "smp"
        if management_class == 0x81:
            yield "directed-route"
    elif destination == 1:
        yield "gmp"
    else:
        yield "datagram"


def transport_of(packet: bytes) -> int:
    """Offset of the base transport header."""
    return LRH + (GRH if packet[1] & 3 == GLOBAL else 0)


def kinds_of_connection(packet: bytes) -> Iterator[str]:
    opcode = packet[transport_of(packet)]
    if opcode >> 5 not in SERVICES:
        return
    yield SERVICES[opcode >> 5]
    operation = opcode & 0x1F
    if operation in (first for first, _, _ in MESSAGES.values()):
        yield "long"
    if operation == READ_REQUEST:
        yield "read"
    elif operation in (COMPARE_SWAP, FETCH_ADD):
        yield "atomic"
    elif operation == ACKNOWLEDGE:
        yield "acknowledge"


class Flow:
    """The requests, or the responses, of one connection in one direction, in wire order."""

    def __init__(self) -> None:
        self.psn = -1  # of the previous packet
        self.operation = 0

    def check(self, service: str, operation: int, psn: int) -> None:
        """Checks that a packet continues the message of the previous one, and that requests skip no PSN."""
        follows = psn == (self.psn + 1) % PSN_MODULUS
        ahead = 0 < (psn - self.psn) % PSN_MODULUS < PSN_MODULUS // 2
        known = self.psn >= 0
        if known and not ahead and service == "uc":
            raise CaptureError(f"PSN {psn:#x} of an unreliable connection comes after {self.psn:#x}")
        if known and ahead and not follows and operation not in RESPONSES and self.operation != READ_REQUEST:
            raise CaptureError(f"PSN {psn:#x} comes after {self.psn:#x}")
        for name, (first, middle, ends) in MESSAGES.items():
            inside = known and follows and self.operation in (first, middle)
            if inside and operation not in (middle, *ends):
                raise CaptureError(f"opcode {operation:#x} within a {name}, PSN {psn:#x}")
            if known and follows and not inside and operation in (middle, *ends):
                raise CaptureError(f"opcode {operation:#x} without the start of a {name}, PSN {psn:#x}")
        self.psn, self.operation = psn, operation


class Flows:
    """All connections. A packet is captured on the link to the switch and on the link after it; only the first capture
    is checked."""

    def __init__(self) -> None:
        self.at_switch: set[bytes] = set()
        self.flows: dict[tuple[bytes, bytes, bool], Flow] = collections.defaultdict(Flow)

    def check(self, packet: bytes) -> None:
        start = transport_of(packet)
        service = SERVICES.get(packet[start] >> 5)
        if service is None:
            return
        if packet in self.at_switch:
            self.at_switch.remove(packet)
            return
        self.at_switch.add(packet)
        operation = packet[start] & 0x1F
        psn = struct.unpack_from(">I", packet, start + 8)[0] & 0xFFFFFF
        key = (packet[2:4] + packet[6:8], packet[start + 5:start + 8], operation in RESPONSES)
        self.flows[key].check(service, operation, psn)


def tshark(file: pathlib.Path, *arguments: str) -> list[str]:
    guesses = [word for name in GUESSES for word in ("--disable-heuristic", name)]
    command = ["tshark", "-r", str(file), *guesses, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CaptureError(f"tshark ended with {done.returncode}: {done.stderr}")
    return done.stdout.splitlines()


def check_dissection(file: pathlib.Path, count: int) -> None:
    """Checks that Wireshark dissects every packet as InfiniBand, none as malformed."""
    frames = tshark(file, "-Y", "infiniband.lrh", "-T", "fields", "-e", "frame.number")
    if len(frames) != count:
        raise CaptureError(f"tshark sees InfiniBand in {len(frames)} of {count} packets")
    suspicious = tshark(file, "-Y", "_ws.malformed or _ws.short or _ws.expert.severity == error")
    if suspicious:
        raise CaptureError(f"tshark finds {len(suspicious)} packets malformed, the first is: {suspicious[0]}")


def check_file(file: pathlib.Path, wanted: list[str]) -> collections.Counter[str]:
    """Checks a capture; returns the number of packets of each kind."""
    found: collections.Counter[str] = collections.Counter()
    flows = Flows()
    count = 0
    for count, packet in enumerate(packets(file), 1):
        try:
            check(packet)
            flows.check(packet)
        except CaptureError as error:
            raise CaptureError(f"packet {count} of {file}: {error}") from error
        found.update(kinds_of(packet))
        found.update(kinds_of_connection(packet))
    found["all"] = count
    for kind in wanted:
        if not found[kind]:
            raise CaptureError(f"{file} has no {KINDS[kind]}")
    check_dissection(file, count)
    return found


def main(arguments: list[str]) -> int:
    if not arguments or set(arguments[1:]) - KINDS.keys():
        print(f"usage: capture.py FILE [{'|'.join(KINDS)}]…", file=sys.stderr)
        return 2
    file = pathlib.Path(arguments[0])
    try:
        found = check_file(file, arguments[1:])
    except (CaptureError, OSError, struct.error) as error:
        print(f"capture.py: {error}", file=sys.stderr)
        return 1
    print(f"{file}: {found.pop('all')} packets are right; " +
          ", ".join(f"{number} {kind}" for kind, number in sorted(found.items())))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
