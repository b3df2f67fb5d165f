// SPDX-License-Identifier: GPL-2.0-or-later
//
// The address spaces behind the PCI gateway, as iPXE uses them.
#include "commands/table.hpp"
#include "fabric/fabric.hpp"
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
constexpr std::uint32_t node_desc_words = 16;

class InternalSpacesTest : public ::testing::Test {
protected:
    void SetUp() override {
        host.hca.add_port(port);
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

    /// Address of a word of the register in the mailbox.
    static constexpr std::uint32_t content(std::uint32_t number) {
        return mailbox + 20 + (number * 4);
    }

    Host host{hca::CommandTable(device_commands())};
    fabric::Fabric fabric{host.loop, fabric::SwitchSettings{}};
    fabric::HcaPort& port = **fabric.add(fabric::HcaPortSettings{});
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
    set_word(content(0), 0x80000000); // big endian
    EXPECT_EQ(access(hwtab::access_host_endianness.id, write, host_endianness_words), 0U);
    EXPECT_EQ(word(content(0)), 0x80000000U);
    EXPECT_EQ(access(hwtab::access_host_endianness.id, query, host_endianness_words), 0U);
}

/// The first character is in the upper byte of a word, as the bytes are in ACCESS_REGISTER.
TEST_F(InternalSpacesTest, ContentsWrittenReachRegister) {
    for (std::uint32_t i = 0; i < node_desc_words; ++i)
        set_word(content(i), 0x61626300U + 'd' + i);
    EXPECT_EQ(access(hwtab::access_node_desc.id, write, node_desc_words), 0U);
    EXPECT_EQ(port.node_description(),
              "abcdabceabcfabcgabchabciabcjabckabclabcmabcnabcoabcpabcqabcrabcs");
}

TEST_F(InternalSpacesTest, ContentsReadReplaceThoseOfMailbox) {
    port.set_node_description("behind the gateway");
    for (std::uint32_t i = 0; i <= node_desc_words; ++i)
        set_word(content(i), 0x7878'7878);
    EXPECT_EQ(access(hwtab::access_node_desc.id, query, node_desc_words), 0U);
    EXPECT_EQ(port.node_description(), "behind the gateway") << "a query writes nothing";
    EXPECT_EQ(word(content(0)), 0x6265'6869U) << "behi";
    EXPECT_EQ(word(content(4)), 0x6179'0000U) << "ay";
    EXPECT_EQ(word(content(node_desc_words - 1)), 0U);
    EXPECT_EQ(word(content(node_desc_words)), 0x7878'7878U) << "behind the register";
}

TEST_F(InternalSpacesTest, ContentsOfRefusedAccessUnchanged) {
    set_word(content(0), 0x7878'7878);
    EXPECT_EQ(access(0x1234, query, node_desc_words), 4U) << "register not supported";
    EXPECT_EQ(word(content(0)), 0x7878'7878U);
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
