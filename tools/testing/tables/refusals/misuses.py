# SPDX-License-Identifier: GPL-2.0-or-later
"""Uses of hwtab/view.hpp that must not compile, with the expected compiler message."""

from __future__ import annotations

import dataclasses

FRAME = """
#include "hwtab/view.hpp"
#include <array>
namespace hwtab {
inline constexpr std::array colour_values{Value{"red", 1, "Red."}};
inline constexpr Enumeration colour{"colour", colour_values, "Colours."};
inline constexpr std::array part_fields{word32("word", 0x0, "A word.")};
inline constexpr Layout part{"part", Kind::context, 0x4, part_fields, "A part."};
inline constexpr std::array whole_fields{
    word32("number", 0x0, "A number."), array("numbers", 0x4, 32, 2, "Two numbers."),
    nested("part", 0xc, part, "A part.")};
inline constexpr Layout whole{"whole", Kind::context, 0x10, whole_fields, "A structure."};

inline void use(View<whole> view, ConstView<whole> constant) {
    (void)view, (void)constant;
    %s;
}
}
"""


@dataclasses.dataclass(frozen=True)
class Misuse:
    what: str
    text: str
    words: str


def misuse(what: str, statement: str, words: str) -> Misuse:
    return Misuse(what, FRAME % statement, words)


MISUSES = (
    misuse("names a field that does not exist", '(void)view.get<"nmber">()', "has no field of this name"),
    misuse("names a field below a number", '(void)view.get<"number.word">()', "has no field of this name"),
    misuse("names an unknown field of a part", '(void)view.get<"part.wrd">()', "has no field of this name"),
    misuse("reads an array as a number", '(void)view.get<"numbers">()', "the field is an array or a structure"),
    misuse("indexes a number", '(void)view.get_at<"number">(0)', "the field is no array"),
    misuse("takes a number for a structure", '(void)view.nested<"number", part>()', "no inner structure"),
    misuse("writes through const memory", 'constant.set<"number">(1)', "const"),
    misuse("names a value that does not exist", '(void)value<colour, "blue">', "no value of this name"),
)

CORRECT_USES = (
    FRAME
    % (
        'view.set<"number">(view.get_at<"numbers">(1)); '
        '(void)view.get<"part.word">(); (void)constant.nested<"part", part>().get<"word">(); '
        '(void)value<colour, "red">'
    ),
)
