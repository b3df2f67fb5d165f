#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs in a guest: the tests of the subjects that are named, or, in the first of two guests, what they need."""

import sys
import unittest

import results
import ulp
import wire


def main() -> None:
    subjects = sys.argv[1:]
    if not wire.CALLS:
        ulp.serve(subjects)
        return
    names = [f"test_{subject}" for subject in subjects]
    unittest.main(module=None, argv=[sys.argv[0], "--verbose", "--durations", "5", *names], testRunner=results.Runner)


if __name__ == "__main__":
    main()
