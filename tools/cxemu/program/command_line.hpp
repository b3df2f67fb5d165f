// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The command line.
#pragma once

#include "program/options.hpp"

#include <expected>
#include <string>

namespace cxemu::program {

/// Why the program ends before it has begun.
struct EarlyEnd {
    int status = 0; ///< exit status: 0 after --help
};

/// Reads the command line, and the configuration file that it may name; prints what is wrong with
/// them, or the help.
std::expected<Options, EarlyEnd> parse_command_line(int argc, char** argv);

/// What --help prints.
std::string command_line_help();

} // namespace cxemu::program
