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

/// Reads a configuration file. Options that are set in \p options keep their values.
/// \return an error text that names the file, the line and the cause
std::expected<void, std::string> read_configuration(const std::filesystem::path& file,
                                                    Options& options);

/// Top-level keys of the file.
std::vector<std::string> configuration_keys();
/// Keys of [defaults] and [[hca]].
std::vector<std::string> hca_configuration_keys();

} // namespace cxemu::program
