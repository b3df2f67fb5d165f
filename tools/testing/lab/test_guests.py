# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests tools/lab/run with real guests: output and status of commands, detected faults, cleaned-up files and processes."""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator

import pytest

REPO = pathlib.Path(__file__).resolve().parents[3]
SCRATCH = REPO / "build/lab-test"
RUN = REPO / "tools/lab/run"
PATIENCE = 600.0  # seconds; ends only a test that has already failed
LAB_FAILED, TIMED_OUT = 125, 124
PANIC = r"kernel panic in the guest.s kernel log \(build/lab/.*console.log, line [0-9]+\)"

pytestmark = pytest.mark.run("lab-guests-all", "long", needs=("debug", "cxemu"))
# Functions that most other tests rely on.
in_check = pytest.mark.run("lab-guests", "check", needs=("debug", "cxemu"))


class Done:
    """A run that has ended."""

    def __init__(self, done: subprocess.CompletedProcess) -> None:
        self.status, self.out, self.err = done.returncode, done.stdout, done.stderr

    def expect(self, status: int, *, out: str = "", err: tuple[str, ...] | str = ()) -> None:
        """Requires the status, and lines of the output and of the messages that match."""
        assert self.status == status, self.err
        assert not out or re.search(out, self.out, re.MULTILINE), self.out
        for pattern in (err,) if isinstance(err, str) else err:
            assert re.search(pattern, self.err, re.MULTILINE), self.err


def lab(*words: str, **settings: str) -> Done:
    done = subprocess.run([RUN, *words], capture_output=True, text=True, errors="replace", check=False, stdin=subprocess.DEVNULL,
                          env=os.environ | settings)
    return Done(done)


def await_line(file: pathlib.Path, pattern: str) -> None:
    end = time.monotonic() + PATIENCE
    while not re.search(pattern, file.read_text(errors="replace"), re.MULTILINE):
        assert time.monotonic() < end, f"{pattern!r} did not come"
        time.sleep(0.1)


def provoke(kernel: str, fault: str) -> str:
    """The command that commits a fault in a guest; builds the module for it."""
    directory = SCRATCH / kernel
    shutil.copytree(REPO / "tools/testing/lab/provoke", directory, dirs_exist_ok=True)
    build = subprocess.run([REPO / "tools/lab/kdir", kernel], capture_output=True, text=True, check=True).stdout.strip()
    subprocess.run([REPO / "tools/lab/exec", "make", "-s", "-C", build, f"M=/repo/build/lab-test/{kernel}", "modules"], check=True)
    return f"insmod /repo/build/lab-test/{kernel}/lab_provoke.ko fault={fault}"


def make_resumable(*words: str) -> Done:
    """The third run of a configuration resumes: the first run marks it as wanted, the second makes the snapshot."""
    lab("--verbose", *words, "--", "true").expect(0)
    done = lab("--verbose", *words, "--", "true")
    done.expect(0, err="the guest is resumed")
    return done


# ---- commands ----


def test_exit_status_and_output_are_those_of_command() -> None:
    done = lab("--", "echo to-out; echo to-err >&2; exit 7")
    assert (done.status, done.out, done.err) == (7, "to-out\n", "to-err\n")


def test_success_is_silent_about_lab(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPO / "tools/testing")
    done = lab("--", "sh", "-c", 'printf "%s|" "$@"; pwd; id -u; uname -n; ls /repo/Makefile', "-", "two words", "it's")
    assert (done.status, done.err) == (0, "")
    assert done.out == "two words|it's|/repo/tools/testing\n0\nlab\n/repo/Makefile\n"


