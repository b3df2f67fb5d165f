# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests UCX between two HCAs of this guest over each of its InfiniBand transports, with and without DEVX.

ucx_perftest checks no data except the last word of an atomic operation; io_demo checks all data.
"""

import shlex
import unittest

import middleware
import programs
import rdma
from test_cm_programs import NUMBERS, PATIENCE, SERVER, TwoMachines

GUESTS = middleware.GUESTS
# A transport that cannot set up connections gets a datagram transport for that purpose.
TRANSPORTS = {"rc_mlx5": "rc_mlx5,ud_mlx5:aux", "dc_mlx5": "dc_mlx5", "ud_mlx5": "ud_mlx5",
              "rc_verbs": "rc_verbs,ud_verbs:aux", "ud_verbs": "ud_verbs"}
MLX5 = ("rc_mlx5", "dc_mlx5", "ud_mlx5")
DATAGRAMS = ("ud_mlx5", "ud_verbs")
ATOMICS = ("ucp_add", "ucp_fadd", "ucp_swap", "ucp_cswap")


def setUpModule() -> None:  # noqa: N802  (unittest's name)
    programs.use()


def ways() -> list[tuple[str, bool]]:
    """Transports, without DEVX and, if the transport supports it, with DEVX."""
    return [(transport, devx) for transport in TRANSPORTS for devx in (True, False)
            if not devx or transport in MLX5]


def flushes(transport: str, devx: bool) -> bool:
    """Whether the transport can flush: UCX flushes writes by reading from an rkey that only its DEVX part creates."""
    return devx or transport in DATAGRAMS


def environment(device: str, transport: str, devx: bool, tag_matching: bool = False) -> list[str]:
    """Environment that limits a program to one device and one transport."""
    settings = {"UCX_TLS": f"{TRANSPORTS[transport]},self", "UCX_NET_DEVICES": f"{device}:1", "UCX_LOG_LEVEL": "warn",
                "UCX_IB_MLX5_DEVX": "y" if devx else "n"}
    # UCX warns about settings that no transport uses.
    if transport == "rc_mlx5":
        settings["UCX_RC_MLX5_TM_ENABLE"] = "y" if tag_matching else "n"
    return ["env", *(f"{name}={value}" for name, value in settings.items())]


def program(device: str, transport: str, devx: bool, *words: str | int, tag_matching: bool = False) -> list[str]:
    """The command of ucx_perftest with a terminal, without which it requires MPI."""
    command = [*environment(device, transport, devx, tag_matching), *(str(word) for word in words)]
    return ["script", "-qec", shlex.join(command), "/dev/null"]


def perftest(test: str, transport: str, devx: bool, size: int, rounds: int, tag_matching: bool = False) -> str:
    """Runs both ends of ucx_perftest; returns their output.

    ucx_perftest uses one buffer for all its receives. With tag matching, UCX lets the HCA write the header of a
    rendezvous to the buffer of the tag, where the data of an earlier message overwrite it. So only one receive may be
    outstanding.
    """
    server, client = rdma.devices()[:2]
    port = next(rdma.TCP_PORTS)
    common = ["ucx_perftest", "-P", 0, "-p", port]
    options = ["-O", 1] if tag_matching else []
    with rdma.background(*program(server, transport, devx, *common, tag_matching=tag_matching)) as child:
        rdma.await_listener(port, child)
        output = rdma.run(*program(client, transport, devx, *common, "127.0.0.1", "-t", test, "-s", size, "-n", rounds,
                                   "-w", 10, *options, tag_matching=tag_matching), timeout=PATIENCE)
        return rdma.finish(child) + output


class Perftest(unittest.TestCase):
    def check(self, test: str, transport: str, devx: bool, size: int, rounds: int, tag_matching: bool = False) -> None:
        output = perftest(test, transport, devx, size, rounds, tag_matching)
        self.assertRegex(output, rf"(?m)^Final: +{rounds} ", output)
        self.assertNotRegex(output, r" UCX +(ERROR|WARN) ")

    def test_messages_and_remote_memory_of_all_transports_succeed(self) -> None:
        for transport, devx in ways():
            for test in ("tag_bw", "stream_bw", "ucp_am_bw", "ucp_get", *(["ucp_put_bw"] if flushes(transport, devx) else [])):
                with self.subTest(transport=transport, devx=devx, test=test):
                    self.check(test, transport, devx, 4096, 300)

    def test_atomics_succeed(self) -> None:
        for transport in ("rc_mlx5", "dc_mlx5"):
            for test in ATOMICS:
                for size in (4, 8):
                    with self.subTest(transport=transport, test=test, size=size):
                        self.check(test, transport, True, size, 100)

    def test_tags_matched_by_hca_succeed(self) -> None:
        for devx in (True, False):
            for size in (1024, 8192, 65536, 1 << 20):
                with self.subTest(devx=devx, size=size):
                    self.check("tag_bw", "rc_mlx5", devx, size, 100, tag_matching=True)

    def test_more_datagrams_than_receive_ring_succeed(self) -> None:
        self.check("tag_bw", "ud_mlx5", True, 64, 10000)


class IoDemo(TwoMachines):
    """Tests reads and writes of a server's buffers with checked contents, over the connection manager."""

    def exchange_data(self, transport: str, devx: bool, *options: str) -> str:
        """Returns the client's output. The server never ends by itself."""
        server, client = rdma.devices()[:2]
        number = next(NUMBERS)
        common = ["io_demo", "-p", number, "-q", "-d", "64:200000", "-o", "read,write", *options]
        words = ["ip", "netns", "exec", self.namespace, *environment(server, transport, devx), *common]
        with rdma.background(*words) as child:
            rdma.until(lambda: self.listening(number) or child.poll() is not None, "io_demo listens")
            return rdma.run(*environment(client, transport, devx), *common, "-i", 200, SERVER, timeout=PATIENCE)

    def test_data_of_all_transports_verified(self) -> None:
        for transport, devx in ways():
            for options in ((), ("-A",)):
                with self.subTest(transport=transport, devx=devx, options=options):
                    self.assertIn("Client exit with status 'OK'", self.exchange_data(transport, devx, *options))


if __name__ == "__main__":
    unittest.main(verbosity=2)
