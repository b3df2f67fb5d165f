// SPDX-License-Identifier: GPL-2.0-or-later
//
// The address spaces behind the PCI gateway, as iPXE uses them.
#include "commands/table.hpp"
#include "hca/internal_spaces.hpp"
#include "hca/testing/host.hpp"
#include "tables/commands_device.hpp"
#include "tables/registers.hpp"

#include <gtest/gtest.h>

namespace cxemu::commands {
namespace {

using hca::InternalSpaces;
using hca::testing::Host;

// Addresses and codes of iPXE: mlx_icmd.h, mlx_icmd.c, mlx_reg_access.h.
constexpr std::uint32_t control = 0x0;
constexpr std::uint32_t mailbox_size = 0x1000;
constexpr std::uint32_t mailbox = 0x10'0000;
constexpr std::uint32_t access_opcode = 0x9001;
constexpr std::uint32_t query = 1;
constexpr std::uint32_t write = 2;

constexpr std::uint32_t host_endianness_words = 4;

class InternalSpacesTest : public ::testing::Test {
protected:
    void SetUp() override {
        host.start_queue();
        host.execute<hwtab::cmd_enable_hca>();
    }

    std::optional<std::uint32_t> word(std::uint32_t address) {
        return host.hca.space_read(InternalSpaces::commands, address);
    }
    bool set_word(std::uint32_t address, std::uint32_t value) {
        return host.hca.space_write(InternalSpaces::commands, address, value);
    }
    /// Executes the command in the mailbox. \return its status
    std::uint32_t go(std::uint32_t opcode) {
        EXPECT_TRUE(set_word(control, (opcode << 16U) | 1U));
        const std::uint32_t now = word(control).value_or(1);
        EXPECT_EQ(now & 1U, 0U) << "busy";
        EXPECT_EQ(now >> 16U, opcode);
        return now >> 8U & 0xffU;
    }
    /// Fills the mailbox, but for the register's contents.
    void fill(std::uint32_t id, std::uint32_t method, std::uint32_t words) {
        set_word(mailbox, 1U << 27U | 4U << 16U);
        set_word(mailbox + 4, id << 16U | method << 8U | 1U);
        set_word(mailbox + 16, 3U << 27U | (words + 1) << 16U);
    }
    /// \return the status of the register's access
    std::uint32_t access(std::uint32_t id, std::uint32_t method, std::uint32_t words) {
        fill(id, method, words);
        EXPECT_EQ(go(access_opcode), 0U);
        return word(mailbox).value_or(0) >> 8U & 0x7fU;
    }

    Host host{hca::CommandTable(device_commands())};
};

TEST_F(InternalSpacesTest, CommandsAndSemaphoresOffered) {
    EXPECT_TRUE(host.hca.has_space(InternalSpaces::commands));
    EXPECT_TRUE(host.hca.has_space(InternalSpaces::semaphores));
    EXPECT_FALSE(host.hca.has_space(0x4)) << "NODNIC, for Ethernet";
    EXPECT_FALSE(host.hca.has_space(0x7)) << "crdump";
}

TEST_F(InternalSpacesTest, MailboxHoldsLargestAccess) {
    constexpr std::uint32_t largest = 236 + 20; // REG_ACCESS_MAX_REG_SIZE and the TLVs
    EXPECT_GE(word(mailbox_size), largest);
    EXPECT_TRUE(set_word(mailbox + *word(mailbox_size) - 4, 7));
    EXPECT_EQ(word(mailbox + *word(mailbox_size) - 4), 7U);
    EXPECT_FALSE(set_word(mailbox + *word(mailbox_size), 7));
    EXPECT_FALSE(word(mailbox - 4));
}

TEST_F(InternalSpacesTest, RegisterWrittenReturnsContents) {
    set_word(mailbox + 20, 0x80000000); // big endian
    EXPECT_EQ(access(hwtab::access_host_endianness.id, write, host_endianness_words), 0U);
    EXPECT_EQ(word(mailbox + 20), 0x80000000U);
    EXPECT_EQ(access(hwtab::access_host_endianness.id, query, host_endianness_words), 0U);
}

TEST_F(InternalSpacesTest, FailedAccessReturnsStatus) {
    EXPECT_EQ(access(0x1234, query, 4), 4U) << "register not supported";
    EXPECT_EQ(access(hwtab::access_host_endianness.id, 3, 4), 6U) << "method not supported";
    EXPECT_EQ(access(hwtab::access_host_endianness.id, query, 1), 7U) << "too short";
    host.hca.reset(pci::ResetCause::function_level);
    EXPECT_EQ(access(hwtab::access_host_endianness.id, query, 4), 8U) << "no resource";
    EXPECT_EQ(host.checker.counted(), 0U);
}

TEST_F(InternalSpacesTest, BadCommandRefused) {
    EXPECT_EQ(go(0x9003), 1U) << "invalid opcode";
    EXPECT_EQ(go(access_opcode), 4U) << "no TLVs";
    fill(hwtab::access_host_endianness.id, query, 0x7fe);
    EXPECT_EQ(go(access_opcode), 4U) << "longer than the mailbox";
}

TEST_F(InternalSpacesTest, SemaphoreHeldByFirstOwner) {
    const auto claim = [this](std::uint32_t owner) {
        EXPECT_TRUE(host.hca.space_write(InternalSpaces::semaphores, 0, owner));
        return host.hca.space_read(InternalSpaces::semaphores, 0);
    };
    EXPECT_EQ(claim(5), 5U);
    EXPECT_EQ(claim(6), 5U);
    EXPECT_EQ(claim(0), 0U);
    EXPECT_EQ(claim(6), 6U);
    EXPECT_FALSE(host.hca.space_read(InternalSpaces::semaphores, 0x1000));
    EXPECT_FALSE(host.hca.space_write(InternalSpaces::semaphores, 0x1000, 1));
}

} // namespace
} // namespace cxemu::commands
