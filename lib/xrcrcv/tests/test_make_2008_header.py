#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Tests make_2008_header.py on the rdma-core header that the argument names.

usage: test_make_2008_header.py HEADER
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(__file__).resolve().parents[1] / "make_2008_header.py"
VERBS = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else "/usr/include/infiniband/verbs.h")

# One line of each place of an insertion, with its name in the error message.
PLACES = {
    "struct ibv_xrcd {\n": "XRC domain, type of its address",
    "\t\tint\t\tport_num;\n": "number of the QP in an event",
    "\tenum ibv_event_type\tevent_type;\n};\n\nenum ibv_wc_status": "flag of events",
    "\tIBV_QPT_XRC_SEND = 9,\n": "type of QPs that send",
    "\tint\t\t\tsq_sig_all;\n};\n\nenum ibv_qp_init_attr_mask": "XRC domain of a new QP",
    "struct ibv_srq {\n": "number of an SRQ",
    "\t} wr;\n\tunion {\n\t\tstruct {\n\t\t\tuint32_t    remote_srqn;\n": "number of the remote SRQ, beginning",
    "\t\t} xrc;\n\t} qp_type;\n\tunion": "number of the remote SRQ, end",
    "#endif /* INFINIBAND_VERBS_H */": "prototypes",
}


class Generator(unittest.TestCase):
    """Runs the script as the build does."""

    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.output = self.directory / "made" / "verbs.h"
        self.header = VERBS.read_text(encoding="utf-8")

    def make(self, header: str) -> subprocess.CompletedProcess[str]:
        source = self.directory / "verbs.h"
        source.write_text(header, encoding="utf-8")
        return subprocess.run([PROGRAM, source, self.output], capture_output=True, text=True, check=False)

    def test_rdma_core_header_keeps_lines_and_gets_2008_lines(self) -> None:
        self.assertEqual(self.make(self.header).returncode, 0)
        made = self.output.read_text(encoding="utf-8").splitlines()
        lines = iter(made)
        self.assertTrue(all(line in lines for line in self.header.splitlines()), "lines are missing or moved")
        self.assertIn("\tIBV_QPT_XRC = IBV_QPT_XRC_SEND,", made)

    def test_missing_place_named_and_nothing_written(self) -> None:
        for place, name in PLACES.items():
            with self.subTest(place=place):
                self.assertEqual(self.header.count(place), 1)
                run = self.make(self.header.replace(place, place.replace("_", "_other_").replace("} ", "} other_")
                                                    .replace("int\t", "long\t")))
                self.assertEqual(run.returncode, 1)
                self.assertIn(name, run.stderr)
                self.assertIn("0 times", run.stderr)
                self.assertFalse(self.output.exists())

    def test_duplicate_place_refused(self) -> None:
        begin = self.header.index("struct ibv_xrcd {")
        twice = self.header[begin : self.header.index("};", begin) + 3]
        run = self.make(self.header.replace(twice, twice + twice))
        self.assertEqual(run.returncode, 1)
        self.assertIn("2 times", run.stderr)
        self.assertFalse(self.output.exists())

    def test_member_in_srq_hole_refused(self) -> None:
        begin = self.header.index("struct ibv_srq {")
        end = self.header.index("pthread_mutex_t", begin)
        run = self.make(self.header[:end] + "uint32_t new_member;\n\t" + self.header[end:])
        self.assertEqual(run.returncode, 1)
        self.assertIn("number of an SRQ", run.stderr)

    def test_2008_header_refused(self) -> None:
        self.assertEqual(self.make(self.header).returncode, 0)
        run = self.make(self.output.read_text(encoding="utf-8"))
        self.assertEqual(run.returncode, 1)
        self.assertIn("already", run.stderr)


if __name__ == "__main__":
    unittest.main()
