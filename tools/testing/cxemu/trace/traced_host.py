# SPDX-License-Identifier: GPL-2.0-or-later
"""Sends the commands of a trace to cxemu over the vfio-user protocol, without a virtual machine."""

import mmap
import os
import struct
import time
from pathlib import Path

import vfio_user
from commands import DATA, ENTRY, INLINE, MAILBOX, Command, Mailbox, Trace, number

BAR0, CONFIG = 0, 7  # regions
COMMAND_REGISTER, MEMORY_AND_BUS_MASTER = 0x04, 0x06
FIRMWARE_VERSION, QUEUE_HIGH, QUEUE_LOW, DOORBELL, INITIALIZING = 0x00, 0x10, 0x14, 0x18, 0x1FC
MEMORY = 1 << 35  # bytes; a sparse file, larger than each address of the trace
SPARE = 1 << 34  # addresses from here on are not in the trace; replacements go here
PATIENCE = 60  # seconds until something counts as hung


class Machine(vfio_user.Connection):
    """A host whose memory has the bus addresses of the trace."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, PATIENCE)
        self.spare = SPARE
        file = self.map_memory(MEMORY)
        self.memory = mmap.mmap(file, MEMORY)
        os.close(file)
        self.call(vfio_user.REGION_WRITE, struct.pack("<QIIH", COMMAND_REGISTER, CONFIG, 2, MEMORY_AND_BUS_MASTER))

    def close(self) -> None:
        self.memory.close()
        super().close()

    def read_register(self, offset: int) -> int:
        return int.from_bytes(self.call(vfio_user.REGION_READ, struct.pack("<QII", offset, BAR0, 4))[-4:], "big")

    def write_register(self, offset: int, value: int) -> None:
        self.call(vfio_user.REGION_WRITE, struct.pack("<QII", offset, BAR0, 4) + value.to_bytes(4, "big"))

    def firmware(self) -> tuple[int, int, int]:
        version, subminor = self.read_register(FIRMWARE_VERSION), self.read_register(FIRMWARE_VERSION + 4)
        return version & 0xFFFF, version >> 16, subminor & 0xFFFF

    def start(self, trace: Trace) -> None:
        deadline = time.monotonic() + PATIENCE
        while self.read_register(INITIALIZING) >> 31:
            if time.monotonic() > deadline:
                raise TimeoutError("the firmware does not come up")
            time.sleep(0.01)
        self.write_register(QUEUE_HIGH, trace.queue >> 32)
        self.write_register(QUEUE_LOW, trace.queue & 0xFFFFFFFF)

    def _store(self, address: int, data: bytes) -> None:
        self.memory[address:address + len(data)] = data

    def _spare_mailbox(self, block: int, token: int) -> Mailbox:
        self.spare += 0x1000
        content = bytearray(MAILBOX)
        content[0x238:0x23C] = block.to_bytes(4, "big")
        content[0x23D] = token
        return Mailbox(self.spare, bytes(content))

    def _chain(self, dumped: list[Mailbox], length: int, token: int, rest: bytes = b"") -> int:
        """Stores mailboxes for length bytes: the dumped ones, then replacements with rest. Returns the first
        address."""
        count = -(-max(length - INLINE, 0) // DATA)
        boxes = dumped[:count] + [self._spare_mailbox(block, token) for block in range(len(dumped), count)]
        for position, box in enumerate(boxes):
            following = boxes[position + 1].address if position + 1 < count else 0
            content = bytearray(box.content)
            if position >= len(dumped):
                part, rest = rest[:DATA], rest[DATA:]
                content[:len(part)] = part
            content[0x230:0x238] = following.to_bytes(8, "big")
            self._store(box.address, bytes(content))
        return boxes[0].address if boxes else 0

    def _pages(self, count: int) -> bytes:
        """A list of that many unused page addresses."""
        first = self.spare + 0x1000
        self.spare = first + count * 0x1000
        return b"".join((first + page * 0x1000).to_bytes(8, "big") for page in range(count))

    def execute(self, trace: Trace, command: Command, lists_pages: bool) -> tuple[int, bytes]:
        """Sends a command as recorded; returns delivery status and output.

        lists_pages: the input ends with page addresses, some of which the trace lacks.
        """
        token = command.before.entry[0x3C]
        dumped, empty = command.input_mailboxes, [Mailbox(box.address, bytes(DATA) + box.content[DATA:])
                                                  for box in command.output_mailboxes]
        missing = command.input_length - INLINE - len(dumped) * DATA
        rest = self._pages(missing // 8) if lists_pages and missing > 0 else b""
        entry = bytearray(command.before.entry)
        entry[0x08:0x10] = self._chain(dumped, command.input_length, token, rest).to_bytes(8, "big")
        entry[0x20:0x30] = bytes(0x10)
        outputs = self._chain(empty, command.output_length, token)
        entry[0x30:0x38] = outputs.to_bytes(8, "big")
        place = trace.queue + command.slot * ENTRY
        self._store(place, bytes(entry))
        self.write_register(DOORBELL, command.doorbell)
        deadline = time.monotonic() + PATIENCE
        while self.memory[place + 0x3F] & 1:
            if time.monotonic() > deadline:
                raise TimeoutError(f"command {command.opcode:#x} does not complete")
            self.read_register(FIRMWARE_VERSION)  # a register read lets cxemu process events
        return self.memory[place + 0x3F] >> 1, self._output(place, command.output_length)

    def _output(self, place: int, length: int) -> bytes:
        entry = self.memory[place:place + ENTRY]
        data, address = entry[0x20:0x30], number(entry, 0x30, 8) & ~0x1FF
        while len(data) < length:
            box = Mailbox(address, self.memory[address:address + MAILBOX])
            data, address = data + box.content[:DATA], box.next
        return data[:length]
