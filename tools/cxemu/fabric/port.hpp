// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// A port of any node: its endpoint of the link, its state machine, tables and counters.
#pragma once

#include "base/event_loop.hpp"
#include "fabric/link.hpp"
#include "fabric/port_state.hpp"
#include "hwtab/view.hpp"
#include "tables/datagrams.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <vector>

namespace cxemu::fabric {

class Port;

/// Kind of a port.
enum class PortRole : std::uint8_t {
    adapter,           ///< of a channel adapter
    switch_external,   ///< of a switch, with a link
    switch_management, ///< port 0 of a switch: no link, always active
};

/// The node that owns a port.
class PortOwner {
public:
    virtual ~PortOwner() = default;

    /// A packet that the link layer accepts in the present port state.
    virtual void packet_received(Port& port, Packet packet, const Lrh& local) = 0;

    virtual void port_state_changed(Port& port, PortState before) = 0;
};

/// CapabilityMask of PortInfo with these bits: hwtab::port_capability_mask
template <hwtab::FixedString... names>
inline constexpr auto capability_mask_of =
    static_cast<std::uint32_t>((hwtab::value<hwtab::port_capability_mask, names> | ...));

/// Increments a violation counter of PortInfo, which saturates.
template <hwtab::FixedString field>
void increment_violations(hwtab::View<hwtab::port_info> settings) {
    constexpr std::uint64_t largest = 0xffff;
    const auto count = settings.get<field>();
    if (count < largest)
        settings.set<field>(count + 1);
}

/// Fixed capabilities of a port.
struct PortCapabilities {
    WidthMask widths = mask_of(LinkWidth::x1) | mask_of(LinkWidth::x4);
    SpeedMask speeds = speeds_up_to(LaneSpeed::edr);
    std::uint8_t mtu_cap = 5; ///< hwtab::mtu_code
    std::uint8_t vl_cap = 3;  ///< hwtab::vl_cap
    std::uint8_t vl_arbitration_entries = 8;
    std::uint16_t p_key_entries = 128;
    std::uint8_t gid_entries = 8;
    std::uint32_t capability_mask = 0;
    std::uint16_t capability_mask2 = 0;
    std::uint8_t inputs = 1; ///< number of input ports with an SL-to-VL mapping to this one
};

/// Bytes of a PortInfo attribute.
using PortInfoBytes = std::array<std::byte, hwtab::port_info.size>;
using SlToVlTable = std::array<std::byte, hwtab::sl_to_vl_mapping_table.size>;
using VlArbitrationBlock = std::array<std::byte, hwtab::vl_arbitration_table.size>;

/// Changes of a Set(PortInfo).
struct PortInfoChanges {
    bool lid = false;
    bool subnet_manager = false;
    bool gid_prefix = false;
    bool client_reregister = false;
    bool link_width_enabled = false;
    bool link_speed_enabled = false;
    bool protection = false; ///< M_Key, protect bits or lease period
};

class Port final : public Endpoint {
public:
    Port(PortRole role, std::uint8_t number, const PortCapabilities& capabilities,
         PortOwner& owner);

    [[nodiscard]] PortRole role() const { return role_; }
    [[nodiscard]] std::uint8_t number() const { return number_; }
    [[nodiscard]] const PortCapabilities& capabilities() const { return capabilities_; }

    /// Connects the link; nullptr: none. Called by the builder of the fabric.
    void connect(Link* link);
    [[nodiscard]] Link* link() const { return link_; }

    /// Sends a complete packet.
    /// \param local the LRH of the packet
    /// \return false when it is discarded: port state, size, no link
    bool transmit(Packet packet, const Lrh& local);

    // --- State
    // ------------------------------------------------------------------------------------

    [[nodiscard]] PortState state() const { return state_; }
    [[nodiscard]] PhysicalState physical_state() const;
    [[nodiscard]] std::optional<LinkRate> rate() const { return rate_; }

    /// Power-on reset: settings of the subnet manager and tables are cleared, the link is
    /// retrained.
    void reset();

    // --- Attributes
    // -------------------------------------------------------------------------------

    /// PortInfo for an SMP. \param local_port port that received the request
    [[nodiscard]] PortInfoBytes port_info(std::uint8_t local_port) const;

