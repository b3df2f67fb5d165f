# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests contexts of a libmlx5 without dynamic UAR pages: the context has static UARs, and the driver selects a bfreg
for each QP. Covers what the kernel grants and refuses, and libmlx5's code for such contexts (older_library.c)."""

import errno
import itertools
import mmap
import os
import pathlib
import struct
import tempfile

import module_machines as machines
import raw_verbs
import rdma
import test_bad_requests
import test_user_space
from test_device_commands import QUERY_HCA_CAP, command, queue_pair, word

GUESTS = [machines.USER_SPACE.with_tests("Contexts", "Doorbells", "OldestPrograms", "Removed"), machines.USER_SPACE_DEBUG]
PAGE = 4096
CURRENT = 1
WORD_OF_BF = (0x10 + 0x4C) // 4
"""Word of the output; its highest bit says whether the device accepts WQEs in UAR pages (BlueFlame)."""
REGISTERS, EXCLUSIVE, PAGES = 16, 4, 8
NONE = 0xFFFFFFFF


class Contexts(test_bad_requests.BadRequestTest):
    def test_context_resources_rounded(self) -> None:
        for asked, granted in ((1, 2), (15, 16), (16, 16), (511, 512), (512, 512)):
            with self.subTest(asked=asked):
                device = self.open_device()
                device.open_older_context(asked, 0)
                self.assertEqual(device.registers, granted)
                self.assertGreater(device.registers_to_add, 0)

    def test_doorbell_requests_not_offered(self) -> None:
        """A libmlx5 that gets a BlueFlame size needs UAR pages for BlueFlame, which such a context lacks. Like real
        devices, the device of this guest supports BlueFlame."""
        newer, older = self.open_device(), self.open_device()
        newer.open_context(flags=raw_verbs.CONTEXT_WITH_COMMANDS)
        older.open_older_context()
        self.assertEqual((newer.register_size, older.register_size), (0, 0))
        capabilities = newer.ask_device(command(QUERY_HCA_CAP, w1=CURRENT), 0x1010)
        self.assertEqual(word(capabilities, WORD_OF_BF) >> 31, 1)

    def test_invalid_context_resources_refused(self) -> None:
        for registers, exclusive in ((0, 0), (0, 4), (513, 4), (NONE, 4), (16, 16), (16, 17), (16, NONE), (1, 2)):
            self.assert_refused(errno.EINVAL, self.device.open_older_context, registers, exclusive)
        self.device.open_older_context()

    def test_short_requests_accepted_from_minimum(self) -> None:
        for length in (0, 4, 8, 12):
            self.assert_refused(errno.EINVAL, self.device.open_context, struct.pack("<IIII", 16, 4, 0, 0)[:length])
        self.assert_refused(errno.EOPNOTSUPP, self.device.open_context, struct.pack("<IIII", 16, 4, 0, 1))
        for length in (16, 24):
            self.open_device().open_context(struct.pack("<IIIIB7x", 16, 4, 0, 0, 1)[:length])


