# SPDX-License-Identifier: GPL-2.0-or-later
"""Sends requests that no library would send: the driver refuses each with the right error and changes nothing."""

import ctypes
import errno
import mmap
import struct
import unittest
from collections.abc import Callable

import module_machines as machines
import raw_verbs
import rdma

GUESTS = [machines.USER_SPACE, machines.USER_SPACE_DEBUG]
UNMAPPED = 0x10000


class BadRequestTest(unittest.TestCase):
    def setUp(self) -> None:
        self.device = self.open_device()

    def open_device(self) -> raw_verbs.Device:
        device = raw_verbs.Device(rdma.devices()[0])
        self.addCleanup(device.close)
        return device

    def assert_refused(self, error: int, act: Callable[..., object], *arguments: object, **changes: int) -> None:
        with self.subTest(act=act.__name__, arguments=arguments, changes=changes):
            with self.assertRaises(OSError) as caught:
                act(*arguments, **changes)
            self.assertEqual(errno.errorcode[caught.exception.errno], errno.errorcode[error])


class BadRequests(BadRequestTest):
    def test_invalid_contexts_refused(self) -> None:
        sound = [16, 4, 0, 0, 1, 0, 0, 0, 0, 3]
        for place, value in ((2, 2), (2, 1 << 31), (3, 1), (5, 1), (6, 1), (7, 1)):
            request = list(sound)
            request[place] = value
            driver = struct.pack("<IIIIBBHIQ", *request[:6], request[6], request[7], request[9])
            self.assert_refused(errno.EOPNOTSUPP, self.device.open_context, driver)

    def test_invalid_uars_refused(self) -> None:
        self.device.make_basics()
        # The processors of this guest do not combine writes.
        self.assertEqual(self.device.register_size, 0)
        self.assert_refused(errno.EOPNOTSUPP, self.device.allocate_uar, 0)
        self.assert_refused(errno.EOPNOTSUPP, self.device.allocate_uar, 2)

    def test_invalid_cqs_refused(self) -> None:
        self.device.make_basics()
        self.device.create_cq()
        for changes in ({"cqe": 0}, {"cqe": 1 << 30}, {"cqe": 0xFFFFFFFF}, {"vector": 1000}, {"cqe_size": 0},
                        {"cqe_size": 32}, {"cqe_size": 256}, {"flags": 0}, {"uar": 0xFFFF}, {"uar": 0},
                        {"buffer": self.device.queue.address + 8}, {"record": self.device.record.address + 4},
                        {"flags": 3}, {"compress": 1}, {"compress": 1, "format": 3}, {"compress": 1, "format": 8}):
            self.assert_refused(errno.EINVAL, self.device.create_cq, **changes)
        for changes in ({"flags": 6}, {"flags": 0x8002}, {"compress": 2}, {"reserved0": 1}, {"reserved1": 1}):
            self.assert_refused(errno.EOPNOTSUPP, self.device.create_cq, **changes)
        for changes in ({"buffer": UNMAPPED}, {"record": UNMAPPED}):
            self.assert_refused(errno.EFAULT, self.device.create_cq, **changes)

    def test_invalid_qps_refused(self) -> None:
        self.device.make_basics()
        cq = self.device.create_cq()
        self.device.create_qp(cq)
        for changes in ({"sq_count": 3}, {"sq_count": 1 << 31}, {"sq_count": 1 << 17}, {"rq_count": 3},
                        {"rq_count": 0}, {"rq_count": 1 << 31}, {"rq_shift": 0}, {"rq_shift": 3}, {"rq_shift": 31},
                        {"rq_shift": 0xFFFFFFFF}, {"rq_count": 1}, {"flags": 0}, {"uidx": 1 << 24},
                        {"bfreg": 0xFFFF}, {"bfreg": 0}, {"buffer": self.device.queue.address + 16},
                        {"record": self.device.record.address + 4}):
            self.assert_refused(errno.EINVAL, self.device.create_qp, cq, **changes)
        for changes in ({"pd": 77}, {"send_cq": 77}, {"recv_cq": 77}):
            self.assert_refused(errno.ENOENT, self.device.create_qp, cq, **changes)
        for changes in ({"flags": 0x401}, {"flags": 0x410}, {"flags": 0x80000400}, {"access_key": 1}, {"ece": 1},
                        {"type": 8}):
            self.assert_refused(errno.EOPNOTSUPP, self.device.create_qp, cq, **changes)
        for changes in ({"buffer": UNMAPPED}, {"record": UNMAPPED}):
            self.assert_refused(errno.EFAULT, self.device.create_qp, cq, **changes)

    def test_credits_by_packet_refused(self) -> None:
        self.device.make_basics()
        cq = self.device.create_cq()
        flags = raw_verbs.QP_UAR_PAGE_INDEX | raw_verbs.QP_CREDITS_BY_PACKET
        self.device.create_qp(cq, flags=flags)
        for kind in (raw_verbs.UC, raw_verbs.UD):
            self.assert_refused(errno.EOPNOTSUPP, self.device.create_qp, cq, type=kind, flags=flags)
        self.assert_refused(errno.EOPNOTSUPP, self.device.create_initiator, cq, flags=flags | raw_verbs.QP_INITIATOR)

    def test_invalid_dcis_refused(self) -> None:
        self.device.make_basics()
        cq = self.device.create_cq()
        sound = raw_verbs.QP_UAR_PAGE_INDEX | raw_verbs.QP_INITIATOR
        streams = sound | raw_verbs.QP_STREAMS
        self.device.create_initiator(cq)
        self.device.create_initiator(cq, flags=streams)
        for changes in ({"flags": raw_verbs.QP_UAR_PAGE_INDEX}, {"flags": sound | raw_verbs.QP_TARGET},
                        {"flags": raw_verbs.QP_INITIATOR}, {"sq_count": 0}, {"sq_count": 3}, {"max_recv_wr": 1},
                        {"streams": 1}, {"failed_streams": 1}, {"flags": streams, "streams": 32},
                        {"flags": streams, "streams": 255}, {"flags": streams, "failed_streams": 255},
                        {"uidx": 1 << 24}, {"bfreg": 0xFFFF}):
            self.assert_refused(errno.EINVAL, self.device.create_initiator, cq, **changes)
        for changes in ({"flags": sound | 1}, {"flags": sound | 1 << 31}, {"access_key": 1}, {"ece": 1},
                        {"reserved1": 1}):
            self.assert_refused(errno.EOPNOTSUPP, self.device.create_initiator, cq, **changes)
        self.assert_refused(errno.EOPNOTSUPP, self.device.create_qp, cq,
                            flags=raw_verbs.QP_UAR_PAGE_INDEX | raw_verbs.QP_STREAMS)

    def test_invalid_dcts_refused(self) -> None:
        self.device.make_basics()
        cq, srq = self.device.create_cq(), self.device.create_srq()
        self.device.create_target(cq, srq)
        for changes in ({"is_srq": 0}, {"buffer": self.device.queue.address}, {"record": self.device.record.address},
                        {"sq_count": 16}, {"rq_count": 4}, {"rq_shift": 4}, {"bfreg": self.device.uar}, {"streams": 1},
                        {"failed_streams": 1}, {"uidx": 1 << 24}, {"flags": 0}):
            self.assert_refused(errno.EINVAL, self.device.create_target, cq, srq, **changes)
        for changes in ({"flags": raw_verbs.QP_TARGET | 1}, {"flags": raw_verbs.QP_TARGET | 1 << 31},
                        {"flags": raw_verbs.QP_TARGET | raw_verbs.QP_UAR_PAGE_INDEX}, {"ece": 1}, {"reserved1": 1}):
            self.assert_refused(errno.EOPNOTSUPP, self.device.create_target, cq, srq, **changes)

    def test_invalid_dct_transitions_refused(self) -> None:
        self.device.make_basics()
        target = self.device.create_target(self.device.create_cq(), self.device.create_srq())
        modify = self.device.modify_qp
        birth = raw_verbs.QP_PKEY_INDEX | raw_verbs.QP_PORT | raw_verbs.QP_ACCESS_FLAGS
        route = raw_verbs.QP_AV | raw_verbs.QP_PATH_MTU | raw_verbs.QP_MIN_RNR_TIMER
        self.assert_refused(errno.EINVAL, modify, target, route, raw_verbs.RTR)
        self.assert_refused(errno.EINVAL, modify, target, raw_verbs.QP_PORT, raw_verbs.INIT)
        self.assert_refused(errno.EOPNOTSUPP, modify, target, birth, raw_verbs.INIT, access=1 << 30)
        modify(target, birth, raw_verbs.INIT, access=7)
        self.assert_refused(errno.EINVAL, modify, target, route, raw_verbs.RTR, room=0)
        self.assert_refused(errno.EOPNOTSUPP, modify, target, route, raw_verbs.RTR, ece=1)
        self.assert_refused(errno.EOPNOTSUPP, modify, target, route, raw_verbs.RTR, comp_mask=1)
        self.assert_refused(errno.EINVAL, modify, target, route, raw_verbs.RTR, path_mtu=6)
        self.assert_refused(errno.EINVAL, modify, target, route, raw_verbs.RTR, min_rnr_timer=32)
        self.assert_refused(errno.EINVAL, modify, target, route, raw_verbs.RTR, flow_label=1 << 20)
        self.assertNotEqual(modify(target, route, raw_verbs.RTR), 0)
        for state in (raw_verbs.INIT, raw_verbs.RTR, raw_verbs.RTS):
            self.assert_refused(errno.EINVAL, modify, target, 0, state)
        modify(target, 0, raw_verbs.ERR)
        modify(target, 0, raw_verbs.RESET)
        modify(target, birth, raw_verbs.INIT)
        self.assertNotEqual(modify(target, route, raw_verbs.RTR), 0)

    def test_uar_of_other_program_refused(self) -> None:
        self.device.make_basics()
        other = raw_verbs.Device(rdma.devices()[0])
        self.addCleanup(other.close)
        other.make_basics()
        self.assert_refused(errno.EINVAL, self.device.create_cq, uar=other.uar)

    def test_invalid_mrs_refused(self) -> None:
        self.device.make_basics()
        address = self.device.queue.address
        self.device.register(address, 8192, address, 7)
        self.assert_refused(errno.EFAULT, self.device.register, UNMAPPED, 4096, UNMAPPED, 1)
        self.assert_refused(errno.EINVAL, self.device.register, address, 4096, address + 1, 1)
        self.assert_refused(errno.EINVAL, self.device.register, address, 4096, address, 2)
        self.assert_refused(errno.EINVAL, self.device.register, address, 2**64 - 4096, address, 1)

    def test_invalid_reregistrations_refused(self) -> None:
        self.device.make_basics()
        address = self.device.queue.address
        for flags in (raw_verbs.REREG_ACCESS, raw_verbs.REREG_TRANS, raw_verbs.REREG_PD | raw_verbs.REREG_TRANS):
            self.device.reregister(self.device.register(address, 8192, address, 1), flags, access=7)
        region = self.device.register(address, 8192, address, 1)
        self.assert_refused(errno.EINVAL, self.device.reregister, region, 0)
        self.assert_refused(errno.EINVAL, self.device.reregister, region, raw_verbs.REREG_ACCESS, access=2)
        self.assert_refused(errno.EINVAL, self.device.reregister, region, raw_verbs.REREG_TRANS, address=address + 1)
        self.assert_refused(errno.EFAULT, self.device.reregister, region, raw_verbs.REREG_TRANS, start=UNMAPPED,
                            address=UNMAPPED)
        self.device.reregister(region, raw_verbs.REREG_ACCESS, access=7)

    def test_invalid_ahs_refused(self) -> None:
        self.device.make_basics()
        self.device.create_ah(sl=15, path_bits=127, flow_label=(1 << 20) - 1)
        for changes in ({"sl": 16}, {"sl": 255}, {"path_bits": 128}, {"flow_label": 1 << 20},
                        {"flow_label": 0xFFFFFFFF}):
            self.assert_refused(errno.EINVAL, self.device.create_ah, **changes)
        self.device.create_ah(is_global=0, flow_label=1 << 20)

    def test_invalid_mws_refused(self) -> None:
        self.device.make_basics()
        for kind in (raw_verbs.MW_TYPE_1, raw_verbs.MW_TYPE_2):
            self.device.create_mw(kind)
            self.device.create_mw(kind, pieces=255)
            for changes in ({"comp_mask": 1}, {"reserved1": 1}, {"reserved2": 1}):
                self.assert_refused(errno.EOPNOTSUPP, self.device.create_mw, kind, **changes)
        self.assert_refused(errno.EINVAL, self.device.create_mw, 3)

    def test_invalid_cq_resizes_refused(self) -> None:
        self.device.make_basics()
        cq = self.device.create_cq()
        for changes in ({"cqe": 0}, {"cqe": 1 << 30}, {"cqe": 0xFFFFFFFF}, {"cqe_size": 0}, {"cqe_size": 128},
                        {"buffer": self.device.queue.address + 8}):
            self.assert_refused(errno.EINVAL, self.device.resize_cq, cq, **changes)
        for changes in ({"reserved0": 1}, {"reserved1": 1}):
            self.assert_refused(errno.EOPNOTSUPP, self.device.resize_cq, cq, **changes)
        self.assert_refused(errno.EFAULT, self.device.resize_cq, cq, buffer=UNMAPPED)
        self.assertEqual(self.device.resize_cq(cq, cqe=100), 127)
        self.assertEqual(self.device.resize_cq(cq, cqe=63), 63)

    def test_invalid_srqs_refused(self) -> None:
        self.device.make_basics()
        srq = self.device.create_srq()
        for changes in ({"max_wr": 1 << 30}, {"max_wr": 0xFFFFFFFF}, {"max_sge": 1 << 20}, {"max_sge": 0xFFFFFFFF},
                        {"buffer": self.device.queue.address + 8}, {"record": self.device.record.address + 4}):
            self.assert_refused(errno.EINVAL, self.device.create_srq, **changes)
        for changes in ({"flags": 1}, {"flags": 1 << 31}, {"reserved0": 1}, {"reserved1": 1}):
            self.assert_refused(errno.EOPNOTSUPP, self.device.create_srq, **changes)
        for changes in ({"buffer": UNMAPPED}, {"record": UNMAPPED}):
            self.assert_refused(errno.EFAULT, self.device.create_srq, **changes)
        self.device.modify_srq(srq, 2, 0, 15)
        self.assert_refused(errno.EINVAL, self.device.modify_srq, srq, 2, 0, 16)
        self.assert_refused(errno.EOPNOTSUPP, self.device.modify_srq, srq, 1, 31, 0)

    def test_invalid_xrc_objects_refused(self) -> None:
        self.device.make_basics()
        cq, xrcd = self.device.create_cq(), self.device.open_xrcd()
        srq = self.device.create_xrc_srq(cq, xrcd)
        for changes in ({"uidx": 1 << 24}, {"max_wr": 1 << 30}, {"buffer": self.device.queue.address + 8}):
            self.assert_refused(errno.EINVAL, self.device.create_xrc_srq, cq, xrcd, **changes)
        self.assert_refused(errno.EOPNOTSUPP, self.device.create_xrc_srq, cq, xrcd, flags=1)
        self.assert_refused(errno.EOPNOTSUPP, self.device.create_xrc_srq, cq, xrcd, type=3)
        self.device.modify_srq(srq, 2, 0, 15)
        self.assert_refused(errno.EINVAL, self.device.modify_srq, srq, 2, 0, 16)
        self.device.create_qp(cq, type=raw_verbs.XRC_TGT, pd=xrcd)
        self.device.create_qp(cq, type=raw_verbs.XRC_INI)
        self.assert_refused(errno.EINVAL, self.device.create_qp, cq, type=raw_verbs.XRC_INI, sq_count=3)

    def test_invalid_tag_matching_refused(self) -> None:
        self.device.make_basics()
        cq = self.device.create_cq()
        srq = self.device.create_tagged_srq(cq)
        for changes in ({"tags": 0}, {"tags": 1 << 16}, {"tags": 0x80000000}, {"tags": 0xFFFFFFFF}, {"uidx": 1 << 24},
                        {"max_wr": 1 << 30}, {"max_sge": 1 << 20}, {"buffer": self.device.queue.address + 8},
                        {"record": self.device.record.address + 4}):
            self.assert_refused(errno.EINVAL, self.device.create_tagged_srq, cq, **changes)
        for changes in ({"flags": 1}, {"reserved0": 1}, {"reserved1": 1}):
            self.assert_refused(errno.EOPNOTSUPP, self.device.create_tagged_srq, cq, **changes)
        for changes in ({"buffer": UNMAPPED}, {"record": UNMAPPED}):
            self.assert_refused(errno.EFAULT, self.device.create_tagged_srq, cq, **changes)
        with self.assertRaises(OSError):
            self.device.create_tagged_srq(77)
        self.device.create_qp(cq, is_srq=1, srq=srq, rq_count=0)
        self.device.create_qp(cq, is_srq=1, srq=srq, rq_count=0, sq_count=0, max_send_wr=0)
        for kind in (raw_verbs.UC, raw_verbs.UD):
            self.assert_refused(errno.EINVAL if kind == raw_verbs.UD else errno.EOPNOTSUPP, self.device.create_qp, cq,
                                type=kind, is_srq=1, srq=srq)
        self.assert_refused(errno.EINVAL, self.device.modify_srq, srq, 2, 0, 16)
        self.assert_refused(errno.EOPNOTSUPP, self.device.modify_srq, srq, 1, 31, 0)
        self.device.modify_srq(srq, 2, 0, 15)
        self.device.await_event(raw_verbs.EVENT_SRQ_LIMIT)
        self.assert_refused(errno.EBUSY, self.device.destroy_srq, srq)
        self.device.destroy_srq(self.device.create_tagged_srq(cq))

    def test_read_only_pages_mapped_writable_refused(self) -> None:
        self.device.make_basics()
        for offset in (raw_verbs.CLOCK_PAGE, raw_verbs.CLOCK_INFO_PAGE):
            self.device.map(offset).close()
            self.assert_refused(errno.EPERM, self.device.map, offset, mmap.PROT_READ | mmap.PROT_WRITE)
            self.assert_refused(errno.EINVAL, self.device.map, offset, pages=2)
        for offset in (0, 1 << 8, 2 << 8, 6 << 8, 8 << 8, 200 << 8):
            self.assert_refused(errno.EINVAL, self.device.map, offset)


