// SPDX-License-Identifier: GPL-2.0-or-later
#include "subnet_manager/forwarding_writer.hpp"

#include "fabric/forwarding_tables.hpp"

#include <algorithm>
#include <utility>

namespace cxemu::subnet_manager {
namespace {

using fabric::ForwardingTables;

constexpr std::uint64_t switch_info_id = hwtab::value<hwtab::smp_attribute, "switch_info">;
constexpr std::uint64_t linear_id = hwtab::value<hwtab::smp_attribute, "linear_forward_table">;
constexpr std::uint64_t multicast_id = hwtab::value<hwtab::smp_attribute, "mcast_forward_table">;

constexpr std::size_t ports_of_mask = 16;
constexpr std::uint32_t position_shift = 28; ///< of the attribute modifier

bool has_multicast_top(const SubnetNode& node) {
    const auto port0 = node.ports.find(0);
    return port0 != node.ports.end() && (port0->second.view().get<"capability_mask">() &
                                         fabric::capability_mask_of<"mcast_fdb_top_sup">) != 0;
}

/// The multicast LID up to which the switch forwards. Without such a limit, the entries after the
/// last group must also be written, because another manager may have used them.
Lid multicast_top(const SwitchTables& tables) {
    constexpr std::uint64_t multicast_lids = fabric::permissive_lid - fabric::first_multicast_lid;
    if (!has_multicast_top(tables.node))
        return static_cast<Lid>(
            fabric::first_multicast_lid - 1 +
            std::min(multicast_lids, tables.node.switch_view().get<"multicast_fdb_cap">()));
    return tables.multicast.empty() ? static_cast<Lid>(fabric::first_multicast_lid - 1)
                                    : tables.multicast.rbegin()->first;
}

} // namespace

void ForwardingWriter::reset() {
    written_.clear();
    done_.clear();
    next_done_.clear();
    next_.reset();
    pending_ = 0;
    busy_ = false;
}

void ForwardingWriter::write(Tables tables, Done done) {
    if (busy_) {
        next_ = std::move(tables);
        next_done_.push_back(std::move(done));
        return;
    }
    busy_ = true;
    complete_ = true;
    tables_ = std::move(tables);
    done_.push_back(std::move(done));
    std::erase_if(written_, [this](const auto& entry) { return !tables_.contains(entry.first); });
    write_blocks();
}

// --- Blocks --------------------------------------------------------------------------------------

ForwardingWriter::Blocks ForwardingWriter::blocks_of(const SwitchTables& tables) {
    Blocks blocks;
    add_linear(tables, blocks);
    add_multicast(tables, blocks);
    return blocks;
}

void ForwardingWriter::add_linear(const SwitchTables& tables, Blocks& blocks) {
    for (std::size_t lid = 0; lid < tables.linear.size(); ++lid) {
        const auto number = static_cast<std::uint32_t>(lid / ForwardingTables::linear_block);
        Block empty;
        empty.fill(std::byte{ForwardingTables::no_port});
        Block& block = blocks.try_emplace({linear_id, number}, empty).first->second;
        block[lid % ForwardingTables::linear_block] = std::byte{tables.linear[lid]};
    }
}

void ForwardingWriter::add_multicast(const SwitchTables& tables, Blocks& blocks) {
    const auto ports = static_cast<std::size_t>(tables.node.view().get<"num_ports">());
    const std::size_t last = multicast_top(tables);
    const auto key = [](std::size_t index, std::size_t position) {
        const auto block = static_cast<std::uint32_t>(index / ForwardingTables::multicast_block);
        return BlockKey{multicast_id,
                        block | (static_cast<std::uint32_t>(position) << position_shift)};
    };
    for (std::size_t lid = fabric::first_multicast_lid; lid <= last; ++lid) {
        const std::size_t index = lid - fabric::first_multicast_lid;
        for (std::size_t position = 0; position * ports_of_mask <= ports; ++position)
            blocks.try_emplace(key(index, position));
    }
    for (const auto& [lid, members] : tables.multicast) {
        const std::size_t index = lid - fabric::first_multicast_lid;
        for (const std::uint8_t port : members) {
            const auto block = blocks.find(key(index, port / ports_of_mask));
            if (block == blocks.end())
                continue;
            const hwtab::View<hwtab::multicast_forwarding_table> view(block->second);
            const std::size_t entry = index % ForwardingTables::multicast_block;
            view.set_at<"port_mask_block">(entry, view.get_at<"port_mask_block">(entry) |
                                                      (1U << (port % ports_of_mask)));
        }
    }
}

// --- Steps ---------------------------------------------------------------------------------------

void ForwardingWriter::write_blocks() {
    blocks_are_written_ = false;
    ++pending_; // until all are sent
    for (const auto& [guid, tables] : tables_)
        for (const auto& [key, block] : blocks_of(tables))
            set(guid, tables.node.path, key, block);
    set_finished(true);
}

/// The limits follow the blocks: entries below them are valid.
void ForwardingWriter::write_switch_info() {
    blocks_are_written_ = true;
    ++pending_;
    for (const auto& [guid, tables] : tables_) {
        Block block{};
        std::ranges::copy(tables.node.switch_info, block.begin());
        const hwtab::View<hwtab::switch_info> info(block);
        info.set<"linear_fdb_top">(tables.linear.empty() ? 0 : tables.linear.size() - 1);
        info.set<"multicast_fdb_top">(has_multicast_top(tables.node) ? multicast_top(tables) : 0);
        info.set<"life_time_value">(packet_life_time_);
        info.set<"port_state_change">(0); // written 1 to clear
        set(guid, tables.node.path, {switch_info_id, 0}, block);
    }
    set_finished(true);
}

void ForwardingWriter::set(Guid node, const Path& path, BlockKey key, const Block& block) {
    Blocks& written = written_[node];
    const auto before = written.find(key);
    if (before != written.end() && before->second == block)
        return;
    written.erase(key);
    ++pending_;
    exchange_.request(directed_smp(fabric::MadMethod::set, key.first, path, key.second, block),
                      [this, node, key, block](const fabric::Mad* response) {
                          const bool succeeded = response != nullptr && status_of(*response) == 0;
                          if (succeeded)
                              written_[node][key] = block;
                          set_finished(succeeded);
                      });
}

void ForwardingWriter::set_finished(bool succeeded) {
    complete_ = complete_ && succeeded;
    if (--pending_ != 0)
        return;
    if (blocks_are_written_)
        finish();
    else
        write_switch_info();
}

void ForwardingWriter::finish() {
    busy_ = false;
    const auto done = std::exchange(done_, {});
    const bool complete = complete_;
    if (auto next = std::exchange(next_, std::nullopt)) {
        auto waiting = std::exchange(next_done_, {});
        write(*std::move(next), [waiting = std::move(waiting)](bool success) {
            for (const Done& call : waiting)
                call(success);
        });
    }
    for (const Done& call : done)
        call(complete);
}

} // namespace cxemu::subnet_manager
