# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs one guest: its QEMU, its channels and its current stage."""

import enum
import os
import selectors
import shlex
import socket
import sys
import time

from . import clock, qemu
from .output import EndMark, Plain, Prefixed
from .processes import Child
from .qmp import Qmp, QmpError
from .reports import Scanner, complaints
from .rundir import shown

# After a fatal report: time for the rest of the report to reach the log.
_LAST_WORDS_SECONDS = 5
# These limits expire only after a failure. They are long because the host may not schedule a guest for a while.
_POWER_OFF_SECONDS = 900
_TASK_LIST_SECONDS = 60
_SEED_BYTES = 32


class SnapshotError(Exception):
    """A guest cannot be stopped for a snapshot or resumed from one."""


class Stage(enum.Enum):
    """The current stage of a guest."""

    BOOT = "was not ready for its command"
    COMMAND = "has not ended its command"
    POWER_OFF = "has not powered off"
    LAST_WORDS = "ends its report"
    TASK_LIST = "lists its tasks"
    OFF = "is off"


class Guest:
    """A guest from the start of its QEMU to the end.

    channels maps file-like sockets to the functions that receive their data.
    """

    def __init__(self, number, directory, options, token):
        self.number = number
        self.name = f"guest {number}" if options.vms > 1 else "the guest"
        self.directory = directory
        self.options = options
        self.token = token
        self.scanner = Scanner()
        self.failures = []
        self.timed_out = False
        self.lockdep_off = False
        self.status = None
        self.child = None
        self.channels = {}
        self.stage = Stage.BOOT
        self.ready_after = None
        self.times_told = False
        self.kernel_log = directory / "console.log"
        self._console = open(self.kernel_log, "wb", buffering=0)
        self._console_rest = b""
        self._control = None
        self._control_rest = b""
        # Words about a snapshot from the control port.
        self._said = []
        self._marks = {name: EndMark(token) for name in ("out", "err")}
        self._outputs = {"out": self._output(sys.stdout), "err": self._output(sys.stderr)}
        self._started = time.monotonic()
        # One limit for all boots of the run: the guest reports only the last one.
        self._boot_limit = options.boot_timeout * (options.reboots + 1)
        self._deadline = self._started + self._boot_limit

    def _output(self, stream):
        if self.options.vms > 1:
            return Prefixed(stream.buffer, f"vm{self.number}| ")
        return Plain(stream.buffer)

    # ---- start and end ----

    def boot(self, machine, kernel, sockets):
        """Writes the guest's files and starts its QEMU; the kernel boots."""
        self._write_orders(kernel["initramfs"])
        counter_khz = clock.counter_khz() if qemu.shares_counter(machine, self.options.qemu) else None
        arguments = qemu.kernel_arguments(self.directory, self.options.append, self.options.iommu, counter_khz,
                                          machine["processor"])
        self._launch(lambda ports: qemu.command_line(
            machine, kernel | {"arguments": arguments}, ports, sockets, self.options.shell), self.options.shell)

    def save(self, machine, kernel, root, state):
        """Boots up to the point that all guests of this kind share, saves the state to a file, and ends the guest."""
        qmp = self._launch_with_qmp(lambda ports: qemu.snapshot_command_line(machine, kernel, ports, root))
        try:
            self._await("stopped")
            if complaints(self.scanner.reports):
                raise SnapshotError(f"the kernel complains: {self.scanner.reports[0].headline}")
            Qmp(qmp).save(state)
        except QmpError as error:
            raise SnapshotError(str(error)) from None
        finally:
            qmp.close()
            self.end()

    def resume(self, machine, kernel, root, state, sockets):
        """Writes the guest's files and starts its QEMU from a saved state; returns when the guest has its own identity
        and its HCAs."""
        self._write_orders(kernel["initramfs"])
        connection = self._launch_with_qmp(
            lambda ports: [*qemu.snapshot_command_line(machine, kernel, ports, root, self.options.shell),
                           "-incoming", "defer"], self.options.shell)
        try:
            qmp = Qmp(connection)
            qmp.load(state)
            for number, each in enumerate(sockets):
                qmp.ask("device_add", **qemu.hca(number, each))
                if number == 0:
                    self._go(qmp)
                self._await("found", number + 1)
            if not sockets:
                self._go(qmp)
            self._await("resumed")
        except QmpError as error:
            raise SnapshotError(str(error)) from None
        finally:
            connection.close()

    def _go(self, qmp):
        """Resumes the guest and sends it the values that differ between guests: time, random seed and HCAs."""
        qmp.ask("cont")
        seconds, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
        seed = os.urandom(_SEED_BYTES).hex()
        self._control.sendall(
            f"resume {seconds} {nanoseconds} {self.options.hcas} {seed} {self.directory}\n".encode())

    def _launch(self, words_for, terminal=False, further=()):
        """Starts QEMU with the guest's channels; words_for returns its arguments for them. Returns further sockets by
        name."""
        handlers = {
            "console": self._take_console,
            "control": self._take_control,
            "out": lambda data: self._take_output("out", data),
            "err": lambda data: self._take_output("err", data),
        }
        mine, theirs = {}, {}
        for name in (*handlers, *further):
            mine[name], theirs[name] = socket.socketpair()
        self.channels = {mine[name]: handler for name, handler in handlers.items()}
        self._control = mine["control"]
        words = words_for({name: end.fileno() for name, end in theirs.items()}) + shlex.split(self.options.qemu)
        # The name shows in a process list to which run the QEMU belongs.
        words += ["-name", f"guest={self.directory}"]
        (self.directory / "qemu.command").write_text(shlex.join(words) + "\n")
        self.child = Child(words, self.directory / "qemu.log", [end.fileno() for end in theirs.values()],
                           terminal=terminal)
        for end in theirs.values():
            end.close()
        return {name: mine[name] for name in further}

    def _launch_with_qmp(self, words_for, terminal=False):
        return self._launch(words_for, terminal, ["qmp"])["qmp"]

    def _await(self, word, times=1):
        """Reads messages until the guest has sent a word that many times."""
        with selectors.DefaultSelector() as selector:
            for channel, handler in self.channels.items():
                selector.register(channel, selectors.EVENT_READ, handler)
            selector.register(self.child.descriptor, selectors.EVENT_READ)
            while self._said.count(word) < times:
                if self.failed:
                    raise SnapshotError(self.failures[0] if self.failures else "the kernel has failed")
                if self.seconds_left == 0.0:
                    raise SnapshotError(f"'{word}' has not come within {self._boot_limit} s")
                for key, _ in selector.select(self.seconds_left):
                    data = key.fileobj.recv(65536) if key.data else b""
                    if not data:
                        raise SnapshotError(f"QEMU has gone before '{word}' came")
                    key.data(data)

    def _write_orders(self, initramfs):
        options = self.options
        settings = {
            "LAB_DRIVER": options.driver, "LAB_KERNEL": options.kernel, "LAB_HCAS": options.hcas,
            "LAB_VM": self.number, "LAB_VMS": options.vms, "LAB_SM": options.sm or "none",
            "lab_token": self.token, "lab_directory": options.directory, "lab_shell": int(options.shell),
            "lab_kmemleak": int(options.kmemleak), "lab_reboots": options.reboots, "lab_reboot_by": options.reboot_by,
            "lab_initramfs": initramfs, "lab_terminal": options.terminal,
            "lab_terminal_type": options.terminal_type,
        }
        lines = [f"{name}={shlex.quote(str(value))}\n" for name, value in settings.items()]
        (self.directory / "settings").write_text("".join(lines))
        (self.directory / "command").write_text(options.command + "\n")

    def end(self):
        """Ends QEMU if it still runs. Further calls do nothing."""
        if self.stage is Stage.OFF:
            return
        if self.child:
            self.child.end(3)
        if self._console_rest:
            self._take_console(b"\n")
        self._console.close()
        for output in self._outputs.values():
            output.finish()
        for channel in self.channels:
            channel.close()
        self.stage = Stage.OFF

    # ---- what arrives ----

    def _take_console(self, data):
        self._console.write(data)
        *lines, self._console_rest = (self._console_rest + data).split(b"\n")
        for line in lines:
            text = line.decode(errors="replace").rstrip("\r")
            if self.options.verbose:
                print(f"[vm{self.number}] {text}", file=sys.stderr, flush=True)
            self.scanner.feed(text)
        if self.scanner.fatal and self.stage is not Stage.LAST_WORDS:
            self._enter(Stage.LAST_WORDS, _LAST_WORDS_SECONDS)

    def _take_output(self, name, data):
        self._outputs[name].write(self._marks[name].feed(data))
        if self.stage is Stage.COMMAND and all(mark.status is not None for mark in self._marks.values()):
            self.status = self._marks["out"].status
            self._enter(Stage.POWER_OFF, _POWER_OFF_SECONDS)

    def _take_control(self, data):
        *lines, self._control_rest = (self._control_rest + data).split(b"\n")
        for line in lines:
            word, _, rest = line.decode(errors="replace").partition(" ")
            if word == "ready":
                self.ready_after = time.monotonic() - self._started
                self._enter(Stage.COMMAND, None if self.options.shell else self.options.timeout)
            elif word == "failed":
                self.fail(f"{self.name}: {rest}")
            elif word in ("stopped", "found", "resumed"):
                self._said.append(word)
            elif word == "lockdep-off":
                self.lockdep_off = True
            elif word == "listed" and self.stage is Stage.TASK_LIST:
                # The kernel's task list is on the serial line.
                self._enter(Stage.TASK_LIST, 2)
            elif word == "finished":
                self.status = int(rest)
                self._enter(Stage.POWER_OFF, _POWER_OFF_SECONDS)

    @property
    def failed(self):
        """Whether the run cannot succeed any more."""
        return bool(self.failures) or self.scanner.fatal

    def fail(self, text):
        """Records why the run fails."""
        self.failures.append(text)

    # ---- time ----

    def _enter(self, stage, seconds):
        self.stage = stage
        self._deadline = None if seconds is None else time.monotonic() + seconds

    @property
    def seconds_left(self):
        """Seconds until overdue() must be called; None for no limit."""
        return None if self._deadline is None else max(0.0, self._deadline - time.monotonic())

    def overdue(self):
        """Acts at the end of the time limit for the current stage."""
        if self.stage in (Stage.LAST_WORDS, Stage.TASK_LIST):
            self.end()
        elif self.stage is not Stage.OFF:
            self._give_up()

    def _give_up(self):
        self.timed_out = True
        seconds = {Stage.BOOT: self._boot_limit, Stage.COMMAND: self.options.timeout}
        limit = seconds.get(self.stage, _POWER_OFF_SECONDS)
        self.fail(f"{self.name} {self.stage.value} within {limit} s")
        self._ask_for_tasks()

    def _ask_for_tasks(self):
        try:
            self._control.send(b"tasks\n")
        except OSError:
            pass
        self._enter(Stage.TASK_LIST, _TASK_LIST_SECONDS)

    def qemu_ended(self):
        """Must be called when the process has ended and its channels have been read to their ends."""
        if self.options.shell and self.stage is Stage.COMMAND and self.child.status == 0:
            # The user has ended QEMU with Ctrl-A X, or powered the guest off.
            self.status = 0
        elif self.stage in (Stage.BOOT, Stage.COMMAND) and not complaints(self.scanner.reports) and not self.failures:
            what = "before it was ready" if self.stage is Stage.BOOT else "while the command ran"
            self.fail(f"{self.name}: QEMU {self.child.describe_end()} {what}")
        elif self.child.status != 0:
            self.fail(f"{self.name}: QEMU {self.child.describe_end()}")
        self.end()

    # ---- evidence ----

    def log_tail(self, lines=25):
        """The end of the kernel log, and QEMU's messages."""
        text = self.kernel_log.read_text(errors="replace").splitlines()[-lines:]
        said = [line for line in self.left_file("qemu.log") if "terminating on signal" not in line][-10:]
        parts = [f"the end of {shown(self.kernel_log)}:", *(f"    {line}" for line in text)]
        if said:
            parts += ["QEMU said:", *(f"    {line}" for line in said)]
        return "\n".join(parts)

    def left_file(self, name):
        """Lines of a file that the guest wrote for the lab; [] if it wrote none."""
        path = self.directory / name
        return path.read_text(errors="replace").splitlines() if path.exists() else []