def test_output_arrives_while_command_runs() -> None:
    seen = SCRATCH / "seen"
    SCRATCH.mkdir(parents=True, exist_ok=True)
    seen.unlink(missing_ok=True)
    command = f"echo first; until [ -e {seen} ]; do sleep 0.1; done; echo second"
    with subprocess.Popen([RUN, "--", command], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout
        # The command ends only after the host has seen its first line.
        assert child.stdout.readline() == "first\n"
        seen.touch()
        assert child.stdout.read() == "second\n"
        assert child.wait() == 0


def test_arguments_that_make_no_sense_are_named() -> None:
    for words, message in (
        (("--hcas", "99", "--", "true"), "--hcas: 99 is not within 0 to 8"),
        (("--kernel", "fast", "--", "true"), "--kernel: .*'fast'.*stock"),
        (("--driver", "mlx4", "--", "true"), "--driver: .*'mlx4'.*mlx5"),
        (("--sm", "--", "true"), "--sm needs"),
        (("--kernel", "stock"), "no COMMAND given"),
        (("--kmemleak", "--", "true"), "--kmemleak needs --kernel debug"),
    ):
        lab(*words).expect(LAB_FAILED, err=message)


def test_command_that_does_not_end_is_named_with_its_log() -> None:
    # The command starts within this time on any machine.
    done = lab("--timeout", "20", "--", "echo begun; sleep 1234567")
    done.expect(TIMED_OUT, out="^begun$", err=("has not ended its command within 20 s", "sleep 1234567"))
    log = re.search("^lab: the end of (build.*console.log):$", done.err, re.MULTILINE)
    assert log and (REPO / log[1]).stat().st_size


def test_guest_that_does_not_boot_is_named_with_its_log() -> None:
    # The first process is a busybox that never starts the lab's program.
    lab("--boot-timeout", "30", "--append", "rdinit=/bin/busybox -- sleep 100000", "--", "true").expect(
        TIMED_OUT, err=("was not ready for its command within 30 s", "the end of build/lab/.*console.log"))


# ---- faults that are noticed ----


def test_panic_fails_run_with_its_evidence() -> None:
    lab("--", "echo before; echo c > /proc/sysrq-trigger; sleep 1000").expect(
        LAB_FAILED, out="^before$", err=(PANIC, "sysrq triggered crash", "Call Trace"))


def test_oops_fails_run() -> None:
    lab("--", provoke("stock", "null")).expect(LAB_FAILED, err="dereference_null.*lab_provoke")


@in_check
def test_warning_fails_run_although_command_succeeds() -> None:
    lab("--", f"{provoke('stock', 'warn')} && echo loaded").expect(
        LAB_FAILED, out="^loaded$", err=("WARN in the guest", "lab_provoke was asked to warn"))


def test_expected_report_does_not_fail_run() -> None:
    lab("--expect-report", "asked to warn", "--", provoke("stock", "warn")).expect(0)


def test_expected_report_that_is_missing_fails_run() -> None:
    lab("--expect-report", "asked to warn", "--", "true").expect(LAB_FAILED, err="no report that matches 'asked to warn'")


@in_check
def test_violation_of_rules_fails_run_although_command_succeeds() -> None:
    tests = "/repo/tools/testing"
    done = lab("--driver", "mlx5", "--hcas", "2", "--sm", "--", "env", f"PYTHONPATH={tests}/guest:{tests}/cxemu/guest",
               "python3", "-m", "unittest", "test_long_messages.LongMessages.test_message_beyond_limit_fails")
    done.expect(LAB_FAILED, err=(r"1 violations of the device.s rules \(build/lab/.*/violations\)",
                                 "send_entry_malformed: 1 times", "^OK$"))


def test_every_checker_of_debug_kernel_is_noticed() -> None:
    # Memory faults come last: they turn lockdep off.
    reports = {"locks": "possible circular locking", "shift": "UBSAN: shift-out-of-bounds",
               "dma": "DMA-API: .*device driver tries to free DMA memory", "work": "ODEBUG: free active",
               "atomic": "BUG: scheduling while atomic|sleep_with_spin_lock|__might_sleep|preempt",
               "slab": "KASAN: slab-out-of-bounds"}
    options = [word for report in reports.values() for word in ("--expect-report", report)]
    commands = [f"{provoke('debug', fault)}; rmmod lab_provoke" for fault in reports]
    lab("--kernel", "debug", *options, "--", f"{'; '.join(commands)}; echo loaded").expect(0, out="^loaded$")


def test_leaked_memory_is_found_when_asked_for() -> None:
    lab("--kernel", "debug", "--kmemleak", "--", provoke("debug", "leak")).expect(
        LAB_FAILED, err=("unreferenced object", "lab_provoke"))


def test_debug_guest_without_fault_passes() -> None:
    done = lab("--kernel", "debug", "--kmemleak", "--", "uname -r; grep debug_locks /proc/lockdep_stats")
    done.expect(0, out=r"cxib-debug$(.|\n)*debug_locks: *1")


def test_hung_task_is_reported() -> None:
    lab("--append", "sysctl.kernel.hung_task_timeout_secs=5", "--timeout", "60", "--", provoke("stock", "hang")).expect(
        TIMED_OUT, err=("hung task in the guest", "blocked for more than"))


# ---- guests that are resumed ----


def test_resumed_guest_has_time_name_and_directory_of_its_run() -> None:
    make_resumable()
    before = int(time.time())
    done = lab("--", "uname -n; cat /etc/machine-id; pwd; date +%s")
    after = time.time()
    done.expect(0)
    *names, date = done.out.splitlines()
    assert names == ["lab", "0000000000000000000000000000cb00", "/repo"]
    assert before <= int(date) <= after


def test_two_guests_of_snapshot_are_not_the_same() -> None:
    make_resumable()
    done = lab("--vms", "2", "--verbose", "--", "uname -n; cat /etc/machine-id; od -An -N16 -tx1 /dev/urandom; "
               "cat /proc/sys/kernel/random/boot_id")
    done.expect(0, err="the guest is resumed")
    first, second = ([line.split("|")[1] for line in done.out.splitlines() if line.startswith(vm)] for vm in ("vm0", "vm1"))
    assert len(first) == len(second) == 4
    assert all(one != other for one, other in zip(first, second))


def test_hcas_of_resumed_guest_are_in_order() -> None:
    show = ('for each in mlx5_0 mlx5_1; do basename "$(readlink /sys/class/infiniband/$each/device)"; '
            "cat /sys/class/infiniband/$each/node_guid; done")
    make_resumable("--hcas", "2")
    resumed = lab("--hcas", "2", "--driver", "mlx5", "--verbose", "--", show)
    resumed.expect(0, err="the guest is resumed")
    assert lab("--hcas", "2", "--driver", "mlx5", "--boot", "--", show).out == resumed.out


def test_panic_of_resumed_guest_fails_run_with_its_evidence() -> None:
    make_resumable()
    lab("--verbose", "--", "echo before; echo c > /proc/sysrq-trigger; sleep 1000").expect(
        LAB_FAILED, out="^before$", err=("the guest is resumed", PANIC, "Call Trace"))


def test_guest_boots_when_its_snapshot_is_spoiled() -> None:
    # This configuration is unique, as other runs may resume others at the same time.
    options = ("--append", "lab_test=spoiled")
    found = re.search("the guest is resumed from snapshot-(.*)", make_resumable(*options).err)
    assert found
    tree = subprocess.run([REPO / "tools/lab/prepare", "--where"], capture_output=True, text=True, check=True).stdout.strip()
    store = pathlib.Path(tree).parent / "snapshots"
    os.truncate(store / f"snapshot-{found[1]}/state", 1 << 20)
    done = lab(*options, "--", "echo works")
    done.expect(0, out="^works$", err="the guest boots, as it cannot be resumed: .")
    assert done.err.count("\n") == 1
    lab(*options, "--verbose", "--", "true").expect(0, err="the guest boots: there is no snapshot of its kind")
    (store / "asked" / found[1]).unlink(missing_ok=True)


def test_guest_that_is_to_boot_does() -> None:
    make_resumable()
    lab("--boot", "--verbose", "--", "true").expect(0, err=("the guest boots: booting was asked for", "Linux version"))
    lab("--verbose", "--", "true", CXIB_LAB_BOOT="1").expect(0, err="the guest boots: booting was asked for")


# ---- several guests ----


def test_two_guests_run_same_command() -> None:
    done = lab("--vms", "2", "--", 'echo "vm $LAB_VM of $LAB_VMS on $(uname -n)"; exit $((LAB_VM * 3))')
    done.expect(3)
    assert sorted(done.out.splitlines()) == ["vm0| vm 0 of 2 on lab-vm0", "vm1| vm 1 of 2 on lab-vm1"]


def test_guest_that_fails_takes_the_other_with_it() -> None:
    lab("--vms", "2", "--", "[ $LAB_VM = 1 ] || sleep 100000; echo c > /proc/sysrq-trigger; sleep 100000").expect(
        LAB_FAILED, err=("guest 0 is ended because guest 1 has failed", "sysrq triggered crash"))


def test_two_runs_side_by_side_do_not_meet() -> None:
    children = [subprocess.Popen([RUN, "--", f"echo {name}; sleep 5; exit {status}"], stdout=subprocess.PIPE, text=True)
                for name, status in (("one", 1), ("two", 2))]
    assert [child.communicate()[0] for child in children] == ["one\n", "two\n"]
    assert [child.returncode for child in children] == [1, 2]


# ---- interruption ----


def processes_of(directory: str) -> list[str]:
    """Each process of a run has the name of the run's directory in its command line."""
    found = []
    for file in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if directory in file.read_text(errors="replace"):
                found.append(file.parent.name)
    return found


@contextlib.contextmanager
def endless_run(log: pathlib.Path) -> Iterator[subprocess.Popen]:
    with log.open("w") as err:
        child = subprocess.Popen([RUN, "--verbose", "--", "echo started >&2; sleep 1000"], stdout=subprocess.DEVNULL, stderr=err,
                                 start_new_session=True)
    try:
        await_line(log, "^started")
        yield child
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_run_leaves_nothing_behind(number: signal.Signals, tmp_path: pathlib.Path) -> None:
    mounts = pathlib.Path("/proc/mounts").read_text(encoding="utf-8").count(str(REPO))
    log = tmp_path / "err"
    with endless_run(log) as child:
        found = re.search(" logs in (.*)", log.read_text(encoding="utf-8"))
        assert found and processes_of(found[1])
        child.send_signal(number)
        assert child.wait() in (128 + number, -number)
        assert not processes_of(found[1])
    assert not [file for file in (REPO / found[1]).rglob("*") if file.is_socket()]
    assert pathlib.Path("/proc/mounts").read_text(encoding="utf-8").count(str(REPO)) == mounts
