# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests programs that connect through the RDMA connection manager; most of them check the data that they receive.

Needs a subnet manager and two devices on one switch. The servers run in a network namespace with the first device's
interface, so that the kernel treats the two addresses as two hosts.
"""

import contextlib
import itertools
import os
import re
import unittest

import ipoib
import rdma
from cxemu_machines import MATRIX, TRANSPORT, WIRE, with_tests

GUESTS = [*TRANSPORT, *with_tests([*WIRE, *MATRIX], "Examples")]
SERVER, CLIENT = "10.9.0.1", "10.9.0.2"
ROUNDS = int(os.environ.get("CXEMU_ROUNDS", "20"))
WHOLE = os.environ.get("CXEMU_MATRIX", "short") == "whole"
# Operations of perftest over the connection manager by service, and log2 of the longest message that "-a" uses.
OPERATIONS = {"RC": ("send", "write", "read", "atomic"), "UD": ("send",)}
LARGEST = {"RC": 23, "UD": 12}
PATIENCE = 600.0
NUMBERS = itertools.count(7500)


class TwoMachines(unittest.TestCase):
    """Servers run in a namespace, clients outside it."""

    @classmethod
    def setUpClass(cls) -> None:
        server, client = rdma.ports()[:2]
        rdma.run("modprobe", "-a", "ib_ipoib", "rdma_ucm")
        ipoib.set_up(client, f"{CLIENT}/24")
        cls.namespace = cls.enterClassContext(ipoib.namespace("servers", server, f"{SERVER}/24"))
        rdma.run("ip", "-n", cls.namespace, "link", "set", "lo", "up")
        rdma.until(lambda: rdma.succeeds("ping", "-n", "-c", 1, "-W", 2, SERVER), f"{SERVER} answers",
                   evidence=ipoib.state)

    def listening(self, number: int) -> bool:
        """Whether a process listens for connections on a port of the RDMA connection manager."""
        identifiers = rdma.run("ip", "netns", "exec", self.namespace, "rdma", "resource", "show", "cm_id")
        return any("state LISTEN" in line and f":{number} " in f"{line} " for line in identifiers.splitlines())

    def takes_datagrams(self, number: int) -> bool:
        """Whether a process has a UDP socket bound to the port."""
        return f":{number} " in rdma.run("ip", "netns", "exec", self.namespace, "ss", "-uln")

    def exchange(self, server: list[str | int], client: list[str | int], lasting: bool = False) -> tuple[str, str]:
        """Runs a server and its client with the same "-p PORT"; returns the output of both.

        :param lasting: the server continues after its client has ended
        """
        number = next(NUMBERS)
        with rdma.background("ip", "netns", "exec", self.namespace, *server, "-p", number) as child:
            rdma.until(lambda: self.listening(number) or child.poll() is not None, f"{server} listens")
            output = rdma.run_client(*client, "-p", number, timeout=PATIENCE)
            with contextlib.suppress(ProcessLookupError):
                if lasting:
                    child.terminate()
            return (child.communicate()[0] if lasting else rdma.finish(child)), output


class Examples(TwoMachines):
    """The example programs of librdmacm."""

    def test_rping_data_verified(self) -> None:
        for size in (64, 4095, 65535):
            with self.subTest(size):
                common = ["rping", "-a", SERVER, "-V", "-C", ROUNDS, "-S", size]
                for output in self.exchange([*common, "-s"], [*common, "-c"]):
                    self.assertNotIn("error", output)

    def test_ucmatose_succeeds(self) -> None:
        for connections in (1, 8):
            with self.subTest(connections):
                common = ["ucmatose", "-c", connections, "-C", ROUNDS, "-S", 8192]
                for output in self.exchange([*common, "-b", SERVER], [*common, "-s", SERVER]):
                    self.assertIn("return status 0", output)

    def test_rstream_data_verified(self) -> None:
        for size in (64, 65536, 1 << 20):
            with self.subTest(size):
                common = ["rstream", "-T", "v", "-S", size, "-C", ROUNDS, "-I", 1]
                self.exchange([*common, "-b", SERVER], [*common, "-s", SERVER])

    def test_riostream_data_verified(self) -> None:
        common = ["riostream", "-T", "v", "-S", 65536, "-C", ROUNDS, "-I", 1]
        self.exchange([*common, "-b", SERVER], [*common, "-s", SERVER])

    def test_udpong_messages_echoed(self) -> None:
        """The server receives the UDP datagrams of clients, has no listening rdma_cm_id, and never ends."""
        for mode in ("b", "n", "a"):
            with self.subTest(mode):
                number = next(NUMBERS)
                common = ["udpong", "-T", "e", "-T", mode, "-C", ROUNDS, "-S", 64, "-p", number]
                with rdma.background("ip", "netns", "exec", self.namespace, *common, "-b", SERVER) as child:
                    rdma.until(lambda at=number, of=child: self.takes_datagrams(at) or of.poll() is not None,
                               "udpong takes datagrams")
                    output = rdma.run_client(*common, "-s", SERVER, timeout=PATIENCE)
                self.assertRegex(output, rf"(?m)^custom +64 +{2 * ROUNDS} ")

    def test_cmtime_many_connections_succeed(self) -> None:
        _, output = self.exchange(["cmtime", "-b", SERVER, "-c", 50], ["cmtime", "-s", SERVER, "-c", 50], lasting=True)
        self.assertIn("connect", output)

    def test_rdma_xclient_both_services_succeed(self) -> None:
        for service in ("r", "x"):
            with self.subTest(service):
                self.exchange(["rdma_xserver", "-c", service], ["rdma_xclient", "-s", SERVER, "-c", service])


class Perftest(TwoMachines):
    """perftest with -R."""

    def check(self, program: str, *options: str | int, rounds: int = 100, sizes: int = 1) -> None:
        common = [program, "-R", "-F", "-n", rounds, *options]
        _, output = self.exchange(common, [*common, SERVER])
        self.assertEqual(len(re.findall(rf"(?m)^ *\d+ +{rounds} ", output)), sizes, output)

    def test_send(self) -> None:
        self.check("ib_send_bw", "-s", 65536)

    def test_write(self) -> None:
        self.check("ib_write_lat", "-s", 4096)

    def test_read(self) -> None:
        self.check("ib_read_bw", "-s", 65536)

    def test_atomic(self) -> None:
        self.check("ib_atomic_lat")

    def test_datagrams(self) -> None:
        self.check("ib_send_lat", "-s", 1024, "-c", "UD")

    @unittest.skipUnless(WHOLE, "only the whole matrix has all operations, services and sizes")
    def test_matrix(self) -> None:
        for service, operations in OPERATIONS.items():
            for operation, measure, events in itertools.product(operations, ("bw", "lat"), ((), ("-e",))):
                if operation == "write" and events:
                    continue  # the program polls memory
                options, sizes = ((), 1) if operation == "atomic" else (("-a",), LARGEST[service])
                with self.subTest(service=service, operation=operation, measure=measure, events=events):
                    program = f"ib_{operation}_{measure}"
                    self.check(program, "-c", service, *options, *events, rounds=10, sizes=sizes)


if __name__ == "__main__":
    unittest.main(verbosity=2)
