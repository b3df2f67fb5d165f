#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds words that must not be in the repository because they tie it to one machine or one mirror."""

import pathlib
import re
import sys
from typing import Iterator

from files import REPO, project_files

# No pattern matches its own source line.
FORBIDDEN: list[tuple[re.Pattern[str], str]] = [
    (
        re.compile(r"\b(?:deb|ftp\w*|security|snapshot|archive|httpredir|cdn\w*)\.(?:debian|ubuntu)\.(?:org|com)\b"),
        "names a package host; take the one that the host's package manager uses, or a variable",
    ),
    (
        re.compile(r"\b(?:pypi|pythonhosted|npmjs|crates)\.(?:org|io|com)\b"),
        "names a package host; everything comes from the distribution",
    ),
    (
        re.compile(r"(?<![\w.}$/*])/(?:home|root|work|Users)/[\w.]"),
        "is a path of a developer's machine",
    ),
    (
        re.compile(r"\b(?:TO[D]O|FIX[M]E|XX[X])\b"),
        "marks unfinished work; finish it or open an issue",
    ),
]


def complaints(name: str, text: str) -> Iterator[str]:
    """Yields one line for each refused word in a file."""
    for number, line in enumerate(text.splitlines(), 1):
        for pattern, reason in FORBIDDEN:
            match = pattern.search(line)
            if match:
                yield f'{name}:{number}: "{match.group(0)}" {reason}'


def read_text(path: pathlib.Path) -> str:
    """The text of a file; empty if the file is binary."""
    content = path.read_bytes()
    return "" if b"\0" in content else content.decode("utf-8", errors="replace")


def main() -> int:
    names = project_files()
    found = [text for name in names for text in complaints(name, read_text(REPO / name))]
    print("\n".join(found + [f"{len(names)} files, {len(found)} complaints"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
