# SPDX-License-Identifier: GPL-2.0-or-later
"""How Sphinx renders these pages; `make docs` copies them to build/docs/source first and adds what is generated."""

import pathlib
import re
import subprocess
import warnings

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

project = "cxib"
extensions = ["breathe"]
breathe_projects = {"xrcrcv": "../doxygen/xml"}
breathe_default_project = "xrcrcv"
breathe_domain_by_extension = {"h": "c"}
warnings.filterwarnings("ignore", module="breathe")  # it is older than Sphinx and uses what Sphinx 9 will not have
smartquotes = False  # they would change the options of commands
html_theme = "alabaster"
html_copy_source = False
html_theme_options = {"page_width": "80em", "sidebar_width": "16em"}


def kernel_doc_script() -> pathlib.Path:
    """The script of the newest kernel headers that have one."""
    found = sorted(pathlib.Path("/usr/lib").glob("linux-kbuild-*/scripts/kernel-doc"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise FileNotFoundError("no kernel-doc: the kernel headers are missing")
    return found[-1]


def without_twins(text: str) -> str:
    """Sphinx has one name space for structs and functions of C: a function that is named like its struct gets no entry."""
    for name in re.findall(r"^\.\. c:struct:: (\w+)$", text, re.MULTILINE):
        text = re.sub(rf"^\.\. c:function:: (.*\b{name} \(.*\))$", r".. describe:: \1", text, flags=re.MULTILINE)
    return text


class KernelDoc(SphinxDirective):
    """`.. kernel-doc:: FILE`: the kernel-doc comments of a header, named from the top of the checkout."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        result = subprocess.run([kernel_doc_script(), "-rst", "-sphinx-version", "8.1", "-Werror", self.arguments[0]],
                                check=False, capture_output=True, text=True)
        if result.returncode:
            raise self.error(result.stderr)
        return self.parse_text_to_nodes(without_twins(result.stdout))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("kernel-doc", KernelDoc)
    return {"parallel_read_safe": True}
