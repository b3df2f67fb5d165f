// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// A completion queue: a ring of CQEs in host memory, and events when software asks for them.
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

/// What makes a queue report its next event.
enum class NotificationState : std::uint8_t {
    solicited_armed = hwtab::value<hwtab::cq_state, "solicited_notification_request_armed">,
    armed = hwtab::value<hwtab::cq_state, "notification_request_armed">,
    fired = hwtab::value<hwtab::cq_state, "fired">,
    always_armed = hwtab::value<hwtab::eq_state, "always_armed">,
};

enum class ResizeFault : std::uint8_t {
    too_small, ///< more entries are outstanding than the new ring holds
    no_room,   ///< the old ring has no slot for the entry that ends it
    stopped,   ///< the queue is in error
};

/// What a queue refers to. Unused references are empty.
struct CompletionQueueResources {
    memory::HostBuffer buffer;
    std::uint64_t doorbell_record = 0; ///< bus address
    hca::Reference<EventQueue> events;
    hca::Reference<hca::Uar> uar;
    hca::Reference<hca::UserMemory> buffer_memory;
    hca::Reference<hca::UserMemory> record_memory;
};

/// Notification: one event for each arming. Software numbers the armings (2 bits) and increases the
/// number when it has taken the event, so arming with the number of an event that is still under
/// way changes nothing. Arming while there are entries beyond the given consumer index that came
/// after the last event reports the next one at once; for the solicited kind, if one of them is
/// solicited or an error.
class CompletionQueue final : public hca::Object {
public:
    static constexpr hca::ObjectKind kind = hca::ObjectKind::completion_queue;
    static constexpr std::uint32_t counter_mask = 0xffffff; ///< indices have 24 bits

    /// \param context of the layout cqc
    CompletionQueue(hca::ObjectIdentity identity, hca::Hca& hca, std::span<const std::byte> context,
                    CompletionQueueResources resources);

    /// Appends an entry. A queue that compresses may hold it back for the rest of this turn of the
    /// event loop, to see whether others like it follow.
    /// \return false when the queue has stopped, because of this entry or before
    bool post(const Completion& completion);

    /// Writes what is held back. To be called before software may rely on having seen all entries
    /// of a queue pair: because that is reset or destroyed, or because the ring is looked at.
    /// \return false when the queue has stopped
    bool end_run();

    /// Doorbell: first word of the UAR write.
    void arm(std::uint32_t command);

    /// MODIFY_CQ: takes over moderation, overrun and event queue as \p fields (values of
    /// hwtab::cq_modify_field_select) says from \p context.
    void modify(hwtab::ConstView<hwtab::cqc> context, std::uint32_t fields,
                hca::Reference<EventQueue> events);

    /// MODIFY_CQ: goes on in a ring of 2^log_size entries in \p buffer. The last entry of the old
    /// ring says so.
    /// \param buffer_memory empty unless the new ring lies in a registered user memory object
    std::expected<void, ResizeFault> resize(std::uint32_t log_size, std::uint32_t log_page_size,
                                            std::uint32_t page_offset, memory::HostBuffer buffer,
                                            hca::Reference<hca::UserMemory> buffer_memory);

    /// Entries that software hasn't consumed, by its doorbell record.
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
    std::uint32_t arm_sequence_ = 0;                 ///< number of the last arming
    std::optional<std::uint32_t> reported_sequence_; ///< number of the arming of the last event
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
