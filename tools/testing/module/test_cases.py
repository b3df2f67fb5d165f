# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the programs of cases/. Each one uses verbs in a way that a public report describes, and prints the result."""

import contextlib
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest
from typing import IO

import module_machines as machines
import rdma
from control import control
from machine import LONG

GUESTS = [
    # The subnet manager does not use an HCA again that was removed, which DevxEvents does. Cases restarts it.
    machines.CASES.with_tests("XrcRegistrations", "DevxEvents", "Cases", "DelayedPages"),
    machines.REGISTRATIONS.with_tests("XrcRegistrations", "DevxEvents"),
    machines.CASES.but("large-regions", memory=5120, level=LONG, seconds=14400).with_tests("LargeRegions"),
    machines.CASES.but("cases-mlx5", driver="mlx5", level=LONG).with_tests("DevxEvents"),
    *(each.with_tests("DevxMisuse") for each in (machines.DEVICE_COMMANDS, machines.DEVICE_COMMANDS_DEBUG)),
]
PROGRAMS = pathlib.Path("/repo/build/cases")
PATIENCE = 5400  # seconds; ends only a program that has already failed
PATIENCE_IN_KERNEL = 300  # seconds; ends a wait in the kernel that has already failed


class Programs(unittest.TestCase):
    def run_program(self, name: str, *arguments: str, output: IO[str] | None = None) -> int:
        """Runs a program; returns its exit status. Also ends all its children, which would keep objects and an output
        pipe open."""
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

    def test_pages_prefetched_while_threads_change_address_space(self) -> None:
        self.check("busy_address_space")

    def test_unprivileged_program_gets_no_management_qp(self) -> None:
        self.check("management_datagrams")

    def test_z_partitions_match_subnet_manager(self) -> None:
        """This test is last, because another subnet manager takes over."""
        self.check("partitions")


class DelayedPages(Programs):
    """Tests page faults of a process that delivers the missing pages itself, and never does."""

    def test_process_killed_ends(self) -> None:
        for order in "first", "last":
            with self.subTest(fuse=order):
                self.check("delayed_pages", f"killed-fuse-{order}")

    def test_process_with_implicit_mr_killed_ends(self) -> None:
        self.check("delayed_pages", "implicit-killed")

    def test_process_in_synchronous_prefetch_killed_ends(self) -> None:
        self.check("delayed_pages", "killed-in-prefetch")

    def test_process_with_queued_prefetch_killed_ends(self) -> None:
        self.check("delayed_pages", "killed-with-queue")

    def test_region_with_page_fault_in_progress_deregistered(self) -> None:
        self.check("delayed_pages", "deregistered")

    def test_z_device_of_living_process_removed(self) -> None:
        ports = active_ports()
        with subprocess.Popen([PROGRAMS / "delayed_pages", "removed"], stdout=subprocess.PIPE, text=True) as program:
            self.addCleanup(program.kill)
            self.assertEqual(program.stdout.readline(), "ready\n")
            link = (rdma.CLASS / rdma.devices()[0] / "device").resolve()
            driver = (link / "driver").resolve()
            with subprocess.Popen(["sh", "-c", f"echo {link.name} > {driver}/unbind"]) as unbind:
                try:
                    self.assertEqual(unbind.wait(PATIENCE_IN_KERNEL), 0)
                    self.assertIsNone(program.poll())
                finally:
                    program.kill()
            (driver / "bind").write_text(link.name)
            rdma.until(lambda: active_ports() >= ports, "the ports are active again")


class XrcRegistrations(Programs):
    """Tests XRC receive QPs that belong to all processes that have registered them."""

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


def active_ports() -> set[rdma.Port]:
    """The active ports; an empty set while a device is being registered."""
    with contextlib.suppress(OSError):
        ports = [rdma.Port(path.parts[-3], int(path.name)) for path in rdma.CLASS.glob("*/ports/*")]
        return {port for port in ports if port.state == "ACTIVE"}
    return set()


