# SPDX-License-Identifier: GPL-2.0-or-later
"""Small invalid tables: for each rule of hwtab/verify.hpp, a violation and the expected compiler message."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Case:
    rule: str  # name in enum class Rule
    body: str  # C++ at namespace scope; ends in a check that must fail
    offenders: tuple[str, ...]  # names that must be in the compiler's message


def layout(fields: str, size: str = "0x8", meaning: str = "A structure.") -> str:
    """A table with one structure named "victim", checked alone."""
    return (
        f"inline constexpr std::array victim_fields{{{fields}}};\n"
        f'inline constexpr Layout victim{{"victim", Kind::context, {size}, victim_fields, "{meaning}"}};\n'
        "static_assert(verified<victim>);\n"
    )


GOOD = 'word32("first", 0x0, "One."), word32("second", 0x4, "Two.")'

HEADER = """
inline constexpr std::array in_fields{
    bits("opcode", 0x0, 31, 16, "Number."), bits("uid", 0x0, 15, 0, "User.")};
inline constexpr Layout in{"in", Kind::command_input, 0x4, in_fields, "Input."};
inline constexpr std::array out_fields{
    bits("status", 0x0, 31, 24, "Result."), bits("rest", 0x0, 23, 0, "Rest.")};
inline constexpr Layout out{"out", Kind::command_output, 0x4, out_fields, "Output."};
"""


def groups(body: str, *members: str) -> str:
    """Tables with several groups that are checked together."""
    names = ", ".join(f"&{member}" for member in members)
    return f"{body}\ninline constexpr std::array groups{{{names}}};\nstatic_assert(all_verified<groups>);\n"


def group(name: str, layouts: str, more: str = "") -> str:
    return (
        f"inline constexpr std::array {name}_layouts{{{layouts}}};\n"
        f'inline constexpr Group {name}{{.name = "{name}", .title = "T", .meaning = "M", '
        f".layouts = {name}_layouts{more}}};\n"
    )


def one_layout(variable: str, name: str) -> str:
    return (
        f'inline constexpr std::array {variable}_fields{{word32("word", 0x0, "A word.")}};\n'
        f'inline constexpr Layout {variable}{{"{name}", Kind::context, 0x4, {variable}_fields, "One word."}};\n'
    )


def command(variable: str, name: str, opcode: str, inputs: str = "in", outputs: str = "out") -> str:
    return f'inline constexpr Command {variable}{{"{name}", {opcode}, &{inputs}, &{outputs}, "A command."}};\n'


def command_group(*commands: str) -> str:
    names = ", ".join(f"&{name}" for name in commands)
    return f"inline constexpr std::array commands{{{names}}};\n" + group("g", "&in, &out", ", .commands = commands")


CASES = (
    Case(
        "fields_overlap",
        layout('bits("status", 0x0, 31, 8, "S."), bits("counter", 0x0, 11, 0, "C."), word32("rest", 0x4, "R.")'),
        ("victim", "status", "counter"),
    ),
    Case(
        "fields_overlap",
        layout('word32("first", 0x0, "One."), word64("wide", 0x0, "Two.")'),
        ("victim", "first", "wide"),
    ),
    Case(
        "fields_out_of_order",
        layout('word32("second", 0x4, "Two."), word32("first", 0x0, "One.")'),
        ("victim", "second", "first"),
    ),
    Case("field_outside_structure", layout(GOOD, size="0x4"), ("victim", "second", "end of the structure")),
    Case(
        "undeclared_gap",
        layout('bits("status", 0x0, 31, 8, "S."), word32("counter", 0x4, "C.")'),
        ("victim", "status", "counter"),
    ),
    Case("undeclared_gap", layout(GOOD, size="0xc"), ("victim", "second", "end of the structure")),
    Case(
        "field_crosses_words",
        layout(
            'bits("head", 0x0, 31, 16, "H."), '
            'Field{.name = "across", .offset = 16, .width = 32, .meaning = "A."}, bits("tail", 0x4, 15, 0, "T.")'
        ),
        ("victim", "across"),
    ),
    Case(
        "value_does_not_fit",
        'inline constexpr std::array colour_values{Value{"red", 1, "R."}, Value{"violet", 4, "V."}};\n'
        'inline constexpr Enumeration colour{"colour", colour_values, "Colours."};\n'
        + layout(
            'bits("shade", 0x0, 31, 30, "Two bits.", &colour), bits("rest", 0x0, 29, 0, "R."), word32("w", 0x4, "W.")'
        ),
        ("victim", "shade", "violet"),
    ),
    Case(
        "duplicate_field_name",
        layout('word32("twin", 0x0, "One."), word32("twin", 0x4, "Two.")'),
        ("victim", "twin"),
    ),
    Case(
        "alias_of_nothing",
        layout('word32("first", 0x0, "One."), reserved_bytes(0x4, 4), alias(word32("ghost", 0x4, "Another name."))'),
        ("victim", "ghost", "(reserved)"),
    ),
    Case(
        "meaning_missing",
        layout('word32("first", 0x0, "One."), word32("silent", 0x4, "")'),
        ("victim", "silent", "meaning"),
    ),
    Case("meaning_missing", layout(GOOD, meaning=""), ("victim", "the structure")),
    Case(
        "nested_size_differs",
        one_layout("small", "small")
        + 'inline constexpr std::array large_fields{bytes("content", 0x0, 16, "Bytes.")};\n'
        + 'inline constexpr Layout large{"large", Kind::context, 0x10, large_fields, "Sixteen bytes."};\n'
        + "inline constexpr std::array choices{&small, &large};\n"
        + layout('choice("body", 0x0, 0x8, choices, "One of two.")'),
        ("victim", "body", "large"),
    ),
    Case(
        "list_not_last",
        layout('word32("first", 0x0, "One."), list("early", 0x4, 32, "List."), word32("second", 0x4, "Two.")'),
        ("victim", "early", "second"),
    ),
    Case("size_not_in_words", layout('bytes("odd", 0x0, 6, "Six bytes.")', size="0x6"), ("victim", "multiple of 4")),
    Case(
        "duplicate_value_name",
        'inline constexpr std::array colour_values{Value{"red", 1, "R."}, Value{"red", 2, "R."}};\n'
        'inline constexpr Enumeration colour{"colour", colour_values, "Colours."};\n'
        "inline constexpr std::array enumerations{&colour};\n"
        + groups(one_layout("a", "a") + group("g", "&a", ", .enumerations = enumerations"), "g"),
        ("colour", "red"),
    ),
    Case(
        "duplicate_opcode",
        groups(
            HEADER + command("make", "make", "0x100") + command("take", "take", "0x100") + command_group("make", "take"),
            "g",
        ),
        ("make", "take"),
    ),
    Case(
        "duplicate_layout_name",
        groups(
            one_layout("a", "same") + one_layout("b", "same") + group("left", "&a") + group("right", "&b"),
            "left",
            "right",
        ),
        ("left", "same", "right"),
    ),
    Case(
        "duplicate_enumeration_name",
        groups(
            one_layout("a", "a")
            + one_layout("b", "b")
            + 'inline constexpr std::array colour_values{Value{"red", 1, "R."}};\n'
            + 'inline constexpr Enumeration colour{"colour", colour_values, "Colours."};\n'
            + 'inline constexpr Enumeration paint{"colour", colour_values, "Colours."};\n'
            + "inline constexpr std::array colours{&colour};\n"
            + "inline constexpr std::array paints{&paint};\n"
            + group("left", "&a", ", .enumerations = colours")
            + group("right", "&b", ", .enumerations = paints"),
            "left",
            "right",
        ),
        ("left", "colour", "right"),
    ),
    Case(
        "duplicate_register",
        groups(
            one_layout("a", "a")
            + 'inline constexpr Register port{"port", 0x5001, &a, "A register."};\n'
            + 'inline constexpr Register link{"link", 0x5001, &a, "Another."};\n'
            + "inline constexpr std::array registers{&port, &link};\n"
            + group("g", "&a", ", .registers = registers"),
            "g",
        ),
        ("g", "port", "link"),
    ),
    Case(
        "wrong_command_header",
        groups(HEADER + command("turned", "turned", "0x100", "out", "in") + command_group("turned"), "g"),
        ("turned", "out", "opcode"),
    ),
    Case(
        "structure_not_listed",
        groups(
            one_layout("hidden", "hidden")
            + 'inline constexpr std::array user_fields{nested("part", 0x0, hidden, "A part.")};\n'
            + 'inline constexpr Layout user{"user", Kind::context, 0x4, user_fields, "Has a part."};\n'
            + group("g", "&user"),
            "g",
        ),
        ("user", "hidden", "in no group"),
    ),
)

# The same forms without a fault must compile; otherwise the refusals above prove nothing.
ACCEPTED = (
    layout(GOOD),
    groups(HEADER + command("make", "make", "0x100") + command("take", "take", "0x101") + command_group("make", "take"), "g"),
    groups(one_layout("a", "a") + one_layout("b", "b") + group("left", "&a") + group("right", "&b"), "left", "right"),
)
