#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints the project's files of one kind, one per line: shell, c++ or kernel (C of the module and its suites)."""

import argparse
import sys

from files import is_shell, project_files

KERNEL_ROOMS = ("drivers/", "include/", "kunit/")


def is_cpp(name: str) -> bool:
    return name.endswith((".cpp", ".hpp"))


def is_kernel(name: str) -> bool:
    return name.startswith(KERNEL_ROOMS) and name.endswith((".c", ".h"))


KINDS = {"shell": is_shell, "c++": is_cpp, "kernel": is_kernel}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=KINDS)
    wanted = KINDS[parser.parse_args().kind]
    print("\n".join(name for name in project_files() if wanted(name)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
