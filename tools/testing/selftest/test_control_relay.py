# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests the relay of a guest's requests, which are files, to the emulator's control socket."""

import importlib.util
import pathlib
import socketserver
import tempfile
import threading
import unittest

RELAY = pathlib.Path(__file__).parents[1] / "module" / "control_relay.py"
SPEC = importlib.util.spec_from_file_location("control_relay", RELAY)
relay = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(relay)


class Emulator(socketserver.StreamRequestHandler):
    """Returns each request as reply, and refuses requests that begin with "no"."""

    def handle(self) -> None:
        for line in self.rfile:
            text = line.decode().strip()
            kind = "error" if text.startswith("no") else "ok"
            self.wfile.write(f'{{"{kind}": "{text}"}}\n'.encode())


class Relay(unittest.TestCase):
    def setUp(self) -> None:
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.address = self.directory / "control.sock"
        server = self.enterContext(socketserver.UnixStreamServer(str(self.address), Emulator))
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.shutdown)

    def answer_to(self, text: str) -> str | None:
        """The reply file after one pass of the relay; None if there is none."""
        (self.directory / "1.request").write_text(text)
        relay.answer_requests(self.address, self.directory)
        answer = self.directory / "1.answer"
        return answer.read_text() if answer.exists() else None

    def test_last_line_gets_reply(self) -> None:
        self.assertEqual(self.answer_to("one\ntwo\n"), '{"ok": "two"}\n')
        self.assertFalse((self.directory / "1.request").exists())

    def test_error_ends_lines(self) -> None:
        self.assertEqual(self.answer_to("no\ntwo\n"), '{"error": "no"}\n')

    def test_incomplete_request_left(self) -> None:
        for part in ("", "one\ntw"):
            self.assertIsNone(self.answer_to(part))
        self.assertEqual(self.answer_to("one\ntwo\n"), '{"ok": "two"}\n')


if __name__ == "__main__":
    unittest.main()
