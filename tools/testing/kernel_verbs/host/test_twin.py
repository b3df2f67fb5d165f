# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares signature pipelining through libmlx5 on mlx5_ib with cxib's functions for ULPs: the same commands must lead to
the same messages on the wire and the same state transitions of the target's QP."""

import pathlib
import re
import struct
import sys

import pytest
from guests.run import GuestRun

TESTING = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(TESTING / "cxemu"), str(TESTING / "guest")]

import capture  # noqa: E402  (found through the path above)
from machine import Guest  # noqa: E402

RC, SEND_ONLY, WRITE_FIRST, WRITE_ONLY = 0, 0x04, 0x06, 0x0A  # BTH, IBA 9.2.1
RETH = struct.Struct(">QII")  # address, key, length
RESPONSE = struct.Struct("=3I")  # number, slot, good; as struct response of the test module
COMMAND = re.compile(r" *\d+ (\w+) (\w+): .*?\bqpn=(0x[0-9a-f]+)")


def messages(file: pathlib.Path) -> list[tuple[str, int]]:
    """Writes with length and responses with number, in order; then the responses with an error, whose position depends
    on timing. A repeated message counts once, as does one captured on both of its links."""
    ordered, errors, seen = [], [], set()
    for packet in capture.packets(file):
        if packet[1] & 3 != capture.LOCAL or packet[capture.LRH] >> 5 != RC:
            continue
        opcode, body = packet[capture.LRH], capture.LRH + capture.BTH
        destination, sequence = (int.from_bytes(packet[place:place + 3]) for place in (13, 17))
        if (opcode, destination, sequence) in seen:
            continue
        seen.add((opcode, destination, sequence))
        if opcode in (WRITE_FIRST, WRITE_ONLY):
            ordered.append(("write", RETH.unpack_from(packet, body)[2]))
        elif opcode == SEND_ONLY:
            number, _, good = RESPONSE.unpack_from(packet, body)
            (ordered if good else errors).append(("response" if good else "error", number))
    return ordered + sorted(errors)


def transitions(file: pathlib.Path) -> list[str]:
    """Transitions of the only QP that stops at signature errors, until its end."""
    commands: dict[tuple[str, str], list[str]] = {}
    stopping = set()
    for line in file.read_text().splitlines():
        if not (found := COMMAND.match(line)):
            continue
        hca, name, number = found.groups()
        commands.setdefault((hca, number), [])
        if name != "QUERY_QP" and name.endswith("_QP") or name in ("2RST_QP", "2ERR_QP"):
            commands[hca, number].append(name)
        if name == "INIT2INIT_QP" and "qpc.drain_sigerr=1" in line:
            stopping.add((hca, number))
    # Both QPs may request the stop; the target's QP is the one that stops.
    targets = [queue_pair for queue_pair in stopping if any("SQD" in name for name in commands[queue_pair])]
    assert len(targets) == 1, f"{file}: {len(targets)} queue pairs have stopped"
    return commands[targets[0]]


def run(driver: str, twin: str) -> tuple[list[tuple[str, int]], list[str]]:
    """Runs a twin of kernel_verbs/twin.py in a guest; returns the messages and the transitions."""
    guest = GuestRun("kernel_verbs", Guest(
        f"twin-{driver}", driver=driver, sm="cxemu", builds=("tools/testing/kernel_verbs/build --kernel KERNEL",),
        cxemu="--signature-stop next --pcap DIRECTORY/packets.pcap --log DIRECTORY/commands.log"))
    guest.tests = [f"twin.{twin}.test_bursts_answered"]
    outcome = guest.outcome(guest.tests[0])
    assert outcome.passed, outcome.reason
    assert not guest.verdict()
    return messages(guest.directory / "packets.pcap"), transitions(guest.directory / "commands.log")


@pytest.mark.run("kernel-verbs-twin", "long", needs=("cxemu",))
def test_same_messages_and_transitions() -> None:
    user_space = run("mlx5", "UserSpace")
    assert user_space[0]
    assert run("cxib", "Kernel") == user_space
