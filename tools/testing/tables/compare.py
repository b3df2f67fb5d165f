# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the hardware tables with what the kernel's headers declare."""

from __future__ import annotations

import dataclasses
import fnmatch
import re
import sys

from dwarf import Member, Record
from kernel_headers import Headers
from tables import Enumeration, Field, Layout, Tables

BITS = 8
# Reasons of this entry apply to all layouts.
EVERY_LAYOUT = "*"

IFC = "mlx5_ifc_{}_bits"


@dataclasses.dataclass
class Outcome:
    structures: int = 0
    fields: int = 0
    values: int = 0
    differences: list[str] = dataclasses.field(default_factory=list)
    without_counterpart: list[tuple[str, str]] = dataclasses.field(default_factory=list)

    def differs(self, place: str, what: str) -> None:
        self.differences.append(f"{place}: {what}")


class Comparison:
    """One comparison. `members` and `values` are the contents of linux_members.json and linux_values.json."""

    def __init__(self, tables: Tables, headers: Headers, members: dict, values: dict):
        self.tables = tables
        self.headers = headers
        self.members = members
        self.values = values
        self.outcome = Outcome()

    def run(self) -> Outcome:
        for layout in self.tables.layouts.values():
            self._compare_layout(layout)
        for enumeration in self.tables.enumerations.values():
            self._compare_enumeration(enumeration)
        self._refuse_dead_entries()
        return self.outcome

    # Structures

    def _compare_layout(self, layout: Layout) -> None:
        entry = self.members.get(layout.name, {})
        record = self.headers.records.get(entry.get("struct", IFC.format(layout.name)))
        if record is None:
            self._note_absence(f"struct {layout.name}", entry.get("reason") or layout.source)
            return
        self.outcome.structures += 1
        if "members" in entry:
            ByteComparison(self.outcome, self.members, layout, record, entry).run()
        else:
            BitComparison(self.outcome, self.members, layout, record, entry).run()

    def _note_absence(self, what: str, reason: str) -> None:
        if reason:
            self.outcome.without_counterpart.append((what, reason))
        else:
            self.outcome.differs(what, "Linux has no counterpart and no reason is given")

    # Values

    def _compare_enumeration(self, enumeration: Enumeration) -> None:
        entry = self.values.get(enumeration.name, {})
        if "prefix" not in entry and "names" not in entry:
            self._note_absence(f"enum {enumeration.name}", entry.get("reason") or enumeration.source)
            return
        for name, value in enumeration.values.items():
            self._compare_value(enumeration, name, value, entry)

    def _compare_value(self, enumeration: Enumeration, name: str, value: int, entry: dict) -> None:
        place = f"{enumeration.name}.{name}"
        for pattern, reason in entry.get("without", {}).items():
            if fnmatch.fnmatchcase(name, pattern):
                self._note_absence(f"value {place}", reason)
                return
        constant = linux_name(entry, name)
        theirs = self.headers.constant(constant)
        if theirs is None:
            self._note_absence(f"value {place} ({constant})", "")
            return
        self.outcome.values += 1
        expected = value << entry.get("shift", 0)
        found = 1 << theirs if entry.get("bit_numbers") else theirs
        if "swapped_bytes" in entry:
            found = swapped(theirs, entry["swapped_bytes"])
        found &= entry.get("mask", 2**64 - 1)
        if expected % 2**64 != found % 2**64 and expected % 2**32 != found % 2**64 % 2**32:
            self.outcome.differs(place, f"is {expected:#x}, {constant} of Linux is {found:#x}")

    def _refuse_dead_entries(self) -> None:
        for name in self.members.keys() - self.tables.layouts.keys() - {EVERY_LAYOUT}:
            self.outcome.differs(name, "linux_members.json speaks of a structure that no table has")
        for name in self.values.keys() - self.tables.enumerations.keys():
            self.outcome.differs(name, "linux_values.json speaks of an enumeration that no table has")


def swapped(value: int, size: int) -> int:
    """The value of a big-endian constant of `size` bytes as a number of a little-endian host."""
    if sys.byteorder == "big":
        return value
    return int.from_bytes(value.to_bytes(size, "little"), "big")


