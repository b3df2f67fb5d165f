# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests which commands scripts/cxib-settings runs for a file. Stand-ins for the commands record their arguments."""

import os
import pathlib
import subprocess
import tempfile
import unittest
from typing import Any

COMMAND = pathlib.Path(__file__).resolve().parents[3] / "scripts/cxib-settings"
DEVICE, OTHER, MISSING = "0000:01:00.0", "0000:02:00.0", "0000:55:00.0"
PATIENCE = 60.0  # seconds; ends only a test that has already failed
RECORDER = """#!/bin/sh
echo "${0##*/} $*" >> "${0%/*}/calls"
case "$*" in *refused*) echo 'devlink answers: Invalid argument' >&2; exit 1 ;; esac
"""


class SettingsTest(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        for name in (DEVICE, OTHER):
            adapter = self.directory / "bus/pci/drivers/cxib" / name
            adapter.mkdir(parents=True)
            (adapter / "vendor").touch()
        for name in ("devlink", "rdma"):
            (self.directory / name).write_text(RECORDER, encoding="utf-8")
            (self.directory / name).chmod(0o755)

    def apply(self, *lines: str, end: str = "\n", devices: tuple[str, ...] = (DEVICE,)) -> subprocess.CompletedProcess[str]:
        (self.directory / "conf").write_text("\n".join(lines) + end, encoding="utf-8")
        return self.run_command(*devices)

    def run_command(self, *devices: str, **where: Any) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"PATH": f"{self.directory}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8",
                                    "CXIB_SETTINGS_CONF": str(self.directory / "conf"),
                                    "CXIB_SETTINGS_SYSFS": str(self.directory)}
        where = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | where
        return subprocess.run(["bash", COMMAND, *devices], env=environment, text=True, check=False, timeout=PATIENCE, **where)

    def calls(self) -> list[str]:
        calls = self.directory / "calls"
        return calls.read_text(encoding="utf-8").splitlines() if calls.exists() else []

    def test_lines_of_device_and_of_all_applied_in_order(self) -> None:
        done = self.apply("# comment", "", "* cq_softirq_context softirq", f"{OTHER} cq_quantum_us 80",
                          f"{DEVICE} cq_quantum_us 70", "0000:01:* grace_period 5")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.calls(), [
            f"devlink dev param set pci/{DEVICE} name cq_softirq_context value softirq cmode runtime",
            f"devlink dev param set pci/{DEVICE} name cq_quantum_us value 70 cmode runtime",
            f"devlink health set pci/{DEVICE} reporter device grace_period 5"])
        self.assertIn(f"{DEVICE}: cq_softirq_context softirq, cq_quantum_us 70, grace_period 5", done.stderr)

    def test_wrong_lines_named_and_others_applied(self) -> None:
        done = self.apply("* cq_quantum_us refused", "* cq_quantum_us", "* cq_busy_poll_us 30 us", "* cq_busy_poll_us 30")
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"{DEVICE}: line 1 of {self.directory}/conf, cq_quantum_us: devlink answers: Invalid argument", done.stderr)
        for number in (2, 3):
            self.assertIn(f"line {number} of {self.directory}/conf, ", done.stderr)
        self.assertEqual(self.calls()[1:], [f"devlink dev param set pci/{DEVICE} name cq_busy_poll_us value 30 cmode runtime"])

    def test_words_that_look_like_options_refused(self) -> None:
        done = self.apply("* --help 1", "* cq_quantum_us -j")
        self.assertEqual((done.returncode, self.calls()), (1, []))
        self.assertEqual(done.stderr.count("cannot begin with -"), 2)

    def test_lines_with_carriage_return_applied(self) -> None:
        self.apply("* cq_softirq_context softirq\r", "* cq_quantum_us 70\r")
        self.assertEqual([call.split()[8] for call in self.calls()], ["softirq", "70"])

    def test_broken_characters_hide_no_line(self) -> None:
        for end in b"\xe9", b"\xc3", b"\xf0\x9f":
            (self.directory / "calls").unlink(missing_ok=True)
            (self.directory / "conf").write_bytes(b"# qualit" + end + b"\n* cq_quantum_us 61\n")
            done = self.run_command(DEVICE)
            self.assertEqual((done.returncode, len(self.calls())), (0, 1), end)

    def test_moderation_other_than_on_or_off_refused(self) -> None:
        done = self.apply("* adaptive_moderation maybe")
        self.assertEqual((done.returncode, self.calls()), (1, []))
        self.assertIn("the value is 'maybe', must be on or off", done.stderr)

    def test_long_value_refused(self) -> None:
        done = self.apply(f"* cq_quantum_us {'9' * 100000}", "* cq_quantum_us 70")
        self.assertEqual((done.returncode, len(self.calls())), (1, 1))
        self.assertLess(len(done.stderr), 500)

    def test_file_with_nul_byte_is_a_failure(self) -> None:
        (self.directory / "conf").write_bytes(b"* cq_quantum_us 1\x000\n")
        done = self.run_command(DEVICE)
        self.assertEqual((done.returncode, self.calls()), (1, []))
        self.assertIn("has a NUL byte", done.stderr)

    def test_device_that_is_no_address_is_invalid(self) -> None:
        for word in ("foo", "", "*", "01:00.0/..", f"{DEVICE}/../{OTHER}"):
            done = self.apply("* cq_quantum_us 70", devices=(word,))
            self.assertEqual((done.returncode, self.calls()), (2, []))
            self.assertIn(f"DEVICE is '{word}', must be a PCI address", done.stderr)

    def test_file_that_cannot_be_read_is_a_failure(self) -> None:
        conf = self.directory / "conf"
        for make, remove in ((conf.mkdir, conf.rmdir), (lambda: os.mkfifo(conf), conf.unlink),
                             (lambda: conf.symlink_to("missing"), conf.unlink)):
            make()
            done = self.run_command(DEVICE)
            self.assertEqual(done.returncode, 1)
            self.assertIn("conf cannot be read", done.stderr)
            remove()

    def test_without_file_nothing_applied(self) -> None:
        for devices in ((), (DEVICE,)):
            done = self.run_command(*devices)
            self.assertEqual((done.returncode, done.stderr, self.calls()), (0, "", []))

    def test_device_that_cxib_does_not_drive_named_without_file(self) -> None:
        done = self.run_command(MISSING)
        self.assertEqual((done.returncode, done.stderr), (1, f"cxib-settings: cxib drives no adapter '{MISSING}'\n"))

    def test_usage_that_cannot_be_written_changes_no_status(self) -> None:
        (self.directory / "conf").write_text("* cq_quantum_us 70\n", encoding="utf-8")
        for word, name, status in (("--help", "stdout", 1), ("--lag", "stderr", 2)):
            with self.subTest(word), open("/dev/full", "w", encoding="ascii") as full:
                done = self.run_command(word, DEVICE, **{name: full})
                self.assertEqual((done.returncode, self.calls()), (status, []))
                if word == "--help":
                    self.assertEqual(done.stderr, "cxib-settings: the output cannot be written\n")

    def test_device_that_cxib_does_not_drive_named(self) -> None:
        done = self.apply("* cq_quantum_us 70", devices=(MISSING, DEVICE))
        self.assertEqual((done.returncode, len(self.calls())), (1, 1))
        self.assertIn(f"cxib drives no adapter '{MISSING}'", done.stderr)

    def test_lines_named_if_there_is_no_adapter(self) -> None:
        for name in (DEVICE, OTHER):
            (self.directory / "bus/pci/drivers/cxib" / name).rename(self.directory / name)
        done = self.apply(f"{DEVICE} cq_quantum_us 70", devices=())
        self.assertEqual(done.returncode, 0)
        self.assertIn(f"line 1 of {self.directory}/conf: cxib drives no adapter {DEVICE}", done.stderr)

    def test_file_that_cannot_be_searched_is_not_wrong(self) -> None:
        (self.directory / "wc").write_text("#!/bin/sh\nexit 1\n", encoding="ascii")
        (self.directory / "wc").chmod(0o755)
        done = self.apply("* cq_quantum_us 70")
        self.assertEqual((done.returncode, self.calls()), (1, []))
        self.assertEqual(done.stderr, f"cxib-settings: {self.directory}/conf cannot be read\n")

    def test_line_for_no_adapter_named(self) -> None:
        done = self.apply(f"{MISSING} cq_quantum_us 70", "[ cq_quantum_us 71", f"{OTHER} cq_quantum_us 80", devices=())
        self.assertEqual((done.returncode, len(self.calls())), (0, 1))
        self.assertIn(f"line 1 of {self.directory}/conf: cxib drives no adapter {MISSING}", done.stderr)
        self.assertIn("line 2 of", done.stderr)
        self.assertNotIn("line 3 of", done.stderr)

    def test_last_line_without_end_applied(self) -> None:
        self.apply("* cq_quantum_us 70", end="")
        self.assertEqual(len(self.calls()), 1)

    def test_command_that_reads_its_input_does_not_swallow_lines(self) -> None:
        (self.directory / "devlink").write_text(RECORDER + "cat > /dev/null\n", encoding="utf-8")
        self.apply("* cq_quantum_us 70", "* cq_busy_poll_us 30")
        self.assertEqual(len(self.calls()), 2)


if __name__ == "__main__":
    unittest.main()
