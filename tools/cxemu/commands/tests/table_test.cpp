// SPDX-License-Identifier: GPL-2.0-or-later
#include "commands/table.hpp"
#include "tables/all.hpp"

#include <gtest/gtest.h>
#include <set>
#include <spdlog/fmt/fmt.h>

namespace cxemu::commands {
namespace {

/// Commands that InfiniBand verbs need, from bring-up to DEVX.
constexpr std::array needed{
    // Bring-up, pages, capabilities.
    0x100, 0x101, 0x102, 0x103, 0x104, 0x105, 0x107, 0x108, 0x109, 0x10a, 0x10b, 0x10d, 0x80d,
    // Mkeys and signatures.
    0x200, 0x201, 0x202, 0x203, 0x600, 0x601,
    // Event and CQs.
    0x301, 0x302, 0x303, 0x304, 0x400, 0x401, 0x402, 0x403,
    // QPs.
    0x500, 0x501, 0x502, 0x503, 0x504, 0x505, 0x506, 0x507, 0x50a, 0x50b, 0x50c, 0x50e,
    // SRQs.
    0x700, 0x701, 0x702, 0x703, 0x705, 0x706, 0x707, 0x708, 0x90c, 0x90d, 0x90e, 0x90f,
    // Ports, counters, registers, multicast.
    0x50d, 0x750, 0x762, 0x763, 0x764, 0x765, 0x76f, 0x770, 0x771, 0x772, 0x773, 0x805, 0x806,
    0x807,
    // PD, UAR, XRCD, UCTX, UMEM.
    0x800, 0x801, 0x802, 0x803, 0x80e, 0x80f, 0x816, 0x817, 0xa04, 0xa06, 0xa08, 0xa0a};

TEST(CommandTable, CommandsNeededByVerbsFound) {
    const auto table = all_commands();
    for (const int opcode : needed)
        EXPECT_NE(table.find(static_cast<std::uint16_t>(opcode)), nullptr)
            << fmt::format("{:#x}", opcode);
}

TEST(CommandTable, CommandInOneSubjectOnly) {
    std::set<std::uint16_t> seen;
    for (const auto subject :
         {device_commands, object_commands, event_commands, completion_queue_commands,
          memory_commands, receive_queue_commands, queue_pair_commands, multicast_commands,
          port_commands, counter_commands}) {
        for (const hca::CommandEntry& entry : subject())
            EXPECT_TRUE(seen.insert(entry.command->opcode).second) << entry.command->name;
    }
}

// Linux writes the uid into each command of a user process.
TEST(CommandTable, EveryCommandHasUid) {
    for (const hwtab::Group* group : hwtab::all_groups) {
        for (const hwtab::Command* command : group->commands) {
            const auto target = hwtab::locate(*command->input, "uid");
            ASSERT_NE(target.field, nullptr) << command->name;
            EXPECT_EQ(target.field->width, 16U) << command->name;
        }
    }
}

} // namespace
} // namespace cxemu::commands
