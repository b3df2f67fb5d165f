# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares how two subnet managers configure the same fabric: the emulator's, in its switch, and OpenSM in this guest.

Needs three devices on one switch with the emulator's subnet manager (tools/lab/run --sm). OpenSM then starts and
becomes the master, because the priorities are equal and its port GUID is lower. The same tools read both
configurations.
"""

import itertools
import re
import unittest

import rdma
from machine import LONG, Guest

GUEST = Guest("managers", driver="mlx5", hcas=3, sm="cxemu", level=LONG)
# The managers use different ports, and the counters depend on the run.
DIFFERENT = ("SMLid", "Lid", "LocalPort", "MkeyViolations", "PkeyViolations", "QkeyViolations")
IS_SM = 0x2
BROADCAST = "ff12:401b:ffff::ffff:ffff"

Facts = dict[str, str]


def fields(text: str) -> Facts:
    """The `Name:......value` lines of smpquery."""
    return dict(re.findall(r"^(\w[^:\n]*):\.*(.*)$", text, re.MULTILINE))


def record(text: str) -> Facts:
    """The `name......value` lines of one record of saquery."""
    return dict(re.findall(r"^\s+(\w[\w ]*?)\.{2,}(.*)$", text, re.MULTILINE))


def switch_lid() -> int:
    return rdma.number(rdma.ask("ibswitches"), r"lid (\d+)")


def port_settings() -> Facts:
    """PortInfo of each port with a link, and of the switch's port 0."""
    lid = switch_lid()
    asked = {f"host {number}": (port.lid, port.number) for number, port in enumerate(rdma.ports())}
    asked |= {f"switch {number}": (lid, number) for number in range(len(rdma.ports()) + 1)}
    facts = {}
    for name, (to, number) in asked.items():
        info = fields(rdma.ask("smpquery", "portinfo", to, number))
        info["CapMask"] = hex(int(info["CapMask"], 16) & ~IS_SM)
        facts |= {f"{name}: {field}": value for field, value in info.items() if field not in DIFFERENT}
        if not name.startswith("switch"):
            facts[f"{name}: P_Keys"] = rdma.ask("smpquery", "pkeys", to, number)
    return facts


def routes() -> Facts:
    """The switch's output port for each host."""
    table = rdma.ask("ibroute", switch_lid())
    return {port.guid: str(rdma.number(table, rf"^0x{port.lid:04x} (\d+) ")) for port in rdma.ports()}


def paths() -> Facts:
    """PathRecords between all hosts, without LIDs."""
    facts = {}
    for source, target in itertools.product(rdma.ports(), repeat=2):
        text = rdma.saquery("--src-to-dst", f"{source.lid}:{target.lid}")
        path = record(text)
        facts |= {f"{source.guid} to {target.guid}: {name}": value for name, value in path.items()
                  if name not in ("dlid", "slid")}
    return facts


def broadcast_group() -> Facts:
    groups = re.split(r"(?m)^MCMemberRecord", rdma.saquery("-g"))
    return next(record(group) for group in groups if BROADCAST in group)


def members() -> set[str]:
    """Port GIDs in the broadcast group of IPoIB."""
    text = rdma.saquery("--smkey", 1, "-m")  # members are reported for trusted requests only
    return {member for group, member in re.findall(r"MGID\.+(\S+)\n.*Mlid\.+\S+\n.*PortGid\.+(\S+)", text)
            if group == BROADCAST}


class Managers(unittest.TestCase):
    maxDiff = None

    def assert_same(self, one: Facts, other: Facts) -> None:
        differing = {name: (one.get(name), other.get(name)) for name in one.keys() | other.keys()
                     if one.get(name) != other.get(name)}
        self.assertEqual(differing, {})

    def master(self) -> str:
        """Port GUID of the master; empty if there is none."""
        if not rdma.succeeds("sminfo"):
            return ""
        found = re.search(r"sm guid 0x([0-9a-f]+),.*SMINFO_MASTER", rdma.run("sminfo"))
        return found[1] if found else ""

    def subnet_is_up(self, manager: str) -> bool:
        return self.master() == manager and all(port.state == "ACTIVE" for port in rdma.ports()) and \
            rdma.succeeds("saquery", "-c")

    def check_subnet(self) -> Facts:
        """Checks what every manager must configure. Returns what must be equal under both."""
        lids = [port.lid for port in rdma.ports()] + [switch_lid()]
        self.assertNotIn(0, lids)
        self.assertEqual(len(lids), len(set(lids)), lids)
        self.assertEqual({port.attribute("sm_lid") for port in rdma.ports()}, {rdma.ports()[0].attribute("sm_lid")})
        found = rdma.run("ibnetdiscover", *rdma.MAD_TIMEOUT)
        self.assertEqual(len(rdma.ports()), len(re.findall(r"(?m)^Ca\s", found)), found)
        checked = rdma.ask("ibqueryerrors", "-s", "PortXmitWait,PortXmitDiscards")
        self.assertRegex(checked, rf"{len(lids)} nodes checked, 0 bad nodes found")
        return {**{f"port: {name}": value for name, value in port_settings().items()},
                **{f"route: {name}": value for name, value in routes().items()},
                **{f"path: {name}": value for name, value in paths().items()},
                **{f"broadcast: {name}": value for name, value in broadcast_group().items()}}

    def check_multicast(self) -> None:
        interfaces = [port.interface for port in rdma.ports()]
        for number, interface in enumerate(interfaces):
            rdma.run("ip", "link", "set", interface, "up")
            rdma.run("ip", "address", "replace", f"10.9.{number}.1/24", "dev", interface)
        rdma.until(lambda: len(members()) == len(interfaces), "all interfaces are members of the broadcast group")
        for interface in interfaces:
            rdma.run("ip", "link", "set", interface, "down")
        rdma.until(lambda: not members(), "no interface is a member")

    def test_both_make_equal_subnet_and_agree_on_master(self) -> None:
        rdma.succeeds("ibqueryerrors", "-k", "-K")  # links went down when firmware in the guest reset its devices
        embedded = self.master()
        self.assertNotIn(embedded, {port.guid for port in rdma.ports()})
        ours = self.check_subnet()
        self.check_multicast()

        rdma.run("opensm", "--daemon", "--log_file", "/tmp/opensm.log")
        theirs_guid = rdma.ports()[0].guid
        rdma.until(lambda: self.subnet_is_up(theirs_guid), "OpenSM is master")
        theirs = self.check_subnet()
        self.check_multicast()
        self.assert_same(theirs, ours)
        self.assertGreater(len(ours), 100)

        rdma.run("pkill", "-9", "-x", "opensm")
        rdma.until(lambda: self.subnet_is_up(embedded), "the emulator's manager is master again")
        self.assert_same(self.check_subnet(), ours)
        self.check_multicast()


if __name__ == "__main__":
    unittest.main(verbosity=2)
