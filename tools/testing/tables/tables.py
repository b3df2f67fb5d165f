# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the hardware tables from the generator's JSON."""

from __future__ import annotations

import dataclasses
import json
import pathlib


@dataclasses.dataclass
class Field:
    name: str
    offset: int  # bits
    width: int  # bits of one element
    count: int  # 0: as many as fit into the message
    is_alias: bool
    layout: str | None
    alternatives: list[str]

    @property
    def total(self) -> int:
        """Bits of all elements."""
        return self.width * self.count

    @property
    def end(self) -> int:
        return self.offset + self.total


@dataclasses.dataclass
class Layout:
    name: str
    size: int  # bytes
    fields: list[Field]
    source: str  # the source of the structure, if it is not Linux

    def find(self, name: str) -> Field | None:
        return next((field for field in self.fields if field.name == name), None)


@dataclasses.dataclass
class Enumeration:
    name: str
    values: dict[str, int]
    source: str


@dataclasses.dataclass
class Tables:
    layouts: dict[str, Layout]
    enumerations: dict[str, Enumeration]


def _field(data: dict) -> Field:
    return Field(
        data["name"],
        data["offset"],
        data["width"],
        data["count"],
        data.get("alias", False),
        data.get("layout"),
        data.get("alternatives", []),
    )


def _layout(data: dict, source: str) -> Layout:
    named = [_field(field) for field in data["fields"] if field["access"] != "reserved"]
    return Layout(data["name"], data["size"], named, source)


def read_tables(path: pathlib.Path) -> Tables:
    """Reads the tables. Opcodes and register numbers become the enumerations "commands" and "registers"."""
    tables = Tables({}, {})
    commands: dict[str, int] = {}
    registers: dict[str, int] = {}
    for group in json.loads(path.read_text())["groups"]:
        source = group["source"]
        for layout in group["layouts"]:
            tables.layouts[layout["name"]] = _layout(layout, source)
        for enumeration in group["enumerations"]:
            values = {value["name"]: value["value"] for value in enumeration["values"]}
            tables.enumerations[enumeration["name"]] = Enumeration(enumeration["name"], values, source)
        commands |= {command["name"]: command["opcode"] for command in group["commands"]}
        registers |= {register["name"]: register["id"] for register in group["registers"]}
    tables.enumerations["commands"] = Enumeration("commands", commands, "")
    tables.enumerations["registers"] = Enumeration("registers", registers, "")
    return tables
