# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests as programs that are not root's."""

import contextlib
import os
from collections.abc import Iterator

import raw_verbs

UNPRIVILEGED_UID = 65534


@contextlib.contextmanager
def unprivileged(name: str) -> Iterator[None]:
    """Inside, the process has no capabilities, but may open an RDMA device. Write commands require the opener's credentials."""
    os.chmod(raw_verbs.uverbs_node(name), 0o666)
    os.seteuid(UNPRIVILEGED_UID)
    try:
        yield
    finally:
        os.seteuid(0)
