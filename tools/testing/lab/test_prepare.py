# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests tools/lab/prepare: its requests, the names of the tree and the debug kernel, and its messages about missing
parts."""

import contextlib
import fcntl
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
from collections.abc import Callable, Iterator

LAB = pathlib.Path(__file__).resolve().parents[2] / "lab"
STOCK, DEBUG = "6.12.1-amd64", "6.12.1-0123abcd-cxib-debug"
PATIENCE = 60


class LabTest(unittest.TestCase):
    """A test with its own cache and its own copy of the lab's scripts."""

    def setUp(self) -> None:
        directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.scripts = directory / "checkout/tools/lab"
        shutil.copytree(LAB, self.scripts, ignore=shutil.ignore_patterns("__pycache__"))
        self.environment = os.environ | {"CXIB_LAB_CACHE": str(directory / "cache"), "LC_ALL": "C.UTF-8"}

    def run_script(self, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([self.scripts / name, *arguments], env=self.environment, capture_output=True, text=True,
                              check=False, timeout=PATIENCE)

    def refusal(self, name: str, *arguments: str, status: int = 1) -> str:
        """Runs a script that must fail, and returns its single line of output."""
        done = self.run_script(name, *arguments)
        self.assertEqual(status, done.returncode, done.stdout + done.stderr)
        self.assertEqual(1, len(done.stderr.splitlines()), done.stderr)
        return done.stderr.strip()

    def lab(self) -> pathlib.Path:
        return pathlib.Path(self.run_script("prepare", "--where").stdout.strip()).parent

    def kernel_hash(self, kernel: str = "debug") -> str:
        words = f". {self.scripts}/lib/common.sh; locate_lab; kernel_hash {kernel}"
        return subprocess.run(["bash", "-c", words], env=self.environment, capture_output=True, text=True,
                              check=True).stdout.strip()

    def make_tree(self) -> pathlib.Path:
        """Creates the state in which the tree is ready and the debug kernel is not."""
        lab = self.lab()
        (lab / "logs").mkdir(parents=True)
        self.finish_tree()
        return lab

    def finish_tree(self) -> None:
        lab = self.lab()
        (lab / "stock-release").write_text(f"{STOCK}\n")
        (lab / "ready").touch()

    def make_debug_kernel(self) -> None:
        lab = self.lab()
        (lab / "kernel-source").write_text("linux-source-6.12 6.12.1-1\ngcc-14 14.2.0-1\n")
        (lab / "debug-releases").mkdir()
        (lab / "debug-releases" / self.kernel_hash()).write_text(f"{DEBUG}\n")

    @contextlib.contextmanager
    def another_run(self) -> Iterator[None]:
        """Holds the lab's lock, as another run of prepare does."""
        lab = self.lab()
        (lab / "logs").mkdir(parents=True, exist_ok=True)
        with (lab / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


class Arguments(LabTest):
    def test_unknown_argument_is_named(self) -> None:
        self.assertIn("unknown argument '--fast'", self.refusal("prepare", "--fast"))

    def test_unknown_kernel_is_named(self) -> None:
        self.assertRegex(self.refusal("prepare", "--for", "fast"), "unknown kernel 'fast': stock, debug, .* or arm64-rt")

    def test_missing_kernel_named(self) -> None:
        self.assertIn("--for needs a kernel", self.refusal("prepare", "--for"))


class Prepared(LabTest):
    """Runs that find everything prepared."""

    def test_tree_suffices_for_stock_kernel(self) -> None:
        self.make_tree()
        done = self.run_script("prepare", "--for", "stock")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn(f"The lab is ready: {self.lab()}/tree (kernels {STOCK};", done.stdout)

    def test_default_prepares_everything(self) -> None:
        self.make_tree()
        self.make_debug_kernel()
        done = self.run_script("prepare")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn(f"(kernels {STOCK}, {DEBUG};", done.stdout)

    def test_kernel_of_other_release_is_prepared_once(self) -> None:
        self.make_tree()
        (self.lab() / "release-of-oldstable").write_text("6.1.0-1-amd64\n")
        done = self.run_script("prepare", "--for", "oldstable")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn(f"(kernels {STOCK}, 6.1.0-1-amd64;", done.stdout)
        self.assertEqual("/lib/modules/6.1.0-1-amd64/build\n", self.run_script("kdir", "oldstable").stdout)

    def wait_for_another_run(self, kernel: str, provide: Callable[[], None]) -> str:
        """Returns the output of a run that waits for another run, which then provides the missing part."""
        with self.another_run():
            waiting = subprocess.Popen([self.scripts / "prepare", "--for", kernel], env=self.environment, text=True,
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            assert waiting.stdout is not None
            first = waiting.stdout.readline()
            self.assertIsNone(waiting.poll(), first)
            provide()
            rest, _ = waiting.communicate(timeout=PATIENCE)
        self.assertEqual(0, waiting.returncode, rest)
        return first + rest

    def test_stock_kernel_waits_for_tree_of_other_run(self) -> None:
        said = self.wait_for_another_run("stock", self.finish_tree)
        self.assertRegex(said, f"^another run prepares this lab; waiting for it\nThe lab is ready: .*{STOCK}")

    def test_debug_kernel_waits_for_other_run(self) -> None:
        self.make_tree()
        said = self.wait_for_another_run("debug", self.make_debug_kernel)
        self.assertRegex(said, f"^another run prepares this lab; waiting for it\nThe lab is ready: .*{DEBUG}")

    def test_stock_kernel_does_not_wait_for_debug_kernel(self) -> None:
        self.make_tree()
        with self.another_run():
            done = self.run_script("prepare", "--for", "stock")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertNotIn("waiting", done.stdout)


class Programs(LabTest):
    """What prepare builds in the checkout."""

    def setUp(self) -> None:
        super().setUp()
        self.make_tree()
        self.checkout = self.scripts.parents[1]
        (self.checkout / "Makefile").write_text("cxemu:\n\t@touch cxemu-is-built\n")
        self.build = self.checkout / "tools/testing/module/build"
        self.build.parent.mkdir(parents=True)
        self.write_build("touch module-is-built")

    def write_build(self, command: str) -> None:
        self.build.write_text(f"#!/bin/sh\n{command}\n")
        self.build.chmod(0o755)

    def built(self) -> list[str]:
        return sorted(path.name for path in self.checkout.glob("*-is-built"))

    def test_programs_built_when_requested(self) -> None:
        self.assertEqual(0, self.run_script("prepare", "--for", "stock").returncode)
        self.assertEqual([], self.built())
        done = self.run_script("prepare", "--for", "stock", "--programs")
        self.assertEqual(0, done.returncode, done.stdout)
        self.assertEqual(["cxemu-is-built", "module-is-built"], self.built())

    def test_programs_built_while_other_run_prepares(self) -> None:
        (self.lab() / "ready").unlink()
        (self.lab() / "stamps").mkdir()
        (self.lab() / "stamps/compilers").touch()
        self.write_build(f"touch module-is-built; touch {self.lab()}/ready")
        with self.another_run():
            done = self.run_script("prepare", "--for", "stock", "--programs")
        self.assertEqual(0, done.returncode, done.stdout)
        self.assertEqual(["cxemu-is-built", "module-is-built"], self.built())

    def test_failure_shows_end_of_log(self) -> None:
        self.write_build("echo no such header; exit 2")
        done = self.run_script("prepare", "--for", "stock", "--programs")
        self.assertEqual(1, done.returncode)
        self.assertRegex(done.stdout, r"building cxib.ko: FAILED; the end of .*/build/prepare/module.log:\n +no such header\n")


class Names(LabTest):
    """The names of the tree and of the debug kernel contain a hash of their inputs."""

    def setUp(self) -> None:
        super().setUp()
        self.make_tree()
        self.make_debug_kernel()

    def change(self, name: str) -> None:
        with (self.scripts / name).open("a") as file:
            file.write("# changed\n")

    def test_kernel_configuration_keeps_tree(self) -> None:
        for name in ("50-checking.config", "build", "packages"):
            tree, kernel = self.lab(), self.kernel_hash()
            self.change(f"recipe/kernel/{name}")
            self.assertEqual(tree, self.lab(), name)
            self.assertNotEqual(kernel, self.kernel_hash(), name)

    def test_real_time_kernel_has_configuration_of_its_own(self) -> None:
        tree, debug, real_time = self.lab(), self.kernel_hash(), self.kernel_hash("debug-rt")
        self.change("recipe/kernel-rt/50-checking.config")
        self.assertEqual((tree, debug), (self.lab(), self.kernel_hash()))
        changed = self.kernel_hash("debug-rt")
        self.assertNotEqual(real_time, changed)
        self.change("recipe/kernel/40-rdma.config")
        self.assertNotEqual(changed, self.kernel_hash("debug-rt"))

    def test_debug_kernels_of_other_releases_have_sources_of_their_own(self) -> None:
        lab = self.lab()
        self.assertIn("the debug-backports kernel is not there", self.refusal("kdir", "debug-backports"))
        (lab / "kernel-source-trixie-backports").write_text("linux-source-7.3 7.3.1-1\ngcc-14 14.2.0-1\n")
        debug, other = self.kernel_hash(), self.kernel_hash("debug-backports")
        (lab / "debug-releases" / other).write_text("7.3.1-backports-cxib-debug\n")
        self.assertEqual("/lib/modules/7.3.1-backports-cxib-debug/build\n", self.run_script("kdir", "debug-backports").stdout)
        self.change("recipe/kernel-backports/60-release.config")
        self.assertEqual(debug, self.kernel_hash())
        self.assertIn("the debug-backports kernel is not there", self.refusal("kdir", "debug-backports"))

    def test_kernel_of_other_configuration_refused(self) -> None:
        self.assertEqual(0, self.run_script("kdir", "debug").returncode)
        self.change("recipe/kernel/50-checking.config")
        self.assertIn("the debug kernel is not there", self.refusal("kdir", "debug"))
        self.assertEqual(f"/lib/modules/{STOCK}/build\n", self.run_script("kdir", "stock").stdout)

    def test_other_source_needs_other_kernel(self) -> None:
        (self.lab() / "kernel-source").write_text("linux-source-6.12 6.12.2-1\ngcc-14 14.2.0-1\n")
        self.assertIn("the debug kernel is not there", self.refusal("kdir", "debug"))

    def test_changed_packages_need_other_tree(self) -> None:
        for name in ("recipe/packages.build", "recipe/packages.lab", "recipe/inside/finish", "guest/rds_exercise.c"):
            tree = self.lab()
            self.change(name)
            self.assertNotEqual(tree, self.lab(), name)


class Missing(LabTest):
    """One line names the missing part and the command that provides it."""

    def test_lab_missing_suggests_prepare(self) -> None:
        advice = "the lab is not there: 'tools/lab/prepare --for stock' prepares it"
        self.assertIn(advice, self.refusal("kdir", "stock"))
        self.assertIn(advice, self.refusal("exec", "true"))
        self.assertIn(advice, self.refusal("run", "--", "true", status=125))

    def test_lab_in_preparation_suggests_wait(self) -> None:
        with self.another_run():
            advice = "the lab is being prepared; 'tools/lab/prepare --for stock' waits for it"
            self.assertIn(advice, self.refusal("exec", "true"))
            self.assertIn(advice, self.refusal("run", "--", "true", status=125))

    def test_debug_kernel_missing_suggests_prepare(self) -> None:
        self.make_tree()
        advice = "the debug kernel is not there: 'tools/lab/prepare --for debug' prepares it"
        self.assertIn(advice, self.refusal("kdir", "debug"))
        self.assertIn(advice, self.refusal("run", "--kernel", "debug", "--driver", "cxib", "--", "true", status=125))

    def test_kernel_of_other_release_missing_suggests_prepare(self) -> None:
        self.make_tree()
        advice = "the backports kernel is not there: 'tools/lab/prepare --for backports' prepares it"
        self.assertIn(advice, self.refusal("kdir", "backports"))
        self.assertIn(advice, self.refusal("run", "--kernel", "backports", "--", "true", status=125))

    def test_debug_kernel_in_preparation_suggests_wait(self) -> None:
        lab = self.make_tree()
        (lab / "logs/progress").write_text("[6/7] building the debug kernel: 43%\n")
        with self.another_run():
            advice = ("the debug kernel is being prepared ([6/7] building the debug kernel: 43%); "
                      "'tools/lab/prepare --for debug' waits for it")
            self.assertIn(advice, self.refusal("kdir", "debug"))
            self.assertIn(advice, self.refusal("run", "--kernel=debug", "--", "true", status=125))


if __name__ == "__main__":
    unittest.main()
