# SPDX-License-Identifier: GPL-2.0-or-later
"""Loads the plugin of the guests."""

import sys

sys.dont_write_bytecode = True
pytest_plugins = ["guests.plugin"]