class Doorbells(test_bad_requests.BadRequestTest):
    def setUp(self) -> None:
        super().setUp()
        self.device.make_older_basics(raw_verbs.CONTEXT_WITH_COMMANDS)

    def map(self, offset: int) -> mmap.mmap:
        page = self.device.map(offset, mmap.PROT_WRITE)
        self.addCleanup(page.close)
        return page

    def test_uars_of_context_mapped(self) -> None:
        for place in range(PAGES):
            self.map(raw_verbs.PAGE_OF_CONTEXT + place)
            self.map(raw_verbs.UNCACHED_PAGE + place)
        for first, place in itertools.product((raw_verbs.PAGE_OF_CONTEXT, raw_verbs.UNCACHED_PAGE),
                                               (PAGES, 255, 1 << 16, 255 << 16)):
            self.assert_refused(errno.EINVAL, self.map, first + place)
        self.assert_refused(errno.EINVAL, self.map, raw_verbs.COMBINING_PAGE)
        self.assert_refused(errno.EINVAL, self.device.map, raw_verbs.PAGE_OF_CONTEXT, mmap.PROT_WRITE, pages=2)

    def test_qp_registers_assigned(self) -> None:
        """The exclusive bfregs come first, then the shared ones in turn. libmlx5 counts four bfregs per UAR page."""
        device = self.device
        cq = device.create_cq(flags=0)
        names = []
        for number in range(REGISTERS + 1):
            qp = device.create_qp(cq, flags=0, buffer=device.queue.address + 65536 + number * PAGE,
                                  record=device.record.address + 64 + 8 * number)
            names.append(device.register_name)
        everything = [4 * page + register for page in range(PAGES) for register in range(2)]
        self.assertEqual(names, [*everything[-EXCLUSIVE:], *everything[1:-EXCLUSIVE], 1, 4])
        device.destroy_qp(qp)
        device.create_qp(cq, flags=0)
        self.assertEqual(device.register_name, 4)

    def test_qps_without_sq_get_no_register(self) -> None:
        cq = self.device.create_cq(flags=0)
        self.device.create_qp(cq, type=raw_verbs.XRC_TGT, pd=self.device.open_xrcd(), flags=0)
        self.assertEqual(self.device.register_name, 0)
        self.device.create_target(cq, self.device.create_srq())
        self.assertEqual(self.device.register_name, 0)
        self.device.create_initiator(cq, flags=raw_verbs.QP_INITIATOR)
        self.assertEqual(self.device.register_name, 4 * (PAGES - 2))

    def test_added_uars_mapped_and_used(self) -> None:
        cq = self.device.create_cq(flags=0)
        for register in (0, 1, 2, 511, 512, 1 << 16, NONE):
            self.assert_refused(errno.EINVAL, self.device.query_uar, register)
        self.map(raw_verbs.ADDED_PAGE)
        self.map(raw_verbs.ADDED_PAGE + 255)
        first, last = self.device.query_uar(0), self.device.query_uar(511)
        self.assertEqual((self.device.query_uar(1), self.device.query_uar(510)), (first, last))
        self.assertEqual(len({0, first, last}), 3)
        for place in (1 << 16, 255 << 16):
            self.assert_refused(errno.EINVAL, self.map, raw_verbs.ADDED_PAGE + place)
        self.assert_refused(errno.EINVAL, self.device.map, raw_verbs.ADDED_PAGE + 1, mmap.PROT_WRITE, pages=2)
        for register in (2, 509, 512, NONE):
            self.assert_refused(errno.EINVAL, self.device.query_uar, register)
            self.assert_refused(errno.EINVAL, self.device.create_qp, cq, flags=raw_verbs.QP_ADDED_REGISTER, bfreg=register)
        self.device.create_qp(cq, flags=raw_verbs.QP_ADDED_REGISTER, bfreg=511)
        self.assertEqual(self.device.register_name, NONE)
        _, memory = self.device.register_memory(self.device.queue.address + 131072, 2 * PAGE)
        self.device.create_object(queue_pair(self.device, memory, uar=first))

    def test_contradictory_register_flags_refused(self) -> None:
        cq = self.device.create_cq(flags=0)
        both = raw_verbs.QP_ADDED_REGISTER | raw_verbs.QP_UAR_PAGE_INDEX
        for changes in ({"flags": both}, {"flags": 0, "bfreg": 1}, {"flags": raw_verbs.QP_UAR_PAGE_INDEX, "bfreg": 0}):
            self.assert_refused(errno.EINVAL, self.device.create_qp, cq, **changes)

    def test_allocated_uar_used(self) -> None:
        page = self.device.allocate_uar(1)
        cq = self.device.create_cq(uar=page)
        self.device.create_qp(cq, bfreg=page)
        self.assertEqual(self.device.register_name, NONE)

    def test_newer_library_gets_no_registers(self) -> None:
        device = self.open_device()
        device.make_basics(raw_verbs.CONTEXT_WITH_COMMANDS)
        cq = device.create_cq()
        self.assert_refused(errno.EINVAL, device.query_uar, 0)
        for offset in (raw_verbs.PAGE_OF_CONTEXT, raw_verbs.UNCACHED_PAGE, raw_verbs.ADDED_PAGE):
            self.assert_refused(errno.EINVAL, device.map, offset, mmap.PROT_WRITE)
        for flags in (0, raw_verbs.QP_ADDED_REGISTER):
            self.assert_refused(errno.EINVAL, device.create_qp, cq, flags=flags, bfreg=0)

    def test_uar_query_requires_devx_context(self) -> None:
        device = self.open_device()
        device.make_older_basics()
        self.assert_refused(errno.EPERM, device.query_uar, 0)


