// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The configuration file.
#pragma once

#include "program/options.hpp"

#include <expected>
#include <filesystem>
#include <string>
#include <vector>

namespace cxemu::program {

/// Reads a configuration file; what \p options has already stays.
/// \return an error text that names the file, the line and the cause
std::expected<void, std::string> read_configuration(const std::filesystem::path& file,
                                                    Options& options);

/// Keys that the file may have at its top.
std::vector<std::string> configuration_keys();
/// Keys of [defaults] and [[hca]].
std::vector<std::string> hca_configuration_keys();

} // namespace cxemu::program
