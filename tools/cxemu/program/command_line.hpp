// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The command line.
#pragma once

#include "program/options.hpp"

#include <expected>
#include <string>

namespace cxemu::program {

/// Exit before the start: --help, --list-profiles, or an error.
struct EarlyEnd {
    int status = 0; ///< exit status: 0 after --help and --list-profiles
};

/// Reads the command line and its configuration file; prints their errors, or the help.
std::expected<Options, EarlyEnd> parse_command_line(int argc, char** argv);

/// Output of --help.
std::string command_line_help();

} // namespace cxemu::program
