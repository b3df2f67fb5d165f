// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// A switch: forwards by LID, relays directed-route SMPs, and is managed through its port 0.
#pragma once

#include "base/event_loop.hpp"
#include "fabric/directed_route.hpp"
#include "fabric/forwarding_tables.hpp"
#include "fabric/managed_node.hpp"
#include "fabric/performance_agent.hpp"
#include "fabric/port.hpp"
#include "fabric/subnet_agent.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace cxemu::fabric {

struct SwitchSettings {
    std::string name = "switch0";
    std::string description = "cxemu switch";
    std::uint8_t ports = 8; ///< external ones, at most 254
    Guid node_guid = 0;
    Guid system_image_guid = 0;
    std::uint16_t device_id = 0;
    std::uint32_t vendor_id =
        0x52'5400; ///< QEMU's, so that tools send no vendor-specific MADs to the switch
    bool enhanced_port0 = true;
    WidthMask widths = mask_of(LinkWidth::x1) | mask_of(LinkWidth::x4);
    SpeedMask speeds = speeds_up_to(LaneSpeed::ndr);
    std::uint8_t mtu_cap = 5; ///< hwtab::mtu_code
    std::uint8_t vl_cap = 4;  ///< hwtab::vl_cap
    std::uint16_t p_key_entries = 32;
    ForwardingCapacity capacity{};
};

/// The subnet manager that is embedded in a switch, at its port 0.
class EmbeddedManager {
public:
    virtual ~EmbeddedManager() = default;

    /// A response, a trap or SMInfo to QP0. \param origin its sender, for a response
    virtual void smp_arrived(const Mad& smp, const MadOrigin& origin) = 0;

    /// A MAD of subnet administration to QP1. The packet is valid during the call only.
    virtual void administration_arrived(const ParsedPacket& packet, const Mad& mad) = 0;
};

class Switch final : private PortOwner, private ManagedNode, private CountedNode {
public:
    Switch(EventLoop& loop, const SwitchSettings& settings);
    ~Switch() override;
    Switch(const Switch&) = delete;
    Switch& operator=(const Switch&) = delete;

    [[nodiscard]] const SwitchSettings& settings() const { return settings_; }

    /// \pre number <= settings().ports; 0 is the management port
    [[nodiscard]] Port& port(std::uint8_t number) { return *ports_[number]; }
    [[nodiscard]] ForwardingTables& tables() { return tables_; }
    [[nodiscard]] SubnetAgent& subnet_agent() { return subnet_agent_; }

    /// Sets the subnet manager at port 0; nullptr removes it. It must outlive the switch or be
    /// removed before. PortInfo announces it (IsSM), and trap 144 reports the change.
    void set_manager(EmbeddedManager* manager);
    /// Sends trap 144 to the master, because the embedded manager has a higher priority.
    void report_manager_priority() {
        subnet_agent_.report_local_change(LocalChange::manager_priority);
    }
    /// Sends an SMP of the manager: a directed-route one along its path, another to
    /// \p destination. \return false when there is no path
    bool send_smp(Mad smp, Lid destination = permissive_lid);
    /// Sends the manager's response to an SMP that came from \p origin.
    void respond_to_smp(Mad reply, const MadOrigin& origin);
    /// Sends a packet of the manager's QP1.
    void send_from_port0(Packet packet);

    struct Statistics {
        std::uint64_t forwarded = 0;
        std::uint64_t relayed_smps = 0;    ///< directed route
        std::uint64_t agent_responses = 0; ///< by the agents
        std::uint64_t dropped_smps = 0;    ///< no path or no receiver
        std::uint64_t dropped_routing = 0; ///< no forwarding table entry, or no VL
        std::uint64_t dropped_filter = 0;  ///< P_Key enforcement, raw packets
        std::uint64_t dropped_local = 0;   ///< to the switch itself, but unsupported
    };
    [[nodiscard]] const Statistics& statistics() const { return statistics_; }

private:
    // PortOwner
    void packet_received(Port& port, Packet packet, const Lrh& local) override;
    void port_state_changed(Port& port, PortState before) override;
    // ManagedNode
    [[nodiscard]] const NodeIdentity& identity() const override { return identity_; }
    [[nodiscard]] Port& management_port() override { return *ports_.front(); }
    [[nodiscard]] Port* find_port(std::uint8_t number) override;
    [[nodiscard]] std::span<Guid> guids() override { return guids_; }
    [[nodiscard]] ForwardingTables* forwarding_tables() override { return &tables_; }
    void port_info_changed(Port& port, const PortInfoChanges& changes) override;
    void p_keys_changed(Port& /*port*/) override {}
    void guids_changed() override {}
    void set_description(std::string text) override;
    // CountedNode
    [[nodiscard]] PortCounters* counters(std::uint8_t port) override;
    [[nodiscard]] std::vector<std::uint8_t> all_ports() const override;

    [[nodiscard]] Lid lid() const;
    [[nodiscard]] bool is_mine(Lid lid) const;
    [[nodiscard]] RoutingNode routing_node(std::uint8_t arrival) const;

    // Data
    [[nodiscard]] bool passes_inbound(Port& port, const Packet& packet, const Lrh& local);
    [[nodiscard]] bool passes_outbound(Port& port, const Packet& packet, const Lrh& local);
    void forward_unicast(std::uint8_t arrival, Packet packet, const Lrh& local);
    void forward_multicast(std::uint8_t arrival, const Packet& packet, const Lrh& local);
    void send_out(std::uint8_t arrival, std::uint8_t departure, Packet packet, Lrh local);
    void receive_locally(std::uint8_t arrival, const Packet& packet);

    // Management
    void handle_smp(std::uint8_t arrival, Packet packet, const Lrh& local);
    void relay_smp(const ParsedPacket& packet, Mad& smp, std::uint8_t arrival);
    void deliver_smp(const Mad& smp, const MadOrigin& origin);
    void deliver_general_services(const ParsedPacket& packet);
    void respond_to_general_services(const ParsedPacket& packet, const Mad& mad);
    void loop_back(Packet packet);
    bool send_trap(const Mad& trap);

    EventLoop& loop_;
    SwitchSettings settings_;
    NodeIdentity identity_;
    std::vector<Guid> guids_;
    std::vector<std::unique_ptr<Port>> ports_; ///< by number
    ForwardingTables tables_;
    SubnetAgent subnet_agent_;
    PerformanceAgent performance_agent_;
    EmbeddedManager* manager_ = nullptr;
    Statistics statistics_;
    std::shared_ptr<Switch*> self_; ///< for deferred calls: empty once the switch is destroyed
};

} // namespace cxemu::fabric
