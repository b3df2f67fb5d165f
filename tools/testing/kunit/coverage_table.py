#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints gcovr's JSON summary as one line per file: the lines and branches that were reached."""

import argparse
import json
import sys
from typing import Any


def cell(entry: dict[str, Any], what: str) -> str:
    """'12/15  80%', or a dash if the total is 0."""
    total = entry[f"{what}_total"]
    if not total:
        return "-"
    covered = entry[f"{what}_covered"]
    return f"{covered}/{total} {100 * covered // total:3d}%"


def total(rows: list[tuple[str, dict[str, Any]]], directory: str) -> dict[str, Any]:
    """Sums of the files below a directory."""
    keys = ("line_total", "line_covered", "branch_total", "branch_covered")
    return {key: sum(entry[key] for name, entry in rows if directory in name) for key in keys}


def read(path: str) -> dict[str, Any]:
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("summary", help="file written by gcovr --json-summary: branches of lines with a decision")
    parser.add_argument("every_branch", help="the same with all branches of the compiled code")
    options = parser.parse_args()
    summary, every_branch = read(options.summary), read(options.every_branch)
    if not summary["files"]:
        print("no file of the driver has counts", file=sys.stderr)
        return 1
    width = max(len(entry["filename"]) for entry in summary["files"])
    print(f"{'file':{width}} {'lines':>16} {'branches':>16}")
    rows = [(entry["filename"], entry) for entry in summary["files"]]
    rows += [("all of hw/", total(rows, "/hw/")), ("all", summary)]
    for name, entry in rows:
        print(f"{name:{width}} {cell(entry, 'line'):>16} {cell(entry, 'branch'):>16}")
    made = total([(entry["filename"], entry) for entry in every_branch["files"]], "/hw/")
    print(f"{'hw/, with what the compiler has added':{width + 16}} {cell(made, 'branch'):>17}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
