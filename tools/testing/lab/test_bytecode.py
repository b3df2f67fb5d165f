# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests the bytecode of the tests that run in guests."""

import contextlib
import importlib.util
import io
import os
import pathlib
import tempfile
import unittest

from labrun import bytecode


class Bytecode(unittest.TestCase):
    """The bytecode exists and matches its source. A source with an error causes no message here."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        (self.directory / "guest").mkdir()
        self.source = self.directory / "guest/test_something.py"
        self.source.write_text("VALUE = 1\n")

    @property
    def compiled(self):
        return pathlib.Path(importlib.util.cache_from_source(str(self.source)))

    def test_module_compiled_beside_source(self):
        bytecode.provide(self.directory)
        self.assertTrue(self.compiled.exists())

    def test_changed_source_compiled_again(self):
        bytecode.provide(self.directory)
        before = self.compiled.read_bytes()
        self.source.write_text("VALUE = 12345\n")
        os.utime(self.source, (1, 1))
        bytecode.provide(self.directory)
        self.assertNotEqual(self.compiled.read_bytes(), before)

    def test_current_bytecode_kept(self):
        bytecode.provide(self.directory)
        os.utime(self.compiled, (1, 1))
        bytecode.provide(self.directory)
        self.assertEqual(self.compiled.stat().st_mtime, 1)

    def test_source_with_error_ignored(self):
        self.source.write_text("this is no Python\n")
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            bytecode.provide(self.directory)
        self.assertEqual(output.getvalue(), "")
        self.assertFalse(self.compiled.exists())


if __name__ == "__main__":
    unittest.main()
