// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Options from command line and configuration file, and the settings derived from them.
#pragma once

#include "check/capture_limits.hpp"
#include "fabric/link_rate.hpp"
#include "hca/device_profile.hpp"

#include <array>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <map>
#include <optional>
#include <spdlog/spdlog.h>
#include <string>
#include <utility>
#include <vector>

namespace cxemu::program {

inline constexpr std::uint32_t max_vectors = 256;
inline constexpr std::uint32_t max_ports = 2; ///< of an HCA
inline constexpr std::uint32_t max_pages = 1'000'000;
inline constexpr std::uint32_t min_snap = 64; ///< bytes
inline constexpr std::uint32_t max_snap = 8192;
inline constexpr std::uint32_t max_capture_size = 1'000'000; ///< megabytes
inline constexpr std::array link_speeds{"sdr", "ddr", "qdr", "fdr10", "fdr", "edr", "hdr", "ndr"};
inline constexpr std::array link_widths{"1x", "2x", "4x", "8x", "12x"};
/// In the order of hca::SignatureStop and of hca::SignatureReport.
inline constexpr std::array signature_stops{"next", "fence", "random"};
inline constexpr std::array signature_reports{"before", "behind"};
/// "connectx4, connectx5, ..."
std::string profile_names();
/// Names of log levels.
const std::map<std::string, spdlog::level::level_enum>& log_levels();

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
    std::optional<bool> write_combining;
    std::string signature_stop; ///< empty: the first of signature_stops
    std::string signature_report;
    std::string link_speed; ///< empty: the profile's
    std::string link_width;
    std::vector<std::pair<std::string, std::uint64_t>> capabilities;
};

/// Maximum speed and width of the links of an adapter's ports.
struct LinkSettings {
    fabric::LaneSpeed speed = fabric::LaneSpeed::edr;
    fabric::LinkWidth width = fabric::LinkWidth::x4;
};

struct Options {
    HcaOptions common;                  ///< defaults of all HCAs
    std::vector<HcaOptions> hcas;       ///< one for each socket
    std::optional<bool> subnet_manager; ///< in the switch
    std::optional<std::filesystem::path> command_log;
    std::optional<std::filesystem::path> control;
    std::optional<std::filesystem::path> violations;
    std::optional<std::filesystem::path> allow_list;
    std::optional<std::filesystem::path> envelope;
    std::optional<std::filesystem::path> packet_capture;
    std::optional<std::uint32_t> capture_snap; ///< bytes of each packet
    std::optional<std::uint32_t> capture_size; ///< megabytes of the file
    std::optional<spdlog::level::level_enum> log_level;
    std::optional<std::uint64_t> fault_seed;
    std::optional<std::filesystem::path> faults; ///< a fault plan
    std::vector<std::string> fault;              ///< lines of one, after those of the file
};

/// Validates the options of each HCA and of all together.
/// \return an error text with the option, its value and the valid range
std::expected<void, std::string> check(const Options& options);

/// The settings of HCA \p number (counted from 0), complete and checked; errors as check().
std::expected<hca::HcaSettings, std::string> settings_of(const Options& options,
                                                         std::size_t number);

/// Maximum speed and width of the links of HCA \p number; errors as check().
std::expected<LinkSettings, std::string> link_of(const Options& options, std::size_t number);

/// Limits of the packet capture; errors as check().
std::expected<check::CaptureLimits, std::string> capture_limits_of(const Options& options);

/// Ports of the switch: one for each port of an HCA, at least 8; errors as check().
std::expected<std::uint8_t, std::string> switch_ports_of(const Options& options);

} // namespace cxemu::program
