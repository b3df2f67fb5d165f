# SPDX-License-Identifier: GPL-2.0-or-later
"""Evaluates the outcomes of a suite with the list of known skips."""

import collections
import dataclasses
import fnmatch
import pathlib
import tomllib
from typing import Any

Outcomes = dict[str, dict[str, Any]]


@dataclasses.dataclass(frozen=True)
class KnownSkip:
    """An entry of skips.toml."""

    tests: tuple[str, ...]  # patterns
    says: str  # part of the suite's reason
    why: str
    infiniband: bool  # whether an InfiniBand HCA supports it

    def covers(self, name: str, reason: str) -> bool:
        return self.says in reason and any(fnmatch.fnmatchcase(name, pattern) for pattern in self.tests)


@dataclasses.dataclass(frozen=True)
class Expectations:
    """The contents of skips.toml."""

    executed_at_least: int
    skips: tuple[KnownSkip, ...]


def load(file: pathlib.Path) -> Expectations:
    content = tomllib.loads(file.read_text(encoding="utf-8"))
    skips = tuple(KnownSkip(tuple(entry["tests"]), entry["says"], entry["why"], entry["infiniband"])
                  for entry in content["skip"])
    return Expectations(content["executed_at_least"], skips)


def count(outcomes: Outcomes) -> collections.Counter[str]:
    return collections.Counter(one["outcome"] for one in outcomes.values())


def reasons(outcomes: Outcomes) -> dict[str, str]:
    """Reasons of the skipped tests by name."""
    return {name: one["text"] for name, one in sorted(outcomes.items()) if one["outcome"] == "skipped"}


def failures(outcomes: Outcomes) -> list[str]:
    return [f"{name}: {one['outcome']}: {one['text']}" for name, one in sorted(outcomes.items())
            if one["outcome"] in ("failed", "error")]


def complaints(outcomes: Outcomes, expected: Expectations) -> list[str]:
    """All reasons for which the suite fails."""
    skipped = reasons(outcomes)
    found = failures(outcomes)
    found += [f"{name}: skipped, and no entry of skips.toml covers it: {reason}" for name, reason in skipped.items()
              if not any(known.covers(name, reason) for known in expected.skips)]
    found += [f"skips.toml: no skip is like {known.tests}: '{known.says}'" for known in expected.skips
              if not any(known.covers(name, reason) for name, reason in skipped.items())]
    executed = len(outcomes) - len(skipped)
    if executed < expected.executed_at_least:
        found.append(f"{executed} tests were executed, and at least {expected.executed_at_least} should be")
    return found


def gaps(outcomes: Outcomes, expected: Expectations) -> list[str]:
    """Skipped tests of features that an InfiniBand HCA has."""
    return [name for name, reason in reasons(outcomes).items()
            if any(known.infiniband and known.covers(name, reason) for known in expected.skips)]
