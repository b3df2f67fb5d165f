#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks that each file and each anchor in a link of the rendered pages exists.

usage: links.py DIRECTORY
"""

import html.parser
import pathlib
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    """The anchors and the links of a page."""

    def __init__(self, file: pathlib.Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: set[str] = set()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.links.add(value)


def target_of(page: pathlib.Path, link: str) -> tuple[pathlib.Path, str] | None:
    """The file and the anchor of a link; None for a link to another site."""
    parts = urllib.parse.urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    path = urllib.parse.unquote(parts.path)
    return (page.parent / path).resolve() if path else page, urllib.parse.unquote(parts.fragment)


def broken_links(directory: pathlib.Path) -> list[str]:
    pages = {file: Page(file) for file in sorted(directory.rglob("*.html"))}
    broken = []
    for file, page in pages.items():
        for link in sorted(page.links):
            target = target_of(file, link)
            if target is None:
                continue
            path, anchor = target
            if not path.exists() or (anchor and path in pages and anchor not in pages[path].anchors):
                broken.append(f"{file.relative_to(directory)}: no target: {link}")
    return broken


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    broken = broken_links(pathlib.Path(sys.argv[1]).resolve())
    print("\n".join(broken), end="\n" if broken else "")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
