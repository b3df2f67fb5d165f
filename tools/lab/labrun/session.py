# SPDX-License-Identifier: GPL-2.0-or-later
"""Manages a run: guests and emulator from start to end, and the exit status."""

import os
import secrets
import selectors
import signal
import socket
import sys
import termios
from pathlib import Path

from . import initramfs, making, qemu, reports, rundir
from .emulator import Emulator, EmulatorError
from .guest import Guest, SnapshotError, Stage
from .options import ARM64_KERNELS, LAB_FAILED, NATIVE_KERNELS, TIMED_OUT, release

LOGS = Path("/repo/build/lab")
TREE = Path("/run/lab/tree")
# Kernel and modules of the guests. A test that boots an update has them in another directory of the tree.
BOOT = TREE / os.environ.get("LAB_GUEST_BOOT", "")
INIT = Path("/repo/tools/lab/guest/init")
RELEASES = [each for each in map(release, NATIVE_KERNELS) if each]
_SHOWN_REPORTS = 3
_SHOWN_LINES = 40


class Interrupted(Exception):
    """A signal ended the run."""

    def __init__(self, number):
        super().__init__(f"ended by {signal.Signals(number).name}")
        self.status = 128 + number


def _raise_interrupted(number, _frame):
    # A second signal must not disturb the clean-up.
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    raise Interrupted(number)


