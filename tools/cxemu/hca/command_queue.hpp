// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The command queue: takes commands from host memory, hands them on, writes the answers.
#pragma once

#include "base/event_loop.hpp"
#include "hca/command.hpp"
#include "hca/mailboxes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace cxemu::hca {

class Hca;
class CommandDispatcher;

struct CommandQueueStatistics {
    std::uint64_t doorbells = 0;
    std::uint64_t doorbells_ignored = 0; ///< no queue address, or the interface is disabled
    std::uint64_t commands = 0;
    std::uint64_t delivery_errors = 0;
    std::uint64_t answers_lost = 0; ///< the answer could not be written to host memory
    std::uint64_t events = 0;       ///< completion events; one may stand for several commands
    std::uint64_t most_outstanding = 0;
    std::uint64_t faults = 0; ///< commands that a fault plan has struck
};

class CommandQueue {
public:
    static constexpr std::uint32_t slots = 32;
    static constexpr std::uint32_t entry_size = 64;
    /// Inputs and outputs beyond this are refused, bytes: a memory key of 16 GiB lists 32 MiB
    /// of page addresses.
    static constexpr std::uint32_t max_length = 33 * 1024 * 1024;

    CommandQueue(Hca& hca, CommandDispatcher& dispatcher);
    ~CommandQueue();
    CommandQueue(const CommandQueue&) = delete;
    CommandQueue& operator=(const CommandQueue&) = delete;

    /// Takes the address that software has written; commands that are under way are forgotten.
    void start(std::uint64_t address);
    /// Forgets the address and all commands under way; their answers will go nowhere.
    void stop();
    [[nodiscard]] bool running() const { return address_.has_value(); }

    /// Bit n: software has filled slot n. The commands run in the next turn of the event loop.
    void ring(std::uint32_t vector);

    /// Slots whose commands have been taken and not answered yet.
    [[nodiscard]] std::uint32_t outstanding() const;
    [[nodiscard]] const CommandQueueStatistics& statistics() const { return statistics_; }

private:
    class Execution;
    friend class Execution;

    void process();
    void take(std::uint32_t slot);
    void execute(const std::shared_ptr<Execution>& execution);
    std::optional<DeliveryError> fetch(Execution& execution);
    [[nodiscard]] std::optional<DeliveryError> check_entry(const Execution& execution) const;
    void fail_delivery(Execution& execution, const DeliveryError& error);
    void finish(Execution& execution, CommandResult result);
    void deliver(Execution& execution);
    bool choose_fault(Execution& execution);
    bool write_answer(Execution& execution, DeliveryStatus status);
    void announce(std::uint32_t slot);
    void post_completions();
    void report_zero_entry(std::uint32_t slot);
    [[nodiscard]] std::uint64_t entry_address(std::uint32_t slot) const;

    Hca& hca_;
    CommandDispatcher& dispatcher_;
    std::optional<std::uint64_t> address_;
    std::uint32_t rung_ = 0; ///< slots whose doorbell has been rung and that wait for process()
    std::uint32_t completed_ = 0; ///< slots that wait for their completion event
    bool processing_ = false;
    std::array<std::shared_ptr<Execution>, slots> executions_;
    std::shared_ptr<bool> alive_; ///< what deferred calls hold on to
    bool scheduled_ = false;
    bool zero_entry_reported_ = false;
    CommandQueueStatistics statistics_;
};

} // namespace cxemu::hca
