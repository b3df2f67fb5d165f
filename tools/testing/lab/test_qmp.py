# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests the QMP client with a scripted QEMU."""

import json
import socket
import threading
import unittest

from labrun.qmp import Qmp, QmpError

GREETING = {"QMP": {"version": {}, "capabilities": []}}
DONE = {"return": {}}


class Script:
    """Sends the greeting, replies to one command at a time from a list, and records the commands."""

    def __init__(self, *answers, greeting=GREETING):
        self.connection, self._end = socket.socketpair()
        self.commands = []
        self._answers = answers
        self._greeting = greeting
        self._thread = threading.Thread(target=self._play, daemon=True)
        self._thread.start()

    def _play(self):
        with self._end.makefile("rw", encoding="ascii") as stream:
            self._say(stream, self._greeting)
            for answers in (DONE, *self._answers):
                self.commands.append(json.loads(stream.readline()))
                for answer in answers if isinstance(answers, list) else [answers]:
                    self._say(stream, answer)
        self._end.close()

    @staticmethod
    def _say(stream, answer):
        stream.write(json.dumps(answer) + "\n")
        stream.flush()

    def names(self):
        """Names of all commands in order."""
        self._thread.join()
        return [command["execute"] for command in self.commands]


class QmpTest(unittest.TestCase):
    """A test with its own scripted QEMU."""

    def qemu(self, *answers, **settings):
        """A scripted QEMU with these replies."""
        script = Script(*answers, **settings)
        self.addCleanup(script.connection.close)
        return script


class Commands(QmpTest):
    """Each command gets one reply."""

    def test_reply_returned(self):
        script = self.qemu({"return": {"status": "running"}})
        self.assertEqual(Qmp(script.connection).ask("query-status"), {"status": "running"})

    def test_argument_names_have_dashes(self):
        script = self.qemu(DONE)
        Qmp(script.connection).ask("migrate-set-parameters", max_bandwidth=5)
        script.names()
        self.assertEqual(script.commands[-1]["arguments"], {"max-bandwidth": 5})

    def test_events_ignored(self):
        script = self.qemu([{"event": "STOP"}, {"return": 1}])
        self.assertEqual(Qmp(script.connection).ask("stop"), 1)

    def test_refusal_names_command_and_reason(self):
        script = self.qemu({"error": {"class": "GenericError", "desc": "no such bus"}})
        with self.assertRaisesRegex(QmpError, "^device_add: no such bus$"):
            Qmp(script.connection).ask("device_add")

    def test_closed_qemu_raises_error(self):
        script = self.qemu()
        qmp = Qmp(script.connection)
        with self.assertRaisesRegex(QmpError, "QEMU (is gone|does not)"):
            qmp.ask("query-status")

    def test_silent_qemu_raises_error(self):
        connection, silent = socket.socketpair()
        with connection, silent, self.assertRaisesRegex(QmpError, "does not answer"):
            Qmp(connection, seconds=0.01)

    def test_foreign_greeting_raises_error(self):
        with self.assertRaisesRegex(QmpError, "does not greet"):
            Qmp(self.qemu(greeting={"hello": 1}).connection)


class State(QmpTest):
    """Saves a guest's state to a file and restores it."""

    def test_save_stops_guest_first(self):
        script = self.qemu(DONE, DONE, DONE, DONE, {"return": {"status": "active"}}, {"return": {"status": "completed"}})
        Qmp(script.connection).save("/state")
        names = script.names()
        self.assertLess(names.index("stop"), names.index("migrate"))
        self.assertEqual(script.commands[names.index("migrate")]["arguments"], {"uri": "file:/state"})

    def test_save_failure_reports_reason(self):
        script = self.qemu(DONE, DONE, DONE, DONE, {"return": {"status": "failed", "error-desc": "no space"}})
        with self.assertRaisesRegex(QmpError, "no space"):
            Qmp(script.connection).save("/state")

    def test_load_waits_for_complete_machine(self):
        script = self.qemu(DONE, DONE, {"return": {"status": "active"}}, {"return": {"status": "completed"}},
                           {"return": {"status": "inmigrate"}}, {"return": {"status": "paused"}})
        Qmp(script.connection).load("/state")
        self.assertEqual(script.names()[-1], "query-status")

    def test_load_failure_reports_reason(self):
        script = self.qemu(DONE, DONE, {"return": {"status": "failed", "error-desc": "not a state"}})
        with self.assertRaisesRegex(QmpError, "not a state"):
            Qmp(script.connection).load("/state")


if __name__ == "__main__":
    unittest.main()
