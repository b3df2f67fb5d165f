#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Forwards commands from a guest to the emulator's control socket through files that both can access.

A guest cannot open a socket of its host. It writes NAME.request to a directory of the checkout. This program sends the
lines of the request to the socket without lines of other requests in between, and writes the reply to the last line to
NAME.answer. It does not send lines after an error. Runs in the lab tree until it is terminated:

    control_relay.py SOCKET DIRECTORY
"""

import json
import pathlib
import socket
import sys
import time


def ask(address: pathlib.Path, lines: list[str]) -> str:
    answer = ""
    with socket.socket(socket.AF_UNIX) as control:
        control.connect(str(address))
        answers = control.makefile()
        for line in lines:
            control.sendall(line.strip().encode() + b"\n")
            answer = answers.readline()
            if "error" in json.loads(answer):
                break
    return answer


def answer_requests(address: pathlib.Path, directory: pathlib.Path) -> None:
    """Handles the requests in the directory. An incomplete request is left for the next call."""
    for request in sorted(directory.glob("*.request")):
        text = request.read_text()
        if not text.endswith("\n"):
            continue
        answer = ask(address, text.splitlines())
        request.unlink()
        partial = request.with_suffix(".partial")
        partial.write_text(answer)
        partial.rename(request.with_suffix(".answer"))


def serve(address: pathlib.Path, directory: pathlib.Path) -> None:
    while True:
        answer_requests(address, directory)
        time.sleep(0.05)


if __name__ == "__main__":
    serve(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
