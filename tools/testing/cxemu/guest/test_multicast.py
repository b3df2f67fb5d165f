# SPDX-License-Identifier: GPL-2.0-or-later
"""Multicast by the test program of librdmacm: joined through the subnet administration, forwarded by the switch.

Needs a subnet manager and three devices on one switch.
"""

import unittest

import ipoib
import rdma


class MulticastKey(unittest.TestCase):
    """mckey, the test program of librdmacm: one sender, three receivers."""

    def test_three_receivers_get_messages(self) -> None:
        addresses = []
        for number, port in enumerate(rdma.ports()[:3]):
            addresses.append(f"10.8.{number}.1")
            ipoib.set_up(port, f"{addresses[-1]}/24")
        with (self.receiver(addresses[0]) as first, self.receiver(addresses[1]) as second,
              self.receiver(addresses[2]) as third):
            receivers = [first, second, third]
            for receiver in receivers:
                self.await_line(receiver, "joined dgid")
            rdma.run("mckey", "-m", "239.1.3.1", "-b", addresses[0], "-C", 50, "-S", 1024, "-s")
            for receiver in receivers:
                self.assertIn("test complete", rdma.finish(receiver))

    @staticmethod
    def receiver(address: str) -> rdma.background:
        return rdma.background("stdbuf", "-oL", "mckey", "-m", "239.1.3.1", "-b", address, "-C", 50, "-S", 1024)

    def await_line(self, child, wanted: str) -> None:
        for line in child.stdout:
            if wanted in line:
                return
        self.fail(f"{child.args} has ended without '{wanted}'")


if __name__ == "__main__":
    unittest.main(verbosity=2)
