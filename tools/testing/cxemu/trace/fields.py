# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads outputs of commands by field name, according to the hardware tables."""

import json
from pathlib import Path
from typing import Iterator

PAGES = {0: "cmd_hca_cap", 0x02: "odp_cap", 0x03: "atomic_caps"}  # of QUERY_HCA_CAP, as op_mod / 2
WORD = 32  # bits


class Tables:
    def __init__(self, path: Path) -> None:
        self.layouts: dict[str, dict] = {}
        self.commands: dict[int, dict] = {}
        for group in json.loads(path.read_text(encoding="utf-8"))["groups"]:
            self.layouts |= {layout["name"]: layout for layout in group["layouts"]}
            self.commands |= {command["opcode"]: command for command in group["commands"]}

    def name(self, opcode: int, op_mod: int) -> str:
        """The name of a command; for a capability query, with its page."""
        name = self.commands[opcode]["name"] if opcode in self.commands else f"command {opcode:#x}"
        if name == "query_hca_cap":
            return f"{name} {PAGES.get(op_mod >> 1, f'page {op_mod >> 1:#x}')} {'current' if op_mod & 1 else 'maximum'}"
        return name

    def fields(self, opcode: int, op_mod: int, output: bytes) -> dict[str, int]:
        """Values by field path. A word that no field covers is named by its offset."""
        command = self.commands[opcode]
        found = dict(self._walk(command["output"], output, 0, ""))
        if command["name"] == "query_hca_cap":
            page = PAGES.get(op_mod >> 1)
            body = output[16:]
            found |= dict(self._walk(page, body, 0, "") if page else self._words("", body, 0, len(body) * 8))
        return found

    def _words(self, prefix: str, data: bytes, begin: int, end: int) -> Iterator[tuple[str, int]]:
        """Yields the words of bits [begin, end) that the data contain."""
        for word in range(begin // WORD, -(-end // WORD)):
            first, last = max(begin, word * WORD), min(end, (word + 1) * WORD)
            value = _bits(data, first, last - first)
            if value:
                yield f"{prefix}bits {first:#x} to {last - 1:#x}", value

    def _walk(self, layout: str, data: bytes, base: int, prefix: str) -> Iterator[tuple[str, int]]:
        for field in self.layouts[layout]["fields"]:
            begin = base + field["offset"]
            end = begin + field["width"] * max(field["count"], 1)
            if end > len(data) * 8 or field.get("alternatives") or field.get("alias"):
                continue
            if field["access"] == "reserved":
                yield from self._words(prefix, data, begin, end)
            elif field.get("layout") and field["count"] == 1:
                yield from self._walk(field["layout"], data, begin, f"{prefix}{field['name']}.")
            elif field["count"] == 1:
                yield prefix + field["name"], _bits(data, begin, field["width"])
            else:
                yield from self._words(f"{prefix}{field['name']} ", data, begin, end)


def _bits(data: bytes, begin: int, width: int) -> int:
    return int.from_bytes(data, "big") >> (len(data) * 8 - begin - width) & ((1 << width) - 1)
