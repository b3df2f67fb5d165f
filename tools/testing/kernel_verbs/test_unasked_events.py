# SPDX-License-Identifier: GPL-2.0-or-later
"""Lets the second HCA raise completion events without cause. The driver counts and drops them. CQs with these numbers
lose no completion, whether they are polled without events or their event came before."""

import json
import pathlib
import re
import subprocess
import threading

from completion_queues import Shown
from control import control, control_lines, until
from exerciser import UlpTest, run_case
from machines import DEBUG, SEEDS_DEBUG, STOCK
from recovering import RecoveryTest

GUESTS = [STOCK, SEEDS_DEBUG, DEBUG.with_tests("UnaskedEvents.test_repeated_events_shown_as_late")]
TRACE = pathlib.Path("/sys/kernel/tracing")
LATE = TRACE / "events/cxib/cq_late/enable"
UNKNOWN = 0xfffffe
"""The HCA has fewer CQs."""
LOWEST_BYTE = 0x3b
"""Offset in a completion event of the lowest byte of the CQ number."""
ROUNDS = 200
"""Rounds of the case that must still run when the events have come."""
ATTEMPTS = 20
"""How often a case is run, at most, until the machine has let things happen in the order that the test needs."""
CONTEXTS = ("softirq", "thread", "own_thread", "workqueue", "unbound")


class UnaskedEvents(UlpTest, RecoveryTest):
    def setUp(self) -> None:
        super().setUp()
        self.addCleanup(control, "faults", "clear")
        (TRACE / "trace").write_text("")
        LATE.write_text("1")
        self.addCleanup(LATE.write_text, "0")

    def direct(self) -> list[int]:
        """Numbers of the case's CQs on the HCA, which are polled without events."""
        command = ["rdma", "-j", "-dd", "resource", "show", "cq", "dev", self.device_name()]
        cqs = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        return [cq["drv_number"] for cq in cqs if cq["comm"] == "cxib_kverbs"]

    def dropped(self) -> dict[int, str]:
        """Numbers of CQs whose events were dropped, and whether the CQ existed ("1" or "0")."""
        found = re.findall(rf"cq_late: {self.device_name()} CQ 0x(\w+) known (\d)", (TRACE / "trace").read_text())
        return {int(number, 16): known for number, known in found}

    def late(self) -> int:
        """Number of dropped events for existing CQs."""
        return sum(queue.late for queue in Shown(self.hca).queues.values())

    def raise_for(self, numbers: list[int]) -> None:
        """Lets the HCA raise an event for each CQ after each of its regular events."""
        control_lines(*(f"fault eqe type=comp nth={place} second=0x39:{number >> 16} second=0x3a:{number >> 8 & 0xff} "
                        f"second={LOWEST_BYTE:#x}:{number & 0xff} @hca1" for place, number in enumerate(numbers, 1)))

    def injected(self) -> int:
        return sum(rule["injected"] for rule in control("faults")["rules"])

    def ask_for_events(self) -> None:
        """Sends MADs, which raise events of other CQs."""
        subprocess.run(["smpquery", "--timeout", "60000", "-C", self.device_name(), "-D", "nodeinfo", "0,1"], check=True,
                       stdout=subprocess.DEVNULL)

    def test_duplicate_events_lose_nothing(self) -> None:
        # The HCA ignores an arming with the sequence number of the last event; there are four numbers.
        for what in ("from=10 every=10 duplicate", "duplicate", "duplicate duplicate duplicate"):
            for context in CONTEXTS:
                with self.subTest(events=what, context=context):
                    (TRACE / "trace").write_text("")
                    control("fault", f"eqe type=comp {what} @hca1")
                    self.repeat_until_dropped(f"context_{context}_traffic")
                    control("faults", "clear")

    def repeat_until_dropped(self, name: str) -> None:
        """Repeats the case: a consumer that is awake when completions arrive gets few events."""
        for _ in range(ATTEMPTS):
            self.assert_right(name)
            if self.dropped():
                return
        self.fail(f"no event was dropped in {ATTEMPTS} runs")

    def test_repeated_events_shown_as_late(self) -> None:
        late = self.late()
        control("fault", "eqe type=comp duplicate @hca1")

        def is_counted() -> bool:
            self.ask_for_events()
            return self.late() > late

        until(is_counted, "a late event is shown")

    def attempt(self, rounds: int) -> list[int]:
        """Raises events for the CQs of a running case; returns their numbers, or none if the case has already ended."""
        (TRACE / "trace").write_text("")
        found: list[str] = []
        case = threading.Thread(target=lambda: found.append(run_case("context_direct_traffic", rounds=rounds)))
        case.start()
        until(lambda: bool(self.direct()) or not case.is_alive(), "the case has its CQs", 0.05)
        direct = self.direct()
        if direct:
            self.raise_for([*direct, UNKNOWN])
        while direct and case.is_alive() and self.injected() < len(direct) + 1:
            self.ask_for_events()
        # The driver gets the events some time after the HCA has raised them.
        until(lambda: not case.is_alive() or self.dropped().keys() >= {*direct, UNKNOWN}, "the events are dropped", 0.05)
        in_time = case.is_alive()
        case.join()
        self.assertEqual(found, [""])
        control("faults", "clear")
        return direct if in_time else []

    def test_events_of_unarmed_or_unknown_cqs_dropped(self) -> None:
        unknown = Shown(self.hca).unknown_events
        direct: list[int] = []
        for number in range(1, ATTEMPTS + 1):
            direct = direct or self.attempt(number * ROUNDS)
        self.assertTrue(direct, f"the case has ended before the events, {ATTEMPTS} times")
        self.assertEqual({self.dropped()[number] for number in direct}, {"1"})
        self.assertEqual(self.dropped()[UNKNOWN], "0")
        self.assertGreater(Shown(self.hca).unknown_events, unknown)
        self.ask_for_events()
