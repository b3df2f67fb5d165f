# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests which logs are kept."""

import fcntl
import os
import tempfile
import unittest
from pathlib import Path

from labrun import rundir


class RunDirectories(unittest.TestCase):
    """The newest directories and those in use are kept."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.parent = Path(temporary.name)

    def make_old(self, count):
        """Creates run directories with old times."""
        names = [f"20200101-{number:06}-1" for number in range(count)]
        for name in names:
            (self.parent / name).mkdir()
        return names

    def test_oldest_directories_removed(self):
        names = self.make_old(rundir.KEPT + 5)
        created = rundir.create(self.parent)
        self.assertEqual(sorted([*names[6:], created.name]), sorted(os.listdir(self.parent)))

    def test_directory_in_use_kept(self):
        names = self.make_old(rundir.KEPT + 5)
        descriptor = os.open(self.parent / names[0], os.O_RDONLY)
        self.addCleanup(os.close, descriptor)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        rundir.create(self.parent)
        self.assertIn(names[0], os.listdir(self.parent))
        self.assertNotIn(names[1], os.listdir(self.parent))

    def test_other_directories_kept(self):
        (self.parent / "0-not-a-run").mkdir()
        self.make_old(rundir.KEPT + 5)
        rundir.create(self.parent)
        self.assertIn("0-not-a-run", os.listdir(self.parent))


if __name__ == "__main__":
    unittest.main()
