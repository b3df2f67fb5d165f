# SPDX-License-Identifier: GPL-2.0-or-later
"""The command's output on its way from the guest to the user."""


class EndMark:
    """Cuts the mark off a stream that the guest writes behind the command's last output.

    The mark is: record separator, "LAB-END ", a token that only this run knows, blank, status, record separator.
    """

    def __init__(self, token):
        self._start = b"\x1eLAB-END " + token.encode() + b" "
        self._held = b""
        self.status = None

    def feed(self, data):
        """Returns what of the data, and of data held back before, belongs to the command."""
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
    """Writes whole lines, each behind a prefix, so that two guests do not mix within a line."""

    def __init__(self, stream, prefix):
        self._stream = stream
        self._prefix = prefix.encode()
        self._rest = b""

    def write(self, data):
        """Takes any piece of output."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._stream.write(self._prefix + line + b"\n")
        self._stream.flush()

    def finish(self):
        """Writes a last line that has no end."""
        if self._rest:
            self.write(b"\n")


class Plain:
    """Writes output as it comes."""

    def __init__(self, stream):
        self._stream = stream

    def write(self, data):
        """Takes any piece of output."""
        self._stream.write(data)
        self._stream.flush()

    def finish(self):
        """Nothing is held back."""
