# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests scripts/probe_kernel with kernels that lack a feature."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest
import unittest.mock

REPO = pathlib.Path(__file__).resolve().parents[3]
LIST = """
need-rdma | CONFIG_INFINIBAND |                      | a configuration with RDMA | the RDMA core
need-lock | include/guard.h   | DEFINE_GUARD         | Linux 6.5                 | locks
rate-800  | include/verbs.h   | RATE_800             | Linux 6.12                | rates of 800 Gbit/s
argument  | include/verbs.h   | bundle in [(]create[)] | Linux 6.12              | attributes
"""
WHOLE = {
    "include/generated/autoconf.h": "#define CONFIG_INFINIBAND_MODULE 1\n",
    "include/generated/utsrelease.h": '#define UTS_RELEASE "6.99.0-test"\n',
    "include/guard.h": "#define DEFINE_GUARD(name)\n",
    "include/verbs.h": "enum { RATE_800 };\nint (create)(int a,\n\tstruct bundle *b);\nint destroy(void);\n",
}


class ProbeTest(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.kernel = pathlib.Path(directory.name, "kernel")
        self.module = pathlib.Path(directory.name, "module")
        self.write(self.module, "scripts/kernel_symbols", LIST)
        for name, text in WHOLE.items():
            self.write(self.kernel, name, text)

    def write(self, root: pathlib.Path, name: str, text: str) -> None:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")

    def probe(self, source: str = "") -> subprocess.CompletedProcess[str]:
        command = ["sh", REPO / "scripts/probe_kernel", source or self.kernel, self.kernel, self.module, "--explain"]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_wrong_arguments_refused_with_usage(self) -> None:
        whole = [str(self.kernel), str(self.kernel), str(self.module)]
        for words in ([], ["--help"], whole[:2], [*whole, "--explian"], [*whole, "--explain", "more"]):
            with self.subTest(words=words):
                command = ["sh", REPO / "scripts/probe_kernel", *words]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertEqual(done.stderr, "usage: sh probe_kernel SOURCE BUILD MODULE [--explain]\n")

    def test_kernel_with_all_symbols_needs_nothing(self) -> None:
        done = self.probe()
        self.assertEqual((done.returncode, done.stdout.split(), done.stderr), (0, [], ""))

    def test_optional_symbol_named_with_cost(self) -> None:
        self.write(self.kernel, "include/verbs.h", WHOLE["include/verbs.h"].replace("RATE_800", "RATE_400"))
        done = self.probe()
        self.assertEqual((done.returncode, done.stdout.split()), (0, ["-DCXIB_LACKS_RATE_800"]))
        self.assertIn("kernel 6.99.0-test lacks RATE_800; what that costs: rates of 800 Gbit/s; Linux 6.12 has it", done.stderr)

    def test_symbol_counts_only_in_statement(self) -> None:
        text = "enum { RATE_800 };\nint (create)(int a);\nint destroy(struct bundle *b);\n"
        self.write(self.kernel, "include/verbs.h", text)
        self.assertEqual(self.probe().stdout.split(), ["-DCXIB_LACKS_ARGUMENT"])

    def test_required_symbol_ends_build_and_names_kernel(self) -> None:
        (self.kernel / "include/guard.h").unlink()
        self.write(self.kernel, "include/generated/autoconf.h", "")
        done = self.probe()
        self.assertEqual(done.returncode, 77)
        self.assertIn("lacks DEFINE_GUARD, without which there is no cxib: locks; Linux 6.5 has it", done.stderr)
        self.assertIn("lacks CONFIG_INFINIBAND, without which there is no cxib: the RDMA core; a configuration with RDMA has it",
                      done.stderr)

    def test_kernel_that_cannot_be_read_lacks_nothing(self) -> None:
        for root, name in ((self.kernel, "include/generated/autoconf.h"), (self.module, "scripts/kernel_symbols")):
            with self.subTest(name):
                (root / name).rename(root / "away")
                done = self.probe()
                (root / "away").rename(root / name)
                self.assertNotIn(done.returncode, (0, 77))
                self.assertNotIn("lacks", done.stderr)
                self.assertIn(f"{name} cannot be read", done.stderr)

    def test_missing_directory_of_headers_is_not_what_kernel_lacks(self) -> None:
        self.write(self.module, "scripts/kernel_symbols", "need-qp | include/rdma/verbs.h | QP | Linux 5.15 | QPs\n")
        self.assertNotIn(self.probe().returncode, (0, 77))
        self.write(self.kernel, "include/rdma/other.h", "")
        self.assertEqual(self.probe().returncode, 77)

    def test_tool_that_does_not_work_is_not_what_kernel_lacks(self) -> None:
        self.write(self.kernel, "include/verbs.h", WHOLE["include/verbs.h"].replace("RATE_800", "RATE_400"))
        for tool in ("grep", "sed", "tr"):
            self.write(self.module, f"{tool}/{tool}", "#!/bin/sh\nexit 2\n")
            (self.module / tool / tool).chmod(0o755)
            path = f"{self.module}/{tool}:{os.environ['PATH']}"
            with self.subTest(tool=tool), unittest.mock.patch.dict(os.environ, PATH=path):
                done = self.probe()
                self.assertNotIn(done.returncode, (0, 77))
                self.assertEqual(done.stdout, "")
                if tool != "tr":  # which writes what has been found out
                    self.assertNotIn("lacks", done.stderr)

    def test_source_directory_found_from_build_directory(self) -> None:
        """Debian's build directory includes the source's makefile; older packages and O= builds name it."""
        source = self.module.with_name("source")
        for name in ("include/guard.h", "include/verbs.h"):
            self.write(source, name, WHOLE[name])
            (self.kernel / name).unlink()
        for makefile in (f"include {source}/Makefile\n", f"MAKEARGS := -C {source} O={self.kernel}\n"):
            with self.subTest(makefile):
                self.write(self.kernel, "Makefile", makefile)
                self.assertEqual(self.probe("-").returncode, 0)

    def test_symbols_of_driver_suites_and_list_agree(self) -> None:
        used = set()
        for directory in ("drivers", "kunit"):
            for path in (REPO / directory).rglob("*.[ch]"):
                used |= set(re.findall(r"CXIB_LACKS_(\w+)", path.read_text(encoding="utf-8")))
        listed = re.findall(r"^(?!need-|#)([a-z0-9-]+) +\|", (REPO / "scripts/kernel_symbols").read_text("utf-8"), re.MULTILINE)
        self.assertEqual(used, {name.upper().replace("-", "_") for name in listed})


if __name__ == "__main__":
    unittest.main()