class Session:
    """Owns everything that must be ended and removed at the end."""

    def __init__(self, options, release):
        self.options = options
        self.release = release
        self.directory = rundir.create(LOGS)
        self.emulator = None
        self.guests = []
        self.failures = []
        self._selector = selectors.DefaultSelector()

    # ---- running ----

    def run(self):
        """Boots, runs and ends the guests; returns the exit status."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, _raise_interrupted)
        terminal = termios.tcgetattr(0) if self.options.shell and os.isatty(0) else None
        try:
            self._start()
            self._loop()
        except EmulatorError as error:
            self.failures.append(f"{error}\n{_tail(self.directory / 'cxemu.log')}")
        except Interrupted as error:
            self._say(f"{error}; logs are in {rundir.shown(self.directory)}")
            self._end()
            return error.status
        finally:
            self._end()
            if terminal:
                termios.tcsetattr(0, termios.TCSADRAIN, terminal)
        return self._verdict()

    def _start(self):
        options = self.options
        processor = "arm64" if options.kernel in ARM64_KERNELS else "amd64"
        machine = {"processor": processor, "accelerator": qemu.accelerator(processor), "cpus": options.cpus,
                   "memory": options.memory, "iommu": options.iommu, "reboots": options.reboots, "nodes": options.nodes}
        self._say_verbose(f"{machine['accelerator']}, kernel {self.release}, logs in {rundir.shown(self.directory)}")
        if not self._resume_all(machine):
            self._boot_all(machine)

    def _boot_all(self, machine):
        kernel = {
            "image": BOOT / f"boot/vmlinuz-{self.release}",
            "initramfs": initramfs.provide(BOOT, self.release, INIT, LOGS, "lab.layer=" in self.options.append,
                                           machine["processor"]),
        }
        for guest, sockets in self._new_guests():
            guest.boot(machine, kernel, sockets)
            self._watch(guest)

    def _resume_all(self, machine):
        """Resumes all guests, which are of one kind. Returns whether this succeeded."""
        why = making.refusal(self.options, os.environ, machine["accelerator"])
        if why:
            self._say_verbose(f"the guest boots: {why}")
            return False
        maker = None
        try:
            maker = making.Maker(self.options, machine, TREE, RELEASES, self.release, INIT, LOGS)
            snapshot = maker.provide(self.directory / "snapshot")
            if not snapshot:
                self._say_verbose("the guest boots: there is no snapshot of its kind")
                return False
            for guest, sockets in self._new_guests():
                guest.resume(maker.machine, maker.kernel(snapshot.initramfs, snapshot.counter_khz), snapshot.image,
                             snapshot.state, sockets)
            self._say_verbose(f"the guest is resumed from {snapshot.directory.name}")
            for guest in self.guests:
                self._watch(guest)
        except (SnapshotError, OSError) as error:
            self._abandon(maker, error)
            return False
        return True

    def _abandon(self, maker, error):
        """Boots the guests instead of resuming them."""
        self._say(f"the guest boots, as it cannot be resumed: {error}")
        if maker:
            maker.store.note_failure(maker.key)
        self._end()
        if self.emulator:
            self._selector.unregister(self.emulator.child.descriptor)
        self.emulator, self.guests = None, []

    def _directory(self, name):
        directory = self.directory / name
        directory.mkdir(exist_ok=True)
        return directory

    def _new_guests(self):
        """Yields guests one after another, each with the sockets of its HCAs."""
        options = self.options
        sockets = []
        if options.hcas:
            self.emulator = Emulator(self.directory, options.hcas * options.vms, options.cxemu)
            self._selector.register(self.emulator.child.descriptor, selectors.EVENT_READ, self._emulator_ended)
            sockets = self.emulator.sockets
        for number in range(options.vms):
            guest = Guest(number, self._directory(f"vm{number}"), options, secrets.token_hex(8))
            self.guests.append(guest)
            yield guest, sockets[number * options.hcas:(number + 1) * options.hcas]

    def _watch(self, guest):
        for channel, handler in guest.channels.items():
            channel.setblocking(False)
            self._selector.register(channel, selectors.EVENT_READ, (channel, handler))
        self._selector.register(guest.child.descriptor, selectors.EVENT_READ, guest)

    def _loop(self):
        while any(guest.stage is not Stage.OFF for guest in self.guests):
            waits = [guest.seconds_left for guest in self.guests if guest.stage is not Stage.OFF]
            waits = [seconds for seconds in waits if seconds is not None]
            for key, _ in self._selector.select(min(waits, default=None)):
                self._handle(key)
            for guest in self.guests:
                if guest.stage is not Stage.OFF and guest.seconds_left == 0.0:
                    guest.overdue()
                if guest.stage is Stage.OFF:
                    self._forget(guest)
            self._end_companions()

    def _end_companions(self):
        """Ends the other guests after one has failed: they would wait for it in vain."""
        failed = [guest for guest in self.guests if guest.stage is Stage.OFF and guest.failed]
        for guest in self.guests:
            if failed and guest.stage is not Stage.OFF:
                self._say(f"{guest.name} is ended because {failed[0].name} has failed")
                guest.end()
                self._forget(guest)

    def _handle(self, key):
        if isinstance(key.data, Guest):
            self._drain(key.data)
            key.data.qemu_ended()
        elif isinstance(key.data, tuple):
            self._receive(*key.data)
        else:
            key.data()

    def _receive(self, channel, handler):
        if channel.fileno() < 0:
            return False
        try:
            data = channel.recv(65536)
        except (BlockingIOError, ConnectionResetError):
            return False
        if data:
            handler(data)
        else:
            self._selector.unregister(channel)
        return bool(data)

    def _drain(self, guest):
        for channel, handler in guest.channels.items():
            while channel in self._selector.get_map() and self._receive(channel, handler):
                pass

    def _forget(self, guest):
        for key in list(self._selector.get_map().values()):
            if key.data is guest or (isinstance(key.fileobj, socket.socket) and key.fileobj in guest.channels):
                self._selector.unregister(key.fileobj)
        self._report_times(guest)

    def _emulator_ended(self):
        self._selector.unregister(self.emulator.child.descriptor)
        self.failures.append(
            f"the emulator {self.emulator.child.describe_end()} while guests ran\n{_tail(self.emulator.log)}")
        for guest in self.guests:
            guest.end()

    def _end(self):
        for guest in self.guests:
            if guest.stage is not Stage.OFF:
                guest.end()
        if self.emulator:
            problem = self.emulator.end()
            if problem:
                self.failures.append(f"{problem}\n{_tail(self.emulator.log)}")
            self.emulator.child.end(0)

    # ---- verdict ----

    def _verdict(self):
        for guest in self.guests:
            self._judge(guest)
        self._judge_violations()
        if self.failures:
            self._say("FAILED")
            for text in self.failures:
                self._say(text)
            self._say(f"all logs of this run are in {rundir.shown(self.directory)}")
            late = any(guest.timed_out for guest in self.guests)
            return TIMED_OUT if late else LAB_FAILED
        return next((guest.status for guest in self.guests if guest.status), 0)

    def _judge(self, guest):
        unexpected, missing = reports.compare(guest.scanner.reports, self.options.expect_report,
                                              self.options.allow_report)
        log = rundir.shown(guest.kernel_log)
        self.failures += [reports.render(report, log) for report in unexpected[:_SHOWN_REPORTS]]
        for report in unexpected[_SHOWN_REPORTS:]:
            self.failures.append(f"and {report.kind} at line {report.line}: {report.headline}")
        for pattern in missing:
            self.failures.append(f"{guest.name}: no report that matches '{pattern}' is in {log}")
        if guest.lockdep_off and not reports.complaints(guest.scanner.reports):
            self.failures.append(f"{guest.name}: the lock checker was off at the end, without a report in {log}")
        self._show_file(guest, "kmemleak", "objects that nothing refers to")
        if guest.failures:
            self.failures += guest.failures
            self._show_file(guest, "processes", "processes that ran")
            self.failures.append(guest.log_tail())

    def _show_file(self, guest, name, title):
        lines = guest.left_file(name)
        if lines:
            shown = [f"    {line}" for line in lines[:_SHOWN_LINES]]
            path = rundir.shown(guest.directory / name)
            self.failures.append("\n".join([f"{guest.name}: {title} ({path}):", *shown]))

    def _judge_violations(self):
        lines = self.emulator.violations() if self.emulator else []
        if lines:
            shown = [f"    {line}" for line in lines[:20]]
            name = rundir.shown(self.emulator.violations_file)
            self.failures.append("\n".join([f"{len(lines)} violations of the device's rules ({name}):", *shown]))

    def _report_times(self, guest):
        if guest.ready_after is not None and not guest.times_told:
            guest.times_told = True
            self._say_verbose(f"{guest.name} was ready after {guest.ready_after:.1f} s")

    def _say_verbose(self, text):
        if self.options.verbose:
            self._say(text)

    @staticmethod
    def _say(text):
        sys.stdout.flush()
        for line in text.splitlines():
            print(f"lab: {line}", file=sys.stderr)
        sys.stderr.flush()


def _tail(path, lines=15):
    text = path.read_text(errors="replace").splitlines()[-lines:] if path.exists() else []
    return "\n".join([f"the end of {rundir.shown(path)}:", *(f"    {line}" for line in text)])
