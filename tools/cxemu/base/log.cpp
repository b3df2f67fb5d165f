// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/log.hpp"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/null_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <utility>

namespace cxemu {
namespace {

constexpr auto line_format = "%H:%M:%S.%e %-7l %n: %v";

spdlog::sink_ptr make_file_sink(const std::filesystem::path& file) {
    return std::make_shared<spdlog::sinks::basic_file_sink_mt>(file.string(), true);
}

} // namespace

std::expected<void, std::string>
configure_logging(spdlog::level::level_enum level,
                  const std::optional<std::filesystem::path>& file) {
    spdlog::sink_ptr sink;
    try {
        sink = file ? make_file_sink(*file) : std::make_shared<spdlog::sinks::stderr_sink_mt>();
    } catch (const spdlog::spdlog_ex& error) {
        return std::unexpected(error.what());
    }
    auto main_log = std::make_shared<spdlog::logger>("cxemu", sink);
    main_log->set_level(level);
    main_log->set_pattern(line_format);
    main_log->flush_on(spdlog::level::debug);
    spdlog::set_default_logger(std::move(main_log));
    return {};
}

Log make_log(std::string name) {
    return spdlog::default_logger()->clone(std::move(name));
}

Log make_silent_log() {
    return std::make_shared<spdlog::logger>("silent",
                                            std::make_shared<spdlog::sinks::null_sink_mt>());
}

bool LogLimiter::allow(Clock::time_point now) {
    if (now - window_start_ >= std::chrono::seconds(1)) {
        window_start_ = now;
        used_ = 0;
    }
    if (used_ < limit_) {
        ++used_;
        return true;
    }
    ++suppressed_;
    return false;
}

std::uint64_t LogLimiter::take_suppressed() {
    return std::exchange(suppressed_, 0);
}

} // namespace cxemu
