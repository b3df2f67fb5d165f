# SPDX-License-Identifier: GPL-2.0-or-later
"""Compiles programs of the guest when a run needs them. They are static, because guests may have any Debian release as
root."""

import hashlib
import os
import subprocess

_COMPILERS = {"amd64": "gcc", "arm64": "aarch64-linux-gnu-gcc"}
_OPTIONS = ("-std=c17", "-Wall", "-Wextra", "-Werror", "-O2", "-s", "-static", "-pthread")


def provide(source, cache, processor="amd64"):
    """Path of the program for a C file and a processor, from the cache directory or newly compiled."""
    command = (_COMPILERS[processor], *_OPTIONS)
    key = hashlib.sha256(" ".join(command).encode() + source.read_bytes()).hexdigest()[:16]
    name = f"{source.stem}-{processor}"
    program = cache / f"{name}-{key}"
    if not program.exists():
        cache.mkdir(parents=True, exist_ok=True)
        for old in cache.glob(f"{name}-*"):
            # A file with a suffix is another run's unfinished program. Another run may also have just finished the
            # program.
            if not old.suffix and old != program:
                old.unlink(missing_ok=True)
        unfinished = program.with_suffix(f".{os.getpid()}")
        subprocess.run([*command, "-o", unfinished, source], check=True)
        unfinished.rename(program)
    return program
