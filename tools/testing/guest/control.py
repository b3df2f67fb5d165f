# SPDX-License-Identifier: GPL-2.0-or-later
"""Sends commands to the emulator's control socket from a guest, through control_relay.py."""

import json
import os
import pathlib
import threading
import time
from collections.abc import Callable
from typing import Any

DIRECTORY = pathlib.Path(os.environ.get("CXIB_CONTROL", ""))
PATIENCE = 900.0  # seconds; ends only a test that has already failed


def until(condition: Callable[[], bool], what: str, pause: float = 0.2) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: has not happened within {PATIENCE:.0f} s")
        time.sleep(pause)


def control(*words: str) -> Any:
    """Sends one command to the emulator and returns the reply. A last word "@hca1" selects one HCA."""
    return control_lines(" ".join(words))


def control_lines(*lines: str) -> Any:
    """Sends several commands to the emulator as one sequence and returns the reply to the last one."""
    request = DIRECTORY / f"{time.monotonic_ns()}-{threading.get_native_id()}.request"
    partial = request.with_suffix(".new")
    partial.write_text("".join(line + "\n" for line in lines))
    partial.rename(request)
    answer = request.with_suffix(".answer")
    until(answer.exists, f"the emulator answers {lines}", 0.02)
    text = json.loads(answer.read_text())
    answer.unlink()
    if "error" in text:
        raise AssertionError(f"{lines}: {text['error']}")
    return text["ok"]
