# SPDX-License-Identifier: GPL-2.0-or-later
"""The server's end of the wire as tests reach it, which run at the client's: in the same guest, or in the other one.

What they want done there are functions and context managers of modules that both guests have. In one guest these are
simply called. In two guests, requests and results go over TCP (pickle): what a request refers to by its name has to be
at the top of a module, or be a method of a value that says no more than what it is about.
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
PATIENCE = 900.0  # more than any timeout of the peer; only ends a test that has failed anyway
WHOLE_RUN = 1800.0


class Agent:
    """Does what the client's guest asks for. It keeps open the contexts that it has entered, the innermost one last."""

    def __init__(self) -> None:
        self.contexts: list[contextlib.ExitStack] = []
        self.values: list[Any] = []

    def call(self, function: Callable, *arguments: object) -> object:
        return function(*arguments)

    def enter(self, factory: Callable, *arguments: object) -> int:
        """Enters a context; the number of its value."""
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
        except Exception:  # Whatever it is, it is the test's that has asked.
            return False, traceback.format_exc()


def _answer_all(agent: Agent, file: BinaryIO) -> None:
    """Until the other guest closes the connection."""
    with contextlib.suppress(EOFError):
        while True:
            request = pickle.load(file)  # noqa: S301
            pickle.dump(agent.answer(request), file)
            file.flush()


def serve() -> None:
    """Does what the other guest asks for until that has ended its tests."""
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
    """Waits for the other guest; it goes on serving until the connection is closed, with this program at the latest."""
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
    """Stands for a value in the other guest, where its methods run."""

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
    """What a function returns at the server's end."""
    return function(*arguments) if wire.ALONE else _ask("call", function, *arguments)


def holding(factory: Callable[..., contextlib.AbstractContextManager], *arguments: object,
            ) -> contextlib.AbstractContextManager[Any]:
    """A context at the server's end; its value, or what stands for that. What is entered last is left first."""
    return factory(*arguments) if wire.ALONE else _held(factory, *arguments)
