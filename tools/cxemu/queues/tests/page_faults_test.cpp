// SPDX-License-Identifier: GPL-2.0-or-later
//
// Memory page faults.
#include "base/byte_order.hpp"
#include "queues/testing/bench.hpp"

#include <array>
#include <gtest/gtest.h>
#include <utility>
#include <vector>

namespace cxemu::queues {
namespace {

using memory::AccessFault;
using memory::AccessMode;
using testing::Bench;
using testing::Call;

class PageFaultsTest : public ::testing::Test {
protected:
    static constexpr std::uint64_t start = 0x4000'0000;
    static constexpr std::uint64_t log_page = 12;

    static hca::HcaSettings settings() {
        hca::HcaSettings settings = Bench::default_settings();
        settings.profile = hca::find_profile("connectx7");
        return settings;
    }

    PageFaultsTest() {
        bench_.have_faults_name_memory();
        events_ = &bench_.make_event_queue(
            {.events = 1U << static_cast<unsigned>(hca::EventType::page_fault)});
        queue_pair_ = &bench_.make_queue_pair();
    }

    /// An mkey of 4 pages, or of a range of another mkey.
    std::uint32_t make_key(AccessMode mode, std::uint64_t first_entry, std::uint64_t second_entry) {
        Call<hwtab::cmd_create_mkey> call(memory::MemoryKey::octoword);
        const auto fields = call.in().nested<"memory_key_mkey_entry", hwtab::mkc>();
        fields.set<"access_mode_1_0">(static_cast<std::uint8_t>(mode));
        fields.set<"start_addr">(start);
        fields.set<"len">(4U << log_page);
        fields.set<"log_page_size">(mode == AccessMode::mtt ? log_page : log_page + 2);
        fields.set<"translations_octword_size">(2);
        fields.set<"lr">(1);
        fields.set<"qpn">(memory::MemoryKey::any_queue_pair);
        fields.set<"pd">(bench_.domain());
        call.in().set<"pg_access">(1);
        call.in().set<"translations_octword_actual_size">(1);
        const auto list = call.in().bytes<"klm_pas_mtt">();
        store_be(list, first_entry);
        store_be(list.subspan(sizeof(first_entry)), second_entry);
        EXPECT_TRUE(bench_.run(call));
        return static_cast<std::uint32_t>(call.out().get<"mkey_index">()) << 8U;
    }

    void destroy_key(std::uint32_t key) {
        Call<hwtab::cmd_destroy_mkey> call;
        call.in().set<"mkey_index">(key >> 8U);
        EXPECT_TRUE(bench_.run(call));
    }

    std::vector<std::byte> raise_at(std::uint32_t key, std::uint64_t offset, std::uint64_t length) {
        const auto found = bench_.keys().translate(
            queue_pair_->accessor(), {.key = key, .address = start + offset, .length = length});
        EXPECT_EQ(found.error(), AccessFault::page_absent);
        token_ = queue_pair_->raise_page_fault({.place = FaultPlace::send_or_write}).value_or(0);
        return take_event();
    }
    /// The data of the next EQE, which must be a page fault.
    std::vector<std::byte> take_event() {
        const auto event = bench_.event(*events_, next_event_++);
        EXPECT_EQ(event.get<"event_sub_type">(), 2) << "names the memory";
        const auto data = event.bytes<"event_data">();
        EXPECT_EQ(data[0], std::byte{0x80}) << "nothing of this fault follows";
        EXPECT_EQ(load_be<std::uint32_t>(data.subspan(0x8)), token_);
        return {data.begin(), data.end()};
    }
    static std::uint32_t word(std::span<const std::byte> data, std::size_t offset) {
        return load_be<std::uint32_t>(data.subspan(offset));
    }

    hca::CommandResult resume(std::uint32_t low, std::uint16_t high, bool resolved = true) {
        Call<hwtab::cmd_page_fault_resume> call;
        const auto fields = call.in().nested<"page_fault_info", hwtab::mem_page_fault_info>();
        fields.set<"fault_token_31_0">(low);
        fields.set<"fault_token_47_32">(high);
        fields.set<"error">(resolved ? 0 : 1);
        return bench_.run(call);
    }

