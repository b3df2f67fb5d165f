# SPDX-License-Identifier: GPL-2.0-or-later
"""Where the slow static checks remember what was clean."""

import hashlib
import os
import pathlib

from files import REPO


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def cache_directory(name: str) -> pathlib.Path:
    """A directory beside the compiler cache of the lab, which outlives the checkout; else in the checkout."""
    above = pathlib.Path(os.environ.get("CCACHE_DIR") or REPO / "build/cache")
    (above / name).mkdir(parents=True, exist_ok=True)
    return above / name
