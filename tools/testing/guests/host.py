# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests that run on the host: in the lab tree, without a guest of their own.

A test, or its whole file, names its run: pytestmark = pytest.mark.run("package-trixie", "long", needs=("debug",)). The
others are in the run AREA-host of the level fast.
"""

import dataclasses
import pathlib

import pytest

TESTING = pathlib.Path(__file__).resolve().parents[1]
LEVELS = ("fast", "check", "long")


@dataclasses.dataclass(frozen=True)
class HostRun:
    """Tests that CTest runs together.

    needs: names of what cxib_need() in CMakeLists.txt prepares
    """

    name: str
    level: str
    needs: tuple[str, ...]
    path: str


def path_of(item: pytest.Item) -> str:
    return str(item.path.relative_to(TESTING))


def host_run(item: pytest.Item) -> HostRun:
    """The run of a test, from its mark."""
    mark = item.get_closest_marker("run")
    if not mark:
        area = path_of(item).split("/", maxsplit=1)[0]
        needs = ("cxemu",) if area == "cxemu" else ()
        return HostRun(f"{area}-host", "fast", needs, area)
    name, level = mark.args
    if level not in LEVELS:
        raise pytest.UsageError(f"{item.nodeid}: the level is {level!r}, must be one of {', '.join(LEVELS)}")
    return HostRun(name, level, tuple(mark.kwargs.get("needs", ())), path_of(item))
