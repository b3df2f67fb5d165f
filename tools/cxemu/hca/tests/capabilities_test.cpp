// SPDX-License-Identifier: GPL-2.0-or-later
#include "hca/capabilities.hpp"
#include "hca/testing/host.hpp"

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
    }
    for (const CapabilityValue& value : common_general_capabilities()) {
        ASSERT_NE(cmd_hca_cap.find(value.field), nullptr) << value.field;
        EXPECT_LE(value.current, value.maximum) << value.field;
    }
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
    ASSERT_TRUE(capabilities.set(CapabilityPage::general, block_with("log_max_qp", 18)));
    EXPECT_EQ(capabilities.current<"log_max_qp">(), 18U);
    EXPECT_EQ(capabilities.maximum<"log_max_qp">(), 23U);
    capabilities.reset();
    EXPECT_EQ(capabilities.current<"log_max_qp">(), 17U);
}

TEST_F(CapabilitiesTest, SetBeyondMaximumChangesNothing) {
    auto block = block_with("log_max_qp", 24);
    const hwtab::Field* other = cmd_hca_cap.find("uar_4k");
    hwtab::write_bits(block.data(), other->offset, other->width, 1);
    const auto set = capabilities.set(CapabilityPage::general, block);
    ASSERT_FALSE(set);
    EXPECT_EQ(set.error().syndrome, Syndrome::capability_above_maximum);
    EXPECT_NE(set.error().text.find("log_max_qp"), std::string::npos) << set.error().text;
    EXPECT_EQ(capabilities.current<"uar_4k">(), 0U) << "nothing has changed";
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
