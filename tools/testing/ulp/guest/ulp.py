# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of all protocols have in common: who serves, who calls."""

import contextlib
import importlib
import os
import unittest
from collections.abc import Iterator

import wire

SUBJECTS = ("ipoib", "nvme", "iser", "srp", "nfs", "rds")
WHOLE = bool(os.environ.get("ULP_WHOLE"))  # everything that takes long, too
LOSS = wire.LOSS
IB_ONLY = unittest.skipIf(wire.RXE, "rdma_rxe has no InfiniBand management")
ALONE_ONLY = unittest.skipUnless(wire.ALONE, "both ends have to be in one guest")


@contextlib.contextmanager
def packets_lost() -> Iterator[None]:
    """Fails unless some are, if some should be: what has lost none proves nothing."""
    before = wire.lost() if LOSS else 0
    yield
    if LOSS and wire.lost() == before:
        raise AssertionError("no packet has been lost")


class Protocol(unittest.TestCase):
    """Tests of a client, with a server that is in this guest or waits in the other one.

    The module of a subclass has serve(), a context manager that offers what the tests need, and unload(), which
    unloads the protocol's modules and so fails when something still uses them.
    """

    @classmethod
    def setUpClass(cls) -> None:
        module = importlib.import_module(cls.__module__)
        wire.ends()
        cls.addClassCleanup(module.unload)
        if wire.ALONE:
            cls.enterClassContext(module.serve())
            # Both devices have sent something when the last test has ended.
            cls.enterClassContext(wire.used())
            cls.enterClassContext(packets_lost())
        else:
            wire.await_server()


def serve(subjects: list[str]) -> None:
    """Serves until the other guest has ended its tests."""
    wire.ends()
    modules = [importlib.import_module(f"test_{subject}") for subject in subjects]
    with contextlib.ExitStack() as stack:
        for module in modules:
            stack.enter_context(module.serve())
        wire.serve_until_left()
    for module in modules:
        module.unload()
