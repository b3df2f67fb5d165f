# SPDX-License-Identifier: GPL-2.0-or-later
"""Compiles the Python tests on the host, because an emulated processor takes seconds for it."""

import compileall
from pathlib import Path

TESTS = Path("/repo/tools/testing")


def provide(directory=TESTS):
    """Writes bytecode next to the Python modules in a directory if it is missing or out of date.

    Several runs may do so at the same time, so each file is replaced as a whole. A module with an error or a read-only
    checkout is ignored here: the test reports it in the guest.
    """
    compileall.compile_dir(directory, quiet=2, workers=1)
