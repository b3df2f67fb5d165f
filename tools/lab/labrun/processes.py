# SPDX-License-Identifier: GPL-2.0-or-later
"""Child processes that end with this one."""

import ctypes
import os
import signal
import subprocess

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


def _end_with_parent():
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class Child:
    """A process whose end can be waited for with select.

    output: file for what it prints. Keyboard signals do not reach it unless it owns the terminal.
    """

    def __init__(self, words, output, descriptors=(), terminal=False):
        self.name = os.path.basename(words[0])
        with open(output, "ab") as stream:
            self._process = subprocess.Popen(
                words,
                stdin=None if terminal else subprocess.DEVNULL,
                stdout=None if terminal else stream,
                stderr=stream,
                pass_fds=descriptors,
                process_group=None if terminal else 0,
                preexec_fn=_end_with_parent,
            )
        self.output = output
        self.descriptor = os.pidfd_open(self._process.pid)

    @property
    def status(self):
        """Its exit status (minus the signal's number when killed), None while it runs."""
        return self._process.poll()

    def end(self, patience):
        """Asks it to end, forces it after so many seconds; returns its status."""
        if self.status is None:
            self._process.terminate()
            try:
                self._process.wait(patience)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        return self.status

    def describe_end(self):
        """How it ended, in words."""
        status = self.status
        if status is not None and status < 0:
            return f"was ended by {signal.Signals(-status).name}"
        return f"ended with status {status}"
