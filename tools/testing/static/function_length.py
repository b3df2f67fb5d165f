#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Lists long functions and refuses very long ones.

universal-ctags reads C and C++, Python's parser reads Python. A shell function begins with "name() {" and ends with
"}", both in the first column.
"""

import ast
import dataclasses
import json
import re
import statistics
import subprocess
import sys
from typing import Iterator

from files import REPO, is_python, is_shell, project_files

LONG = 60
LIMIT = 120
GENERATED = ("include/hw/",)
C_SUFFIXES = (".c", ".h", ".cpp", ".hpp")
SHELL_FUNCTION = re.compile(r"^(\w+)\(\) \{")


@dataclasses.dataclass(frozen=True)
class Function:
    file: str
    name: str
    line: int
    length: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.name} has {self.length} lines"


def c_functions(names: list[str]) -> Iterator[Function]:
    """The functions defined in C and C++ files."""
    if not names:
        return
    command = ["ctags", "--output-format=json", "--fields=+ne", "--kinds-C=f", "--kinds-C++=f", "-L", "-", "-f", "-"]
    command.insert(1, "--langmap=C++:+.hpp")
    output = subprocess.run(
        command, cwd=REPO, input="\n".join(names), check=True, capture_output=True, text=True
    ).stdout
    for line in output.splitlines():
        tag = json.loads(line)
        if "end" in tag:
            yield Function(tag["path"], tag["name"], tag["line"], tag["end"] - tag["line"] + 1)


def python_functions(name: str, text: str) -> Iterator[Function]:
    for node in ast.walk(ast.parse(text, name)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.end_lineno:
            yield Function(name, node.name, node.lineno, node.end_lineno - node.lineno + 1)


def shell_functions(name: str, text: str) -> Iterator[Function]:
    begin, title = 0, ""
    for number, line in enumerate(text.splitlines(), 1):
        match = SHELL_FUNCTION.match(line)
        if match:
            begin, title = number, match.group(1)
        elif line.startswith("}") and title:
            yield Function(name, title, begin, number - begin + 1)
            title = ""


def all_functions() -> Iterator[Function]:
    names = [name for name in project_files() if not name.startswith(GENERATED)]
    yield from c_functions([name for name in names if name.endswith(C_SUFFIXES)])
    for name in names:
        if is_python(name):
            yield from python_functions(name, (REPO / name).read_text(encoding="utf-8"))
        elif is_shell(name):
            yield from shell_functions(name, (REPO / name).read_text(encoding="utf-8"))


def main() -> int:
    functions = sorted(all_functions(), key=lambda function: -function.length)
    if not functions:
        print("no function found: is universal-ctags installed?")
        return 1
    for function in functions:
        if function.length > LONG:
            print(function, "(too long)" if function.length > LIMIT else "")
    lengths = [function.length for function in functions]
    print(
        f"{len(lengths)} functions: median {statistics.median(lengths):.0f} lines, longest {lengths[0]}, "
        f"limit {LIMIT}; {sum(length > LONG for length in lengths)} of them over {LONG}"
    )
    return 1 if lengths[0] > LIMIT else 0


if __name__ == "__main__":
    sys.exit(main())
