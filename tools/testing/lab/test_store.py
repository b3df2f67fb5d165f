# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests the snapshot cache: look-up, repetition after a failure, removal."""

import os
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

from labrun import store
from labrun.store import Store

KHZ = 2_500_000
DAY = 24 * 3600


class StoreTest(unittest.TestCase):
    """An empty store for each test."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.directory = Path(temporary.name)
        self.store = Store(self.directory)

    def image(self, name="tree-a.ext4"):
        """Path of the image of a tree."""
        path = self.directory / name
        path.touch()
        return path

    def make(self, key, image="tree-a.ext4", size=0, age=0):
        """Creates a complete snapshot that was last used `age` seconds ago."""
        with self.store.locked():
            unfinished = self.store.begin(key)
            (unfinished / "state").write_bytes(b"s" * size)
            snapshot = self.store.complete(key, self.image(image), KHZ)
        os.utime(snapshot.directory, (time.time() - age,) * 2)
        return snapshot

    def keys(self):
        """Keys of all snapshots in the store."""
        return {path.name.removeprefix("snapshot-") for path in self.directory.glob("snapshot-*")}


class Finding(StoreTest):
    """A snapshot is used only by a guest that matches its key."""

    def test_complete_snapshot_found(self):
        made = self.make("a")
        found = self.store.find("a", KHZ)
        self.assertEqual((found.state, found.image), (made.state, self.directory / "tree-a.ext4"))
        self.assertEqual(found.counter_khz, KHZ)

    def test_other_key_not_found(self):
        self.make("a")
        self.assertIsNone(self.store.find("b", KHZ))

    def test_incomplete_snapshot_not_found(self):
        (self.store.begin("a") / "state").touch()
        self.assertIsNone(self.store.find("a", KHZ))

    def test_snapshot_without_image_not_found(self):
        self.make("a").image.unlink()
        self.assertIsNone(self.store.find("a", KHZ))

    def test_snapshot_with_invalid_description_not_found(self):
        (self.make("a").directory / "about.json").write_text("{")
        self.assertIsNone(self.store.find("a", KHZ))

    def test_nearly_equal_clock_found(self):
        self.make("a")
        self.assertIsNotNone(self.store.find("a", KHZ + KHZ // 2000))

    def test_different_clock_not_found(self):
        self.make("a")
        self.assertIsNone(self.store.find("a", KHZ + KHZ // 500))


class Locking(StoreTest):
    """One run makes a snapshot at a time; other runs do not wait for it."""

    def test_second_lock_fails(self):
        with self.store.locked() as first, self.store.locked() as second:
            self.assertEqual((first, second), (True, False))

    def test_exception_releases_lock(self):
        with self.assertRaises(OSError), self.store.locked():
            raise OSError
        with self.store.locked() as mine:
            self.assertTrue(mine)


class Asking(StoreTest):
    """A snapshot is made when its configuration is wanted for the second time."""

    def test_first_request_not_asked_before(self):
        self.assertFalse(self.store.asked_before("a"))
        self.assertFalse(self.store.asked_before("b"))
        self.assertTrue(self.store.asked_before("a"))

    def test_failure_not_retried_at_once(self):
        self.store.note_failure("a")
        self.assertFalse(self.store.asked_before("a"))
        self.assertFalse(self.store.asked_before("a"))

    def test_failure_removes_incomplete_snapshot(self):
        self.make("a")
        self.store.note_failure("a")
        self.assertEqual(self.keys(), set())

    def test_old_failure_retried(self):
        self.store.note_failure("a")
        mark = self.directory / "asked/a"
        os.utime(mark, (time.time() - 2 * DAY,) * 2)
        self.store.asked_before("a")
        self.store.asked_before("a")
        self.assertTrue(self.store.asked_before("a"))


class Bounds(StoreTest):
    """The snapshots with the oldest use are removed first."""

    def test_snapshots_beyond_count_removed_oldest_first(self):
        for number in range(store.SNAPSHOTS_KEPT + 2):
            self.make(f"old{number}", age=1000 - number)
        self.assertEqual(len(self.keys()), store.SNAPSHOTS_KEPT)
        self.assertNotIn("old0", self.keys())
        self.assertIn(f"old{store.SNAPSHOTS_KEPT + 1}", self.keys())

    def test_used_snapshot_kept(self):
        for number in range(store.SNAPSHOTS_KEPT):
            self.make(f"old{number}", age=1000 - number)
        self.store.find("old0", KHZ)
        self.make("new")
        self.assertIn("old0", self.keys())
        self.assertNotIn("old1", self.keys())

    def test_snapshots_beyond_size_removed_oldest_first(self):
        with mock.patch.object(store, "BYTES_KEPT", 1 << 20):
            self.make("old", size=700_000, age=100)
            self.make("new", size=700_000)
        self.assertEqual(self.keys(), {"new"})

    def test_newest_kept_at_any_size(self):
        with mock.patch.object(store, "BYTES_KEPT", 1):
            self.make("new", size=5000)
        self.assertEqual(self.keys(), {"new"})

    def test_image_removed_with_last_snapshot(self):
        self.make("old", image="tree-old.ext4", age=100)
        with mock.patch.object(store, "SNAPSHOTS_KEPT", 1):
            self.make("new", image="tree-new.ext4")
        self.assertEqual([path.name for path in self.directory.glob("tree-*")], ["tree-new.ext4"])

    def test_incomplete_snapshot_removed(self):
        (self.store.begin("a") / "state").touch()
        (self.directory / "tree-b.new").touch()
        self.store.begin("c")
        self.assertEqual([path.name for path in self.directory.glob("*.new")], ["snapshot-c.new"])


if __name__ == "__main__":
    unittest.main()
