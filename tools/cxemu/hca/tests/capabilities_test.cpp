// SPDX-License-Identifier: GPL-2.0-or-later
#include "hca/capabilities.hpp"
#include "hca/testing/host.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

namespace cxemu::hca {
namespace {

using hwtab::cmd_hca_cap;

class CapabilitiesTest : public ::testing::Test {
protected:
    /// The block that software sends: the current values, with one field changed.
    std::vector<std::byte> block_with(std::string_view field, std::uint64_t value) {
        std::vector<std::byte> block(Capabilities::page_size);
        std::ranges::copy(capabilities.bytes(CapabilityPage::general, false), block.begin());
        const hwtab::Field* found = cmd_hca_cap.find(field);
        hwtab::write_bits(block.data(), found->offset, found->width, value);
        return block;
    }

    HcaSettings settings = testing::default_settings();
    Capabilities capabilities{settings};
};

TEST_F(CapabilitiesTest, ProfileFieldsExistInTables) {
    for (const DeviceProfile& profile : device_profiles()) {
        HcaSettings other = settings;
        other.profile = &profile;
        const Capabilities unused{other};
        for (const CapabilityValue& value : profile.general)
            EXPECT_NE(cmd_hca_cap.find(value.field), nullptr) << value.field;
        for (const CapabilityValue& value : profile.atomic)
            EXPECT_NE(hwtab::atomic_caps.find(value.field), nullptr) << value.field;
    }
    for (const CapabilityValue& value : common_general_capabilities()) {
        ASSERT_NE(cmd_hca_cap.find(value.field), nullptr) << value.field;
        EXPECT_LE(value.current, value.maximum) << value.field;
    }
}

TEST_F(CapabilitiesTest, ProfileValuesHaveOrigin) {
    for (const DeviceProfile& profile : device_profiles()) {
        for (const ListedValue& listed : values_of(profile))
            EXPECT_TRUE(std::ranges::contains(origins::all, listed.value.origin))
                << profile.name << " " << listed.value.field;
        EXPECT_TRUE(std::ranges::contains(origins::all, profile.firmware_origin)) << profile.name;
        EXPECT_TRUE(std::ranges::contains(origins::all, profile.pages_origin)) << profile.name;
    }
}

TEST_F(CapabilitiesTest, ProfileValueReplacesCommonOne) {
    const auto listed = values_of(*find_profile("connectx4-2016"));
    const auto count = [&](std::string_view field, std::uint64_t maximum) {
        return std::ranges::count_if(listed, [&](const ListedValue& one) {
            return one.value.field == field && one.value.maximum == maximum;
        });
    };
    EXPECT_EQ(count("max_qp_mcg", 48), 1) << "as in the trace";
    EXPECT_EQ(count("max_qp_mcg", 240), 0) << "of later firmware";
    EXPECT_EQ(count("mem_page_fault", 1), 0) << "without paging";
}

/// The fields are those that the trace of 2016 (hca/origin.hpp) has as zeros.
TEST_F(CapabilitiesTest, OldFirmwareLacksLaterFeatures) {
    settings.profile = find_profile("connectx4-2016");
    const Capabilities old{settings};
    EXPECT_EQ(old.maximum<"sho">(), 0U);
    EXPECT_EQ(old.maximum<"imaicl">(), 0U);
    EXPECT_EQ(old.maximum<"umr_ptr_rlky">(), 0U);
    EXPECT_EQ(old.maximum<"null_mkey">(), 0U);
    EXPECT_EQ(old.maximum<"set_deth_sqpn">(), 0U);
    EXPECT_EQ(old.maximum<"driver_version">(), 0U);
    EXPECT_EQ(old.maximum<"umr_extended_translation_offset">(), 0U);
    EXPECT_EQ(old.maximum<"fast_teardown">(), 0U);
    EXPECT_EQ(old.maximum<"force_teardown">(), 0U);
    EXPECT_EQ(old.maximum<"log_max_uctx">(), 0U);
    EXPECT_EQ(old.maximum<"log_max_umem">(), 0U);
    EXPECT_EQ(old.atomic<"supported_atomic_req_8B_endianness_mode_1">(), 0U);
    const auto paging = old.bytes(CapabilityPage::on_demand_paging, true);
    EXPECT_TRUE(std::ranges::all_of(paging, [](std::byte byte) { return byte == std::byte{0}; }));
}

/// 275 MHz from the trace, which has no frequency in kHz; 156,250 kHz from ibv_devinfo.
TEST_F(CapabilitiesTest, ClockFrequencyTakenFromMoreExactField) {
    EXPECT_EQ(capabilities.clock_frequency(), 156'250U);
    settings.profile = find_profile("connectx4-2016");
    EXPECT_EQ(Capabilities{settings}.clock_frequency(), 275'000U);
    settings.overrides = {{"device_frequency_mhz", 0}};
    EXPECT_EQ(Capabilities{settings}.clock_frequency(), 1000U) << "a clock that goes, anyway";
}

TEST_F(CapabilitiesTest, CommonFieldsListedOnce) {
    std::set<std::string_view> seen;
    for (const CapabilityValue& value : common_general_capabilities())
        EXPECT_TRUE(seen.insert(value.field).second) << value.field;
}

TEST_F(CapabilitiesTest, VerbsCapabilitiesPresent) {
    EXPECT_EQ(capabilities.current<"port_type">(), 0U);
    EXPECT_EQ(capabilities.current<"num_ports">(), 1U);
    EXPECT_EQ(capabilities.current<"ib_virt">(), 1U);
    EXPECT_EQ(capabilities.current<"xrc">(), 1U);
    EXPECT_EQ(capabilities.current<"uar_sz">(), 5U) << "32 MiB";
    EXPECT_EQ(capabilities.current<"log_bf_reg_size">(), 9U);
    EXPECT_EQ(capabilities.current<"pg">(), 1U);
}

TEST_F(CapabilitiesTest, SetWithinMaximumAccepted) {
    ASSERT_TRUE(capabilities.set(CapabilityPage::general, block_with("log_max_qp", 16)));
    EXPECT_EQ(capabilities.current<"log_max_qp">(), 16U);
    EXPECT_EQ(capabilities.maximum<"log_max_qp">(), 17U);
    capabilities.reset();
    EXPECT_EQ(capabilities.current<"log_max_qp">(), 14U);
}

TEST_F(CapabilitiesTest, SetBeyondMaximumChangesNothing) {
    auto block = block_with("log_max_qp", 18);
    const hwtab::Field* other = cmd_hca_cap.find("uar_4k");
    hwtab::write_bits(block.data(), other->offset, other->width, 1);
    const auto set = capabilities.set(CapabilityPage::general, block);
    ASSERT_FALSE(set);
    EXPECT_EQ(set.error().syndrome, Syndrome::capability_above_maximum);
    EXPECT_NE(set.error().text.find("log_max_qp"), std::string::npos) << set.error().text;
    EXPECT_EQ(capabilities.current<"uar_4k">(), 0U) << "nothing has changed";
}

/// The first QP has the number 64, which needs a table of 2^7 entries.
TEST_F(CapabilitiesTest, SetWithoutRoomForFirstObjectRefused) {
    const auto set = capabilities.set(CapabilityPage::general, block_with("log_max_qp", 6));
    ASSERT_FALSE(set);
    EXPECT_EQ(set.error().syndrome, Syndrome::field_out_of_range);
    EXPECT_EQ(set.error().text, "log_max_qp 6 is below 7");
    EXPECT_TRUE(capabilities.set(CapabilityPage::general, block_with("log_max_qp", 7)));
}

/// iPXE's golan sets 0, and creates QPs.
TEST_F(CapabilitiesTest, SetZeroQueuePairsLeavesNumber) {
    ASSERT_TRUE(capabilities.set(CapabilityPage::general, block_with("log_max_qp", 16)));
    ASSERT_TRUE(capabilities.set(CapabilityPage::general, block_with("log_max_qp", 0)));
    EXPECT_EQ(capabilities.current<"log_max_qp">(), 16U);
    EXPECT_FALSE(capabilities.set(CapabilityPage::general, block_with("log_max_cq", 0)));
}

TEST_F(CapabilitiesTest, SetAtomicByteOrderKeepsOperations) {
    std::vector<std::byte> block(Capabilities::page_size);
    const hwtab::Field* mode = hwtab::atomic_caps.find("atomic_req_8B_endianness_mode");
    hwtab::write_bits(block.data(), mode->offset, mode->width, 1);
    ASSERT_TRUE(capabilities.set(CapabilityPage::atomic, block));
    EXPECT_EQ(capabilities.atomic<"atomic_req_8B_endianness_mode">(), 1U);
    EXPECT_EQ(capabilities.atomic<"atomic_operations">(), 0xfU);
}

TEST_F(CapabilitiesTest, OverridesSetMaximumAndCurrent) {
    settings.overrides = {{"xrc", 0}, {"log_max_qp", 10}};
    const Capabilities limited{settings};
    EXPECT_EQ(limited.current<"xrc">(), 0U);
    EXPECT_EQ(limited.maximum<"log_max_qp">(), 10U);
}

} // namespace
} // namespace cxemu::hca
