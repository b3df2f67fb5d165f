# SPDX-License-Identifier: GPL-2.0-or-later
"""Unloads modules in every order while a client is connected: the client's, the target's, the driver of the HCAs.

After each order all modules are loaded again, and a new connection transfers verified data.
"""

import contextlib
import functools
import itertools
from collections.abc import Callable, Iterable, Iterator

import disks
import iser
import nfs
import nvme
import rdma
import rds
import removable
import srp
import subnet_manager
import test_rds
import ulp
import wire
from load import CLIENT_MODULES, TARGET_MODULES, Faulty, iser_disk, nfs_file, nvme_disk, srp_disk, writes
from machines import GOES, GOES_ALL, POLLING

GUESTS = [GOES.with_tests("Nvme.test_driver_unbound_during_io_survived"), GOES_ALL, *POLLING]
Connect = Callable[[], contextlib.AbstractContextManager[str]]
Target = Callable[[], contextlib.AbstractContextManager[object]]
Step = Callable[[], object]
DRIVER = "driver"


def every_order(*names: str) -> list[tuple[str, ...]]:
    """The orders to test. Without ULP_WHOLE, a selection in which each module is first once."""
    orders = list(itertools.permutations(names))
    if ulp.WHOLE:
        return orders
    return [next(order for order in orders if order[0] == name) for name in names]


def rmmod(module: str) -> None:
    """Unloads a module, repeatedly until its last user has ended."""
    rdma.run_until_success("rmmod", module)


def end_and_rmmod(user: contextlib.ExitStack | None, module: str) -> None:
    """Leaves the context that uses the module, if there is one, and unloads the module."""
    if user:
        user.close()
    rmmod(module)


@contextlib.contextmanager
def suppressed(context: contextlib.AbstractContextManager[str]) -> Iterator[str]:
    """Ignores errors at the end of the context: a connection that is gone cannot be disconnected."""
    stack = contextlib.ExitStack()
    try:
        yield stack.enter_context(context)
    finally:
        with contextlib.suppress(AssertionError):
            stack.close()


class Unloading(Faulty):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        if iser.LASTING:
            raise AssertionError("sessions that cannot be ended any more hold ib_iser")

    def setUp(self) -> None:
        self.hcas = [removable.hca(number) for number in (0, 1)]

    def load_driver_again(self) -> None:
        """Loads the driver and restarts OpenSM, which does not find a port again that has disappeared."""
        was_opensm = subnet_manager.is_running()
        if was_opensm:
            subnet_manager.end()
        removable.load()
        if was_opensm:
            subnet_manager.start()
        for hca in self.hcas:
            hca.bind()
        removable.come_back(*self.hcas)

    def unload_driver(self) -> None:
        removable.unload()

    def run_in_order(self, order: Iterable[str], steps: dict[str, Step]) -> None:
        for name in order:
            steps.get(name, self.unload_driver)()
        if DRIVER in order:
            self.load_driver_again()

    def check_orders(self, client_module: str, target_module: str, target: Target, connect: Connect, *,
                     is_held: bool = False) -> None:
        """A target is taken down before its module is unloaded; a client that holds its module is disconnected
        before."""
        for order in every_order("client", "target", DRIVER):
            with (self.subTest(order=order), contextlib.ExitStack() as served, contextlib.ExitStack() as connected):
                served.enter_context(target())
                disks.verify(connected.enter_context(suppressed(connect())), "64k")
                unload_client = functools.partial(end_and_rmmod, connected if is_held else None, client_module)
                self.run_in_order(order, {"client": unload_client,
                                          "target": functools.partial(end_and_rmmod, served, target_module)})
            disks.unload(*CLIENT_MODULES, *TARGET_MODULES)
        with target(), connect() as path:
            disks.verify(path, "64k")

    def check_driver(self, target: Target, connect: Connect) -> None:
        """Unloads the driver in the middle of I/O at both ends."""
        with target(), suppressed(connect()) as path:
            load = writes(path)
            self.unload_driver()
            self.load_driver_again()
            load.end()
        disks.unload(*CLIENT_MODULES, *TARGET_MODULES)
        with target(), connect() as path:
            disks.verify(path, "64k")


class Nvme(Unloading):
    def target(self) -> contextlib.AbstractContextManager[None]:
        return nvme.target(disks.in_memory(0))

    def test_every_unload_order_survived(self) -> None:
        self.check_orders("nvme_rdma", "nvmet_rdma", self.target, nvme_disk)

    def test_driver_unbound_during_io_survived(self) -> None:
        self.check_driver(self.target, nvme_disk)


