#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Fails allocations of the driver while a kernel user creates and uses objects: the verb fails or does without the
memory. Kernel and device keep no object, and the next attempt succeeds.

KVERBS_ALLOCATIONS is the number of allocations to fail in each case, spread over the case; default: all. KVERBS_FAILING
is a regular expression for the names of cases. The lab looks for leaked memory and DMA mappings at the end.
"""

import os
import re
import unittest

import failing_allocations
from control import control
from exerciser import UlpTest, cases, kernel_objects, run_case

SAMPLE = int(os.environ.get("KVERBS_ALLOCATIONS", "0"))
CHOSEN = re.compile(os.environ.get("KVERBS_FAILING", ""))
OTHERS = re.compile("cost$|xrc_")
"""They measure, or are steps of a test that has more to it than the module."""


def device_objects() -> dict[str, dict[str, int]]:
    """Number of objects in the devices by kind."""
    return {hca: {kind: counts["living"] for kind, counts in objects.items() if counts["living"]}
            for hca, objects in control("objects").items()}


@unittest.skipUnless(failing_allocations.available(), "this kernel cannot make allocations fail where the driver is")
class FailingAllocations(UlpTest):
    def fail_each(self, kind: str) -> None:
        failing_allocations.count_only(kind)
        for name in filter(CHOSEN.search, cases()):
            if not OTHERS.match(name):
                self.fail_each_of(name)

    def fail_each_of(self, name: str) -> None:
        def run() -> str:
            return run_case(name)

        before = kernel_objects(), device_objects()
        total = failing_allocations.count(run)
        tried = failed = 0
        for number in failing_allocations.numbers(total, SAMPLE, lambda: failed > 0):
            tried += 1
            with self.subTest(case=name, number=number, of=total):
                failed += bool(failing_allocations.with_failure(number, run).error)
                self.assertEqual((kernel_objects(), device_objects()), before)
        self.assert_right(name)
        print(f"{name}: {total} allocations, {tried} made to fail, the case failed {failed} times", flush=True)
        self.assertGreater(failed, 0)

    def test_object_allocations_failing_survived(self) -> None:
        self.fail_each("failslab")

    def test_page_allocations_failing_survived(self) -> None:
        self.fail_each("fail_page_alloc")


if __name__ == "__main__":
    unittest.main(verbosity=2)
