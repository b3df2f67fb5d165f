// SPDX-License-Identifier: GPL-2.0-or-later
#include "transport/port_binding.hpp"

#include "hca/events.hpp"
#include "hwtab/view.hpp"
#include "tables/events.hpp"
#include "tables/object_values.hpp"

#include <optional>

namespace cxemu::transport {

namespace {

template <hwtab::FixedString name>
constexpr auto sub_type = static_cast<std::uint8_t>(hwtab::value<hwtab::port_change_subtype, name>);

/// The sub-type of the port event EQE.
std::optional<std::uint8_t> sub_type_of(fabric::PortEvent event) {
    using enum fabric::PortEvent;
    switch (event) {
    case down:
        return sub_type<"down">;
    case initialized:
        return sub_type<"initialized">;
    case active:
        return sub_type<"active">;
    case lid_changed:
    case subnet_manager_changed: // no EQE sub-type for it
        return sub_type<"lid">;
    case p_key_table_changed:
        return sub_type<"pkey">;
    case gid_table_changed:
        return sub_type<"guid">;
    case client_reregister:
        return sub_type<"client_rereg">;
    case armed:
    case capability_mask_changed:
        return std::nullopt;
    }
    return std::nullopt;
}

} // namespace

void post_port_event(hca::Hca& hca, std::uint8_t port, fabric::PortEvent event) {
    const auto kind = sub_type_of(event);
    if (!kind)
        return;
    hca::EventData data{};
    hwtab::View<hwtab::port_state_change_event>{data}.set<"port_num">(port);
    hca.post_event(hca::EventType::port_change, *kind, data);
}

PortBinding::PortBinding(hca::Hca& hca, fabric::HcaPort& port, PacketReceiver& receiver,
                         const SpecialQueuePairs& special)
    : hca_(hca), port_(port), receiver_(receiver), special_(special) {
    port_.set_client(this);
}

PortBinding::~PortBinding() {
    port_.set_client(nullptr);
}

void PortBinding::packet_arrived(const fabric::ParsedPacket& packet) {
    receiver_.receive(port_, packet, std::nullopt);
}

void PortBinding::port_event(fabric::PortEvent event) {
    post_port_event(hca_, port_.number(), event);
}

/// Software that passes SMPs to the agents by MAD_IFC has chosen an ISSI. iPXE's golan chooses none
/// but creates a QP0, and has no command that would set the LID of the port. In this case the
/// agents of the device respond.
bool PortBinding::wants_subnet_management() const {
    return hca_.issi() != 0 && receives(queues::ServiceType::subnet_management);
}

bool PortBinding::wants_general_services() const {
    return receives(queues::ServiceType::general_services);
}

bool PortBinding::receives(queues::ServiceType service) const {
    const auto number = special_.find(port_.number(), service);
    if (!number)
        return false;
    const auto* queue_pair = hca_.objects().of<queues::QueuePair>().find(*number);
    return queue_pair != nullptr && queue_pair->can_receive();
}

} // namespace cxemu::transport
