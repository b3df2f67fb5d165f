#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compiles invalid tables and misuses of the views; the compiler must refuse each and name the offenders in its
message."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from cases import ACCEPTED, CASES, Case
from misuses import CORRECT_USES, MISUSES, Misuse

HWTAB = pathlib.Path(__file__).resolve().parents[4] / "scripts/hwtab"
TABLE = '#include "hwtab/verify.hpp"\n#include <array>\nnamespace hwtab {\n%s}\n'


def compile_text(text: str) -> str | None:
    """The compiler's message, or None if the text compiles."""
    command = [os.environ.get("CXX", "g++"), "-std=c++2b", "-fsyntax-only", f"-I{HWTAB}", "-x", "c++", "-"]
    run = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    return run.stderr if run.returncode else None


def rules_of_verify() -> set[str]:
    """The names of the rules in hwtab/verify.hpp."""
    text = (HWTAB / "hwtab/verify.hpp").read_text()
    body = re.search(r"enum class Rule[^{]*\{(.*?)\};", text, re.S).group(1)
    return set(re.findall(r"^\s*(\w+),", body, re.M)) - {"none"}


def judge_refusal(case: Case) -> str | None:
    """The complaint about the compiler's reaction, or None."""
    message = compile_text(TABLE % case.body)
    if message is None:
        return "it compiles"
    refused = re.search(r"Refused<.*", message)
    if refused is None or f"Rule::{case.rule}" not in refused.group(0):
        return f"the message does not name the rule:\n{message}"
    for offender in case.offenders:
        if f'"{offender}"' not in refused.group(0):
            return f"the message does not name '{offender}':\n{refused.group(0)}"
    return None


def judge_misuse(misuse: Misuse) -> str | None:
    message = compile_text(misuse.text)
    if message is None:
        return "it compiles"
    return None if misuse.words in message else f"the message does not say '{misuse.words}':\n{message}"


def judge_acceptance(text: str) -> str | None:
    message = compile_text(text)
    return None if message is None else f"it does not compile:\n{message}"


def main() -> int:
    jobs = [(f"refuses {case.rule}: {', '.join(case.offenders)}", judge_refusal, case) for case in CASES]
    jobs += [(f"refuses a view that {misuse.what}", judge_misuse, misuse) for misuse in MISUSES]
    jobs += [("accepts a table without fault", judge_acceptance, TABLE % body) for body in ACCEPTED]
    jobs += [("accepts a view that is used rightly", judge_acceptance, text) for text in CORRECT_USES]
    with ThreadPoolExecutor(2) as pool:
        faults = list(pool.map(lambda job: job[1](job[2]), jobs))
    failures = 0
    for (name, _, _), fault in zip(jobs, faults):
        print(f"{'ok' if fault is None else 'FAILED'}: {name}{'' if fault is None else ': ' + fault}")
        failures += fault is not None
    for rule in sorted(rules_of_verify() - {case.rule for case in CASES}):
        print(f"FAILED: no wrong table here breaks the rule {rule}")
        failures += 1
    print(f"{len(jobs)} compilations, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
