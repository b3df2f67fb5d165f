# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests that errors are seen: kunit/broken has a failing expectation, a write beyond a buffer and a setter that warns."""

import pathlib

import pytest
from guests.run import GuestRun
from machine import Guest

REPO = pathlib.Path(__file__).resolve().parents[4]
BROKEN = Guest("broken", driver="none", kernel="debug", hcas=0,
               builds=("tools/testing/module/build --kernel KERNEL --broken",),
               settings=(f"CXIB_MODULE={REPO}/build/modules-debug-broken/cxib.ko",
                         "KUNIT_MODULE=kunit/broken/cxib_kunit_broken.ko"))

pytestmark = pytest.mark.run("kunit-sees-errors", "long", needs=("debug",))


@pytest.fixture(scope="module", name="run")
def broken_run() -> GuestRun:
    run = GuestRun("kunit", BROKEN)
    run.tests = ["test_suites"]
    run.verdict()
    return run


def outcome_of(run: GuestRun, case: str) -> str:
    found = run.outcome(f"test_suites.Broken.test_{case}")
    assert not found.passed and not found.skipped
    return found.reason


def test_failed_expectation_fails_its_case(run: GuestRun) -> None:
    assert "EXPECTATION FAILED at kunit/broken/broken_kunit.c" in outcome_of(run, "fails_an_expectation")


def test_write_beyond_buffer_fails_its_case_and_guest(run: GuestRun) -> None:
    outcome_of(run, "writes_behind_a_buffer")
    assert "KASAN in the guest's kernel log" in run.verdict()
    assert "BUG: KASAN: slab-out-of-bounds in writes_behind_a_buffer" in run.verdict()


def test_setter_that_warns_fails_guest(run: GuestRun) -> None:
    assert "WARN in the guest" in run.verdict()
    assert "cqc.status: value 0x1a exceeds 0xf" in run.verdict()
