# SPDX-License-Identifier: GPL-2.0-or-later
"""Fails allocations of the driver while a kernel user creates and uses objects: the verb fails or does without the
memory. Kernel and device keep no object, and the next attempt succeeds.

KVERBS_ALLOCATIONS is the number of allocations to fail in each case, spread over the case; default: all. The lab looks for
leaked memory and DMA mappings at the end.
"""

import os
import unittest

import failing_allocations
from control import control
from exerciser import UlpTest, kernel_objects, run_case, tests_each_case
from machines import DEBUG, FAULTS

SAMPLE = int(os.environ.get("KVERBS_ALLOCATIONS", "0"))
# The others measure, or are steps of a test that has more to it than the module.
CASES = "(?!cost$|xrc_)"
GUESTS = [DEBUG.with_tests("Objects.test_rc_shared_receives", "Pages.test_drain_rc"), FAULTS]


def device_objects() -> dict[str, dict[str, int]]:
    """Number of objects in the devices by kind."""
    return {hca: {kind: counts["living"] for kind, counts in objects.items() if counts["living"]}
            for hca, objects in control("objects").items()}


@unittest.skipUnless(failing_allocations.available(), "this kernel cannot make allocations fail where the driver is")
class FailingAllocations(UlpTest):
    kind: str

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        failing_allocations.count_only(cls.kind)

    def check_case(self, name: str) -> None:
        """Fails allocations of the case one by one."""
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


@tests_each_case(CASES)
class Objects(FailingAllocations):
    kind = "failslab"


@tests_each_case(CASES)
class Pages(FailingAllocations):
    kind = "fail_page_alloc"
