// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// One port of an HCA: its endpoint of the link, its tables, its subnet and performance management
/// agents.
///
/// Received packets are delivered to the client (the HCA's transport), with these exceptions. The
/// port's own agent handles requests to QP0 while the client has no QP0. The port's own agent
/// always handles requests to the performance management agent, because the driver of Linux does
/// not implement them, so the firmware of real adapters must respond. Responses, traps and SMInfo
/// to a missing QP0 are dropped.
#pragma once

#include "base/event_loop.hpp"
#include "fabric/mad.hpp"
#include "fabric/managed_node.hpp"
#include "fabric/performance_agent.hpp"
#include "fabric/port.hpp"
#include "fabric/subnet_agent.hpp"

#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cxemu::fabric {

/// Port events that are reported to software.
enum class PortEvent : std::uint8_t {
    down,
    initialized,             ///< state Init: the link has been trained
    armed,                   ///<
    active,                  ///<
    lid_changed,             ///< LID or LMC
    p_key_table_changed,     ///<
    gid_table_changed,       ///< GUIDs or the prefix
    subnet_manager_changed,  ///< LID or SL of the subnet manager
    client_reregister,       ///< the subnet manager requests client reregistration
    capability_mask_changed, ///<
};

std::string_view name_of(PortEvent event);

/// The user of a port. All calls come from the event loop or from within calls to the port.
class PortClient {
public:
    virtual ~PortClient() = default;

    /// A packet for this port: its LID, a multicast LID, or the permissive LID on VL 15. Its CRCs
    /// are valid. The packet is valid during the call only.
    virtual void packet_arrived(const ParsedPacket& packet) = 0;

    virtual void port_event(PortEvent event) = 0;

    /// The host has QP0 (QP1) in a state in which it receives.
    [[nodiscard]] virtual bool wants_subnet_management() const = 0;
    [[nodiscard]] virtual bool wants_general_services() const = 0;
};

/// Configuration of a port.
struct HcaPortSettings {
    std::string name = "hca0/1";
    std::string node_description = "cxemu";
    Guid node_guid = 0;
    Guid port_guid = 0;
    Guid system_image_guid = 0;
    std::uint8_t number = 1;     ///< of this port in its node
    std::uint8_t node_ports = 1; ///< ports of the node
    std::uint16_t device_id = 0; ///< PCI device id
    std::uint32_t vendor_id = 0x00'02c9;
    std::uint32_t revision = 0;
    WidthMask widths = mask_of(LinkWidth::x1) | mask_of(LinkWidth::x4);
    SpeedMask speeds = speeds_up_to(LaneSpeed::edr);
    std::uint8_t mtu_cap = 5; ///< code: 1 = 256 bytes to 5 = 4096 bytes
    std::uint8_t vl_cap = 3;  ///< code: 1 = VL0, 2 = VL0-1, 3 = VL0-3, 4 = VL0-7, 5 = VL0-14
    std::uint16_t p_key_entries = 128; ///< a multiple of 32
    std::uint8_t gid_entries = 8;      ///< a multiple of 8
};

/// A packet with a P_Key or Q_Key violation.
struct KeyViolation {
    enum class Kind : std::uint8_t { p_key, q_key };
    Kind kind = Kind::p_key;
    std::uint32_t key = 0;
    std::uint8_t sl = 0;
    Lid source = 0;
    Lid destination = 0;
    std::uint32_t source_qp = 0;
    std::uint32_t destination_qp = 0;
    std::optional<Gid> source_gid = std::nullopt; ///< of packets with GRH
    std::optional<Gid> destination_gid = std::nullopt;
};

/// \return the notice details of the packet with these headers
/// \pre headers.datagram, if \p kind is q_key
KeyViolation key_violation(const PacketHeaders& headers, KeyViolation::Kind kind);

/// Key checks that MAD_IFC skips.
struct MadIfcFlags {
    bool ignore_management_key = false;
    bool ignore_baseboard_key = false;
};

class HcaPort final : private PortOwner, private ManagedNode, private CountedNode {
public:
    HcaPort(EventLoop& loop, const HcaPortSettings& settings);
    ~HcaPort() override;
    HcaPort(const HcaPort&) = delete;
    HcaPort& operator=(const HcaPort&) = delete;

    /// The endpoint of the link.
    [[nodiscard]] Port& port() { return port_; }
    [[nodiscard]] const Port& port() const { return port_; }

    /// Sets the receiver of packets and events; nullptr: none.
    void set_client(PortClient* client) { client_ = client; }

    /// Sends a packet. A packet to the port's own LID is looped back through the event loop; a
    /// multicast packet is not. The VL follows from the SL, unless the packet is on VL 15.
    /// \return false when the packet is discarded: port state, SL without VL, payload above the
    /// neighbor's MTU, or invalid LIDs (a port without LID can only send management packets)
    bool send(Packet packet);

    /// Passes a MAD of the host to the agents of the port (MAD_IFC).
    /// \param remote_lid LID of the requester
    /// \return the response; empty inside if the request has none (TrapRepress)
    std::expected<std::optional<Mad>, MadRefusal> process(const Mad& request, MadIfcFlags flags,
                                                          Lid remote_lid);

    // --- Attributes
    // ------------------------------------------------------------------------------

    [[nodiscard]] const HcaPortSettings& settings() const { return settings_; }
    [[nodiscard]] std::uint8_t number() const { return settings_.number; }

