# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests multicast with the test program of librdmacm: it joins through the subnet administrator, and the switch
forwards.

Needs a subnet manager and three devices on one switch.
"""

import re
import subprocess
import unittest

import ipoib
import rdma
from cxemu_machines import FABRIC, FABRIC_WHOLE

GUESTS = [FABRIC, FABRIC_WHOLE]


class MulticastKey(unittest.TestCase):
    """Runs mckey with one sender and three receivers."""

    def test_three_receivers_get_messages(self) -> None:
        addresses = []
        for number, port in enumerate(rdma.ports()[:3]):
            addresses.append(f"10.8.{number}.1")
            ipoib.set_up(port, f"{addresses[-1]}/24")
        with (self.receiver(addresses[0]) as first, self.receiver(addresses[1]) as second,
              self.receiver(addresses[2]) as third):
            receivers = [first, second, third]
            group = [self.joined(receiver) for receiver in receivers][0]
            rdma.until(lambda: self.forwarded(group) >= len(receivers), "the switch forwards to all receivers")
            rdma.run("mckey", "-m", "239.1.3.1", "-b", addresses[0], "-C", 50, "-S", 1024, "-s")
            for receiver in receivers:
                self.assertIn("test complete", rdma.finish(receiver))

    @staticmethod
    def receiver(address: str) -> rdma.background:
        return rdma.background("stdbuf", "-oL", "mckey", "-m", "239.1.3.1", "-b", address, "-C", 50, "-S", 1024)

    def joined(self, child: subprocess.Popen) -> str:
        """The multicast LID of the group that a receiver has joined."""
        for line in child.stdout:
            if found := re.search(r"joined dgid: \S+ mlid 0x(\w+)", line):
                return found[1]
        self.fail(f"{child.args} has ended without having joined")

    @staticmethod
    def forwarded(group: str) -> int:
        """Number of ports to which the switch forwards. The subnet manager replies to a join before it configures the
        switch."""
        switch = rdma.number(rdma.ask("ibswitches"), r"lid (\d+)")
        row = re.search(rf"(?mi)^0x{group}((?: +x| )*)", rdma.ask("ibroute", "-M", switch))
        return row[1].count("x") if row else 0


if __name__ == "__main__":
    unittest.main(verbosity=2)
