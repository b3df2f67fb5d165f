# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of all protocols have in common."""

import contextlib
import importlib
import os
import unittest
from collections.abc import Iterator

import peer
import wire

WHOLE = bool(os.environ.get("ULP_WHOLE"))  # everything that takes long, too
LOSS = wire.LOSS
IB_ONLY = unittest.skipIf(wire.RXE, "rdma_rxe has no InfiniBand management")


@contextlib.contextmanager
def packets_lost() -> Iterator[None]:
    """Fails unless some are, if some should be: what has lost none proves nothing."""
    before = wire.lost() if LOSS else 0
    yield
    if LOSS and wire.lost() == before:
        raise AssertionError("no packet has been lost")


class Protocol(unittest.TestCase):
    """Tests of a client, with a server that is in this guest or in the other one.

    The module of a subclass has serve(), a context manager that offers what the tests need, and unload(), which
    unloads the protocol's modules and so fails when something still uses them.
    """

    @classmethod
    def setUpClass(cls) -> None:
        module = importlib.import_module(cls.__module__)
        wire.ends()
        # The second time in one guest, where it finds nothing.
        cls.addClassCleanup(peer.call, module.unload)
        cls.addClassCleanup(module.unload)
        cls.enterClassContext(peer.holding(module.serve))
        if wire.ALONE:
            # Both devices have sent something when the last test has ended.
            cls.enterClassContext(wire.used())
            cls.enterClassContext(packets_lost())
