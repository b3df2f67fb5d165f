# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests what the static checks accept and refuse."""

import pathlib
import shutil
import sys
import tempfile
import unittest

STATIC = pathlib.Path(__file__).resolve().parents[1] / "static"
sys.path.insert(0, str(STATIC))

import files  # noqa: E402  (found through the path above)
import circles  # noqa: E402
import device_words  # noqa: E402
import expected_numbers  # noqa: E402
import function_length  # noqa: E402
import spdx  # noqa: E402
import words  # noqa: E402


class LicenseLines(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.repo = pathlib.Path(directory.name)

    def complaint(self, name: str, text: str) -> str:
        path = self.repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return spdx.complaint(name, self.repo)

    def test_each_directory_has_license(self) -> None:
        for name, license_text in (
            ("drivers/cxib/pci.c", "GPL-2.0-only"),
            ("kunit/pci_kunit.c", "GPL-2.0-only"),
            ("include/hw/events.h", "GPL-2.0-only OR BSD-2-Clause"),
            ("include/uapi/rdma/cxib.h", "GPL-2.0-only WITH Linux-syscall-note"),
            ("tools/cxemu/main.cpp", "GPL-2.0-or-later"),
        ):
            with self.subTest(name=name):
                self.assertEqual(self.complaint(name, f"/* SPDX-License-Identifier: {license_text} */\n"), "")
                self.assertIn("must be", self.complaint(name, "/* SPDX-License-Identifier: MIT */\n"))

    def test_kernel_file_with_tool_license_refused(self) -> None:
        text = self.complaint("drivers/cxib/pci.c", "// SPDX-License-Identifier: GPL-2.0-or-later\n")
        self.assertIn('the license is "GPL-2.0-or-later", must be "GPL-2.0-only" here', text)

    def test_file_without_license_refused(self) -> None:
        self.assertIn("no SPDX-License-Identifier", self.complaint("tools/lab/run", "#!/bin/bash\n"))

    def test_license_below_first_lines_ignored(self) -> None:
        text = "\n\n\n# SPDX-License-Identifier: GPL-2.0-or-later\n"
        self.assertIn("no SPDX-License-Identifier", self.complaint("tools/lab/run", text))

    def test_last_matching_copyright_pattern_counts(self) -> None:
        rules = spdx.copyright_rules(
            "Format: x\n\nFiles: *\nCopyright: us\nLicense: GPL-2.0-or-later\n\n"
            "Files: include/hw/*\n       tables/*\nCopyright: us\nLicense: GPL-2.0-only or BSD-2-Clause\n\n"
            "Files: include/uapi/*\nCopyright: us\nLicense: GPL-2.0-only with Linux-syscall-note exception\n\n"
            "License: GPL-2.0-or-later\n The text of it.\n")
        for name in ("include/hw/events.h", "tables/events.c"):
            self.complaint(name, "/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */\n")
            self.assertEqual(spdx.copyright_complaint(name, rules, self.repo), "")
        self.complaint("include/uapi/rdma/cxib.h", "/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */\n")
        self.assertEqual(spdx.copyright_complaint("include/uapi/rdma/cxib.h", rules, self.repo), "")
        self.complaint("drivers/cxib/pci.c", "/* SPDX-License-Identifier: GPL-2.0-only */\n")
        self.assertIn('is "GPL-2.0-or-later" there, and says of itself "GPL-2.0-only"',
                      spdx.copyright_complaint("drivers/cxib/pci.c", rules, self.repo))

    def test_every_comment_style_accepted(self) -> None:
        for begin, end in (("# ", ""), ("// ", ""), ("/* ", " */"), (".. ", ""), ("<!-- ", " -->")):
            line = f"{begin}SPDX-License-Identifier: GPL-2.0-or-later{end}\n"
            self.assertEqual(self.complaint("Documentation/a", line), "", line)


class ForbiddenWords(unittest.TestCase):
    def refused(self, text: str) -> bool:
        return bool(list(words.complaints("file", text)))

    def test_package_hosts_refused(self) -> None:
        self.assertTrue(self.refused("http://" + "deb.debian." + "org/debian"))
        self.assertTrue(self.refused("https://" + "pypi." + "org/simple"))

    def test_machine_paths_refused(self) -> None:
        for path in ("/ho" + "me/jo/cxib", "see /wo" + "rk/main", "'/ro" + "ot/.ssh'"):
            self.assertTrue(self.refused(path), path)

    def test_lab_and_variable_paths_accepted(self) -> None:
        for path in ("/repo/build", '"$tree/root/x"', "build/work/x", "${HOME}/root/x", "/usr/src/linux"):
            self.assertFalse(self.refused(path), path)

    def test_unfinished_work_marks_refused(self) -> None:
        self.assertTrue(self.refused("/* TO" + "DO: later */"))
        self.assertFalse(self.refused("todos"))


class Circles(unittest.TestCase):
    A = "int cxib_a(void)\n{\n\treturn cxib_b();\n}\n"
    B = "int cxib_b(void)\n{\n\treturn %s;\n}\n"

    def found(self, text: str) -> list[set[str]]:
        return [set(circle) for circle in circles.circles(circles.dependencies({"a": self.A, "b": text}))]

    def test_files_calling_each_other_found(self) -> None:
        self.assertEqual(self.found(self.B % "cxib_a()"), [{"a", "b"}])

    def test_dependency_in_one_direction_is_no_circle(self) -> None:
        self.assertEqual(self.found(self.B % "0"), [])

    def test_comments_strings_and_structure_names_ignored(self) -> None:
        self.assertEqual(self.found(self.B % '0 /* cxib_a() */ + sizeof("cxib_a") + sizeof(struct cxib_a)'), [])

    def test_circle_over_third_file_found(self) -> None:
        graph = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}
        self.assertEqual(circles.circles(graph), [frozenset("abc")])


