// SPDX-License-Identifier: GPL-2.0-or-later
#include "hca/doorbells.hpp"
#include "hca/rules.hpp"
#include "hca/testing/host.hpp"

#include <gtest/gtest.h>
#include <string>

namespace cxemu::hca {
namespace {

using testing::Host;

/// Writes down what was rung, one text each.
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

    std::vector<std::string> rung;
};

class DoorbellTest : public ::testing::Test {
protected:
    static constexpr std::uint64_t uar_page = 0x10 * 4096;

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

    Host host{CommandTable()};
    RecordedDoorbells doorbells;
};

using Rung = std::vector<std::string>;

TEST_F(DoorbellTest, PassesOnACompletionQueueDoorbell) {
    write64(uar_page + 0x20, 0x1000'0005'0000'0042);
    EXPECT_EQ(doorbells.rung, Rung{"cq uar=0x10 0x10000005 0x42"});
}

TEST_F(DoorbellTest, JoinsTheHalvesOfA32BitGuest) {
    host.write32(uar_page + 0x20, 0x1000'0005);
    EXPECT_TRUE(doorbells.rung.empty());
    host.write32(uar_page + 0x24, 0x42);
    EXPECT_EQ(doorbells.rung, Rung{"cq uar=0x10 0x10000005 0x42"});
}

TEST_F(DoorbellTest, ReportsASecondHalfWithoutAFirst) {
    host.write32(uar_page + 0x804, 0x42);
    EXPECT_TRUE(doorbells.rung.empty());
    EXPECT_EQ(host.checker.counted(rules::doorbell_undecoded), 1U);
}

TEST_F(DoorbellTest, TellsArmedFromUnarmedEventQueues) {
    host.write32(uar_page + 0x40, 0x0300'0007);
    host.write32(uar_page + 0x48, 0x0300'0008);
    EXPECT_EQ(doorbells.rung, (Rung{"eq 3 7 arm", "eq 3 8"}));
}

TEST_F(DoorbellTest, RingsOnceForAWholeBlueFieldBuffer) {
    write64(uar_page + 0x900, 0x1122'3344'5566'7788);
    for (std::uint64_t offset = 8; offset < 64; offset += 8)
        write64(uar_page + 0x900 + offset, 0);
    EXPECT_EQ(doorbells.rung, Rung{"send 0x1122334455667788"});
    EXPECT_EQ(host.hca.doorbells().statistics().blue_field_data, 7U);
}

TEST_F(DoorbellTest, ReportsAPageThatIsNoUar) {
    write64((0x11 * 4096) + 0x20, 0);
    EXPECT_TRUE(doorbells.rung.empty());
    EXPECT_EQ(host.checker.counted(rules::doorbell_of_unknown_uar), 1U);
}

TEST_F(DoorbellTest, FindsPagesAtTheDistanceThatSoftwareHasChosen) {
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

TEST_F(DoorbellTest, DoesNotBlameADriverThatHasNotNoticedAReset) {
    host.hca.reset(pci::ResetCause::function_level);
    write64(uar_page + 0x20, 0);
    EXPECT_EQ(host.checker.counted(), 0U);
    EXPECT_EQ(host.hca.doorbells().statistics().without_uar, 1U);
}

} // namespace
} // namespace cxemu::hca
