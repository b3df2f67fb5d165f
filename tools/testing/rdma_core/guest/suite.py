#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs tests of rdma-core in this guest, one part on each HCA at the same time, and reports how each is judged.

usage: suite.py NAME…    tests.test_qp.QPTest.test_create_rc_qp

SUITE_PROFILE names a device other than the one of skips.toml, SUITE_REFERENCE a file with the outcomes on the in-tree
driver. The outcomes of a run of all tests go to outcomes.json in the directory of the run.
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent))

import ipoib  # noqa: E402
import rdma  # noqa: E402
import record  # noqa: E402
import verdict  # noqa: E402  (imports from the directory above)
from run_tests import MARK, report  # noqa: E402

HUGE_PAGES = pathlib.Path("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages")
HUGE_PAGES_WANTED = 64
FILE = pathlib.Path(os.environ["TEST_DIRECTORY"]) / "outcomes.json"


def prepare(ports: list[rdma.Port]) -> None:
    """Prepares what some tests need: huge pages, and an IP address on each port for the connection manager."""
    HUGE_PAGES.write_text(str(HUGE_PAGES_WANTED))
    for number, port in enumerate(ports, 1):
        ipoib.set_up(port, f"10.9.0.{number}/24")


def shares(names: list[str], parts: int) -> list[list[str]]:
    """Divides tests by their modules into parts of about the same size."""
    modules: dict[str, list[str]] = collections.defaultdict(list)
    for name in names:
        modules[name.split(".")[1]].append(name)
    result: list[list[str]] = [[] for _ in range(parts)]
    for module in sorted(modules, key=lambda module: -len(modules[module])):
        min(result, key=len).extend(modules[module])
    return result


class Run:
    """The run of all parts."""

    def __init__(self, judge: verdict.InTree | verdict.Cxib) -> None:
        self.judge = judge
        self.outcomes: dict[str, verdict.Judgement] = {}

    def run_part(self, port: rdma.Port, names: list[str]) -> int:
        """Runs tests on a port; returns the exit status."""
        words = [sys.executable, str(HERE / "record.py"), "--dev", port.device, "--port", str(port.number), "-v", *names]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout
            for line in child.stdout:
                if line.startswith(MARK):
                    self.take(json.loads(line.removeprefix(MARK)))
        return child.returncode

    def take(self, fields: dict[str, str]) -> None:
        name, outcome, reason = fields["test"].removeprefix("tests."), fields["outcome"], fields["reason"]
        self.outcomes[name] = (outcome, reason)
        report(fields["test"], *self.judge.judge(name, outcome, reason), fields["seconds"])


def main(names: list[str]) -> int:
    ports = rdma.ports()
    prepare(ports)
    judge = verdict.judge_of(os.environ["LAB_DRIVER"], os.environ["LAB_KERNEL"], os.environ.get("SUITE_PROFILE", ""),
                             os.environ.get("SUITE_REFERENCE", ""))
    run = Run(judge)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        statuses = list(pool.map(run.run_part, ports, [part for part in shares(names, len(ports)) if part]))
    complaints = [f"rdma-core's tests ended with {status}" for status in statuses if status not in (0, 1)]
    if set(names) == record.test_names():
        FILE.write_text(json.dumps({name: outcome for name, (outcome, _) in run.outcomes.items()}, indent=1, sort_keys=True))
        complaints += judge.complaints(run.outcomes)
    for complaint in complaints:
        print(f"rdma-core: {complaint}", flush=True)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
