# SPDX-License-Identifier: GPL-2.0-or-later
"""The unit tests of the emulated HCA, with ASan and UBSan. Each GoogleTest is a test here, named ROOM-SUITE.NAME; those of
a room that are selected run in one process."""

import functools
import json
import pathlib
import re
import subprocess
from collections.abc import Callable

import pytest

REPO = pathlib.Path(__file__).resolve().parents[4]
ROOMS = REPO / "tools/cxemu"
BUILD = REPO / "build/cxemu-sanitized"
DECLARATION = re.compile(r"^(?:TYPED_)?TEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\)", re.MULTILINE)
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


@pytest.fixture(scope="session")
def run_room(request: pytest.FixtureRequest) -> Callable[[str], dict[str, list[str]]]:
    """Runs the selected tests of a room at the first call; returns the failures of each by its full name."""
    subprocess.run(["make", "-s", "cxemu-test-programs"], cwd=REPO, check=True)

    @functools.cache
    def run(room: str) -> dict[str, list[str]]:
        results = BUILD / f"{room}.json"
        results.unlink(missing_ok=True)
        names = [pattern for test in selected_tests(request.session, room) for pattern in patterns(*test)]
        done = subprocess.run([BUILD / room / f"cxemu_{room}_tests", f"--gtest_filter={':'.join(names)}",
                               f"--gtest_output=json:{results}"], cwd=REPO, capture_output=True, text=True, check=False)
        assert results.exists(), f"ended with {done.returncode}: {(done.stdout + done.stderr)[-SHOWN:]}"
        suites = json.loads(results.read_text(encoding="utf-8"))["testsuites"]
        return {f"{suite['name']}.{test['name']}": [each["failure"] for each in test.get("failures", [])]
                for suite in suites for test in suite["testsuite"] if test["status"] == "RUN"}

    return run


@pytest.mark.parametrize("test", [pytest.param(test, id=f"{test[0]}-{test[1]}.{test[2]}") for test in declared_tests()])
def test_unit(test: tuple[str, str, str], run_room: Callable[[str], dict[str, list[str]]]) -> None:
    room, suite, name = test
    outcomes = [failures for full_name, failures in run_room(room).items() if is_one_of(suite, name, full_name)]
    assert outcomes, "did not run"
    failures = [failure for each in outcomes for failure in each]
    assert not failures, "\n".join(failures)


def test_process(run_room: Callable[[str], dict[str, list[str]]]) -> None:
    """The program itself, with its command line."""
    done = subprocess.run([pathlib.Path(__file__).with_name("test_process.py"), BUILD / "cxemu"], cwd=REPO, capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
