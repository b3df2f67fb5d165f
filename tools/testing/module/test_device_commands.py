# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests DEVX commands: refused commands, objects that are destroyed together, and the isolation of processes."""

import contextlib
import ctypes
import errno
import functools
import mmap
import re
import struct
import threading
import unittest
from collections.abc import Callable, Iterable, Iterator

import guest
import module_machines as machines
import raw_verbs
import hw
import rdma
import stalled_page
from unprivileged import unprivileged

GUESTS = [machines.DEVICE_COMMANDS, machines.DEVICE_COMMANDS_DEBUG]
QUERY_LAG, QUERY_VNIC_ENV = hw.HW_CMD_QUERY_LAG, hw.HW_CMD_QUERY_VNIC_ENV
QUERY_HCA_CAP, TEARDOWN_HCA, CREATE_EQ = hw.HW_CMD_QUERY_HCA_CAP, hw.HW_CMD_TEARDOWN_HCA, hw.HW_CMD_CREATE_EQ
CREATE_MKEY, QUERY_MKEY, CREATE_PSV = hw.HW_CMD_CREATE_MKEY, hw.HW_CMD_QUERY_MKEY, hw.HW_CMD_CREATE_PSV
CREATE_QP, QUERY_QP, RST2INIT_QP = hw.HW_CMD_CREATE_QP, hw.HW_CMD_QUERY_QP, hw.HW_CMD_RST2INIT_QP
TO_ERROR_QP, RTS2RTS_QP, INIT2INIT_QP = hw.HW_CMD_2ERR_QP, hw.HW_CMD_RTS2RTS_QP, hw.HW_CMD_INIT2INIT_QP
CREATE_GENERAL_OBJECT = hw.HW_CMD_CREATE_GENERAL_OBJECT
CONTROLLED_Q_KEY = 0x80010000
GENERAL_CAPABILITIES, CAPABILITIES_BYTES = 1, 0x1010
LAG_BYTES, ENVIRONMENT_BYTES = 0x10, 0x210
RESERVED_NUMBERS, DEVICE_MEMORY_FOR_TABLES = 0x2C, 0x08
KEY_OF_BUS_ADDRESSES, KEY_OF_PAGES, KEY_OF_PIECES = 0, 1, 2
PAGE, HUGE_PAGE = 4096, 2 << 20


