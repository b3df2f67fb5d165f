# SPDX-License-Identifier: GPL-2.0-or-later
"""Constants of the hardware tables, read from the generated headers in include/hw: hw.HW_CMD_CREATE_QP."""

import functools
import pathlib
import re

HEADERS = pathlib.Path(__file__).resolve().parents[3] / "include/hw"
CONSTANT = re.compile(r"^(?:#define\s+|\s+)(HW_\w+)(?:\s*=)?\s+(0x[0-9a-f]+|\d+)U?L*,?", re.MULTILINE)


@functools.cache
def constants() -> dict[str, int]:
    """All enumerators and constants by name."""
    return {name: int(value, 0) for header in HEADERS.glob("*.h")
            for name, value in CONSTANT.findall(header.read_text(encoding="utf-8"))}


def __getattr__(name: str) -> int:
    if not name.startswith("HW_"):
        raise AttributeError(name)
    try:
        return constants()[name]
    except KeyError:
        raise AttributeError(f"no header in {HEADERS} has {name}") from None
