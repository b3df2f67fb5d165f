#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the messages of the driver with those that Documentation/troubleshooting.rst explains.

The page quotes each message on its own line between double backquotes, with … for each value.
"""

import pathlib
import re
import sys

from files import REPO

PAGE = REPO / "Documentation/troubleshooting.rst"
CALL = re.compile(
    r"\b(?:(?:dev|ibdev)_(?:err|warn|info)(?:_ratelimited)?|init_segment_explain|cxib_health_set_fatal)\s*\("
    r"[^;\"]*?((?:\"(?:[^\"\\]|\\.)*\"\s*)+)")
VALUE = re.compile(r"%(?:-?[\d.*#]*)(?:ll|l|z|h)?(?:pa|pR|pV|p|[a-zA-Z])")
# Messages that only forward the text of another message.
FORWARDED = {"…"}
# The page also explains messages of other programs.
OTHERS = ("modprobe: ", "cxib: ", "cxib-bind: ", "cxib-nvmet: ", "cxib-settings: ")


def messages_of(text: str) -> list[str]:
    found = []
    for match in CALL.finditer(text):
        literal = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', match.group(1)))
        found.append(VALUE.sub("…", literal.replace("\\n", "")))
    return found


def driver_messages() -> dict[str, str]:
    """The messages, with the file that prints each."""
    messages = {}
    for path in sorted((REPO / "drivers/cxib").rglob("*.c")):
        for message in messages_of(path.read_text(encoding="utf-8")):
            messages[message] = str(path.relative_to(REPO))
    return {message: name for message, name in messages.items() if message not in FORWARDED}


def explained_messages(page: pathlib.Path = PAGE) -> list[str]:
    text = page.read_text(encoding="utf-8")
    return [" ".join(quoted.split()) for quoted in re.findall(r"^``([^`]+)``$", text, re.MULTILINE)
            if not quoted.startswith(OTHERS)]


def main() -> int:
    written, explained = driver_messages(), explained_messages()
    complaints = [f"{name}: \"{message}\" is not explained in {PAGE.relative_to(REPO)}"
                  for message, name in written.items() if message not in explained]
    complaints += [f"{PAGE.relative_to(REPO)}: no such message in the driver: \"{message}\""
                   for message in explained if message not in written]
    print("\n".join(complaints + [f"{len(written)} messages, {len(complaints)} complaints"]))
    return 1 if complaints else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        print("\n".join(driver_messages()))
    else:
        sys.exit(main())
