#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that every file names the license for its place in its first lines, as debian/copyright does."""

import fnmatch
import pathlib
import re
import sys

from files import REPO, project_files

TAG = re.compile(r"SPDX-License-Identifier:\s*(.+?)\s*(?:\*/|-->)?\s*$")
TAG_LINES = 3

KERNEL = "GPL-2.0-only"
TOOL = "GPL-2.0-or-later"
TABLE = "GPL-2.0-only OR BSD-2-Clause"
LIBRARY = TABLE

# The first matching pattern decides. Files generated from the tables may carry the tables' license anywhere.
RULES: list[tuple[str, set[str]]] = [
    ("include/uapi/*", {"GPL-2.0-only WITH Linux-syscall-note"}),
    ("include/hw/*", {TABLE}),
    ("scripts/hwtab/tables/*", {TABLE}),
    ("scripts/hwtab/*", {TABLE, TOOL}),
    ("drivers/*", {KERNEL}),
    ("include/*", {KERNEL}),
    ("kunit/*", {KERNEL}),
    ("lib/*", {LIBRARY}),
    ("Kbuild", {KERNEL}),
    ("Documentation/*", {TOOL, TABLE}),
    ("*", {TOOL}),
]

# Data files in a foreign format or in a format without comments.
EXEMPT = [".gitignore", ".clang-format", ".clang-tidy", "LICENSES/*", "debian/changelog", "debian/copyright", "debian/source/format", "*.json", "*.pcap", "*.bin", "*.kmsg"]


def allowed_licenses(name: str) -> set[str]:
    return next(licenses for pattern, licenses in RULES if fnmatch.fnmatch(name, pattern))


def is_exempt(name: str) -> bool:
    return any(fnmatch.fnmatch(name, pattern) for pattern in EXEMPT)


def license_of(path: pathlib.Path) -> str:
    """The license in the first lines of a file; empty if there is none."""
    with open(path, encoding="utf-8", errors="replace") as file:
        for _, line in zip(range(TAG_LINES), file):
            match = TAG.search(line)
            if match:
                return match.group(1)
    return ""


def complaint(name: str, repo: pathlib.Path = REPO) -> str:
    """The complaint about a file's license line; empty if it is correct."""
    if is_exempt(name) or (repo / name).stat().st_size == 0:
        return ""
    found, allowed = license_of(repo / name), allowed_licenses(name)
    if found in allowed:
        return ""
    wanted = " or ".join(f'"{license}"' for license in sorted(allowed))
    if not found:
        return f"{name}: no SPDX-License-Identifier in its first {TAG_LINES} lines, must be {wanted}"
    return f'{name}: the license is "{found}", must be {wanted} here'


def copyright_rules(text: str) -> list[tuple[str, str]]:
    """Patterns and licenses of debian/copyright in file order; the last matching one applies."""
    rules = []
    for paragraph in text.split("\n\n"):
        fields = dict(re.findall(r"^(Files|License): (.*(?:\n .*)*)", paragraph, re.MULTILINE))
        rules += [(pattern, fields["License"]) for pattern in fields.get("Files", "").split()]
    return rules


def copyright_complaint(name: str, rules: list[tuple[str, str]], repo: pathlib.Path = REPO) -> str:
    """The license that debian/copyright gives if it differs from the file's; else empty."""
    found = license_of(repo / name)
    said = [license for pattern, license in rules if fnmatch.fnmatch(name, pattern)][-1]
    wanted = re.sub(r" WITH (.+)", r" with \1 exception", found.replace(" OR ", " or "))
    if is_exempt(name) or not found or wanted == said:
        return ""
    return f'debian/copyright: {name} is "{said}" there, and says of itself "{found}"'


def main() -> int:
    names = project_files()
    complaints = [text for name in names if (text := complaint(name))]
    rules = copyright_rules((REPO / "debian/copyright").read_text(encoding="utf-8"))
    complaints += [text for name in names if (text := copyright_complaint(name, rules))]
    print("\n".join(complaints + [f"{len(names)} files, {len(complaints)} complaints"]))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
