#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the envelopes of a driver with those of public drivers; fails on a difference that the ledger does not
explain.

If several envelopes are given, prints the ledger entries that none of them needs. Such an entry can be removed if the
envelopes come from all steps of the check.
"""

import argparse
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import envelope  # noqa: E402
import ledger  # noqa: E402

LEDGER = HERE / "ledger.toml"
PUBLIC = HERE / "public.toml"
VFIO = HERE / "vfio.toml"


def _parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recorded", nargs="+", type=Path, help="envelopes of the driver, from cxemu --envelope")
    parser.add_argument("--public", type=Path, default=PUBLIC, help="envelope of the in-tree driver (default: %(default)s)")
    parser.add_argument("--other", type=Path, default=VFIO, help="envelope of another public driver (default: %(default)s)")
    parser.add_argument("--ledger", type=Path, default=LEDGER, help="explained differences (default: %(default)s)")
    parser.add_argument("--all", action="store_true", help="print also the explained differences")
    return parser.parse_args(arguments)


def _compare(recorded, options, entries):
    found = envelope.differences(envelope.load(recorded), envelope.load(options.public), envelope.load(options.other))
    unexplained = ledger.explain(found, entries)
    for difference in found if options.all else unexplained:
        print(difference)
    print(f"{recorded.name}: {len(found)} differences, {len(unexplained)} of them not explained in {options.ledger.name}")
    return bool(unexplained)


def main(arguments):
    options = _parse(arguments)
    entries = ledger.load(options.ledger)
    failed = [recorded for recorded in options.recorded if _compare(recorded, options, entries)]
    if len(options.recorded) > 1:
        for entry in ledger.unused(entries):
            print(f"explains nothing: {entry.title}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
