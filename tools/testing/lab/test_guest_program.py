# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests the lab's program in the guest: it is compiled once per source, and names modules that it cannot load."""

import subprocess
import tempfile
import unittest
from pathlib import Path

from labrun import guest_program

SOURCE = Path("/repo/tools/lab/guest/lab_guest.c")


class Compiled(unittest.TestCase):
    """When the program is compiled, and which builds are kept."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.cache = Path(temporary.name) / "cache"
        self.source = Path(temporary.name) / "trivial.c"
        self.source.write_text("int main(void) { return 3; }\n", encoding="ascii")

    def test_program_compiled_and_run(self):
        program = guest_program.provide(self.source, self.cache)
        self.assertEqual(3, subprocess.run([program], check=False).returncode)

    def test_unchanged_source_not_compiled_again(self):
        program = guest_program.provide(self.source, self.cache)
        before = program.stat().st_mtime_ns
        self.assertEqual(program, guest_program.provide(self.source, self.cache))
        self.assertEqual(before, program.stat().st_mtime_ns)

    def test_changed_source_replaces_program(self):
        old = guest_program.provide(self.source, self.cache)
        self.source.write_text("int main(void) { return 4; }\n", encoding="ascii")
        new = guest_program.provide(self.source, self.cache)
        self.assertEqual(4, subprocess.run([new], check=False).returncode)
        self.assertEqual([new], list(self.cache.iterdir()))
        self.assertNotEqual(old, new)


class Refusals(unittest.TestCase):
    """The program names each error."""

    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.program = guest_program.provide(SOURCE, Path(temporary.name))

    def run_program(self, *arguments):
        """Returns exit status and standard error."""
        run = subprocess.run([self.program, *arguments], capture_output=True, text=True, check=False)
        return run.returncode, run.stderr

    def test_unknown_module_reported(self):
        status, said = self.run_program("load", "no_such_module")
        self.assertEqual(1, status)
        self.assertRegex(said, "^cannot load no_such_module: not in /lib/modules/")

    def test_missing_file_reported(self):
        status, said = self.run_program("load", "/nowhere/some.ko")
        self.assertEqual(1, status)
        self.assertEqual("cannot load /nowhere/some.ko: No such file or directory\n", said)

    def test_missing_dependency_reported(self):
        with tempfile.NamedTemporaryFile(suffix=".ko") as module:
            module.write(b"license=GPL\0depends=no_such_module,another\0name=x\0")
            module.flush()
            status, said = self.run_program("load", module.name)
        self.assertEqual(1, status)
        self.assertRegex(said, "^cannot load no_such_module, which .* needs: ")

    def test_invalid_arguments_print_usage(self):
        for arguments in ((), ("fly",), ("relay", "/only/a/pipe"), ("load",)):
            status, said = self.run_program(*arguments)
            self.assertEqual(2, status)
            self.assertIn("usage", said)


if __name__ == "__main__":
    unittest.main()