class Iser(Unloading):
    @contextlib.contextmanager
    def target(self) -> Iterator[None]:
        with iser.target(disks.in_memory(1)):
            yield
            iser.end_sessions()

    @contextlib.contextmanager
    def connect(self) -> Iterator[str]:
        """A daemon with sessions of an unloaded module is useless, so each connection starts a new one."""
        try:
            with iser_disk(("node.session.timeo.replacement_timeout", 5)) as disk:
                yield disk
        finally:
            rdma.run("killall", "-9", "iscsid")

    def unload_driver(self) -> None:
        """Removes the client's HCA first, and unloads the driver after the target has ended its connections.

        If the target's HCA is removed earlier, ib_isert does not wait for the end (isert_cma_handler waits for a state
        that the connection already has). It frees the connection, and destroys its QP and CQ after the device is gone.
        ib_core warns about them (with mlx5_ib too).
        """
        if self.hcas[1].is_active():
            self.hcas[1].unbind()
        rdma.until(lambda: "[ib_isert]" not in rdma.run("rdma", "resource", "show", "pd"),
                   "the target ends the connections", evidence=lambda: rdma.run("rdma", "resource", "show", "cm_id"))
        super().unload_driver()

    def test_every_unload_order_survived(self) -> None:
        self.check_orders("ib_iser", "ib_isert", self.target, self.connect, is_held=True)

    def test_driver_unbound_during_io_survived(self) -> None:
        self.check_driver(self.target, self.connect)


class Srp(Unloading):
    def setUp(self) -> None:
        super().setUp()
        self.gid, self.guid = srp.gid(wire.ends()[0].device), wire.client_guid()

    def target(self) -> contextlib.AbstractContextManager[None]:
        return srp.target(disks.in_memory(2), self.guid)

    def connect(self) -> contextlib.AbstractContextManager[str]:
        return srp_disk(self.gid)

    def test_every_unload_order_survived(self) -> None:
        self.check_orders("ib_srp", "ib_srpt", self.target, self.connect)

    def test_driver_unbound_during_io_survived(self) -> None:
        self.check_driver(self.target, self.connect)


class Nfs(Unloading):
    def target(self) -> contextlib.AbstractContextManager[None]:
        return nfs.server(disks.in_memory(3))

    def test_every_unload_order_survived(self) -> None:
        # Both ends use the same module, which a mounted file system and a server hold.
        for order in every_order("protocol", DRIVER):
            with self.subTest(order=order), contextlib.ExitStack() as served:
                served.enter_context(self.target())
                with nfs_file() as path:
                    disks.verify(path, "64k")
                    if order[0] == DRIVER:
                        self.run_in_order([DRIVER], {})
                        disks.verify(path, "64k")
                served.close()
                self.run_in_order(["protocol", DRIVER], {"protocol": lambda: rmmod("rpcrdma")})
        with self.target(), nfs_file() as path:
            disks.verify(path, "64k")

    def test_driver_unbound_during_io_survived(self) -> None:
        self.check_driver(self.target, nfs_file)


class Rds(Unloading):
    EXERCISE = ("rds_exercise", "stream", "--local", wire.CLIENT, "--remote", wire.SERVER, "--count", 200,
                "--time-limit", rds.PATIENCE)

    def test_every_unload_order_survived(self) -> None:
        if not rds.unloading_waits():
            self.skipTest("RDS of this kernel does not wait for the end of its connections")
        # The connection outlives the programs that have used it.
        for order in every_order("protocol", DRIVER):
            with self.subTest(order=order):
                with test_rds.serve():
                    rdma.run(*self.EXERCISE)
                self.run_in_order(order, {"protocol": lambda: rmmod("rds_rdma")})
        with test_rds.serve():
            rdma.run(*self.EXERCISE)


@ulp.IB_ONLY
class Ipoib(Unloading):
    def restore_interfaces(self) -> None:
        rdma.run("modprobe", "ib_ipoib")
        removable.come_back(*self.hcas)

    def test_every_unload_order_survived(self) -> None:
        for order in every_order("protocol", DRIVER):
            with self.subTest(order=order), rdma.background("ping", "-q", "-i", "0.02", "-I", wire.CLIENT, wire.SERVER):
                rdma.until(lambda: wire.answers(wire.CLIENT, wire.SERVER), "the peer answers")
                if order[0] == DRIVER:
                    self.run_in_order([DRIVER], {})
                    rmmod("ib_ipoib")
                    self.restore_interfaces()
                else:
                    rmmod("ib_ipoib")
                    self.run_in_order([DRIVER], {})
