#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs clang-tidy in parallel over the sources of the given build directories, and records clean files.

A recorded file is not checked again while its compiler command, the settings, the version of clang-tidy, and the
contents of the file and of each project header that it includes stay the same.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import shlex
import subprocess
import sys
import time
from typing import Optional

from cache import cache_directory, digest
from files import REPO

SETTINGS = ".clang-tidy"

# Tests are not checked: they run under sanitizers, and clang-tidy takes very long for GoogleTest's macros.
TEST_DIRECTORIES = {"tests", "testing", "fuzz"}


@dataclasses.dataclass(frozen=True)
class Unit:
    """One entry of a compile_commands.json."""

    source: pathlib.Path
    directory: pathlib.Path
    arguments: tuple[str, ...]

    @property
    def name(self) -> str:
        return str(self.source.relative_to(REPO))


class Cache:
    """Records of clean units: one small file each, with the digests of all files that clang-tidy read."""

    def __init__(self, directory: pathlib.Path, version: str) -> None:
        self.directory = directory
        self.common = version + digest((REPO / SETTINGS).read_bytes())
        self.digests: dict[str, Optional[str]] = {}

    def file_digest(self, path: str) -> Optional[str]:
        if path not in self.digests:
            try:
                self.digests[path] = digest(pathlib.Path(path).read_bytes())
            except OSError:
                self.digests[path] = None
        return self.digests[path]

    def record(self, unit: Unit) -> pathlib.Path:
        return self.directory / digest("\0".join((self.common, unit.name, *unit.arguments)).encode())

    def is_clean(self, unit: Unit) -> bool:
        try:
            seen = json.loads(self.record(unit).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return False
        return all(self.file_digest(path) == known for path, known in seen.items())

    def remember(self, unit: Unit, files: list[str]) -> None:
        temporary = self.record(unit).with_suffix(f".{os.getpid()}")
        temporary.write_text(json.dumps({path: self.file_digest(path) for path in files}), encoding="utf-8")
        temporary.replace(self.record(unit))


def units_of(build: pathlib.Path) -> list[Unit]:
    """The project's sources that a build directory compiles."""
    units = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        directory = pathlib.Path(entry["directory"])
        source = (directory / entry["file"]).resolve()
        if not source.is_relative_to(REPO) or source.is_relative_to(REPO / "build"):
            continue
        if TEST_DIRECTORIES & set(source.relative_to(REPO).parts):
            continue
        arguments = entry.get("arguments") or shlex.split(entry["command"])
        units[source] = Unit(source, directory, tuple(arguments))
    return sorted(units.values(), key=lambda unit: unit.source)


def included_files(unit: Unit) -> list[str]:
    """The source and the project headers that it includes; empty if the compiler cannot list them."""
    arguments = [argument for argument in unit.arguments if argument not in ("-c", "-MD", "-MMD")]
    for option in ("-o", "-MF", "-MT", "-MQ"):
        while option in arguments:
            position = arguments.index(option)
            del arguments[position : position + 2]
    run = subprocess.run([*arguments, "-MM"], cwd=unit.directory, capture_output=True, text=True, check=False)
    if run.returncode:
        return []
    names = shlex.split(run.stdout.replace("\\\n", " "))[1:]
    return [str((unit.directory / name).resolve()) for name in names]


def tidy(unit: Unit, build: pathlib.Path) -> tuple[int, str]:
    """Runs clang-tidy over one unit; returns its status and output."""
    run = subprocess.run(
        ["clang-tidy", "--quiet", "-p", str(build), str(unit.source)],
        cwd=REPO,
        capture_output=True,
        text=True,
        check=False,
    )
    noise = ("warnings generated", "Suppressed ", "Use -header-filter", "warnings treated as errors")
    errors = [line for line in run.stderr.splitlines() if not any(text in line for text in noise)]
    return run.returncode, "\n".join([*run.stdout.splitlines(), *errors])


def check(units: list[tuple[Unit, pathlib.Path]], cache: Cache, jobs: int) -> int:
    """Checks all units that are not recorded as clean and prints their faults. Returns the number of units with
    faults."""
    todo = [(unit, build) for unit, build in units if not cache.is_clean(unit)]
    print(f"{len(units)} files, {len(todo)} of them to look at", flush=True)
    unclean = 0

    def work(unit: Unit, build: pathlib.Path) -> tuple[Unit, int, str, float]:
        began, files = time.monotonic(), included_files(unit)
        status, output = tidy(unit, build)
        if status == 0 and files:
            cache.remember(unit, files)
        return unit, status, output, time.monotonic() - began

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(work, unit, build) for unit, build in todo]
        for number, future in enumerate(concurrent.futures.as_completed(futures), 1):
            unit, status, output, seconds = future.result()
            print(f"[{number}/{len(todo)}] {unit.name} {'FAILED' if status else 'ok'}, {seconds:.0f} s", flush=True)
            if status:
                unclean += 1
                print(output, flush=True)
    return unclean


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", nargs="+", help="build directory with a compile_commands.json")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="number of parallel runs (default: one per processor)")
    arguments = parser.parse_args()

    version = subprocess.run(["clang-tidy", "--version"], check=True, capture_output=True, text=True).stdout
    units: list[tuple[Unit, pathlib.Path]] = []
    for name in arguments.build:
        build = REPO / name
        if not (build / "compile_commands.json").exists():
            print(f"{name} has no compile_commands.json: build there first, with CMAKE_EXPORT_COMPILE_COMMANDS")
            return 1
        units += [(unit, build) for unit in units_of(build)]
    unclean = check(units, Cache(cache_directory("clang-tidy"), version), max(1, arguments.jobs))
    print(f"{len(units)} files, {unclean} with findings")
    return 1 if unclean or not units else 0


if __name__ == "__main__":
    sys.exit(main())
