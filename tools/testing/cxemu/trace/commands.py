# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads commands from a log of mlx5_core: what it sent to a card and what the card returned.

The driver dumps each queue entry with its mailboxes twice, before the doorbell and after the completion. The result
says which mailboxes the driver did not dump.
"""

import re
from dataclasses import dataclass, field

DUMP = re.compile(r"dump command .*\((0x[0-9a-f]+)\) (INPUT|OUTPUT)")
WORDS = re.compile(r"\[[^\]]*\] [0-9a-f]{3,}: ((?:[0-9a-f]{8} ?){4})$")
DOORBELL = re.compile(r"writing (0x[0-9a-f]+) to command doorbell")
QUEUE = re.compile(r"descriptor at dma (0x[0-9a-f]+)")
FIRMWARE = re.compile(r"firmware version: (\d+)\.(\d+)\.(\d+)")

ENTRY = 0x40  # bytes of a queue entry
INLINE = 0x10  # bytes of the command in the entry
MAILBOX = 0x240  # bytes of a mailbox
DATA = 0x200  # bytes of the command in it


def number(data: bytes, begin: int, size: int) -> int:
    return int.from_bytes(data[begin:begin + size], "big")


@dataclass
class Mailbox:
    address: int
    content: bytes

    @property
    def next(self) -> int:
        return number(self.content, 0x230, 8) & ~0x3FF


@dataclass
class Dump:
    """One dump of an entry."""

    content: bytearray = field(default_factory=bytearray)

    @property
    def entry(self) -> bytes:
        return bytes(self.content[:ENTRY])

    def chain(self, pointer: int) -> list[Mailbox]:
        """The dumped mailboxes. pointer: offset of the first mailbox's address in the entry."""
        found, address = [], number(self.entry, pointer, 8) & ~0x1FF
        for begin in range(ENTRY, len(self.content) - MAILBOX + 1, MAILBOX):
            found.append(Mailbox(address, bytes(self.content[begin:begin + MAILBOX])))
            address = found[-1].next
        return found


@dataclass
class Command:
    opcode: int
    before: Dump
    after: Dump
    doorbell: int = 0

    @property
    def slot(self) -> int:
        return self.doorbell.bit_length() - 1

    @property
    def input_length(self) -> int:
        return number(self.before.entry, 0x04, 4)

    @property
    def output_length(self) -> int:
        return number(self.before.entry, 0x38, 4)

    @property
    def op_mod(self) -> int:
        return number(self.before.entry, 0x16, 2)

    @property
    def delivery_status(self) -> int:
        return self.after.entry[0x3F] >> 1

    @property
    def input_mailboxes(self) -> list[Mailbox]:
        return self.before.chain(0x08)

    @property
    def output_mailboxes(self) -> list[Mailbox]:
        return self.after.chain(0x30)

    @property
    def output(self) -> bytes:
        """The output as far as it was dumped."""
        data = self.after.entry[0x20:0x30] + b"".join(mailbox.content[:DATA] for mailbox in self.output_mailboxes)
        return data[:self.output_length]


@dataclass
class Trace:
    firmware: tuple[int, int, int]
    queue: int  # bus address of the command queue
    commands: list[Command]


def read(text: str) -> Trace:
    """Raises ValueError if the text is not such a log."""
    firmware, queue = FIRMWARE.search(text), QUEUE.search(text)
    if not firmware or not queue:
        raise ValueError("no log of mlx5_core with commands: firmware version or command queue is missing")
    commands: list[Command] = []
    dump = None
    for line in text.splitlines():
        if found := DUMP.search(line):
            if found[2] == "INPUT":
                commands.append(Command(int(found[1], 0), Dump(), Dump()))
            dump = commands[-1].before if found[2] == "INPUT" else commands[-1].after
        elif (found := WORDS.match(line.rstrip())) and dump:
            dump.content += bytes.fromhex(found[1])
        elif (found := DOORBELL.search(line)) and commands:
            commands[-1].doorbell = int(found[1], 0)
    for command in commands:
        if not command.doorbell or len(command.after.content) < ENTRY:
            raise ValueError(f"command {command.opcode:#x} has no doorbell or no answer")
    return Trace(tuple(map(int, firmware.groups())), int(queue[1], 0), commands)
