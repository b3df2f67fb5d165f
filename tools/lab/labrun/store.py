# SPDX-License-Identifier: GPL-2.0-or-later
"""The cache of snapshots, and of the tree images that are the root of resumed guests.

Missing or unsuitable entries are made again; no test depends on the cache.

  lock             held by a process that changes the store
  asked/KEY        a guest of this kind was wanted before; "failed" if it could not be made or resumed
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

# More than the kinds of guests in a check: otherwise each snapshot would be removed before the next check uses it.
SNAPSHOTS_KEPT = 20
BYTES_KEPT = 4 << 30
_MARKS_KEPT = 200
# A failure may have had a temporary cause, such as a full disk.
_FAILURE_SECONDS = 24 * 3600
# Maximum relative error of a resumed guest's clocks.
_RATE_TOLERANCE = 0.001

_ABOUT = "about.json"


class Snapshot:
    """A complete snapshot of a guest."""

    def __init__(self, directory):
        self.directory = directory
        self.state = directory / "state"
        self.initramfs = directory / "initramfs"
        about = json.loads((directory / _ABOUT).read_text())
        self.counter_khz = about["counter_khz"]
        self.image = directory.parent / about["image"]

    def fits(self, counter_khz):
        """Whether the host's counter has the same rate as when the snapshot was made."""
        return self.image.exists() and abs(self.counter_khz - counter_khz) <= counter_khz * _RATE_TOLERANCE


def bytes_on_disk(path):
    """Disk space of a file, without holes."""
    return path.stat().st_blocks * 512


class Store:
    """The directory of all snapshots and images."""

    def __init__(self, directory):
        self.directory = Path(directory)
        self._marks = self.directory / "asked"

    @contextlib.contextmanager
    def locked(self):
        """Locks the store against changes by other processes; yields whether it got the lock.

        It does not wait for the lock, because booting a guest is faster. The kernel releases the lock of a dead
        process.
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
        """Records that such a guest is wanted; returns whether it was wanted before and has not failed recently."""
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
        """Records that such a guest cannot be made or resumed: removes its snapshot, and prevents a new attempt for a
        day."""
        self._marks.mkdir(parents=True, exist_ok=True)
        (self._marks / key).write_text("failed")
        shutil.rmtree(self._place(key), ignore_errors=True)

    # ---- snapshots ----

    def _place(self, key):
        return self.directory / f"snapshot-{key}"

    def find(self, key, counter_khz):
        """Marks the snapshot as used and returns it; None if there is no suitable one."""
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
        """Creates an empty directory for a snapshot, which complete() finishes. The caller holds the lock."""
        for unfinished in self.directory.glob("*.new"):
            shutil.rmtree(unfinished) if unfinished.is_dir() else unfinished.unlink()
        directory = self.directory / f"snapshot-{key}.new"
        directory.mkdir(parents=True)
        return directory

    def complete(self, key, image, counter_khz):
        """Turns a directory of begin() into a snapshot. The caller holds the lock."""
        unfinished = self.directory / f"snapshot-{key}.new"
        about = {"image": image.name, "counter_khz": counter_khz}
        (unfinished / _ABOUT).write_text(json.dumps(about) + "\n")
        shutil.rmtree(self._place(key), ignore_errors=True)
        unfinished.rename(self._place(key))
        self.prune()
        return Snapshot(self._place(key))

    # ---- bounds ----

    def prune(self):
        """Removes the least recently used snapshots beyond the limits, and unused images. The caller holds the lock.

        A running guest keeps its files open.
        """
        kept, room = set(), BYTES_KEPT
        for number, directory in enumerate(self._newest_first("snapshot-*")):
            size = sum(bytes_on_disk(each) for each in directory.iterdir())
            # The newest snapshot stays at any size, as it was just made.
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
