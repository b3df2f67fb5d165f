# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs processes of agent.c as objects."""

import contextlib
import pathlib
import select
import signal
import subprocess

PROGRAMS = pathlib.Path("/repo/build/xrcrcv")
PATIENCE = 120  # seconds; ends only a test that has already failed


class Failed(AssertionError):
    """A command failed with this errno. The test fails unless it expects the error."""


class Agent:
    """One process with the library xrcrcv or xrc2008. It opens the device with this number in slot 0."""

    def __init__(self, library: str, device: int = 0) -> None:
        self.process = subprocess.Popen([PROGRAMS / f"agent-{library}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        bufsize=1)
        try:
            self.lid = int(self("device", 0, device))
        except BaseException:
            self.kill()
            raise

    def post(self, *words: str | int) -> None:
        """Sends a command; take() returns its result."""
        print(*words, file=self.process.stdin, flush=True)

    def take(self) -> str:
        if not select.select([self.process.stdout], [], [], PATIENCE)[0]:
            raise AssertionError("the process does not answer")
        line = self.process.stdout.readline().strip()
        kind, _, text = line.partition(" ")
        if kind != "ok":
            raise Failed(text or f"the process has ended: {self.process.poll()}")
        return text

    def __call__(self, *words: str | int) -> str:
        self.post(*words)
        return self.take()

    def error(self, *words: str | int) -> str:
        """The errno name of a command; "" on success."""
        try:
            self(*words)
        except Failed as failed:
            return str(failed)
        return ""

    def refusal(self, *words: str | int) -> str:
        """The errno name of a command that must fail."""
        error = self.error(*words)
        if not error:
            raise AssertionError(f"'{words}' has succeeded")
        return error

    def kill(self) -> None:
        """Kills the process and waits until the kernel has closed its files."""
        self.process.send_signal(signal.SIGKILL)
        self.wait()

    def end(self) -> None:
        """Lets the process exit without destroying its objects."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.wait()

    def wait(self) -> None:
        self.process.wait(PATIENCE)
        self.process.stdout.close()
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
