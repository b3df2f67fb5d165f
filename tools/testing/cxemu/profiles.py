#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Prints the page cxemu-profiles.rst: the sources of cxemu's profiles, and the assumed values that drivers act on.

The fields that cxib uses come from its sources, those of the in-tree driver from read_by_mlx5.toml. --in-tree updates
that file from the kernel's sources, a directory or a tar archive.
"""

import argparse
import json
import re
import tarfile
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator

REPO = Path(__file__).resolve().parents[3]
PROFILES = REPO / "tools/cxemu/hca/device_profile.cpp"
ORIGINS = REPO / "tools/cxemu/hca/origin.hpp"
IN_TREE = Path(__file__).with_name("read_by_mlx5.toml")
ASSUMED = "assumed"

# Files of the in-tree driver that an HCA with InfiniBand ports uses.
IN_TREE_FILES = re.compile(r"(?:^|/)drivers/(?:infiniband/hw/mlx5|net/ethernet/mellanox/mlx5/core)/(?!en_|eswitch)\w+\.[ch]$")
IN_TREE_READ = re.compile(r"\bMLX5_CAP_(?:GEN|GEN_MAX|GEN_2|GEN_2_MAX|ATOMIC|ODP|ODP_MAX|ODP_SCHEME)\([^,()]+(?:\([^()]*\))?[^,()]*,"
                          r"\s*([\w.]+)\)")
VALUE = re.compile(r'\b(?P<kind>fixed|settable)\("(?P<field>[\w.]+)",(?P<values>[^;]*?),\s*(?P<origin>\w+)\)(?=,\s*(?:fixed|settable|//|\}))')
ARRAY = re.compile(r"constexpr std::array (?P<name>\w+)\{(?P<body>.*?)^\};", re.MULTILINE | re.DOTALL)
PROFILE = re.compile(r"DeviceProfile\{(?P<body>.*?)\}(?=,\n    DeviceProfile|,\n\};)", re.DOTALL)
MEMBER = re.compile(r'\.(\w+) = (?:"([^"]*)"|&?([\w\']+))')
ORIGIN = re.compile(r'constexpr Origin (?P<variable>\w+)\{\s*"(?P<name>[^"]*)",\s*"(?P<card>[^"]*)",\s*"(?P<place>[^"]*)"\}')
PAGES = (("general", "general"), ("general_2", None), ("atomic", "atomic"), ("on_demand_paging", "paging"))


@dataclass(frozen=True)
class Origin:
    name: str
    card: str
    place: str


@dataclass(frozen=True)
class Profile:
    name: str
    title: str
    origins: dict[str, str]  # for each field: name of its origin


def origins() -> dict[str, Origin]:
    """Origins by name of their constant."""
    text = re.sub(r"\s+", " ", ORIGINS.read_text(encoding="utf-8"))
    return {found["variable"]: Origin(found["name"], found["card"], found["place"]) for found in ORIGIN.finditer(text)}


def arrays(text: str) -> dict[str, dict[str, str]]:
    """For each array, the constant of each field's origin."""
    found = {}
    for array in ARRAY.finditer(text):
        body = re.sub(r"\s*//[^\n]*", "", array["body"]) + "}"
        fields = {value["field"]: value["origin"] for value in VALUE.finditer(body)}
        if len(fields) != len(re.findall(r"\b(?:fixed|settable)\(", body)):
            raise SystemExit(f"{PROFILES.name}: a value of {array['name']} cannot be read")
        found[array["name"]] = fields
    return found


def profiles() -> list[Profile]:
    text = PROFILES.read_text(encoding="utf-8")
    lists, known, found = arrays(text), origins(), []
    for profile in PROFILE.finditer(text):
        members = {name: string or word for name, string, word in MEMBER.findall(profile["body"])}
        fields: dict[str, str] = {}
        for member, common in PAGES:
            if member == "on_demand_paging" and members["name"] == "connectx4-2016":
                continue  # without paging
            for name in (common, members.get(member)):
                fields |= lists[name] if name else {}
        found.append(Profile(members["name"], members["title"],
                             {field: known[origin].name for field, origin in fields.items()}))
    if not found:
        raise SystemExit(f"{PROFILES.name}: no profile can be read")
    return found


def last(field: str) -> str:
    """The last part of a field's name; drivers use only this part."""
    return field.rsplit(".", 1)[-1]


