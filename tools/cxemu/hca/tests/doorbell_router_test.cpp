// SPDX-License-Identifier: GPL-2.0-or-later
#include "hca/doorbell_router.hpp"
#include "hca/rules.hpp"
#include "hca/testing/host.hpp"

#include <gtest/gtest.h>
#include <string>

namespace cxemu::hca {
namespace {

using testing::Host;

/// Records doorbells, one text each.
class RecordedDoorbells final : public DoorbellHandler {
public:
    void completion_queue_doorbell(Uar& uar, std::uint32_t command, std::uint32_t cqn) override {
        rung.push_back(fmt::format("cq uar={:#x} {:#x} {:#x}", uar.number(), command, cqn));
    }
    void event_queue_doorbell(Uar& /*uar*/, std::uint8_t eqn, std::uint32_t consumer_index,
                              bool arm) override {
        rung.push_back(fmt::format("eq {} {}{}", eqn, consumer_index, arm ? " arm" : ""));
    }
    void send_doorbell(Uar& /*uar*/, std::span<const std::byte, 8> control) override {
        rung.push_back(fmt::format("send {:#x}", load_be<std::uint64_t>(control)));
    }

    void send_request(Uar& /*uar*/, std::span<const std::byte> request) override {
        rung.push_back(
            fmt::format("request {} {:#x}", request.size(), load_be<std::uint64_t>(request)));
    }

    std::vector<std::string> rung;
};

class DoorbellTest : public ::testing::Test {
protected:
    static constexpr std::uint64_t uar_page = 0x10 * 4096;

    explicit DoorbellTest(HcaSettings settings = testing::default_settings())
        : host(CommandTable(), std::move(settings)) {}

    void SetUp() override {
        host.start_queue();
        host.hca.doorbells().set_handler(&doorbells);
        (void)host.hca.objects().of<Uar>().create(0);
    }
    void write64(std::uint64_t offset, std::uint64_t value) {
        std::array<std::byte, 8> bytes{};
        store_be(std::span<std::byte>(bytes), value);
        host.hca.bar_write(offset, bytes);
    }

