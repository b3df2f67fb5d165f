#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs in a guest: runs the tests of the named subjects; in the first of two guests, serves the tests of the second."""

import sys
import unittest

import peer
import polling
import results
import wire


def main() -> None:
    if not wire.CALLS:
        peer.serve()
        return
    names = [f"test_{subject}" for subject in sys.argv[1:]]
    argv = [sys.argv[0], "--verbose", "--durations", "5", *names]
    with polling.Polling():
        run = unittest.main(module=None, argv=argv, testRunner=results.Runner, exit=False)
    sys.exit(not run.result.wasSuccessful())


if __name__ == "__main__":
    main()
