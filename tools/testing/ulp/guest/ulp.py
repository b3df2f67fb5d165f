# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of all protocols share."""

import contextlib
import importlib
import os
import unittest
from collections.abc import Iterator

import peer
import polling
import wire

WHOLE = bool(os.environ.get("ULP_WHOLE"))  # also long tests
LOSS = wire.LOSS
IB_ONLY = unittest.skipIf(wire.RXE, "rdma_rxe has no InfiniBand management")


@contextlib.contextmanager
def packets_lost() -> Iterator[None]:
    """Fails if packets should be lost inside the context but none are: such a run would prove nothing."""
    before = wire.lost() if LOSS else 0
    yield
    if LOSS and wire.lost() == before:
        raise AssertionError("no packet has been lost")


class Protocol(unittest.TestCase):
    """Base of a client's tests, with a server in this guest or in the other one.

    The module of a subclass has serve(), a context manager that exports what the tests need, and unload(), which
    unloads the protocol's modules and fails if one is in use.
    """

    @classmethod
    def setUpClass(cls) -> None:
        cls.enterClassContext(polling.Polling())
        module = importlib.import_module(cls.__module__)
        wire.ends()
        # In one guest this is the second call, which finds no module.
        cls.addClassCleanup(peer.call, module.unload)
        cls.addClassCleanup(module.unload)
        cls.enterClassContext(peer.holding(module.serve))
        if wire.ALONE:
            # Asserts that both devices have sent packets when the last test has ended.
            cls.enterClassContext(wire.used())
            cls.enterClassContext(packets_lost())
