#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Shows when each long step was last seen passing, and on which commit.

usage: long_steps.py [--write]

Reads build/check/passed/, which tools/testing/check writes, and takes other steps from Documentation/long-steps.rst.
Prints the page, or writes it with --write.
"""

import argparse
import dataclasses
import pathlib
import re
from typing import Iterator

HERE = pathlib.Path(__file__).resolve().parent
REPO = HERE.parents[1]
STEPS = HERE / "steps"
PASSED = REPO / "build" / "check" / "passed"
PAGE = REPO / "Documentation" / "long-steps.rst"

HEAD = """.. SPDX-License-Identifier: GPL-2.0-or-later

==========
Long steps
==========

This page shows for each step of ``make check-long`` when and on which commit it last passed, how long it took, and its
processor time. A dash means that no run is recorded. ``tools/testing/steps`` has the commands.
``tools/testing/long_steps.py --write`` updates this page after a run.

"""
COLUMNS = ("step", "last passed", "commit", "took", "processor time")
UNKNOWN = "-"


@dataclasses.dataclass(frozen=True)
class Pass:
    """A step that has passed. Times are text, as on the page."""

    when: str = UNKNOWN
    commit: str = UNKNOWN
    took: str = UNKNOWN
    processors: str = UNKNOWN

    def cells(self, name: str) -> tuple[str, ...]:
        return (name, self.when, self.commit, self.took, self.processors)


def long_steps(text: str) -> list[str]:
    """Names of the long steps in the order of the steps file."""
    return re.findall(r"^long(?::[a-z0-9-]+)?\|([a-z0-9-]+)\|", text, re.MULTILINE)


def duration(milliseconds: int) -> str:
    minutes, seconds = divmod(round(milliseconds / 1000), 60)
    return f"{minutes}:{seconds:02d}"


def of_page(text: str) -> Iterator[tuple[str, Pass]]:
    """Yields the rows of a page."""
    for line in text.splitlines():
        cells = line.split()
        if len(cells) == len(COLUMNS) and re.fullmatch(r"[a-z0-9-]+", cells[0]):
            yield cells[0], Pass(*cells[1:])


def of_checkout(directory: pathlib.Path) -> Iterator[tuple[str, Pass]]:
    """Yields the records of tools/testing/check: commit, date, elapsed and processor time in milliseconds."""
    for file in directory.glob("*"):
        commit, when, took, processors = file.read_text(encoding="ascii").split()
        yield file.name, Pass(when, commit[:12], duration(int(took)), duration(int(processors)))


def newest(*sources: Iterator[tuple[str, Pass]]) -> dict[str, Pass]:
    """The last pass of each step. The times sort correctly as text."""
    last: dict[str, Pass] = {}
    for source in sources:
        for name, each in source:
            if name not in last or last[name].when == UNKNOWN or each.when > last[name].when != UNKNOWN:
                last[name] = each
    return last


def page(names: list[str], last: dict[str, Pass]) -> str:
    """The page, with one row for each name."""
    rows = [last.get(name, Pass()).cells(name) for name in names]
    widths = [max(map(len, column)) for column in zip(COLUMNS, *rows, strict=True)]
    rule = "  ".join("=" * width for width in widths)

    def line(cells: tuple[str, ...]) -> str:
        return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()

    return HEAD + "\n".join([rule, line(COLUMNS), rule, *map(line, rows), rule]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(REPO)} instead of printing it")
    arguments = parser.parse_args()
    before = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    names = long_steps(STEPS.read_text(encoding="utf-8"))
    text = page(names, newest(of_page(before), of_checkout(PASSED)))
    if arguments.write:
        PAGE.write_text(text, encoding="utf-8")
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