def command(opcode: int, length: int = 16, **words: int) -> bytes:
    """A command input; w2=7 sets its third word to 7."""
    values = [opcode << 16] + [0] * (length // 4 - 1)
    for name, value in words.items():
        values[int(name[1:])] = value
    return struct.pack(f">{len(values)}I", *values)


def word(answer: bytes, index: int) -> int:
    return struct.unpack_from(">I", answer, 4 * index)[0]


def key(pd: int, mode: int = KEY_OF_PIECES) -> bytes:
    """An mkey context that is free until a UMR WQE sets its layout."""
    return command(CREATE_MKEY, 0x110, w4=1 << 30 | 1 << 15 | 1 << 10 | mode << 8, w5=0xFFFFFF << 8, w7=pd, w17=4)


def queue_pair(device: raw_verbs.Device, memory: int, **changes: int) -> bytes:
    """An RC QP context with 16 WQEBBs in registered memory, followed by its doorbell record."""
    place = {"pd": device.pd_number, "cq": device.cq_number, "uar": device.uar, "type": 0, "srq": 0, "record": PAGE} | changes
    receives = 1 << 24 | place["srq"] if place["srq"] else 3 << 24
    return command(CREATE_QP, 0x110, w6=place["type"] << 16 | 3 << 11, w7=place["pd"], w8=4 << 11,
                   w9=place["uar"], w37=place["cq"], w45=place["cq"], w47=place["record"], w49=receives, w58=1 << 28,
                   w63=memory, w66=memory, w67=1 << 31)


class DeviceCommands(unittest.TestCase):
    def setUp(self) -> None:
        self.device = self.open_device()

    def open_device(self, flags: int = raw_verbs.CONTEXT_WITH_COMMANDS) -> raw_verbs.Device:
        device = raw_verbs.Device(rdma.devices()[0])
        self.addCleanup(device.close)
        device.make_basics(flags)
        return device

    @contextlib.contextmanager
    def refused(self, error: int) -> Iterator[None]:
        with self.assertRaises(OSError) as caught:
            yield
        self.assertEqual(errno.errorcode[caught.exception.errno], errno.errorcode[error])

    def make_signature_value(self, device: raw_verbs.Device) -> int:
        return device.create_object(command(CREATE_PSV, w2=1 << 28 | device.pd_number))[0]

    def test_context_without_devx_refused(self) -> None:
        other = self.open_device(flags=0)
        with self.refused(errno.EPERM):
            other.ask_device(command(QUERY_HCA_CAP, w1=GENERAL_CAPABILITIES), CAPABILITIES_BYTES)
        with self.refused(errno.EPERM):
            self.make_signature_value(other)
        with self.refused(errno.EPERM):
            other.register_memory(other.queue.address, PAGE)
        with self.refused(errno.EPERM):
            other.query_eqn(0)

    def test_query_commands_granted_or_refused(self) -> None:
        answer = self.device.ask_device(command(QUERY_HCA_CAP, w1=GENERAL_CAPABILITIES), CAPABILITIES_BYTES)
        self.assertEqual(answer[0], 0)
        self.assertTrue(any(answer[16:]))
        for opcode, room in ((QUERY_LAG, LAG_BYTES), (QUERY_VNIC_ENV, ENVIRONMENT_BYTES)):
            with self.subTest(opcode=opcode):
                self.assertEqual(word(self.device.ask_device(command(opcode), room), 0), 0)
        for opcode in (TEARDOWN_HCA, CREATE_EQ, QUERY_QP, CREATE_PSV, 0, 0xFFFF):
            with self.subTest(opcode=opcode), self.refused(errno.EINVAL):
                self.device.ask_device(command(opcode))
        with self.refused(errno.EINVAL):
            self.device.ask_device(command(QUERY_HCA_CAP)[:12], CAPABILITIES_BYTES)

    def test_command_for_other_function_refused(self) -> None:
        for function in (1, 0x8000):
            with self.subTest(function=function), self.refused(errno.EPERM):
                self.device.ask_device(command(QUERY_HCA_CAP, w1=function << 16 | GENERAL_CAPABILITIES), CAPABILITIES_BYTES)

    def test_invalid_vector_refused(self) -> None:
        self.assertGreater(self.device.query_eqn(0), 0)
        for vector in (1000, 0xFFFFFFFF):
            with self.refused(errno.EINVAL):
                self.device.query_eqn(vector)

    def test_unsupported_objects_refused(self) -> None:
        for opcode in (CREATE_EQ, QUERY_HCA_CAP, 0xA04, 0xA08, 0x800, 0x802, 0, 0xFFFF):
            with self.subTest(opcode=opcode), self.refused(errno.EINVAL):
                self.device.create_object(command(opcode, 0x110))
        with self.refused(errno.EINVAL):
            self.device.create_object(key(self.device.pd_number)[:0x80])
        with self.refused(errno.EINVAL):
            self.device.create_object(command(CREATE_PSV, w2=4 << 28 | self.device.pd_number))
        for mode in (KEY_OF_BUS_ADDRESSES, KEY_OF_PAGES):
            with self.refused(errno.EPERM):
                self.device.create_object(key(self.device.pd_number, mode))
        with self.refused(errno.EPERM):
            self.device.create_object(command(CREATE_GENERAL_OBJECT, w1=DEVICE_MEMORY_FOR_TABLES))

    def test_device_refusal_returns_eremoteio(self) -> None:
        with self.refused(errno.EREMOTEIO):
            self.device.create_object(command(CREATE_GENERAL_OBJECT, w1=RESERVED_NUMBERS))

    def test_reservation_of_too_many_qpns_refused(self) -> None:
        with self.refused(errno.ENOSPC):
            self.device.create_object(command(CREATE_GENERAL_OBJECT, w1=RESERVED_NUMBERS, w3=31 << 24))

    def test_mkey_created_queried_and_destroyed(self) -> None:
        handle, answer = self.device.create_object(key(self.device.pd_number))
        index = word(answer, 2) & 0xFFFFFF
        self.assertEqual(word(self.device.query_object(handle, command(QUERY_MKEY, w2=index)), 4 + 3) & 0xFFFFFF,
                         self.device.pd_number)
        for other in (index + 1, index | 1 << 23):
            with self.refused(errno.EINVAL):
                self.device.query_object(handle, command(QUERY_MKEY, w2=other))
        with self.refused(errno.EINVAL):
            self.device.query_object(handle, command(QUERY_QP, w2=index))
        with self.refused(errno.EINVAL):
            self.device.modify_object(handle, command(TO_ERROR_QP, w2=index))
        self.device.destroy_object(handle)
        with self.refused(errno.ENOENT):
            self.device.destroy_object(handle)

    def test_output_too_short_for_number_returns_handle(self) -> None:
        handle, _ = self.device.create_object(command(CREATE_PSV, w2=1 << 28 | self.device.pd_number), room=16)
        self.device.destroy_object(handle)

    def test_foreign_pd_refused(self) -> None:
        other = self.open_device()
        for domain in (other.pd_number, 0, 0xFFFFFF):
            with self.refused(errno.EINVAL):
                self.device.create_object(key(domain))
            with self.refused(errno.EINVAL):
                self.device.create_object(command(CREATE_PSV, w2=1 << 28 | domain))

    def test_pd_in_use_not_deallocated(self) -> None:
        handle = self.make_signature_value(self.device)
        with self.refused(errno.EBUSY):
            self.device.deallocate_pd()
        self.device.destroy_object(handle)
        self.device.deallocate_pd()

    def test_qp_created_queried_and_destroyed(self) -> None:
        device = self.device
        device.create_cq()
        _, memory = device.register_memory(device.queue.address + 65536, 2 * PAGE)
        handle, answer = device.create_object(queue_pair(device, memory))
        number = word(answer, 2) & 0xFFFFFF
        self.assertEqual(word(device.query_object(handle, command(QUERY_QP, w2=number)), 6) >> 28, 0)
        device.modify_object(handle, command(RST2INIT_QP, 0x110, w2=number, w21=1 << 16))
        with self.refused(errno.EPERM):
            device.modify_object(handle, command(RST2INIT_QP, 0x110, w2=number, w46=1))

    def test_foreign_qp_refused(self) -> None:
        device, other = self.device, self.open_device()
        device.create_cq()
        other.create_cq()
        _, memory = device.register_memory(device.queue.address + 65536, 2 * PAGE)
        for changes in ({"pd": other.pd_number}, {"pd": 0}, {"cq": other.cq_number}, {"cq": 0xFFFFFF},
                        {"uar": other.uar}, {"uar": 0}):
            with self.subTest(changes=changes), self.refused(errno.EINVAL):
                device.create_object(queue_pair(device, memory, **changes))
        for kind in (3, 7, 8, 0xC):
            with self.subTest(kind=kind), self.refused(errno.EPERM):
                device.create_object(queue_pair(device, memory, type=kind))
        _, foreign = other.register_memory(other.queue.address + 65536, 2 * PAGE)
        with self.refused(errno.EREMOTEIO):
            device.create_object(queue_pair(device, foreign))

    def test_cq_in_use_not_destroyed(self) -> None:
        device = self.device
        cq = device.create_cq()
        registered, memory = device.register_memory(device.queue.address + 65536, 2 * PAGE)
        handle, _ = device.create_object(queue_pair(device, memory))
        with self.refused(errno.EBUSY):
            device.destroy_cq(cq)
        with self.refused(errno.EBUSY):
            device.deregister_memory(registered)
        device.destroy_object(handle)
        device.destroy_cq(cq)
        device.deregister_memory(registered)

    def test_object_in_use_not_logged(self) -> None:
        log = guest.LogTail()
        self.addCleanup(log.close)
        with contextlib.closing(raw_verbs.Device(rdma.devices()[0])) as device:
            device.make_basics(raw_verbs.CONTEXT_WITH_COMMANDS)
            cq = device.create_cq()
            registered, memory = device.register_memory(device.queue.address + 65536, 2 * PAGE)
            device.create_object(queue_pair(device, memory))
            for end in (lambda: device.deregister_memory(registered), lambda: device.destroy_cq(cq), device.deallocate_pd):
                with self.refused(errno.EBUSY):
                    end()
        self.assertEqual([line for line in log.read() if re.match(r"(cxib|infiniband) ", line)], [])

    def test_verbs_qp_state_change_refused(self) -> None:
        device = self.device
        handle = device.create_qp(device.create_cq())
        number = device.qp_number
        self.assertEqual(device.query_object(handle, command(QUERY_QP, w2=number))[0], 0)
        for opcode in (RST2INIT_QP, TO_ERROR_QP, 0x50A, 0x50C):
            with self.subTest(opcode=opcode), self.refused(errno.EPERM):
                device.modify_object(handle, command(opcode, 0x110, w2=number))
        with self.refused(errno.EINVAL):
            device.query_object(handle, command(QUERY_QP, w2=number + 1))

    def guess_while_created(self, create: Callable[[], object], core_response: int,
                            guesses: Iterable[Callable[[], object]]) -> list[str]:
        """Results of commands that guess the number of a queue whose creation will fail because its response cannot be
        written."""
        page = stalled_page.StalledPage()
        self.addCleanup(page.take_away)
        failures = list[OSError]()

        def create_without_response() -> None:
            try:
                create()
            except OSError as error:
                failures.append(error)

        thread = threading.Thread(target=create_without_response)
        self.device.response_address = page.address - core_response
        thread.start()
        page.await_access()
        self.device.response_address = 0
        ends = []
        for guess in guesses:
            try:
                guess()
                ends.append("success")
            except OSError as error:
                ends.append(errno.errorcode[error.errno or 0])
        page.take_away()
        thread.join()
        self.assertEqual([errno.errorcode[error.errno or 0] for error in failures], ["EFAULT"])
        return ends

    def test_queues_named_before_creation_refused(self) -> None:
        device = self.device
        device.create_cq()
        device.create_srq()
        _, memory = device.register_memory(device.queue.address + 65536, 2 * PAGE)
        cqs = [functools.partial(device.create_object, queue_pair(device, memory, cq=device.cq_number + i))
               for i in range(1, 9)]
        self.assertEqual(self.guess_while_created(device.create_cq, 8, cqs), ["EINVAL"] * len(cqs))
        device.destroy_cq(device.create_cq())
        srqs = [functools.partial(device.create_object, queue_pair(device, memory, srq=device.srq_number + i))
                for i in range(1, 9)]
        self.assertEqual(self.guess_while_created(device.create_srq, 16, srqs), ["EINVAL"] * len(srqs))
        device.destroy_srq(device.create_srq())

    def test_controlled_qkey_requires_privilege(self) -> None:
        with unprivileged(rdma.devices()[0]):
            device = raw_verbs.Device(rdma.devices()[0])
            self.addCleanup(device.close)
            device.make_basics(raw_verbs.CONTEXT_WITH_COMMANDS)
            datagrams = device.create_qp(device.create_cq(), type=raw_verbs.UD), device.qp_number
            _, memory = device.register_memory(device.queue.address + 65536, 2 * PAGE)
            handle, answer = device.create_object(queue_pair(device, memory, type=2))
            made = handle, word(answer, 2) & 0xFFFFFF
            for (handle, number), opcode in ((made, RST2INIT_QP), (datagrams, RTS2RTS_QP), (datagrams, INIT2INIT_QP)):
                for words in ({"w48": CONTROLLED_Q_KEY}, {"w38": 1}):
                    with self.subTest(opcode=opcode, words=words), self.refused(errno.EPERM):
                        device.modify_object(handle, command(opcode, 0x110, w2=number, w21=1 << 16, **words))
            device.modify_object(made[0], command(RST2INIT_QP, 0x110, w2=made[1], w21=1 << 16, w48=0x7FFFFFFF))
        # A write command needs the credentials with which the device was opened.
        device = self.open_device()
        device.create_cq()
        _, memory = device.register_memory(device.queue.address + 65536, 2 * PAGE)
        handle, answer = device.create_object(queue_pair(device, memory, type=2))
        number = word(answer, 2) & 0xFFFFFF
        device.modify_object(handle, command(RST2INIT_QP, 0x110, w2=number, w21=1 << 16, w48=CONTROLLED_Q_KEY))

    def test_shared_xrc_target_refused(self) -> None:
        device = self.device
        handle = device.create_qp(device.create_cq(), type=raw_verbs.XRC_TGT, pd=device.open_xrcd())
        for number in (0, device.qp_number):
            for act in (lambda: device.query_object(handle, command(QUERY_QP, w2=number)),
                        lambda: device.modify_object(handle, command(INIT2INIT_QP, 0x110, w2=number))):
                with self.refused(errno.EINVAL):
                    act()

    def test_invalid_umems_refused(self) -> None:
        device = self.device
        address = device.queue.address
        device.deregister_memory(device.register_memory(address + 64, 3 * PAGE, 7)[0])
        for arguments in ((address, PAGE, 0x100), (address, PAGE, 1 << 31)):
            with self.refused(errno.EINVAL):
                device.register_memory(*arguments)
        with self.refused(errno.EINVAL):
            device.register_memory(address, (1 << 64) - 4096)
        with self.refused(errno.EFAULT):
            device.register_memory(0x10000, PAGE)

    def test_memory_of_others_behind_umem_not_reached(self) -> None:
        """The device knows the pages of a umem, but not its length: larger pages would expose neighbouring memory."""
        device = self.device
        device.create_cq()
        memory = raw_verbs.Memory(2 * HUGE_PAGE, mmap.MAP_PRIVATE)
        memory.map.madvise(mmap.MADV_HUGEPAGE)
        start = -(-memory.address // HUGE_PAGE) * HUGE_PAGE
        ctypes.memset(start, 0, HUGE_PAGE)
        for first, pages in ((start + PAGE, 2), (start + PAGE, 3), (start, 3), (start, 4), (start + 2 * PAGE, 2)):
            with self.subTest(first=first - start, pages=pages):
                _, number = device.register_memory(first, pages * PAGE)
                with self.refused(errno.EREMOTEIO):
                    device.create_object(queue_pair(device, number, record=pages * PAGE))
                device.create_object(queue_pair(device, number, record=pages * PAGE - 64))

    def test_program_with_objects_ends(self) -> None:
        for _ in range(3):
            other = raw_verbs.Device(rdma.devices()[0])
            other.make_basics(raw_verbs.CONTEXT_WITH_COMMANDS)
            other.create_cq()
            _, memory = other.register_memory(other.queue.address + 65536, 2 * PAGE)
            other.create_object(queue_pair(other, memory))
            other.create_object(key(other.pd_number))
            self.make_signature_value(other)
            other.close()
        self.make_signature_value(self.device)
