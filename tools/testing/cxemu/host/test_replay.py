# SPDX-License-Identifier: GPL-2.0-or-later
"""Sends the commands of a public ConnectX-4 Lx trace (2016) to cxemu, and compares the outputs by field name.

The trace has the commands of mlx5_core and the card's outputs. It is src/apps/mellanox/trace-mlx5_core.txt.gz of
github.com/snabbco/snabb, not part of this project. If it cannot be downloaded to build/trace/, the test is skipped.

Inputs are sent as recorded, at the same bus addresses. Mailboxes that the log lacks are replaced. The test fails if a
status, length or field differs without a reason in trace/differences.toml, or if a reason there matches no difference.
"""

import gzip
import re
import subprocess
import sys
import tempfile
import time
import tomllib
import unittest
import urllib.request
from pathlib import Path

import pytest

CXEMU = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(CXEMU), str(CXEMU / "trace")]

import commands  # noqa: E402
from fields import Tables  # noqa: E402
from traced_host import Machine  # noqa: E402

pytestmark = pytest.mark.run("cxemu-replay", "check", needs=("cxemu",))

REPO = CXEMU.parents[2]
PROGRAM = REPO / "build/cxemu/cxemu"
TABLES = REPO / "build/hwtab/tables.json"
NAME = "trace-mlx5_core.txt.gz"
ADDRESS = f"https://raw.githubusercontent.com/snabbco/snabb/master/src/apps/mellanox/{NAME}"
STORED = REPO / "build/trace" / NAME
PATIENCE = 60  # seconds
MANAGE_PAGES = 0x108


def fetched() -> Path:
    """Path of the stored trace; downloads it if necessary. Raises OSError."""
    if not STORED.exists():
        with urllib.request.urlopen(ADDRESS, timeout=PATIENCE) as answer:
            data = answer.read()
        STORED.parent.mkdir(parents=True, exist_ok=True)
        STORED.write_bytes(data)
    return STORED


def given(trace: commands.Trace, tables: Tables, names: list[str]) -> list[str]:
    """Options that give cxemu the card's values of these capabilities. Raises SystemExit if the card has none."""
    query = next(command for command in trace.commands
                 if tables.name(command.opcode, command.op_mod) == "query_hca_cap cmd_hca_cap maximum")
    card = tables.fields(query.opcode, query.op_mod, query.output)
    if absent := [name for name in names if not card.get(name)]:
        raise SystemExit(f"trace/differences.toml: the card has no {', '.join(absent)}")
    return [word for name in names for word in ("--capability", f"{name}={card[name]}")]


def answers(trace: commands.Trace, tables: Tables, program: list[str]) -> list[str]:
    """Differences, one a line: "command: field: card VALUE, cxemu VALUE"."""
    found: list[str] = []

    def compare(place: str, card: object, own: object) -> None:
        if card != own:
            shown = [f"{value:#x}" if isinstance(value, int) else str(value) for value in (card, own)]
            line = f"{place}: card {shown[0]}, cxemu {shown[1]}"
            if line not in found:
                found.append(line)

    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "hca0"
        with subprocess.Popen([*program, "--hca", str(path)]) as cxemu:
            try:
                deadline = time.monotonic() + PATIENCE
                while not path.exists():
                    if cxemu.poll() is not None or time.monotonic() > deadline:
                        raise SystemExit(f"{program[0]} does not listen")
                    time.sleep(0.01)
                machine = Machine(path)
                for part, card, own in zip(("major", "minor", "subminor"), trace.firmware, machine.firmware()):
                    compare(f"initial_seg: fw_rev_{part}", card, own)
                machine.start(trace)
                for command in trace.commands:
                    name = tables.name(command.opcode, command.op_mod)
                    delivery, output = machine.execute(trace, command, command.opcode == MANAGE_PAGES)
                    compare(f"{name}: delivery status", command.delivery_status, delivery)
                    recorded = command.output
                    card_fields = tables.fields(command.opcode, command.op_mod, recorded)
                    own_fields = tables.fields(command.opcode, command.op_mod, output[:len(recorded)])
                    for field in card_fields | own_fields:
                        compare(f"{name}: {field}", card_fields.get(field, 0), own_fields.get(field, 0))
                machine.close()
            finally:
                cxemu.terminate()
    return found


def explain(found: list[str], reasons: list[dict[str, str]]) -> tuple[list[str], list[str]]:
    """Differences without a reason, and reasons without a difference."""
    patterns = {reason["difference"]: re.compile(reason["difference"]) for reason in reasons}
    open_ones = [line for line in found if not any(pattern.match(line) for pattern in patterns.values())]
    unused = [text for text, pattern in patterns.items() if not any(map(pattern.match, found))]
    return open_ones, unused


class Replay(unittest.TestCase):
    def test_cxemu_answers_as_card(self) -> None:
        try:
            trace = commands.read(gzip.decompress(fetched().read_bytes()).decode("utf-8", "replace"))
        except OSError as error:
            self.skipTest(f"the trace cannot be had: {ADDRESS}: {error}")
        subprocess.run(["make", "-s", "cxemu", "tables-json"], cwd=REPO, check=True)
        ledger = tomllib.loads((CXEMU / "trace/differences.toml").read_text(encoding="utf-8"))
        tables = Tables(TABLES)
        program = [str(PROGRAM), "--profile", "connectx4-2016", "--log-level", "warn",
                   *given(trace, tables, [name for group in ledger["given"] for name in group["fields"]])]
        found = answers(trace, tables, program)
        self.assertGreater(len(trace.commands), 0)
        unexplained, unused = explain(found, ledger["reason"])
        self.assertEqual(unexplained, [], "differences without a reason")
        self.assertEqual(unused, [], "reasons without a difference")


if __name__ == "__main__":
    unittest.main()
