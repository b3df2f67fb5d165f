#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests cxemu as a process: its sockets, signals, files and exit status.

usage: test_process.py CXEMU [ARGUMENT of unittest]…     pytest tests build/cxemu/cxemu
"""

import contextlib
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from typing import Any, Iterator

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.dont_write_bytecode = True

import vfio_user  # noqa: E402

PROGRAM = str(pathlib.Path(__file__).resolve().parents[4] / "build/cxemu/cxemu")
PATIENCE = 300  # seconds until something counts as hung

LINK_TYPE_ERF = 197  # its records have an InfiniBand type


class Machine(vfio_user.Connection):
    """A virtual machine connected to an adapter."""

    def __init__(self, path: pathlib.Path) -> None:
        super().__init__(path, PATIENCE)

    def map_megabyte(self) -> None:
        os.close(self.map_memory(1 << 20))

    def vanish(self) -> None:
        """Closes the connection in the middle of a message."""
        self.socket.send(vfio_user.message(vfio_user.DMA_MAP, bytes(32))[:20])
        self.close()


class ProcessTest(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()  # pylint: disable=consider-using-with
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.output = self.directory / "output"

    def wait_for(self, what: str, condition: Any) -> Any:
        """Waits until the condition is true; returns its value."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            result = condition()
            if result:
                return result
            time.sleep(0.02)
        return self.fail(f"{what} did not come about; cxemu said:\n{self.output.read_text()}")

    @contextlib.contextmanager
    def started(self, *arguments: str, hcas: int = 1) -> Iterator[subprocess.Popen[bytes]]:
        """Runs cxemu with adapters at hca0, hca1, …; ends it and expects status 0."""
        sockets = [self.directory / f"hca{number}" for number in range(hcas)]
        options = [option for path in sockets for option in ("--hca", str(path))]
        said_before = self.output.stat().st_size if self.output.exists() else 0
        with self.output.open("ab") as output:
            process = subprocess.Popen([PROGRAM, *options, *arguments], stderr=output)  # pylint: disable=consider-using-with
        try:
            # The socket files may be those of an earlier process, so the log decides.
            self.wait_for("the sockets", lambda: self.listens_on(sockets, said_before) or process.poll() is not None)
            self.assertIsNone(process.poll(), self.output.read_text())
            yield process
            if process.poll() is None:
                process.terminate()
                self.assertEqual(process.wait(PATIENCE), 0, self.output.read_text())
        finally:
            process.kill()
            process.wait()

    def listens_on(self, sockets: list[pathlib.Path], said_before: int) -> bool:
        said = self.output.read_text()[said_before:]
        return all(f"listening on {path}\n" in said for path in sockets)

    def machine(self, hca: str) -> Machine:
        machine = Machine(self.directory / hca)
        self.addCleanup(machine.close)
        return machine

    def ask(self, line: str) -> Any:
        """Sends a command through the control socket; returns the reply."""
        with socket.socket(socket.AF_UNIX) as control:
            control.settimeout(PATIENCE)
            control.connect(str(self.directory / "control"))
            control.sendall(line.encode() + b"\n")
            with control.makefile() as answers:
                return json.loads(answers.readline())

    def connections(self, hca: str) -> int:
        return self.ask("stats")["ok"][hca]["session"]["connections"]

    def test_signal_ends_process_and_removes_sockets(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.started("--control", str(self.directory / "control"), hcas=2) as process:
                self.assertTrue((self.directory / "control").is_socket())
                process.send_signal(number)
                self.assertEqual(process.wait(PATIENCE), 0)
            self.assertEqual([path.name for path in self.directory.iterdir()], ["output"])

    def test_invalid_option_named(self) -> None:
        for arguments, part in (
            ((), "--hca"),
            (("--frobnicate",), "--frobnicate"),
            (("--hca", "/nonexistent/x"), "/nonexistent/x"),
            (("--hca", str(self.directory / "x"), "--log", "/nonexistent/log"), "/nonexistent/log"),
            (("--hca", str(self.directory / "x"), "--pcap", "/nonexistent/pcap"), "/nonexistent/pcap"),
            (("--hca", str(self.directory / "x"), "--control", "/nonexistent/c"), "/nonexistent/c"),
            (("--hca", str(self.directory / "x"), "--allow", "/nonexistent/a"), "/nonexistent/a"),
            (("--config", "/nonexistent/c.toml"), "/nonexistent/c.toml"),
        ):
            with self.subTest(arguments=arguments):
                run = subprocess.run(
                    [PROGRAM, *arguments], capture_output=True, text=True, timeout=PATIENCE, check=False
                )
                self.assertNotEqual(run.returncode, 0)
                self.assertGreater(run.returncode, 0, "ended by a signal")
                self.assertIn(part, run.stderr)

    def test_socket_in_use_refused(self) -> None:
        with self.started():
            run = subprocess.run(
                [PROGRAM, "--hca", str(self.directory / "hca0")],
                capture_output=True,
                text=True,
                timeout=PATIENCE,
                check=False,
            )
            self.assertNotEqual(run.returncode, 0)
            self.assertIn("hca0", run.stderr)
            self.machine("hca0").map_megabyte()

    def test_killed_process_starts_again(self) -> None:
        with self.started() as process:
            process.kill()
            process.wait()
        self.assertTrue((self.directory / "hca0").is_socket(), "it had no chance to remove it")
        with self.started("--control", str(self.directory / "control")):
            self.assertEqual(self.connections("hca0"), 0)
            self.machine("hca0").map_megabyte()

    def test_statistics_printed_at_signal_and_exit(self) -> None:
        with self.started() as process:
            process.send_signal(signal.SIGUSR1)
            text = self.wait_for("the statistics", lambda: "violations:" in self.output.read_text())
            self.assertTrue(text)
            self.assertIn('"command_queue"', self.output.read_text())
        self.assertEqual(self.output.read_text().count("violations: 0"), 2)

    def test_control_socket_responds(self) -> None:
        with self.started("--control", str(self.directory / "control"), hcas=2):
            self.assertEqual(sorted(self.ask("stats")["ok"]), ["hca0", "hca1"])
            self.assertIn("error", self.ask("frobnicate"))

    def test_output_files_written(self) -> None:
        files = {name: self.directory / name for name in ("pcap", "log", "violations")}
        arguments = [text for name, path in files.items() for text in (f"--{name}", str(path))]
        with self.started(*arguments):
            magic, link_type = struct.unpack("<I16xI", files["pcap"].read_bytes()[:24])
            self.assertEqual(magic, 0xA1B23C4D, "nanoseconds")
            self.assertEqual(link_type, LINK_TYPE_ERF)
            machine = self.machine("hca0")
            machine.vanish()
            self.wait_for("the log", lambda: "virtual machine gone" in files["log"].read_text())
        self.assertEqual(files["violations"].read_text(), "")

    def test_successive_machines_served(self) -> None:
        with self.started("--control", str(self.directory / "control"), hcas=2):
            other = self.machine("hca1")
            other.map_megabyte()
            for number in range(20):
                machine = self.machine("hca0")
                machine.map_megabyte()
                self.assertEqual(self.connections("hca0"), number + 1)
                machine.vanish()
            config = other.call(vfio_user.REGION_READ, struct.pack("<QII", 0, 7, 4))
            self.assertEqual(config[16:], bytes.fromhex("b3151710"))

    def test_hundreds_of_machines_leak_nothing(self) -> None:
        def held() -> tuple[int, int]:
            descriptors = len(list(pathlib.Path(f"/proc/{process.pid}/fd").iterdir()))
            maps = pathlib.Path(f"/proc/{process.pid}/maps").read_text(encoding="ascii")
            return descriptors, maps.count("memfd:guest")

        with self.started("--control", str(self.directory / "control")) as process:
            before = held()
            for _ in range(300):
                machine = self.machine("hca0")
                machine.map_megabyte()
                machine.vanish()
            self.assertEqual(self.connections("hca0"), 300)
            self.wait_for("the end of the last machine", lambda: held() == before)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = sys.argv.pop(1)
    unittest.main()
