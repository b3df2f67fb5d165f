# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs of the guest that are compiled when a run needs them: static, for guests may have any Debian as their root."""

import hashlib
import os
import subprocess

_COMPILER = ("gcc", "-std=c17", "-Wall", "-Wextra", "-Werror", "-O2", "-s", "-static", "-pthread")


def provide(source, cache):
    """The program of a C file, from the cache directory or compiled now."""
    key = hashlib.sha256(" ".join(_COMPILER).encode() + source.read_bytes()).hexdigest()[:16]
    program = cache / f"{source.stem}-{key}"
    if not program.exists():
        cache.mkdir(parents=True, exist_ok=True)
        for old in cache.glob(f"{source.stem}-*"):
            # What has a suffix is another run's, and not finished.
            if not old.suffix:
                old.unlink(missing_ok=True)
        unfinished = program.with_suffix(f".{os.getpid()}")
        subprocess.run([*_COMPILER, "-o", unfinished, source], check=True)
        unfinished.rename(program)
    return program
