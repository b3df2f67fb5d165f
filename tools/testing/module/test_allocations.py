# SPDX-License-Identifier: GPL-2.0-or-later
"""Fails every allocation of a probe in turn: the probe leaves nothing behind, the log gives the reason, and the next
probe succeeds.

CXIB_ALLOCATIONS is the number of allocations of each kind to fail, spread over the probe; default: all. The first
allocation of a kind always occurs; later ones may be missing in another probe. The lab looks for leaked memory and DMA
mappings at the end.
"""

import os
import unittest

import failing_allocations
import guest
import module_machines as machines
from guest import driver_of
from hca import HcaTest

GUESTS = [
    machines.WRONG_DEVICES_DEBUG, machines.BRING_UP_DEBUG,
    machines.BRING_UP_DEBUG.but("allocations", hcas=1, cxemu="--boot-pages 2 --init-pages 4", settings=(), seconds=7200),
]
SAMPLE = int(os.environ.get("CXIB_ALLOCATIONS", "0"))
REASONS = "bring-up failed at step|cannot |BAR 0 .* in use|RDMA device: (allocation|registration) failed"
"""How the driver begins the last thing that it says of a probe that has failed."""


@unittest.skipUnless(failing_allocations.available(), "this kernel cannot make allocations fail where the driver is")
class FailingAllocations(HcaTest):
    def setUp(self) -> None:
        super().setUp()
        self.hca = self.hcas[0]
        failing_allocations.probe_in_this_thread(self.hca)

    def probe(self, number: int) -> failing_allocations.Outcome:
        descriptor = os.open(guest.DRIVER / "bind", os.O_WRONLY)
        name = self.hca.name.encode()

        def bind() -> str:
            try:
                os.write(descriptor, name)
            except OSError as failure:
                return os.strerror(failure.errno or 0)
            return ""

        try:
            return failing_allocations.with_failure(number, bind)
        finally:
            os.close(descriptor)

    def assert_survives(self, number: int) -> bool:
        """Returns whether the device came up despite the failure."""
        self.log.forget()
        outcome = self.probe(number)
        self.reached += outcome.allocations == number
        came_up = driver_of(self.hca) == "cxib"
        if came_up:
            guest.unbind(self.hca)
        else:
            self.assertIn(outcome.error, ("Cannot allocate memory", "No such device", "Device or resource busy"))
            self.assert_logged(rf"cxib {self.hca.name}: \S+ .*\w+")
            self.assert_logged(rf"{self.hca.name}: ({REASONS})")
        self.assert_nothing_is_left()
        return came_up

    def fail_each(self, kind: str) -> None:
        failing_allocations.count_only(kind)
        total = self.probe(failing_allocations.MOST).allocations
        guest.unbind(self.hca)
        self.reached = survived = tried = 0
        for number in failing_allocations.numbers(total, SAMPLE, lambda: survived < tried):
            with self.subTest(kind=kind, number=number, of=total):
                tried += 1
                survived += self.assert_survives(number)
        print(f"{kind}: {total} allocations, {tried} made to fail, the device came up nevertheless {survived} times")
        self.assertGreater(self.reached, 0)
        self.assertLess(survived, tried)
        self.assertEqual(guest.bind_error(self.hca), "")
        guest.unbind(self.hca)
        self.assert_device_has_nothing(0)

    def test_object_allocations_failing_survived(self) -> None:
        self.fail_each("failslab")

    def test_page_allocations_failing_survived(self) -> None:
        self.fail_each("fail_page_alloc")
