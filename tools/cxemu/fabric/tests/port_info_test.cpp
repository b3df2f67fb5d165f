// SPDX-License-Identifier: GPL-2.0-or-later
//
// Set(PortInfo): changes and errors.
#include "fabric/tests/fixtures.hpp"

#include <gtest/gtest.h>

namespace cxemu::fabric {
namespace {

using testing::data_of;

/// A port connected to a switch, configured by SMPs.
struct PortInfoTest : ::testing::Test {
    testing::ManualLoop time;
    Fabric fabric{time.loop, testing::switch_settings()};
    HcaPort& port = **fabric.add(testing::port_settings(0));
    testing::RecordingClient client;

    PortInfoTest() {
        port.set_client(&client);
        time.settle();
    }

    Mad get() {
        return **port.process(testing::make_smp(MadMethod::get, testing::attribute<"port_info">),
                              {}, 0);
    }
    /// Writes back PortInfo with `change` applied; port states change only if set by `change`.
    Mad set(auto change) {
        Mad request = get();
        Smp(request).template set<"method">(static_cast<std::uint64_t>(MadMethod::set));
        Smp(request).template set<"status">(0);
        const auto info = data_of<hwtab::port_info>(request);
        info.template set<"port_state">(0);
        info.template set<"port_physical_state">(0);
        change(info);
        return **port.process(request, {.ignore_management_key = true}, 0);
    }
    template <hwtab::FixedString field>
    std::uint16_t status_of_set(std::uint64_t value) {
        return testing::status_of(set([=](auto info) { info.template set<field>(value); }));
    }
    template <hwtab::FixedString field>
    std::uint64_t value() {
        const Mad mad = get();
        return data_of<hwtab::port_info>(mad).template get<field>();
    }
    void expect_refused(std::uint16_t status) {
        EXPECT_EQ(status, testing::code(MadStatus::invalid_field));
    }
};

TEST_F(PortInfoTest, TrainedPortInitAtNegotiatedRate) {
    EXPECT_EQ(value<"port_state">(), 2U);
    EXPECT_EQ(value<"port_physical_state">(), 5U);
    EXPECT_EQ(value<"link_width_active">(), 2U) << "4x";
    EXPECT_EQ(value<"link_speed_active">(), 4U);
    EXPECT_EQ(value<"link_speed_ext_active">(), 2U) << "EDR";
    EXPECT_TRUE(client.saw(PortEvent::initialized));
}

TEST_F(PortInfoTest, ActiveReachedThroughArmedOnly) {
    expect_refused(status_of_set<"port_state">(4));
    EXPECT_EQ(port.state(), PortState::init);
    EXPECT_EQ(status_of_set<"port_state">(3), 0U);
    EXPECT_EQ(port.state(), PortState::armed);
    EXPECT_EQ(status_of_set<"port_state">(4), 0U);
    EXPECT_EQ(port.state(), PortState::active);
    EXPECT_TRUE(client.saw(PortEvent::active));
}

TEST_F(PortInfoTest, ExtendedSpeedsBitInPortNumberAccepted) {
    constexpr std::uint32_t knows_extended_speeds = 0x8000'0000;
    const Mad request = testing::make_smp(MadMethod::get, testing::attribute<"port_info">,
                                          knows_extended_speeds | 1U);
    EXPECT_EQ(testing::status_of(**port.process(request, {}, 0)), 0U);
}

TEST_F(PortInfoTest, InvalidTransitionRefused) {
    expect_refused(status_of_set<"port_state">(2));
    expect_refused(status_of_set<"port_state">(5));
    status_of_set<"port_state">(3);
    status_of_set<"port_state">(4);
    expect_refused(status_of_set<"port_state">(3));
    EXPECT_EQ(status_of_set<"port_state">(4), 0U) << "it is active already";
}

TEST_F(PortInfoTest, SetDownRetrainsLink) {
    status_of_set<"port_state">(3);
    EXPECT_EQ(status_of_set<"port_state">(1), 0U);
    time.settle();
    EXPECT_EQ(port.state(), PortState::init);
    EXPECT_TRUE(client.saw(PortEvent::down));
    EXPECT_EQ(port.counters().link_downed, 1U);
}

TEST_F(PortInfoTest, DisabledPortDownUntilPolling) {
    EXPECT_EQ(status_of_set<"port_physical_state">(3), 0U);
    time.settle();
    EXPECT_EQ(port.state(), PortState::down);
    EXPECT_EQ(value<"port_physical_state">(), 3U);
    EXPECT_EQ(status_of_set<"port_physical_state">(2), 0U);
    time.settle();
    EXPECT_EQ(port.state(), PortState::init);
}

TEST_F(PortInfoTest, SleepingPortWakesWhenNeighborPolls) {
    EXPECT_EQ(status_of_set<"port_physical_state">(1), 0U);
    time.settle();
    EXPECT_EQ(port.state(), PortState::init) << "the switch polls";
}

TEST_F(PortInfoTest, PhysicalStateWithStateOtherThanDownRefused) {
    const Mad response = set([](auto info) {
        info.template set<"port_state">(3);
        info.template set<"port_physical_state">(2);
    });
    expect_refused(testing::status_of(response));
    expect_refused(status_of_set<"port_physical_state">(4));
    expect_refused(status_of_set<"link_down_default_state">(3));
}

TEST_F(PortInfoTest, InvalidFieldChangesNothing) {
    const Mad response = set([](auto info) {
        info.template set<"lid">(7);
        info.template set<"neighbor_mtu">(6);
    });
    expect_refused(testing::status_of(response));
    EXPECT_EQ(port.lid(), unassigned_lid);
}

TEST_F(PortInfoTest, SetLidNotifiesClient) {
    EXPECT_EQ(status_of_set<"lid">(0x10), 0U);
    EXPECT_EQ(port.lid(), 0x10);
    EXPECT_TRUE(client.saw(PortEvent::lid_changed));
    client.events.clear();
    EXPECT_EQ(status_of_set<"lid">(0x10), 0U);
    EXPECT_FALSE(client.saw(PortEvent::lid_changed)) << "it has that LID already";
}

TEST_F(PortInfoTest, InvalidLidRefused) {
    expect_refused(status_of_set<"lid">(0xc000));
    expect_refused(status_of_set<"lid">(0xffff));
    expect_refused(status_of_set<"master_sm_lid">(0xc000));
    status_of_set<"lid">(8);
    expect_refused(status_of_set<"lid">(0));
    const Mad response = set([](auto info) {
        info.template set<"lid">(9);
        info.template set<"lmc">(1);
    });
    expect_refused(testing::status_of(response));
}

TEST_F(PortInfoTest, LmcAssignsSeveralLids) {
    set([](auto info) {
        info.template set<"lid">(8);
        info.template set<"lmc">(2);
    });
    EXPECT_TRUE(port.has_lid(8));
    EXPECT_TRUE(port.has_lid(11));
    EXPECT_FALSE(port.has_lid(12));
    EXPECT_FALSE(port.has_lid(7));
}

TEST_F(PortInfoTest, NewSubnetManagerNotifiesClient) {
    EXPECT_EQ(status_of_set<"master_sm_lid">(3), 0U);
    EXPECT_EQ(port.sm_lid(), 3);
    EXPECT_TRUE(client.saw(PortEvent::subnet_manager_changed));
}

TEST_F(PortInfoTest, ClientReregisterNotifiesClientOnce) {
    const Mad response = set([](auto info) { info.template set<"client_reregister">(1); });
    EXPECT_EQ(data_of<hwtab::port_info>(response).get<"client_reregister">(), 1U);
    EXPECT_EQ(std::ranges::count(client.events, PortEvent::client_reregister), 1);
    EXPECT_EQ(value<"client_reregister">(), 0U) << "Get doesn't show it";
    status_of_set<"lid">(1);
    EXPECT_EQ(std::ranges::count(client.events, PortEvent::client_reregister), 1);
}

TEST_F(PortInfoTest, NewPrefixChangesAllGids) {
    EXPECT_EQ(status_of_set<"gid_prefix">(0xfec0'0000'0000'0001), 0U);
    EXPECT_EQ(port.gid(0).prefix(), 0xfec0'0000'0000'0001U);
    EXPECT_TRUE(client.saw(PortEvent::gid_table_changed));
    EXPECT_TRUE(port.has_gid(Gid(default_gid_prefix, port.port_guid()))) << "still accepted";
}

TEST_F(PortInfoTest, MtuAndLanesBeyondCapabilityRefused) {
    EXPECT_EQ(status_of_set<"neighbor_mtu">(5), 0U);
    EXPECT_EQ(port.mtu(), 4096U);
    expect_refused(status_of_set<"neighbor_mtu">(0));
    expect_refused(status_of_set<"neighbor_mtu">(6));
    EXPECT_EQ(status_of_set<"operational_vls">(1), 0U);
    EXPECT_EQ(port.port().data_lanes(), 1);
    EXPECT_EQ(status_of_set<"operational_vls">(0), 0U) << "no change";
    EXPECT_EQ(port.port().data_lanes(), 1);
    expect_refused(status_of_set<"operational_vls">(4));
}

TEST_F(PortInfoTest, EnabledRatesUsedByNextTraining) {
    EXPECT_EQ(status_of_set<"link_width_enabled">(1), 0U);
    EXPECT_EQ(status_of_set<"link_speed_ext_enabled">(30), 0U) << "no extended speeds";
    EXPECT_EQ(value<"link_width_active">(), 2U);
    status_of_set<"port_state">(1);
    time.settle();
    EXPECT_EQ(port.rate(), (LinkRate{.width = LinkWidth::x1, .speed = LaneSpeed::qdr}));
}

TEST_F(PortInfoTest, SpecialValuesEnableEverythingOrNothingNew) {
    status_of_set<"link_width_enabled">(1);
    EXPECT_EQ(status_of_set<"link_width_enabled">(0), 0U) << "no change";
    EXPECT_EQ(value<"link_width_enabled">(), 1U);
    EXPECT_EQ(status_of_set<"link_width_enabled">(255), 0U);
    EXPECT_EQ(value<"link_width_enabled">(), value<"link_width_supported">());
    EXPECT_EQ(status_of_set<"link_speed_enabled">(1), 0U);
    EXPECT_EQ(status_of_set<"link_speed_enabled">(15), 0U);
    EXPECT_EQ(value<"link_speed_enabled">(), 7U);
    EXPECT_EQ(status_of_set<"link_speed_ext_enabled">(31), 0U);
    EXPECT_EQ(value<"link_speed_ext_enabled">(), 3U);
}

TEST_F(PortInfoTest, UnsupportedRatesRefused) {
    expect_refused(status_of_set<"link_width_enabled">(8));
    expect_refused(status_of_set<"link_speed_enabled">(8));
    expect_refused(status_of_set<"link_speed_ext_enabled">(4));
}

TEST_F(PortInfoTest, ViolationCountersCanOnlyBeCleared) {
    port.report_violation({.kind = KeyViolation::Kind::p_key, .key = 5});
    port.report_violation({.kind = KeyViolation::Kind::q_key, .key = 5});
    EXPECT_EQ(port.p_key_violations(), 1);
    status_of_set<"p_key_violations">(9);
    EXPECT_EQ(port.p_key_violations(), 1);
    status_of_set<"p_key_violations">(0);
    EXPECT_EQ(port.p_key_violations(), 0);
    EXPECT_EQ(port.q_key_violations(), 1);
}

TEST_F(PortInfoTest, ReadOnlyFieldsIgnored) {
    set([](auto info) {
        info.template set<"capability_mask">(0);
        info.template set<"mtu_cap">(1);
        info.template set<"guid_cap">(1);
        info.template set<"link_width_supported">(1);
    });
    EXPECT_NE(value<"capability_mask">(), 0U);
    EXPECT_EQ(value<"mtu_cap">(), 5U);
    EXPECT_EQ(value<"guid_cap">(), 8U);
    EXPECT_EQ(value<"link_width_supported">(), 3U);
}

TEST_F(PortInfoTest, ResetClearsSubnetManager) {
    set([](auto info) {
        info.template set<"lid">(8);
        info.template set<"master_sm_lid">(1);
        info.template set<"m_key">(99);
        info.template set<"port_state">(3);
    });
    port.reset();
    time.settle();
    EXPECT_EQ(port.lid(), unassigned_lid);
    EXPECT_EQ(port.sm_lid(), unassigned_lid);
    EXPECT_EQ(value<"m_key">(), 0U);
    EXPECT_EQ(port.state(), PortState::init) << "trained again";
}

TEST_F(PortInfoTest, UnpluggedCableSetsPortDown) {
    status_of_set<"port_state">(3);
    status_of_set<"port_state">(4);
    fabric.find_link("hca0/1")->set_plugged(false);
    time.settle();
    EXPECT_EQ(port.state(), PortState::down);
    EXPECT_EQ(port.physical_state(), PhysicalState::polling);
    fabric.find_link("hca0/1")->set_plugged(true);
    time.settle();
    EXPECT_EQ(port.state(), PortState::init);
}

} // namespace
} // namespace cxemu::fabric
