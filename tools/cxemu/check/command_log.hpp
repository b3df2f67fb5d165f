// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The command log: every command by name and field, one line each.
#pragma once

#include "hwtab/model.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace cxemu::check {

/// One command as the log prints it.
struct LoggedCommand {
    std::string_view device;       ///< "hca0"
    const hwtab::Command* command; ///< nullptr: no table describes the opcode
    std::uint16_t opcode = 0;
    std::span<const std::byte> input;
    std::span<const std::byte> output;
    std::string_view status; ///< "OK", or the name of the status
    std::uint32_t syndrome = 0;
    std::string_view explanation; ///< of a failure
};

class CommandLog {
public:
    /// Logs to \p file, which is emptied first.
    /// \return an error text that names the file and the cause
    static std::expected<std::unique_ptr<CommandLog>, std::string>
    open(const std::filesystem::path& file);

    void write(const LoggedCommand& logged);

    /// Adds a line of free text ("hca0 reset (function level)").
    void note(std::string_view text);

    /// Flushes the stream to the file.
    void flush() { stream_.flush(); }

private:
    explicit CommandLog(std::ofstream stream) : stream_(std::move(stream)) {}

    std::ofstream stream_;
    std::uint64_t lines_ = 0;
};

/// The log line of a command, without its number.
std::string format_command(const LoggedCommand& logged);

/// The capability page that commands of \p opcode and \p op_mod carry; for layout walks.
const hwtab::Layout* choose_by_op_mod(const hwtab::Field& field, std::uint16_t opcode,
                                      std::uint16_t op_mod);

} // namespace cxemu::check
