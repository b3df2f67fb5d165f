# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests which tests the plugin of the guests collects, and what it refuses."""

import pathlib

import pytest
from guests import collect, plugin

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
