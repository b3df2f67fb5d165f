# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests that perftest transfers everything with each program, service and size. Figures are printed only.

Needs a subnet manager and two devices on one switch. CXEMU_MATRIX=whole runs all combinations instead of a selection.
"""

import dataclasses
import os
import time
import unittest
from collections.abc import Iterator

import rdma
from cxemu_machines import TRANSPORT
from machine import LONG

GUESTS = [guest for guest in TRANSPORT if guest.level == LONG]
WHOLE = os.environ.get("CXEMU_MATRIX", "short") == "whole"
ROUNDS = 10  # a multiple of the list length of -l
LARGEST = 23  # log2 of bytes; the limit of -a
LARGEST_DATAGRAM = 12
PATIENCE = 600.0

OPERATIONS = {"RC": ("send", "write", "read", "atomic"), "XRC": ("send", "write", "read", "atomic"),
              "UC": ("send", "write"), "UD": ("send",)}


@dataclasses.dataclass(frozen=True)
class Run:
    """One run of a perftest server and its client."""

    operation: str
    measure: str  # bw or lat
    service: str
    options: tuple[str | int, ...] = ()
    rounds: int = ROUNDS

    @property
    def program(self) -> list[str | int]:
        return [f"ib_{self.operation}_{self.measure}", "-F", "-c", self.service, "-n", self.rounds, *self.options]

    @property
    def sizes(self) -> list[int]:
        """The sizes in bytes that the program must report."""
        if self.operation == "atomic":
            return [8]
        if "-s" in self.options:
            return [int(self.options[self.options.index("-s") + 1])]
        return [1 << log for log in range(1, (LARGEST_DATAGRAM if self.service == "UD" else LARGEST) + 1)]


def has_events(operation: str) -> bool:
    """Whether the program has the option -e. Programs that write poll memory instead."""
    return operation != "write"


def sizes_for(operation: str, service: str) -> list[tuple[str | int, ...]]:
    """Size options: one byte, and all powers of two. A datagram has one packet; an atomic operand has 8 bytes."""
    if operation == "atomic":
        return [()]
    if service == "UD":
        return [("-s", size) for size in (1, 64, 2048, 4096)]
    return [("-s", 1), ("-a",)]


def whole_matrix() -> Iterator[Run]:
    for service, operations in OPERATIONS.items():
        for operation in operations:
            for measure in ("bw", "lat"):
                for sizes in sizes_for(operation, service):
                    yield Run(operation, measure, service, sizes)
                    if has_events(operation):
                        yield Run(operation, measure, service, (*sizes, "-e"))
                if operation in ("send", "write"):
                    yield Run(operation, measure, service, ("-s", 64, "-I", 64))
    for kind in ("FETCH_AND_ADD", "CMP_AND_SWAP"):
        for service in ("RC", "XRC"):
            yield Run("atomic", "bw", service, ("-A", kind))
    for service in ("RC", "UC", "UD"):
        yield Run("send", "bw", service, ("-s", 1024, "--use-srq", "-q", 4))
        # With UC and UD perftest posts at least 100 receives for each size, so fewer rounds would fill the queue.
        yield Run("send", "bw", service, ("-a", "--use-srq"), rounds=128)
    for service in ("RC", "UC"):
        for mtu in (256, 512, 1024, 2048):
            yield Run("send", "bw", service, ("-s", 65536, "-m", mtu))
    for operation in ("send", "write", "read"):
        yield Run(operation, "bw", "RC", ("-s", 4096, "-b"))
        yield Run(operation, "bw", "RC", ("-s", 4096, "-q", 8, "-l", 5))


def short_matrix() -> Iterator[Run]:
    yield Run("send", "bw", "RC", ("-a",))
    for operation in ("write", "read"):
        yield Run(operation, "bw", "RC", ("-s", 1 << LARGEST))
    yield Run("read", "lat", "RC", ("-s", 1))
    yield Run("atomic", "lat", "RC")
    yield Run("send", "lat", "RC", ("-s", 1, "-e"))
    yield Run("write", "lat", "RC", ("-s", 64, "-I", 64))
    yield Run("atomic", "bw", "RC", ("-A", "CMP_AND_SWAP"))
    yield Run("send", "bw", "RC", ("-s", 1024, "--use-srq", "-q", 4))
    yield Run("send", "bw", "UC", ("-s", 1 << LARGEST))
    yield Run("write", "lat", "UC", ("-s", 4097,))
    yield Run("send", "lat", "UD", ("-s", 4096, "-e"))
    for operation in OPERATIONS["XRC"]:
        yield Run(operation, "bw", "XRC", () if operation == "atomic" else ("-s", 65536))


class Perftest(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.first, cls.second = rdma.ports()[:2]

    def check(self, run: Run) -> None:
        began = time.monotonic()
        _, client = rdma.exchange(run.program, self.first, self.second, PATIENCE)
        rows = rdma.perftest_rows(client)
        self.assertEqual([int(row[0]) for row in rows], run.sizes, client)
        for row in rows:
            self.assertEqual(int(row[1]) % run.rounds, 0, row)
        words = " ".join(str(word) for word in run.program)
        print(f"    {words}: {rows[-1][2:4]}, {time.monotonic() - began:.1f} s", flush=True)

    def test_matrix(self) -> None:
        for run in whole_matrix() if WHOLE else short_matrix():
            with self.subTest(" ".join(str(word) for word in run.program)):
                self.check(run)


if __name__ == "__main__":
    unittest.main(verbosity=2)
