# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the debugfs file completion_queues of an HCA: how the driver polls each CQ."""

import dataclasses
import pathlib
import re

DEBUGFS = pathlib.Path("/sys/kernel/debug/cxib")


@dataclasses.dataclass(frozen=True)
class Queue:
    """A kernel CQ. Its counters start at 0 when its line appears, and only grow."""

    vector: int
    context: str
    state: str
    pid: int
    turns: int
    completed: int
    quantum_ends: int
    missed: int
    late: int
    wait_us_max: int

    @classmethod
    def parse(cls, vector: str, context: str, rest: str) -> "Queue":
        state, *numbers = rest.split()
        return cls(int(vector), context, state, *map(int, numbers))


@dataclasses.dataclass(frozen=True)
class Vector:
    """A completion vector: the number of its CQs and the PID of its thread (0: no thread)."""

    cqs: int
    pid: int


class Shown:
    """The current content of the file."""

    def __init__(self, hca: pathlib.Path) -> None:
        text = (DEBUGFS / hca.name / "completion_queues").read_text()
        counts = re.match(r"own threads: (\d+), CQs left to the core: (\d+), events of unknown CQs: (\d+)\n", text)
        self.own_threads, self.left_to_core, self.unknown_events = map(int, counts.groups())
        self.vectors = {int(number): Vector(int(cqs), int(pid))
                        for number, cqs, pid in re.findall(r"(?m)^(\d+) (\d+) (\d+)$", text)}
        self.queues = {int(number, 16): Queue.parse(*rest)
                       for number, *rest in re.findall(r'(?m)^0x(\w+) (\d+) "([^"]+)" (.+)$', text)}
