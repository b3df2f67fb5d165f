# SPDX-License-Identifier: GPL-2.0-or-later
"""The tests that are commands: static checks, tables, documentation, packages, short benchmarks.

A command that exits with 77 is skipped; the last line of its output is the reason.
"""

import pathlib
import subprocess

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77
STATIC = "tools/testing/static"
TABLES = "tools/testing/tables"
PACKAGE = "tools/testing/package"


def command(name: str, level: str, text: str, *needs: str):
    """A command of the shell, run in the checkout.

    needs: names of what cxib_need() in CMakeLists.txt prepares
    """
    return pytest.param(text, id=name, marks=pytest.mark.run(name, level, needs=needs))


COMMANDS = [
    command("tables-headers", "fast", f"{TABLES}/in_lab headers/run"),
    command("docs", "fast", "tools/docs/build"),
    command("license-lines", "fast", f"{STATIC}/spdx.py"),
    command("forbidden-words", "fast", f"{STATIC}/words.py"),
    command("circles", "fast", f"{STATIC}/circles.py"),
    command("device-words", "fast", f"{STATIC}/device_words.py"),
    command("expected-numbers", "fast", f"{STATIC}/expected_numbers.py"),
    command("python", "fast", f"{STATIC}/python.py"),
    command("function-length", "fast", f"{STATIC}/function_length.py"),
    command("clang-format", "fast", f"{STATIC}/clang_format"),
    command("shellcheck", "fast", f"{STATIC}/shellcheck"),
    command("checkpatch", "fast", f"{STATIC}/checkpatch.py"),
    command("clang-tidy", "fast", f"{STATIC}/clang_tidy tables libraries"),
    command("documentation", "fast", f"{STATIC}/documentation"),
    command("documentation-messages", "fast", f"{STATIC}/messages.py"),
    command("tables-current", "fast", "make -s tables-check"),
    command("tables-refusals", "fast", f"{TABLES}/in_lab refusals/refusals.py"),
    command("tables-views", "fast", f"{TABLES}/in_lab views/run"),
    command("tables-conformance", "fast", f"{TABLES}/conformance && {TABLES}/conformance --self-test"),
    command("tables-disassembly", "fast", f"{TABLES}/in_lab disassembly/run"),
    command("library-units", "fast", "make -s libraries-tests"),

    command("sparse", "check", f"{STATIC}/sparse stock"),
    command("coccicheck", "check", f'{STATIC}/coccicheck.py "$(tools/lab/kdir debug)"', "debug"),
    command("kunit-coverage", "check", "tools/testing/kunit/coverage build/coverage build/tests/kunit-suites && "
            "tools/testing/kunit/suites.py build/coverage/summary.json kunit/tested_in_guests.toml"),
    command("dkms", "check", "tools/testing/module/dkms", "debug"),
    command("package-libraries", "check", f"{PACKAGE}/libraries"),
    command("demo", "long", "tools/demo/run"),

    command("cxemu-fuzz-long", "long", "make -s cxemu-fuzz CXEMU_FUZZ_SECONDS=180"),
    command("cxemu-connections", "long", "make -s cxemu-connections CXEMU_TRANSPORT_SEEDS=10000"),
    command("cxemu-single-files", "long", "make -s cxemu-single-files"),
    command("clang-tidy-cxemu", "long", f"{STATIC}/clang_tidy cxemu"),
    command("sparse-suites", "long", f"{STATIC}/sparse debug", "debug"),
    command("sparse-backports", "long", f"{STATIC}/sparse debug-backports", "debug-backports"),
    command("sparse-oldstable", "long", f"{STATIC}/sparse debug-oldstable", "debug-oldstable"),
    command("kunit-mutants", "long", "tools/testing/kunit/mutants", "debug"),
    command("package-oldest-kernel", "long", f"{PACKAGE}/compile bookworm"),
    command("package-newest-kernel", "long", f"{PACKAGE}/compile backports"),
    command("bench-ulps", "long", "tools/bench/run --try ulps"),
    command("bench-polling", "long", "tools/bench/polling/run --kernel stock"),
    command("xrc-qperf", "long", "tools/testing/xrcrcv/build_qperf"),
    command("package-all", "long", f"{PACKAGE}/build"),
    command("package-boot", "long", f"{PACKAGE}/run --boot trixie"),
    command("package-trixie", "long", f"{PACKAGE}/run trixie"),
    command("package-bookworm", "long", f"{PACKAGE}/run bookworm"),
    command("package-backports", "long", f"{PACKAGE}/run backports"),
    command("package-configurations", "long", f"{PACKAGE}/without odp devlink uverbs"),
    command("package-other-processors", "long", f"{PACKAGE}/cross --sparse arm64 arm64-16k arm64-64k s390x"),
]


@pytest.mark.parametrize("text", COMMANDS)
def test_command(text: str, capfd: pytest.CaptureFixture[str]) -> None:
    status = subprocess.run(["bash", "-c", text], cwd=REPO, stdin=subprocess.DEVNULL, check=False).returncode
    if status == SKIPPED:
        lines = capfd.readouterr().out.strip().splitlines()
        pytest.skip(lines[-1] if lines else "no reason")
    assert status == 0, f"'{text}' ends with {status}"
