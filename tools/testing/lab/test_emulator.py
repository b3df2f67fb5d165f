# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests how a run starts and stops the emulator process. Short scripts replace the emulator."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

from labrun import options
from labrun.emulator import Emulator, EmulatorError

_PRELUDE = """\
#!/usr/bin/env python3
import signal, socket, sys
arguments = sys.argv[1:]
sockets = [arguments[i + 1] for i, word in enumerate(arguments) if word == "--hca"]
violations = arguments[arguments.index("--violations") + 1]
"""

_SERVE = """\
listeners = []
for path in sockets:
    listeners.append(socket.socket(socket.AF_UNIX))
    listeners[-1].bind(path)
"""


class TheEmulator(unittest.TestCase):
    """Start, end and messages of the emulator."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.directory = Path(temporary.name)

    def start(self, program, hcas=1, arguments=""):
        """Starts a replacement with the emulator's command line."""
        path = self.directory / "cxemu"
        path.write_text(_PRELUDE + program)
        path.chmod(0o755)
        with mock.patch.object(options, "EMULATOR", path):
            emulator = Emulator(self.directory, hcas, arguments)
        self.addCleanup(emulator.child.end, 0)
        return emulator

    def test_hca_sockets_removed_at_end(self):
        emulator = self.start(_SERVE + "signal.sigwait([signal.SIGTERM])", hcas=3)
        self.assertEqual([True] * 3, [path.is_socket() for path in emulator.sockets])
        emulator.end()
        self.assertEqual([False] * 3, [path.exists() for path in emulator.sockets])

    def test_further_arguments_passed_as_words(self):
        emulator = self.start(
            "print(arguments[-3:], flush=True)\n" + _SERVE + "signal.pause()", arguments="--profile 'connect x' -v")
        self.assertIn("['--profile', 'connect x', '-v']", emulator.log.read_text())

    def test_early_end_reports_status(self):
        with self.assertRaisesRegex(EmulatorError, "ended with status 3 before its sockets were there"):
            self.start("sys.exit(3)")

    def test_orderly_end_reports_nothing(self):
        emulator = self.start("signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))\n" + _SERVE + "signal.pause()")
        self.assertIsNone(emulator.end())

    def test_end_with_status_reported(self):
        emulator = self.start("signal.signal(signal.SIGTERM, lambda *_: sys.exit(4))\n" + _SERVE + "signal.pause()")
        self.assertIn("ended with status 4", emulator.end())

    def test_violations_read_by_line(self):
        emulator = self.start(
            "open(violations, 'w').write('reserved bits set in CREATE_CQ\\npage returned twice\\n')\n"
            + _SERVE + "signal.pause()")
        self.assertEqual(["reserved bits set in CREATE_CQ", "page returned twice"], emulator.violations())

    def test_missing_file_means_no_violations(self):
        emulator = self.start(_SERVE + "signal.pause()")
        self.assertEqual([], emulator.violations())


if __name__ == "__main__":
    unittest.main()
