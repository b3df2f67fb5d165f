// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The command line.
#pragma once

#include "program/options.hpp"

#include <expected>
#include <string>

namespace cxemu::program {

/// Exit before the start: --help, or an error.
struct EarlyEnd {
    int status = 0; ///< exit status: 0 after --help
};

/// Reads the command line and its configuration file; prints their errors, or the help.
std::expected<Options, EarlyEnd> parse_command_line(int argc, char** argv);

/// Output of --help.
std::string command_line_help();

} // namespace cxemu::program
