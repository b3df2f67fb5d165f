# SPDX-License-Identifier: GPL-2.0-or-later
"""Boots guests of the lab, runs a command in them and checks their kernel logs."""