class OlderLibrary:
    """Runs programs with an older library, whose requests have this length."""

    LENGTH = 32

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()  # type: ignore[misc]
        cls.directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.directory.cleanup)  # type: ignore[attr-defined]
        cls.library = pathlib.Path(cls.directory.name) / "older_library.so"
        rdma.run("gcc", "-Wall", "-Werror", "-O2", "-shared", "-fPIC", "-o", str(cls.library),
                 str(pathlib.Path(__file__).with_name("older_library.c")))

    def setUp(self) -> None:
        super().setUp()  # type: ignore[misc]
        contexts = self.library.with_name("contexts")
        contexts.write_text("")
        settings = {"LD_PRELOAD": str(self.library), "CXIB_CONTEXTS": str(contexts), "CXIB_REQUEST_LENGTH": str(self.LENGTH)}
        os.environ.update(settings)
        for name in settings:
            self.addCleanup(os.environ.pop, name)  # type: ignore[attr-defined]
        self.contexts = contexts


class OlderPrograms(OlderLibrary, test_user_space.ProgramTest):
    ROUNDS = test_user_space.ROUNDS

    def tearDown(self) -> None:
        self.assertNotEqual(self.contexts.read_text(), "", "no program has opened a context as an older library does")

    def ping_pong(self, kind: str, *options: str | int) -> None:
        for output in self.exchange(f"ibv_{kind}_pingpong", "-n", self.ROUNDS, *options):
            self.assertRegex(output, rf"\b{self.ROUNDS} iters in")

    def test_rc_with_events(self) -> None:
        self.ping_pong("rc", "-c", "-e")

    def test_datagrams(self) -> None:
        self.ping_pong("ud", "-c", "-s", 2048)

    def test_shared_receive_queues(self) -> None:
        self.exchange("ibv_srq_pingpong", "-c", "-n", self.ROUNDS, "-q", 4)

    def test_xrc(self) -> None:
        self.exchange("ibv_xsrq_pingpong", "-n", self.ROUNDS)

    def test_more_qps_than_registers(self) -> None:
        _, client = self.exchange("ib_write_bw", "-F", "-n", self.ROUNDS, "-q", 3 * REGISTERS)
        self.assertTrue(rdma.perftest_rows(client))


class EvenOlderPrograms(OlderPrograms):
    """These libraries know neither the flag nor any later field."""

    LENGTH = 24


class OldestPrograms(OlderPrograms):
    """These libraries know one CQE format only."""

    LENGTH = 16


class Removed(OlderLibrary, test_user_space.Removed):
    def test_open_context_gets_eio(self) -> None:
        device = raw_verbs.Device(self.first.device)
        self.addCleanup(device.close)
        device.make_older_basics()
        cq = device.create_cq(flags=0)
        for offset in (raw_verbs.PAGE_OF_CONTEXT, raw_verbs.ADDED_PAGE):
            self.addCleanup(device.map(offset, mmap.PROT_WRITE).close)
        self.take_away()
        for act in (lambda: device.create_qp(cq, flags=0), lambda: device.map(raw_verbs.ADDED_PAGE + 1, mmap.PROT_WRITE)):
            with self.assertRaises(OSError) as caught:
                act()
            self.assertEqual(caught.exception.errno, errno.EIO)
        self.give_back()
