# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs tests as an unprivileged process."""

import contextlib
import os
from collections.abc import Iterator

import raw_verbs

UNPRIVILEGED_UID = 65534


@contextlib.contextmanager
def unprivileged(name: str) -> Iterator[None]:
    """Removes all capabilities inside the context, but permits opening an RDMA device. Write commands require the
    credentials of the opener."""
    os.chmod(raw_verbs.uverbs_node(name), 0o666)
    os.seteuid(UNPRIVILEGED_UID)
    try:
        yield
    finally:
        os.seteuid(0)
