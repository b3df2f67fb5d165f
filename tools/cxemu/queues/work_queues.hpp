// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The part of the chip that runs queue pairs: doorbells in, work to the transport.
#pragma once

#include "base/event_loop.hpp"
#include "hca/doorbells.hpp"
#include "hca/hca.hpp"
#include "hca/part.hpp"
#include "memory/memory_keys.hpp"
#include "queues/page_faults.hpp"
#include "queues/queue_pair.hpp"
#include "queues/transport.hpp"

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <span>
#include <string_view>

namespace cxemu::queues {

struct WorkQueueStatistics {
    std::uint64_t send_doorbells = 0;
    std::uint64_t requests_from_registers = 0; ///< that were not read from the ring
    std::uint64_t sends_executed = 0;          ///< handed to the transport or executed here
    std::uint64_t local_operations = 0;
    std::uint64_t send_errors = 0;
    std::uint64_t sends_flushed = 0;
    std::uint64_t receives_completed = 0;
    std::uint64_t receive_errors = 0;
    std::uint64_t receives_flushed = 0;
    std::uint64_t stray_doorbells = 0; ///< for no queue, or through a foreign UAR
};

/// Queue pairs do their work in deferred calls, so a guest that rings many doorbells does not keep
/// the event loop from others.
class WorkQueues final : public hca::Part, public hca::DoorbellHandler {
public:
    /// How often queue pairs in ERR look for work requests that were posted since: nothing else
    /// tells the device about receives.
    static constexpr auto flush_period = std::chrono::milliseconds(2);

    /// \pre memory::MemoryKeys has been added to \p hca
    explicit WorkQueues(hca::Hca& hca);
    ~WorkQueues() override;

    /// nullptr: sends stay where they are.
    void set_transport(Transport* transport) { transport_ = transport; }
    /// The transport that serves \p queue_pair, or nullptr.
    [[nodiscard]] Transport* transport_of(const QueuePair& queue_pair) const;
    /// Tells the transport that \p queue_pair has left state \p from.
    void notify(QueuePair& queue_pair, QueuePairState from);

    /// What completions carry as their time: nanoseconds.
    [[nodiscard]] std::uint64_t timestamp() const;

    [[nodiscard]] hca::Hca& hca() const { return hca_; }
    [[nodiscard]] memory::MemoryKeys& memory() const { return memory_; }
    [[nodiscard]] PageFaults& page_faults() { return page_faults_; }
    [[nodiscard]] WorkQueueStatistics& counters() { return statistics_; }

    /// Lets \p queue_pair send what is posted, in a deferred call.
    void schedule(QueuePair& queue_pair);
    /// Watches \p queue_pair for work requests that are to be flushed, until it leaves ERR.
    void watch_for_flushes(QueuePair& queue_pair);
    /// The queue pair leaves its table.
    void forget(QueuePair& queue_pair);

    // --- hca::DoorbellHandler
    void completion_queue_doorbell(hca::Uar& uar, std::uint32_t command,
                                   std::uint32_t cqn) override;
    void event_queue_doorbell(hca::Uar& uar, std::uint8_t eqn, std::uint32_t consumer_index,
                              bool arm) override;
    void send_doorbell(hca::Uar& uar, std::span<const std::byte, 8> control) override;
    void send_request(hca::Uar& uar, std::span<const std::byte> request) override;

    // --- hca::Part
    [[nodiscard]] std::string_view name() const override { return "work_queues"; }
    void reset(pci::ResetCause cause) override;
    void function_torn_down() override;
    [[nodiscard]] nlohmann::json statistics() const override;

private:
    QueuePair* find_rung(const hca::Uar& uar, std::span<const std::byte, 8> control);
    void run_scheduled();
    void run(QueuePair& queue_pair);
    void flush_watched();
    void report_signature_error(const memory::SignatureError& error);

    hca::Hca& hca_;
    memory::MemoryKeys& memory_;
    Transport* transport_ = nullptr;
    PageFaults page_faults_{*this};
    std::set<std::uint32_t> scheduled_; ///< numbers of queue pairs
    std::set<std::uint32_t> watched_;   ///< numbers of queue pairs in ERR
    Timer run_;
    Timer flush_;
    WorkQueueStatistics statistics_;
};

} // namespace cxemu::queues
