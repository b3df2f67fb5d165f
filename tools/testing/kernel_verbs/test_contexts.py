#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Polling contexts of cxib: done() runs where the ULP has asked for it, each completion once and in order; what cannot be
is refused, and the kernel log says why.

KVERBS_SEEDS is how many seeds the random cases are tried with, KVERBS_ROUNDS the rounds of each.
"""

import os
import pathlib
import unittest

import failing_allocations
import guest
from exerciser import UlpTest, cases, kernel_objects, run_case

SEEDS = int(os.environ.get("KVERBS_SEEDS", "3"))
ROUNDS = int(os.environ.get("KVERBS_ROUNDS", "2"))
RANDOM = ("_changes", "_resizes", "_free")
DYNAMIC_DEBUG = pathlib.Path("/proc/dynamic_debug/control")
ENOMEM = "error -12"

# Argument, value and limit of each argument that the case context_invalid_options passes. Numbers are those of
# include/cxib/poll_context.h; limits of the device are any number.
REFUSALS = (
    r"allocate CQ: not a device of cxib",
    r"allocate CQ: nr_cqe 0 out of range \[1, \d+\]",
    r"allocate CQ: nr_cqe -1 out of range \[1, \d+\]",
    r"allocate CQ: nr_cqe [1-9]\d* out of range \[1, \d+\]",
    r"allocate CQ: comp_vector -2 out of range \[-1, \d+\]",
    r"allocate CQ: comp_vector [1-9]\d* out of range \[-1, \d+\]",
    r"CQ context: not a device of cxib",
    r"CQ context: context 5 out of range \[0, 4\]",
    r"CQ context: unsupported flags 0x2 \(mask 0x1\)",
    r"CQ context: flags 0x1 with context 1 \(need context 2\)",
    r"CQ context: flags 0x1 with context 3 \(need context 2\)",
    r"CQ context: weight 17 out of range \[0, 16\]",
    r"CQ context: busy_poll_us 1001 out of range \[0, 1000\]",
    r"CQ context: busy_poll_us 1 with context 1 \(needs context 2\)",
    r"CQ context: busy_poll_us 1 with context 3 \(needs context 2\)",
    r"CQ context: nice 20 out of range \[-20, 19\]",
    r"CQ context: nice -21 out of range \[-20, 19\]",
    r"CQ context: policy 0, nice 1 or cpus set without flag 0x1",
    r"CQ context: policy 3 out of range \[0, 2\]",
    r"CQ context: policy 2, nice 0 or cpus set without flag 0x1",
    r"CQ context: policy 0, nice 0 or cpus set without flag 0x1",
    r"CQ context: no online CPU in cpus  \(online: [\d,-]+\)",
    r"CQ context: not a CQ with events and done\(\) handlers",
    r"CQ context: CQ of the pool of the RDMA core",
    r"CQ context: context 3 flags 0x0 for a CQ whose done\(\) must not sleep",
    r"CQ context: context 1 flags 0x0 for a CQ whose done\(\) may sleep",
)


class Contexts(UlpTest):
    def test_context_cases_pass(self) -> None:
        for name in (name for name in cases() if name.startswith("context_")):
            for seed in range(1, SEEDS + 1) if name.endswith(RANDOM) else [1]:
                print(f"{name}, seed {seed}", flush=True)
                self.assert_right(name, seed, ROUNDS)

    @unittest.skipUnless(DYNAMIC_DEBUG.exists(), "this kernel prints no debugging messages")
    def test_refusals_logged_with_value_and_limit(self) -> None:
        guest.write_attribute(DYNAMIC_DEBUG, "module cxib file *poll_context.c +p")
        self.addCleanup(guest.write_attribute, DYNAMIC_DEBUG, "module cxib file *poll_context.c -p")
        log = guest.LogTail()
        self.addCleanup(log.close)
        self.assert_right("context_invalid_options")
        logged = log.text()
        for refusal in REFUSALS:
            with self.subTest(refusal=refusal):
                self.assertRegex(logged, rf"(?m){refusal}$")

    @unittest.skipUnless(failing_allocations.available(), "this kernel cannot make allocations fail where the driver is")
    def test_own_thread_without_memory_refused_and_leaves_nothing(self) -> None:
        before = kernel_objects()
        for name in ("context_own_thread_traffic", "context_sleeping_changes"):
            with self.subTest(case=name):
                with failing_allocations.no_memory_in("cxib_poll_thread_create"):
                    self.assertIn(ENOMEM, run_case(name, rounds=ROUNDS))
                self.assertEqual(kernel_objects(), before)
                self.assert_right(name)


if __name__ == "__main__":
    unittest.main()
