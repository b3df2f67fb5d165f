#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Lists the driver files with low KUnit coverage that kunit/tested_in_guests.toml does not excuse.

A file of at least MIN_LINES executable lines needs suites that run at least MIN_SHARE percent of them. Otherwise it
needs a line in tested_in_guests.toml that gives the reason and the tests that run it in a guest. A line for a file with
enough coverage is a complaint as well.
"""

import argparse
import json
import pathlib
import sys
import tomllib

MIN_LINES = 20
MIN_SHARE = 20


def share(entry: dict[str, int]) -> int:
    """Percentage of executed lines."""
    return 100 * entry["line_covered"] // entry["line_total"]


def complaints(files: list[dict], excused: dict[str, str]) -> list[str]:
    """Yields complaints. `files`: entries of gcovr's JSON summary; `excused`: reasons by file name."""
    lines = []
    known = set()
    for entry in files:
        name = entry["filename"]
        if not name.endswith(".c") or entry["line_total"] < MIN_LINES:
            continue
        known.add(name)
        if share(entry) < MIN_SHARE and name not in excused:
            lines.append(f"{name}: KUnit runs {share(entry)}% of {entry['line_total']} lines, fewer than {MIN_SHARE}%: "
                         "a suite is missing, or a reason in kunit/tested_in_guests.toml")
        if share(entry) >= MIN_SHARE and name in excused:
            lines.append(f"{name}: KUnit runs {share(entry)}%, its line in kunit/tested_in_guests.toml is not needed")
    lines += [f"{name}: is in kunit/tested_in_guests.toml, and is no file of {MIN_LINES} lines"
              for name in sorted(set(excused) - known)]
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("summary", type=pathlib.Path, help="file written by gcovr --json-summary")
    parser.add_argument("reasons", type=pathlib.Path, help="kunit/tested_in_guests.toml")
    options = parser.parse_args()
    files = json.loads(options.summary.read_text(encoding="utf-8"))["files"]
    excused = tomllib.loads(options.reasons.read_text(encoding="utf-8"))["files"]
    found = complaints(files, excused)
    print("\n".join(found + [f"{len(files)} files, {len(excused)} tested in guests, {len(found)} complaints"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
