# SPDX-License-Identifier: GPL-2.0-or-later
"""Collects the unittest tests of files that name a guest in GUEST or GUESTS."""

import contextlib
import dataclasses
import importlib.util
import os
import pathlib
import re
import sys
import types
import unittest
from collections.abc import Iterable, Iterator

import pytest
from machine import Guest

from guests.run import GuestRun, Runs

HERE = pathlib.Path(__file__).resolve().parents[1]
LIBRARIES = (HERE / "guest", HERE / "cxemu/guest", HERE / "ulp/guest", HERE / "module", HERE.parent / "lab")
VERDICT = "the guest is sound"
HOST_DIRECTORIES = {"selftest", "lab", "host"}
NAMES_GUEST = re.compile(r"^GUESTS?\b[^=\n]*=", re.MULTILINE)
# What tools/lab/run and the runs set in the guest, so that files can be imported here.
ENVIRONMENT = {"LAB_DRIVER": "cxib", "LAB_KERNEL": "stock", "LAB_HCAS": "2", "LAB_VM": "0", "LAB_VMS": "1",
               "ULP_DRIVER": "cxib", "SUITE_TREE": "/"}


def area(path: pathlib.Path) -> str:
    """The directory below tools/testing, which begins the names of its runs: cxemu, kernel_verbs."""
    return path.relative_to(HERE).parts[0]


def is_for_guests(path: pathlib.Path) -> bool:
    """Whether the tests of a file run in guests, and not on the host."""
    parts = path.relative_to(HERE).parts
    return path.name.startswith("test_") and len(parts) > 1 and not HOST_DIRECTORIES & set(parts)


def names_guest(path: pathlib.Path) -> bool:
    return path.name.startswith("test_") and path.suffix == ".py" and bool(NAMES_GUEST.search(path.read_text(encoding="utf-8")))


def forget_other_areas(directory: pathlib.Path) -> None:
    """Forgets modules of other areas, except libraries that have no namesake in this directory: the names occur again."""
    for name, module in list(sys.modules.items()):
        path = pathlib.Path(getattr(module, "__file__", None) or "/")
        if HERE not in path.parents or path.parent in (HERE, HERE / "guests", directory):
            continue
        if path.parent not in LIBRARIES or (directory / path.name).exists():
            del sys.modules[name]