def words_of_cxib(name: str, text: str) -> Iterator[str]:
    """Yields the names of capabilities, and other words, in a source file of cxib."""
    yield from re.findall(r"\bhw_(?:cmd_hca_cap|cmd_hca_cap_2|atomic_caps|odp_cap|odp_scheme_cap|"
                          r"odp_per_transport_service_cap)_get_(\w+)\(", text)
    if name == "device_caps.c":
        return  # stores all of them
    yield from re.findall(r"\bcaps(?:\.|->)(\w+)", text)
    if "offsetof(struct cxib_device_caps, " in text:
        yield from re.findall(r"\w+", text)  # the argument of a macro


def read_by_cxib() -> dict[str, set[str]]:
    """For each field, the files that read it."""
    found: dict[str, set[str]] = {}
    for path in sorted((REPO / "drivers/cxib").rglob("*.[ch]")):
        for word in words_of_cxib(path.name, path.read_text(encoding="utf-8")):
            found.setdefault(word, set()).add(str(path.relative_to(REPO / "drivers/cxib")))
    return found


def in_tree_sources(place: Path) -> Iterator[tuple[str, str]]:
    if place.is_dir():
        for path in sorted(place.rglob("*.[ch]")):
            if IN_TREE_FILES.search(str(path)):
                yield path.name, path.read_text(encoding="utf-8")
        return
    with tarfile.open(place) as archive:
        for member in archive:
            file = archive.extractfile(member) if IN_TREE_FILES.search(member.name) else None
            if file:
                yield Path(member.name).name, file.read().decode()


def write_in_tree(place: Path) -> None:
    found: dict[str, set[str]] = {}
    for name, text in in_tree_sources(place):
        for field in IN_TREE_READ.findall(text):
            found.setdefault(last(field), set()).add(name)
    lines = [f"{field} = {json.dumps(sorted(names))}" for field, names in sorted(found.items())]
    IN_TREE.write_text("# SPDX-License-Identifier: GPL-2.0-or-later\n"
                       "# Fields of capability pages that the kernel's own driver reads, and the files in which.\n"
                       f"# Made by tools/testing/cxemu/profiles.py --in-tree {place.name}\n\n" + "\n".join(lines) + "\n",
                       encoding="utf-8")


def table(rows: list[tuple[str, ...]]) -> str:
    """Formats a table. The first row is the heading."""
    text = ".. list-table::\n   :header-rows: 1\n\n"
    for row in rows:
        text += "".join(f"   {'*' if not i else ' '} - {cell}".rstrip() + "\n" for i, cell in enumerate(row))
    return text


def shown(names: set[str]) -> str:
    return ", ".join(f"``{name}``" for name in sorted(names)) or "no"


def acted_on(found: list[Profile]) -> list[tuple[str, ...]]:
    cxib, in_tree = read_by_cxib(), tomllib.loads(IN_TREE.read_text(encoding="utf-8"))
    rows: list[tuple[str, ...]] = [("field", "assumed in", "cxib reads it in", "mlx5 reads it in")]
    for field in dict.fromkeys(field for profile in found for field in profile.origins):
        where = [profile.name for profile in found if profile.origins.get(field) == ASSUMED]
        readers = cxib.get(last(field), set()), set(in_tree.get(last(field), []))
        if where and any(readers):
            rows.append((f"``{field}``", "all" if len(where) == len(found) else ", ".join(where), shown(readers[0]),
                         shown(readers[1])))
    return rows


def page() -> str:
    found, known = profiles(), {origin.name: origin for origin in origins().values()}
    text = """.. SPDX-License-Identifier: GPL-2.0-or-later

=======================
Sources of the profiles
=======================

``tools/testing/cxemu/profiles.py`` generates this page from the profiles of cxemu and the sources of the drivers.
``cxemu --list-profiles -v`` lists each value with its source.

No published list has all values of a card. Values of one model also serve for later models, unless a newer source exists.
Assumed values matter only if a driver acts on them; the second table lists these. A real card can correct them: its values
are in ``/sys/kernel/debug/cxib/*/capabilities``.

Sources
=======

"""
    counts = {profile.name: Counter(profile.origins.values()) for profile in found}
    rows: list[tuple[str, ...]] = [("source", "card", "where", *(profile.name for profile in found))]
    for name, origin in known.items():
        rows.append((f"``{name}``", origin.card or "none", origin.place,
                     *(str(counts[profile.name][name]) for profile in found)))
    text += table(rows) + "\nThe last columns count the values of each profile.\n"
    rows = acted_on(found)
    text += "\nAssumed values that a driver acts on\n====================================\n\n" + table(rows)
    return text + f"\n{len(rows) - 1} fields.\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--in-tree", type=Path, metavar="SOURCES", help="update read_by_mlx5.toml first")
    arguments = parser.parse_args()
    if arguments.in_tree:
        write_in_tree(arguments.in_tree)
    print(page(), end="")


if __name__ == "__main__":
    main()
