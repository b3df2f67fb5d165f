# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests the checker of links between rendered pages."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "docs"))

import links  # noqa: E402  (found through the path above)


class Links(unittest.TestCase):
    def broken(self, page: str) -> list[str]:
        """Complaints about a page next to a page with the anchor "there"."""
        with tempfile.TemporaryDirectory() as name:
            directory = pathlib.Path(name)
            (directory / "page.html").write_text(page, encoding="utf-8")
            (directory / "sub").mkdir()
            (directory / "sub" / "other.html").write_text('<p id="there">', encoding="utf-8")
            return links.broken_links(directory)

    def test_links_with_targets_accepted(self) -> None:
        self.assertEqual(self.broken('<a href="sub/other.html#there">'), [])
        self.assertEqual(self.broken('<h1 id="here"><a href="#here">'), [])
        self.assertEqual(self.broken('<a href="https://www.kernel.org/missing">'), [])

    def test_missing_page_found(self) -> None:
        self.assertEqual(self.broken('<a href="other.html">'), ["page.html: no target: other.html"])

    def test_missing_image_found(self) -> None:
        self.assertEqual(self.broken('<img src="sub/plot.svg">'), ["page.html: no target: sub/plot.svg"])

    def test_missing_anchor_found(self) -> None:
        self.assertEqual(self.broken('<a href="sub/other.html#gone">'), ["page.html: no target: sub/other.html#gone"])


if __name__ == "__main__":
    unittest.main()
