# SPDX-License-Identifier: GPL-2.0-or-later
"""Compiles the kernel's interface headers and reads their types and constants."""

from __future__ import annotations

import pathlib
import shutil
import subprocess

from dwarf import Types

HERE = pathlib.Path(__file__).resolve().parent
MACRO = "MACRO_"


class Headers:
    """The types and constants that the headers of one kernel build directory declare."""

    def __init__(self, types: Types):
        self.records = types.records
        self._constants = types.constants

    def constant(self, name: str) -> int | None:
        """Value of an enumerator or of a requested macro."""
        return self._constants.get(name, self._constants.get(MACRO + name))

    def constants_with(self, prefix: str) -> list[str]:
        return [name for name in self._constants if name.startswith(prefix)]


def _constants_header(macros: list[str]) -> str:
    """C source that defines an enumerator for each of the `macros` that exists."""
    blocks = [f"#ifdef {name}\nenum {{ {MACRO}{name} = ({name}) }};\n#endif\n" for name in sorted(set(macros))]
    return "/* SPDX-License-Identifier: GPL-2.0-or-later */\n" + "".join(blocks)


def read_headers(kdir: str, work: pathlib.Path, macros: list[str]) -> Headers:
    """Compiles with the kernel's build system in the directory `work`.

    Raises SystemExit with the compiler's output on failure.
    """
    work.mkdir(parents=True, exist_ok=True)
    for file in (HERE / "linux_headers").iterdir():
        shutil.copy(file, work)
    (work / "constants.h").write_text(_constants_header(macros))
    command = ["make", "-s", "-C", kdir, f"M={work}", "interface.o"]
    build = subprocess.run(command, capture_output=True, text=True, check=False)
    if build.returncode != 0:
        raise SystemExit(f"the interface headers of {kdir} do not compile:\n{build.stdout}{build.stderr}")
    return Headers(Types(work / "interface.o"))
