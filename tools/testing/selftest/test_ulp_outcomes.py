# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests tools/testing/ulp/outcomes, which prints tables of the outcomes of ULP tests."""

import importlib.machinery
import importlib.util
import json
import pathlib
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "ulp/outcomes"


def load() -> object:
    loader = importlib.machinery.SourceFileLoader("outcomes", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("outcomes", loader))
    loader.exec_module(module)
    return module


outcomes = load()


class Protocols(unittest.TestCase):
    def table(self, *results: tuple[str, str, str] | tuple[str, str, str, bool]) -> dict[str, list[str]]:
        """The cells of each row, without the command, by fault; the notes under "notes"."""
        with tempfile.NamedTemporaryFile("w") as file:
            for result in results:
                file.write(json.dumps(dict(zip(("test", "outcome", "reason", "loss"), result, strict=False))) + "\n")
            file.flush()
            lines = outcomes.protocols_table(outcomes.read(file.name)).splitlines()
        rows = {what: [line for line in lines if line.startswith(what)] for what, *_ in outcomes.ROWS}
        return {what: line.split("``", 2)[2].split() for what, (line,) in rows.items()} | {
            "notes": [line for line in lines if line[1:3] == ". "]}

    def test_passed_and_other_outcomes(self) -> None:
        table = self.table(("test_faults.Rebinding.test_nvme_without_hca_ends", "passed", ""),
                           ("test_faults.Rebinding.test_tcp_over_ipoib_without_hca_resumes", "passed", ""),
                           ("test_faults.Target.test_iser", "passed", ""), ("test_faults.Target.test_rds", "passed", ""))
        self.assertEqual(["resumes", "ends", "–", "–", "–", "–"], table["HCA unbound from the driver"])
        self.assertEqual(["–", "–", "resumes", "–", "–", "ends"], table["target killed"])

    def test_loss_has_own_row_and_worst_counts(self) -> None:
        table = self.table(("test_nvme.Disk.test_one", "failed", "no answer"), ("test_nfs.Files.test_one", "passed", "", True),
                           ("test_rds.Messages.test_one", "failed", "lost", True), ("test_rds.Messages.test_two", "passed", "", True))
        self.assertEqual(["–", "–", "–", "–", "yes", "fails", "(1)"], table["1 % of the packets lost"])

    def test_last_result_of_test_counts(self) -> None:
        test = "test_unloading.Srp.test_every_unload_order_survived"
        self.assertEqual(["–", "–", "–", "yes", "–", "–"], self.table((test, "died", ""), (test, "passed", ""))["modules unloaded"])

    def test_later_kernel_message_counts(self) -> None:
        table = self.table(("test_unloading.Rds.test_every_unload_order_survived", "passed", ""),
                           ("after test_unloading.Rds.test_every_unload_order_survived", "complaint", "WARNING: CPU: 1 PID: 2 at a.c:1 f+0x1/0x2"))
        for what in ("modules unloaded", "driver unloaded, both ends"):
            self.assertEqual(["–"] * 5 + ["yes", "(1)"], table[what])
        self.assertEqual(["1. ``WARNING: a.c:1 f+0x1/0x2``"], table["notes"])

    def test_skipped_is_not_applicable(self) -> None:
        table = self.table(("test_faults.FatalFault.test_iser_without_hca_resumes", "skipped", "no PCI device"))
        self.assertEqual(["–", "–", "n/a", "–", "–", "–"], table["HCA reports a fatal error"])
        self.assertEqual([], table["notes"])


if __name__ == "__main__":
    unittest.main()
