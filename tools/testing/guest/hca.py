# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of the module use to read the state of emulated HCAs and of the driver."""

import os
import pathlib
import re
import threading
import traceback
from collections.abc import Callable, Iterable
from typing import Any

import guest
from control import control
from guest import MELLANOX, ModuleTest, driver_of, find_devices

DEBUGFS = pathlib.Path("/sys/kernel/debug/cxib")


def interrupts(device: pathlib.Path) -> dict[int, str]:
    """Numbers and names of the driver's interrupts for a device."""
    lines = [line.split() for line in pathlib.Path("/proc/interrupts").read_text().splitlines()]
    return {int(words[0].rstrip(":")): words[-1] for words in lines
            if re.fullmatch(rf"cxib-\w+@{device.name}", words[-1])}


def driver_interrupts(device: pathlib.Path) -> list[str]:
    """Names of the driver's interrupts for a device."""
    return sorted(interrupts(device).values())


def uses_bar(device: pathlib.Path) -> bool:
    """Whether the driver has claimed the device's BAR."""
    lines = pathlib.Path("/proc/iomem").read_text().splitlines()
    return any(below.strip().endswith(": cxib") and device.name in line for line, below in zip(lines, lines[1:]))


def spread(count: int, sample: int) -> Iterable[int]:
    """`sample` numbers spread over 1 to `count`, or all of them if `sample` is 0."""
    if not sample or count <= sample:
        return range(1, count + 1)
    return sorted({1 + number * (count - 1) // max(sample - 1, 1) for number in range(sample)})


class HcaTest(ModuleTest):
    """A test in which cxib may bind every HCA of the guest."""

    def setUp(self) -> None:
        super().setUp()
        self.hcas = find_devices(MELLANOX)
        self.assertEqual(len(self.hcas), int(os.environ["LAB_HCAS"]))
        for hca in self.hcas:
            override = guest.override(hca)
            override.__enter__()
            self.addCleanup(override.__exit__, None, None, None)

    def bind(self) -> None:
        for hca in self.hcas:
            self.assertEqual(guest.bind_error(hca), "")

    def unbind(self) -> None:
        for hca in self.hcas:
            guest.unbind(hca)

    def share_out(self, items: Iterable[Any], act: Callable[[int, Any], None]) -> None:
        """Calls `act` for each item with the item and the number of an HCA. The HCAs work in parallel, and each one
        takes the next item when it is free. A failure ends the work on its HCA; all failures are reported."""
        left = iter(list(items))
        lock = threading.Lock()
        failures = []

        def work(index: int) -> None:
            while True:
                with lock:
                    item = next(left, None)
                if item is None:
                    return
                try:
                    act(index, item)
                except Exception:
                    failures.append(f"{item}: {traceback.format_exc()}")
                    return

        threads = [threading.Thread(target=work, args=(index,)) for index in range(len(self.hcas))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual("\n".join(failures), "")

    def shown(self, hca: pathlib.Path, name: str) -> str:
        return (DEBUGFS / hca.name / name).read_text()

    def values(self, hca: pathlib.Path, name: str) -> dict[str, str]:
        """The `name: value` lines of a debugfs file."""
        return dict(line.split(": ", 1) for line in self.shown(hca, name).splitlines() if ": " in line)

    def commands(self, hca: pathlib.Path) -> dict[str, list[int]]:
        """Number of replies, failures and time-outs for each command name."""
        lines = self.shown(hca, "commands").splitlines()[1:]
        return {words[1]: [int(word) for word in words[2:5]] for words in map(str.split, lines)}

    def assert_has_let_go(self, hca: pathlib.Path) -> None:
        """Asserts that the driver holds no resource of an HCA."""
        self.assertEqual(driver_of(hca), "")
        self.assertEqual(driver_interrupts(hca), [])
        self.assertFalse(uses_bar(hca))
        self.assertFalse((DEBUGFS / hca.name).exists())

    def assert_nothing_is_left(self) -> None:
        for hca in self.hcas:
            self.assert_has_let_go(hca)

    def assert_device_has_nothing(self, index: int) -> None:
        """Asserts that the emulated device with this index has no objects."""
        name = f"hca{index}"
        objects = control("objects", f"@{name}")[name]
        self.assertEqual({kind: counts for kind, counts in objects.items() if counts["living"]}, {})

    def assert_no_complaints(self) -> None:
        """Asserts that the driver has logged no warning or error since the start of the test."""
        self.assertEqual([line for line in self.log.warnings() if "cxib" in line and "taint" not in line], [])
