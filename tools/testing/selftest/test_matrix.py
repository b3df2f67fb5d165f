# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests the matrix of drivers and profiles: which lines are run again, and the printed table."""

import importlib.machinery
import importlib.util
import json
import pathlib
import sys
import tempfile
import types
import unittest
from unittest import mock

SCRIPT = pathlib.Path(__file__).resolve().parents[1] / "cxemu" / "matrix"
ALL = {"bring-up": True, "programs": True, "NVMe": True, "rdma-core": True, "clean": True}


def load() -> types.ModuleType:
    loader = importlib.machinery.SourceFileLoader("matrix", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("matrix", loader))
    sys.modules["matrix"] = module
    loader.exec_module(module)
    return module


sys.dont_write_bytecode = True
matrix = load()
ONE = matrix.Line("mlx5", "connectx4", "physical", "1013")
OTHER = matrix.Line("cxib", "connectx7", "virtual", "101e")


class Matrix(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        self.addCleanup(directory.cleanup)
        patch = mock.patch.object(matrix, "STORE", pathlib.Path(directory.name))
        patch.start()
        self.addCleanup(patch.stop)

    def store(self, line: object, commit: str, **parts: bool) -> None:
        matrix.stored(line, "stock").write_text(json.dumps({"commit": commit, "parts": ALL | parts}), encoding="utf-8")

    def test_line_not_run_again_after_pass_on_same_commit(self) -> None:
        self.assertFalse(matrix.has_passed(ONE, "stock", "a"))
        self.store(ONE, "a")
        self.assertTrue(matrix.has_passed(ONE, "stock", "a"))
        self.assertFalse(matrix.has_passed(ONE, "stock", "b"))
        self.assertFalse(matrix.has_passed(ONE, "debug", "a"))
        self.store(ONE, "a", clean=False)
        self.assertFalse(matrix.has_passed(ONE, "stock", "a"))

    def test_table_has_results_of_each_line(self) -> None:
        self.store(ONE, "a", NVMe=False)
        self.store(OTHER, "b")
        rows = list(matrix.rows([ONE, OTHER], "stock"))
        self.assertEqual(rows[1], ("mlx5", "connectx4", "physical", "passed", "passed", "failed", "passed", "passed", "a"))
        self.assertEqual(rows[2], ("cxib", "connectx7", "virtual", "passed", "passed", "passed", "passed", "passed", "b"))

    def test_line_never_run_has_dashes(self) -> None:
        self.assertEqual(list(matrix.rows([ONE], "stock"))[1], ("mlx5", "connectx4", "physical", *"------"))

    def keep_outcomes(self, line: object, **outcomes: str) -> None:
        every = dict.fromkeys((f"test_{number}" for number in range(matrix.EXECUTED_MIN)), "passed") | outcomes
        content = {name: {"outcome": outcome} for name, outcome in every.items()}
        matrix.stored_outcomes(line, "stock").write_text(json.dumps(content), encoding="utf-8")

    def test_failing_test_of_in_tree_driver_named(self) -> None:
        self.keep_outcomes(ONE, test_a="failed", test_b="skipped")
        self.assertEqual(matrix.suite_complaints(ONE, "stock"), ["test_a: failed"])

    def test_expected_failure_accepted_and_demanded(self) -> None:
        line = matrix.dataclasses.replace(ONE, profile="connectx4-2016")
        with mock.patch.object(matrix, "EXPECTED", pathlib.Path(matrix.STORE) / "expected.toml"):
            matrix.EXPECTED.write_text('[[expected]]\nprofiles = ["connectx4-2016"]\ntests = ["test_old*"]\nwhy = "x"\n',
                                       encoding="utf-8")
            self.keep_outcomes(line, test_old_clock="error")
            self.assertEqual(matrix.suite_complaints(line, "stock"), [])
            self.keep_outcomes(ONE, test_old_clock="error")
            self.assertEqual(matrix.suite_complaints(ONE, "stock"), ["test_old_clock: error"])
            self.keep_outcomes(line, test_old_clock="passed")
            self.assertEqual(matrix.suite_complaints(line, "stock"), ["test_old*: expected to fail, and did not"])

    def test_suite_with_few_tests_is_no_pass(self) -> None:
        self.assertIn("0 tests were executed", matrix.suite_complaints(ONE, "stock")[0])
        self.keep_outcomes(ONE, test_1="skipped")
        self.assertIn("99 tests were executed", matrix.suite_complaints(ONE, "stock")[0])

    def test_cxib_compared_with_in_tree_driver_of_same_line(self) -> None:
        self.keep_outcomes(OTHER, test_a="skipped", test_b="failed")
        self.assertIn("mlx5/connectx7/virtual has to be run first", matrix.suite_complaints(OTHER, "stock")[0])
        self.keep_outcomes(matrix.dataclasses.replace(OTHER, driver="mlx5"), test_a="passed", test_b="failed")
        self.assertEqual(matrix.suite_complaints(OTHER, "stock"), ["test_a: skipped, and passed on the kernel's own driver"])
