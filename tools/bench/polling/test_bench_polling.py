#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests that the module bench_polling completes a few hundred WRs in each context. Times are not checked."""

import subprocess
import unittest

import bench_polling

COSTS_US = [5, 20, 100]
COMPLETIONS = 200
"""Completions of each hog before the measurement ends."""
SECONDS = 100
"""Longer than a few hundred completions can take; only ends a run that has failed anyway."""
SAMPLES = 20


class BenchPolling(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        subprocess.run(["insmod", bench_polling.MODULE], check=True)
        cls.addClassCleanup(subprocess.run, ["rmmod", "bench_polling"], check=True)

    def test_load_completes_each_wr_once(self) -> None:
        for context in bench_polling.contexts():
            with self.subTest(context=context):
                found = bench_polling.load(context, COSTS_US, period_us=1000, seconds=SECONDS,
                                           completions=COMPLETIONS)
                self.assertEqual([hog["cost_us"] for hog in found["hogs"]], COSTS_US)
                for hog in found["hogs"]:
                    self.assertGreaterEqual(hog["completed"], COMPLETIONS)
                    self.assertEqual(hog["completed"], hog["posted"])
                self.assertGreaterEqual(found["idle"]["completed"], 1)
                self.assertEqual(found["idle"]["completed"], found["idle"]["posted"])
                self.assertEqual(found["idle"]["completed"], len(found["latencies_ns"]))
                # The CQ is armed when its first WR is posted, so this WR raises an event.
                self.assertGreaterEqual(found["idle"]["reports"], 1)

    def test_load_without_hogs_completes_idle_cq(self) -> None:
        for context in bench_polling.contexts():
            with self.subTest(context=context):
                found = bench_polling.measure("load", context=context, period_us=1000, seconds=SECONDS,
                                              completions=1)
                self.assertGreaterEqual(sum(line[0] == "latency_ns" for line in found), 1)

    def test_alone_samples_each_wr(self) -> None:
        for context in bench_polling.contexts():
            with self.subTest(context=context):
                samples = bench_polling.alone(context, SAMPLES)
                self.assertEqual(len(samples), SAMPLES)
                self.assertGreater(min(samples), 0)

    def test_core_samples_event_and_arming_of_each_wr(self) -> None:
        samples = bench_polling.core(SAMPLES)
        self.assertEqual(len(samples), SAMPLES)
        self.assertGreater(min(min(sample) for sample in samples), 0)

    def test_core_of_other_context_refused(self) -> None:
        for context in set(bench_polling.contexts()) - {"core-workqueue"}:
            with self.subTest(context=context), self.assertRaises(RuntimeError):
                bench_polling.measure("core", context=context)

    def test_invalid_settings_refused(self) -> None:
        context = bench_polling.contexts()[0]
        for settings in ({"context": "nowhere"}, {}, {"context": context, "hogs": "1,2,x"},
                         {"context": context, "hogs": ",".join(["5"] * 17)}, {"context": context, "hogs": "10001"},
                         {"context": context, "period_us": 99}, {"context": context, "seconds": 121},
                         {"context": context, "unknown": 1}):
            with self.subTest(settings=settings), self.assertRaises(RuntimeError):
                bench_polling.measure("load", **settings)
        with self.assertRaises(RuntimeError):
            bench_polling.measure("nothing", context=context)


if __name__ == "__main__":
    unittest.main()
