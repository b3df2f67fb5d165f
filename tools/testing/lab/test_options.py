# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests the command line of tools/lab/run."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from labrun import options


class CommandLine(unittest.TestCase):
    """Defaults, and the command that the words form."""

    def parse(self, *words, emulator=False):
        """Returns the options and the output on standard error."""
        path = Path(tempfile.gettempdir()) if emulator else Path("/no/such/emulator")
        said = io.StringIO()
        with mock.patch.object(options, "EMULATOR", path), contextlib.redirect_stderr(said):
            return options.parse(list(words)), said.getvalue()

    def refuse(self, *words):
        """Returns the error message for invalid arguments."""
        said = io.StringIO()
        with contextlib.redirect_stderr(said), self.assertRaises(SystemExit) as end:
            options.parse(list(words))
        self.assertEqual(options.LAB_FAILED, end.exception.code)
        return said.getvalue()

    def test_one_word_is_shell_command(self):
        self.assertEqual("lsmod | grep cxib", self.parse("--", "lsmod | grep cxib")[0].command)

    def test_several_words_keep_boundaries(self):
        self.assertEqual("echo 'a  b' '|'", self.parse("--", "echo", "a  b", "|")[0].command)

    def test_options_behind_command_belong_to_command(self):
        self.assertEqual("ls --verbose", self.parse("--kernel", "debug", "--", "ls", "--verbose")[0].command)

    def test_driver_with_emulator_has_one_hca(self):
        self.assertEqual(1, self.parse("--driver", "cxib", "--", "true", emulator=True)[0].hcas)
        self.assertEqual(1, self.parse("--driver", "mlx5", "--", "true", emulator=True)[0].hcas)
        self.assertEqual(0, self.parse("--", "true", emulator=True)[0].hcas)

    def test_driver_without_emulator_refused_unless_no_hcas(self):
        with mock.patch.object(options, "EMULATOR", Path("/no/such/emulator")):
            for driver in ("cxib", "mlx5"):
                self.assertIn("make cxemu", self.refuse("--driver", driver, "--", "true"))
        self.assertEqual(0, self.parse("--driver", "cxib", "--hcas", "0", "--", "true")[0].hcas)

    def test_repeated_arguments_add_up(self):
        self.assertEqual("a=1 b=2", self.parse("--append", "a=1", "--append", "b=2", "--", "true")[0].append)

    def test_subnet_manager_defaults_to_emulator(self):
        words = ("--driver", "cxib", "--cxemu", "--ports 2")
        for sm in (("--sm",), ("--sm", "cxemu")):
            parsed = self.parse(*words, *sm, "--", "true", emulator=True)[0]
            self.assertEqual("cxemu", parsed.sm)
            self.assertEqual("--subnet-manager --ports 2", parsed.cxemu)
        parsed = self.parse(*words, "--sm", "opensm", "--", "true", emulator=True)[0]
        self.assertEqual(("opensm", "--ports 2"), (parsed.sm, parsed.cxemu))
        self.assertIsNone(self.parse(*words, "--", "true", emulator=True)[0].sm)

    def test_unknown_subnet_manager_named(self):
        self.assertIn("'ufm'", self.refuse("--driver", "cxib", "--sm", "ufm", "--", "true"))

    def test_invalid_number_named(self):
        self.assertIn("--timeout: 'soon' is not a number", self.refuse("--timeout", "soon", "--", "true"))

    def test_leak_scan_needs_kernel_that_has_it(self):
        for kernel in ("debug", "debug-backports", "debug-oldstable"):
            self.assertTrue(self.parse("--kernel", kernel, "--kmemleak", "--", "true")[0].kmemleak)
        for kernel in ("stock", "debug-rt"):
            self.assertIn(f"{kernel} has no kmemleak", self.refuse("--kernel", kernel, "--kmemleak", "--", "true"))

    def test_node_without_processor_refused(self):
        self.assertIn("--nodes 3 needs as many processors, --cpus is 2", self.refuse("--nodes", "3", "--", "true"))
        self.assertEqual(3, self.parse("--nodes", "3", "--cpus", "3", "--", "true")[0].nodes)

    def test_shell_with_or_without_command_accepted(self):
        self.assertEqual("true", self.parse("--shell", "--", "true")[0].command)
        self.assertEqual("", self.parse("--shell")[0].command)

    def test_arm64_guest_has_no_shell_and_one_node(self):
        self.assertIn("--shell", self.refuse("--kernel", "arm64", "--shell"))
        self.assertIn("--nodes 2", self.refuse("--kernel", "arm64-16k", "--nodes", "2", "--", "true"))
        self.assertEqual("arm64-16k", self.parse("--kernel", "arm64-16k", "--", "true")[0].kernel)


if __name__ == "__main__":
    unittest.main()
