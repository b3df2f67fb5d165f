# SPDX-License-Identifier: GPL-2.0-or-later
"""What tools/testing/cxemu/capture.py makes of the order of packets in a connection."""

import pathlib
import struct
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cxemu"))

import capture  # noqa: E402  (found through the path above)

RC, UC = 0x00, 0x20
FIRST, MIDDLE, LAST, ONLY, READ = 0x00, 0x01, 0x02, 0x04, 0x0C


def packet(opcode: int, psn: int) -> bytes:
    """Headers of a packet between two ports; the checksums are not looked at here."""
    return struct.pack(">HHHH", 2, 2, 7, 1) + struct.pack(">BBHII", opcode, 0, 0xFFFF, 0x41, psn) + bytes(6)


def check(*packets: tuple[int, int]) -> None:
    flows = capture.Flows()
    for opcode, psn in packets:
        flows.check(packet(opcode, psn))  # to the switch
        flows.check(packet(opcode, psn))  # and behind it


class OrderOfPackets(unittest.TestCase):
    def test_whole_messages_pass(self) -> None:
        check((RC | FIRST, 0xFFFFFE), (RC | MIDDLE, 0xFFFFFF), (RC | LAST, 0), (RC | ONLY, 1))

    def test_repetitions_pass_where_they_are_allowed(self) -> None:
        check((RC | ONLY, 5), (RC | ONLY, 6), (RC | ONLY, 5))
        with self.assertRaisesRegex(capture.CaptureError, "unreliable"):
            check((UC | ONLY, 5), (UC | ONLY, 6), (UC | ONLY, 5))

    def test_reads_take_as_many_numbers_as_their_responses(self) -> None:
        check((RC | READ, 5), (RC | ONLY, 9))

    def test_a_number_that_is_left_out(self) -> None:
        with self.assertRaisesRegex(capture.CaptureError, "0x7 comes after 0x5"):
            check((RC | ONLY, 5), (RC | ONLY, 7))

    def test_a_message_without_its_start(self) -> None:
        with self.assertRaisesRegex(capture.CaptureError, "without the start of a send"):
            check((RC | ONLY, 5), (RC | LAST, 6))

    def test_a_message_without_its_end(self) -> None:
        with self.assertRaisesRegex(capture.CaptureError, "within a send"):
            check((RC | FIRST, 5), (RC | ONLY, 6))


if __name__ == "__main__":
    unittest.main()
