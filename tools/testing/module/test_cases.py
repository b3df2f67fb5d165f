# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs of cases/, each of which uses verbs as public reports tell that programs do, and says whether it was served."""

import pathlib
import subprocess
import unittest

PROGRAMS = pathlib.Path("/repo/build/cases")
PATIENCE = 1800


class Programs(unittest.TestCase):
    def check(self, name: str, *arguments: str) -> None:
        done = subprocess.run([PROGRAMS / name, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                              timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stdout)


class Cases(Programs):
    def test_regions_with_any_flags_that_the_kernel_admits_take_writes(self) -> None:
        self.check("region_flags")

    def test_static_rates_are_not_exceeded(self) -> None:
        self.check("static_rates")

    def test_hardware_counters_are_those_of_their_port(self) -> None:
        self.check("port_counters")

    def test_null_region_takes_and_gives(self) -> None:
        self.check("null_region")

    def test_pinned_memory_counts_against_the_limit_of_its_user(self) -> None:
        self.check("pinned_accounting")

    def test_programs_without_privileges_reach_no_management_queue(self) -> None:
        self.check("management_datagrams")

    def test_z_partitions_are_those_of_the_subnet_manager(self) -> None:
        """The last one: another subnet manager takes over."""
        self.check("partitions")


class XrcRegistrations(Programs):
    """XRC receive QPs that belong to all processes that have registered them."""

    def test_registered_qp_receives_after_its_creator_was_killed(self) -> None:
        self.check("xrc_registration", "killed-creator")

    def test_registered_qp_is_gone_when_its_last_user_was_killed(self) -> None:
        self.check("xrc_registration", "killed-last")

    def test_registered_qp_is_gone_when_its_creator_alone_unregisters(self) -> None:
        self.check("xrc_registration", "creator-alone")

    def test_number_that_is_no_receive_qp_of_the_domain_is_refused(self) -> None:
        self.check("xrc_registration", "wrong-numbers")

    def test_domain_of_a_registered_qp_stays_open(self) -> None:
        self.check("xrc_registration", "domain-stays")

    def test_domain_of_an_unregistered_qp_closes(self) -> None:
        self.check("xrc_registration", "domain-closes")

    def test_qp_registered_repeatedly_is_gone_when_unregistered_once(self) -> None:
        self.check("xrc_registration", "repeated")

    def test_event_of_a_registered_qp_reaches_each_registrant_once(self) -> None:
        self.check("xrc_registration", "events")

    def test_event_of_a_registered_qp_reaches_its_creator_for_handle_and_registration(self) -> None:
        self.check("xrc_registration", "events-of-creator")

    def test_registration_of_a_process_that_forked_ends_with_the_last_close(self) -> None:
        self.check("xrc_registration", "forked")

    def test_registration_of_a_process_that_executes_another_program_ends(self) -> None:
        self.check("xrc_registration", "executed")

    def test_event_of_a_registrant_whose_file_of_events_is_closed_is_discarded(self) -> None:
        self.check("xrc_registration", "closed-events")

    def test_registration_of_each_context_of_a_process_counts(self) -> None:
        self.check("xrc_registration", "two-contexts")

    def test_registration_and_opened_handle_count_alike(self) -> None:
        self.check("xrc_registration", "opener")

    def test_registration_by_two_threads_succeeds_once(self) -> None:
        self.check("xrc_registration", "racing")

    def test_registration_beyond_the_limit_of_a_control_group_is_refused(self) -> None:
        self.check("xrc_registration", "limited")

    def test_registration_with_wrong_attributes_is_refused(self) -> None:
        self.check("xrc_registration", "bad-requests")

    def test_unregistration_of_something_else_leaves_the_registration(self) -> None:
        self.check("xrc_registration", "mismatches")


class LargeRegions(Programs):
    """One command with all translations would be longer than the device takes."""

    def test_pinned_region_of_many_pages(self) -> None:
        self.check("large_regions", "20")

    def test_region_on_demand_of_many_pages(self) -> None:
        self.check("large_regions", "20", "on-demand")


if __name__ == "__main__":
    unittest.main(verbosity=2)
