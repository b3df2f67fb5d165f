# SPDX-License-Identifier: GPL-2.0-or-later
"""Entry point of python3 -m labrun OPTIONS…, which tools/lab/run starts in the lab tree."""

import os
import sys

from . import bytecode, options
from .session import Session

_READER_GONE = 141


def _terminal_size():
    if not os.isatty(1):
        return ""
    size = os.get_terminal_size(1)
    return f"rows {size.lines} cols {size.columns}"


def main():
    """Runs the command line; returns the exit status."""
    chosen = options.parse(sys.argv[1:])
    # The checkout has the same path in the guest.
    directory = os.getcwd()
    chosen.directory = directory if directory.startswith("/repo") else "/repo"
    chosen.terminal = _terminal_size()
    chosen.terminal_type = os.environ.get("TERM", "linux")
    release = options.release(chosen.kernel)
    if not release:
        print(f"lab: the {chosen.kernel} kernel is not there: 'tools/lab/prepare --for {chosen.kernel}' prepares it", file=sys.stderr)
        return options.LAB_FAILED
    bytecode.provide()
    try:
        return Session(chosen, release).run()
    except BrokenPipeError:
        # The reader of the output has ended, and everything is cleaned up. Python must not flush the rest.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return _READER_GONE


if __name__ == "__main__":
    sys.exit(main())
