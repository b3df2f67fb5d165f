#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks which symbols libxrcrcv and libxrc2008 export, and which libraries they need.

usage: test_symbols.py LIBXRCRCV LIBXRC2008
"""

import re
import subprocess
import sys
import unittest

XRCRCV, XRC2008 = sys.argv[1:3] if len(sys.argv) > 2 else ("", "")
del sys.argv[1:3]

CALLS = {f"xrcrcv_{name}@@XRCRCV_1.0" for name in ("create", "modify", "query", "register", "supported", "unregister")}
NAMES_OF_2008 = {
    f"ibv_{name}@@XRC2008_1.0"
    for name in (
        "open_xrc_domain",
        "close_xrc_domain",
        "create_xrc_srq",
        "create_xrc_rcv_qp",
        "modify_xrc_rcv_qp",
        "query_xrc_rcv_qp",
        "reg_xrc_rcv_qp",
        "unreg_xrc_rcv_qp",
    )
}


def exported(library: str) -> set[str]:
    output = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    return {line.split()[2] for line in output.splitlines() if line.split()[1] != "A"}


def dynamic_entries(library: str, tag: str) -> list[str]:
    output = subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True).stdout
    return re.findall(rf"\({tag}\).*\[(.*)\]", output)


def needed(library: str) -> set[str]:
    """The libraries that a library needs, without those of sanitizers."""
    return {name for name in dynamic_entries(library, "NEEDED") if not re.match("lib[a-z]*san", name)}


class Symbols(unittest.TestCase):
    """Tests what programs link with."""

    def test_libxrcrcv_exports_own_calls_only(self) -> None:
        # Open MPI takes a library with a name of 2008 as a sign that today's XRC does not work.
        self.assertEqual(exported(XRCRCV), CALLS)

    def test_libxrc2008_exports_2008_names(self) -> None:
        self.assertEqual(exported(XRC2008), NAMES_OF_2008)

    def test_sonames_have_interface_version(self) -> None:
        self.assertEqual(dynamic_entries(XRCRCV, "SONAME") + dynamic_entries(XRC2008, "SONAME"), ["libxrcrcv.so.1", "libxrc2008.so.1"])

    def test_programs_in_c_need_no_cpp_library(self) -> None:
        self.assertLessEqual(needed(XRCRCV), {"libibverbs.so.1", "libc.so.6"})
        self.assertEqual(needed(XRC2008), {"libxrcrcv.so.1", "libibverbs.so.1", "libc.so.6"})


if __name__ == "__main__":
    unittest.main()
