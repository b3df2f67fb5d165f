# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests that the tests of signature pipelining detect a driver that cancels nothing: a changed copy of the driver leaves the
response posted and reports a cancellation. The random target (with either policy) and the kernel's NVMe target must then send
good responses for bad data, and their tests must fail."""

import pathlib
import subprocess

import pytest
from guests.run import REPO, TESTING

COPY = REPO / "build/without-cancel"
FILE = "drivers/cxib/verbs/qp/sq_cancel.c"
LINE = "control->dw[0] = hw_wqe_ctrl_seg_pack_00(0, at & U16_MAX, HW_WQE_OPCODE_NOP);"

pytestmark = pytest.mark.run("kernel-verbs-without-cancel", "long", needs=("cxemu",))


@pytest.fixture(scope="module")
def checkout() -> pathlib.Path:
    """A copy of the checkout with the changed driver. The lab mounts both at the same path, so unchanged files are not
    rebuilt."""
    subprocess.run([TESTING / "copy_checkout", COPY.relative_to(REPO), "cxemu", "modules-stock"], check=True)
    source = (COPY / FILE).read_text(encoding="ascii")
    assert source.count(LINE) == 1, f"{FILE} does not cancel by the line that is to be taken out"
    (COPY / FILE).write_text(source.replace(LINE, "(void)control;"), encoding="ascii")
    return COPY


def failure(checkout: pathlib.Path, area: str, run: str, tests: str) -> str:
    """Runs tests of a guest, which must fail; returns what they print."""
    command = ["tools/lab/exec", "--tests", "--", "pytest-3", f"tools/testing/{area}", "--run", run, "-k", tests]
    done = subprocess.run(command, cwd=checkout, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    print(done.stdout)
    assert done.returncode == 1, "the tests pass without any cancel"
    return done.stdout


def test_random_target_is_found_out(checkout: pathlib.Path) -> None:
    output = failure(checkout, "kernel_verbs", "kernel-verbs-stock", "Random")
    assert "the client gets a good response for bad data" in output
    for policy in ("manual", "automatic"):
        assert f"\n{policy}, depth" in output, f"no seed with the {policy} policy has failed"


def test_nvme_target_is_found_out(checkout: pathlib.Path) -> None:
    """The host gets two responses for a command. It counts both, or finds the second one out by its generation."""
    output = failure(checkout, "ulp", "ulp-stock", "test_bad_block_reported_by_target")
    assert "refcount_t: underflow" in output or "genctr mismatch" in output
