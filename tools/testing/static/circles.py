#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds cycles between the driver's files: sets of files that call each other's functions.

A file depends on another one if its code names a function that the other one defines. With --list it prints the
dependencies.
"""

import re
import sys

from files import REPO

DRIVER = REPO / "drivers/cxib"
COMMENTS_AND_STRINGS = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
DEFINITION = re.compile(r"^(?!static\b|extern\b|return\b)[a-z][\w \t*]*?\b(cxib_\w+)\([^;{]*\)\n\{", re.MULTILINE)
DATA = re.compile(r"^(?:const )?struct \w+ (cxib_\w+)(?:\[\])? = \{", re.MULTILINE)
NAME = re.compile(r"(?<!struct )(?<!enum )(?<!union )\bcxib_\w+\b")

# Pairs that depend on each other on purpose, with the reason.
KNOWN: dict[frozenset[str], str] = {
    frozenset({"hw/command_queue", "hw/pending_creates"}): "the queue starts the work that destroys what late outputs name",
    frozenset({"device", "devlink_health"}): "a device reports faults to devlink, which asks for its recovery",
}

Graph = dict[str, set[str]]


def code_of(text: str) -> str:
    return COMMENTS_AND_STRINGS.sub(" ", text)


def dependencies(sources: dict[str, str]) -> Graph:
    """For each file (name without suffix), the files whose functions or tables it names."""
    codes = {name: code_of(text) for name, text in sources.items()}
    owner = {symbol: name for name, code in codes.items()
             for pattern in (DEFINITION, DATA) for symbol in pattern.findall(code)}
    return {name: {owner[symbol] for symbol in NAME.findall(code) if owner.get(symbol, name) != name}
            for name, code in codes.items()}


def circles(graph: Graph) -> list[frozenset[str]]:
    """Sets of files that depend on each other, directly or indirectly: strongly connected components (Tarjan)."""
    index: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[frozenset[str]] = []

    def visit(node: str) -> None:
        index[node] = lowest[node] = len(index)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in index:
                visit(other)
                lowest[node] = min(lowest[node], lowest[other])
            elif other in stack:
                lowest[node] = min(lowest[node], index[other])
        if lowest[node] == index[node]:
            component = stack[stack.index(node):]
            del stack[stack.index(node):]
            if len(component) > 1:
                found.append(frozenset(component))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def complaints(sources: dict[str, str]) -> list[str]:
    found = circles(dependencies(sources))
    lines = [f"files that depend on each other: {', '.join(sorted(circle))}" for circle in found if circle not in KNOWN]
    lines += [f"no circle any more, take it out of circles.py: {', '.join(sorted(circle))}"
              for circle in KNOWN if circle not in found]
    return lines


def driver_sources() -> dict[str, str]:
    return {str(path.relative_to(DRIVER).with_suffix("")): path.read_text(encoding="utf-8")
            for path in sorted(DRIVER.rglob("*.c"))}


def main() -> int:
    sources = driver_sources()
    if sys.argv[1:] == ["--list"]:
        for name, others in dependencies(sources).items():
            print(f"{name}: {' '.join(sorted(others))}")
        return 0
    found = complaints(sources)
    print("\n".join(found + [f"{len(sources)} files, {len(found)} complaints"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