    [[nodiscard]] Lid lid() const;
    [[nodiscard]] std::uint8_t lmc() const;
    /// The low bits of a unicast LID that select a path to the port; 0 for others.
    [[nodiscard]] std::uint8_t path_bits(Lid destination) const;
    /// \return true when packets with this destination are for the port
    [[nodiscard]] bool has_lid(Lid lid) const;
    [[nodiscard]] Lid sm_lid() const;
    [[nodiscard]] std::uint8_t sm_sl() const;
    [[nodiscard]] std::uint8_t subnet_timeout() const;
    [[nodiscard]] std::uint8_t init_type_reply() const;
    [[nodiscard]] std::uint32_t capability_mask() const;
    [[nodiscard]] std::uint16_t capability_mask2() const;
    [[nodiscard]] std::uint16_t p_key_violations() const;
    [[nodiscard]] std::uint16_t q_key_violations() const;

    [[nodiscard]] PortState state() const { return port_.state(); }
    [[nodiscard]] PhysicalState physical_state() const { return port_.physical_state(); }
    /// Width and speed of the link; nothing while it is down.
    [[nodiscard]] std::optional<LinkRate> rate() const { return port_.rate(); }
    /// Largest payload, bytes.
    [[nodiscard]] std::size_t mtu() const { return port_.mtu(); }
    [[nodiscard]] const PortCounters& counters() const { return port_.counters(); }
    [[nodiscard]] const TrafficCounters& traffic() const { return port_.traffic(); }
    void clear_traffic() { port_.traffic() = {}; }

    [[nodiscard]] Guid node_guid() const { return identity_.node_guid; }
    [[nodiscard]] Guid port_guid() const { return guids_.front(); }
    [[nodiscard]] Guid system_image_guid() const { return identity_.system_image_guid; }
    [[nodiscard]] const std::string& node_description() const { return identity_.description; }

    [[nodiscard]] std::span<const std::uint16_t> p_keys() const { return port_.p_keys(); }
    /// \return the index of the first entry that matches a received P_Key
    [[nodiscard]] std::optional<std::size_t> find_p_key(std::uint16_t p_key) const;

    [[nodiscard]] std::size_t gid_count() const { return guids_.size(); }
    /// \pre index < gid_count()
    [[nodiscard]] Gid gid(std::size_t index) const;
    [[nodiscard]] bool has_gid(const Gid& gid) const;

    /// The data VL of an SL; nothing when packets are dropped.
    [[nodiscard]] std::optional<std::uint8_t> virtual_lane(std::uint8_t sl) const;

    // --- Changes by the host
    // -----------------------------------------------------------------

    void set_node_guid(Guid guid);
    void set_port_guid(Guid guid);
    void set_system_image_guid(Guid guid);
    /// \param text at most 64 bytes
    void set_node_description(const std::string& text);
    /// Replaces the bits of \p select by those of \p bits.
    void modify_capability_mask(std::uint32_t bits, std::uint32_t select);
    /// Bits of the capability mask that the host may change.
    [[nodiscard]] static std::uint32_t changeable_capabilities();

    /// Enables these widths and speeds, which must be within the capabilities, and retrains the
    /// link. Zero does not change the enabled ones.
    void enable_rates(WidthMask widths, SpeedMask speeds);
    /// Enables or disables the link.
    void set_enabled(bool enabled) { port_.set_enabled(enabled); }

    /// Counts the violation and sends a trap to the subnet manager.
    void report_violation(const KeyViolation& violation);

    /// Power-on reset: the link is retrained, settings of the subnet manager are cleared.
    void reset();

    /// Counters in addition to those of Port.
    struct Statistics {
        std::uint64_t dropped_smps = 0;      ///< to a QP0 that doesn't exist
        std::uint64_t dropped_other_lid = 0; ///< to a foreign LID
        std::uint64_t dropped_malformed = 0; ///< valid link layer, invalid transport headers
        std::uint64_t dropped_no_client = 0; ///<
        std::uint64_t agent_responses = 0;   ///< by the port's own agents on the wire
    };
    [[nodiscard]] const Statistics& statistics() const { return statistics_; }

private:
    // PortOwner
    void packet_received(Port& port, Packet packet, const Lrh& local) override;
    void port_state_changed(Port& port, PortState before) override;
    // ManagedNode
    [[nodiscard]] const NodeIdentity& identity() const override { return identity_; }
    [[nodiscard]] Port& management_port() override { return port_; }
    [[nodiscard]] Port* find_port(std::uint8_t number) override;
    [[nodiscard]] std::span<Guid> guids() override { return guids_; }
    void port_info_changed(Port& port, const PortInfoChanges& changes) override;
    void p_keys_changed(Port& port) override;
    void guids_changed() override;
    void set_description(std::string text) override;
    // CountedNode
    [[nodiscard]] PortCounters* counters(std::uint8_t port) override;
    [[nodiscard]] std::vector<std::uint8_t> all_ports() const override { return {}; }

    void notify_client(PortEvent event);
    void load_identity();
    void dispatch(const ParsedPacket& packet);
    void pass_to_client(const ParsedPacket& packet);
    void respond_to_subnet_management(const ParsedPacket& packet);
    void respond_to_general_services(const ParsedPacket& packet);
    bool send_trap(const Mad& trap);
    [[nodiscard]] std::optional<std::uint8_t> lane_of(const Lrh& local) const;
    void loop_back(Packet packet);

    EventLoop& loop_;
    HcaPortSettings settings_;
    NodeIdentity identity_;
    std::vector<Guid> guids_;
    Port port_;
    SubnetAgent subnet_agent_;
    PerformanceAgent performance_agent_;
    PortClient* client_ = nullptr;
    Statistics statistics_;
    std::shared_ptr<HcaPort*> self_; ///< for deferred calls: empty once the port is destroyed
};

} // namespace cxemu::fabric
