# SPDX-License-Identifier: GPL-2.0-or-later
"""The directory in which slow static checks record clean files."""

import hashlib
import os
import pathlib

from files import REPO


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def cache_directory(name: str) -> pathlib.Path:
    """A directory next to the lab's compiler cache, which outlives the checkout; without that cache, a directory in the
    checkout."""
    above = pathlib.Path(os.environ.get("CCACHE_DIR") or REPO / "build/cache")
    (above / name).mkdir(parents=True, exist_ok=True)
    return above / name
