// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Shared by the fabric tests: an event loop with a manual clock, MADs, a port client that records
/// packets.
#pragma once

#include "base/event_loop.hpp"
#include "fabric/fabric.hpp"
#include "fabric/hca_port.hpp"
#include "fabric/mad.hpp"
#include "tables/packet_headers.hpp"

#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

namespace cxemu::fabric::testing {

/// An event loop with a manual clock.
class ManualLoop {
public:
    ManualLoop() : loop([this] { return now_; }) {}

    /// Runs everything that is due.
    void settle() {
        for (int turn = 0; turn < 100; ++turn)
            loop.turn(EventLoop::Duration::zero());
    }
    void advance(EventLoop::Duration time) {
        now_ += time;
        settle();
    }

private:
    EventLoop::TimePoint now_{std::chrono::hours(1)};

public:
    EventLoop loop;
};

template <hwtab::FixedString name>
constexpr auto attribute = static_cast<std::uint16_t>(hwtab::value<hwtab::smp_attribute, name>);
template <hwtab::FixedString name>
constexpr auto pma_attribute = static_cast<std::uint16_t>(hwtab::value<hwtab::pma_attribute, name>);

inline Mad make_mad(std::uint64_t mgmt_class, MadMethod method, std::uint16_t attribute_id,
                    std::uint32_t modifier = 0) {
    Mad mad{};
    const Smp smp(mad);
    smp.set<"base_version">(1);
    smp.set<"mgmt_class">(mgmt_class);
    smp.set<"class_version">(1);
    smp.set<"method">(static_cast<std::uint64_t>(method));
    smp.set<"transaction_id">(0x1234'5678);
    smp.set<"attribute_id">(attribute_id);
    smp.set<"attribute_modifier">(modifier);
    return mad;
}

/// A LID-routed SMP.
inline Mad make_smp(MadMethod method, std::uint16_t attribute_id, std::uint32_t modifier = 0,
                    std::uint64_t key = 0) {
    Mad mad = make_mad(hwtab::value<hwtab::mgmt_class, "subn_lid_routed">, method, attribute_id,
                       modifier);
    Smp(mad).set<"m_key">(key);
    return mad;
}

/// A directed-route SMP with hop pointer 0, as its sender posts it.
inline Mad make_directed(MadMethod method, std::uint16_t attribute_id,
                         const std::vector<std::uint8_t>& path, std::uint32_t modifier = 0) {
    Mad mad = make_mad(hwtab::value<hwtab::mgmt_class, "subn_directed_route">, method, attribute_id,
                       modifier);
    const DirectedSmp smp(mad);
    smp.set<"dr_slid">(permissive_lid);
    smp.set<"dr_dlid">(permissive_lid);
    smp.set<"hop_count">(path.size());
    for (std::size_t hop = 0; hop < path.size(); ++hop)
        smp.bytes<"initial_path">()[hop + 1] = static_cast<std::byte>(path[hop]);
    return mad;
}

inline Mad make_pma(MadMethod method, std::uint16_t attribute_id) {
    return make_mad(hwtab::value<hwtab::mgmt_class, "perf_mgmt">, method, attribute_id);
}

template <const hwtab::Layout& layout>
hwtab::View<layout> data_of(Mad& mad) {
    return Smp(mad).nested<"data", layout>();
}
template <const hwtab::Layout& layout>
hwtab::ConstView<layout> data_of(const Mad& mad) {
    return ConstSmp(mad).nested<"data", layout>();
}

inline std::uint16_t status_of(const Mad& mad) {
    return static_cast<std::uint16_t>(ConstDirectedSmp(mad).get<"status">());
}
inline std::uint16_t code(MadStatus status) {
    return static_cast<std::uint16_t>(status);
}

/// A UD packet.
inline Packet make_datagram(Lid source, Lid destination, std::uint32_t qp, std::size_t payload = 64,
                            std::uint16_t p_key = default_p_key, std::uint8_t sl = 0) {
    constexpr auto ud_send_only =
        static_cast<std::uint8_t>(hwtab::value<hwtab::transport_opcode, "ud_send_only">);
    return build({.local = {.sl = sl, .dlid = destination, .slid = source},
                  .transport = {.opcode = ud_send_only, .p_key = p_key, .destination_qp = qp},
                  .datagram = Deth{.q_key = general_services_q_key, .source_qp = 7}},
                 std::vector<std::byte>(payload));
}

/// A packet to QP1 with a MAD.
inline Packet general_services_packet(const Mad& mad, Lid source, Lid destination,
                                      std::uint32_t q_key = general_services_q_key) {
    constexpr auto ud_send_only =
        static_cast<std::uint8_t>(hwtab::value<hwtab::transport_opcode, "ud_send_only">);
    return build({.local = {.dlid = destination, .slid = source},
                  .transport = {.opcode = ud_send_only, .destination_qp = general_services_qp},
                  .datagram = Deth{.q_key = q_key, .source_qp = general_services_qp}},
                 mad);
}

/// Records what a port delivers.
class RecordingClient : public PortClient {
public:
    struct Arrival {
        PacketHeaders headers;
        std::vector<std::byte> payload;
    };

    void packet_arrived(const ParsedPacket& packet) override {
        arrivals.push_back({packet.headers, {packet.payload.begin(), packet.payload.end()}});
    }
    void port_event(PortEvent event) override { events.push_back(event); }
    [[nodiscard]] bool wants_subnet_management() const override { return has_qp0; }
    [[nodiscard]] bool wants_general_services() const override { return has_qp1; }

    /// Removes and returns the oldest MAD.
    std::optional<Mad> take_mad() {
        if (arrivals.empty() || arrivals.front().payload.size() != mad_size)
            return std::nullopt;
        Mad mad{};
        std::ranges::copy(arrivals.front().payload, mad.begin());
        arrivals.erase(arrivals.begin());
        return mad;
    }
    [[nodiscard]] bool saw(PortEvent event) const { return std::ranges::contains(events, event); }

    bool has_qp0 = false;
    bool has_qp1 = false;
    std::vector<Arrival> arrivals;
    std::vector<PortEvent> events;
};

inline HcaPortSettings port_settings(unsigned number) {
    return {.name = "hca" + std::to_string(number) + "/1",
            .node_description = "node " + std::to_string(number),
            .node_guid = 0x0002'c903'0000'1000U + number,
            .port_guid = 0x0002'c903'0000'2000U + number,
            .system_image_guid = 0x0002'c903'0000'3000U + number,
            .device_id = 0x1017};
}

inline SwitchSettings switch_settings(std::uint8_t ports = 4) {
    return {.ports = ports,
            .node_guid = 0x0002'c903'0000'5000U,
            .system_image_guid = 0x0002'c903'0000'5001U};
}

/// A node with one port whose attributes are accessed directly.
struct LonePort {
    ManualLoop time;
    HcaPort port{time.loop, port_settings(0)};
    RecordingClient client;

    LonePort() { port.set_client(&client); }

    /// \return the response to an SMP; fails the test when there is none
    Mad ask(const Mad& request) {
        const auto response = port.process(request, {}, permissive_lid);
        return response && *response ? **response : Mad{};
    }
    bool gets_response(const Mad& request) {
        const auto response = port.process(request, {}, permissive_lid);
        return response.has_value() && response->has_value();
    }
};

} // namespace cxemu::fabric::testing
