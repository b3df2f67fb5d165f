# SPDX-License-Identifier: GPL-2.0-or-later
"""Sets the polling contexts of all ULPs' CQs with cxib's devlink parameters, repeatedly."""

import itertools
import os
import pathlib
import random
import subprocess
import threading
from collections.abc import Callable

CHOSEN = os.environ.get("ULP_POLLING", "")
"""SOFTIRQ:PROCESS, values of cq_softirq_context and cq_process_context; random:SEED; nothing: the driver's defaults."""

SOFTIRQ = ("core", "softirq", "thread")
PROCESS = ("core", "workqueue", "unbound", "thread")
PERIOD_S = 0.5


def devices() -> list[str]:
    return [path.name for path in pathlib.Path("/sys/bus/pci/drivers/cxib").glob("????:??:??.?")]


def commands(device: str, softirq: str, process: str) -> str:
    """devlink commands, one per line."""
    values = {"cq_softirq_context": softirq, "cq_process_context": process}
    return "".join(
        f"dev param set pci/{device} name {name} value {value} cmode runtime\n" for name, value in values.items()
    )


def set_contexts(device: str, softirq: str, process: str) -> bool:
    """Returns False if the device does not exist or refuses."""
    lines = commands(device, softirq, process)
    return subprocess.run(["devlink", "--batch", "-"], input=lines, text=True, check=False).returncode == 0


class Changer(threading.Thread):
    """Sets the contexts that choose() returns on all devices until it is ended. Devices come and go, and a new device
    has the driver's defaults.

    One devlink process reads all commands, because on the debug kernel two processes for each change took more
    processor time than the protocols.
    """

    def __init__(self, choose: Callable[[], tuple[str, str]]) -> None:
        super().__init__(daemon=True)
        self.choose = choose
        self.requested = 0
        self.ended = threading.Event()
        # devlink prints a line for each failed command.
        self.devlink = subprocess.Popen(
            ["devlink", "--force", "--batch", "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.failures: list[str] = []
        self.reader = threading.Thread(target=self.read_failures, daemon=True)
        self.reader.start()

    def read_failures(self) -> None:
        self.failures.extend(line for line in self.devlink.stderr if line.startswith("Command failed"))

    def run(self) -> None:
        while True:
            for device in devices():
                lines = commands(device, *self.choose())
                self.devlink.stdin.write(lines)
                self.devlink.stdin.flush()
                self.requested += lines.count("\n")
            if self.ended.wait(PERIOD_S):
                return

    def end(self) -> int:
        """Ends the thread; returns how often a context was set."""
        self.ended.set()
        self.join()
        self.devlink.stdin.close()
        self.devlink.wait()
        self.reader.join()
        return self.requested - len(self.failures)


def turns() -> int:
    """Number of turns of the existing CQs of all devices."""
    files = pathlib.Path("/sys/kernel/debug/cxib").glob("*/completion_queues")
    lines = itertools.chain.from_iterable(file.read_text().splitlines() for file in files)
    return sum(int(line.rsplit('"', 1)[1].split()[2]) for line in lines if line.startswith("0x"))


def at_random(seed: str) -> Callable[[], tuple[str, str]]:
    chance = random.Random(seed)
    return lambda: (chance.choice(SOFTIRQ), chance.choice(PROCESS))


class Polling:
    """Runs with the selected contexts; asserts at the end that they were used."""

    def __init__(self) -> None:
        self.changer: Changer | None = None

    def __enter__(self) -> "Polling":
        first, _, second = CHOSEN.partition(":")
        if first == "random":
            self.changer = Changer(at_random(second))
            self.changer.start()
        elif CHOSEN:
            refused = [device for device in devices() if not set_contexts(device, first, second)]
            if refused or not devices():
                raise RuntimeError(f"contexts '{CHOSEN}' are refused by {refused or 'no device'}")
            self.changer = Changer(lambda: (first, second))
            self.changer.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.changer:
            changes = self.changer.end()
            print(f"contexts set {changes} times", flush=True)
            if not changes:
                raise RuntimeError("contexts were never set")
        if CHOSEN and not CHOSEN.startswith("random:") and CHOSEN != "core:core":
            print(f"{turns()} turns of the CQs that are left", flush=True)
            if not turns():
                raise RuntimeError("no CQ had a turn")
