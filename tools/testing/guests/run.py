# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the tests of a guest: builds what they load, starts the guest, and follows what it reports."""

import contextlib
import dataclasses
import fcntl
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest
from machine import Guest

REPO = pathlib.Path(__file__).resolve().parents[3]
TESTING = REPO / "tools/testing"
BUILD = REPO / "build/tests"
MARK = "@@test "
SHOWN_LINES = 60
SKIPPED = 77

# Kernels that have kmemleak.
KMEMLEAK_KERNELS = ("debug", "debug-backports", "debug-oldstable")


@dataclasses.dataclass
class Outcome:
    """How a test has ended."""

    passed: bool
    skipped: bool
    reason: str


class GuestRun:
    """The run of a guest. Starts when the outcome of its first test is asked for.

    guest: what it is; tests: the tests that it is to run, set before it starts
    """

    def __init__(self, area: str, guest: Guest) -> None:
        self.area = area
        self.guest = guest
        self.name = f"{area.replace('_', '-')}-{guest.name}"
        self.tests: list[str] = []
        self.directory = BUILD / self.name
        self._outcomes: dict[str, Outcome] = {}
        self._lines: list[str] = []
        self._output: Iterator[str] | None = None
        self._status: int | None = None
        self._ended = False  # whether the tests have reported their end
        self._complaints: list[str] = []
        self.skipped = ""  # the reason, if a build has skipped the run

    # ---- what the tests ask ----

    def outcome(self, test: str) -> Outcome:
        """Waits until the guest has reported the test or has ended."""
        while test not in self._outcomes and self._status is None:
            self._follow()
        if self.skipped:
            return Outcome(False, True, self.skipped)
        found = self._outcomes.get(test) or self._of_fixture(test)
        if not found:
            found = Outcome(False, False, "the guest ended before this test:\n" + "\n".join(self._lines[-SHOWN_LINES:]))
        return found

    def verdict(self) -> str:
        """Waits until the guest has ended; returns the complaint of the lab, or an empty string."""
        while self._status is None:
            self._follow()
        if self._complaints:
            return "\n".join(self._complaints)
        return self._check_end() or self._check_packets() or self._check_envelope()

    # ---- the guest ----

    def _of_fixture(self, test: str) -> Outcome | None:
        """The outcome of the fixture of the test's class or module, which has kept it from running."""
        kind = test.rpartition(".")[0]
        module = kind.rpartition(".")[0]
        for name, outcome in self._outcomes.items():
            if name in (f"setUpClass ({kind})", f"setUpModule ({module})"):
                return outcome
        return None

    def _follow(self) -> None:
        if self._output is None:
            self._output = self._start()
        for line in self._output:
            if self._take(line.rstrip("\n")):
                return

    def _take(self, line: str) -> bool:
        """Handles a line of the guest's output; returns whether it reports a test."""
        if MARK not in line:
            if line:
                self._lines.append(line)
                print(line, flush=True)
            if line.startswith("lab: "):
                self._complaints.append(line)
            return False
        fields = json.loads(line.split(MARK, 1)[1])
        if not fields:
            self._ended = True
            return False
        outcome = Outcome(fields["outcome"] == "passed", fields["outcome"] == "skipped", fields["reason"])
        before = self._outcomes.get(fields["test"])
        # In two guests the test passes if it does in both.
        if not before or before.passed or before.skipped:
            self._outcomes[fields["test"]] = outcome
        return self.guest.vms == 1 or bool(self.guest.server)

    def _start(self) -> Iterator[str]:
        """Waits for another session that runs the guest in this checkout; then as _run()."""
        BUILD.mkdir(parents=True, exist_ok=True)
        with (BUILD / f"{self.name}.lock").open("w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield from self._run()

    def _run(self) -> Iterator[str]:
        """Yields the lines of the guest's output, and sets the status at the end."""
        shutil.rmtree(self.directory, ignore_errors=True)
        (self.directory / "control").mkdir(parents=True)
        (self.directory / "tests").write_text("\n".join(self.tests), encoding="ascii")
        try:
            self._build()
        except subprocess.CalledProcessError as error:
            yield from error.output.splitlines()
            self._status = error.returncode
            if error.returncode == SKIPPED:
                self.skipped = error.output.strip().rpartition("\n")[2]
                return
            self._complaints.append(f"'{error.cmd}' has failed:\n{error.output[-8000:]}")
            return
        with self._relay():
            child = subprocess.Popen(self.command(), cwd=REPO, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                     stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
            try:
                assert child.stdout
                yield from child.stdout
                self._status = child.wait()
            finally:
                if child.poll() is None:
                    os.killpg(child.pid, signal.SIGTERM)
                    child.wait()

    def _build(self) -> None:
        commands = ["make -s cxemu"] if self.guest.hcas else []
        if self.guest.driver == "none":
            commands.append(f"tools/testing/module/build --kernel {self.guest.kernel}")
        commands += [command.replace("KERNEL", self.guest.kernel) for command in self.guest.builds]
        for command in commands:
            subprocess.run(command, shell=True, cwd=REPO, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True, check=True)

    @contextlib.contextmanager
    def _relay(self) -> Iterator[None]:
        """Forwards requests between the tests' files and the emulator's control socket."""
        relay = subprocess.Popen([sys.executable, TESTING / "module/control_relay.py", self.directory / "control.sock",
                                  self.directory / "control"])
        try:
            yield
        finally:
            relay.terminate()
            relay.wait()

    def command(self) -> list[str]:
        """The command that runs the guest."""
        return ["tools/lab/run", *self._lab_options(), "--", "env", *self._settings(), "tools/testing/guest/run_tests"]

    def _lab_options(self) -> list[str]:
        guest = self.guest
        words = ["--driver", guest.driver, "--kernel", guest.kernel, "--timeout", str(guest.seconds)]
        for name in ("hcas", "vms", "cpus", "memory", "nodes", "reboots", "append"):
            value = getattr(guest, name)
            if value and (name, value) != ("vms", 1):
                words += [f"--{name}", str(value)]
        if guest.sm:
            words += ["--sm", guest.sm]
        if guest.iommu:
            words.append("--iommu")
        if guest.leaks and guest.kernel in KMEMLEAK_KERNELS:
            words.append("--kmemleak")
        for report in guest.reports:
            words += ["--allow-report", report]
        if guest.hcas:
            words += ["--cxemu", " ".join(self._emulator_options())]
        return [*words, *guest.options]

    def _emulator_options(self) -> list[str]:
        guest = self.guest
        words = [guest.cxemu.replace("DIRECTORY", str(self.directory)), f"--control {self.directory}/control.sock"]
        if guest.allow:
            words.append(f"--allow {TESTING / self.area / guest.allow}")
        if guest.faults:
            plan = self.directory / "faults"
            plan.write_text(guest.faults + "\n", encoding="ascii")
            words.append(f"--faults {plan}")
        if guest.packets:
            words.append(f"--pcap {self._capture}")
        if guest.envelope:
            words.append(f"--envelope {self._envelope}")
        return [word for word in words if word]

    @property
    def _capture(self) -> pathlib.Path:
        return self.directory / "packets.pcap"

    @property
    def _envelope(self) -> pathlib.Path:
        return self.directory / "envelope.toml"

    def _settings(self) -> list[str]:
        modules = REPO / f"build/modules-{self.guest.kernel}"
        return [f"TEST_AREA={self.area}", f"CXIB_MODULE={modules}/cxib.ko", f"CXIB_CONTROL={self.directory}/control",
                f"TEST_DIRECTORY={self.directory}", f"ULP_DRIVER={self.guest.driver}", f"TEST_RUNNER={self.guest.runner}",
                f"TEST_SERVER={self.guest.server}", *self.guest.settings]

    def _check_end(self) -> str:
        """A complaint if a fixture has failed behind the tests, or if the guest has ended without a reason or too early."""
        failed = {test: each.reason for test, each in self._outcomes.items() if not each.passed and not each.skipped}
        behind = [reason for test, reason in failed.items() if test.startswith("tearDown")]
        last = "\n".join(self._lines[-SHOWN_LINES:])
        if behind:
            return "\n".join(behind)
        if self._status and not failed:
            return f"the guest ended with {self._status}:\n{last}"
        if not self._status and not self._ended and not self.guest.runner:
            return f"the process of the tests ended before their end:\n{last}"
        return ""

    def _check_packets(self) -> str:
        return self._complaint_of(TESTING / "cxemu/capture.py", self._capture, *self.guest.packets) if self.guest.packets else ""

    def _check_envelope(self) -> str:
        return self._complaint_of(TESTING / "envelope/compare.py", self._envelope) if self.guest.envelope else ""

    @staticmethod
    def _complaint_of(*command: object) -> str:
        """What a program prints that has failed."""
        words = [sys.executable, *map(str, command)]
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return done.stdout if done.returncode else ""


class Runs:
    """All runs of a session."""

    key = pytest.StashKey["Runs"]()

    def __init__(self) -> None:
        self._runs: dict[str, GuestRun] = {}

    def of(self, area: str, guest: Guest) -> GuestRun:
        """The run of a guest; guests of one name must be equal."""
        run = GuestRun(area, guest)
        known = self._runs.setdefault(run.name, run)
        if known.guest != guest:
            raise ValueError(f"there are two guests {run.name}: {known.guest} and {guest}")
        return known
