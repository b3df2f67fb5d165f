# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the cases of the test module: completions come once, in order and with the right status, and the data are
correct."""

from exerciser import UlpTest, tests_each_case
from machines import ALL, DEBUG, ENVELOPE, LOSS, MLX5, OWN_KEYS

PUBLIC = ("Reliable", "Unreliable", "Keys", "Signatures")  # The in-tree driver survives them.
GUESTS = [
    *ALL, DEBUG.with_tests("Others"),
    OWN_KEYS.with_tests("Reliable", "Unreliable", "Keys", "Signatures.test_signatures_all_forms"),
    ENVELOPE.with_tests(*PUBLIC),
    MLX5.with_tests("Others.test_completions_coalesced"),
    LOSS.with_tests("Reliable"),
]


@tests_each_case("rc_")
class Reliable(UlpTest):
    pass


@tests_each_case("uc_|ud_")
class Unreliable(UlpTest):
    pass


@tests_each_case("key_")
class Keys(UlpTest):
    pass


@tests_each_case("signatures_")
class Signatures(UlpTest):
    pass


# "cost" measures, and cases with other names have files of their own.
@tests_each_case("(?!rc_|uc_|ud_|key_|signatures_|xrc_|moderation_|local_key_|context_|pipelining_|cost$)")
class Others(UlpTest):
    pass
