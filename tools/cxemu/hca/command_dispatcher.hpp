// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Dispatch of complete inputs to the handler of their opcode, with the checks common to all
/// commands.
#pragma once

#include "base/log.hpp"
#include "hca/command.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cxemu::check {
class CommandEnvelope;
}

namespace cxemu::hca {

/// All commands of the device, by opcode.
class CommandTable {
public:
    CommandTable() = default;
    explicit CommandTable(std::span<const CommandEntry> entries) { add(entries); }

    /// Adds a list of commands; a later entry of the same opcode replaces an earlier one.
    void add(std::span<const CommandEntry> entries);

    /// \return the command, or nullptr
    [[nodiscard]] const CommandEntry* find(std::uint16_t opcode) const;

private:
    std::unordered_map<std::uint16_t, CommandEntry> entries_;
};

/// Statistics of one opcode.
struct OpcodeStatistics {
    std::uint64_t count = 0;
    std::uint64_t failed = 0;
};

class CommandDispatcher {
public:
    CommandDispatcher(Hca& hca, CommandTable table);
    ~CommandDispatcher();
    CommandDispatcher(const CommandDispatcher&) = delete;
    CommandDispatcher& operator=(const CommandDispatcher&) = delete;

    /// Bytes of the internal output buffer: the table's output size for the opcode of \p header, at
    /// least the requested length.
    [[nodiscard]] std::size_t output_size(std::span<const std::byte> header,
                                          std::uint32_t asked) const;

    /// Appends zeros for the end of an input that public drivers omit, so that checks and handlers
    /// find whole structures. An input that is too short does not change.
    void complete_input(std::vector<std::byte>& input) const;

    /// Checks and runs the command in context.input.
    CommandResult run(CommandContext& context);

    /// The command queue starts.
    void begin_bring_up();

    /// Logs, counts and records a completed command.
    /// \param output_length bytes that software asked for
    void finished(std::span<const std::byte> input, std::span<const std::byte> output,
                  std::uint32_t output_length, CommandResult result, std::string_view explanation);

    [[nodiscard]] const std::map<std::uint16_t, OpcodeStatistics>& statistics() const {
        return statistics_;
    }
    [[nodiscard]] std::string_view name_of(std::uint16_t opcode) const;

private:
    CommandResult check_state(CommandContext& context, const CommandEntry& entry) const;
    CommandResult check_lengths(CommandContext& context, const CommandEntry& entry) const;
    void check_reserved(const CommandContext& context, const CommandEntry& entry) const;

    Hca& hca_;
    CommandTable table_;
    LogLimiter limiter_;
    std::map<std::uint16_t, OpcodeStatistics> statistics_;
    std::unique_ptr<check::CommandEnvelope> envelope_; ///< if one is recorded
};

} // namespace cxemu::hca
