// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// An event queue: a ring of event queue entries (EQEs) in host memory and an interrupt vector.
#pragma once

#include "hca/events.hpp"
#include "hca/objects.hpp"
#include "hwtab/view.hpp"
#include "memory/host_buffer.hpp"
#include "tables/contexts.hpp"
#include "tables/events.hpp"

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <span>

namespace cxemu::hca {
class Hca;
}

namespace cxemu::queues {

/// Whether the next entry raises an interrupt.
enum class EventQueueState : std::uint8_t {
    armed = hwtab::value<hwtab::eq_state, "armed">,
    fired = hwtab::value<hwtab::eq_state, "fired">,
    always_armed = hwtab::value<hwtab::eq_state, "always_armed">,
};

/// Event types that a queue has subscribed to: bit n is type n.
using EventMask = std::bitset<256>;

/// An armed queue raises one interrupt for the next entry and is fired then. Arming it with a
/// consumer index behind which there are entries raises the interrupt at once.
///
/// A queue that would overrun, or whose memory can't be written, stops for good and reports the
/// failure in the health buffer.
class EventQueue final : public hca::Object {
public:
    static constexpr hca::ObjectKind kind = hca::ObjectKind::event_queue;

    /// \param context of the layout eqc
    EventQueue(hca::ObjectIdentity identity, hca::Hca& hca, std::span<const std::byte> context,
               const EventMask& events, memory::HostBuffer buffer, hca::Reference<hca::Uar> uar);

    /// Writes an entry and raises the interrupt if the queue is armed.
    /// \param data at most hca::event_data_size bytes; the rest is zero
    /// \return false when the queue has stopped; the event is lost
    bool post(hca::EventType type, std::uint8_t sub_type, std::span<const std::byte> data);

    /// Writes an entry that software composed (GEN_EQE); its owner bit is replaced.
    /// \pre entry has hwtab::eqe.size bytes
    bool post_raw(std::span<const std::byte> entry);

    /// Doorbell: entries before \p consumer_index (24 bits) have been consumed.
    void consume(std::uint32_t consumer_index, bool arm);

    /// The interrupt vector has been rewired: raises an interrupt that may have been lost.
    void vector_changed();

    /// A fault plan has told software another number: its doorbells go astray. The checker does not
    /// count what comes of that as an overrun, or as a wrong doorbell, of the driver's own.
    void set_named_falsely() { named_falsely_ = true; }
    [[nodiscard]] bool eqn_forged() const { return named_falsely_; }

    [[nodiscard]] const EventMask& events() const { return events_; }
    [[nodiscard]] std::uint32_t vector() const;
    [[nodiscard]] const hca::Uar* uar() const { return uar_.get(); }
    [[nodiscard]] bool stopped() const { return stopped_; }
    [[nodiscard]] const memory::HostBuffer& buffer() const { return buffer_; }
    [[nodiscard]] std::uint32_t size() const { return 1U << context().get<"log_eq_size">(); }
    /// Entries that software hasn't consumed.
    [[nodiscard]] std::uint32_t unconsumed() const;

    /// The context as QUERY_EQ shows it: with state and counters of this moment.
    [[nodiscard]] hwtab::ConstView<hwtab::eqc> context() const {
        return hwtab::ConstView<hwtab::eqc>{context_};
    }

private:
    using Entry = std::array<std::byte, hwtab::eqe.size>;

    bool append(const Entry& entry);
    bool append_as_it_is(Entry entry);
    bool write(Entry& entry);
    void report_overrun();
    void report_consumer(std::uint32_t consumer_index);
    void stop(std::uint8_t status);
    void fire();
    [[nodiscard]] EventQueueState state() const;

    hca::Hca& hca_;
    std::array<std::byte, hwtab::eqc.size> context_{};
    EventMask events_;
    memory::HostBuffer buffer_;
    hca::Reference<hca::Uar> uar_;
    bool stopped_ = false;
    bool named_falsely_ = false;
    bool consumed_ = false; ///< a doorbell has named this queue
};

} // namespace cxemu::queues
