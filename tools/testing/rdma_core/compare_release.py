#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares what became of another release's tests on cxib with what became of them on the kernel's own driver.

usage: compare_release.py SUITE mlx5|cxib

mlx5: keeps what became of them in releases/VERSION.json. cxib: fails where a test that passes there does not pass, or one
fails that does not fail there, without being named in exceptions.toml; for a version that nothing is kept of, on all
failures.
"""

import json
import pathlib
import sys

import compare

KEPT = pathlib.Path(__file__).resolve().parent / "releases"


def load(suite: str, driver: str) -> compare.Outcomes:
    content = json.loads((compare.RESULTS / suite / f"{driver}.json").read_text(encoding="utf-8"))
    return {name: one["outcome"] for name, one in content.items()}


def keep(file: pathlib.Path, outcomes: compare.Outcomes) -> None:
    ran = {name: outcome for name, outcome in outcomes.items() if outcome != "skipped"}
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(ran, indent=0, sort_keys=True) + "\n", encoding="utf-8")


def complaints(reference: compare.Outcomes, ours: compare.Outcomes, exceptions: compare.Exceptions) -> list[str]:
    return [f"{name}: {ours.get(name, 'not run')}, and {reference.get(name, 'skipped')} on the kernel's own driver"
            for name in compare.behind(reference, ours) if not compare.reason_for(name, exceptions)]


def main(suite: str, driver: str) -> int:
    version = (compare.RESULTS / suite / "version").read_text(encoding="ascii").split("-")[0]
    file = KEPT / f"{version}.json"
    ours = load(suite, driver)
    if driver == "mlx5":
        keep(file, ours)
        return 0
    reference = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    found = complaints(reference, ours, compare.load_exceptions(compare.HERE / "exceptions.toml"))
    passed = list(ours.values()).count("passed")
    print(f"rdma-core {version}: {passed} tests passed; {list(reference.values()).count('passed')} do on the kernel's own driver")
    for complaint in found:
        print(f"compare_release: {complaint}", file=sys.stderr)
    return 1 if found or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
