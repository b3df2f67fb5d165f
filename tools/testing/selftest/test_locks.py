# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests that Documentation/locking.rst names exactly the driver's locks, in an order without a cycle."""

import graphlib
import pathlib
import re
import unittest

REPO = pathlib.Path(__file__).resolve().parents[3]
DRIVER = REPO / "drivers/cxib"
PAGE = REPO / "Documentation/locking.rst"

STRUCT = re.compile(r"^struct (\w+) \{\n(.*?)^\};", re.DOTALL | re.MULTILINE)
MEMBER = re.compile(r"^\t+(?P<type>[\w ]+?) \**(?P<name>\w+)(?:\[[^]]*\])?;(?P<comment>.*)$", re.MULTILINE)
LOCKS = {"spinlock_t", "raw_spinlock_t", "rwlock_t", "struct mutex", "struct rw_semaphore"}
AWAITED = {"struct xarray", "struct completion", "wait_queue_head_t", "refcount_t", "struct kref"}
GLOBAL = re.compile(r"\bDEFINE_(?:SPINLOCK|RAW_SPINLOCK|RWLOCK|MUTEX|XARRAY\w*)\((\w+)")
TREE_LINE = re.compile(r"^ {4}((?:[|`] *-? )*)([a-z]\w*\.\w+)$")


def sources() -> list[str]:
    return [path.read_text(encoding="utf-8") for path in sorted(DRIVER.rglob("*.[ch]"))]


def members(text: str) -> dict[str, re.Match[str]]:
    """Members of the structures in a source file, pointers included, by structure and name."""
    return {f"{tag}.{member['name']}": member
            for tag, body in STRUCT.findall(text) for member in MEMBER.finditer(body)}


def is_pointer(member: re.Match[str]) -> bool:
    return "*" in member[0].split(";")[0]


def tree_edges(text: str) -> list[tuple[str, str]]:
    """Pairs of locks of the drawn trees: each lock with the lock that is taken before it."""
    above: list[tuple[int, str]] = []
    edges = []
    for line in text.splitlines():
        found = TREE_LINE.match(line)
        if not found:
            above = []
            continue
        depth = len(found[1])
        while above and above[-1][0] >= depth:
            above.pop()
        if above:
            edges.append((above[-1][1], found[2]))
        above.append((depth, found[2]))
    return edges


class LockTest(unittest.TestCase):
    def setUp(self) -> None:
        self.members = {name: member for text in sources() for name, member in members(text).items()}
        self.page = PAGE.read_text(encoding="utf-8")
        self.named = set(re.findall(r"\bcxib_\w+\.\w+\b(?!\()", self.page))

    def of_type(self, types: set[str]) -> set[str]:
        return {name for name, member in self.members.items() if member["type"] in types and not is_pointer(member)}

    def test_page_names_every_lock(self) -> None:
        locks = self.of_type(LOCKS)
        self.assertGreater(len(locks), 30)
        self.assertEqual(sorted((locks | self.of_type(AWAITED)) - self.named), [])

    def test_page_names_every_lock_of_files(self) -> None:
        names = {name for text in sources() for name in GLOBAL.findall(text)}
        self.assertEqual([name for name in names if f"``{name}``" not in self.page], [])

    def test_names_of_page_are_members(self) -> None:
        self.assertEqual(sorted(self.named - set(self.members)), [])

    def test_comment_at_each_lock_says_what_it_protects(self) -> None:
        bare = [name for name in self.of_type(LOCKS)
                if not re.fullmatch(r" /\* .+ \*/", self.members[name]["comment"]) or "see above" in self.members[name]["comment"]]
        self.assertEqual(bare, [])

    def test_order_has_no_cycle(self) -> None:
        edges = tree_edges(self.page)
        self.assertGreater(len(edges), 30)
        order: graphlib.TopologicalSorter[str] = graphlib.TopologicalSorter()
        for before, after in edges:
            order.add(after, before)
        order.prepare()  # raises CycleError

    def test_trees_are_read_by_indentation(self) -> None:
        text = "    a.x\n    |- b.x\n    |  `- c.x\n    `- d.x\n\n    e.x\n    `- a.x\n"
        self.assertEqual(tree_edges(text), [("a.x", "b.x"), ("b.x", "c.x"), ("a.x", "d.x"), ("e.x", "a.x")])

    def test_members_are_found(self) -> None:
        found = members("struct a {\n\tint b;\n\tspinlock_t lock; /* b */\n\tstruct mutex *other;\n\tu64 waits[3];\n};\n")
        self.assertEqual(list(found), ["a.b", "a.lock", "a.other", "a.waits"])
        self.assertEqual(found["a.lock"]["comment"], " /* b */")
        self.assertTrue(is_pointer(found["a.other"]))


if __name__ == "__main__":
    unittest.main()