    Bench bench_{settings()};
    EventQueue* events_ = nullptr;
    QueuePair* queue_pair_ = nullptr;
    std::uint32_t token_ = 0;
    std::uint32_t next_event_ = 0;
};

TEST_F(PageFaultsTest, KeyAndMissingPagesNamed) {
    const std::uint32_t key = make_key(AccessMode::mtt, 0x10'0001, 0);
    const auto data = raise_at(key, 0xff0, 0x1020);
    EXPECT_EQ(word(data, 0xc), 2U << log_page) << "pages";
    EXPECT_EQ(word(data, 0x10), key);
    EXPECT_EQ(load_be<std::uint64_t>(std::span(data).subspan(0x14)), start + 0x1000);
}

TEST_F(PageFaultsTest, InnermostKeyNamed) {
    const std::uint32_t inner = make_key(AccessMode::mtt, 0x10'0001, 0);
    const std::uint32_t outer = make_key(AccessMode::ksm, inner, start);
    const auto data = raise_at(outer, 0x1234, 1);
    EXPECT_EQ(word(data, 0xc), 1U << log_page);
    EXPECT_EQ(word(data, 0x10), inner);
    EXPECT_EQ(load_be<std::uint64_t>(std::span(data).subspan(0x14)), start + 0x1234);
}

TEST_F(PageFaultsTest, SuggestedPagesWithinKey) {
    constexpr std::size_t suggested_at = 2;
    const auto suggested = [&](std::span<const std::byte> data) {
        return load_be<std::uint16_t>(data.subspan(suggested_at));
    };
    const std::uint32_t key = make_key(AccessMode::mtt, 0, 0);
    EXPECT_EQ(suggested(raise_at(key, 0xfff, 1)), 1);
    EXPECT_EQ(suggested(raise_at(key, 0xfff, 2)), 2);
    EXPECT_EQ(suggested(raise_at(key, 0x2000, 1)), 1);
    EXPECT_EQ(suggested(raise_at(key, 0x2000, 0x1001)), 0);
    EXPECT_EQ(suggested(raise_at(key, 0x3fff, 1)), 0);
}

TEST_F(PageFaultsTest, RefusedKeyNamesReferringKey) {
    const std::uint32_t inner = make_key(AccessMode::mtt, 0x10'0001, 0);
    const std::uint32_t middle = make_key(AccessMode::ksm, inner, start);
    const std::uint32_t outer = make_key(AccessMode::ksm, middle, start + 0x1000);
    EXPECT_EQ(word(raise_at(outer, 0x234, 2), 0x10), inner);
    for (const auto& [key, address] :
         {std::pair{middle, start + 0x1234}, std::pair{outer, start + 0x234}}) {
        EXPECT_TRUE(resume(token_, 0, false));
        const auto data = take_event();
        EXPECT_EQ(word(data, 0x10), key);
        EXPECT_EQ(load_be<std::uint64_t>(std::span(data).subspan(0x14)), address);
        EXPECT_EQ(word(data, 0xc), 1U << log_page);
    }
    EXPECT_TRUE(resume(token_, 0, false));
    EXPECT_FALSE(resume(token_, 0, false)) << "the error of the outermost key is final";
}

TEST_F(PageFaultsTest, DestroyedReferringKeysNotNamed) {
    const std::uint32_t inner = make_key(AccessMode::mtt, 0x10'0001, 0);
    const std::uint32_t middle = make_key(AccessMode::ksm, inner, start);
    const std::uint32_t outer = make_key(AccessMode::ksm, middle, start + 0x1000);
    const std::uint32_t outermost = make_key(AccessMode::ksm, outer, start);
    EXPECT_EQ(word(raise_at(outermost, 0x234, 2), 0x10), inner);
    destroy_key(middle);
    EXPECT_TRUE(resume(token_, 0, false));
    EXPECT_EQ(word(take_event(), 0x10), outer);
    destroy_key(outermost);
    EXPECT_TRUE(resume(token_, 0, false));
    EXPECT_FALSE(resume(token_, 0, false)) << "the fault has ended";
}

TEST_F(PageFaultsTest, ResolvedKeyEndsFault) {
    const std::uint32_t inner = make_key(AccessMode::mtt, 0, 0);
    raise_at(make_key(AccessMode::ksm, inner, start), 0, 1);
    EXPECT_TRUE(resume(token_, 0, false));
    take_event();
    EXPECT_TRUE(resume(token_, 0));
    EXPECT_FALSE(resume(token_, 0)) << "again";
}

TEST_F(PageFaultsTest, AbsentMemoryKeyRaisesFault) {
    const std::uint32_t outer =
        make_key(AccessMode::ksm, memory::SpecialKeys::absent_memory, 0x8000);
    const auto data = raise_at(outer, 8, 4);
    EXPECT_EQ(word(data, 0x10), memory::SpecialKeys::absent_memory);
    EXPECT_EQ(load_be<std::uint64_t>(std::span(data).subspan(0x14)), 0x8008);
}

TEST_F(PageFaultsTest, ResumeRequiresWholeToken) {
    raise_at(make_key(AccessMode::mtt, 0, 0), 0, 1);
    EXPECT_FALSE(resume(token_, 1));
    EXPECT_FALSE(resume(token_ + 1, 0));
    EXPECT_TRUE(resume(token_, 0));
    EXPECT_FALSE(resume(token_, 0)) << "again";
}

TEST_F(PageFaultsTest, UnsupportedSchemesRefused) {
    Bench other;
    hca::Capabilities& capabilities = other.hca().capabilities();
    const auto page = hca::CapabilityPage::on_demand_paging;
    const auto present = capabilities.bytes(page, false);
    std::vector<std::byte> wanted(present.begin(), present.end());
    const hwtab::View<hwtab::odp_cap> fields{std::span(wanted)};
    fields.set<"mem_page_fault">(1);
    EXPECT_EQ(capabilities.set(page, wanted).error().syndrome,
              hca::Syndrome::capability_above_maximum);
    fields.set<"mem_page_fault">(0);
    fields.set<"transport_page_fault_scheme_cap.uc_odp_caps.send">(1);
    EXPECT_FALSE(capabilities.set(page, wanted)) << "inside a structure";
    fields.set<"transport_page_fault_scheme_cap.uc_odp_caps.send">(0);
    fields.set<"transport_page_fault_scheme_cap.xrc_odp_caps.send">(1);
    EXPECT_TRUE(capabilities.set(page, wanted));
}

} // namespace
} // namespace cxemu::queues
