# SPDX-License-Identifier: GPL-2.0-or-later
"""Lists the project's files for the static checks."""

import pathlib
import subprocess

REPO = pathlib.Path(__file__).resolve().parents[3]


def project_files(repo: pathlib.Path = REPO) -> list[str]:
    """Paths, relative to the checkout, of all files that git tracks or would add."""
    output = subprocess.run(
        ["git", "-c", "safe.directory=*", "-C", str(repo), "ls-files", "-z", "-co", "--exclude-standard"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return sorted({name for name in output.split("\0") if name and (repo / name).is_file()})


def interpreter(path: pathlib.Path) -> str:
    """Name of the program in the file's #! line, without directory; empty if there is no such line."""
    with open(path, "rb") as file:
        first = file.readline(200)
    if not first.startswith(b"#!"):
        return ""
    words = first[2:].decode("utf-8", errors="replace").split()
    if words and words[0].endswith("/env"):
        words = words[1:]
    return words[0].rsplit("/", 1)[-1] if words else ""


def is_shell(name: str, repo: pathlib.Path = REPO) -> bool:
    return name.endswith((".sh", ".bash")) or interpreter(repo / name) in ("sh", "bash")


def is_python(name: str, repo: pathlib.Path = REPO) -> bool:
    return name.endswith(".py") or interpreter(repo / name).startswith("python")
