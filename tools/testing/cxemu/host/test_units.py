# SPDX-License-Identifier: GPL-2.0-or-later
"""The unit tests of the emulated HCA, with ASan and UBSan. Each GoogleTest is a test here, named ROOM-SUITE.NAME; those of
a room that are selected run in one process. If its end is wrong, the last of them fails."""

import functools
import json
import os
import pathlib
import re
import shlex
import subprocess
from collections.abc import Callable
from typing import NamedTuple

import pytest

REPO = pathlib.Path(__file__).resolve().parents[4]
ROOMS = REPO / "tools/cxemu"
BUILD = REPO / "build/cxemu-sanitized"
DECLARATION = re.compile(r"^(?:TYPED_)?TEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\)", re.MULTILINE)
SANITIZER_STATUS = 99  # not 1, the status after failed tests
SHOWN = 10000  # characters of the output of a process that has crashed

pytestmark = pytest.mark.run("cxemu-units", "check")


def declared_tests() -> list[tuple[str, str, str]]:
    """Room, suite and name of each test in the sources."""
    return [(source.parents[1].name, suite, name) for source in sorted(ROOMS.glob("*/tests/*.cpp"))
            for suite, name in DECLARATION.findall(source.read_text(encoding="utf-8"))]


def selected_tests(session: pytest.Session, room: str) -> list[tuple[str, str]]:
    calls = (getattr(item, "callspec", None) for item in session.items if item.path.name == pathlib.Path(__file__).name)
    return [call.params["test"][1:] for call in calls if call and call.params["test"][0] == room]


def patterns(suite: str, name: str) -> tuple[str, ...]:
    """The names of a test for GoogleTest: a plain one, with parameters, with types."""
    return f"{suite}.{name}", f"*/{suite}.{name}/*", f"{suite}/*.{name}"


def is_one_of(suite: str, name: str, full_name: str) -> bool:
    return any(pathlib.PurePath(full_name).match(pattern) for pattern in patterns(suite, name))


class Outcome(NamedTuple):
    failures: dict[str, list[str]]  # of each test, by its full name
    end: str  # what is wrong with the end of the program: destructors and LeakSanitizer run after the tests


def run_program(command: list[str], repeat: str, results: pathlib.Path) -> Outcome:
    results.unlink(missing_ok=True)
    done = subprocess.run([*command, f"--gtest_output=json:{results}"], cwd=REPO, capture_output=True, text=True, check=False,
                          env=os.environ | {"ASAN_OPTIONS": f"exitcode={SANITIZER_STATUS}"})
    end = f"ended with {done.returncode}\n{(done.stdout + done.stderr)[-SHOWN:]}\nrepeat with: {repeat}"
    if not results.exists():
        return Outcome({}, f"the program {end}")
    suites = json.loads(results.read_text(encoding="utf-8"))["testsuites"]
    failures = {f"{suite['name']}.{test['name']}": [each["failure"] for each in test.get("failures", [])]
                for suite in suites for test in suite["testsuite"] if test["status"] == "RUN"}
    expected = 1 if any(failures.values()) else 0
    return Outcome(failures, "" if done.returncode == expected else f"after its tests the program {end}")


@pytest.fixture(scope="session")
def run_room(request: pytest.FixtureRequest) -> Callable[[str], Outcome]:
    """Runs the selected tests of a room at the first call."""
    subprocess.run(["make", "-s", "cxemu-test-programs"], cwd=REPO, check=True)

    @functools.cache
    def run(room: str) -> Outcome:
        tests = selected_tests(request.session, room)
        names = [pattern for test in tests for pattern in patterns(*test)]
        whole = len(tests) == sum(test[0] == room for test in declared_tests())
        command = [str((BUILD / room / f"cxemu_{room}_tests").relative_to(REPO)), f"--gtest_filter={':'.join(names)}"]
        repeat = shlex.join(["tools/lab/exec", "--", *(command[:1] if whole else command)])
        return run_program(command, repeat, BUILD / f"{room}.json")

    return run


@pytest.mark.parametrize("test", [pytest.param(test, id=f"{test[0]}-{test[1]}.{test[2]}") for test in declared_tests()])
def test_unit(test: tuple[str, str, str], run_room: Callable[[str], Outcome], request: pytest.FixtureRequest) -> None:
    room, suite, name = test
    outcome = run_room(room)
    outcomes = [failures for full_name, failures in outcome.failures.items() if is_one_of(suite, name, full_name)]
    assert outcomes, f"did not run; {outcome.end}"
    failures = [failure for each in outcomes for failure in each]
    assert not failures, "\n".join(failures)
    if outcome.end and (suite, name) == selected_tests(request.session, room)[-1]:
        pytest.fail(outcome.end)


def test_process(run_room: Callable[[str], Outcome]) -> None:
    """The program itself, with its command line."""
    done = subprocess.run([pathlib.Path(__file__).with_name("test_process.py"), BUILD / "cxemu"], cwd=REPO, capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
