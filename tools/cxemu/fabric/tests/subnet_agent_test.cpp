// SPDX-License-Identifier: GPL-2.0-or-later
//
// Attributes other than PortInfo, the M_Key, and responses of the agent.
#include "fabric/tests/fixtures.hpp"

#include <gtest/gtest.h>

namespace cxemu::fabric {
namespace {

using namespace testing;
using std::chrono::seconds;

struct SubnetAgentTest : ::testing::Test, LonePort {
    template <class Request>
    std::uint16_t status(Request request) {
        return status_of(ask(request));
    }
};

TEST_F(SubnetAgentTest, NodeInfoGetReturnsIdentity) {
    const Mad response = ask(make_smp(MadMethod::get, attribute<"node_info">));
    const auto info = data_of<hwtab::node_info>(response);
    EXPECT_EQ(method_of(response), MadMethod::get_response);
    EXPECT_EQ(info.get<"node_type">(), 1U);
    EXPECT_EQ(info.get<"num_ports">(), 1U);
    EXPECT_EQ(info.get<"node_guid">(), port.node_guid());
    EXPECT_EQ(info.get<"port_guid">(), port.port_guid());
    EXPECT_EQ(info.get<"system_image_guid">(), port.system_image_guid());
    EXPECT_EQ(info.get<"partition_cap">(), 128U);
    EXPECT_EQ(info.get<"device_id">(), 0x1017U);
    EXPECT_EQ(info.get<"local_port_num">(), 1U);
    EXPECT_EQ(ConstSmp(response).get<"transaction_id">(), 0x1234'5678U);
}

TEST_F(SubnetAgentTest, NodeDescriptionReadAndSet) {
    Mad request = make_smp(MadMethod::set, attribute<"node_desc">);
    const std::string text(64, 'x');
    std::ranges::transform(text, Smp(request).bytes<"data">().begin(),
                           [](char c) { return std::byte(c); });
    EXPECT_EQ(status(request), 0U);
    EXPECT_EQ(port.node_description(), text);
    port.set_node_description("short");
    const Mad response = ask(make_smp(MadMethod::get, attribute<"node_desc">));
    EXPECT_EQ(ConstSmp(response).bytes<"data">()[4], std::byte{'t'});
    EXPECT_EQ(ConstSmp(response).bytes<"data">()[5], std::byte{0});
}

TEST_F(SubnetAgentTest, NodeInfoSetRefused) {
    EXPECT_EQ(status(make_smp(MadMethod::set, attribute<"node_info">)),
              code(MadStatus::unsupported_attribute));
}

TEST_F(SubnetAgentTest, AdapterSwitchAttributeUnsupported) {
    for (const auto id : {attribute<"switch_info">, attribute<"linear_forward_table">,
                          attribute<"mcast_forward_table">, attribute<"random_forward_table">,
                          attribute<"led_info">})
        EXPECT_EQ(status(make_smp(MadMethod::get, id)), code(MadStatus::unsupported_attribute));
}

TEST_F(SubnetAgentTest, ForeignPortNumberRefused) {
    EXPECT_EQ(status(make_smp(MadMethod::get, attribute<"port_info">, 1)), 0U);
    EXPECT_EQ(status(make_smp(MadMethod::get, attribute<"port_info">, 0)), 0U);
    EXPECT_EQ(status(make_smp(MadMethod::get, attribute<"port_info">, 2)),
              code(MadStatus::invalid_field));
    EXPECT_EQ(status(make_smp(MadMethod::get, attribute<"port_info">, 0x101)),
              code(MadStatus::invalid_field));
}

TEST_F(SubnetAgentTest, ExtendedSpeedsBitInPortNumberAccepted) {
    EXPECT_EQ(status(make_smp(MadMethod::get, attribute<"port_info">, 0x8000'0001)), 0U);
    Mad request = ask(make_smp(MadMethod::get, attribute<"port_info">, 0x8000'0001));
    Smp(request).set<"method">(static_cast<std::uint64_t>(MadMethod::set));
    data_of<hwtab::port_info>(request).set<"neighbor_mtu">(5);
    data_of<hwtab::port_info>(request).set<"port_state">(0);
    data_of<hwtab::port_info>(request).set<"port_physical_state">(0);
    EXPECT_EQ(data_of<hwtab::port_info>(ask(request)).get<"neighbor_mtu">(), 5U);
    EXPECT_EQ(port.port().mtu(), 4096U);
}

TEST_F(SubnetAgentTest, ExtendedPortInfoReportsNoFdr10) {
    const Mad response = ask(make_smp(MadMethod::get, 0xff90, 1));
    EXPECT_EQ(status_of(response), 0U);
    const auto data = ConstSmp(response).bytes<"data">();
    EXPECT_TRUE(std::ranges::all_of(data, [](std::byte byte) { return byte == std::byte{0}; }));
    EXPECT_EQ(status(make_smp(MadMethod::get, 0xff90, 2)), code(MadStatus::invalid_field));
    EXPECT_EQ(status(make_smp(MadMethod::set, 0xff90, 1)), code(MadStatus::unsupported_attribute));
}

TEST_F(SubnetAgentTest, GuidInfoSetKeepsOwnGuid) {
    Mad request = make_smp(MadMethod::set, attribute<"guid_info">);
    data_of<hwtab::guid_info>(request).set_at<"guid_block">(0, 1);
    data_of<hwtab::guid_info>(request).set_at<"guid_block">(3, 0xabcd);
    const Mad response = ask(request);
    EXPECT_EQ(data_of<hwtab::guid_info>(response).get_at<"guid_block">(0), port.port_guid());
    EXPECT_EQ(data_of<hwtab::guid_info>(response).get_at<"guid_block">(3), 0xabcdU);
    EXPECT_EQ(port.gid(3), Gid(default_gid_prefix, 0xabcd));
    EXPECT_EQ(port.gid(2), Gid()) << "unused";
    EXPECT_TRUE(client.saw(PortEvent::gid_table_changed));
    EXPECT_EQ(status(make_smp(MadMethod::get, attribute<"guid_info">, 1)),
              code(MadStatus::invalid_field));
}

TEST_F(SubnetAgentTest, PKeyBlocksReadAndWritten) {
    EXPECT_EQ(port.p_keys().front(), default_p_key);
    Mad request = make_smp(MadMethod::set, attribute<"pkey_table">, 3);
    data_of<hwtab::p_key_table>(request).set_at<"p_key_block">(31, 0x8005);
    EXPECT_EQ(status(request), 0U);
    EXPECT_EQ(port.p_keys()[127], 0x8005);
    EXPECT_EQ(port.p_keys()[95], 0) << "another block";
    EXPECT_TRUE(client.saw(PortEvent::p_key_table_changed));
    EXPECT_EQ(status(make_smp(MadMethod::get, attribute<"pkey_table">, 4)),
              code(MadStatus::invalid_field));
}

TEST_F(SubnetAgentTest, UnchangedPKeysRaiseNoEvent) {
    Mad request = make_smp(MadMethod::set, attribute<"pkey_table">, 0);
    data_of<hwtab::p_key_table>(request).set_at<"p_key_block">(0, default_p_key);
    ask(request);
    EXPECT_FALSE(client.saw(PortEvent::p_key_table_changed));
}

TEST_F(SubnetAgentTest, PKeyOfPacketFoundUnlessBothLimited) {
    port.port().p_keys()[2] = 0x0007;
    EXPECT_EQ(port.find_p_key(0x8007), 2U);
    EXPECT_FALSE(port.find_p_key(0x0007)) << "both limited members";
    EXPECT_EQ(port.find_p_key(0x7fff), 0U);
    EXPECT_FALSE(port.find_p_key(0x8000)) << "no partition";
}

TEST_F(SubnetAgentTest, ServiceLevelsAreMappedToLanes) {
    Mad request = make_smp(MadMethod::set, attribute<"sl_to_vl_table">);
    data_of<hwtab::sl_to_vl_mapping_table>(request).set<"sl1_to_vl">(3);
    data_of<hwtab::sl_to_vl_mapping_table>(request).set<"sl2_to_vl">(4);
    data_of<hwtab::sl_to_vl_mapping_table>(request).set<"sl15_to_vl">(15);
    EXPECT_EQ(status(request), 0U);
    EXPECT_EQ(port.virtual_lane(0), 0);
    EXPECT_EQ(port.virtual_lane(1), 3);
    EXPECT_FALSE(port.virtual_lane(2)) << "the port has lanes 0 to 3";
    EXPECT_FALSE(port.virtual_lane(15)) << "15 drops";
}

TEST_F(SubnetAgentTest, ArbitrationTablesAreKept) {
    Mad request = make_smp(MadMethod::set, attribute<"vl_arb_table">, 3U << 16U);
    data_of<hwtab::vl_arbitration_table>(request).set_at<"vl_weight_block">(0, 0x0102);
    EXPECT_EQ(status(request), 0U);
    const Mad response = ask(make_smp(MadMethod::get, attribute<"vl_arb_table">, 3U << 16U));
    EXPECT_EQ(data_of<hwtab::vl_arbitration_table>(response).get_at<"vl_weight_block">(0), 0x0102U);
    for (const unsigned block : {0U, 5U})
        EXPECT_EQ(status(make_smp(MadMethod::get, attribute<"vl_arb_table">, block << 16U)),
                  code(MadStatus::invalid_field));
}

TEST_F(SubnetAgentTest, UnsupportedVersionReportsBadVersion) {
    Mad request = make_smp(MadMethod::get, attribute<"node_info">);
    Smp(request).set<"class_version">(2);
    EXPECT_EQ(status(request), code(MadStatus::bad_version));
}

TEST_F(SubnetAgentTest, ManagerMethodHasNoResponse) {
    for (const Mad& request : {make_smp(MadMethod::get, attribute<"sm_info">),
                               make_smp(MadMethod::get_response, attribute<"node_info">),
                               make_smp(MadMethod::trap, attribute<"notice">)}) {
        const auto response = port.process(request, {}, 0);
        ASSERT_FALSE(response);
        EXPECT_EQ(response.error(), MadRefusal::no_agent);
    }
}

TEST_F(SubnetAgentTest, DirectedRouteResponseHasDirectionBit) {
    const Mad response = ask(make_directed(MadMethod::get, attribute<"node_info">, {}));
    EXPECT_EQ(ConstDirectedSmp(response).get<"direction">(), 1U);
    EXPECT_EQ(ConstDirectedSmp(response).get<"status">(), 0U);
}

TEST_F(SubnetAgentTest, UnsupportedClassReportsBadVersion) {
    EXPECT_EQ(ConstMadHeader(ask(make_mad(0x0a, MadMethod::get, 1))).get<"status">(),
              code(MadStatus::bad_version));
    EXPECT_FALSE(port.process(make_mad(0x0a, MadMethod::trap, 1), {}, 0));
}

// --- M_Key ---------------------------------------------------------------------------------------

struct ManagementKeyTest : SubnetAgentTest {
    static constexpr std::uint64_t key = 0x1122'3344'5566'7788;

    Mad port_info(MadMethod method, std::uint64_t with_key) {
        Mad request = make_smp(method, attribute<"port_info">, 0, with_key);
        std::ranges::copy(port.port().port_info(1), Smp(request).bytes<"data">().begin());
        data_of<hwtab::port_info>(request).set<"port_state">(0);
        data_of<hwtab::port_info>(request).set<"port_physical_state">(0);
        return request;
    }
    void protect(std::uint64_t bits, std::uint64_t lease = 0) {
        const auto settings = port.port().settings();
        settings.set<"m_key">(key);
        settings.set<"m_key_protect_bits">(bits);
        settings.set<"m_key_lease_period">(lease);
    }
    std::uint64_t shown_key(std::uint64_t with_key) {
        return data_of<hwtab::port_info>(ask(port_info(MadMethod::get, with_key))).get<"m_key">();
    }
    std::uint64_t violations() { return port.port().settings().get<"m_key_violations">(); }
};

TEST_F(ManagementKeyTest, NoKeyAllowsEverything) {
    EXPECT_TRUE(gets_response(port_info(MadMethod::set, 0)));
    EXPECT_TRUE(gets_response(port_info(MadMethod::set, 5)));
}

TEST_F(ManagementKeyTest, Protection0ShowsKeyToAll) {
    protect(0);
    EXPECT_EQ(shown_key(1), key);
    EXPECT_FALSE(gets_response(port_info(MadMethod::set, 1)));
    EXPECT_TRUE(gets_response(port_info(MadMethod::set, key)));
}

TEST_F(ManagementKeyTest, Protection1HidesKeyWithoutKey) {
    protect(1);
    EXPECT_EQ(shown_key(1), 0U);
    EXPECT_EQ(shown_key(key), key);
    EXPECT_FALSE(gets_response(port_info(MadMethod::set, 1)));
}

TEST_F(ManagementKeyTest, Protection2Or3RefusesReadWithoutKey) {
    for (const std::uint64_t bits : {2U, 3U}) {
        protect(bits);
        EXPECT_FALSE(gets_response(port_info(MadMethod::get, 1)));
        EXPECT_TRUE(gets_response(port_info(MadMethod::get, key)));
    }
}

TEST_F(ManagementKeyTest, ViolationCounterSaturates) {
    protect(0);
    const auto refused = port.process(port_info(MadMethod::set, 1), {}, 0);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error(), MadRefusal::key_violation);
    EXPECT_EQ(violations(), 1U);
    port.port().settings().set<"m_key_violations">(0xffff);
    ask(port_info(MadMethod::set, 1));
    EXPECT_EQ(violations(), 0xffffU);
}

TEST_F(ManagementKeyTest, MadIfcIgnoreMKeySkipsCheck) {
    protect(2);
    const auto response =
        port.process(port_info(MadMethod::get, 1), {.ignore_management_key = true}, 0);
    ASSERT_TRUE(response && *response);
    EXPECT_EQ(violations(), 0U);
}

TEST_F(ManagementKeyTest, LeaseExpiryClearsProtection) {
    protect(2, 10);
    EXPECT_FALSE(gets_response(port_info(MadMethod::get, 1)));
    time.advance(seconds(9));
    EXPECT_FALSE(gets_response(port_info(MadMethod::get, 1))) << "doesn't start the lease anew";
    time.advance(seconds(1));
    EXPECT_EQ(port.port().settings().get<"m_key_protect_bits">(), 0U);
    EXPECT_TRUE(gets_response(port_info(MadMethod::get, 1)));
}

TEST_F(ManagementKeyTest, ValidKeyStopsLease) {
    protect(2, 10);
    gets_response(port_info(MadMethod::get, 1));
    time.advance(seconds(9));
    EXPECT_TRUE(gets_response(port_info(MadMethod::get, key)));
    time.advance(seconds(60));
    EXPECT_EQ(port.port().settings().get<"m_key_protect_bits">(), 2U);
}

TEST_F(ManagementKeyTest, Protection3OrZeroLeaseNeverExpires) {
    for (const auto& [bits, lease] : {std::pair{3U, 10U}, std::pair{2U, 0U}}) {
        protect(bits, lease);
        gets_response(port_info(MadMethod::get, 1));
        time.advance(seconds(3600));
        EXPECT_EQ(port.port().settings().get<"m_key_protect_bits">(), bits);
    }
}

// --- Traps ---------------------------------------------------------------------------------------

/// A port whose own host runs a subnet manager.
struct TrapTest : ManagementKeyTest {
    TrapTest() {
        client.has_qp0 = true;
        const auto settings = port.port().settings();
        settings.set<"lid">(4);
        settings.set<"master_sm_lid">(4);
        settings.set<"subnet_time_out">(18); // 1.07 s
    }
    std::vector<Mad> take_traps() {
        std::vector<Mad> traps;
        while (auto mad = client.take_mad())
            traps.push_back(*mad);
        return traps;
    }
    static std::uint64_t number(const Mad& trap) {
        return data_of<hwtab::notice>(trap).get<"trap_number">();
    }
    Mad repress(const Mad& trap) {
        Mad request = trap;
        MadHeader(request).set<"method">(static_cast<std::uint64_t>(MadMethod::trap_repress));
        return request;
    }
};

TEST_F(TrapTest, WrongManagementKeyIsReported) {
    protect(0);
    Mad request = port_info(MadMethod::set, 0xbad);
    Smp(request).set<"attribute_modifier">(1);
    EXPECT_FALSE(port.process(request, {}, 0x77));
    time.settle();
    const auto traps = take_traps();
    ASSERT_EQ(traps.size(), 1U);
    EXPECT_EQ(method_of(traps[0]), MadMethod::trap);
    const auto details = data_of<hwtab::notice_trap_256>(traps[0]);
    EXPECT_EQ(details.get<"trap_number">(), 256U);
    EXPECT_EQ(details.get<"is_generic">(), 1U);
    EXPECT_EQ(details.get<"producer_type">(), 1U);
    EXPECT_EQ(details.get<"issuer_lid">(), 4U);
    EXPECT_EQ(details.get<"lid_addr">(), 0x77U);
    EXPECT_EQ(details.get<"m_key">(), 0xbadU);
    EXPECT_EQ(details.get<"attribute_id">(), attribute<"port_info">);
    EXPECT_EQ(details.get<"attribute_modifier">(), 1U);
}

TEST_F(TrapTest, DirectedRouteTrapNamesPath) {
    protect(2);
    Mad request = make_directed(MadMethod::get, attribute<"node_info">, {1, 2});
    DirectedSmp(request).bytes<"return_path">()[1] = std::byte{7};
    DirectedSmp(request).bytes<"return_path">()[2] = std::byte{9};
    EXPECT_FALSE(port.process(request, {}, permissive_lid));
    time.settle();
    const auto traps = take_traps();
    ASSERT_EQ(traps.size(), 1U);
    const auto details = data_of<hwtab::notice_trap_256>(traps[0]);
    EXPECT_EQ(details.get<"dr_notice">(), 1U);
    EXPECT_EQ(details.get<"dr_hop_count">(), 2U);
    EXPECT_EQ(details.bytes<"dr_notice_return_path">()[0], std::byte{7});
    EXPECT_EQ(details.bytes<"dr_notice_return_path">()[1], std::byte{9});
}

TEST_F(TrapTest, WrongPKeyAndQKeyReported) {
    port.report_violation({.kind = KeyViolation::Kind::p_key,
                           .key = 0x8123,
                           .sl = 2,
                           .source = 9,
                           .destination = 4,
                           .source_qp = 0x111,
                           .destination_qp = 0x222});
    port.report_violation({.kind = KeyViolation::Kind::q_key, .key = 0xdead'beef});
    time.settle();
    const auto traps = take_traps();
    ASSERT_EQ(traps.size(), 2U);
    const auto details = data_of<hwtab::notice_trap_257_258>(traps[0]);
    EXPECT_EQ(number(traps[0]), 257U);
    EXPECT_EQ(details.get<"key">(), 0x8123U);
    EXPECT_EQ(details.get<"lid_addr1">(), 9U);
    EXPECT_EQ(details.get<"qp2">(), 0x222U);
    EXPECT_EQ(number(traps[1]), 258U);
}

TEST_F(TrapTest, ChangedCapabilitiesAndDescriptionAreReported) {
    constexpr auto is_sm =
        static_cast<std::uint32_t>(hwtab::value<hwtab::port_capability_mask, "sm">);
    port.modify_capability_mask(is_sm, is_sm);
    time.settle();
    auto traps = take_traps();
    ASSERT_EQ(traps.size(), 1U);
    EXPECT_EQ(data_of<hwtab::notice_trap_144>(traps[0]).get<"capability_mask">(),
              port.capability_mask());
    EXPECT_NE(port.capability_mask() & is_sm, 0U);
    port.set_node_description("new name");
    time.settle();
    traps = take_traps();
    ASSERT_EQ(traps.size(), 1U);
    EXPECT_EQ(data_of<hwtab::notice_trap_144>(traps[0]).get<"other_local_changes">(), 1U);
    EXPECT_EQ(data_of<hwtab::notice_trap_144>(traps[0]).get<"changes">(), 1U);
    port.set_system_image_guid(0x77);
    time.settle();
    traps = take_traps();
    ASSERT_EQ(traps.size(), 1U);
    EXPECT_EQ(data_of<hwtab::notice_trap_145>(traps[0]).get<"system_image_guid">(), 0x77U);
}

TEST_F(TrapTest, UnknownManagerSendsNoTrap) {
    port.port().settings().set<"master_sm_lid">(0);
    port.set_node_description("a");
    time.advance(seconds(10));
    EXPECT_TRUE(take_traps().empty());
}

TEST_F(TrapTest, TrapRepeatedUntilRepressed) {
    port.set_node_description("a");
    time.settle();
    const auto first = take_traps();
    ASSERT_EQ(first.size(), 1U);
    time.advance(seconds(2));
    const auto second = take_traps();
    ASSERT_EQ(second.size(), 1U);
    EXPECT_EQ(second[0], first[0]) << "same transaction";
    const auto stopped = port.process(repress(first[0]), {}, 4);
    ASSERT_TRUE(stopped);
    EXPECT_FALSE(stopped->has_value()) << "TrapRepress gets no response";
    time.advance(seconds(60));
    EXPECT_TRUE(take_traps().empty());
}

TEST_F(TrapTest, TrapRepetitionKeepsSubnetInterval) {
    port.set_node_description("a");
    time.settle();
    for (int step = 0; step < 100; ++step)
        time.advance(std::chrono::milliseconds(100));
    const auto count = take_traps().size();
    EXPECT_GE(count, 8U);
    EXPECT_LE(count, 11U);
}

TEST_F(TrapTest, RepressOfOtherTransactionStopsTrap) {
    port.set_node_description("a");
    time.settle();
    Mad request = repress(take_traps().at(0));
    Smp(request).set<"transaction_id">(0xffff);
    EXPECT_TRUE(port.process(request, {}, 4));
    time.advance(seconds(60));
    EXPECT_TRUE(take_traps().empty());
}

TEST_F(TrapTest, NewerNoticeOfSameNumberReplacesOlder) {
    port.set_node_description("a");
    port.modify_capability_mask(2, 2);
    time.settle();
    take_traps();
    time.advance(seconds(2));
    const auto traps = take_traps();
    ASSERT_EQ(traps.size(), 1U);
    EXPECT_EQ(data_of<hwtab::notice_trap_144>(traps[0]).get<"other_local_changes">(), 0U);
}

TEST_F(TrapTest, WaitingNoticesCanBeReadAndDropped) {
    port.set_node_description("a");
    port.report_violation({.kind = KeyViolation::Kind::q_key});
    Mad response = ask(make_smp(MadMethod::get, attribute<"notice">));
    EXPECT_EQ(number(response), 144U);
    EXPECT_EQ(data_of<hwtab::notice>(response).get<"notice_count">(), 2U);
    ask(make_smp(MadMethod::set, attribute<"notice">));
    response = ask(make_smp(MadMethod::get, attribute<"notice">));
    EXPECT_EQ(number(response), 258U);
    ask(make_smp(MadMethod::set, attribute<"notice">));
    response = ask(make_smp(MadMethod::get, attribute<"notice">));
    EXPECT_EQ(data_of<hwtab::notice>(response).get<"type">(), 0x7fU) << "none is left";
}

} // namespace
} // namespace cxemu::fabric