def linux_name(entry: dict, name: str) -> str:
    """The Linux constant that corresponds to `name`."""
    return entry.get("names", {}).get(name, entry.get("prefix", "") + name.upper())


class StructureComparison:
    """Base of the comparisons of one layout with one structure."""

    def __init__(self, outcome: Outcome, layout: Layout, record: Record, entry: dict):
        self.outcome = outcome
        self.layout = layout
        self.record = record
        self.entry = entry
        self.seen: set[str] = set()

    def differs(self, name: str, what: str) -> None:
        self.outcome.differs(f"{self.layout.name}.{name}", what)

    def expect_size(self, bits: int) -> None:
        if self.layout.size * BITS != bits:
            self.outcome.differs(
                self.layout.name, f"has {self.layout.size:#x} bytes, {self.record.name} has {bits // BITS:#x}"
            )

    def expect_no_more_fields(self) -> None:
        """Requires a reason for each field that Linux lacks. Bits with other names need none."""
        reasons = {**self.members.get(EVERY_LAYOUT, {}).get("without", {}), **self.entry.get("without", {})}
        for field in self.layout.fields:
            if field.name in self.seen or field.is_alias:
                continue
            if field.name in reasons:
                self.outcome.without_counterpart.append(
                    (f"field {self.layout.name}.{field.name}", reasons[field.name])
                )
            else:
                self.differs(field.name, f"is no member of {self.record.name} and no reason is given")


class BitComparison(StructureComparison):
    """Comparison with a structure of mlx5_ifc.h, in which a byte of the C structure stands for one bit."""

    def __init__(self, outcome: Outcome, members: dict, layout: Layout, record: Record, entry: dict):
        super().__init__(outcome, layout, record, entry)
        self.members = members

    def run(self) -> None:
        self.expect_size(self.record.size)
        renamed = self.entry.get("renamed", {})
        for member in self.record.members:
            if member.name.startswith("reserved"):
                continue
            self._compare(member, renamed.get(member.name, member.name))
        self.expect_no_more_fields()

    def _compare(self, member: Member, name: str) -> None:
        field = self.layout.find(name)
        if field is None:
            self.differs(name or "(unnamed)", "is missing from the tables")
            return
        self.seen.add(name)
        self.outcome.fields += 1
        if field.offset != member.offset:
            self.differs(name, f"begins at bit {field.offset}, in Linux at bit {member.offset}")
        if self._is_list(member):
            self._compare_list(field, member)
        elif field.total != member.size:
            self.differs(name, f"has {field.total} bits, in Linux {member.size}")
        self._compare_shape(field, member)
        self._compare_content(field, member)

    @staticmethod
    def _is_list(member: Member) -> bool:
        return bool(member.dimensions) and member.dimensions[0] == 0

    def _compare_list(self, field: Field, member: Member) -> None:
        width = member.record.size if member.record else member.dimensions[-1]
        if field.count != 0 or field.width != width:
            self.differs(field.name, f"is no list of elements of {width} bits, as in Linux")

    def _compare_shape(self, field: Field, member: Member) -> None:
        """Compares the elements of an array of numbers. Several bytes may stand for one wide number."""
        if member.record is not None or self._is_list(member) or len(member.dimensions) < 2:
            return
        if field.width != member.dimensions[-1]:
            self.differs(field.name, f"has elements of {field.width} bits, in Linux {member.dimensions[-1]}")

    def _compare_content(self, field: Field, member: Member) -> None:
        if member.record is None:
            return
        if not member.record.is_union:
            self._expect_structure(field, field.layout, member.record.name)
            return
        theirs = {part.record.name for part in member.record.members if part.record}
        reasons = self.entry.get("without", {})
        for alternative in field.alternatives:
            place = f"{field.name}.{alternative}"
            if place in reasons:
                self.outcome.without_counterpart.append((f"alternative {self.layout.name}.{place}", reasons[place]))
            elif self._linux_name(alternative) not in theirs:
                self.differs(field.name, f"can be a {alternative}, in Linux it cannot")
        if not field.alternatives and field.layout:
            self.differs(field.name, "is one structure, in Linux one of several")

    def _linux_name(self, layout: str) -> str:
        return self.members.get(layout, {}).get("struct", IFC.format(layout))

    def _expect_structure(self, field: Field, layout: str | None, linux: str) -> None:
        if layout is None:
            self.differs(field.name, f"has no inner structure, in Linux it is a {linux}")
        elif self._linux_name(layout) != linux:
            self.differs(field.name, f"is a {layout}, in Linux a {linux}")


