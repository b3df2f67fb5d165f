# SPDX-License-Identifier: GPL-2.0-or-later
"""Manages the directories for the logs of runs, and keeps the newest."""

import fcntl
import os
import shutil
import time
from pathlib import Path

KEPT = 20


def create(parent):
    """Creates the directory of this run and locks it until this process ends.

    Its name sorts by time. Old directories are removed, except those of running runs.
    """
    parent.mkdir(parents=True, exist_ok=True)
    directory = parent / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
    directory.mkdir()
    if not _lock(directory):
        raise RuntimeError(f"{directory} is locked by another process")
    _prune(parent)
    return directory


def _lock(directory):
    # The open descriptor holds the lock until the process ends.
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return False
    return True


def _prune(parent):
    runs = sorted(entry for entry in parent.iterdir() if entry.is_dir() and _is_run(entry))
    for old in runs[:-KEPT]:
        if _unused(old):
            shutil.rmtree(old, ignore_errors=True)


def _is_run(directory):
    return directory.name[:8].isdigit()


def _unused(directory):
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)


def shown(path):
    """Path of a file in the checkout as the user sees it."""
    return str(Path(path).relative_to("/repo"))