    /// Set(PortInfo): takes over all writable fields, or nothing when a field is invalid. \return
    /// the changes, or nothing when a field is invalid
    std::optional<PortInfoChanges> set_port_info(std::span<const std::byte> wanted);

    /// Settings, without dynamic fields (states, active rates, violations).
    [[nodiscard]] hwtab::ConstView<hwtab::port_info> settings() const {
        return hwtab::ConstView<hwtab::port_info>(settings_);
    }
    [[nodiscard]] hwtab::View<hwtab::port_info> settings() {
        return hwtab::View<hwtab::port_info>(settings_);
    }

    [[nodiscard]] std::span<const std::uint16_t> p_keys() const { return p_keys_; }
    [[nodiscard]] std::span<std::uint16_t> p_keys() { return p_keys_; }
    [[nodiscard]] bool accepts_p_key(std::uint16_t p_key) const;

    /// \pre input < capabilities().inputs
    [[nodiscard]] SlToVlTable& sl_to_vl(std::size_t input) { return sl_to_vl_[input]; }
    /// The VL of packets with \p sl received at port \p input of the node; nothing when they are
    /// dropped. \pre input < capabilities().inputs
    [[nodiscard]] std::optional<std::uint8_t> virtual_lane(std::size_t input,
                                                           std::uint8_t sl) const;
    /// Blocks 1 to 4: low-priority table, lower and upper half, then the high-priority table.
    [[nodiscard]] VlArbitrationBlock& vl_arbitration(std::size_t block) {
        return vl_arbitration_[block - 1];
    }

    /// Largest payload in bytes, and number of data VLs, as set by the subnet manager.
    [[nodiscard]] std::size_t mtu() const;
    [[nodiscard]] std::uint8_t data_lanes() const;
    /// The maximum that the port supports.
    [[nodiscard]] std::size_t largest_mtu() const;
    [[nodiscard]] std::uint8_t supported_data_lanes() const;

    [[nodiscard]] PortCounters& counters() { return counters_; }
    [[nodiscard]] const PortCounters& counters() const { return counters_; }
    [[nodiscard]] TrafficCounters& traffic() { return traffic_; }
    [[nodiscard]] const TrafficCounters& traffic() const { return traffic_; }

    /// The host enables widths and speeds by register access; zero leaves them unchanged.
    void enable_rates(WidthMask widths, SpeedMask speeds);
    /// The host enables or disables the port by register access.
    void set_enabled(bool enabled);
    [[nodiscard]] bool enabled() const { return training_ != LinkOffer::Training::off; }
    [[nodiscard]] WidthMask enabled_widths() const;
    [[nodiscard]] SpeedMask enabled_speeds() const;

    // --- Endpoint
    // ---------------------------------------------------------------------------------

    void receive(Packet packet) override;
    void link_changed(std::optional<LinkRate> rate) override;
    [[nodiscard]] LinkOffer link_offer() const override;

private:
    void load_defaults();
    void change_state(PortState state);
    [[nodiscard]] bool may_carry(std::uint8_t vl) const;
    [[nodiscard]] static bool fits(std::size_t packet_size, std::size_t payload);
    void count_received(const Packet& packet, const Lrh& local);
    void count_transmitted(const Packet& packet, const Lrh& local);
    [[nodiscard]] LinkOffer::Training default_training() const;
    void retrain(LinkOffer::Training training);
    void apply(hwtab::ConstView<hwtab::port_info> wanted, PortInfoChanges& changes);
    void apply_rates(hwtab::ConstView<hwtab::port_info> wanted, PortInfoChanges& changes);
    void apply_state(hwtab::ConstView<hwtab::port_info> wanted);

    PortRole role_;
    std::uint8_t number_;
    PortCapabilities capabilities_;
    PortOwner& owner_;
    Link* link_ = nullptr;
    PortState state_ = PortState::down;
    LinkOffer::Training training_ = LinkOffer::Training::polling;
    std::optional<LinkRate> rate_;
    PortInfoBytes settings_{};
    std::vector<std::uint16_t> p_keys_;
    std::vector<SlToVlTable> sl_to_vl_;
    std::array<VlArbitrationBlock, 4> vl_arbitration_{};
    PortCounters counters_;
    TrafficCounters traffic_;
};

} // namespace cxemu::fabric