class ByteComparison(StructureComparison):
    """Comparison with an ordinary C structure. A member without listed fields has one field with its own name."""

    def __init__(self, outcome: Outcome, members: dict, layout: Layout, record: Record, entry: dict):
        super().__init__(outcome, layout, record, entry)
        self.members = members

    def run(self) -> None:
        self.expect_size(self.record.size * BITS)
        listed = self.entry["members"]
        found = {}
        for member, start, end in flat_members(self.record):
            found[member.name] = (start, end)
            if member.name in listed:
                self._compare(member, start, end, listed[member.name])
            elif self.layout.find(member.name):
                self._compare(member, start, end, [member.name])
                self._expect_whole(member.name, end)
            else:
                self._expect_padding(member.name)
        for name in listed.keys() - found.keys():
            self.differs(name, f"is no member of {self.record.name}")
        for name in listed.keys() & found.keys():
            self._expect_all_listed(name, *found[name])
        self.expect_no_more_fields()

    def _expect_padding(self, name: str) -> None:
        ignored = self.entry.get("ignored", {})
        if name in ignored:
            what = f"member {self.record.name}.{name}"
            self.outcome.without_counterpart.append((what, ignored[name]))
        elif not is_padding(name):
            self.differs(name, f"of {self.record.name} is missing from the tables")

    def _compare(self, member: Member, start: int, end: int, names: list[str]) -> None:
        for name in names:
            field = self.layout.find(name)
            if field is None:
                self.differs(name, f"is missing from the tables; {member.name} of Linux has it")
                continue
            self.seen.add(name)
            self.outcome.fields += 1
            if field.offset < start or field.end > end:
                self.differs(
                    name, f"is bits {field.offset} to {field.end - 1}, {member.name} of Linux {start} to {end - 1}"
                )
            self._compare_structure(field, member)
    def _compare_structure(self, field: Field, member: Member) -> None:
        ours = self.members.get(field.layout, {}).get("struct") if field.layout else None
        if ours and member.record and ours != member.record.name:
            self.differs(field.name, f"is a {ours}, in Linux a {member.record.name}")

    def _expect_whole(self, name: str, end: int) -> None:
        """Requires that a field with its own member ends where the member ends."""
        field = self.layout.find(name)
        if field is not None and field.end != end:
            self.differs(name, f"ends before bit {field.end}, in Linux before bit {end}")

    def _expect_all_listed(self, member: str, start: int, end: int) -> None:
        """Requires that a member with listed fields has no other fields, except those of other members of a union."""
        for field in self.layout.fields:
            inside = start <= field.offset and field.end <= end
            known = field.name in self.seen or field.name in self.entry.get("without", {})
            if inside and field.count and not field.is_alias and not known:
                self.differs(field.name, f"lies in {member} of Linux, and linux_members.json does not say so")


def is_padding(name: str) -> bool:
    return bool(re.match(r"(rsvd|reserved|resv|res|unused|pad)\d*$", name))


def flat_members(record: Record, base: int = 0):
    """Yields each member once with its first bit and end, members of unnamed structures and unions included."""
    seen = set()
    for member in record.members:
        start = base + member.offset * BITS
        if not member.name and member.record:
            for inner in flat_members(member.record, start):
                if inner[0].name not in seen:
                    seen.add(inner[0].name)
                    yield inner
            continue
        if member.bits:
            first, width = member.bits
            yield member, base + first, base + first + width
        else:
            yield member, start, start + member.size * BITS
        seen.add(member.name)
