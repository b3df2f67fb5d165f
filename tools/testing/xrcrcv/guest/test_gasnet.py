# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs GASNet's tests over the XRC interface of 2008, with two processes in each of two guests."""

import pathlib
import subprocess
import unittest

from machine import LONG, Guest

# The processes of GASNet poll all the time. With more guest processors than host processors, each message would wait for
# several time slices of the host.
GUEST = Guest("gasnet", vms=2, cpus=1, hcas=1, sm="cxemu", builds=("tools/testing/xrcrcv/build_program gasnet",), level=LONG,
              seconds=14400)
HERE = pathlib.Path(__file__).parent


class Gasnet(unittest.TestCase):
    def test_programs_pass(self) -> None:
        subprocess.run([HERE / "gasnet", "/repo/build/xrcrcv-programs/gasnet/source/build"], check=True)
