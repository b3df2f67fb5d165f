# SPDX-License-Identifier: GPL-2.0-or-later
"""A client of QEMU's machine protocol (QMP): sends one command at a time and ignores events."""

import json
import time

_POLL_SECONDS = 0.02
# Ends only a command that has failed: the host may not schedule QEMU for a while.
_ANSWER_SECONDS = 300


class QmpError(Exception):
    """QEMU refused a command or does not reply."""


class Qmp:
    """A QMP connection over a connected socket, which this object owns."""

    def __init__(self, connection, seconds=_ANSWER_SECONDS):
        self._connection = connection
        self._connection.settimeout(seconds)
        self._rest = b""
        if "QMP" not in self._read():
            raise QmpError("QEMU does not greet")
        self.ask("qmp_capabilities")

    def _read(self):
        try:
            while b"\n" not in self._rest:
                data = self._connection.recv(65536)
                if not data:
                    raise QmpError("QEMU is gone")
                self._rest += data
        except OSError as error:
            raise QmpError(f"QEMU does not answer: {error}") from None
        line, _, self._rest = self._rest.partition(b"\n")
        return json.loads(line)

    def ask(self, command, **arguments):
        """Runs a command; returns QEMU's reply. "_" in argument names stands for "-"."""
        order = {"execute": command, "arguments": {name.replace("_", "-"): each for name, each in arguments.items()}}
        try:
            self._connection.sendall(json.dumps(order).encode() + b"\n")
        except OSError as error:
            raise QmpError(f"QEMU does not listen: {error}") from None
        while True:
            reply = self._read()
            if "error" in reply:
                raise QmpError(f"{command}: {reply['error']['desc']}")
            if "return" in reply:
                return reply["return"]

    def save(self, path):
        """Stops the guest and writes its state to a file."""
        self.ask("stop")
        self._set_up_migration()
        self.ask("migrate-set-parameters", max_bandwidth=1 << 40)
        self.ask("migrate", uri=f"file:{path}")
        self._await_migration()

    def load(self, path):
        """Loads a state into a guest that was started with "-incoming defer"; the guest does not run yet."""
        self._set_up_migration()
        self.ask("migrate-incoming", uri=f"file:{path}", exit_on_error=False)
        self._await_migration()
        # The state is complete a moment before the machine is ready.
        while self.ask("query-status")["status"] == "inmigrate":
            time.sleep(_POLL_SECONDS)

    def _set_up_migration(self):
        # Pages have fixed places in a sparse file and are accessed directly, not as a stream.
        self.ask("migrate-set-capabilities", capabilities=[{"capability": "mapped-ram", "state": True}])

    def _await_migration(self):
        while True:
            state = self.ask("query-migrate")
            status = state.get("status")
            if status == "completed":
                return
            if status in ("failed", "cancelled"):
                raise QmpError(f"migration: {state.get('error-desc', status)}")
            time.sleep(_POLL_SECONDS)

    def close(self):
        """Closes the connection, without ending QEMU."""
        self._connection.close()
