# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads envelopes of drivers, as cxemu --envelope records them, and finds the differences between them.

cxemu.1 describes the format: one table per subject, which lists the values of each field that was ever nonzero.
"""

import tomllib
from dataclasses import dataclass

ZERO = "0"
# Value classes of fields that are too wide to record each value.
CLASSES = ("nonzero", "ones")

MEANINGS = {
    "subject": "sent by no public driver",
    "field": "set by no public driver",
    "value": "a value that no public driver sends",
    "missing": "set each time by public drivers, never by cxib",
    "order": "an order of commands of no public driver",
}


@dataclass(frozen=True, order=True)
class Difference:
    """One difference between what a driver and the public drivers send."""

    subject: str
    field: str
    kind: str  # a key of MEANINGS
    value: str = ""

    def __str__(self):
        place = f"{self.subject}: {self.field}" if self.field else self.subject
        value = f" ({self.value})" if self.value else ""
        return f"{place}: {MEANINGS[self.kind]}{value}"


def load(path):
    """Reads the envelope in a file as {subject: {field: set of values}}."""
    with open(path, "rb") as file:
        document = tomllib.load(file)
    return {subject: {field: set(values) for field, values in fields.items()} for subject, fields in document.items()}


def _is_bit(value):
    return value.startswith("+")


def _name(bit):
    return bit.rstrip("?")


def _number(value):
    try:
        return int(value, 0)
    except ValueError:
        return None


def _is_within(value, public):
    """Whether a size or count lies between two that public drivers use."""
    number = _number(value)
    numbers = [_number(known) for known in public]
    return number is not None and None not in numbers and min(numbers) <= number <= max(numbers)


def _compare_bits(own, public):
    known = {_name(bit) for bit in public}
    for bit in own:
        if _name(bit) not in known:
            yield "value", _name(bit)
    mine = {_name(bit) for bit in own}
    for bit in public:
        if not bit.endswith("?") and bit not in mine:
            yield "missing", bit


def _compare_values(own, public):
    """Kinds and values of the differences of one field. An empty set of values means that the field was always zero."""
    if any(map(_is_bit, own | public)):
        yield from _compare_bits(own, public)
    elif not public:
        yield "field", ", ".join(sorted(own - {ZERO}))
    elif not own:
        if ZERO not in public:
            yield "missing", ", ".join(sorted(public))
    else:
        for value in own - public:
            # A wide field that is sometimes zero is no difference: the objects of the run decide which values occur.
            is_usual = value == ZERO and any(known in CLASSES for known in public)
            if not is_usual and not _is_within(value, public):
                yield "value", value


def _compare_order(own, public):
    for order in own.get("order", set()) - public.get("order", set()):
        yield Difference("bring-up", "order", "order", order)


def _compare_subject(subject, own, public, other):
    """Compares one subject. A value that the other public driver sends is known. A field is missing if the first public
    driver always sends it."""
    for field in own.keys() | public.keys() | other.keys():
        mine, first = own.get(field, set()), public.get(field, set())
        sent = _compare_values(mine, first | other.get(field, set()))
        yield from (Difference(subject, field, kind, value) for kind, value in sent if kind != "missing")
        if public:
            always = _compare_values(mine, first)
            yield from (Difference(subject, field, kind, value) for kind, value in always if kind == "missing")


def differences(own, public, other=None):
    """The differences in order: what only the own envelope has, and what it lacks of the first public driver's
    envelope.

    A command that only public drivers send is no difference.
    """
    other = other or {}
    found = []
    for subject, fields in own.items():
        if subject == "bring-up":
            found += _compare_order(fields, public.get(subject, {}))
        elif subject not in public and subject not in other:
            found.append(Difference(subject, "", "subject"))
        else:
            found += _compare_subject(subject, fields, public.get(subject, {}), other.get(subject, {}))
    return sorted(found)
