#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Carries words from a guest to the emulator's control socket, through files that both see.

A guest cannot reach a socket of its host. It writes NAME.request into a directory of the checkout; this program sends
the line to the socket and writes the answer to NAME.answer. Runs in the lab tree until it is ended:

    control_relay.py SOCKET DIRECTORY
"""

import pathlib
import socket
import sys
import time


def ask(address: pathlib.Path, line: str) -> str:
    with socket.socket(socket.AF_UNIX) as control:
        control.connect(str(address))
        control.sendall(line.strip().encode() + b"\n")
        return control.makefile().readline()


def serve(address: pathlib.Path, directory: pathlib.Path) -> None:
    while True:
        for request in sorted(directory.glob("*.request")):
            answer = ask(address, request.read_text())
            request.unlink()
            partial = request.with_suffix(".partial")
            partial.write_text(answer)
            partial.rename(request.with_suffix(".answer"))
        time.sleep(0.05)


if __name__ == "__main__":
    serve(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
