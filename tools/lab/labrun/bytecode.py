# SPDX-License-Identifier: GPL-2.0-or-later
"""Compiles the tests for their guests: an emulated processor takes seconds for what takes this one a moment."""

import compileall
from pathlib import Path

TESTS = Path("/repo/tools/testing")


def provide(directory=TESTS):
    """Puts bytecode beside the Python modules below a directory, where it is missing or older than they are.

    Several runs may do so at a time: each file is replaced as a whole. A module that cannot be compiled, or a checkout
    that cannot be written to, is nothing to be said here: the test says so in the guest.
    """
    compileall.compile_dir(directory, quiet=2, workers=1)
