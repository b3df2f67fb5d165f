// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Doorbells: writes to UAR pages, decoded by kind.
#pragma once

#include "hca/combined_writes.hpp"
#include "hca/objects.hpp"
#include "hwtab/model.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

namespace cxemu::check {
class Envelope;
}

namespace cxemu::hca {

/// Interface of the queues behind the doorbells. All numbers are from the guest and unchecked.
class DoorbellHandler {
public:
    virtual ~DoorbellHandler() = default;

    /// CQ doorbell. \param command first word: arm_sn [29:28], solicited only [24], consumer index
    /// [23:0]; \param cqn CQN
    virtual void completion_queue_doorbell(Uar& uar, std::uint32_t command, std::uint32_t cqn) = 0;

    /// EQ doorbell. \param consumer_index 24 bits; \param arm also requests the next interrupt
    virtual void event_queue_doorbell(Uar& uar, std::uint8_t eqn, std::uint32_t consumer_index,
                                      bool arm) = 0;

    /// Send doorbell. \param control the first 8 bytes of the control segment of the last posted
    /// WQE. The rest of a WQE that is written to a BlueFlame register in several writes is ignored:
    /// the same bytes are in the work queue.
    virtual void send_doorbell(Uar& uar, std::span<const std::byte, 8> control) = 0;

    /// BlueFlame: the WQE arrived in one write. \param request the WQE, padded to a multiple of 64
    /// bytes
    virtual void send_request(Uar& uar, std::span<const std::byte> request) = 0;
};

struct DoorbellStatistics {
    std::uint64_t completion_queue = 0;
    std::uint64_t event_queue = 0;
    std::uint64_t send = 0;
    std::uint64_t blue_flame_data = 0; ///< writes after the first 8 bytes of a register
    std::uint64_t requests = 0;        ///< complete WQEs in one write to a register
    std::uint64_t without_uar = 0;     ///< to a page that is no allocated UAR
    std::uint64_t undecoded = 0;       ///< to no register, or of an invalid size
};

/// Decodes writes to UAR pages and passes them on.
class DoorbellRouter {
public:
    /// Called for each write that rings no doorbell: reason, page, offset in the page, size.
    using Complaint = std::function<void(std::string_view reason, std::uint32_t page,
                                         std::uint32_t offset, std::size_t size)>;

    DoorbellRouter(Objects& objects, Complaint complain);

    /// Records the writes in \p envelope, which must outlive this; nullptr: records nothing.
    void record_in(check::Envelope* envelope) { envelope_ = envelope; }

    void set_handler(DoorbellHandler* handler) { handler_ = handler; }

    /// The host's processors combine writes to BlueFlame registers from now on.
    void combine_writes(EventLoop& loop);

    /// A naturally aligned write of 1, 2, 4 or 8 bytes at \p offset of UAR page \p page.
    /// \param log_bf_reg_size log2 of the bytes of a pair of BlueFlame registers
    void write(std::uint32_t page, std::uint32_t offset, std::span<const std::byte> data,
               std::uint32_t log_bf_reg_size);

    /// A read of UAR page \p page.
    void read(std::uint32_t page);
    /// The host has executed an operation that flushes its write-combining buffers.
    void flush();
    /// Discards the write-combining buffers of the host: the device is reset.
    void drop();

    [[nodiscard]] const DoorbellStatistics& statistics() const { return statistics_; }

private:
    bool combine(std::uint32_t page, std::uint32_t offset, std::span<const std::byte> data,
                 std::uint32_t log_bf_reg_size);
    void take_combined(const CombinedWrite& write);
    void ring_event_queue(Uar& uar, std::uint32_t offset, std::span<const std::byte> data);
    void ring_pair(Uar& uar, std::uint32_t offset, std::span<const std::byte> data);
    void ring(Uar& uar, std::uint32_t offset, std::span<const std::byte, 8> data);
    void undecoded(const Uar& uar, std::uint32_t offset, std::size_t size);
    void record(std::string_view name, const hwtab::Layout& layout,
                std::span<const std::byte> data) const;
    void record_write(std::uint32_t offset, std::size_t size, std::uint32_t log_bf_reg_size) const;

    Objects& objects_;
    Complaint complain_;
    DoorbellHandler* handler_ = nullptr;
    check::Envelope* envelope_ = nullptr;
    std::optional<CombinedWrites> combined_; ///< with a write-combining host only
    DoorbellStatistics statistics_;
};

} // namespace cxemu::hca
