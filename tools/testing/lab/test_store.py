# SPDX-License-Identifier: GPL-2.0-or-later
"""The cache of snapshots: what is found, what is tried again, what goes."""

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
        """The image of a tree."""
        path = self.directory / name
        path.touch()
        return path

    def make(self, key, image="tree-a.ext4", size=0, age=0):
        """A complete snapshot, unused for some seconds."""
        with self.store.locked():
            unfinished = self.store.begin(key)
            (unfinished / "state").write_bytes(b"s" * size)
            snapshot = self.store.complete(key, self.image(image), KHZ)
        os.utime(snapshot.directory, (time.time() - age,) * 2)
        return snapshot

    def keys(self):
        """Of all snapshots that are there."""
        return {path.name.removeprefix("snapshot-") for path in self.directory.glob("snapshot-*")}


class Finding(StoreTest):
    """A snapshot is used only where it fits."""

    def test_made_snapshot_is_found(self):
        made = self.make("a")
        found = self.store.find("a", KHZ)
        self.assertEqual((found.state, found.image), (made.state, self.directory / "tree-a.ext4"))
        self.assertEqual(found.counter_khz, KHZ)

    def test_another_kind_is_not(self):
        self.make("a")
        self.assertIsNone(self.store.find("b", KHZ))

    def test_one_that_is_being_made_is_not(self):
        (self.store.begin("a") / "state").touch()
        self.assertIsNone(self.store.find("a", KHZ))

    def test_one_without_its_image_is_not(self):
        self.make("a").image.unlink()
        self.assertIsNone(self.store.find("a", KHZ))

    def test_one_whose_description_is_spoiled_is_not(self):
        (self.make("a").directory / "about.json").write_text("{")
        self.assertIsNone(self.store.find("a", KHZ))

    def test_clock_that_counts_nearly_as_fast_is_good_enough(self):
        self.make("a")
        self.assertIsNotNone(self.store.find("a", KHZ + KHZ // 2000))

    def test_one_from_a_machine_with_another_clock_is_not_found(self):
        self.make("a")
        self.assertIsNone(self.store.find("a", KHZ + KHZ // 500))


class Locking(StoreTest):
    """One makes something at a time; the others do not wait."""

    def test_first_has_it(self):
        with self.store.locked() as first, self.store.locked() as second:
            self.assertEqual((first, second), (True, False))

    def test_free_again_afterwards_in_any_case(self):
        with self.assertRaises(OSError), self.store.locked():
            raise OSError
        with self.store.locked() as mine:
            self.assertTrue(mine)


class Asking(StoreTest):
    """A snapshot is made when a guest of its kind is wanted for the second time."""

    def test_first_time_is_too_early(self):
        self.assertFalse(self.store.asked_before("a"))
        self.assertFalse(self.store.asked_before("b"))
        self.assertTrue(self.store.asked_before("a"))

    def test_failure_is_not_retried_at_once(self):
        self.store.note_failure("a")
        self.assertFalse(self.store.asked_before("a"))
        self.assertFalse(self.store.asked_before("a"))

    def test_failure_is_removed(self):
        self.make("a")
        self.store.note_failure("a")
        self.assertEqual(self.keys(), set())

    def test_old_failure_is_retried(self):
        self.store.note_failure("a")
        mark = self.directory / "asked/a"
        os.utime(mark, (time.time() - 2 * DAY,) * 2)
        self.store.asked_before("a")
        self.store.asked_before("a")
        self.assertTrue(self.store.asked_before("a"))


class Bounds(StoreTest):
    """What was not used for longest goes."""

    def test_oldest_beyond_the_number_go(self):
        for number in range(store.SNAPSHOTS_KEPT + 2):
            self.make(f"old{number}", age=1000 - number)
        self.assertEqual(len(self.keys()), store.SNAPSHOTS_KEPT)
        self.assertNotIn("old0", self.keys())
        self.assertIn(f"old{store.SNAPSHOTS_KEPT + 1}", self.keys())

    def test_use_keeps(self):
        for number in range(store.SNAPSHOTS_KEPT):
            self.make(f"old{number}", age=1000 - number)
        self.store.find("old0", KHZ)
        self.make("new")
        self.assertIn("old0", self.keys())
        self.assertNotIn("old1", self.keys())

    def test_oldest_beyond_the_size_go(self):
        with mock.patch.object(store, "BYTES_KEPT", 1 << 20):
            self.make("old", size=700_000, age=100)
            self.make("new", size=700_000)
        self.assertEqual(self.keys(), {"new"})

    def test_newest_stays_at_any_size(self):
        with mock.patch.object(store, "BYTES_KEPT", 1):
            self.make("new", size=5000)
        self.assertEqual(self.keys(), {"new"})

    def test_image_goes_with_its_last_snapshot(self):
        self.make("old", image="tree-old.ext4", age=100)
        with mock.patch.object(store, "SNAPSHOTS_KEPT", 1):
            self.make("new", image="tree-new.ext4")
        self.assertEqual([path.name for path in self.directory.glob("tree-*")], ["tree-new.ext4"])

    def test_incomplete_one_is_removed(self):
        (self.store.begin("a") / "state").touch()
        (self.directory / "tree-b.new").touch()
        self.store.begin("c")
        self.assertEqual([path.name for path in self.directory.glob("*.new")], ["snapshot-c.new"])


if __name__ == "__main__":
    unittest.main()
