# SPDX-License-Identifier: GPL-2.0-or-later
"""Entry: python3 -m labrun OPTIONS…, started by tools/lab/run inside the lab tree."""

import os
import sys

from . import options
from .session import Session


def _terminal_size():
    if not os.isatty(1):
        return ""
    size = os.get_terminal_size(1)
    return f"rows {size.lines} cols {size.columns}"


def main():
    """Runs what the command line says; returns the exit status."""
    chosen = options.parse(sys.argv[1:])
    # Inside the guest the checkout is where it is here.
    directory = os.getcwd()
    chosen.directory = directory if directory.startswith("/repo") else "/repo"
    chosen.terminal = _terminal_size()
    release = os.environ.get(f"LAB_RELEASE_{chosen.kernel.upper()}", "")
    if not release:
        print(f"lab: the {chosen.kernel} kernel is not there: run 'make lab' first", file=sys.stderr)
        return options.LAB_FAILED
    return Session(chosen, release).run()


if __name__ == "__main__":
    sys.exit(main())
