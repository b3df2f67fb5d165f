# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests the subnet as an administrator sees it: OpenSM has configured it, and the tools of infiniband-diags agree.

Needs a subnet manager in this guest and at least two devices on one switch. CXEMU_MATRIX=whole queries every port
instead of one. The tools take seconds, because each reads all tables of all devices several times.
"""

import itertools
import os
import pathlib
import re
import shutil
import subprocess
import time
import unittest

import rdma
from cxemu_machines import FABRIC, FABRIC_WHOLE
from machine import LONG, Guest

GUESTS = [
    FABRIC.with_tests("Subnet", "Discovery.test_ibnetdiscover_finds_switch_and_ports",
                      "Traffic.test_ibping_between_ports_succeeds", "Traffic.test_perfquery_finds_no_errors"),
    FABRIC_WHOLE,
    # Ten minutes without activity.
    Guest("idle", driver="mlx5", sm="opensm", settings=("CXEMU_IDLE=120",), level=LONG).with_tests("Subnet"),
]
WHOLE = os.environ.get("CXEMU_MATRIX", "short") == "whole"
IDLE = int(os.environ.get("CXEMU_IDLE", "0"))  # seconds
# ibdiagnet sends hundreds or thousands of queries and reports a bad link if three replies take more than 100 ms, which
# happens in a slow guest. It has no option for this limit, so its interpreter gets a replacement of the command.
PATIENT = """rename ibis_set_transaction_timeout set_transaction_timeout
proc ibis_set_transaction_timeout {milliseconds} { set_transaction_timeout 20000 }
"""


def fields(text: str) -> dict[str, str]:
    """The `Name:......value` lines of smpquery and perfquery."""
    return dict(re.findall(r"^(\w[^:\n]*):\.*(.*)$", text, re.MULTILINE))


class Fabric(unittest.TestCase):
    """Tests ports and switch of the subnet."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.ports = rdma.ports()
        cls.manager = cls.ports[0]
        cls.asked = cls.ports if WHOLE else cls.ports[-1:]

    def switch_lid(self) -> int:
        return rdma.number(rdma.ask("ibswitches"), r"lid (\d+)")


