# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests libfabric's verbs provider between two HCAs of this guest with fi_pingpong, which compares the data."""

import unittest

import middleware
import programs
import rdma
from test_cm_programs import PATIENCE, SERVER, TwoMachines

GUESTS = middleware.GUESTS
ROUNDS = 5


def setUpModule() -> None:  # noqa: N802  (unittest's name)
    programs.use()


class PingPong(TwoMachines):
    """Both ends of fi_pingpong connect over TCP first. A libfabric domain is a device with one kind of QP."""

    def check(self, provider: str, endpoint: str, suffix: str = "") -> None:
        number = next(rdma.TCP_PORTS)
        common = ["env", "FI_LOG_LEVEL=warn", "fi_pingpong", "-p", provider, "-e", endpoint, "-I", ROUNDS,
                  "-S", "all", "-c"]
        server, client = (f"{port.device}{suffix}" for port in rdma.ports()[:2])
        with rdma.background("ip", "netns", "exec", self.namespace, *common, "-d", server, "-B", number) as child:
            rdma.until(lambda: self.listens(number) or child.poll() is not None, "fi_pingpong listens")
            output = rdma.run(*common, "-d", client, "-P", number, SERVER, timeout=PATIENCE)
            rdma.finish(child)
        self.assertRegex(output, rf"(?m)^64 +{ROUNDS} +={ROUNDS} ")

    def listens(self, number: int) -> bool:
        return f":{number} " in rdma.run("ip", "netns", "exec", self.namespace, "ss", "-ltn")

    def test_connections_verified(self) -> None:
        self.check("verbs", "msg")

    def test_datagrams_verified(self) -> None:
        self.check("verbs", "dgram", "-dgram")

    def test_reliable_datagrams_over_connections_verified(self) -> None:
        self.check("verbs;ofi_rxm", "rdm")

    def test_reliable_datagrams_over_datagrams_verified(self) -> None:
        self.check("verbs;ofi_rxd", "rdm", "-dgram")


if __name__ == "__main__":
    unittest.main(verbosity=2)
