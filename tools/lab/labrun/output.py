# SPDX-License-Identifier: GPL-2.0-or-later
"""Passes the command's output from the guest to the user."""


class EndMark:
    """Removes the mark that the guest writes after the command's last output.

    The mark is: record separator, "LAB-END ", a token of this run, space, status, record separator.
    """

    def __init__(self, token):
        self._start = b"\x1eLAB-END " + token.encode() + b" "
        self._held = b""
        self.status = None

    def feed(self, data):
        """Returns the part of the new and of the withheld data that belongs to the command."""
        if self.status is not None:
            return b""
        data = self._held + data
        position = data.find(self._start)
        if position < 0:
            keep = self._beginning_at_end(data)
            self._held = data[len(data) - keep:]
            return data[:len(data) - keep]
        self._held = data[position:]
        number, mark, _ = self._held[len(self._start):].partition(b"\x1e")
        if mark:
            self.status = int(number)
        return data[:position] if position else b""

    def _beginning_at_end(self, data):
        for length in range(min(len(self._start) - 1, len(data)), 0, -1):
            if data.endswith(self._start[:length]):
                return length
        return 0


class Prefixed:
    """Writes complete lines with a prefix, so that the lines of two guests do not mix."""

    def __init__(self, stream, prefix):
        self._stream = stream
        self._prefix = prefix.encode()
        self._rest = b""

    def write(self, data):
        """Accepts any part of the output."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._stream.write(self._prefix + line + b"\n")
        self._stream.flush()

    def finish(self):
        """Writes an unterminated last line."""
        if self._rest:
            self.write(b"\n")


class Plain:
    """Writes output as it arrives."""

    def __init__(self, stream):
        self._stream = stream

    def write(self, data):
        """Accepts any part of the output."""
        self._stream.write(data)
        self._stream.flush()

    def finish(self):
        """Does nothing, as no output is withheld."""
