# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests which tests the plugin of the guests collects, and what it refuses."""

import pathlib
import types

import pytest
from guests import collect, plugin
from machine import Guest

NAMES = ["Reload.test_first", "Reload.test_second", "Reset.test_first"]


def test_tests_are_chosen_in_named_order() -> None:
    assert collect.chosen(NAMES, ("Reset", "Reload.test_second")) == ["Reset.test_first", "Reload.test_second"]


def test_all_tests_are_chosen_without_names() -> None:
    assert collect.chosen(NAMES, ()) == NAMES


def test_unknown_test_refused() -> None:
    with pytest.raises(ValueError, match="there is no test 'Reload.test_third'"):
        collect.chosen(NAMES, ("Reload.test_third",))


def test_file_without_guest_refused(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collect, "HERE", tmp_path)
    file = tmp_path / "cxemu/test_forgotten.py"
    file.parent.mkdir()
    file.write_text("import unittest\n", encoding="ascii")
    with pytest.raises(pytest.UsageError, match="names neither GUEST nor GUESTS"):
        plugin.pytest_pycollect_makemodule(file, None)


def test_file_on_host_needs_no_guest(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collect, "HERE", tmp_path)
    file = tmp_path / "cxemu/host/test_process.py"
    file.parent.mkdir(parents=True)
    file.write_text("import unittest\n", encoding="ascii")
    assert plugin.pytest_pycollect_makemodule(file, None) is None


@pytest.mark.parametrize(("name", "level"), [("with space", "check"), ("Capital", "check"), ("name", "never"), ("name", "fast")])
def test_guest_of_wrong_name_or_level_refused(name: str, level: str) -> None:
    with pytest.raises(ValueError, match="must be"):
        Guest(name, level=level)


def module(text: str) -> types.ModuleType:
    made = types.ModuleType("test_made")
    exec(text, made.__dict__)
    for each in vars(made).values():
        if isinstance(each, (type, types.FunctionType)):
            each.__module__ = made.__name__
    return made


def test_what_unittest_does_not_find_is_named() -> None:
    text = """
import unittest
class Forgotten:
    def test_one(self): pass
class Mixin:
    def test_two(self): pass
class Found(Mixin, unittest.TestCase): pass
class Helper:
    def check(self): pass
def test_three(): pass
"""
    assert collect.never_run(module(text)) == ["test_three", "Forgotten"]


@pytest.mark.parametrize("text", ["", "GUESTS = []", "GUEST = Guest('a')\nGUESTS = [GUEST]"])
def test_module_must_name_guest_in_one_way(text: str) -> None:
    with pytest.raises(ValueError, match="either GUEST or GUESTS"):
        collect.guests_of(module(f"from machine import Guest\n{text}"))


@pytest.mark.parametrize("text", ["GUEST = 1", "GUEST=1", "GUESTS: list[Guest] = []"])
def test_file_that_names_guest_is_recognized(tmp_path: pathlib.Path, text: str) -> None:
    file = tmp_path / "test_made.py"
    file.write_text(text, encoding="ascii")
    assert collect.names_guest(file)


def test_file_with_name_that_pytest_would_not_collect_refused() -> None:
    with pytest.raises(pytest.UsageError, match="begins with test_"):
        plugin.pytest_collect_file(pathlib.Path("module/made_test.py"))
