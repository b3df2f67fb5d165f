# SPDX-License-Identifier: GPL-2.0-or-later
"""The file completion_queues of an HCA in debugfs, which says how its CQs are polled."""

import dataclasses
import pathlib
import re

DEBUGFS = pathlib.Path("/sys/kernel/debug/cxib")


@dataclasses.dataclass(frozen=True)
class Queue:
    """A CQ of the kernel. Each number is as old as the line, and only grows."""

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
    waits: tuple[int, ...]

    @classmethod
    def parse(cls, vector: str, context: str, rest: str) -> "Queue":
        state, *numbers, waits = rest.split()
        return cls(int(vector), context, state, *map(int, numbers), tuple(map(int, waits.split(","))))


@dataclasses.dataclass(frozen=True)
class Vector:
    """A completion vector: number of its CQs, and its thread, 0 if it has none."""

    cqs: int
    pid: int


class Shown:
    """What the file says now."""

    def __init__(self, hca: pathlib.Path) -> None:
        text = (DEBUGFS / hca.name / "completion_queues").read_text()
        counts = re.match(r"own threads: (\d+), CQs left to the core: (\d+), events of unknown CQs: (\d+)\n", text)
        self.own_threads, self.left_to_core, self.unknown_events = map(int, counts.groups())
        self.vectors = {int(number): Vector(int(cqs), int(pid))
                        for number, cqs, pid in re.findall(r"(?m)^(\d+) (\d+) (\d+)$", text)}
        self.queues = {int(number, 16): Queue.parse(*rest)
                       for number, *rest in re.findall(r'(?m)^0x(\w+) (\d+) "([^"]+)" (.+)$', text)}