    Host host;
    RecordedDoorbells doorbells;
};

using Rung = std::vector<std::string>;

TEST_F(DoorbellTest, CqDoorbellDecoded) {
    write64(uar_page + 0x20, 0x1000'0005'0000'0042);
    EXPECT_EQ(doorbells.rung, Rung{"cq uar=0x10 0x10000005 0x42"});
}

TEST_F(DoorbellTest, DoorbellHalvesJoined) {
    host.write32(uar_page + 0x20, 0x1000'0005);
    EXPECT_TRUE(doorbells.rung.empty());
    host.write32(uar_page + 0x24, 0x42);
    EXPECT_EQ(doorbells.rung, Rung{"cq uar=0x10 0x10000005 0x42"});
}

TEST_F(DoorbellTest, SecondHalfWithoutFirstReported) {
    host.write32(uar_page + 0x804, 0x42);
    EXPECT_TRUE(doorbells.rung.empty());
    EXPECT_EQ(host.checker.counted(rules::doorbell_undecoded), 1U);
}

TEST_F(DoorbellTest, EqDoorbellArmDecoded) {
    host.write32(uar_page + 0x40, 0x0300'0007);
    host.write32(uar_page + 0x48, 0x0300'0008);
    EXPECT_EQ(doorbells.rung, (Rung{"eq 3 7 arm", "eq 3 8"}));
}

TEST_F(DoorbellTest, BlueFlameWriteRingsOnce) {
    write64(uar_page + 0x900, 0x1122'3344'5566'7788);
    for (std::uint64_t offset = 8; offset < 64; offset += 8)
        write64(uar_page + 0x900 + offset, 0);
    EXPECT_EQ(doorbells.rung, Rung{"send 0x1122334455667788"});
    EXPECT_EQ(host.hca.doorbells().statistics().blue_flame_data, 7U);
}

TEST_F(DoorbellTest, UnknownUarReported) {
    write64((0x11 * 4096) + 0x20, 0);
    EXPECT_TRUE(doorbells.rung.empty());
    EXPECT_EQ(host.checker.counted(rules::doorbell_of_unknown_uar), 1U);
}

TEST_F(DoorbellTest, UarDistanceFollowsCapabilities) {
    const auto choose = [&](std::string_view name, std::uint64_t value) {
        const auto current = host.hca.capabilities().bytes(CapabilityPage::general, false);
        std::vector<std::byte> block(current.begin(), current.end());
        const hwtab::Field* field = hwtab::cmd_hca_cap.find(name);
        hwtab::write_bits(block.data(), field->offset, field->width, value);
        ASSERT_TRUE(host.hca.capabilities().set(CapabilityPage::general, block));
    };
    choose("log_uar_page_sz", 4); // pages of 64 KiB
    EXPECT_EQ(host.hca.capabilities().uar_pages(),
              (host.hca.settings().bar_size - DeviceMemory::window) / 0x10000);
    host.write32((0x10 * 0x10000) + 0x40, 0x0300'0007);
    EXPECT_EQ(doorbells.rung, Rung{"eq 3 7 arm"});
    host.write32((0x10 * 0x10000) + 0x1040, 0x0300'0007);
    EXPECT_EQ(host.checker.counted(rules::doorbell_undecoded), 1U) << "behind the first 4 KiB";
    choose("uar_4k", 1);
    host.write32(uar_page + 0x40, 0x0300'0008);
    EXPECT_EQ(doorbells.rung.back(), "eq 3 8 arm");
}

TEST_F(DoorbellTest, DoorbellAfterUnnoticedResetNotReported) {
    host.hca.reset(pci::ResetCause::function_level);
    write64(uar_page + 0x20, 0);
    EXPECT_EQ(host.checker.counted(), 0U);
    EXPECT_EQ(host.hca.doorbells().statistics().without_uar, 1U);
}

// --- On a host that combines writes --------------------------------------------------------------

class CombinedDoorbellTest : public DoorbellTest {
protected:
    static constexpr std::uint64_t buffer = uar_page + 0x800;
    static constexpr std::uint64_t other_buffer = uar_page + 0x900;
    static constexpr std::uint64_t one_block = 0x1122'3344'5566'7701; ///< the last 6 bits: ds
    static constexpr std::uint64_t two_blocks = 0x1122'3344'5566'7705;
    static constexpr std::uint64_t five_blocks =
        0x1122'3344'5566'7711; ///< more than the four blocks of a register

    CombinedDoorbellTest() : DoorbellTest(settings()) {}

    static HcaSettings settings() {
        HcaSettings settings = testing::default_settings();
        settings.write_combining = true;
        return settings;
    }
    void write_pieces(std::uint64_t start, std::uint64_t first, std::uint64_t from,
                      std::uint64_t to) {
        for (std::uint64_t offset = from; offset < to; offset += 8)
            write64(start + offset, offset == 0 ? first : offset);
    }
};

TEST_F(CombinedDoorbellTest, WholeBlockSendsRequest) {
    write_pieces(buffer, one_block, 0, 56);
    EXPECT_TRUE(doorbells.rung.empty());
    write_pieces(buffer, one_block, 56, 64);
    EXPECT_EQ(doorbells.rung, Rung{"request 64 0x1122334455667701"});
    EXPECT_EQ(host.hca.doorbells().statistics().requests, 1U);
    host.advance(CombinedWrites::patience);
    EXPECT_EQ(doorbells.rung.size(), 1U) << "and no doorbell";
}

TEST_F(CombinedDoorbellTest, LongRequestHasFurtherBlocks) {
    write_pieces(other_buffer, two_blocks, 0, 120);
    EXPECT_TRUE(doorbells.rung.empty());
    write_pieces(other_buffer, two_blocks, 120, 128);
    EXPECT_EQ(doorbells.rung, Rung{"request 128 0x1122334455667705"});
}

TEST_F(CombinedDoorbellTest, RequestBeyondBufferRingsDoorbell) {
    write_pieces(buffer, five_blocks, 0, 256);
    EXPECT_EQ(doorbells.rung, Rung{"send 0x1122334455667711"});
}

TEST_F(CombinedDoorbellTest, InterruptedBlockRingsDoorbell) {
    write_pieces(buffer, one_block, 0, 32);
    write64(uar_page + 0x20, 0x1000'0005'0000'0042);
    EXPECT_EQ(doorbells.rung, (Rung{"send 0x1122334455667701", "cq uar=0x10 0x10000005 0x42"}));
    write_pieces(buffer, one_block, 32, 64);
    EXPECT_EQ(doorbells.rung.size(), 2U);
    EXPECT_EQ(host.hca.doorbells().statistics().blue_flame_data, 4U);
}

TEST_F(CombinedDoorbellTest, UnorderedWritesNotCombined) {
    write64(buffer, one_block);
    write64(buffer + 16, 0);
    EXPECT_EQ(doorbells.rung, Rung{"send 0x1122334455667701"});
}

TEST_F(CombinedDoorbellTest, AlternatingQpsInterruptEachOther) {
    for (std::uint64_t offset = 0; offset < 64; offset += 8) {
        write64(buffer + offset, offset == 0 ? one_block : 0);
        write64(other_buffer + offset, offset == 0 ? two_blocks : 0);
    }
    EXPECT_EQ(doorbells.rung, (Rung{"send 0x1122334455667701", "send 0x1122334455667705"}));
}

TEST_F(CombinedDoorbellTest, SeparatePagesNotInterrupted) {
    (void)host.hca.objects().of<Uar>().create(0);
    for (std::uint64_t offset = 0; offset < 64; offset += 8) {
        write64(buffer + offset, offset == 0 ? one_block : 0);
        write64(buffer + 4096 + offset, offset == 0 ? one_block + 0x100 : 0);
    }
    EXPECT_EQ(doorbells.rung,
              (Rung{"request 64 0x1122334455667701", "request 64 0x1122334455667801"}));
}

TEST_F(CombinedDoorbellTest, BuffersOfRegisterAlternate) {
    write_pieces(buffer, one_block, 0, 64);
    write_pieces(other_buffer, one_block, 0, 64);
    EXPECT_EQ(doorbells.rung,
              (Rung{"request 64 0x1122334455667701", "request 64 0x1122334455667701"}));
}

TEST_F(CombinedDoorbellTest, SingleDoorbellFlushedByTimer) {
    write64(buffer, one_block);
    EXPECT_TRUE(doorbells.rung.empty());
    host.advance(CombinedWrites::patience);
    EXPECT_EQ(doorbells.rung, Rung{"send 0x1122334455667701"});
}

TEST_F(CombinedDoorbellTest, HeldBackDataFlushedByCommandOrRead) {
    write64(buffer, one_block);
    host.write32(0x18, 0);
    EXPECT_EQ(doorbells.rung.size(), 1U);
    write64(buffer, two_blocks);
    (void)host.read32(uar_page);
    EXPECT_EQ(doorbells.rung, (Rung{"send 0x1122334455667701", "send 0x1122334455667705"}));
}

TEST_F(CombinedDoorbellTest, HeldBackDataDroppedAtReset) {
    write_pieces(buffer, one_block, 0, 32);
    host.hca.reset(pci::ResetCause::function_level);
    host.advance(CombinedWrites::patience);
    EXPECT_TRUE(doorbells.rung.empty());
}

TEST_F(CombinedDoorbellTest, HalvesOf32BitGuestRingAtOnce) {
    host.write32(buffer, 0x1122'3344);
    host.write32(buffer + 4, 0x5566'7701);
    EXPECT_EQ(doorbells.rung, Rung{"send 0x1122334455667701"});
}

} // namespace
} // namespace cxemu::hca
