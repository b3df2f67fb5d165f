// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/forwarding_tables.hpp"

#include <algorithm>

namespace cxemu::fabric {
namespace {

constexpr std::size_t ports_per_position = 16;

using BlockView = hwtab::View<hwtab::multicast_forwarding_table>;
using ConstBlockView = hwtab::ConstView<hwtab::multicast_forwarding_table>;

} // namespace

ForwardingTables::ForwardingTables(std::uint8_t ports, const ForwardingCapacity& capacity)
    : ports_(ports), capacity_(capacity) {
    reset();
}

void ForwardingTables::reset() {
    info_ = {};
    const auto view = info();
    view.set<"linear_fdb_cap">(capacity_.linear_entries);
    view.set<"multicast_fdb_cap">(capacity_.multicast_entries);
    view.set<"default_port">(no_port);
    view.set<"default_multicast_primary_port">(no_port);
    view.set<"default_multicast_not_primary_port">(no_port);
    linear_.assign(capacity_.linear_entries, static_cast<std::byte>(no_port));
    multicast_.assign(capacity_.multicast_entries, PortSet{});
}

std::optional<std::uint8_t> ForwardingTables::linear(Lid lid) const {
    if (lid >= linear_.size() || lid > info().get<"linear_fdb_top">())
        return std::nullopt;
    const auto port = std::to_integer<std::uint8_t>(linear_[lid]);
    return port <= ports_ ? std::optional(port) : std::nullopt;
}

PortSet ForwardingTables::multicast(Lid lid, std::uint8_t arrival) const {
    const std::size_t index = lid - first_multicast_lid;
    // A subnet manager that does not know the field sets it to zero.
    const auto top = info().get<"multicast_fdb_top">();
    const bool known = index < multicast_.size() && (top == 0 || lid <= top);
    PortSet ports = known ? multicast_[index] : PortSet{};
    if (ports.empty()) {
        const auto primary = info().get<"default_multicast_primary_port">();
        const auto other = info().get<"default_multicast_not_primary_port">();
        const auto port = static_cast<std::uint8_t>(arrival == primary ? other : primary);
        if (port <= ports_)
            ports.insert(port);
    }
    ports.erase(arrival);
    return ports;
}

bool ForwardingTables::set_info(hwtab::ConstView<hwtab::switch_info> wanted) {
    const auto is_port = [this](std::uint64_t port) { return port <= ports_ || port == no_port; };
    const auto top = wanted.get<"linear_fdb_top">();
    const auto multicast_top = wanted.get<"multicast_fdb_top">();
    const bool multicast_top_is_valid =
        multicast_top == 0 || (multicast_top >= first_multicast_lid - 1U &&
                               multicast_top < first_multicast_lid + multicast_.size());
    if (top >= linear_.size() || !multicast_top_is_valid ||
        !is_port(wanted.get<"default_multicast_primary_port">()) ||
        !is_port(wanted.get<"default_multicast_not_primary_port">()))
        return false;
    const auto view = info();
    view.set<"linear_fdb_top">(top);
    view.set<"multicast_fdb_top">(multicast_top);
    view.set<"default_port">(wanted.get<"default_port">());
    view.set<"default_multicast_primary_port">(wanted.get<"default_multicast_primary_port">());
    view.set<"default_multicast_not_primary_port">(
        wanted.get<"default_multicast_not_primary_port">());
    view.set<"life_time_value">(wanted.get<"life_time_value">());
    return true;
}

std::span<std::byte> ForwardingTables::linear_entries(std::size_t block) {
    if ((block + 1) * linear_block > linear_.size())
        return {};
    return std::span(linear_).subspan(block * linear_block, linear_block);
}

bool ForwardingTables::has_multicast(std::size_t block, std::size_t position) const {
    return (block + 1) * multicast_block <= multicast_.size() &&
           position * ports_per_position <= ports_;
}

bool ForwardingTables::read_multicast(std::size_t block, std::size_t position,
                                      std::span<std::byte> out) const {
    if (!has_multicast(block, position))
        return false;
    for (std::size_t i = 0; i < multicast_block; ++i)
        BlockView(out).set_at<"port_mask_block">(
            i, multicast_[(block * multicast_block) + i].mask(position));
    return true;
}

bool ForwardingTables::write_multicast(std::size_t block, std::size_t position,
                                       std::span<const std::byte> in) {
    if (!has_multicast(block, position))
        return false;
    const std::size_t left = ports_ + 1 - (position * ports_per_position);
    const auto existing =
        static_cast<std::uint16_t>(left >= ports_per_position ? 0xffffU : (1U << left) - 1);
    for (std::size_t i = 0; i < multicast_block; ++i) {
        const auto mask = ConstBlockView(in).get_at<"port_mask_block">(i) & existing;
        multicast_[(block * multicast_block) + i].set_mask(position,
                                                           static_cast<std::uint16_t>(mask));
    }
    return true;
}

} // namespace cxemu::fabric
