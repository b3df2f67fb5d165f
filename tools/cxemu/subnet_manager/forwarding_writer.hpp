// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Writes forwarding tables to switches, but only the blocks that differ from those written before.
#pragma once

#include "subnet_manager/routing.hpp"
#include "subnet_manager/smp_exchange.hpp"

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace cxemu::subnet_manager {

/// The tables that a switch shall have.
struct SwitchTables {
    SubnetNode node; ///< as discovered
    LinearTable linear;
    std::map<Lid, std::set<std::uint8_t>> multicast;
};

class ForwardingWriter {
public:
    using Tables = std::map<Guid, SwitchTables>; ///< by node GUID
    using Done = std::function<void(bool complete)>;

    ForwardingWriter(SmpExchange& exchange, const std::uint8_t& packet_life_time)
        : exchange_(exchange), packet_life_time_(packet_life_time) {}

    /// Writes the tables, after all tables that are being written: the repetition of an older block
    /// must not replace a newer one.
    void write(Tables tables, Done done);

    /// The switch has lost its tables, or another manager may have written them.
    void forget(Guid node) { written_.erase(node); }
    /// Forgets all tables, including those that are being written. The caller has called
    /// SmpExchange::cancel().
    void reset();

private:
    using Block = std::array<std::byte, fabric::smp_data_size>;
    using BlockKey = std::pair<std::uint64_t, std::uint32_t>; ///< attribute, modifier
    using Blocks = std::map<BlockKey, Block>;

    static Blocks blocks_of(const SwitchTables& tables);
    static void add_linear(const SwitchTables& tables, Blocks& blocks);
    static void add_multicast(const SwitchTables& tables, Blocks& blocks);
    void write_blocks();
    void write_switch_info();
    void set(Guid node, const Path& path, BlockKey key, const Block& block);
    void set_finished(bool succeeded);
    void finish();

    SmpExchange& exchange_;
    const std::uint8_t& packet_life_time_;
    std::map<Guid, Blocks> written_;
    Tables tables_; ///< being written
    std::vector<Done> done_;
    std::size_t pending_ = 0;
    bool complete_ = true;
    bool busy_ = false;
    bool blocks_are_written_ = false;
    std::optional<Tables> next_;
    std::vector<Done> next_done_;
};

} // namespace cxemu::subnet_manager
