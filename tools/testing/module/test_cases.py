# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs of cases/, each of which uses verbs as public reports tell that programs do, and says whether it was served."""

import contextlib
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest
from typing import IO

from control import control

PROGRAMS = pathlib.Path("/repo/build/cases")
PATIENCE = 5400  # seconds; only ends a program that has failed anyway


class Programs(unittest.TestCase):
    def run_program(self, name: str, *arguments: str, output: IO[str] | None = None) -> int:
        """Returns how it ended, with all that it has started: what is left keeps its objects, and a pipe for output open."""
        with subprocess.Popen([PROGRAMS / name, *arguments], stdout=output, stderr=output and subprocess.STDOUT,
                              start_new_session=True) as program:
            try:
                return program.wait(PATIENCE)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(program.pid, signal.SIGKILL)

    def check(self, name: str, *arguments: str) -> None:
        with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
            status = self.run_program(name, *arguments, output=output)
            output.seek(0)
            self.assertEqual(status, 0, output.read())


class Cases(Programs):
    def test_mr_with_any_allowed_flags_accepts_writes(self) -> None:
        self.check("region_flags")

    def test_static_rates_not_exceeded(self) -> None:
        self.check("static_rates")

    def test_hardware_counters_match_port(self) -> None:
        self.check("port_counters")

    def test_null_mr_accepts_reads_and_writes(self) -> None:
        self.check("null_region")

    def test_pinned_memory_counted_against_user_limit(self) -> None:
        self.check("pinned_accounting")

    def test_freed_keys_of_one_program_do_not_affect_others(self) -> None:
        self.check("freed_keys")

    def test_memory_for_sparse_pages_is_limited(self) -> None:
        self.check("sparse_memory")

    def test_unprivileged_program_gets_no_management_qp(self) -> None:
        self.check("management_datagrams")

    def test_z_partitions_match_subnet_manager(self) -> None:
        """The last one: another subnet manager takes over."""
        self.check("partitions")


class XrcRegistrations(Programs):
    """XRC receive QPs that belong to all processes that have registered them."""

    def test_registered_qp_with_creator_killed_receives(self) -> None:
        self.check("xrc_registration", "killed-creator")

    def test_last_user_killed_destroys_qp(self) -> None:
        self.check("xrc_registration", "killed-last")

    def test_sole_creator_unregistered_destroys_qp(self) -> None:
        self.check("xrc_registration", "creator-alone")

    def test_number_of_no_xrc_target_refused(self) -> None:
        self.check("xrc_registration", "wrong-numbers")

    def test_domain_of_registered_qp_stays_open(self) -> None:
        self.check("xrc_registration", "domain-stays")

    def test_domain_of_unregistered_qp_closes(self) -> None:
        self.check("xrc_registration", "domain-closes")

    def test_repeated_registration_ends_with_one_unregistration(self) -> None:
        self.check("xrc_registration", "repeated")

    def test_event_reaches_each_registrant_once(self) -> None:
        self.check("xrc_registration", "events")

    def test_event_reaches_creator_for_handle_and_registration(self) -> None:
        self.check("xrc_registration", "events-of-creator")

    def test_registration_of_forked_process_ends_with_last_close(self) -> None:
        self.check("xrc_registration", "forked")

    def test_registration_of_imported_device_ends_with_last_close(self) -> None:
        self.check("xrc_registration", "imported")

    def test_exec_ends_registration(self) -> None:
        self.check("xrc_registration", "executed")

    def test_event_with_event_file_closed_discarded(self) -> None:
        self.check("xrc_registration", "closed-events")

    def test_registrations_of_contexts_counted_separately(self) -> None:
        self.check("xrc_registration", "two-contexts")

    def test_registration_and_opened_handle_count_alike(self) -> None:
        self.check("xrc_registration", "opener")

    def test_registration_by_two_threads_succeeds_once(self) -> None:
        self.check("xrc_registration", "racing")

    def test_registration_beyond_cgroup_limit_refused(self) -> None:
        self.check("xrc_registration", "limited")

    def test_registration_with_wrong_attributes_refused(self) -> None:
        self.check("xrc_registration", "bad-requests")

    def test_registration_in_domain_being_closed_busy(self) -> None:
        control("fault", "command DEALLOC_XRCD drop-completion times=1")
        self.addCleanup(control, "faults", "clear")
        with subprocess.Popen([PROGRAMS / "xrc_registration", "closing"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True) as program:
            said = program.stdout.readline()
            control("complete")
            said += program.stdout.read()
        self.assertEqual(program.returncode, 0, said)

    def test_mismatched_unregistration_keeps_registration(self) -> None:
        self.check("xrc_registration", "mismatches")


class LargeRegions(Programs):
    """One command with all translations would be longer than the device takes."""

    def test_pinned_mr_of_many_pages(self) -> None:
        self.check("large_regions", "24")

    def test_odp_mr_of_many_pages(self) -> None:
        self.check("large_regions", "24", "on-demand")


if __name__ == "__main__":
    unittest.main(verbosity=2)