class DeviceWords(unittest.TestCase):
    def refused(self, text: str, name: str = "drivers/cxib/a.c") -> bool:
        return bool(list(device_words.complaints(name, text)))

    def test_registers_by_number_refused(self) -> None:
        self.assertTrue(self.refused("cxib_bus_read(hw->bus, 0x1fc)"))
        self.assertFalse(self.refused("cxib_bus_read(hw->bus, HW_INITIAL_SEG_OFFSET_INITIALIZING)"))

    def test_fields_by_shift_and_mask_refused(self) -> None:
        self.assertTrue(self.refused("x = be32_to_cpu(entry->dw[3]) >> 24;"))
        self.assertTrue(self.refused("x = cpu_to_be32(eqn << 24 | index);"))
        self.assertFalse(self.refused("x = FIELD_GET(HW_EQE_MASK_OWNER, be32_to_cpu(last));"))

    def test_comments_ignored(self) -> None:
        self.assertFalse(self.refused("/* be32_to_cpu(word) >> 24 */"))

    def test_emulator_bar_offsets_require_tables(self) -> None:
        text = "constexpr std::uint32_t cq_doorbell = 0x20;"
        self.assertTrue(self.refused(text, "tools/cxemu/a.cpp"))


class ExpectedNumbers(unittest.TestCase):
    CASE = "static void a_b_c(struct kunit *test)\n{\n\tKUNIT_EXPECT_EQ(test, %s, get(x));\n}\n"

    def refused(self, text: str) -> bool:
        return bool(list(expected_numbers.complaints("kunit/a_kunit.c", text)))

    def test_numbers_without_source_refused(self) -> None:
        for number in ("3", "0x1234", "0xffULL", "BIT(7)", "2 * 16 + SIZE"):
            self.assertTrue(self.refused(self.CASE % number), number)

    def test_named_and_small_numbers_accepted(self) -> None:
        for number in ("2", "HW_CQE_SIZE_64_BYTES", "QPN", "2 * SZ_4K + 1", "limits[2].wanted"):
            self.assertFalse(self.refused(self.CASE % number), number)

    def test_comment_above_or_within_is_source(self) -> None:
        self.assertFalse(self.refused("/* mlx5_ifc.h: 24 bits. */\n" + self.CASE % "0xffffff"))
        self.assertFalse(self.refused((self.CASE % "0xffffff").replace("{\n", "{\n\t/* 24 bits. */\n")))

    def test_comment_of_other_case_is_no_source(self) -> None:
        self.assertTrue(self.refused("/* 24 bits. */\n" + self.CASE % "2" + "\n" + self.CASE % "3"))

    def test_text_and_input_numbers_ignored(self) -> None:
        self.assertFalse(self.refused(self.CASE % '"RFC 1071"'))
        self.assertFalse(self.refused((self.CASE % "1").replace("{\n", "{\n\tset(x, 0x99);\n")))


class FunctionLengths(unittest.TestCase):
    def test_shell_functions_measured_from_name_to_brace(self) -> None:
        found = list(function_length.shell_functions("x", "a() {\n\ttrue\n}\n\nb() {\n}\n"))
        self.assertEqual([(f.name, f.line, f.length) for f in found], [("a", 1, 3), ("b", 5, 2)])

    def test_python_functions_and_methods_measured(self) -> None:
        found = list(function_length.python_functions("x", "class A:\n    def f(self):\n        pass\n"))
        self.assertEqual([(f.name, f.length) for f in found], [("f", 2)])

    @unittest.skipUnless(shutil.which("ctags"), "universal-ctags is not installed")
    def test_c_functions_measured(self) -> None:
        found = {f.name: f.length for f in function_length.c_functions(["drivers/cxib/pci.c"])}
        self.assertGreater(found["cxib_probe"], 10)


class FileKinds(unittest.TestCase):
    def test_scripts_known_by_first_line(self) -> None:
        self.assertTrue(files.is_shell("tools/testing/coverage"))
        self.assertFalse(files.is_shell("tools/testing/run"))
        self.assertTrue(files.is_python("tools/testing/kunit/suites.py"))
        self.assertFalse(files.is_python("tools/testing/coverage"))


if __name__ == "__main__":
    unittest.main()
