# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests programs that write WQEs to doorbell registers (BlueFlame). The emulator combines writes as a host would."""

import errno
import mmap
import pathlib
import re

import guest
import raw_verbs
import rdma
import test_user_space
from control import control
from machine import Guest

# The debug kernel maps no page write-combining.
GUEST = Guest("registers", sm="cxemu", cxemu="--write-combining")
MEMORY_TYPES = pathlib.Path("/sys/kernel/debug/x86/pat_memtype_list")
COMBINED, SEPARATE = 0, 1  # kinds of UAR pages
DOORBELL_SPACING = 4096
REGISTER_SIZE = 512


def taken() -> int:
    """Number of WQEs that the HCAs have taken from doorbell registers."""
    return sum(hca["parts"]["work_queues"]["requests_from_registers"] for hca in control("stats").values())


def objects() -> dict[str, int]:
    """Number of objects in both HCAs by kind."""
    counts: dict[str, int] = {}
    for hca in control("objects").values():
        for kind, number in hca.items():
            counts[kind] = counts.get(kind, 0) + number["living"]
    return counts


class CombiningTest(test_user_space.ProgramTest):
    def open(self, port: rdma.Port) -> raw_verbs.Device:
        device = raw_verbs.Device(port.device)
        self.addCleanup(device.close)
        device.make_basics()
        return device

    def assert_refused(self, device: raw_verbs.Device) -> None:
        with self.assertRaises(OSError) as caught:
            device.allocate_uar(COMBINED)
        self.assertEqual(caught.exception.errno, errno.EOPNOTSUPP)


class Programs(CombiningTest):
    """Tests that the HCA takes libmlx5's WQEs from registers and executes them."""

    def setUp(self) -> None:
        super().setUp()
        before = taken()
        self.addCleanup(lambda: self.assertGreater(taken(), before))

    def check_data(self, kind: str, *options: str | int) -> None:
        for output in self.exchange(f"ibv_{kind}_pingpong", "-c", "-n", test_user_space.ROUNDS, *options):
            self.assertNotIn("invalid data", output)
            self.assertRegex(output, rf"\b{test_user_space.ROUNDS} iters in")

    def test_rc_data_in_requests(self) -> None:
        self.check_data("rc", "-s", 24)

    def test_rc_data_in_memory(self) -> None:
        self.check_data("rc", "-s", 65536)

    def test_ud_data(self) -> None:
        self.check_data("ud", "-s", 1024)

    def test_inline_sends(self) -> None:
        self.exchange("ib_send_lat", "-F", "-n", test_user_space.ROUNDS, "-s", 32, "-I", 32)

    def test_requests_of_several_blocks(self) -> None:
        self.exchange("ib_write_lat", "-F", "-n", test_user_space.ROUNDS, "-s", 128, "-I", 128)

    def test_qps_sharing_uar(self) -> None:
        self.exchange("ib_write_bw", "-F", "-n", test_user_space.ROUNDS, "-q", 4, "-s", 64, "-I", 64)


class Pages(CombiningTest):
    """Tests how the kernel maps the pages."""

    def memory_type(self, device: raw_verbs.Device, kind: int) -> str:
        bar = int((pathlib.Path("/sys/class/infiniband") / self.first.device / "device" / "resource").read_text()
                  .split()[0], 16)
        page = device.allocate_uar(kind)
        doorbells: mmap.mmap = device.map_doorbells()
        self.addCleanup(doorbells.close)
        address = bar + page * DOORBELL_SPACING
        found = re.search(rf"\[mem {address:#018x}-\S+\] (\S+)", MEMORY_TYPES.read_text())
        self.assertIsNotNone(found, f"no mapping of {address:#x}")
        return found[1] if found else ""

    def test_only_request_uars_write_combined(self) -> None:
        device = self.open(self.first)
        self.assertEqual(self.memory_type(device, COMBINED), "write-combining")
        self.assertEqual(self.memory_type(device, SEPARATE), "uncached-minus")


class Trial(CombiningTest):
    """Tests that the driver determines for each device whether writes are combined."""

    def setUp(self) -> None:
        super().setUp()
        self.hca = (pathlib.Path("/sys/class/infiniband") / self.second.device / "device").resolve()
        self.addCleanup(control, "faults", "clear")

    def start_anew(self) -> None:
        guest.unbind(self.hca)
        self.assertEqual(guest.bind_error(self.hca), "")
        rdma.until(lambda: len(rdma.ports()) == 2, "the device is back")
        rdma.until(lambda: all(port.state == "ACTIVE" for port in rdma.ports()), "its port is active")

    def open_first(self, *fault: str) -> raw_verbs.Device:
        """Opens the first context of the device, which triggers the test of write combining. Whatever its result is, no
        object remains."""
        self.start_anew()
        before = objects()
        if fault:
            control("fault", *fault)
        device = raw_verbs.Device(self.second.device)
        self.addCleanup(device.close)
        device.open_context()
        control("faults", "clear")
        self.assertEqual(objects(), before)
        return device

    def test_trial_succeeded_enables_requests(self) -> None:
        device = self.open_first()
        self.assertEqual(device.register_size, REGISTER_SIZE)
        device.allocate_uar(COMBINED)

    def test_trial_never_ended_disables_requests_until_restart(self) -> None:
        device = self.open_first("cqe drop data")
        self.assertEqual(device.register_size, 0)
        self.assert_refused(device)
        self.open_first().allocate_uar(COMBINED)

    def test_trial_without_resources_repeated(self) -> None:
        device = self.open_first("command CREATE_CQ nth=1 status=NO_RESOURCES")
        self.assertEqual(device.register_size, 0)
        device.allocate_uar(COMBINED)
