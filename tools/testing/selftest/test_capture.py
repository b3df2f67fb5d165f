# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests tools/testing/cxemu/capture.py: checksums, Wireshark's complaints, the order of packets in a connection."""

import pathlib
import struct
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cxemu"))

import capture  # noqa: E402  (found through the path above)

RC, UC = 0x00, 0x20
FIRST, MIDDLE, LAST, ONLY, READ = 0x00, 0x01, 0x02, 0x04, 0x0C


# The RDMA WRITE example of the specification, with its invariant CRC.
SAMPLE = bytes.fromhex("7012375c000e17d2 0a20248700 87b1b3 000dec2a 01710a1c015d4002 38f27a05 0000000e"
                       "bb884d85fd5cfba4728bc0690ed40000 9625b75a 45fa")


def packet(opcode: int, psn: int) -> bytes:
    """Headers of a packet between two ports, without valid checksums."""
    return struct.pack(">HHHH", 2, 2, 7, 1) + struct.pack(">BBHII", opcode, 0, 0xFFFF, 0x41, psn) + bytes(6)


def check(*packets: tuple[int, int]) -> None:
    flows = capture.Flows()
    for opcode, psn in packets:
        flows.check(packet(opcode, psn))  # towards the switch
        flows.check(packet(opcode, psn))  # after the switch


def with_checksums(content: bytes) -> bytes:
    """A packet with valid checksums around any content."""
    draft = content + bytes(6)
    draft = draft[:-6] + capture.invariant_crc(draft) + bytes(2)
    return draft[:-2] + capture.variant_crc(draft)


def pcap(*packets: bytes) -> bytes:
    data = struct.pack("=IHHiIII", capture.MAGIC_NANOSECONDS, 2, 4, 0, 0, 65535, capture.DLT_ERF)
    for content in packets:
        size = capture.ERF_HEADER + len(content)
        record = bytes(8) + struct.pack(">BBHHH", capture.ERF_INFINIBAND, 4, size, 0, len(content)) + content
        data += struct.pack("=IIII", 1, 0, size, size) + record
    return data


class Packets(unittest.TestCase):
    def test_specification_sample_accepted(self) -> None:
        capture.check(SAMPLE)

    def test_wrong_bit_found(self) -> None:
        for bit in range(8 * len(SAMPLE)):
            wrong = bytearray(SAMPLE)
            wrong[bit // 8] ^= 1 << bit % 8
            with self.subTest(bit=bit), self.assertRaises(capture.CaptureError):
                capture.check(bytes(wrong))

    def test_wrong_icrc_behind_valid_vcrc_found(self) -> None:
        wrong = SAMPLE[:-6] + bytes(4) + bytes(2)
        with self.assertRaisesRegex(capture.CaptureError, "ICRC is 00000000, not 9625b75a"):
            capture.check(wrong[:-2] + capture.variant_crc(wrong))


class Files(unittest.TestCase):
    def setUp(self) -> None:
        self.file = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "capture.pcap"

    def test_packets_counted_by_type(self) -> None:
        self.file.write_bytes(pcap(SAMPLE, SAMPLE))
        self.assertEqual(capture.check_file(self.file, ["rc"]), {"rc": 2, "all": 2})

    def test_missing_type_reported(self) -> None:
        self.file.write_bytes(pcap(SAMPLE))
        with self.assertRaisesRegex(capture.CaptureError, "no RDMA reads"):
            capture.check_file(self.file, ["read"])

    def test_truncated_file_reported(self) -> None:
        self.file.write_bytes(pcap(SAMPLE)[:-1])
        with self.assertRaisesRegex(capture.CaptureError, "cut off"):
            capture.check_file(self.file, [])

    def test_number_of_wrong_packet_reported(self) -> None:
        self.file.write_bytes(pcap(SAMPLE, SAMPLE[:-1] + b"?"))
        with self.assertRaisesRegex(capture.CaptureError, "packet 2 of .*VCRC"):
            capture.check_file(self.file, [])

    def test_packet_malformed_for_wireshark_reported(self) -> None:
        """An RDMA WRITE without RETH must be reported."""
        content = bytearray(SAMPLE[:20])
        content[4:6] = struct.pack(">H", (len(content) + 4) // 4)
        self.file.write_bytes(pcap(with_checksums(bytes(content))))
        with self.assertRaisesRegex(capture.CaptureError, "tshark finds 1 packets malformed"):
            capture.check_file(self.file, [])


class OrderOfPackets(unittest.TestCase):
    def test_whole_messages_pass(self) -> None:
        check((RC | FIRST, 0xFFFFFE), (RC | MIDDLE, 0xFFFFFF), (RC | LAST, 0), (RC | ONLY, 1))

    def test_repetitions_pass_where_allowed(self) -> None:
        check((RC | ONLY, 5), (RC | ONLY, 6), (RC | ONLY, 5))
        with self.assertRaisesRegex(capture.CaptureError, "unreliable"):
            check((UC | ONLY, 5), (UC | ONLY, 6), (UC | ONLY, 5))

    def test_reads_take_psns_of_responses(self) -> None:
        check((RC | READ, 5), (RC | ONLY, 9))

    def test_missing_psn_reported(self) -> None:
        with self.assertRaisesRegex(capture.CaptureError, "0x7 comes after 0x5"):
            check((RC | ONLY, 5), (RC | ONLY, 7))

    def test_message_without_start_reported(self) -> None:
        with self.assertRaisesRegex(capture.CaptureError, "without the start of a send"):
            check((RC | ONLY, 5), (RC | LAST, 6))

    def test_message_without_end_reported(self) -> None:
        with self.assertRaisesRegex(capture.CaptureError, "within a send"):
            check((RC | FIRST, 5), (RC | ONLY, 6))


if __name__ == "__main__":
    unittest.main()
