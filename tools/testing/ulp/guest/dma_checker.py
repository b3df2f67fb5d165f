# SPDX-License-Identifier: GPL-2.0-or-later
"""The debug kernel's checker of DMA mappings, where a protocol of the kernel makes it write all the time.

A report has 60 lines, and some protocols cause one for each message by how they map memory
(tools/lab/labrun/reports.py). A guest that writes them does nothing else. So there are few of them then; what else the
checker finds remains unsaid, too.
"""

import contextlib
import pathlib
from collections.abc import Iterator

import disks

CHECKER = pathlib.Path("/sys/kernel/debug/dma-api")
REPORTS = 3


def limit() -> None:
    """From now on, only some more reports."""
    if CHECKER.exists():
        disks.write(CHECKER / "all_errors", 0)
        disks.write(CHECKER / "num_errors", REPORTS)


_depth = 0


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """Only some reports meanwhile, and all of them afterwards: after the outermost, where one is in another."""
    global _depth
    limit()
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1
        if not _depth and CHECKER.exists():
            disks.write(CHECKER / "all_errors", 1)
