# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs of cases/, each of which uses verbs as public reports tell that programs do, and says whether it was served."""

import pathlib
import subprocess
import unittest

PROGRAMS = pathlib.Path("/repo/build/cases")
PATIENCE = 900


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


class LargeRegions(Programs):
    """One command with all translations would be longer than the device takes."""

    def test_pinned_region_of_many_pages(self) -> None:
        self.check("large_regions", "20")

    def test_region_on_demand_of_many_pages(self) -> None:
        self.check("large_regions", "20", "on-demand")


if __name__ == "__main__":
    unittest.main(verbosity=2)
