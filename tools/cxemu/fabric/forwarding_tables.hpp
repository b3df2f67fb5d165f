// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Forwarding tables of a switch, in the blocks of SMP attributes.
#pragma once

#include "fabric/identifiers.hpp"
#include "hwtab/view.hpp"
#include "tables/datagrams.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace cxemu::fabric {

/// A set of ports of one switch, including port 0.
class PortSet {
public:
    void insert(std::uint8_t port) { words_[port / 64] |= bit(port); }
    void erase(std::uint8_t port) { words_[port / 64] &= ~bit(port); }
    [[nodiscard]] bool contains(std::uint8_t port) const {
        return (words_[port / 64] & bit(port)) != 0;
    }
    [[nodiscard]] bool empty() const { return words_ == std::array<std::uint64_t, 4>{}; }

    /// Ports 16 * position to 16 * position + 15, as in MulticastForwardingTable.
    [[nodiscard]] std::uint16_t mask(std::size_t position) const {
        return static_cast<std::uint16_t>(words_[position / 4] >> shift(position));
    }
    void set_mask(std::size_t position, std::uint16_t mask) {
        std::uint64_t& word = words_[position / 4];
        word &= ~(std::uint64_t{0xffff} << shift(position));
        word |= std::uint64_t{mask} << shift(position);
    }

private:
    static constexpr std::uint64_t bit(std::uint8_t port) {
        return std::uint64_t{1} << (port % 64);
    }
    static constexpr std::uint64_t shift(std::size_t position) { return (position % 4) * 16; }

    std::array<std::uint64_t, 4> words_{};
};

/// Table sizes of a switch.
struct ForwardingCapacity {
    std::uint16_t linear_entries = 0xc000;    ///< LIDs 0 to linear_entries - 1
    std::uint16_t multicast_entries = 0x1000; ///< LIDs from 0xc000 on
};

class ForwardingTables {
public:
    static constexpr std::uint8_t no_port = 255; ///< entry of dropped LIDs
    static constexpr std::size_t linear_block = 64;
    static constexpr std::size_t multicast_block = 32;

    /// \param ports external ports of the switch
    ForwardingTables(std::uint8_t ports, const ForwardingCapacity& capacity);

    /// The output port of a unicast LID; nothing: the packet is dropped.
    [[nodiscard]] std::optional<std::uint8_t> linear(Lid lid) const;

    /// The output ports of a multicast packet received at \p arrival, which is never among them.
    [[nodiscard]] PortSet multicast(Lid lid, std::uint8_t arrival) const;

    /// SwitchInfo: capacities, tops, default ports, life time. The switch maintains
    /// PortStateChange.
    [[nodiscard]] hwtab::View<hwtab::switch_info> info() {
        return hwtab::View<hwtab::switch_info>(info_);
    }
    [[nodiscard]] hwtab::ConstView<hwtab::switch_info> info() const {
        return hwtab::ConstView<hwtab::switch_info>(info_);
    }
    /// Set(SwitchInfo). \return false when a field is invalid; nothing is changed then
    bool set_info(hwtab::ConstView<hwtab::switch_info> wanted);

    /// A block of 64 entries, as bytes. \return empty for a block beyond the table
    [[nodiscard]] std::span<std::byte> linear_entries(std::size_t block);

    /// A block of 32 entries for ports 16 * position and following.
    /// \return false for a block or position beyond the table
    [[nodiscard]] bool read_multicast(std::size_t block, std::size_t position,
                                      std::span<std::byte> out) const;
    bool write_multicast(std::size_t block, std::size_t position, std::span<const std::byte> in);

    void reset();

private:
    [[nodiscard]] bool has_multicast(std::size_t block, std::size_t position) const;

    std::uint8_t ports_;
    ForwardingCapacity capacity_;
    std::array<std::byte, hwtab::switch_info.size> info_{};
    std::vector<std::byte> linear_;
    std::vector<PortSet> multicast_;
};

} // namespace cxemu::fabric
