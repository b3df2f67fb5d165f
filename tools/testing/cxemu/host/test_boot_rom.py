# SPDX-License-Identifier: GPL-2.0-or-later
"""Boots a virtual machine without an operating system from cxemu with iPXE's golan driver (Debian's package): it opens its
port, joins OpenSM's subnet and loads files over IPoIB from a guest. Skipped if the archive lacks the package."""

import contextlib
import pathlib
import shutil
import subprocess
from collections.abc import Iterator

import pytest

REPO = pathlib.Path(__file__).resolve().parents[4]
ROM = REPO / "tools/testing/cxemu/rom"
DIRECTORY = REPO / "build/boot_rom"
SKIPPED = 77

pytestmark = pytest.mark.run("cxemu-boot-rom", "long", needs=("cxemu",))


def fetch_rom() -> None:
    DIRECTORY.mkdir(parents=True, exist_ok=True)
    done = subprocess.run([ROM / "fetch", DIRECTORY], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode == SKIPPED:
        pytest.skip(done.stdout.strip().rsplit("\n", 1)[-1])
    assert done.returncode == 0, done.stdout


@contextlib.contextmanager
def machine(run: pathlib.Path) -> Iterator[None]:
    """The machine starts when the emulator is ready. It is ended after the guest has served all files or has failed."""
    with (run / "machine.log").open("w") as log:
        child = subprocess.Popen([ROM / "machine", DIRECTORY, run], stdout=log, stderr=log)
    try:
        yield
    finally:
        child.terminate()
        child.wait()


def logs(run: pathlib.Path) -> str:
    texts = [path.read_text(errors="replace") for path in (run / "console", run / "machine.log") if path.exists()]
    return "".join(texts).replace("\r", "").replace("\033", "")


@pytest.mark.parametrize("profile", ["connectx4", "connectx5"])
def test_ipxe_loads_files_over_ipoib(profile: str) -> None:
    fetch_rom()
    subprocess.run(["make", "-s", "cxemu"], cwd=REPO, check=True)
    run = DIRECTORY / profile
    shutil.rmtree(run, ignore_errors=True)
    run.mkdir()
    emulator = f"--profile {profile} --hca {run}/hca.sock --allow {ROM}/violations.toml"
    with machine(run):
        done = subprocess.run(["tools/lab/run", "--driver", "mlx5", "--hcas", "1", "--sm", "opensm", "--timeout", "1200",
                               "--cxemu", emulator, "--", "python3", ROM / "serve.py"], cwd=REPO, check=False)
    assert done.returncode == 0, logs(run)
