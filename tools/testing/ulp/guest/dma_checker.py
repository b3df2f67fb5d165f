# SPDX-License-Identifier: GPL-2.0-or-later
"""Limits the reports of the debug kernel's DMA checker for protocols that trigger it with every message.

Some protocols map memory in a way that the checker reports for each message (tools/lab/labrun/reports.py). A report has
60 lines, and a guest that prints them makes no progress. While the number of reports is limited, other findings of the
checker are lost as well.
"""

import contextlib
import pathlib
from collections.abc import Iterator

import disks

CHECKER = pathlib.Path("/sys/kernel/debug/dma-api")
REPORTS = 3


def limit() -> None:
    """Allows only a few more reports from now on."""
    if CHECKER.exists():
        disks.write(CHECKER / "all_errors", 0)
        disks.write(CHECKER / "num_errors", REPORTS)


_depth = 0


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """Allows only a few reports inside the context and all reports afterwards. Nested contexts end with the outermost
    one."""
    global _depth
    limit()
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1
        if not _depth and CHECKER.exists():
            disks.write(CHECKER / "all_errors", 1)
