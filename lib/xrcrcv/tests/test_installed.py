#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Installs the build and compiles programs that use only the installed files.

usage: test_installed.py CMAKE BUILD_DIRECTORY C_COMPILER
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
CMAKE, BUILD, COMPILER = sys.argv[1:4] if len(sys.argv) > 3 else ("cmake", ".", "cc")
del sys.argv[1:4]


def run(*command: str | pathlib.Path) -> str:
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.stdout}")
    return done.stdout


class Installed(unittest.TestCase):
    """One installation for all tests."""

    @classmethod
    def setUpClass(cls) -> None:
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.prefix = pathlib.Path(directory.name)
        run(CMAKE, "--install", BUILD, "--prefix", cls.prefix)
        cls.libraries = next(cls.prefix.glob("lib/**/libxrcrcv.so")).parent

    def flags(self, package: str) -> list[str]:
        return run("pkgconf", f"--with-path={self.libraries}/pkgconfig", "--define-prefix", "--cflags", "--libs", package).split()

    def needed_libraries(self, package: str, source: str) -> str:
        """The libraries that a program needs when it is compiled with the pkg-config flags of a package."""
        output = self.prefix / f"{source}.so"
        run(COMPILER, "-std=gnu99", "-Wall", "-Werror", "-shared", "-fPIC", HERE / source, "-o", output, *self.flags(package),
            "-Wl,--no-undefined", f"-Wl,-rpath-link,{self.libraries}")
        return run("readelf", "-d", output)

    def test_current_program_compiles_with_pkg_config_flags(self) -> None:
        needed = self.needed_libraries("xrcrcv", "header_of_today.c")
        self.assertIn("[libxrcrcv.so.1]", needed)
        self.assertNotIn("libxrc2008", needed)

    def test_2008_program_compiles_with_pkg_config_flags(self) -> None:
        self.assertIn("[libxrc2008.so.1]", self.needed_libraries("xrc2008", "header_of_2008.c"))

    def test_example_compiles_as_its_comment_says(self) -> None:
        example = HERE.parent / "example/shared_receive.c"
        command = "cc shared_receive.c $(pkg-config --cflags --libs xrcrcv) -o shared_receive"
        self.assertIn(command, example.read_text(encoding="utf-8"))
        run(COMPILER, example, *self.flags("xrcrcv"), f"-Wl,-rpath-link,{self.libraries}", "-o", self.prefix / "shared_receive")

    def test_each_call_has_manual_page(self) -> None:
        pages = {page.name.removesuffix(".3") for page in self.prefix.glob("share/man/man3/*.3")}
        calls = {
            line.split()[2].split("@")[0]
            for library in ("libxrcrcv.so", "libxrc2008.so")
            for line in run("nm", "-D", "--defined-only", self.libraries / library).splitlines()
            if line.split()[1] == "T"
        }
        self.assertEqual(pages, calls | {"xrcrcv_event"})  # xrcrcv_event is inline


if __name__ == "__main__":
    unittest.main()
