#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds private words for things that have a term in the InfiniBand specification, verbs, mlx5, PCIe or the kernel.

Identifiers are split at underscores and changes of case. Comments and strings are searched as text, and the lines of a
comment are joined first. A comment must not begin with a pronoun. With --count it prints the number of complaints for
each word instead.
"""

import collections
import pathlib
import re
import sys
from typing import Iterator, NamedTuple

from files import REPO, project_files


def pattern(expression: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{expression})\b", re.IGNORECASE)


IDENTIFIER = pattern(
    r"octwords?|obituary|posters?|quiet|broken|told|tells?|judges?|spoilt?|lies?|books|abandon(ed)?|"
    r"(un)?answer(s|ed)?|least|most|str(ikes?|uck)")
DRIVER_IDENTIFIER = pattern(
    r"sends|receives|pieces?|signed|tagged|paged|whole|forgets?|faulting|programs?|senders?|mark")
TEXT = pattern(
    r"(is|are) (not )?possible|makes? no sense|beyond hope|given up|gives? up|set aside|"
    r"(some|any|every|no)body|who(ever)? (has|is|asks?|wants?|waits?|posts?|polls?)|(?<!\")he|told|"
    r"tells? (of|the|a|it)|octwords?|requests? to (receive|send)|pages? of doorbells|"
    r"doorbell pages?|general services?|datagrams? of the management|"
    r"management datagrams?|whole address space|br(ing|ought)s? in|pages come in|interface steps?|"
    r"a mark|reserved key|memory on the device|the other end|the way to|shall be like|"
    r"the reverse|as the device sees it|made, (changed|queried|read|destroyed)|happens by itself|"
    r"stands? still|under way|str(ikes?|uck)|rooms|another room|judges?")
DRIVER_TEXT = pattern(r"programs?|pieces?|answers?|the library|posters?")
# The noun of such a pronoun is elsewhere in the file, and may be moved away from the comment.
PRONOUN = re.compile(r"(?:/\*+|///?[!<]*) ?(It|Its|They|Their|That|Those|Them)\b")
# For each file suffix: how a case of KUnit, unittest or GoogleTest is declared, and the names that are refused.
CASES = {
    ".c": (re.compile(r"KUNIT_CASE(?:_PARAM)?\((\w+)"),
           re.compile(r"(an?|the|who(ever)?|what|its?|is|no)_\w+|\w+_(an?|the)_\w+")),
    ".py": (re.compile(r"def test_(\w+)\("), re.compile(r"(an?|the|who(ever)?|what|its?|nobody)_\w+|\w+_(an?|the)_\w+")),
    ".cpp": (re.compile(r"^TEST(?:_F|_P)?\(\s*\w+,\s*(\w+)\)", re.MULTILINE),
             re.compile(r"(An?|The|That|Who(ever)?|What|Its?|Nobody|Of|On|In|Without|DoesSo)[A-Z]\w*|"
                        r"\w*[a-z0-9](An?|The)[A-Z0-9]\w*|\w*_\w*")),
}

# Names from other sources: generated tables, kernel interfaces, SCSI and its targets.
FOREIGN = re.compile(
    r"hw_|HW_|MLX5|mlx5_|xa_|XA_|ib_|IB_|rdma_|se_|target_|scsi_|uverbs_|UVERBS_|kunit_")
# In the files of CODE identifiers and text are checked, in the files of PROSE only text.
CODE = ("drivers/", "kunit/", "include/cxib/", "include/uapi/", "lib/", "tools/cxemu/")
PROSE = ("scripts/hwtab/", "tools/")
# Samples of kernel messages, and the word lists of this check.
SKIPPED = ("kunit/broken/", "tools/testing/static/terms.py")
# Texts in these files are samples. Only the names of their cases are checked.
SELFTESTS = "tools/testing/selftest/"
TOKEN = re.compile(
    r"(?P<comment>//[^\n]*(?:\n[ \t]*//[^\n]*)*|/\*.*?\*/)|(?P<string>(?:\"(?:\\.|[^\"\\\n])*\"\s*)+)|"
    r"(?P<character>'(?:\\.|[^'\\\n])+')|(?P<include>^#include[^\n]*)|(?P<name>[A-Za-z_]\w*)|\n|.",
    re.DOTALL | re.MULTILINE)
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


class Complaint(NamedTuple):
    file: str
    line: int
    word: str
    where: str


def words_of(identifier: str) -> list[str]:
    return [word for part in identifier.split("_") for word in WORD.findall(part)]


def flattened(text: str) -> str:
    """Joins the lines of a comment or a sequence of strings to one line of prose."""
    text = re.sub(r"\"\s*\"", "", text)
    return re.sub(r"\s*\n[ \t]*(?:\*|//[/!<]*)?[ \t]*", " ", text)


def in_identifier(name: str, driver: bool) -> str:
    """The first refused word of an identifier; empty if there is none."""
    if FOREIGN.match(name):
        return ""
    for word in words_of(name):
        if IDENTIFIER.fullmatch(word) or (driver and DRIVER_IDENTIFIER.fullmatch(word)):
            return word
    return ""


def in_text(text: str, driver: bool) -> Iterator[str]:
    for expression in (TEXT, DRIVER_TEXT) if driver else (TEXT,):
        for match in expression.finditer(flattened(text)):
            yield match.group(0)


def code_complaints(file: str, text: str) -> Iterator[Complaint]:
    driver = file.startswith(("drivers/", "kunit/", "include/"))
    line = 1
    for match in TOKEN.finditer(text):
        kind, token = match.lastgroup, match.group(0)
        if kind == "name":
            word = in_identifier(token, driver)
            if word:
                yield Complaint(file, line, word.lower(), token)
        elif kind in ("comment", "string"):
            for word in in_text(token, driver):
                yield Complaint(file, line, word.lower(), flattened(token)[:100])
        line += token.count("\n")


def pronoun_complaints(file: str, text: str) -> Iterator[Complaint]:
    """Complaints about C and C++ comments that begin with a pronoun."""
    line = 1
    for match in TOKEN.finditer(text):
        comment = flattened(match.group(0)) if match.lastgroup == "comment" else ""
        pronoun = PRONOUN.match(comment)
        if pronoun:
            yield Complaint(file, line, f"begins with {pronoun[1]}", comment[:100])
        line += match.group(0).count("\n")


def case_complaints(file: str, text: str) -> Iterator[Complaint]:
    """Complaints about case names: a name says subject, condition and result, without articles."""
    begin, refused = CASES.get(pathlib.PurePath(file).suffix, (None, None))
    for match in begin.finditer(text) if begin else ():
        if refused.fullmatch(match.group(1)):
            yield Complaint(file, text.count("\n", 0, match.start()) + 1, "case name", match.group(1))


def page_complaints(file: str, text: str) -> Iterator[Complaint]:
    """Complaints about a file that is read as text, paragraph by paragraph: pages, and programs outside the device's
    code."""
    for match in re.finditer(r"(?:[^\n]+\n)+", re.sub(r"(?m)^[ \t]*(?:#|//[/!<]*|\*) ?", "", text)):
        for word in in_text(match.group(0), False):
            yield Complaint(file, text.count("\n", 0, match.start()) + 1, word.lower(), "")


def complaints(file: str, text: str) -> Iterator[Complaint]:
    if not file.startswith(SELFTESTS):
        yield from code_complaints(file, text) if file.startswith(CODE) else page_complaints(file, text)
    yield from case_complaints(file, text)
    if file.endswith((".c", ".h", ".cpp", ".hpp")):
        yield from pronoun_complaints(file, text)


def is_checked(name: str) -> bool:
    if name.startswith(SKIPPED):
        return False
    if name.startswith(CODE):
        return name.endswith((".c", ".h", ".cpp", ".hpp"))
    if name.startswith(PROSE):
        return name.endswith((".c", ".h", ".hpp", ".cpp", ".py", ".md", ".toml"))
    return name.startswith("Documentation/") and name.endswith(".rst") and "hardware/" not in name


def main() -> int:
    wanted = [argument for argument in sys.argv[1:] if argument != "--count"]
    names = [name for name in project_files() if is_checked(name) and (not wanted or name.startswith(tuple(wanted)))]
    found = [c for name in names for c in complaints(name, pathlib.Path(REPO / name).read_text(encoding="utf-8"))]
    if "--count" in sys.argv:
        lines = [f"{count:5} {word}" for word, count in collections.Counter(c.word for c in found).most_common()]
    else:
        lines = [f'{c.file}:{c.line}: "{c.word}"{": " + c.where if c.where else ""}' for c in found]
    print("\n".join(lines + [f"{len(names)} files, {len(found)} complaints"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
