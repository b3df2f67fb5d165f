// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// A CQ: a ring of CQEs in host memory, and completion events when armed.
#pragma once

#include "base/event_loop.hpp"
#include "hca/objects.hpp"
#include "hwtab/view.hpp"
#include "memory/host_buffer.hpp"
#include "queues/completion.hpp"
#include "queues/compressed_run.hpp"
#include "queues/event_queue.hpp"
#include "tables/contexts.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>

namespace cxemu::check {
struct EntryFault;
}
namespace cxemu::hca {
class Hca;
}

namespace cxemu::queues {

/// Arming state of a CQ.
enum class NotificationState : std::uint8_t {
    solicited_armed = hwtab::value<hwtab::cq_state, "solicited_notification_request_armed">,
    armed = hwtab::value<hwtab::cq_state, "notification_request_armed">,
    fired = hwtab::value<hwtab::cq_state, "fired">,
    always_armed = hwtab::value<hwtab::eq_state, "always_armed">,
};

enum class ResizeFault : std::uint8_t {
    too_small, ///< more unconsumed CQEs than entries of the new ring
    no_room,   ///< the old ring has no slot for the resize CQE
    stopped,   ///< the queue is in error
};

/// Objects that a CQ refers to. Unused references are empty.
struct CompletionQueueResources {
    memory::HostBuffer buffer;
    std::uint64_t doorbell_record = 0; ///< bus address
    hca::Reference<EventQueue> events;
    hca::Reference<hca::Uar> uar;
    hca::Reference<hca::UserMemory> buffer_memory;
    hca::Reference<hca::UserMemory> record_memory;
};

/// One event is posted for each arming. Software numbers the armings (arm_sn, 2 bits) and
/// increments the number after an event. So an arming has no effect if it has the number of an
/// event that software has not consumed yet. If CQEs beyond the given consumer index were written
/// after the last event, arming posts the next event at once. An arming for solicited CQEs does so
/// only if one of these CQEs is solicited or an error.
class CompletionQueue final : public hca::Object {
public:
    static constexpr hca::ObjectKind kind = hca::ObjectKind::completion_queue;
    static constexpr std::uint32_t counter_mask = 0xffffff; ///< indices have 24 bits

    /// \param context of the layout cqc
    CompletionQueue(hca::ObjectIdentity identity, hca::Hca& hca, std::span<const std::byte> context,
                    CompletionQueueResources resources);

    /// Appends a CQE. A CQ with compression may delay it until the end of this turn of the event
    /// loop, to compress it with later ones.
    /// \return false when the CQ is in error, because of this CQE or before
    bool post(const Completion& completion);

    /// Writes delayed CQEs. Must be called before software may rely on having seen all CQEs of a QP
    /// (reset, destroy), or reads the ring.
    /// \return false when the CQ is in error
    bool end_run();

    /// Doorbell: first word of the UAR write.
    void arm(std::uint32_t command);

    /// MODIFY_CQ: copies those of moderation, overrun and EQ that \p fields selects (values of
    /// hwtab::cq_modify_field_select) from \p context.
    void modify(hwtab::ConstView<hwtab::cqc> context, std::uint32_t fields,
                hca::Reference<EventQueue> events);

    /// MODIFY_CQ: switches to a ring of 2^log_size entries in \p buffer. The last CQE of the old
    /// ring is a resize CQE.
    /// \param buffer_memory empty unless the new ring is in a umem
    std::expected<void, ResizeFault> resize(std::uint32_t log_size, std::uint32_t log_page_size,
                                            std::uint32_t page_offset, memory::HostBuffer buffer,
                                            hca::Reference<hca::UserMemory> buffer_memory);

    /// Number of unconsumed CQEs, by the doorbell record.
    [[nodiscard]] std::uint32_t outstanding();

    [[nodiscard]] bool stopped() const { return stopped_; }
    [[nodiscard]] std::uint32_t size() const { return 1U << context().get<"log_cq_size">(); }
    /// Bytes from one entry to the next.
    [[nodiscard]] std::uint32_t entry_size() const;
    /// True when entries have a first half that can take 64 bytes of data.
    [[nodiscard]] bool has_first_half() const;
    [[nodiscard]] const memory::HostBuffer& buffer() const { return resources_.buffer; }
    [[nodiscard]] const hca::Uar* uar() const { return resources_.uar.get(); }
    [[nodiscard]] EventQueue& events() const { return *resources_.events; }
    [[nodiscard]] NotificationState state() const;

    /// The context as QUERY_CQ shows it, after refresh().
    [[nodiscard]] hwtab::ConstView<hwtab::cqc> context() const {
        return hwtab::ConstView<hwtab::cqc>{context_};
    }
    /// Reads the consumer index from the doorbell record.
    void refresh();

private:
    using Entry = std::array<std::byte, hwtab::cqe64.size>;

    [[nodiscard]] bool ignores_overrun() const { return context().get<"oi">() != 0; }
    bool has_room(std::size_t entries = 1);
    bool hold_back(const Completion& completion);
    bool append_run(const CompressedRun& run);
    bool append(const Completion& completion, const Entry& entry);
    bool append_corrupted(const Completion& completion, const Entry& entry,
                          const check::EntryFault& fault);
    void account_for(const Completion& completion);
    [[nodiscard]] std::uint64_t offset_of(std::uint32_t position) const;
    bool write(const Completion& completion, Entry entry);
    bool write_arrays(const CompressedRun& run);
    void stop_unwritable();
    void stop(std::uint8_t status, std::uint8_t syndrome);
    void consider_event(const Completion& completion);
    void request_event(bool at_once);
    void restart_period();
    void report_event();
    [[nodiscard]] bool has_unreported(std::uint32_t consumer_index, bool solicited_only) const;
    [[nodiscard]] hwtab::View<hwtab::cqc> fields() { return hwtab::View<hwtab::cqc>{context_}; }

    hca::Hca& hca_;
    std::array<std::byte, hwtab::cqc.size> context_{};
    CompletionQueueResources resources_;
    bool stopped_ = false;
    std::uint32_t arm_sequence_ = 0;                 ///< arm_sn of the last arming
    std::optional<std::uint32_t> reported_sequence_; ///< arm_sn of the last event
    bool saw_solicited_ = false;                     ///< last_solicit_index is valid
    std::uint32_t reported_ = 0;                     ///< producer counter at the last event
    CompressedRun run_;
    Timer end_of_run_;
    Timer moderation_;
    bool event_due_ = false;      ///< the event waits for the end of the moderation period
    std::uint32_t held_back_ = 0; ///< entries since the last event
    EventLoop::TimePoint last_event_{};
};

} // namespace cxemu::queues
