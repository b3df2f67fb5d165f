# SPDX-License-Identifier: GPL-2.0-or-later
"""Judges the outcomes of rdma-core's tests: on the in-tree driver by lists of known skips and failures, on cxib by the
outcomes on the in-tree driver."""

import dataclasses
import fnmatch
import pathlib
import tomllib

import compare

HERE = pathlib.Path(__file__).resolve().parents[1]
KERNELS_OF_PAGE = ("stock", "debug")
LEAST_ON_PROFILE = 100  # tests that are not skipped on the device that can do least

Judgement = tuple[str, str]  # outcome and reason


@dataclasses.dataclass(frozen=True)
class KnownSkip:
    """An entry of skips.toml."""

    tests: tuple[str, ...]  # patterns
    says: str  # part of the suite's reason

    def covers(self, name: str, reason: str) -> bool:
        return self.says in reason and any(fnmatch.fnmatchcase(name, pattern) for pattern in self.tests)


class InTree:
    """Judges the in-tree driver on the device of skips.toml."""

    def __init__(self, executed_at_least: int, skips: tuple[KnownSkip, ...]) -> None:
        self.least = executed_at_least
        self.skips = skips

    @classmethod
    def load(cls) -> "InTree":
        content = tomllib.loads((HERE / "skips.toml").read_text(encoding="utf-8"))
        return cls(content["executed_at_least"], tuple(KnownSkip(tuple(entry["tests"]), entry["says"]) for entry in content["skip"]))

    def judge(self, name: str, outcome: str, reason: str) -> Judgement:
        if outcome == "skipped" and not any(known.covers(name, reason) for known in self.skips):
            return "failed", f"skipped, and no entry of skips.toml covers it: {reason}"
        return outcome, reason

    def complaints(self, outcomes: dict[str, Judgement]) -> list[str]:
        """Complaints about a run of all tests."""
        found = [f"skips.toml: no skip is like {known.tests}: '{known.says}'" for known in self.skips
                 if not any(outcome == "skipped" and known.covers(name, reason) for name, (outcome, reason) in outcomes.items())]
        executed = sum(outcome != "skipped" for outcome, _ in outcomes.values())
        if executed < self.least:
            found.append(f"{executed} tests were executed, and at least {self.least} should be")
        return found


class InTreeOnProfile(InTree):
    """Judges the in-tree driver on another device, which may lack a feature that a test needs."""

    def __init__(self, failures: compare.Exceptions) -> None:
        super().__init__(LEAST_ON_PROFILE, ())
        self.failures = failures

    @classmethod
    def of(cls, profile: str) -> "InTreeOnProfile":
        entries = tomllib.loads((HERE / "expected_failures.toml").read_text(encoding="utf-8"))["expected"]
        return cls([(pattern, entry["why"]) for entry in entries if profile in entry["profiles"] for pattern in entry["tests"]])

    def judge(self, name: str, outcome: str, reason: str) -> Judgement:
        why = compare.reason_for(name, self.failures)
        if why and outcome in ("failed", "error"):
            return "skipped", f"fails on this profile: {why}"
        return ("failed", f"expected to fail, and {outcome}") if why else (outcome, reason)


class Cxib:
    """Judges cxib by the outcomes on the in-tree driver."""

    def __init__(self, reference: compare.Outcomes, exceptions: compare.Exceptions, page: str = "") -> None:
        self.reference = reference
        self.exceptions = exceptions
        self.page = page

    def judge(self, name: str, outcome: str, reason: str) -> Judgement:
        before = self.reference.get(name, "skipped")
        if compare.RANK[outcome] >= compare.RANK[before]:
            return (outcome, reason) if outcome in ("passed", "skipped") else ("skipped", f"fails on the in-tree driver, too: {reason}")
        why = compare.reason_for(name, self.exceptions)
        return ("skipped", why) if why else ("failed", f"{outcome} ({reason}), and {before} on the in-tree driver")

    def complaints(self, outcomes: dict[str, Judgement]) -> list[str]:
        """Complaints about a run of all tests on the device of the page."""
        if not self.page:
            return []
        ours = {name: outcome for name, (outcome, _) in outcomes.items()}
        behind = compare.behind(self.reference, ours)
        found = [f"exceptions.toml: cxib is not behind in any test like '{pattern}'" for pattern, _ in self.exceptions
                 if not fnmatch.filter(behind, pattern)]
        recorded = compare.outcomes_of_page(self.page, 1)
        found += [f"{name}: {outcome}; 'make compare-tests' writes the page, which says {recorded.get(name, 'skipped')}"
                  for name, outcome in ours.items() if outcome != recorded.get(name, "skipped")]
        return found


def judge_of(driver: str, kernel: str, profile: str, reference: str) -> InTree | Cxib:
    """The judge of a run. A profile is another device than the one of skips.toml and the page; reference is a file with
    the outcomes on the in-tree driver."""
    if driver == "mlx5":
        return InTreeOnProfile.of(profile) if profile else InTree.load()
    exceptions = compare.load_exceptions(HERE / "exceptions.toml")
    if reference:
        return Cxib(compare.load(pathlib.Path(reference)), exceptions)
    page = compare.PAGE.read_text(encoding="utf-8")
    return Cxib(compare.outcomes_of_page(page, 0), exceptions, page if kernel in KERNELS_OF_PAGE and not profile else "")
