# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests the comparison of envelopes and the ledger in tools/testing/envelope."""

import pathlib
import sys
import tempfile
import unittest

REPO = pathlib.Path(__file__).resolve().parents[3]
HERE = REPO / "tools/testing/envelope"
sys.path.insert(0, str(HERE))

import envelope  # noqa: E402  (found through the path above)
import ledger  # noqa: E402


def found(own: set[str], public: set[str]) -> list[tuple[str, str]]:
    """Kinds and values of the differences of one field. An empty set of values means that the field was always zero."""
    fields = [{"f": values} if values else {} for values in (own, public)]
    return [(difference.kind, difference.value)
            for difference in envelope.differences({"make": fields[0]}, {"make": fields[1]})]


class Differences(unittest.TestCase):
    def test_equal_envelopes_agree(self) -> None:
        self.assertEqual(found({"a", "0"}, {"a", "0"}), [])

    def test_field_of_driver_alone_found(self) -> None:
        self.assertEqual(found({"0", "nonzero"}, set()), [("field", "nonzero")])

    def test_name_outside_found(self) -> None:
        self.assertEqual(found({"a", "b"}, {"a"}), [("value", "b")])

    def test_number_between_known_ones_agrees(self) -> None:
        self.assertEqual(found({"0x10"}, {"9", "0x1f"}), [])

    def test_number_outside_known_ones_found(self) -> None:
        self.assertEqual(found({"0x10"}, {"9", "0xf"}), [("value", "0x10")])

    def test_flag_cleared_at_times_found(self) -> None:
        self.assertEqual(found({"0", "1"}, {"1"}), [("value", "0")])

    def test_wide_number_zero_at_times_agrees(self) -> None:
        self.assertEqual(found({"0", "nonzero"}, {"nonzero"}), [])

    def test_class_outside_found(self) -> None:
        self.assertEqual(found({"nonzero"}, {"0", "ones"}), [("value", "nonzero")])

    def test_field_always_set_by_public_drivers_found(self) -> None:
        self.assertEqual(found(set(), {"nonzero"}), [("missing", "nonzero")])

    def test_field_set_at_times_by_public_drivers_agrees(self) -> None:
        self.assertEqual(found(set(), {"0", "nonzero"}), [])

    def test_bit_outside_found(self) -> None:
        self.assertEqual(found({"+a", "+b?"}, {"+a?"}), [("value", "+b")])

    def test_bit_set_at_times_agrees(self) -> None:
        self.assertEqual(found({"+a?"}, {"+a"}), [])

    def test_bit_always_set_by_public_drivers_found(self) -> None:
        self.assertEqual(found({"+a"}, {"+a", "+b", "+c?"}), [("missing", "+b")])

    def test_subject_of_driver_alone_found(self) -> None:
        self.assertEqual(envelope.differences({"make": {}}, {}), [envelope.Difference("make", "", "subject")])

    def test_subject_of_public_drivers_alone_agrees(self) -> None:
        self.assertEqual(envelope.differences({}, {"make": {"f": {"1"}}}), [])

    def test_value_of_other_public_driver_agrees(self) -> None:
        own, public, other = ({"make": {"f": {value}}} for value in ("a", "b", "a"))
        self.assertEqual(envelope.differences(own, public, other), [])

    def test_field_of_other_public_driver_alone_agrees(self) -> None:
        self.assertEqual(envelope.differences({"make": {"f": {"1"}}}, {"make": {}}, {"make": {"f": {"1"}}}), [])

    def test_subject_of_other_public_driver_compared_with_it(self) -> None:
        own, other = {"make": {"f": {"1"}, "g": {"1"}}}, {"make": {"f": {"1"}}}
        self.assertEqual(envelope.differences(own, {}, other), [envelope.Difference("make", "g", "field", "1")])

    def test_field_left_out_by_other_public_driver_still_missing(self) -> None:
        found = envelope.differences({"make": {}}, {"make": {"f": {"1"}}}, {"make": {"f": {"0", "1"}}})
        self.assertEqual([difference.kind for difference in found], ["missing"])

    def test_order_outside_found(self) -> None:
        own, public = {"bring-up": {"order": {"a, b"}}}, {"bring-up": {"order": {"b, a"}}}
        self.assertEqual([difference.kind for difference in envelope.differences(own, public)], ["order"])


class Ledger(unittest.TestCase):
    ENTRY = ledger.Entry(title="T", subjects=["make *"], fields=["f*"], reason="R", source="S", refusal="F")

    def test_matching_difference_explained(self) -> None:
        entry = ledger.Entry(**vars(self.ENTRY))
        self.assertEqual(ledger.explain([envelope.Difference("make rc", "f1", "field")], [entry]), [])
        self.assertEqual(entry.used, 1)

    def test_other_subject_or_field_unexplained(self) -> None:
        others = [envelope.Difference("break rc", "f1", "field"), envelope.Difference("make rc", "g", "field")]
        self.assertEqual(ledger.explain(others, [self.ENTRY]), others)

    def test_other_value_unexplained(self) -> None:
        entry = ledger.Entry(**vars(self.ENTRY) | {"values": ["1"]})
        others = [envelope.Difference("make rc", "f1", "value", value) for value in ("1", "2")]
        self.assertEqual(ledger.explain(others, [entry]), others[1:])

    def test_other_kind_unexplained(self) -> None:
        entry = ledger.Entry(**vars(self.ENTRY) | {"kinds": ["missing"]})
        other = envelope.Difference("make rc", "f1", "field")
        self.assertEqual(ledger.explain([other], [entry]), [other])

    def test_entry_that_explains_nothing_is_unused(self) -> None:
        used, other = (ledger.Entry(**vars(self.ENTRY)) for _ in range(2))
        other.subjects = ["break *"]
        ledger.explain([envelope.Difference("make rc", "f1", "field")], [used, other])
        self.assertEqual(ledger.unused([used, other]), [other])

    def test_entry_without_source_refused(self) -> None:
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write('[[difference]]\ntitle = "T"\nsubjects = ["a"]\nreason = "R"\nsource = ""\nrefusal = "F"\n')
            file.flush()
            with self.assertRaisesRegex(ledger.LedgerError, r"entry 1: .*missing \['source'\]"):
                ledger.load(file.name)


if __name__ == "__main__":
    unittest.main()
