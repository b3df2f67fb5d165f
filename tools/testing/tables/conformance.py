#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the hardware tables with the interface headers of an installed kernel.

Structures, fields and named values in both must agree in size, offset, width and number. The tables must have each
named field of a structure that both have. Names without a counterpart are listed with the reason.
"""

from __future__ import annotations

import argparse
import copy
import json
import pathlib
import sys

from compare import Comparison, Outcome, linux_name
from kernel_headers import Headers, read_headers
from tables import Tables, read_tables

HERE = pathlib.Path(__file__).resolve().parent
LEAST_STRUCTURES = 170
LEAST_FIELDS = 1300


def read_json(name: str) -> dict:
    return json.loads((HERE / name).read_text())


def read_members() -> dict:
    """The entry of linux_members.json for each layout, with the additions of linux_differences.json."""
    members = read_json("linux_members.json")
    for name, more in read_json("linux_differences.json").items():
        members[name] = members.get(name, {}) | more
    return members


def wanted_constants(tables: Tables, values: dict) -> list[str]:
    return [
        linux_name(values[enumeration.name], name)
        for enumeration in tables.enumerations.values()
        if enumeration.name in values
        for name in enumeration.values
    ]


def report(outcome: Outcome) -> int:
    for what, reason in outcome.without_counterpart:
        print(f"without counterpart: {what}: {reason}")
    for difference in outcome.differences:
        print(f"DIFFERS: {difference}")
    print(
        f"{outcome.structures} structures, {outcome.fields} fields and {outcome.values} values compared, "
        f"{len(outcome.differences)} differ; {len(outcome.without_counterpart)} have no counterpart"
    )
    if outcome.structures < LEAST_STRUCTURES or outcome.fields < LEAST_FIELDS:
        print(f"too few: at least {LEAST_STRUCTURES} structures and {LEAST_FIELDS} fields must be compared")
        return 1
    return 1 if outcome.differences else 0


class SelfTest:
    """Checks that the comparison can fail, with tables that contain one fault."""

    def __init__(self, tables: Tables, headers: Headers, members: dict, values: dict):
        self.tables = tables
        self.rest = (headers, members, values)
        self.failures = 0

    def _differences(self, spoil) -> list[str]:
        tables = copy.deepcopy(self.tables)
        spoil(tables)
        return Comparison(tables, *self.rest).run().differences

    def expect(self, what: str, place: str, spoil) -> None:
        """`spoil` changes the tables; the complaint must name `place`."""
        differences = self._differences(spoil)
        if any(difference.startswith(place + ":") for difference in differences):
            print(f"found: {what}: {differences[0]}")
        else:
            print(f"NOT FOUND: {what} in {place}; differences: {differences}")
            self.failures += 1

    def run(self) -> int:
        def field(tables: Tables, layout: str, name: str):
            return tables.layouts[layout].find(name)

        def move(tables: Tables) -> None:
            field(tables, "cqc", "log_cq_size").offset += 1

        def widen(tables: Tables) -> None:
            field(tables, "qpc", "log_rq_size").width += 1

        def forget(tables: Tables) -> None:
            tables.layouts["mkc"].fields.remove(field(tables, "mkc", "bsf_en"))

        def grow(tables: Tables) -> None:
            tables.layouts["eqc"].size += 4

        def exchange(tables: Tables) -> None:
            field(tables, "qpc", "primary_address_path").layout = "cqc"

        def move_in_entry(tables: Tables) -> None:
            field(tables, "wqe_data_seg", "lkey").offset += 1

        def renumber(tables: Tables) -> None:
            tables.enumerations["qp_state"].values["rts"] = 4

        def renumber_command(tables: Tables) -> None:
            tables.enumerations["commands"].values["create_cq"] ^= 1

        self.expect("a field one bit further", "cqc.log_cq_size", move)
        self.expect("a field one bit wider", "qpc.log_rq_size", widen)
        self.expect("a field that is missing", "mkc.bsf_en", forget)
        self.expect("a structure that is larger", "eqc", grow)
        self.expect("another nested structure", "qpc.primary_address_path", exchange)
        self.expect("a field of an entry one bit further", "wqe_data_seg.lkey", move_in_entry)
        self.expect("a state with another number", "qp_state.rts", renumber)
        self.expect("a command with another opcode", "commands.create_cq", renumber_command)
        return 1 if self.failures else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=pathlib.Path, required=True, help="JSON written by hwtab")
    parser.add_argument("--kdir", required=True, help="kernel build directory with the headers")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="directory to compile in")
    parser.add_argument("--self-test", action="store_true", help="check that a fault in the tables is found")
    arguments = parser.parse_args()

    tables = read_tables(arguments.tables)
    members, values = read_members(), read_json("linux_values.json")
    headers = read_headers(arguments.kdir, arguments.work.resolve(), wanted_constants(tables, values))
    if arguments.self_test:
        return SelfTest(tables, headers, members, values).run()
    return report(Comparison(tables, headers, members, values).run())


if __name__ == "__main__":
    sys.exit(main())
