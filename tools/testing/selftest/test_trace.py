# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests how cxemu's replay reads a trace of mlx5_core and explains differences."""

import pathlib
import sys
import unittest

CXEMU = pathlib.Path(__file__).resolve().parents[1] / "cxemu"
sys.path[:0] = [str(CXEMU / "trace"), str(CXEMU / "host")]

import commands  # noqa: E402  pylint: disable=wrong-import-position
import test_replay  # noqa: E402  pylint: disable=wrong-import-position


def dump(direction: str, data: bytes) -> str:
    """A dump as mlx5_core prints it: lines of 16 bytes."""
    text = f"[  +0.000001] mlx5_core 0000:02:00.0: dump_command:587:(pid 87): dump command SET(0x109) {direction}\n"
    for begin in range(0, len(data), 16):
        words = " ".join(data[begin + word:begin + word + 4].hex() for word in range(0, 16, 4))
        text += f"[  +0.000001] {begin:03x}: {words}\n"
    return text + "\n"


def entry(input_length: int, output_length: int, mailbox: int, owner: int) -> bytes:
    """A command queue entry with opcode 0x109 and op_mod 6."""
    head = bytes.fromhex("07000000") + input_length.to_bytes(4, "big") + mailbox.to_bytes(8, "big")
    command = bytes.fromhex("01090000 00000006 00000000 00000000")
    output = bytes.fromhex("00000000 00000000 00000001 00000002")
    return head + command + output + bytes(8) + output_length.to_bytes(4, "big") + bytes([5, 0, 0, owner])


def mailbox(data: bytes, following: int) -> bytes:
    return data.ljust(0x230, b"\0") + following.to_bytes(8, "big") + bytes(8)


HEAD = ("mlx5_core 0000:02:00.0: firmware version: 14.12.1220\n"
        "mlx5_core 0000:02:00.0: mlx5_cmd_init:1620:(pid 194): descriptor at dma 0x7af3d0000\n")
SENT = entry(0x10 + 0x210, 16, 0x7000, 1) + mailbox(b"first", 0x9400) + mailbox(b"second", 0)
BELL = "mlx5_core 0000:02:00.0: cmd_work_handler:665:(pid 87): writing 0x80000000 to command doorbell\n"
TRACE = HEAD + dump("INPUT", SENT) + BELL + dump("OUTPUT", entry(0x220, 16, 0x7000, 0x08))


class Reader(unittest.TestCase):
    def test_log_read_command_by_command(self) -> None:
        trace = commands.read(TRACE)
        self.assertEqual((trace.firmware, trace.queue), ((14, 12, 1220), 0x7AF3D0000))
        (command,) = trace.commands
        self.assertEqual((command.opcode, command.op_mod, command.slot), (0x109, 6, 31))
        self.assertEqual((command.input_length, command.output_length), (0x220, 16))
        self.assertEqual(command.delivery_status, 4)
        self.assertEqual(command.output[8:], bytes.fromhex("0000000100000002"))

    def test_mailboxes_have_addresses_of_log(self) -> None:
        boxes = commands.read(TRACE).commands[0].input_mailboxes
        self.assertEqual([(box.address, box.content[:6]) for box in boxes], [(0x7000, b"first\0"), (0x9400, b"second")])

    def test_mailboxes_missing_in_log_are_fewer(self) -> None:
        cut = SENT[:-0x240]
        boxes = commands.read(HEAD + dump("INPUT", cut) + BELL + dump("OUTPUT", cut[:0x40])).commands[0].input_mailboxes
        self.assertEqual(len(boxes), 1)

    def test_other_text_refused(self) -> None:
        for text in ("", HEAD.replace("firmware", "software"), HEAD + dump("INPUT", SENT)):
            with self.subTest(text[:40]), self.assertRaises(ValueError):
                commands.read(text)


class Explanation(unittest.TestCase):
    FOUND = ["query: a: card 0x1, cxemu 0x0", "query: b: card 0x1, cxemu 0x2"]

    def explain(self, *patterns: str) -> tuple[list[str], list[str]]:
        return test_replay.explain(self.FOUND, [{"difference": pattern, "reason": ""} for pattern in patterns])

    def test_difference_without_reason_remains(self) -> None:
        self.assertEqual(self.explain("query: a: "), ([self.FOUND[1]], []))

    def test_reason_for_nothing_reported(self) -> None:
        self.assertEqual(self.explain("query: [ab]: ", "query: c: "), ([], ["query: c: "]))

    def test_other_values_not_explained(self) -> None:
        self.assertEqual(self.explain("query: .: card 0x1, cxemu 0x0$")[0], [self.FOUND[1]])


if __name__ == "__main__":
    unittest.main()
