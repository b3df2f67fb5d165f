#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Turns the commands that `make -n` prints on standard input into a compile_commands.json."""

import json
import os
import shlex
import sys
from typing import Iterable


def entries(lines: Iterable[str], directory: str) -> list[dict[str, object]]:
    """One entry for each command that compiles a C++ file."""
    found = []
    for line in lines:
        try:
            words = shlex.split(line)
        except ValueError:
            continue  # a line of shell that is no single command
        sources = [word for word in words if word.endswith(".cpp")]
        if "-c" in words and len(sources) == 1:
            found.append({"directory": directory, "file": sources[0], "arguments": words})
    return found


def main() -> int:
    json.dump(entries(sys.stdin, os.getcwd()), sys.stdout, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
