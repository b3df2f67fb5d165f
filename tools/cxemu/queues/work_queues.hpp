// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The component that runs QPs: handles doorbells and schedules the transport.
#pragma once

#include "base/event_loop.hpp"
#include "check/seeded_random.hpp"
#include "hca/doorbell_router.hpp"
#include "hca/hca.hpp"
#include "hca/part.hpp"
#include "memory/memory_keys.hpp"
#include "queues/page_faults.hpp"
#include "queues/queue_pair.hpp"
#include "queues/transport.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <span>
#include <string_view>

namespace cxemu::queues {

struct WorkQueueStatistics {
    std::uint64_t send_doorbells = 0;
    std::uint64_t requests_from_registers = 0; ///< WQEs taken from BlueFlame writes
    std::uint64_t sends_executed = 0;          ///< passed to the transport or executed here
    std::uint64_t local_operations = 0;
    std::uint64_t send_errors = 0;
    std::uint64_t sends_flushed = 0;
    std::uint64_t receives_completed = 0;
    std::uint64_t receive_errors = 0;
    std::uint64_t receives_flushed = 0;
    std::uint64_t stray_doorbells = 0; ///< of unknown queues, or through the UAR of another queue
    std::array<std::uint64_t, 16> completions{}; ///< CQEs of QPs by opcode
};

/// QPs run in deferred calls, so a guest that rings many doorbells does not block the event loop.
class WorkQueues final : public hca::Part, public hca::DoorbellHandler {
public:
    /// Polling period of QPs in ERR for newly posted WQEs: receive WQEs have no doorbell.
    static constexpr auto flush_period = std::chrono::milliseconds(2);

    /// \pre memory::MemoryKeys has been added to \p hca
    explicit WorkQueues(hca::Hca& hca);
    ~WorkQueues() override;

    /// nullptr: send WQEs are not executed.
    void set_transport(Transport* transport) { transport_ = transport; }
    /// The transport of \p queue_pair, or nullptr.
    [[nodiscard]] Transport* transport_of(const QueuePair& queue_pair) const;
    /// Notifies the transport that \p queue_pair has left state \p from.
    void notify(QueuePair& queue_pair, QueuePairState from);

    /// Timestamp for CQEs, in nanoseconds.
    [[nodiscard]] std::uint64_t timestamp() const;

    [[nodiscard]] hca::Hca& hca() const { return hca_; }
    [[nodiscard]] memory::MemoryKeys& memory() const { return memory_; }
    [[nodiscard]] PageFaults& page_faults() { return page_faults_; }
    [[nodiscard]] WorkQueueStatistics& counters() { return statistics_; }
    /// Whether a QP that a signature error stops still starts WQEs up to the next fence.
    [[nodiscard]] bool stops_at_fence();

    /// Schedules a deferred call that executes the send WQEs of \p queue_pair.
    void schedule(QueuePair& queue_pair);
    /// Polls \p queue_pair for WQEs to flush, until it leaves ERR.
    void watch_for_flushes(QueuePair& queue_pair);
    /// Removes \p queue_pair from the tables below.
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
    std::set<std::uint32_t> scheduled_; ///< numbers of QPs
    std::set<std::uint32_t> watched_;   ///< numbers of QPs in ERR
    Timer run_;
    Timer flush_;
    WorkQueueStatistics statistics_;
    check::SeededRandom random_{1}; ///< of signature_stop
};

} // namespace cxemu::queues
