#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the outcomes of rdma-core's tests on cxib with those on the in-tree driver.

usage: compare.py --write

Writes Documentation/rdma-core-tests.rst from the outcomes of the last runs of all tests. The tests themselves fail if one
has a worse outcome on cxib and exceptions.toml does not name it, and if the page is not up to date.
"""

import collections
import fnmatch
import json
import pathlib
import re
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
REPO = HERE.parents[2]
RUNS = REPO / "build" / "tests"
PAGE = REPO / "Documentation" / "rdma-core-tests.rst"

Outcomes = dict[str, str]  # "passed", "failed", "error" or "skipped" by test
Exceptions = list[tuple[str, str]]  # pattern and reason

RANK = {"passed": 2, "skipped": 1, "failed": 0, "error": 0}

HEAD = """.. SPDX-License-Identifier: GPL-2.0-or-later

==================
rdma-core's tests
==================

This page shows the result of each test of rdma-core's own suite on an emulated ConnectX-7 HCA, with the
kernel's own driver (mlx5_ib) and with cxib. ``make compare-tests`` runs both and writes this page. It fails
if a test passes only with the kernel's own driver. Tests that both drivers skip are counted but not listed;
``tools/testing/rdma_core/skips.toml`` gives the reasons.

"""


def load(file: pathlib.Path) -> Outcomes:
    return json.loads(file.read_text(encoding="utf-8"))


def outcomes_of_page(text: str, column: int) -> Outcomes:
    """The outcomes in a column of a page: 0 in-tree, 1 cxib. The page omits tests that both drivers skip."""
    rows = re.findall(r"^(test_\S+) +(passed|skipped|failed|error) +(passed|skipped|failed|error)$", text, re.MULTILINE)
    return {row[0]: row[1 + column] for row in rows}


def load_exceptions(file: pathlib.Path) -> Exceptions:
    entries = tomllib.loads(file.read_text(encoding="utf-8")).get("exception", [])
    return [(pattern, entry["why"]) for entry in entries for pattern in entry["tests"]]


def behind(reference: Outcomes, ours: Outcomes) -> list[str]:
    """Tests with a better outcome on the reference. A test that did not run counts as failed."""
    return sorted(name for name in reference.keys() | ours.keys()
                  if RANK[ours.get(name, "failed")] < RANK[reference.get(name, "skipped")])


def reason_for(name: str, exceptions: Exceptions) -> str:
    return next((why for pattern, why in exceptions if fnmatch.fnmatchcase(name, pattern)), "")


def table(rows: list[tuple[str, ...]]) -> str:
    """A simple reStructuredText table. The first row is the heading."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    rule = "  ".join("=" * width for width in widths)
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
    return "\n".join([rule, lines[0], rule, *lines[1:], rule]) + "\n"


def counts(reference: Outcomes, ours: Outcomes) -> str:
    rows = [("", "in-tree", "cxib")]
    both = collections.Counter(reference.values()), collections.Counter(ours.values())
    rows += [(outcome, *(str(count[outcome]) for count in both)) for outcome in ("passed", "skipped", "failed", "error")]
    return table(rows)


def page(reference: Outcomes, ours: Outcomes, exceptions: Exceptions) -> str:
    names = [name for name in sorted(reference.keys() | ours.keys())
             if {reference.get(name, ""), ours.get(name, "")} != {"skipped"}]
    rows = [("test", "in-tree", "cxib"), *((name, reference.get(name, "not run"), ours.get(name, "not run")) for name in names)]
    parts = [HEAD, counts(reference, ours), "\n", table(rows)]
    listed = sorted({why for name in behind(reference, ours) if (why := reason_for(name, exceptions))})
    if listed:
        parts += ["\nWhere cxib is behind:\n\n", *(f"* {why}\n" for why in listed)]
    return "".join(parts)


def main(arguments: list[str]) -> int:
    if arguments != ["--write"]:
        print(__doc__, file=sys.stderr)
        return 2
    reference, ours = (load(RUNS / f"rdma-core-{driver}" / "outcomes.json") for driver in ("mlx5", "cxib"))
    PAGE.write_text(page(reference, ours, load_exceptions(HERE / "exceptions.toml")), encoding="utf-8")
    print(f"compare: {len(behind(reference, ours))} tests behind, {len(behind(ours, reference))} ahead")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
