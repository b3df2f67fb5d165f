// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// What commands contribute to an envelope.
#pragma once

#include "check/envelope.hpp"
#include "hwtab/model.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace cxemu::check {

/// A command that the device has executed successfully.
struct ExecutedCommand {
    const hwtab::Command* command;
    std::span<const std::byte> input;
    std::span<const std::byte> output;
    std::uint32_t output_length; ///< that software asked for
};

/// Records the commands of one device. A subject is a command together with the values that
/// determine the meaning of its fields: op_mod, the service type of the QP, the access mode of the
/// mkey, the register.
class CommandEnvelope {
public:
    /// \param envelope must outlive this
    explicit CommandEnvelope(Envelope& envelope) : envelope_(&envelope) {}

    /// The command queue starts: the order of bring-up begins.
    void begin();

    void record(const ExecutedCommand& executed);

private:
    std::string subject_of(const ExecutedCommand& executed);
    std::string service_of(const ExecutedCommand& executed);
    void record_lengths(const std::string& subject, const ExecutedCommand& executed);
    void record_register(const std::string& subject, const ExecutedCommand& executed);
    void add_to_order(const std::string& subject, const hwtab::Command& command);

    Envelope* envelope_;
    std::map<std::uint64_t, std::uint64_t> services_; ///< service type of each QP, by number
    std::vector<std::string> order_;                  ///< until INIT_HCA
    bool in_bring_up_ = false;
};

} // namespace cxemu::check
