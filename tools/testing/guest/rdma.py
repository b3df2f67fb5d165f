# SPDX-License-Identifier: GPL-2.0-or-later
"""The RDMA devices of this guest, and functions that run programs on them."""

import contextlib
import dataclasses
import itertools
import pathlib
import re
import subprocess
import time
from collections.abc import Callable, Iterator

CLASS = pathlib.Path("/sys/class/infiniband")
PATIENCE = 300.0  # seconds; ends only a test that has already failed
GRACE = 5.0  # seconds in which a server notices that its client has ended
MAD_TIMEOUT = ("--timeout", 10000)  # milliseconds; the tools of infiniband-diags wait for one second by default
TCP_PORTS = itertools.count(18515)  # for programs that exchange their parameters over TCP
UNRESOLVED = re.compile(r"RDMA_CM_EVENT_(ADDR|ROUTE)_ERROR")
PERFTEST_ROW = re.compile(r"^ *(\d+[ \t]+\d+(?:[ \t]+-?(?:[\d.]+|nan|inf))+)[ \t]*$", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Port:
    """One port of a device."""

    device: str
    number: int = 1

    @property
    def directory(self) -> pathlib.Path:
        return CLASS / self.device / "ports" / str(self.number)

    def attribute(self, name: str) -> str:
        return (self.directory / name).read_text().strip()

    @property
    def lid(self) -> int:
        return int(self.attribute("lid"), 16)

    @property
    def state(self) -> str:
        return self.attribute("state").split(": ")[1]

    @property
    def guid(self) -> str:
        """Port GUID as most tools print it: hexadecimal without leading zeros."""
        return f"{int(self.attribute('gids/0').replace(':', '')[16:], 16):x}"

    @property
    def interface(self) -> str:
        """Name of the IPoIB interface. Loads ib_ipoib if it is not loaded."""
        run("modprobe", "ib_ipoib")
        until(lambda: bool(self._interfaces()), f"port {self.number} of {self.device} has an IPoIB interface")
        return self._interfaces()[0]

    def _interfaces(self) -> list[str]:
        """Names of the device's interfaces. They differ in dev_port, which counts from 0."""
        directory = CLASS / self.device / "device" / "net"
        return [path.name for path in directory.glob("*") if int((path / "dev_port").read_text()) == self.number - 1]


def devices() -> list[str]:
    return sorted(path.name for path in CLASS.glob("*"))


def ports() -> list[Port]:
    return [Port(device) for device in devices()]


def run(*command: str | int, timeout: float = PATIENCE) -> str:
    """Runs a program that must succeed, and returns its output."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired as error:
        raise AssertionError(f"'{' '.join(words)}' has not ended within {timeout:.0f} s: {error.stdout}") from error
    if done.returncode != 0:
        raise AssertionError(f"'{' '.join(words)}' ended with {done.returncode}: {done.stderr}{done.stdout}")
    return done.stdout


def run_client(*command: str | int, timeout: float = PATIENCE) -> str:
    """Calls run() for a client that connects through the RDMA connection manager.

    A librdmacm program fails if an address or a route is not resolved within two seconds. Such a client has not reached
    the server yet, so it is run again.
    """
    deadline = time.monotonic() + timeout
    while True:
        try:
            return run(*command, timeout=timeout)
        except AssertionError as error:
            if not UNRESOLVED.search(str(error)) or time.monotonic() > deadline:
                raise


def run_until_success(*command: str | int) -> None:
    """Runs a program until it succeeds: another process may use its object for a moment longer."""
    errors = [""]

    def has_succeeded() -> bool:
        try:
            run(*command)
        except AssertionError as error:
            errors[0] = str(error)
            return False
        return True

    until(has_succeeded, f"'{' '.join(str(word) for word in command)}' succeeds", evidence=lambda: errors[0])


def succeeds(*command: str | int) -> bool:
    words = [str(word) for word in command]
    return subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


@contextlib.contextmanager
def background(*command: str | int) -> Iterator[subprocess.Popen]:
    """Runs a program in the background and ends it with the test. If the test fails, its message contains the program's
    output."""
    words = [str(word) for word in command]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as child:
        try:
            yield child
        except AssertionError as error:
            if not child.stdout.closed:
                error.add_note(f"meanwhile, '{' '.join(words)}' {_end(child)}")
            raise
        finally:
            _terminate(child)


def _end(child: subprocess.Popen) -> str:
    """Ends a program that still runs; returns its exit status and its output as text."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(GRACE)
    state = "goes on" if child.poll() is None else f"has ended with {child.returncode}"
    child.terminate()
    try:
        output, _ = child.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        child.kill()
        output, _ = child.communicate()
    return f"{state}: {output}"


def _terminate(child: subprocess.Popen) -> None:
    """Ends a program. A program that does not end fails the test instead of blocking it."""
    if child.poll() is not None:
        return
    child.terminate()
    child.stdout.close()  # it may block on a full pipe
    try:
        child.wait(PATIENCE)
    except subprocess.TimeoutExpired as error:
        child.kill()
        raise AssertionError(f"{child.args} has not ended within {PATIENCE:.0f} s after SIGTERM") from error


def finish(child: subprocess.Popen, timeout: float = PATIENCE) -> str:
    """Waits until a background program ends with success, and returns its output."""
    try:
        output, _ = child.communicate(timeout=timeout)
    except subprocess.TimeoutExpired as error:
        child.kill()
        output, _ = child.communicate()
        raise AssertionError(f"{child.args} has not ended within {timeout:.0f} s: {output}") from error
    if child.returncode != 0:
        raise AssertionError(f"{child.args} ended with {child.returncode}: {output}")
    return output


def ask(tool: str, *words: str | int) -> str:
    """Runs a tool of infiniband-diags on the first port. Without a named port the tool would first read all tables of
    every port."""
    return run(tool, "-C", devices()[0], "-P", 1, *MAD_TIMEOUT, *words)


def saquery(*words: str | int) -> str:
    """Queries the subnet administrator with saquery and a long time-out: by default saquery sends one request and waits
    one second."""
    return ask("saquery", "--timeout", 60000, *words)


def exchange(program: list[str | int], source: Port, target: Port, timeout: float = PATIENCE) -> tuple[str, str]:
    """Runs server and client of a program on two ports, and returns the output of both."""
    tcp_port = next(TCP_PORTS)
    words = [*program, "-p", tcp_port]
    with background(*words, "-d", target.device, "-i", target.number) as server:
        await_listener(tcp_port, server)
        client = run(*words, "-d", source.device, "-i", source.number, "127.0.0.1", timeout=timeout)
        return finish(server), client


def until(condition: Callable[[], bool], what: str, timeout: float = PATIENCE,
          evidence: Callable[[], str] = lambda: "") -> None:
    """Waits until a condition becomes true. If it does not, the failure message contains the evidence."""
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: has not happened within {timeout:.0f} s\n{evidence()}".rstrip())
        time.sleep(0.2)


def listens(port: int) -> bool:
    """Whether a program in this guest listens on a TCP port."""
    wanted = f":{port:04X}"
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in pathlib.Path(table).read_text().splitlines()[1:]:
            words = line.split()
            if words[1].endswith(wanted) and words[3] == "0A":
                return True
    return False


def await_listener(port: int, server: subprocess.Popen) -> None:
    until(lambda: listens(port) or server.poll() is not None, f"a program listens on TCP port {port}")
    if server.poll() is not None:
        raise AssertionError(f"{server.args} ended with {server.returncode}: {server.stdout.read()}")


def number(text: str, pattern: str) -> int:
    """The number that the pattern's group matches in a program's output."""
    found = re.search(pattern, text, re.MULTILINE)
    if not found:
        raise AssertionError(f"nothing matches '{pattern}' in: {text}")
    digits = found.group(1)
    return int(digits, 16 if digits.startswith("0x") else 10)


def perftest_rows(output: str) -> list[list[str]]:
    """The columns of each row of perftest's table: size, iterations, figures. On a slow machine a figure may not be a
    number: the standard deviation is "-nan" if one iteration takes 46 ms longer than the others (an int overflows), and
    all figures are "inf" if perftest cannot measure the processor frequency."""
    rows = [row.split() for row in PERFTEST_ROW.findall(output)]
    if not rows:
        raise AssertionError(f"no row of results in: {output}")
    return rows
