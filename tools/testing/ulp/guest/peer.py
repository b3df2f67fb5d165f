# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls functions at the server's end from tests, which run at the client's end: in the same guest or in the other one.

Tests name functions and context managers of modules that both guests have. In one guest they are called directly. In
two guests, requests and results are sent over TCP (pickle). Whatever a request refers to must be at the top level of a
module, or a method of a value that contains only plain data.
"""

import contextlib
import functools
import pickle
import socket
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import wire

ADDRESS = (wire.SERVER, 18700)
MEETING = 600.0  # seconds until both guests have started
PATIENCE = 900.0  # more than any time-out of the peer; ends only a test that has already failed
WHOLE_RUN = 1800.0


class Agent:
    """Runs the requests of the client's guest. It keeps the entered contexts open, the innermost one last."""

    def __init__(self) -> None:
        self.contexts: list[contextlib.ExitStack] = []
        self.values: list[Any] = []

    def call(self, function: Callable, *arguments: object) -> object:
        return function(*arguments)

    def enter(self, factory: Callable, *arguments: object) -> int:
        """Enters a context; returns the number of its value."""
        with contextlib.ExitStack() as stack:
            value = stack.enter_context(factory(*arguments))
            self.contexts.append(stack.pop_all())
        self.values.append(value)
        return len(self.values) - 1

    def call_method(self, number: int, name: str, *arguments: object) -> object:
        return getattr(self.values[number], name)(*arguments)

    def leave(self) -> None:
        self.values.pop()
        self.contexts.pop().close()

    def leave_all(self) -> None:
        while self.contexts:
            self.leave()

    def answer(self, request: tuple[str, tuple]) -> tuple[bool, object]:
        name, arguments = request
        try:
            return True, getattr(self, name)(*arguments)
        except Exception:  # Any exception belongs to the test that sent the request.
            return False, traceback.format_exc()


def _answer_all(agent: Agent, file: BinaryIO) -> None:
    """Handles requests until the other guest closes the connection."""
    with contextlib.suppress(EOFError):
        while True:
            request = pickle.load(file)  # noqa: S301
            pickle.dump(agent.answer(request), file)
            file.flush()


def serve() -> None:
    """Handles the requests of the other guest until its tests have ended."""
    wire.ends()
    agent = Agent()
    with socket.create_server(ADDRESS) as listener:
        listener.settimeout(MEETING)
        connection, _ = listener.accept()
    connection.settimeout(WHOLE_RUN)
    with connection, connection.makefile("rwb") as file:
        _answer_all(agent, file)
    agent.leave_all()


@functools.cache
def _connection() -> BinaryIO:
    """Connects to the other guest, which serves until the connection is closed, at the latest when this program
    ends."""
    wire.ends()
    limit = time.monotonic() + MEETING
    while True:
        try:
            connection = socket.create_connection(ADDRESS, timeout=10)
        except OSError:
            if time.monotonic() > limit:
                raise
            time.sleep(1)
        else:
            connection.settimeout(PATIENCE)
            return connection.makefile("rwb")


def _ask(name: str, *arguments: object) -> Any:
    file = _connection()
    pickle.dump((name, arguments), file)
    file.flush()
    succeeded, result = pickle.load(file)  # noqa: S301
    if not succeeded:
        raise AssertionError(f"at the server's end: {result}")
    return result


class Remote:
    """Represents a value of the other guest, in which its methods run."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __getattr__(self, name: str) -> Callable:
        return functools.partial(_ask, "call_method", self._number, name)


@contextlib.contextmanager
def _held(factory: Callable, *arguments: object) -> Iterator[Remote]:
    number = _ask("enter", factory, *arguments)
    try:
        yield Remote(number)
    finally:
        _ask("leave")


def call(function: Callable, *arguments: object) -> Any:
    """Calls a function at the server's end and returns its result."""
    return function(*arguments) if wire.ALONE else _ask("call", function, *arguments)


def holding(factory: Callable[..., contextlib.AbstractContextManager], *arguments: object,
            ) -> contextlib.AbstractContextManager[Any]:
    """Enters a context at the server's end; returns its value or a Remote. Contexts are left in reverse order."""
    return factory(*arguments) if wire.ALONE else _held(factory, *arguments)
