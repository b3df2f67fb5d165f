// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// What the user wants: the command line, and the configuration file that it may name.
#pragma once

#include "fabric/link_rate.hpp"
#include "hca/profile.hpp"

#include <cstdint>
#include <expected>
#include <filesystem>
#include <optional>
#include <spdlog/spdlog.h>
#include <string>
#include <utility>
#include <vector>

namespace cxemu::program {

/// One HCA, before defaults that depend on its number are filled in.
struct HcaOptions {
    std::filesystem::path socket;
    std::string profile; ///< empty: by device id
    std::optional<std::uint16_t> device_id;
    std::optional<bool> virtual_function;
    std::optional<std::uint64_t> guid;
    std::optional<std::uint32_t> vectors;
    std::optional<std::uint32_t> ports;
    std::optional<std::uint32_t> boot_pages;
    std::optional<std::uint32_t> init_pages;
    std::optional<std::uint32_t> regular_pages;
    std::optional<bool> checksums;
    std::string link_speed; ///< empty: the profile's
    std::string link_width;
    std::vector<std::pair<std::string, std::uint64_t>> capabilities;
};

/// What the links of an adapter's ports can do at best.
struct LinkSettings {
    fabric::LaneSpeed speed = fabric::LaneSpeed::edr;
    fabric::LinkWidth width = fabric::LinkWidth::x4;
};

struct Options {
    HcaOptions common;            ///< what HCAs have that don't say otherwise
    std::vector<HcaOptions> hcas; ///< one for each socket
    std::optional<std::filesystem::path> command_log;
    std::optional<std::filesystem::path> control;
    std::optional<std::filesystem::path> violations;
    std::optional<std::filesystem::path> allow_list;
    std::optional<std::filesystem::path> packet_capture;
    spdlog::level::level_enum log_level = spdlog::level::info;
};

/// Why the program ends before it has begun.
struct EarlyEnd {
    int status = 0; ///< exit status: 0 after --help
};

/// Reads the command line; prints what is wrong with it, or the help.
std::expected<Options, EarlyEnd> parse_command_line(int argc, char** argv);

/// Reads a configuration file; what \p options has already stays.
/// \return an error text that names the file, the place and the cause
std::expected<void, std::string> read_configuration(const std::filesystem::path& file,
                                                    Options& options);

/// The settings of HCA \p number (counted from 0), complete and checked.
/// \return an error text that names the option, its value and what is possible
std::expected<hca::HcaSettings, std::string> settings_of(const Options& options,
                                                         std::size_t number);

/// What the link of HCA \p number can do at best. \return an error text
std::expected<LinkSettings, std::string> link_of(const Options& options, std::size_t number);

} // namespace cxemu::program
