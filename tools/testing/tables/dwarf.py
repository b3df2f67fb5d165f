# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads structures and enumerations from the debug information of an object file."""

from __future__ import annotations

import dataclasses
import pathlib

from elftools.dwarf.die import DIE
from elftools.elf.elffile import ELFFile

QUALIFIERS = ("DW_TAG_typedef", "DW_TAG_const_type", "DW_TAG_volatile_type")
RECORDS = ("DW_TAG_structure_type", "DW_TAG_union_type")


@dataclasses.dataclass(frozen=True)
class Member:
    """One member: offset and size in bytes; array dimensions, outermost first, 0 for a flexible one."""

    name: str
    offset: int
    size: int
    dimensions: tuple[int, ...]
    record: Record | None  # the structure or union of each element
    bits: tuple[int, int] | None = None  # first bit (from the start of the record) and width of a bit-field


@dataclasses.dataclass(frozen=True)
class Record:
    """A structure or union; an anonymous one has an empty name."""

    name: str
    size: int
    is_union: bool
    die: DIE = dataclasses.field(repr=False, compare=False)

    @property
    def members(self) -> list[Member]:
        return [_member(child) for child in self.die.iter_children() if child.tag == "DW_TAG_member"]


class Types:
    """The types that the object file declares, by name."""

    def __init__(self, path: pathlib.Path):
        self._file = open(path, "rb")
        self.records: dict[str, Record] = {}
        self.constants: dict[str, int] = {}
        for unit in ELFFile(self._file).get_dwarf_info().iter_CUs():
            for die in unit.get_top_DIE().iter_children():
                self._take(die)

    def _take(self, die: DIE) -> None:
        if die.tag in RECORDS and _name(die) and "DW_AT_byte_size" in die.attributes:
            self.records[_name(die)] = _record(die)
        elif die.tag == "DW_TAG_enumeration_type":
            for child in die.iter_children():
                if child.tag == "DW_TAG_enumerator":
                    self.constants[_name(child)] = child.attributes["DW_AT_const_value"].value


def _name(die: DIE) -> str:
    attribute = die.attributes.get("DW_AT_name")
    return attribute.value.decode() if attribute else ""


def _type(die: DIE) -> DIE | None:
    return die.get_DIE_from_attribute("DW_AT_type") if "DW_AT_type" in die.attributes else None


def _unqualified(die: DIE | None) -> DIE | None:
    while die is not None and die.tag in QUALIFIERS:
        die = _type(die)
    return die


def _record(die: DIE) -> Record:
    return Record(_name(die), die.attributes["DW_AT_byte_size"].value, die.tag == "DW_TAG_union_type", die)


def _length(subrange: DIE) -> int:
    if "DW_AT_count" in subrange.attributes:
        return subrange.attributes["DW_AT_count"].value
    if "DW_AT_upper_bound" in subrange.attributes:
        return subrange.attributes["DW_AT_upper_bound"].value + 1
    return 0


def _member(die: DIE) -> Member:
    dimensions: list[int] = []
    base = _unqualified(_type(die))
    while base is not None and base.tag == "DW_TAG_array_type":
        dimensions += [_length(child) for child in base.iter_children() if child.tag == "DW_TAG_subrange_type"]
        base = _unqualified(_type(base))
    size = base.attributes["DW_AT_byte_size"].value if base is not None else 0
    for dimension in dimensions:
        size *= dimension
    location = die.attributes.get("DW_AT_data_member_location")
    record = _record(base) if base is not None and base.tag in RECORDS else None
    return Member(
        _name(die), location.value if location else 0, size, tuple(dimensions), record, _bits_of(die)
    )


def _bits_of(die: DIE) -> tuple[int, int] | None:
    if "DW_AT_bit_size" not in die.attributes:
        return None
    first = die.attributes["DW_AT_data_bit_offset"].value if "DW_AT_data_bit_offset" in die.attributes else 0
    return first, die.attributes["DW_AT_bit_size"].value