def load(path: pathlib.Path) -> types.ModuleType:
    """Imports a file as it would be in the guest."""
    os.environ.update({name: value for name, value in ENVIRONMENT.items() if name not in os.environ})
    for directory in (*LIBRARIES, path.parent):
        with contextlib.suppress(ValueError):
            sys.path.remove(str(directory))
        sys.path.insert(0, str(directory))
    forget_other_areas(path.parent)
    if path.stem in sys.modules:
        return sys.modules[path.stem]
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def test_ids(module: types.ModuleType) -> dict[str, str]:
    """The unittest ids of all tests of a module by their names, as Class.test."""
    def flat(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
        for each in suite:
            if isinstance(each, unittest.TestSuite):
                yield from flat(each)
            else:
                yield each

    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    return {test.id().removeprefix(f"{module.__name__}."): test.id() for test in flat(suite)}


def never_run(module: types.ModuleType) -> list[str]:
    """Functions and classes of a module that look like tests, and that unittest does not find."""
    mine = [each for each in vars(module).values() if getattr(each, "__module__", "") == module.__name__]
    classes = [each for each in mine if isinstance(each, type)]
    cases = [each for each in classes if issubclass(each, unittest.TestCase)]
    functions = [each.__name__ for each in mine if isinstance(each, types.FunctionType) and each.__name__.startswith("test")]
    return functions + [each.__name__ for each in classes if any(name.startswith("test") for name in vars(each))
                        and not any(issubclass(case, each) for case in cases)]


def guests_of(module: types.ModuleType) -> list[Guest]:
    named = [getattr(module, name) for name in ("GUEST", "GUESTS") if hasattr(module, name)]
    if len(named) != 1 or not named[0]:
        raise ValueError(f"{module.__name__}.py: either GUEST or GUESTS must name a guest")
    return [named[0]] if isinstance(named[0], Guest) else list(named[0])


def chosen(names: Iterable[str], only: tuple[str, ...]) -> list[str]:
    for wanted in only:
        if not any(f"{name}.".startswith(f"{wanted}.") for name in names):
            raise ValueError(f"there is no test {wanted!r}")
    found = [name for wanted in only for name in names if f"{name}.".startswith(f"{wanted}.")]
    return list(dict.fromkeys(found)) if only else list(names)


class GuestFile(pytest.File):
    """A file whose tests run in guests."""

    def collect(self) -> Iterator[pytest.Item]:
        module = load(self.path)
        ids = test_ids(module)
        guests = guests_of(module)
        unused = set(ids)
        for guest in guests:
            mine = chosen(ids, guest.only)
            unused -= set(mine)
            wanted = as_wanted(guest, {each.name for each in guests}, self.config)
            if not wanted:
                continue
            run = self.config.stash[Runs.key].of(area(self.path), wanted.machine())
            if self.config.getoption("--run") not in (None, run.name):
                continue
            for name in mine:
                yield GuestItem.from_parent(self, name=f"{name}[{run.name}]", run=run, test=ids[name])
        unused.update(never_run(module))
        if unused:
            raise ValueError(f"{self.path.name}: no guest runs {', '.join(sorted(unused))}")


def as_wanted(guest: Guest, names: set[str], config: pytest.Config) -> Guest | None:
    """The guest with the kernel, the driver and the settings of the command line. Left out are guests that are there for their
    own kernel or driver, and those that the file has with the wanted ones, too.

    :param names: of the guests of the file
    """
    wanted = {name: config.getoption(f"--{name}") for name in ("kernel", "driver")}
    changes = {name: value for name, value in wanted.items() if value and getattr(guest, name) != value}
    if changes and ("-".join([guest.name, *changes.values()]) in names or ("kernel" in changes and guest.kernel != "stock")
                    or ("driver" in changes and guest.driver == "none")):
        return None
    return dataclasses.replace(guest, name="+".join([guest.name, *changes.values()]),
                               settings=(*guest.settings, *config.getoption("--setting")), **changes)


class GuestItem(pytest.Item):
    """A test that a guest runs, together with all other chosen tests of the guest."""

    def __init__(self, *, run: GuestRun, test: str, **options: object) -> None:
        super().__init__(**options)
        self.run = run
        self.test = test
        self.add_marker(run.guest.level)

    def runtest(self) -> None:
        outcome = self.run.outcome(self.test)
        if outcome.skipped:
            pytest.skip(outcome.reason or "no reason")
        if not outcome.passed:
            raise TestFailed(outcome.reason)

    def repr_failure(self, excinfo: pytest.ExceptionInfo, style: str | None = None) -> str:
        if isinstance(excinfo.value, TestFailed):
            module, *name = self.test.split(".")
            return f"{excinfo.value}\nagain: {again(self, ' and '.join([module, *name]))}"
        return str(super().repr_failure(excinfo, style))

    def reportinfo(self) -> tuple[pathlib.Path, None, str]:
        return self.path, None, self.name


class VerdictItem(pytest.Item):
    """What the lab says of the guest after its tests: kernel reports, violations of the device's rules, packets."""

    def __init__(self, *, run: GuestRun, **options: object) -> None:
        super().__init__(**options)
        self.run = run
        self.add_marker(run.guest.level)

    def runtest(self) -> None:
        complaint = self.run.verdict()
        if self.run.skipped:
            pytest.skip(self.run.skipped)
        if complaint:
            raise TestFailed(complaint)

    def repr_failure(self, excinfo: pytest.ExceptionInfo, style: str | None = None) -> str:
        if isinstance(excinfo.value, TestFailed):
            return f"{excinfo.value}\nagain: {again(self)}"
        return str(super().repr_failure(excinfo, style))

    def reportinfo(self) -> tuple[pathlib.Path, None, str]:
        return self.path, None, self.name


class TestFailed(Exception):
    """A test has failed in a guest; the text says how."""

    __test__ = False


def again(item: GuestItem | VerdictItem, test: str = "") -> str:
    """The command that runs a guest again, with one test or with all."""
    wanted = {name: item.config.getoption(f"--{name}") for name in ("kernel", "driver")}
    words = [f"{name.upper()}={value}" for name, value in wanted.items() if value]
    return " ".join([f"make test T='{test and test + ' and '}[{item.run.name}]'", *words])


def in_order_of_runs(items: list[pytest.Item]) -> list[pytest.Item]:
    """The tests of a guest one after another, then its verdict; tests without a guest first."""
    ordered = [item for item in items if not isinstance(item, GuestItem)]
    runs: dict[GuestRun, list[GuestItem]] = {}
    for item in items:
        if isinstance(item, GuestItem):
            runs.setdefault(item.run, []).append(item)
    for run, mine in runs.items():
        run.tests = [item.test for item in mine]
        ordered += mine
        ordered.append(VerdictItem.from_parent(mine[0].parent, name=f"{VERDICT}[{run.name}]", run=run))
    return ordered