class Subnet(Fabric):
    """Tests what OpenSM has programmed, after a time without activity if there is one."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        time.sleep(IDLE)

    def test_all_ports_are_active(self) -> None:
        for port in self.ports:
            self.assertEqual(port.state, "ACTIVE", port)

    def test_lids_of_ports_and_switch_unique(self) -> None:
        lids = [port.lid for port in self.ports] + [self.switch_lid()]
        self.assertNotIn(0, lids)
        self.assertEqual(len(set(lids)), len(lids), lids)

    def test_ports_report_subnet_manager_lid(self) -> None:
        for port in self.ports:
            self.assertEqual(int(port.attribute("sm_lid"), 16), self.manager.lid)

    def test_sminfo_finds_master(self) -> None:
        text = rdma.run("sminfo", *rdma.MAD_TIMEOUT)
        self.assertEqual(rdma.number(text, r"sm lid (\d+)"), self.manager.lid)
        self.assertRegex(text, rf"sm guid 0x0*{self.manager.guid}\b")
        self.assertIn("SMINFO_MASTER", text)

    def test_forwarding_table_leads_to_every_port(self) -> None:
        table = rdma.ask("ibroute", self.switch_lid())
        outputs = [rdma.number(table, rf"^0x{port.lid:04x} (\d+) ") for port in self.ports]
        self.assertEqual(len(set(outputs)), len(outputs), table)


class Discovery(Fabric):
    """Tests tools that discover the fabric."""

    def test_ibstat_reports_active_ports(self) -> None:
        for port in self.ports:
            text = rdma.run("ibstat", port.device, port.number)
            self.assertRegex(text, r"State: Active")
            self.assertRegex(text, r"Physical state: LinkUp")
            self.assertRegex(text, r"Rate: 100\b")
            self.assertRegex(text, rf"Base lid: {port.lid}\b")
            self.assertRegex(text, rf"Port GUID: 0x0*{port.guid}\b")
            self.assertRegex(text, r"Link layer: InfiniBand")

    def test_ibnetdiscover_finds_switch_and_ports(self) -> None:
        text = rdma.run("ibnetdiscover", *rdma.MAD_TIMEOUT)
        self.assertEqual(len(re.findall(r"^Switch\s", text, re.MULTILINE)), 1, text)
        self.assertEqual(len(re.findall(r"^Ca\s", text, re.MULTILINE)), len(self.ports), text)
        for port in self.ports:
            self.assertRegex(text, rf"\[1\]\({port.guid}\).*# lid {port.lid}\b.*4xEDR")

    def test_iblinkinfo_reports_link_speeds(self) -> None:
        links = re.findall(r"4X\s+25\.78125 Gbps\s+Active/\s*LinkUp", rdma.ask("iblinkinfo", "--switches-only"))
        self.assertEqual(len(links), len(self.ports))

    def test_ibtracert_passes_switch(self) -> None:
        pairs = itertools.permutations(self.ports, 2)
        for source, target in pairs if WHOLE else [next(pairs)]:
            text = rdma.ask("ibtracert", source.lid, target.lid)
            self.assertRegex(text, rf"(?m)^From ca .* lid {source.lid}-")
            self.assertEqual(len(re.findall(r"-> switch port", text)), 1, text)
            self.assertRegex(text, rf"(?m)^To ca .* lid {target.lid}-")

    def test_ibportstate_reports_both_link_ends(self) -> None:
        for port in self.asked:
            text = rdma.ask("ibportstate", self.switch_lid(), 1 + self.ports.index(port), "query")
            peer = fields(text[text.index("Peer PortInfo:"):])
            self.assertEqual(int(peer["Lid"]), port.lid)

    def test_ibdiagnet_finds_nothing_wrong(self) -> None:
        script = pathlib.Path(shutil.which("ibdiagnet")).read_text()  # a short shell script that contains Tcl
        patient = script.replace("set argv0 ", f"{PATIENT}set argv0 ")
        self.assertNotEqual(patient, script)
        text = rdma.run("sh", "-c", patient, "ibdiagnet", "-o", "/tmp/ibdiagnet", "-pc", timeout=4 * rdma.PATIENCE)
        self.assertRegex(text, rf"Discovering .* {len(self.ports) + 1} nodes \(1 Switches & {len(self.ports)} CA-s\)")
        self.assertNotRegex(text, r"(?m)^-E-")
        self.assertIn("No bad Guids were found", text)
        self.assertIn("No bad Links (with logical state = INIT) were found", text)

    def test_smpquery_by_lid_and_directed_route_agree(self) -> None:
        by_lid = rdma.ask("smpquery", "nodeinfo", self.manager.lid)
        self.assertRegex(fields(by_lid)["PortGuid"], rf"^0x0*{self.manager.guid}$")
        by_route = rdma.ask("smpquery", "-D", "nodeinfo", "0")
        self.assertEqual(fields(by_lid), fields(by_route))

    def test_smpquery_reads_port_attributes(self) -> None:
        for port in self.asked:
            node = fields(rdma.ask("smpquery", "nodeinfo", port.lid))
            self.assertEqual(node["NodeType"], "Channel Adapter")
            self.assertRegex(node["PortGuid"], rf"^0x0*{port.guid}$")
            info = fields(rdma.ask("smpquery", "portinfo", port.lid, port.number))
            self.assertEqual(int(info["Lid"]), port.lid)
            self.assertEqual(int(info["SMLid"]), self.manager.lid)
            self.assertEqual(info["LinkState"], "Active")
            self.assertEqual(info["NeighborMTU"], "4096")
            keys = rdma.ask("smpquery", "pkeys", port.lid, port.number)
            self.assertRegex(keys, r"0: 0xffff 0x0000")
            self.assertRegex(keys, r"128 pkeys capacity for this port")
            self.assertRegex(rdma.ask("smpquery", "guidinfo", port.lid), rf"0x0*{port.guid}\b")
            for attribute in ("nodedesc", "sl2vl", "vlarb"):
                self.assertTrue(rdma.ask("smpquery", attribute, port.lid))

    def test_smpquery_reads_switch_info(self) -> None:
        text = rdma.ask("smpquery", "switchinfo", self.switch_lid())
        self.assertGreaterEqual(int(fields(text)["LinearFdbTop"]), max(port.lid for port in self.ports))


class Administration(Fabric):
    """Tests queries to the subnet administrator: QP 1, RMPP, path records."""

    def test_saquery_lists_all_nodes(self) -> None:
        text = rdma.saquery("NR")
        for port in self.ports:
            self.assertRegex(text, rf"port_guid\.*0x0*{port.guid}\b")

    def test_saquery_finds_paths_between_all_ports(self) -> None:
        for source, target in itertools.permutations(self.ports, 2):
            text = rdma.saquery("--src-to-dst", f"{source.lid}:{target.lid}")
            self.assertEqual(rdma.number(text, r"slid\.*(\d+)"), source.lid)
            self.assertEqual(rdma.number(text, r"dlid\.*(\d+)"), target.lid)
            self.assertEqual(rdma.number(text, r"pkey\.*(0x[0-9A-F]+)"), 0xFFFF)

    def test_saquery_from_every_device_succeeds(self) -> None:
        for port in self.ports:
            text = rdma.saquery("-C", port.device, "-P", port.number, "NR")
            self.assertRegex(text, rf"port_guid\.*0x0*{self.manager.guid}\b")


class Traffic(Fabric):
    """Tests MADs between agents and the counters that count them."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        # Other tests pull cables, and firmware in the guest has reset its devices: the links went down and up. The first
        # program reports that and clears the counters, the second one finds nothing.
        subprocess.run(["ibqueryerrors", "-k", "-K", *map(str, rdma.MAD_TIMEOUT)], check=False)
        rdma.run("ibqueryerrors", *rdma.MAD_TIMEOUT)

    def check_ibping(self, source: rdma.Port, target: rdma.Port) -> None:
        program = ["ibping", "-C", source.device, "-P", source.number, "-f"]
        with rdma.background("ibping", "-S", "-C", target.device, "-P", target.number):
            rdma.until(lambda: " 1 received" in rdma.run(*program, "-c", 1, target.lid), "ibping's server answers")
            text = rdma.run(*program, *rdma.MAD_TIMEOUT, "-c", 10, target.lid)
        self.assertRegex(text, r"10 packets transmitted, 10 received, 0% packet loss")

    def test_ibping_between_ports_succeeds(self) -> None:
        for source, target in itertools.permutations(self.ports[:2], 2):
            self.check_ibping(source, target)

    def test_ibping_within_device_succeeds(self) -> None:
        self.check_ibping(self.ports[-1], self.ports[-1])

    def test_perfquery_counts_port_packets(self) -> None:
        def received() -> int:
            return int(fields(rdma.ask("perfquery", "-x", target.lid, target.number))["PortRcvPkts"])

        target = self.ports[1]
        before = received()
        rounds = 5 if WHOLE else 1
        for _ in range(rounds):
            rdma.ask("smpquery", "nodeinfo", target.lid)
        self.assertGreaterEqual(received(), before + rounds)

    def test_perfquery_finds_no_errors(self) -> None:
        errors = ("SymbolErrorCounter", "LinkErrorRecoveryCounter", "LinkDownedCounter", "PortRcvErrors",
                  "PortRcvRemotePhysicalErrors", "LocalLinkIntegrityErrors", "VL15Dropped")
        for port in self.ports:
            found = fields(rdma.ask("perfquery", port.lid, port.number))
            for name in errors:
                self.assertEqual(int(found[name]), 0, f"{name} of {port}")

    def test_perfquery_clears_counters(self) -> None:
        port = self.ports[-1]
        rdma.ask("perfquery", "-R", port.lid, port.number)
        found = fields(rdma.ask("perfquery", port.lid, port.number))
        self.assertLess(int(found["PortXmitPkts"]), 100)

    def test_ibqueryerrors_reports_nothing(self) -> None:
        text = rdma.ask("ibqueryerrors", "-s", "PortXmitWait,PortXmitDiscards")
        self.assertRegex(text, rf"{len(self.ports) + 1} nodes checked, 0 bad nodes found")


if __name__ == "__main__":
    unittest.main(verbosity=2)
