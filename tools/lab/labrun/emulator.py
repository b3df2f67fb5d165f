# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the emulated HCAs: one process for all guests of a run, so that they share a switch."""

import shlex
import time

from . import options
from .processes import Child

_START_SECONDS = 300
_END_SECONDS = 120


class EmulatorError(Exception):
    """The emulator did not start."""


class Emulator:
    """Runs cxemu with one socket per HCA."""

    def __init__(self, directory, hcas, arguments):
        self.log = directory / "cxemu.log"
        self.violations_file = directory / "violations"
        self.sockets = [directory / f"hca{index}.sock" for index in range(hcas)]
        words = [str(options.EMULATOR)]
        for socket in self.sockets:
            words += ["--hca", str(socket)]
        words += ["--violations", str(self.violations_file), *shlex.split(arguments)]
        self.child = Child(words, self.log)
        try:
            self._await_sockets()
        except EmulatorError:
            self.child.end(1)
            raise

    def _await_sockets(self):
        deadline = time.monotonic() + _START_SECONDS
        while not all(socket.is_socket() for socket in self.sockets):
            if self.child.status is not None:
                raise EmulatorError(f"the emulator {self.child.describe_end()} before its sockets were there")
            if time.monotonic() > deadline:
                raise EmulatorError(f"the emulator has not made its sockets within {_START_SECONDS} s")
            time.sleep(0.02)

    def end(self):
        """Ends the emulator; returns a complaint about its end, or None."""
        running = self.child.status is None
        status = self.child.end(_END_SECONDS)
        for socket in self.sockets:
            socket.unlink(missing_ok=True)
        if running and status != 0:
            return f"the emulator {self.child.describe_end()} when it was asked to end"
        return None

    def violations(self):
        """The lines of the strict checker."""
        if not self.violations_file.exists():
            return []
        return self.violations_file.read_text(errors="replace").splitlines()
