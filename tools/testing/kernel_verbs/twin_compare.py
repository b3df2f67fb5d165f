#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares two runs of the same commands with signature pipelining: messages of the target in captures, state
transitions of its QP in command logs. Prints both; fails if they differ.

usage: twin_compare.py RUN RUN     each RUN is the path of RUN.pcap and RUN.log
"""

import pathlib
import re
import struct
import sys

REPO = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(REPO / "tools/testing/cxemu"))

import capture  # noqa: E402

RC, SEND_ONLY, WRITE_FIRST, WRITE_ONLY = 0, 0x04, 0x06, 0x0A  # BTH, IBA 9.2.1
RETH = struct.Struct(">QII")  # address, key, length
RESPONSE = struct.Struct("=3I")  # number, slot, good; as struct response of the test module
COMMAND = re.compile(r" *\d+ (\w+) (\w+): .*?\bqpn=(0x[0-9a-f]+)")


class ComparisonError(Exception):
    """A run lacks data for the comparison."""


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
    if len(targets) != 1:
        raise ComparisonError(f"{file}: {len(targets)} queue pairs have stopped, should be 1")
    return commands[targets[0]]


def compare(what: str, one: list, other: list) -> bool:
    if one == other:
        print(f"{what}: {len(one)}, the same in both: {' '.join(str(item) for item in one)}")
        return True
    place = next((i for i, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), min(len(one), len(other)))
    print(f"{what} differ at {place}: {one[place:place + 4]} and {other[place:place + 4]}, {len(one)} and {len(other)} in all")
    return False


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    runs = [pathlib.Path(name) for name in sys.argv[1:]]
    sent = [messages(run.with_suffix(".pcap")) for run in runs]
    made = [transitions(run.with_suffix(".log")) for run in runs]
    if not all(sent):
        raise ComparisonError("a run has sent nothing")
    same = [compare("messages of the target", *([f"{kind}:{value}" for kind, value in one] for one in sent)),
            compare("transitions of its queue pair", *made)]
    return 0 if all(same) else 1


if __name__ == "__main__":
    sys.exit(main())
