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
    """A process whose end select() can wait for.

    output: file for its output. Keyboard signals reach it only if it owns the terminal.
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
        """Its exit status (minus the signal number if it was killed); None while it runs."""
        return self._process.poll()

    def end(self, patience):
        """Terminates the process, kills it after `patience` seconds, and returns its status."""
        if self.status is None:
            self._process.terminate()
            try:
                self._process.wait(patience)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        return self.status

    def describe_end(self):
        """Describes how the process has ended."""
        status = self.status
        if status is not None and status < 0:
            return f"was ended by {signal.Signals(-status).name}"
        return f"ended with status {status}"
