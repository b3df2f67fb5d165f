# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests how tools/testing/check reads, runs and reports its steps."""

import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest
from typing import Callable

CHECK = pathlib.Path(__file__).resolve().parents[1] / "check"


class CheckTest(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.logs = self.directory / "logs"

    def environment(self, steps: str) -> dict[str, str]:
        (self.directory / "steps").write_text(steps, encoding="utf-8")
        return os.environ | {
            "CXIB_CHECK_STEPS": str(self.directory / "steps"),
            "CXIB_CHECK_LOGS": str(self.logs),
            "CXIB_CHECK_HEARTBEAT": "1",
        }

    def check(self, steps: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [CHECK, *arguments], env=self.environment(steps), capture_output=True, text=True, check=False
        )


class Outcomes(CheckTest):
    def test_all_steps_pass(self) -> None:
        run = self.check("fast|one|true\ncheck|two|true\n")
        self.assertEqual(run.returncode, 0)
        self.assertEqual(run.stdout.splitlines()[-1], "2 passed, 0 failed, 0 skipped")

    def test_failed_step_does_not_stop_others(self) -> None:
        run = self.check("fast|one|echo reason; exit 3\nfast|two|true\n")
        self.assertEqual(run.returncode, 1)
        self.assertRegex(run.stdout, r"(?m)^FAILED +\S+ s +\S+ s  one$")
        self.assertRegex(run.stdout, r"(?m)^ok +\S+ s +\S+ s  two$")
        self.assertIn("failed: one\n1 passed, 1 failed, 0 skipped\n", run.stdout)

    def test_failure_shows_status_and_log_end(self) -> None:
        run = self.check("fast|one|seq 1000; exit 3\n")
        self.assertIn("status 3", run.stdout)
        self.assertIn("| 1000\n", run.stdout)
        self.assertNotIn("| 900\n", run.stdout)

    def test_end_names_what_failed_in_each_step(self) -> None:
        run = self.check("fast|one|echo 'FAIL: test_a'; echo 'AssertionError: 1 != 2'; seq 100; exit 1\nfast|two|true\n")
        end = run.stdout[run.stdout.index("total time"):]
        self.assertIn("one: FAIL: test_a\n        one: AssertionError: 1 != 2\nfailed: one\n", end)

    def test_end_names_what_comparison_complains_of(self) -> None:
        noise = "yes 'SomeError: closed' | head -n 100"
        run = self.check(f"fast|one|echo 'compare: test_a: not run'; echo 'rdma-core: test_b: failed: 1'; {noise}; exit 1\n")
        end = run.stdout[run.stdout.index("total time"):]
        self.assertIn("one: compare: test_a: not run\n        one: rdma-core: test_b: failed: 1\n        one: SomeError", end)

    def test_skipped_step_shows_last_line(self) -> None:
        run = self.check("fast|one|echo looking; echo there is no device; exit 77\n")
        self.assertEqual(run.returncode, 0)
        self.assertRegex(run.stdout, r"(?m)^skipped .* one  \(there is no device\)$")
        self.assertEqual(run.stdout.splitlines()[-1], "0 passed, 0 failed, 1 skipped")

    def test_output_of_step_kept(self) -> None:
        self.check("fast|one|echo out; echo err >&2\n")
        self.assertEqual((self.logs / "one.log").read_text(encoding="utf-8"), "out\nerr\n")

    def test_summary_holds_every_outcome(self) -> None:
        self.check("fast|one|true\nfast|two|false\n")
        lines = (self.logs / "summary").read_text(encoding="utf-8").splitlines()
        self.assertEqual(len([line for line in lines if re.match(r"(ok|FAILED) ", line)]), 2)
        self.assertEqual(lines[-1], "1 passed, 1 failed, 0 skipped")

    def test_summary_holds_processor_time(self) -> None:
        # A fixed amount of work: the load of the machine decides how much processor time a process gets per second.
        self.check("fast|idle|sleep 2\nfast|busy|for ((n = 0; n < 1000000; n++)); do :; done\n")
        text = (self.logs / "summary").read_text(encoding="utf-8")
        took = {name: float(seconds) for seconds, name in re.findall(r"(?m)^ok +\S+ s +(\S+) s  (\w+)$", text)}
        self.assertGreater(took["busy"], took["idle"])

    def test_long_step_reported_while_running(self) -> None:
        run = self.check("fast|one|echo halfway; sleep 6\n")
        self.assertRegex(run.stdout, r"one: \S+ s so far; halfway")

    def test_step_beyond_limit_fails_and_next_runs(self) -> None:
        os.environ["CXIB_CHECK_LIMIT"] = "10"  # more than "true" needs on a busy machine
        self.addCleanup(os.environ.pop, "CXIB_CHECK_LIMIT")
        run = self.check("fast|one|echo begun; sleep 1000 & sleep 1000\nfast|two|true\n")
        self.assertIn("| ended: not done after 10 s", run.stdout)
        self.assertEqual(run.stdout.splitlines()[-1], "1 passed, 1 failed, 0 skipped")

    def test_long_level_has_no_limit(self) -> None:
        os.environ["CXIB_CHECK_LIMIT"] = "1"
        self.addCleanup(os.environ.pop, "CXIB_CHECK_LIMIT")
        self.assertEqual(self.check("long|one|sleep 3\n", "--level", "long").returncode, 0)

    def test_steps_beyond_time_named_and_no_failure(self) -> None:
        run = self.check("fast|one|true\nfast|two|true\n", "--within", "0")
        self.assertEqual(run.returncode, 0)
        self.assertIn("no time within 0 min: one two\n0 passed, 0 failed, 0 skipped\n", run.stdout)

    def test_running_step_ended_beyond_time(self) -> None:
        # The clock jumps after the start of the step, so the step seems to have started 59 hours ago.
        clock = self.directory / "date"
        clock.write_text(f"#!/bin/sh\n[ -e {self.directory}/late ] && echo 9999999999999 || echo 1\n", encoding="utf-8")
        clock.chmod(0o755)
        os.environ["PATH"] = f"{self.directory}:{os.environ['PATH']}"
        self.addCleanup(os.environ.__setitem__, "PATH", os.environ["PATH"].partition(":")[2])
        run = self.check(f"fast|one|touch {self.directory}/late; sleep 1000\nfast|two|true\n", "--within", "9", "--jobs", "1")
        self.assertEqual(run.returncode, 0)
        # The order of the two names is random.
        self.assertRegex(run.stdout, r"(?m)^no time within 9 min: (one two|two one)$")

    def test_failure_within_time_remains_one(self) -> None:
        self.assertEqual(self.check("fast|one|false\n", "--within", "9").returncode, 1)

    def test_time_out_of_range_refused(self) -> None:
        run = self.check("fast|one|true\n", "--within", "soon")
        self.assertEqual(run.returncode, 2)
        self.assertIn("--within is 'soon', must be 0 to 9999 minutes", run.stderr)

    def test_guest_steps_run_in_parallel(self) -> None:
        meet = "touch {0}; for n in $(seq 600); do [ -e {1} ] && exit 0; sleep 0.1; done; exit 1"
        one, two = self.directory / "one", self.directory / "two"
        steps = f"check|one|{meet.format(one, two)}\ncheck|two|{meet.format(two, one)}\n"
        self.assertEqual(self.check(steps, "--jobs", "2").returncode, 0)

    def test_running_steps_limited_by_jobs(self) -> None:
        alone = f"mkdir {self.directory / 'lock'} && sleep 0.5 && rmdir {self.directory / 'lock'}"
        steps = "".join(f"check|{name}|{alone}\n" for name in ("one", "two", "three"))
        self.assertEqual(self.check(steps, "--jobs", "1").returncode, 0)

    def test_parallel_steps_have_own_outcomes(self) -> None:
        run = self.check("check|one|sleep 1; exit 3\ncheck|two|true\ncheck|three|exit 77\n", "--jobs", "2")
        self.assertRegex(run.stdout, r"(?m)^FAILED +\S+ s +\S+ s  one$")
        self.assertEqual(run.stdout.splitlines()[-1], "1 passed, 1 failed, 1 skipped")

    def test_step_has_no_input(self) -> None:
        self.assertEqual(self.check("fast|one|! read -r line\n").returncode, 0)

    def test_interrupt_ends_step_and_children(self) -> None:
        marker = "31415.9"
        with subprocess.Popen(
            [CHECK],
            env=self.environment(f"fast|one|sleep {marker} & sleep {marker}; true\n"),
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            # A background job may have SIGINT ignored, which a shell cannot undo.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        ) as run:
            self.wait_until(lambda: running(marker))
            run.send_signal(signal.SIGINT)
            output = run.communicate()[0]
        self.assertEqual(run.returncode, 130)
        self.assertIn("interrupted", output)
        self.wait_until(lambda: not running(marker))

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """Waits for a condition that needs milliseconds; fails after a minute."""
        for _ in range(1200):
            if condition():
                return
            time.sleep(0.05)
        self.fail("waited in vain for a minute")


def running(argument: str) -> bool:
    return subprocess.run(["pgrep", "-f", f"^sleep {argument}"], capture_output=True, check=False).returncode == 0


class Selection(CheckTest):
    STEPS = "# a comment\n\nfast|one|true\ncheck|two|true\nlong|three|true\n"

    def names(self, *arguments: str) -> list[str]:
        run = self.check(self.STEPS, "--list", *arguments)
        return [line.split()[1] for line in run.stdout.splitlines()]

    def test_level_includes_lower_levels(self) -> None:
        self.assertEqual(self.names("--level", "fast"), ["one"])
        self.assertEqual(self.names(), ["one", "two"])
        self.assertEqual(self.names("--level", "long"), ["one", "two", "three"])

    def test_step_chosen_by_name_at_any_level(self) -> None:
        self.assertEqual(self.names("--only", "three"), ["three"])
        self.assertEqual(self.names("--only", "t*"), ["two", "three"])

    def test_unknown_step_name_refused(self) -> None:
        run = self.check(self.STEPS, "--only", "four")
        self.assertEqual(run.returncode, 2)
        self.assertIn("no step matches 'four'", run.stderr)

    def test_unknown_level_refused_with_list(self) -> None:
        run = self.check(self.STEPS, "--level", "slow")
        self.assertEqual(run.returncode, 2)
        self.assertIn("--level is 'slow', must be fast, check or long", run.stderr)

    def test_jobs_out_of_range_refused(self) -> None:
        for jobs in ("0", "x", "100"):
            run = self.check(self.STEPS, "--jobs", jobs)
            self.assertEqual(run.returncode, 2)
            self.assertIn(f"--jobs is '{jobs}', must be 1 to 99", run.stderr)

    def test_malformed_line_refused_with_place(self) -> None:
        for line in ("fast|one", "slow|one|true", "fast|One!|true"):
            run = self.check(f"fast|zero|true\n{line}\n")
            self.assertEqual(run.returncode, 2)
            self.assertRegex(run.stderr, rf"steps:2: not a step .*{re.escape(line)}")

    def test_duplicate_step_name_refused(self) -> None:
        run = self.check("fast|one|true\ncheck|one|true\n")
        self.assertEqual(run.returncode, 2)
        self.assertIn("steps:2: a second step of the name one", run.stderr)


class Needs(CheckTest):
    def test_steps_without_needs_do_not_wait(self) -> None:
        meet = f"for n in $(seq 600); do [ -e {self.directory / 'two'} ] && exit 0; sleep 0.1; done; exit 1"
        steps = f"need|kernel|{meet}\nfast:kernel|one|true\ncheck|two|touch {self.directory / 'two'}\n"
        run = self.check(steps)
        self.assertEqual(run.returncode, 0)
        self.assertEqual(re.findall(r"(?m)^ok .* (\w+)$", run.stdout), ["two", "one"])

    def test_step_starts_when_needs_are_met(self) -> None:
        made = self.directory / "made"
        steps = f"need|kernel|sleep 1; touch {made}\ncheck:kernel|one|[ -e {made} ]\n"
        self.assertEqual(self.check(steps).returncode, 0)

    def test_failed_need_fails_steps(self) -> None:
        run = self.check("need|kernel|echo no disk; exit 3\ncheck:kernel|one|true\ncheck|two|true\n")
        self.assertEqual(run.returncode, 1)
        self.assertIn("| no disk\n", run.stdout)
        self.assertRegex(run.stdout, r"(?m)^FAILED .* one  \(needs kernel, which could not be prepared\)$")
        self.assertEqual(run.stdout.splitlines()[-1], "1 passed, 1 failed, 0 skipped")

    def test_unneeded_preparation_is_skipped(self) -> None:
        made = self.directory / "made"
        self.check(f"need|kernel|touch {made}\nfast|one|true\ncheck:kernel|two|true\n", "--level", "fast")
        self.assertFalse(made.exists())

    def test_wait_reported(self) -> None:
        run = self.check("need|kernel|echo halfway; sleep 3\ncheck:kernel|one|true\n")
        self.assertIn("waiting for kernel; halfway", run.stdout)

    def test_unknown_need_refused(self) -> None:
        run = self.check("fast:kernel|one|true\n")
        self.assertEqual(run.returncode, 2)
        self.assertIn("steps:1: not a step", run.stderr)


class LongForms(CheckTest):
    """A test with its own checkout, whose commit the test selects."""

    STEPS = "fast|quick|echo quick >>{0}\nlong|one|echo one >>{0}\nlong|two|echo two >>{0}; [ ! -e {1} ]\n"

    def setUp(self) -> None:
        super().setUp()
        self.ran, self.broken = self.directory / "ran", self.directory / "broken"
        repository = self.directory / "repository"
        script = repository / "tools" / "testing" / "check"
        script.parent.mkdir(parents=True)
        script.write_bytes(CHECK.read_bytes())
        script.chmod(0o755)
        self.script, self.repository = script, repository
        self.git("init", "--quiet")
        self.git("add", ".")
        self.commit()

    def git(self, *arguments: str) -> None:
        who = ("-c", "user.name=tester", "-c", "user.email=tester@example")
        subprocess.run(["git", "-C", self.repository, *who, *arguments], check=True, stdout=subprocess.DEVNULL)

    def commit(self) -> None:
        self.git("commit", "--quiet", "--allow-empty", "--message", "another")

    def long(self, *arguments: str) -> list[str]:
        """Runs the long steps; returns the names of those that ran, sorted."""
        self.ran.unlink(missing_ok=True)
        steps = self.STEPS.format(self.ran, self.broken)
        self.last = subprocess.run(
            [self.script, "--level", "long", *arguments], env=self.environment(steps), capture_output=True,
            text=True, check=False,
        )
        return sorted(self.ran.read_text(encoding="utf-8").split()) if self.ran.exists() else []

    def test_passed_steps_not_repeated(self) -> None:
        self.broken.touch()
        self.assertEqual(self.long(), ["one", "quick", "two"])
        self.broken.unlink()
        self.assertEqual(self.long(), ["two"])
        self.assertIn("2 steps have passed on this commit before", self.last.stdout)
        self.assertEqual(self.long(), [])
        self.assertEqual(self.last.returncode, 0)

    def test_other_levels_repeat_all_steps(self) -> None:
        self.long()
        self.assertEqual(self.long("--level", "check"), ["quick"])

    def test_other_commit_repeats_steps(self) -> None:
        self.long()
        self.commit()
        self.assertEqual(self.long(), ["one", "quick", "two"])

    def test_changed_checkout_repeats_steps_and_records_nothing(self) -> None:
        self.long()
        self.script.write_bytes(CHECK.read_bytes() + b"\n")
        self.assertEqual(self.long(), ["one", "quick", "two"])
        self.git("commit", "--quiet", "--all", "--message", "changed")
        self.assertEqual(self.long(), ["one", "quick", "two"])

    def test_again_option_repeats_steps(self) -> None:
        self.long()
        self.assertEqual(self.long("--again"), ["one", "quick", "two"])
        self.assertEqual(self.long("--only", "one"), ["one"])


if __name__ == "__main__":
    unittest.main()
