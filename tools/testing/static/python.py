#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compiles every Python file, and runs pyflakes, if it is installed, to find unused and undefined names."""

import importlib.util
import subprocess
import sys

from files import REPO, is_python, project_files


def compile_error(name: str) -> str:
    """The compile error of a file; empty if there is none. Writes no bytecode."""
    try:
        compile((REPO / name).read_bytes(), name, "exec")
    except (SyntaxError, ValueError) as error:
        return f"{name}: {error}"
    return ""


def main() -> int:
    names = [name for name in project_files() if is_python(name)]
    errors = [error for name in names if (error := compile_error(name))]
    print("\n".join(errors + [f"{len(names)} files compiled, {len(errors)} errors"]))
    if errors:
        return 1
    if importlib.util.find_spec("pyflakes") is None:
        print("pyflakes is not installed, so unused and unknown names were not looked for")
        return 0
    return subprocess.run([sys.executable, "-m", "pyflakes", *names], cwd=REPO, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
