#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds offsets and shifts of device words that are written as numbers instead of constants from include/hw.

In the driver and KUnit: offsets of registers and doorbell records, shifts and masks of big-endian words, 64-bit fields
of WQE segments. In cxemu: offsets in BAR 0.
"""

import re
import sys
from typing import Iterator

from circles import code_of
from files import REPO, project_files

KERNEL: list[tuple[re.Pattern[str], str]] = [
    (re.compile(r"cxib_bus_(?:read|write)\([^(),]+,\s*(?:0x[0-9a-f]+|\d+)\b"),
     "a register by a number; take HW_…_OFFSET_…"),
    (re.compile(r"registers\[0x[0-9a-f]+ / 4\]"), "a register by a number; take HW_…_OFFSET_…"),
    (re.compile(r"\bdbr\.words\[\d+\]"), "a word of a doorbell record by a number; take CXIB_…_DBR"),
    (re.compile(r"\bbe(?:16|32|64)_to_cpup?\([^;]*?\)\s*(?:>>|<<|&\s*(?:0x[0-9a-f]+|\d+)\b)"),
     "a field taken out of a word by hand; take its getter or HW_…_MASK_…"),
    (re.compile(r"\bcpu_to_be(?:16|32)\([^;]*<<"), "a field put into a word by hand; take its setter or packer"),
    (re.compile(r"hw_set_u64\(&\w+->dw\[\d+\], (?!0\))"), "a 64-bit field by its word; take its setter"),
    (re.compile(r"#define\s+\w*(?:OFFSET|DOORBELL|SYNDROME|TIMER|_DBR)\w*\s+\(?0x[0-9a-f]+"),
     "an offset of the device; take HW_…_OFFSET_…"),
]
EMULATOR: list[tuple[re.Pattern[str], str]] = [
    (re.compile(r"constexpr std::uint(?:32|64)_t \w*(?:doorbell|timer|queue_(?:high|low)|initializing)\w* = 0x[0-9a-f]+;"
                r"(?! ///)"),
     "a place in BAR 0; take hwtab::value or hwtab::locate"),
]


def complaints(name: str, text: str) -> Iterator[str]:
    rules = EMULATOR if name.startswith("tools/cxemu/") else KERNEL
    code = code_of(text) if rules is KERNEL else text
    for pattern, reason in rules:
        for match in pattern.finditer(code):
            yield f"{name}: \"{' '.join(match.group(0).split())}\": {reason}"


def is_checked(name: str) -> bool:
    # Tests of the tables and cxemu's unit tests repeat the numbers in order to check them.
    if name.startswith("kunit/hw_accessors") or "/tests/" in name:
        return False
    if name.startswith(("drivers/cxib/", "kunit/")):
        return name.endswith((".c", ".h"))
    return name.startswith("tools/cxemu/") and name.endswith((".cpp", ".hpp"))


def main() -> int:
    names = [name for name in project_files() if is_checked(name)]
    found = [line for name in names for line in complaints(name, (REPO / name).read_text(encoding="utf-8"))]
    print("\n".join(found + [f"{len(names)} files, {len(found)} complaints"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
