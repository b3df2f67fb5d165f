# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests how the lab separates a command's output from the end mark that follows it."""

import io
import unittest

from labrun.output import EndMark, Prefixed


class TheEndMark(unittest.TestCase):
    """The end mark may arrive in any number of pieces."""

    def test_output_without_mark_unchanged(self):
        mark = EndMark("ab12")
        self.assertEqual(b"text \x00\xff\n", mark.feed(b"text \x00\xff\n"))
        self.assertIsNone(mark.status)

    def test_mark_removed_and_status_known(self):
        mark = EndMark("ab12")
        self.assertEqual(b"no line end", mark.feed(b"no line end\x1eLAB-END ab12 7\x1e"))
        self.assertEqual(7, mark.status)

    def test_mark_in_single_bytes_found(self):
        mark = EndMark("ab12")
        seen = b"".join(mark.feed(bytes([byte])) for byte in b"one\n\x1eLAB-END ab12 0\x1e")
        self.assertEqual((b"one\n", 0), (seen, mark.status))

    def test_text_like_mark_is_output(self):
        mark = EndMark("ab12")
        seen = mark.feed(b"a\x1eLAB-") + mark.feed(b"END cd34 5\x1e\n")
        self.assertEqual((b"a\x1eLAB-END cd34 5\x1e\n", None), (seen, mark.status))

    def test_text_after_mark_is_dropped(self):
        mark = EndMark("ab12")
        mark.feed(b"\x1eLAB-END ab12 0\x1e")
        self.assertEqual(b"", mark.feed(b"a left-over daemon speaks\n"))


class PrefixedOutput(unittest.TestCase):
    """The output of two guests in one terminal."""

    def test_lines_get_prefix(self):
        stream = io.BytesIO()
        output = Prefixed(stream, "vm1| ")
        output.write(b"one\ntw")
        output.write(b"o\nthree")
        self.assertEqual(b"vm1| one\nvm1| two\n", stream.getvalue())
        output.finish()
        self.assertEqual(b"vm1| one\nvm1| two\nvm1| three\n", stream.getvalue())


if __name__ == "__main__":
    unittest.main()
