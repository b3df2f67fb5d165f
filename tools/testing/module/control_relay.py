#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Carries words from a guest to the emulator's control socket, through files that both see.

A guest cannot reach a socket of its host. It writes NAME.request into a directory of the checkout; this program sends
its lines to the socket, with those of no other request between them, and writes the answer to the last one to
NAME.answer; lines after an error are not sent. Runs in the lab tree until it is ended:

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
    """Answers those that are there; one that has not arrived whole is left for the next time."""
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
