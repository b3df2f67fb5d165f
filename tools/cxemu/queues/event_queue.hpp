// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// An EQ: a ring of EQEs in host memory and an interrupt vector.
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

/// Whether the next EQE raises an interrupt.
enum class EventQueueState : std::uint8_t {
    armed = hwtab::value<hwtab::eq_state, "armed">,
    fired = hwtab::value<hwtab::eq_state, "fired">,
    always_armed = hwtab::value<hwtab::eq_state, "always_armed">,
};

/// Event mask of an EQ: bit n is type n.
using EventMask = std::bitset<256>;

/// An armed EQ raises one interrupt for the next EQE; afterwards it is fired. If there are EQEs
/// beyond the consumer index, arming raises the interrupt at once.
///
/// An EQ that would overrun, or whose memory cannot be written, stops until reset and reports the
/// failure in the health buffer.
class EventQueue final : public hca::Object {
public:
    static constexpr hca::ObjectKind kind = hca::ObjectKind::event_queue;

    /// \param context of the layout eqc
    EventQueue(hca::ObjectIdentity identity, hca::Hca& hca, std::span<const std::byte> context,
               const EventMask& events, memory::HostBuffer buffer, hca::Reference<hca::Uar> uar);

    /// Writes an EQE and raises the interrupt if the EQ is armed.
    /// \param data at most hca::event_data_size bytes; the rest is zero
    /// \return false when the EQ is in error; the event is lost
    bool post(hca::EventType type, std::uint8_t sub_type, std::span<const std::byte> data);

    /// Writes an EQE composed by software (GEN_EQE), except for its owner bit.
    /// \pre entry has hwtab::eqe.size bytes
    bool post_raw(std::span<const std::byte> entry);

    /// Doorbell: EQEs before \p consumer_index (24 bits) have been consumed.
    void consume(std::uint32_t consumer_index, bool arm);

    /// The interrupt vector has changed: raises an interrupt that may have been lost.
    void vector_changed();

    /// A fault plan has forged the EQN in the output of CREATE_EQ, so doorbells reach another EQ.
    /// The resulting overruns and wrong doorbells are not violations of the driver.
    void set_eqn_forged() { eqn_forged_ = true; }
    [[nodiscard]] bool eqn_forged() const { return eqn_forged_; }

    [[nodiscard]] const EventMask& events() const { return events_; }
    [[nodiscard]] std::uint32_t vector() const;
    [[nodiscard]] const hca::Uar* uar() const { return uar_.get(); }
    [[nodiscard]] bool stopped() const { return stopped_; }
    [[nodiscard]] const memory::HostBuffer& buffer() const { return buffer_; }
    [[nodiscard]] std::uint32_t size() const { return 1U << context().get<"log_eq_size">(); }
    /// Number of unconsumed EQEs.
    [[nodiscard]] std::uint32_t unconsumed() const;

    /// The context for QUERY_EQ, with current state and counters.
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
    bool eqn_forged_ = false;
    bool consumed_ = false; ///< a doorbell of this EQ has arrived
};

} // namespace cxemu::queues
