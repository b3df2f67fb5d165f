#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds numbers that KUnit cases expect without an explanation.

A literal above 2 in KUNIT_EXPECT_… or KUNIT_ASSERT_… is refused unless the case has a comment, above it or in it. A
number should be a named constant (HW_…, IB_…, one of the fixture), be computed from constants, or be explained. The
check cannot evaluate the explanation.
"""

import re
import sys
from typing import Iterator

from files import REPO, project_files

ASSERTION = re.compile(r"\bKUNIT_(?:EXPECT|ASSERT)_\w+(?=\()")
FUNCTION = re.compile(r"^(?P<comment>/\*(?:[^*]|\*(?!/))*\*/\n)?static (?:[^;={}]|\n)*?\b(?P<name>\w+)\((?:[^;{}]*)\)\n"
                      r"\{\n(?P<body>.*?)^\}", re.MULTILINE | re.DOTALL)
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
LITERAL = re.compile(r"(?<![\w.])(?:0x[0-9a-f]+|\d+)(?=[ul]*\b)", re.IGNORECASE)
LARGEST = 2


def arguments(text: str, begin: int) -> str:
    """The text between the parenthesis at `begin` and its partner."""
    depth = 0
    for end in range(begin, len(text)):
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        if depth == 0:
            return text[begin:end]
    return text[begin:]


def complaints(name: str, text: str) -> Iterator[str]:
    text = STRING.sub('""', text)
    for function in FUNCTION.finditer(text):
        body = function["body"]
        if function["comment"] or "/*" in body:
            continue
        for assertion in ASSERTION.finditer(body):
            for literal in LITERAL.findall(arguments(body, assertion.end())):
                if int(literal, 0) > LARGEST:
                    yield (f"{name}: {function['name']}(): {literal} in {assertion[0]}: name the number, compute it "
                           f"from named ones, or say in a comment where it comes from")


def main() -> int:
    names = [name for name in project_files() if re.fullmatch(r"kunit/\w+_kunit\.c", name)]
    found = [line for name in names for line in complaints(name, (REPO / name).read_text(encoding="utf-8"))]
    print("\n".join(found + [f"{len(names)} files, {len(found)} complaints"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