class BufferAttributes(BadRequestTest):
    """Buffers passed as attributes of the RDMA core. Older kernels refuse these attributes."""

    def assert_unsupported(self, create: Callable[..., int], *arguments: object) -> None:
        with self.subTest(create=create.__name__, arguments=arguments):
            with self.assertRaises(OSError) as caught:
                create(*arguments)
            self.assertIn(caught.exception.errno, (errno.EOPNOTSUPP, errno.EPROTONOSUPPORT))

    def describe_buffer(self) -> tuple[int, int]:
        """Size and address of a struct ib_uverbs_buffer_desc."""
        self.text = ctypes.create_string_buffer(struct.pack("<IiIIQQ", raw_verbs.BUFFER_TYPE_VA, -1, 0, 0, self.device.queue.address,
                                                            65536), 32)
        return len(self.text), ctypes.addressof(self.text)

    def test_buffers_passed_as_attributes_refused(self) -> None:
        self.device.make_basics()
        buffer = self.describe_buffer()
        cq = self.device.create_cq_by_ioctl()
        self.device.create_srq_by_ioctl()
        self.device.create_qp_by_ioctl(cq)
        self.assert_unsupported(self.device.create_cq_by_ioctl, (raw_verbs.CQ_BUF_UMEM, *buffer))
        self.assert_unsupported(self.device.create_cq_by_ioctl, (raw_verbs.CQ_BUFFER_VA, 8, self.device.queue.address),
                                (raw_verbs.CQ_BUFFER_LENGTH, 8, 65536))
        self.assert_unsupported(self.device.create_srq_by_ioctl, (raw_verbs.SRQ_BUF_UMEM, *buffer))
        for attribute in (raw_verbs.QP_BUF_UMEM, raw_verbs.QP_RQ_BUF_UMEM, raw_verbs.QP_SQ_BUF_UMEM):
            self.assert_unsupported(self.device.create_qp_by_ioctl, cq, (attribute, *buffer))
