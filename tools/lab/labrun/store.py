# SPDX-License-Identifier: GPL-2.0-or-later
"""The cache of snapshots: guests that were stopped on their way to a run, and the images of the tree that they have
as their root. Whatever is missing or does not fit is made again; nothing depends on it.

  lock             held by whoever changes something
  asked/KEY        a guest of this kind was wanted before; "failed" when it could not be made or resumed
  tree-KEY.ext4    an image of the lab tree
  snapshot-KEY/    state, initramfs, about.json
"""

import contextlib
import fcntl
import json
import os
import shutil
import time
from pathlib import Path

# More kinds than a check has: with fewer places each would be made, used once, and gone before the next check.
SNAPSHOTS_KEPT = 20
BYTES_KEPT = 4 << 30
_MARKS_KEPT = 200
# A failure may have been one of the moment: a full disk.
_FAILURE_SECONDS = 24 * 3600
# How far the clocks of a resumed guest may be from the truth.
_RATE_TOLERANCE = 0.001

_ABOUT = "about.json"


class Snapshot:
    """A guest that can be resumed; its files are complete."""

    def __init__(self, directory):
        self.directory = directory
        self.state = directory / "state"
        self.initramfs = directory / "initramfs"
        about = json.loads((directory / _ABOUT).read_text())
        self.counter_khz = about["counter_khz"]
        self.image = directory.parent / about["image"]

    def fits(self, counter_khz):
        """Whether time passes here as it did where the snapshot was made."""
        return self.image.exists() and abs(self.counter_khz - counter_khz) <= counter_khz * _RATE_TOLERANCE


def bytes_on_disk(path):
    """What a file takes; holes do not count."""
    return path.stat().st_blocks * 512


class Store:
    """The directory of all that."""

    def __init__(self, directory):
        self.directory = Path(directory)
        self._marks = self.directory / "asked"

    @contextlib.contextmanager
    def locked(self):
        """Locks the store against changes by other processes; yields whether it got the lock.

        It does not wait for the lock, since booting a guest is faster. The kernel releases the lock of a process that dies.
        """
        with open(self.directory / "lock", "w", encoding="ascii") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
            else:
                yield True

    # ---- what was asked for ----

    def asked_before(self, key):
        """Whether such a guest was wanted before and did not fail lately; records that it is wanted."""
        mark = self._marks / key
        self._marks.mkdir(parents=True, exist_ok=True)
        if not mark.exists():
            mark.touch()
            return False
        if mark.read_text() != "failed":
            os.utime(mark)
            return True
        if time.time() - mark.stat().st_mtime > _FAILURE_SECONDS:
            mark.unlink(missing_ok=True)
        return False

    def note_failure(self, key):
        """Such a guest cannot be made or resumed: it is not tried again for a day, and what there is goes."""
        self._marks.mkdir(parents=True, exist_ok=True)
        (self._marks / key).write_text("failed")
        shutil.rmtree(self._place(key), ignore_errors=True)

    # ---- snapshots ----

    def _place(self, key):
        return self.directory / f"snapshot-{key}"

    def find(self, key, counter_khz):
        """The snapshot, marked as used; None where there is none that fits."""
        try:
            snapshot = Snapshot(self._place(key))
            if not snapshot.fits(counter_khz):
                return None
            os.utime(snapshot.directory)
            os.utime(snapshot.image)
            return snapshot
        except (OSError, ValueError, KeyError):
            return None

    def begin(self, key):
        """An empty directory for a snapshot that is being made; complete() makes it one. The lock is held."""
        for unfinished in self.directory.glob("*.new"):
            shutil.rmtree(unfinished) if unfinished.is_dir() else unfinished.unlink()
        directory = self.directory / f"snapshot-{key}.new"
        directory.mkdir(parents=True)
        return directory

    def complete(self, key, image, counter_khz):
        """Makes what was begun a snapshot; the lock is held."""
        unfinished = self.directory / f"snapshot-{key}.new"
        about = {"image": image.name, "counter_khz": counter_khz}
        (unfinished / _ABOUT).write_text(json.dumps(about) + "\n")
        shutil.rmtree(self._place(key), ignore_errors=True)
        unfinished.rename(self._place(key))
        self.prune()
        return Snapshot(self._place(key))

    # ---- bounds ----

    def prune(self):
        """Removes what has not been used for longest beyond the bounds, and images that nothing needs; the lock is held.

        A guest that runs has its files open and keeps them.
        """
        kept, room = set(), BYTES_KEPT
        for number, directory in enumerate(self._newest_first("snapshot-*")):
            size = sum(bytes_on_disk(each) for each in directory.iterdir())
            # The newest one stays: it was just made, at any size.
            if number and (number >= SNAPSHOTS_KEPT or size > room):
                shutil.rmtree(directory, ignore_errors=True)
                continue
            room -= size
            with contextlib.suppress(OSError, ValueError, KeyError):
                kept.add(Snapshot(directory).image)
        for image in self.directory.glob("tree-*.ext4"):
            if image not in kept:
                image.unlink(missing_ok=True)
        for mark in self._newest_first("asked/*")[_MARKS_KEPT:]:
            mark.unlink(missing_ok=True)

    def _newest_first(self, pattern):
        return sorted(self.directory.glob(pattern), key=lambda path: path.stat().st_mtime, reverse=True)
