#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the outcomes of rdma-core's tests on cxib with those on the in-tree driver.

usage: compare.py [--write | --kernel NAME]

Reads build/rdma-core/cxib.json and mlx5.json (--kernel: cxib-NAME.json and mlx5-NAME.json). If the latter does not
exist, takes the outcomes of the in-tree driver from Documentation/rdma-core-tests.rst. Fails if a test has a worse
outcome on cxib and exceptions.toml does not name it, and if an exception is not needed. Without options it also fails
if Documentation/rdma-core-tests.rst is not up to date; --write updates the page.
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
RESULTS = REPO / "build" / "rdma-core"
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


def load(run: str) -> Outcomes:
    """Outcomes of a run: a driver, or a driver with another kernel."""
    content = json.loads((RESULTS / f"{run}.json").read_text(encoding="utf-8"))
    return {name: one["outcome"] for name, one in content.items()}


def reference_of_page(text: str, ours: Outcomes) -> Outcomes:
    """The outcomes of the in-tree driver on a page. The page omits tests that both drivers skip."""
    reference = {name: "skipped" for name, outcome in ours.items() if outcome == "skipped"}
    reference.update(re.findall(r"^(test_\S+) +(passed|skipped|failed|error) ", text, re.MULTILINE))
    return reference


def load_exceptions(file: pathlib.Path) -> Exceptions:
    entries = tomllib.loads(file.read_text(encoding="utf-8")).get("exception", [])
    return [(pattern, entry["why"]) for entry in entries for pattern in entry["tests"]]


def behind(reference: Outcomes, ours: Outcomes) -> list[str]:
    """Tests with a better outcome on the reference. A test that did not run counts as failed."""
    return sorted(name for name in reference.keys() | ours.keys()
                  if RANK[ours.get(name, "failed")] < RANK[reference.get(name, "skipped")])


def ahead(reference: Outcomes, ours: Outcomes) -> list[str]:
    return behind(ours, reference)


def reason_for(name: str, exceptions: Exceptions) -> str:
    return next((why for pattern, why in exceptions if fnmatch.fnmatchcase(name, pattern)), "")


def complaints(reference: Outcomes, ours: Outcomes, exceptions: Exceptions) -> list[str]:
    names = behind(reference, ours)
    found = [f"{name}: {ours.get(name, 'not run')}, and {reference.get(name, 'not run')} on the kernel's own driver"
             for name in names if not reason_for(name, exceptions)]
    found += [f"exceptions.toml: cxib is not behind in any test like '{pattern}'" for pattern, _ in exceptions
              if not fnmatch.filter(names, pattern)]
    return found


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
    kernel = f"-{arguments[1]}" if arguments[:1] == ["--kernel"] else ""
    ours = load(f"cxib{kernel}")
    if (RESULTS / f"mlx5{kernel}.json").exists():
        reference = load(f"mlx5{kernel}")
    elif "--write" not in arguments:
        reference = reference_of_page(PAGE.read_text(encoding="utf-8"), ours)
    else:
        print("compare: there is no build/rdma-core/mlx5.json; tools/testing/rdma_core/run makes it", file=sys.stderr)
        return 2
    exceptions = load_exceptions(HERE / "exceptions.toml")
    found = complaints(reference, ours, exceptions)
    text = page(reference, ours, exceptions)
    if "--write" in arguments:
        PAGE.write_text(text, encoding="utf-8")
    elif not kernel and (not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text):
        found.append(f"{PAGE.relative_to(REPO)} says something else; 'make compare-tests' writes it")
    print(f"compare: {len(behind(reference, ours))} tests behind, {len(ahead(reference, ours))} ahead")
    for complaint in found:
        print(f"compare: {complaint}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