class DevxPrograms(Programs):
    """Tests DEVX events and outputs through file descriptors."""

    def started(self, name: str) -> "subprocess.Popen[str]":
        """Starts a program that waits for an action of the test."""
        program = subprocess.Popen([PROGRAMS / "devx_events", name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(program.stdout.close)
        self.addCleanup(program.kill)
        self.assertEqual(program.stdout.readline(), "ready\n")
        return program

    def check_ended(self, program: "subprocess.Popen[str]") -> None:
        said = program.stdout.read()
        self.assertEqual(program.wait(PATIENCE), 0, said)

    def check_survives_removal(self, name: str, seconds: float) -> None:
        ports = active_ports()
        program = self.started(name)
        time.sleep(seconds)
        link = (rdma.CLASS / rdma.devices()[0] / "device").resolve()
        driver = (link / "driver").resolve()
        (driver / "unbind").write_text(link.name)
        try:
            self.check_ended(program)
        finally:
            (driver / "bind").write_text(link.name)
            rdma.until(lambda: active_ports() >= ports, "the ports are active again")


class DevxEvents(DevxPrograms):
    """Tests correct use. These tests also run with the in-tree driver."""

    def test_event_reaches_subscriber_of_object_only(self) -> None:
        self.check("devx_events", "objects")

    def test_events_without_data_read_once(self) -> None:
        self.check("devx_events", "omitted")

    def test_completion_event_reaches_file_and_eventfd(self) -> None:
        self.check("devx_events", "completions")

    def test_dct_drained_and_destroyed(self) -> None:
        self.check("devx_events", "targets")

    def test_wrong_subscription_refused(self) -> None:
        self.check("devx_events", "wrong")

    def test_unread_events_bounded(self) -> None:
        self.check("devx_events", "flood")

    def test_foreign_object_refused(self) -> None:
        self.check("devx_events", "foreign")

    def test_many_subscriptions_bounded(self) -> None:
        self.check("devx_events", "many")

    def test_outputs_of_queries_read(self) -> None:
        self.check("devx_events", "queries")

    def test_access_error_reaches_subscriber(self) -> None:
        self.check("devx_events", "access")

    def test_children_share_files(self) -> None:
        self.check("devx_events", "forks")

    def test_files_and_objects_come_and_go_under_events(self) -> None:
        self.check("devx_events", "storm")

    def test_port_event_reaches_subscriber(self) -> None:
        program = self.started("ports")
        control("link", "down")
        self.addCleanup(control, "link", "up")
        self.check_ended(program)

    def test_program_killed_under_events_leaves_nothing(self) -> None:
        for seconds in (0.5, 1, 2):
            with self.subTest(seconds=seconds):
                program = self.started("storm")
                time.sleep(seconds)
                program.kill()
                program.wait(PATIENCE)
        self.check("devx_events", "objects")

    def test_killed_reader_leaves_nothing(self) -> None:
        program = self.started("sleepers")
        program.kill()
        program.wait(PATIENCE)
        self.check("devx_events", "objects")

    def test_z_removal_of_device_wakes_readers(self) -> None:
        self.check_survives_removal("sleepers", 0)


class DevxMisuse(DevxPrograms):
    """Tests misuse, which the strict checker would report."""

    def test_events_of_object_that_was_not_destroyed_come(self) -> None:
        """After an attempt to destroy a CQ, mlx5_ib delivers no more events of it."""
        self.check("devx_events", "kept")

    def test_z_removal_of_device_under_events(self) -> None:
        """The program rings doorbells until it notices that the objects are gone."""
        self.check_survives_removal("storm", 2)


class LargeRegions(Programs):
    """A single command with all translations would exceed the device's limit."""

    def test_pinned_mr_of_many_pages(self) -> None:
        self.check("large_regions", "24")

    def test_odp_mr_of_many_pages(self) -> None:
        self.check("large_regions", "24", "on-demand")
