#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds functions of the driver whose names do not follow the layers.

cxib_cmd_x() is the firmware command x. It is defined in hw/, and no function outside hw/ executes other commands.
cxib_x() is the operation x of ib_device_ops; x_user and x_kernel are its halves. A static operation, or one that adapts
to a kernel's prototype, is x(). With --list it prints the operations and their functions.
"""

import re
import sys
from typing import Iterator, NamedTuple

from files import REPO

DRIVER = REPO / "drivers/cxib"
TABLE = re.compile(r"^(?:static )?(?:const )?struct ib_device_ops \w+ = \{\n(.*?)^\};", re.MULTILINE | re.DOTALL)
OPERATION = re.compile(r"^\t\.(\w+) = (\w+),$", re.MULTILINE)
FUNCTION = re.compile(r"^[a-z][\w \t*]*?\b(\w+)\([^;{]*\)\n\{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
EXECUTION = re.compile(r"\bcxib_cmd_exec\w*\(")

# Members of ib_device_ops that are not functions.
VALUES = ("owner", "driver_id", "uverbs_abi_ver")
# Operations that share the function of another one.
SHARED = {"create_user_ah": "create_ah"}
# Functions outside hw/ that execute commands which other code has composed.
EXECUTES = {"cxib_devx_exec": "commands of user space", "orphan_execute": "destroy commands of orphans"}


class Operation(NamedTuple):
    name: str
    function: str


def operations(text: str) -> Iterator[Operation]:
    for table in TABLE.finditer(text):
        for name, function in OPERATION.findall(table[1]):
            if name not in VALUES:
                yield Operation(name, function)


def operation_complaints(text: str) -> Iterator[str]:
    for name, function in operations(text):
        name = SHARED.get(name, name)
        # Some kernels have a separate user operation, named <verb>_user_<object>.
        half = name.replace("_user_", "_") + "_user"
        if function not in (name, f"cxib_{name}", f"cxib_{half}"):
            yield f"{function}() is the operation {name}: cxib_{name}() or {name}()"


def command_complaints(directory: str, text: str) -> Iterator[str]:
    if directory == "hw":
        return
    for function, body in FUNCTION.findall(text):
        if function.startswith("cxib_cmd_"):
            yield f"{function}() is not in hw/"
        elif EXECUTION.search(body) and function not in EXECUTES:
            yield f"{function}() executes a command beyond hw/"


def complaints(name: str, text: str) -> list[str]:
    found = [*operation_complaints(text), *command_complaints(name.split("/")[0], text)]
    return [f"drivers/cxib/{name}: {line}" for line in found]


def main() -> int:
    sources = {str(path.relative_to(DRIVER)): path.read_text(encoding="utf-8") for path in sorted(DRIVER.rglob("*.c"))}
    found = [line for name, text in sources.items() for line in complaints(name, text)]
    listed = [operation for text in sources.values() for operation in operations(text)]
    if sys.argv[1:] == ["--list"]:
        print("\n".join(f"{name} {function}" for name, function in sorted(listed)))
        return 0
    print("\n".join(found + [f"{len(sources)} files, {len(listed)} operations, {len(found)} complaints"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
