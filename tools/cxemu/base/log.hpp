// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Logging: one logger per device, all writing to the same sink.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <memory>
#include <optional>
#include <spdlog/spdlog.h>
#include <string>

namespace cxemu {

using Log = std::shared_ptr<spdlog::logger>;

/// Directs all loggers created from now on to standard error, or to \p file if given.
/// \return an error text when the file cannot be opened
std::expected<void, std::string>
configure_logging(spdlog::level::level_enum level,
                  const std::optional<std::filesystem::path>& file);

/// A logger whose lines are prefixed with \p name ("hca0").
Log make_log(std::string name);

/// A logger that discards everything, for tests.
Log make_silent_log();

/// Rate limiter: passes the first few lines of a kind per second and counts the others. Use it for
/// lines that a guest can cause at any rate.
class LogLimiter {
public:
    using Clock = std::chrono::steady_clock;

    explicit LogLimiter(std::uint32_t lines_per_second = 10) : limit_(lines_per_second) {}

    /// \return true when the line should be written
    bool allow(Clock::time_point now = Clock::now());

    /// Lines suppressed since the last call.
    std::uint64_t take_suppressed();

private:
    std::uint32_t limit_;
    std::uint32_t used_ = 0;
    std::uint64_t suppressed_ = 0;
    Clock::time_point window_start_;
};

} // namespace cxemu
