// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The command queue: fetches commands from host memory, dispatches them, writes their outputs.
#pragma once

#include "base/event_loop.hpp"
#include "hca/command.hpp"
#include "hca/mailbox_chain.hpp"

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
    std::uint64_t outputs_lost = 0; ///< the output could not be written to host memory
    std::uint64_t events = 0;       ///< completion events; one may cover several commands
    std::uint64_t max_outstanding = 0;
    std::uint64_t faults = 0; ///< commands with an injected fault
};

class CommandQueue {
public:
    static constexpr std::uint32_t slots = 32;
    static constexpr std::uint32_t entry_size = 64;
    /// Maximum length of inputs and outputs, bytes: an mkey of 16 GiB lists 32 MiB of page
    /// addresses.
    static constexpr std::uint32_t max_length = 33 * 1024 * 1024;

    CommandQueue(Hca& hca, CommandDispatcher& dispatcher);
    ~CommandQueue();
    CommandQueue(const CommandQueue&) = delete;
    CommandQueue& operator=(const CommandQueue&) = delete;

    /// Starts the queue at the address that software has written; outstanding commands are dropped.
    void start(std::uint64_t address);
    /// Drops the address and all outstanding commands; they never complete.
    void stop();
    [[nodiscard]] bool running() const { return address_.has_value(); }

    /// Bit n: software has filled slot n. The commands run in the next turn of the event loop.
    void ring(std::uint32_t vector);

    /// Completes the executed commands whose completion a fault has dropped. \return their number
    std::uint32_t complete_dropped();

    /// Slots of commands that have been fetched and not completed yet.
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
    bool write_output(Execution& execution, DeliveryStatus status);
    void announce(std::uint32_t slot);
    void post_completions();
    void report_zero_entry(std::uint32_t slot);
    [[nodiscard]] std::uint64_t entry_address(std::uint32_t slot) const;

    Hca& hca_;
    CommandDispatcher& dispatcher_;
    std::optional<std::uint64_t> address_;
    std::uint32_t rung_ = 0;      ///< slots with a doorbell, waiting for process()
    std::uint32_t completed_ = 0; ///< slots that wait for their completion event
    bool processing_ = false;
    std::array<std::shared_ptr<Execution>, slots> executions_;
    std::shared_ptr<bool> alive_; ///< deferred calls hold a weak reference
    bool scheduled_ = false;
    bool zero_entry_reported_ = false;
    CommandQueueStatistics statistics_;
};

} // namespace cxemu::hca
