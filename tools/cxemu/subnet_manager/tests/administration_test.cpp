// SPDX-License-Identifier: GPL-2.0-or-later
//
// Subnet administration as hosts ask it, by MADs to QP1.
#include "subnet_manager/tests/fixtures.hpp"

#include <gtest/gtest.h>

namespace cxemu::subnet_manager {
namespace {

using namespace testing;
using SaMad = hwtab::View<hwtab::sa_mad>;
using ConstSaMad = hwtab::ConstView<hwtab::sa_mad>;

template <hwtab::FixedString name>
constexpr std::uint64_t record = hwtab::value<hwtab::sa_attribute, name>;
template <hwtab::FixedString name>
constexpr std::uint64_t of_path = hwtab::value<hwtab::path_record_component, name>;
template <hwtab::FixedString name>
constexpr std::uint64_t of_member = hwtab::value<hwtab::mc_member_record_component, name>;
template <hwtab::FixedString name>
constexpr std::uint64_t sa_status = hwtab::value<hwtab::sa_status, name>;
template <hwtab::FixedString name>
constexpr std::uint64_t mad_status = hwtab::value<hwtab::mad_status, name>;
template <hwtab::FixedString name>
constexpr std::uint64_t join_state = hwtab::value<hwtab::mc_join_state, name>;
template <hwtab::FixedString name>
constexpr std::uint64_t rmpp = hwtab::value<hwtab::rmpp_type, name>;
template <hwtab::FixedString name>
constexpr std::uint64_t trap = hwtab::value<hwtab::trap_number, name>;

constexpr std::uint64_t to_join =
    of_member<"mgid"> | of_member<"port_gid"> | of_member<"join_state">;
constexpr std::uint64_t to_create = to_join | of_member<"q_key"> | of_member<"tclass"> |
                                    of_member<"p_key"> | of_member<"flow_label"> | of_member<"sl">;

const fabric::Gid ipoib_broadcast{0xff12'401b'ffff'0000, 0xffff'ffff};
const fabric::Gid other_group{0xff12'0000'0000'0000, 0x1234};

/// Three hosts at ports 1 to 3 of a switch whose manager has brought them up.
struct AdministrationTest : ::testing::Test, ManagedNetwork {
    AdministrationTest() {
        Switch& one = add_switch(0);
        for (std::uint8_t port = 1; port <= 3; ++port)
            add_host(one, port);
        time.settle();
        start();
        settle();
    }

    [[nodiscard]] fabric::Gid gid(std::size_t host) const { return hosts[host]->port.gid(0); }

    static Mad make_request(MadMethod method, std::uint64_t attribute, std::uint64_t mask = 0) {
        static std::uint64_t transaction = 0x100;
        Mad mad{};
        const SaMad view(mad);
        view.set<"base_version">(1);
        view.set<"mgmt_class">(hwtab::value<hwtab::mgmt_class, "subn_adm">);
        view.set<"class_version">(2);
        view.set<"method">(static_cast<std::uint64_t>(method));
        view.set<"transaction_id">(++transaction);
        view.set<"attribute_id">(attribute);
        view.set<"component_mask">(mask);
        return mad;
    }
    void send(std::size_t host, const Mad& mad) {
        const HcaPort& port = hosts[host]->port;
        hosts[host]->port.send(general_services_packet(mad, port.lid(), port.sm_lid()));
        settle();
    }
    /// \return the response; zeros without one
    Mad ask(std::size_t host, const Mad& request) {
        hosts[host]->arrivals.clear();
        send(host, request);
        return hosts[host]->take_mad().value_or(Mad{});
    }
    static std::uint64_t status(const Mad& mad) { return ConstSaMad(mad).get<"status">(); }

    template <const hwtab::Layout& layout>
    static hwtab::View<layout> data(Mad& mad) {
        return SaMad(mad).nested<"data", layout>();
    }
    template <const hwtab::Layout& layout>
    static hwtab::ConstView<layout> data(const Mad& mad) {
        return ConstSaMad(mad).nested<"data", layout>();
    }
    static void put(std::span<std::byte> field, const fabric::Gid& value) {
        std::ranges::copy(value.bytes, field.begin());
    }

    Mad path_request(const fabric::Gid& from, const fabric::Gid& to, std::uint64_t more = 0,
                     MadMethod method = MadMethod::get) {
        Mad request = make_request(method, record<"path_rec">,
                                   of_path<"sgid"> | of_path<"dgid"> | of_path<"numb_path"> | more);
        const auto path = data<hwtab::path_record>(request);
        put(path.bytes<"sgid">(), from);
        put(path.bytes<"dgid">(), to);
        path.set<"numb_path">(1);
        return request;
    }
    Mad member_request(MadMethod method, const fabric::Gid& group, std::size_t member,
                       std::uint64_t state, std::uint64_t mask = to_join) {
        Mad request = make_request(method, record<"mc_member_rec">, mask);
        const auto view = data<hwtab::mc_member_record>(request);
        put(view.bytes<"mgid">(), group);
        put(view.bytes<"port_gid">(), gid(member));
        view.set<"join_state">(state);
        view.set<"q_key">(0x0b1b);
        view.set<"p_key">(fabric::default_p_key);
        return request;
    }
    Mad join(std::size_t host, const fabric::Gid& group,
             std::uint64_t state = join_state<"full_member">, std::uint64_t mask = to_join) {
        return ask(host, member_request(MadMethod::set, group, host, state, mask));
    }
    Mad leave(std::size_t host, const fabric::Gid& group,
              std::uint64_t state = join_state<"full_member">) {
        return ask(host, member_request(MadMethod::remove, group, host, state));
    }
    Mad subscribe(std::size_t host, std::uint64_t wanted_trap, bool begins = true) {
        Mad request = make_request(MadMethod::set, record<"inform_info">);
        const auto info = data<hwtab::inform_info>(request);
        info.set<"lid_range_begin">(0xffff);
        info.set<"is_generic">(1);
        info.set<"subscribe">(begins ? 1 : 0);
        info.set<"type">(0xffff);
        info.set<"trap_number">(wanted_trap);
        info.set<"producer_type">(0xff'ffff);
        return ask(host, request);
    }

    void acknowledge(std::size_t host, const Mad& segment, std::uint64_t number,
                     std::uint64_t window_last) {
        Mad ack = segment;
        const SaMad view(ack);
        view.set<"method">(static_cast<std::uint64_t>(MadMethod::get_table));
        view.set<"rmpp_header.rmpp_type">(rmpp<"ack">);
        view.set<"rmpp_header.rmpp_flags">(hwtab::value<hwtab::rmpp_flags, "active">);
        view.set<"rmpp_header.segment_number">(number);
        view.set<"rmpp_header.new_window_last">(window_last);
        send(host, ack);
    }
    /// Receives a table segment by segment. \return its bytes, with padding
    std::vector<std::byte> receive_table(std::size_t host, const Mad& request) {
        constexpr std::uint64_t header = 20; // of the class, in each segment
        std::vector<std::byte> bytes;
        std::uint64_t expected = 1;
        std::uint64_t whole = 0;
        for (Mad segment = ask(host, request);; ++expected) {
            const ConstSaMad view(segment);
            EXPECT_EQ(view.get<"method">(), 0x92U);
            EXPECT_EQ(view.get<"rmpp_header.segment_number">(), expected);
            const auto content = view.bytes<"data">();
            bytes.insert(bytes.end(), content.begin(), content.end());
            const auto flags = view.get<"rmpp_header.rmpp_flags">();
            const auto length = view.get<"rmpp_header.payload_length">();
            if ((flags & hwtab::value<hwtab::rmpp_flags, "first">) != 0)
                whole = length;
            const bool is_last = (flags & hwtab::value<hwtab::rmpp_flags, "last">) != 0;
            hosts[host]->arrivals.clear();
            acknowledge(host, segment, expected, expected + (is_last ? 0 : 1));
            if (is_last || expected == 100) {
                EXPECT_EQ(bytes.size() - content.size() + length - header,
                          whole - (expected * header));
                bytes.resize(whole - (expected * header));
                return bytes;
            }
            segment = hosts[host]->take_mad().value_or(Mad{});
        }
    }
    std::size_t table_size(std::size_t host, const Mad& request, std::size_t record_size) {
        return receive_table(host, request).size() / record_size;
    }
    static constexpr std::size_t padded(std::size_t size) { return (size + 7) / 8 * 8; }
};

// --- Status --------------------------------------------------------------------------------------

TEST_F(AdministrationTest, ClassPortInfoReportsCapabilities) {
    const Mad reply = ask(0, make_request(MadMethod::get, record<"class_portinfo">));
    EXPECT_EQ(status(reply), 0U);
    EXPECT_EQ(ConstSaMad(reply).get<"method">(), 0x81U);
    const auto info = data<hwtab::class_port_info>(reply);
    EXPECT_EQ(info.get<"class_version">(), 2U);
    // 15.2.5.1: UD multicast is bit 9; the kernel looks for bit 12 of CapabilityMask2 before it
    // joins as send-only full member.
    EXPECT_NE(info.get<"capability_mask">() & (1U << 9U), 0U);
    EXPECT_NE(info.get<"capability_mask2">() & (1U << 12U), 0U);
}

TEST_F(AdministrationTest, UnsupportedRequestReportsStatus) {
    EXPECT_EQ(status(ask(0, make_request(MadMethod::get, record<"service_rec">))),
              mad_status<"unsupported_method_attrib">);
    EXPECT_EQ(status(ask(0, make_request(MadMethod::set, record<"node_rec">))),
              mad_status<"unsupported_method_attrib">);
    constexpr auto get_trace = static_cast<MadMethod>(0x13);
    EXPECT_EQ(status(ask(0, make_request(get_trace, record<"path_rec">))),
              mad_status<"unsupported_method">);
    Mad old = make_request(MadMethod::get, record<"class_portinfo">);
    SaMad(old).set<"class_version">(1);
    EXPECT_EQ(status(ask(0, old)), mad_status<"bad_version">);
}

TEST_F(AdministrationTest, ResponseHidesSmKey) {
    Mad request = make_request(MadMethod::get, record<"class_portinfo">);
    SaMad(request).set<"sm_key">(1);
    EXPECT_EQ(ConstSaMad(ask(0, request)).get<"sm_key">(), 0U);
}

TEST_F(AdministrationTest, StandbyManagerSendsNoResponse) {
    hosts[2]->run_manager(15, ManagerState::standby);
    advance(seconds(2));
    ASSERT_EQ(manager->state(), ManagerState::standby);
    EXPECT_EQ(ask(0, make_request(MadMethod::get, record<"class_portinfo">)), Mad{});
}

// --- Paths ---------------------------------------------------------------------------------------

TEST_F(AdministrationTest, PathRecordDescribesLinksBetween) {
    const Mad reply = ask(0, path_request(gid(0), gid(1)));
    EXPECT_EQ(status(reply), 0U);
    const auto path = data<hwtab::path_record>(reply);
    EXPECT_EQ(path.get<"slid">(), hosts[0]->port.lid());
    EXPECT_EQ(path.get<"dlid">(), hosts[1]->port.lid());
    EXPECT_EQ(path.get<"mtu">(), 5U);   // 4096 bytes, which all have
    EXPECT_EQ(path.get<"rate">(), 16U); // 4x EDR: 100 Gb/s
    EXPECT_EQ(path.get<"p_key">(), 0xffffU);
    EXPECT_EQ(path.get<"reversible">(), 1U);
    EXPECT_EQ(path.get<"packet_life_time">(), 18U);
    EXPECT_EQ(path.get<"mtu_selector">(), 2U); // exactly
    EXPECT_EQ(fabric::Gid(path.bytes<"dgid">()), gid(1));
    EXPECT_EQ(fabric::Gid(path.bytes<"sgid">()), gid(0));
}

TEST_F(AdministrationTest, SlowestLinkLimitsPathRate) {
    fabric::HcaPortSettings settings = port_settings(3);
    settings.speeds = fabric::speeds_up_to(fabric::LaneSpeed::qdr);
    settings.mtu_cap = 3;
    hosts.push_back(std::make_unique<Host>(time.loop, settings));
    connect(hosts.back()->port.port(), switches[0]->port(4));
    settle();
    for (const auto& reply :
         {ask(0, path_request(gid(0), gid(3))), ask(3, path_request(gid(3), gid(0)))}) {
        const auto path = data<hwtab::path_record>(reply);
        EXPECT_EQ(path.get<"rate">(), 7U); // 4x QDR: 40 Gb/s
        EXPECT_EQ(path.get<"mtu">(), 3U);  // 1024 bytes
    }
}

TEST_F(AdministrationTest, RatesComparedByValueNotCode) {
    fabric::HcaPortSettings slow = port_settings(3);
    slow.widths = fabric::mask_of(fabric::LinkWidth::x1);
    slow.speeds = fabric::speeds_up_to(fabric::LaneSpeed::fdr);
    fabric::HcaPortSettings fast = port_settings(4);
    fast.speeds = fabric::speeds_up_to(fabric::LaneSpeed::qdr);
    for (const auto& settings : {slow, fast}) {
        hosts.push_back(std::make_unique<Host>(time.loop, settings));
        connect(hosts.back()->port.port(),
                switches[0]->port(static_cast<std::uint8_t>(hosts.size())));
    }
    settle();
    const Mad reply = ask(4, path_request(gid(4), gid(3)));
    EXPECT_EQ(data<hwtab::path_record>(reply).get<"rate">(), 11U); // 14 Gb/s; 40 Gb/s is 7
}

TEST_F(AdministrationTest, PathToUnknownPortReportsInvalidGid) {
    const fabric::Gid unknown(fabric::default_gid_prefix, 0x1234);
    EXPECT_EQ(status(ask(0, path_request(gid(0), unknown))), sa_status<"req_invalid_gid">);
}

TEST_F(AdministrationTest, PathOutsideSelectorReportsNoRecords) {
    Mad request = path_request(gid(0), gid(1), of_path<"rate"> | of_path<"rate_selector">);
    const auto path = data<hwtab::path_record>(request);
    path.set<"rate_selector">(hwtab::value<hwtab::sa_selector, "gt">);
    path.set<"rate">(16);
    EXPECT_EQ(status(ask(0, request)), sa_status<"no_records">);
    path.set<"rate">(7); // 40 Gb/s, though its code is below that of 14 Gb/s
    EXPECT_EQ(status(ask(0, request)), 0U);
    path.set<"rate">(11);
    EXPECT_EQ(status(ask(0, request)), 0U);
}

TEST_F(AdministrationTest, PathInOtherPartitionReportsNoRecords) {
    Mad request = path_request(gid(0), gid(1), of_path<"p_key">);
    data<hwtab::path_record>(request).set<"p_key">(0x8005);
    EXPECT_EQ(status(ask(0, request)), sa_status<"no_records">);
}

TEST_F(AdministrationTest, GetOfSeveralPathsReportsTooManyRecords) {
    EXPECT_EQ(status(ask(0, make_request(MadMethod::get, record<"path_rec">))),
              sa_status<"too_many_records">);
}

TEST_F(AdministrationTest, TableOfPathsHasAllPairs) {
    // Four end ports with the switch: 16 pairs of 64 bytes.
    EXPECT_EQ(table_size(0, make_request(MadMethod::get_table, record<"path_rec">),
                         hwtab::path_record.size),
              16U);
}

TEST_F(AdministrationTest, PathToMulticastGroupHasMlid) {
    ASSERT_EQ(status(join(0, ipoib_broadcast)), 0U);
    const Mad reply = ask(0, path_request(gid(0), ipoib_broadcast));
    EXPECT_EQ(status(reply), 0U);
    const auto path = data<hwtab::path_record>(reply);
    EXPECT_EQ(path.get<"dlid">(), fabric::first_multicast_lid);
    EXPECT_EQ(path.get<"mtu">(), 4U); // 2048 bytes, as the group has it
}

// --- Nodes and ports -----------------------------------------------------------------------------

TEST_F(AdministrationTest, NodeRecordByLid) {
    Mad request = make_request(MadMethod::get, record<"node_rec">, 0x1); // LID
    data<hwtab::node_record>(request).set<"lid">(hosts[1]->port.lid());
    const Mad reply = ask(0, request);
    EXPECT_EQ(status(reply), 0U);
    const auto node = data<hwtab::node_record>(reply);
    EXPECT_EQ(node.get<"node_info.port_guid">(), hosts[1]->port.port_guid());
    EXPECT_EQ(node.get<"node_info.node_guid">(), hosts[1]->port.node_guid());
    EXPECT_EQ(std::to_integer<char>(node.bytes<"node_description">()[0]), 'n'); // "node 1"
}

TEST_F(AdministrationTest, TableOfNodesComesInSegments) {
    const auto table = receive_table(0, make_request(MadMethod::get_table, record<"node_rec">));
    constexpr std::size_t size = padded(hwtab::node_record.size);
    ASSERT_EQ(table.size(), 4 * size);
    std::set<Guid> found;
    for (std::size_t at = 0; at < table.size(); at += size) {
        const hwtab::ConstView<hwtab::node_record> node(
            std::span<const std::byte>(table).subspan(at, size));
        found.insert(node.get<"node_info.port_guid">());
    }
    EXPECT_EQ(found.size(), 4U);
    EXPECT_TRUE(found.contains(hosts[2]->port.port_guid()));
}

TEST_F(AdministrationTest, TableWithoutRecordsIsOneEmptySegment) {
    Mad request = make_request(MadMethod::get_table, record<"node_rec">, 0x1);
    data<hwtab::node_record>(request).set<"lid">(0x1234);
    EXPECT_TRUE(receive_table(0, request).empty());
}

TEST_F(AdministrationTest, PortsFoundByCapabilities) {
    constexpr std::uint64_t capability_mask = 1U << 7U;
    Mad request = make_request(MadMethod::get_table, record<"port_info_rec">, capability_mask);
    SaMad(request).set<"attribute_modifier">(1U << 31U); // all bits of the query
    data<hwtab::port_info_record>(request).set<"port_info.capability_mask">(
        fabric::capability_mask_of<"sm">);
    const auto table = receive_table(0, request);
    ASSERT_EQ(table.size(), padded(hwtab::port_info_record.size));
    const hwtab::ConstView<hwtab::port_info_record> port(table);
    EXPECT_EQ(port.get<"endport_lid">(), hosts[0]->port.sm_lid());
}

TEST_F(AdministrationTest, PortInfoRecordCoversExternalSwitchPorts) {
    Mad request = make_request(MadMethod::get, record<"port_info_rec">, 0x3); // LID and port
    const auto wanted = data<hwtab::port_info_record>(request);
    wanted.set<"endport_lid">(hosts[0]->port.sm_lid());
    wanted.set<"port_num">(2);
    const Mad reply = ask(0, request);
    EXPECT_EQ(status(reply), 0U);
    EXPECT_EQ(data<hwtab::port_info_record>(reply).get<"port_info.port_state">(), 4U);
}

// --- RMPP ----------------------------------------------------------------------------------------

TEST_F(AdministrationTest, UnacknowledgedSegmentRepeatedThenAborted) {
    send(0, make_request(MadMethod::get_table, record<"node_rec">));
    ASSERT_EQ(hosts[0]->arrivals.size(), 1U); // the first window is one segment
    advance(RmppSender::timeout * 10);
    ASSERT_EQ(hosts[0]->arrivals.size(), RmppSender::attempts + 1U);
    Mad last{};
    while (const auto mad = hosts[0]->take_mad())
        last = *mad;
    EXPECT_EQ(ConstSaMad(last).get<"rmpp_header.rmpp_type">(), rmpp<"abort">);
    const auto too_many_retries = hwtab::value<hwtab::rmpp_status, "tmr">;
    EXPECT_EQ(ConstSaMad(last).get<"rmpp_header.rmpp_status">(), too_many_retries);
}

TEST_F(AdministrationTest, WindowOfSeveralSegmentsIsSentAtOnce) {
    const Mad first = ask(0, make_request(MadMethod::get_table, record<"path_rec">));
    acknowledge(0, first, 1, 4);
    EXPECT_EQ(hosts[0]->arrivals.size(), 3U);
    hosts[0]->arrivals.clear();
    acknowledge(0, first, 4, 10);
    EXPECT_EQ(hosts[0]->arrivals.size(), 2U); // 16 records of 64 bytes: 6 segments of 200
}

TEST_F(AdministrationTest, AckOfUnsentSegmentAbortsTransfer) {
    const Mad first = ask(0, make_request(MadMethod::get_table, record<"path_rec">));
    acknowledge(0, first, 5, 6);
    const Mad reply = hosts[0]->take_mad().value_or(Mad{});
    EXPECT_EQ(ConstSaMad(reply).get<"rmpp_header.rmpp_type">(), rmpp<"abort">);
    hosts[0]->arrivals.clear();
    advance(RmppSender::timeout * 10);
    EXPECT_TRUE(hosts[0]->arrivals.empty());
}

// --- Multicast -----------------------------------------------------------------------------------

TEST_F(AdministrationTest, IpoibBroadcastGroupExists) {
    const Mad reply = join(0, ipoib_broadcast);
    EXPECT_EQ(status(reply), 0U);
    const auto group = data<hwtab::mc_member_record>(reply);
    // As OpenSM creates it without a configuration.
    EXPECT_EQ(group.get<"mlid">(), 0xc000U);
    EXPECT_EQ(group.get<"q_key">(), 0x0b1bU);
    EXPECT_EQ(group.get<"mtu">(), 4U);
    EXPECT_EQ(group.get<"rate">(), 3U);
    EXPECT_EQ(group.get<"p_key">(), 0xffffU);
    EXPECT_EQ(group.get<"join_state">(), join_state<"full_member">);
    EXPECT_EQ(fabric::Gid(group.bytes<"port_gid">()), gid(0));
}

TEST_F(AdministrationTest, GroupPacketsReachMembersOnly) {
    ASSERT_EQ(status(join(0, ipoib_broadcast)), 0U);
    EXPECT_FALSE(reaches(*hosts[0], *hosts[1], 0xc000));
    ASSERT_EQ(status(join(1, ipoib_broadcast)), 0U);
    EXPECT_TRUE(reaches(*hosts[0], *hosts[1], 0xc000)); // as soon as the join is answered
    EXPECT_FALSE(reaches(*hosts[0], *hosts[2], 0xc000));
    ASSERT_EQ(status(leave(1, ipoib_broadcast)), 0U);
    EXPECT_FALSE(reaches(*hosts[0], *hosts[1], 0xc000));
}

TEST_F(AdministrationTest, SendOnlyMemberReceivesNothing) {
    ASSERT_EQ(status(join(0, ipoib_broadcast)), 0U);
    ASSERT_EQ(status(join(1, ipoib_broadcast, join_state<"send_only_full_member">)), 0U);
    EXPECT_FALSE(reaches(*hosts[0], *hosts[1], 0xc000));
    EXPECT_TRUE(reaches(*hosts[1], *hosts[0], 0xc000));
}

TEST_F(AdministrationTest, LeftGroupNotForwardedWhileHigherOnesAre) {
    // As many groups as a block of the forwarding table has, and one in the next block.
    constexpr std::uint64_t groups = 32;
    const auto numbered = [](std::uint64_t number) {
        return fabric::Gid{other_group.prefix(), number};
    };
    for (std::uint64_t number = 0; number <= groups; ++number)
        ASSERT_EQ(status(join(1, numbered(number), join_state<"full_member">, to_create)), 0U);
    EXPECT_TRUE(reaches(*hosts[0], *hosts[1], 0xc001));
    for (std::uint64_t number = 0; number < groups; ++number)
        ASSERT_EQ(status(leave(1, numbered(number))), 0U);
    EXPECT_FALSE(reaches(*hosts[0], *hosts[1], 0xc001));
    EXPECT_TRUE(reaches(*hosts[0], *hosts[1], 0xc021));
}

TEST_F(AdministrationTest, GroupCreationRequiresFields) {
    EXPECT_EQ(status(join(0, other_group)), sa_status<"req_insufficient_components">);
    EXPECT_EQ(status(join(0, other_group, join_state<"non_member">, to_create)),
              sa_status<"req_invalid">);
    const Mad reply = join(0, other_group, join_state<"full_member">, to_create);
    EXPECT_EQ(status(reply), 0U);
    const auto group = data<hwtab::mc_member_record>(reply);
    EXPECT_EQ(group.get<"mlid">(), 0xc001U);
    EXPECT_EQ(group.get<"mtu">(), 5U);   // what the creator's port has
    EXPECT_EQ(group.get<"rate">(), 16U); //
    EXPECT_EQ(group.get<"scope">(), 2U); // of the MGID
}

TEST_F(AdministrationTest, GroupWithoutMgidGetsOne) {
    const Mad reply = join(0, fabric::Gid(), join_state<"full_member">, to_create);
    EXPECT_EQ(status(reply), 0U);
    const fabric::Gid made(data<hwtab::mc_member_record>(reply).bytes<"mgid">());
    EXPECT_EQ(made.prefix() >> 32U, 0xff12'a01bU); // IBA volume 1, 15.2.5.17: signature 0xa01b
    EXPECT_EQ(status(join(1, made)), 0U);
}

TEST_F(AdministrationTest, LastFullMemberLeavingDestroysGroup) {
    ASSERT_EQ(status(join(0, other_group, join_state<"full_member">, to_create)), 0U);
    ASSERT_EQ(status(join(1, other_group, join_state<"non_member">)), 0U);
    ASSERT_EQ(status(leave(0, other_group)), 0U);
    EXPECT_EQ(status(join(2, other_group)), sa_status<"req_insufficient_components">);
    ASSERT_EQ(status(join(0, ipoib_broadcast)), 0U);
    ASSERT_EQ(status(leave(0, ipoib_broadcast)), 0U);
    EXPECT_EQ(status(join(0, ipoib_broadcast)), 0U); // stays
}

TEST_F(AdministrationTest, JoinContradictingGroupRefused) {
    EXPECT_EQ(
        status(join(0, ipoib_broadcast, join_state<"full_member">, to_join | of_member<"q_key">)),
        0U);
    Mad request = member_request(MadMethod::set, ipoib_broadcast, 1, join_state<"full_member">,
                                 to_join | of_member<"q_key">);
    data<hwtab::mc_member_record>(request).set<"q_key">(0x1234);
    EXPECT_EQ(status(ask(1, request)), sa_status<"req_invalid">);
    request = member_request(MadMethod::set, ipoib_broadcast, 1, join_state<"full_member">,
                             to_join | of_member<"mtu"> | of_member<"mtu_selector">);
    data<hwtab::mc_member_record>(request).set<"mtu_selector">(
        hwtab::value<hwtab::sa_selector, "gt">);
    data<hwtab::mc_member_record>(request).set<"mtu">(4);
    EXPECT_EQ(status(ask(1, request)), sa_status<"req_invalid">);
}

TEST_F(AdministrationTest, MemberRemovalByOtherPortRefused) {
    ASSERT_EQ(status(join(0, ipoib_broadcast)), 0U);
    EXPECT_EQ(status(ask(1, member_request(MadMethod::remove, ipoib_broadcast, 0,
                                           join_state<"full_member">))),
              sa_status<"req_invalid">);
    EXPECT_EQ(status(leave(1, ipoib_broadcast)), sa_status<"req_invalid">); // is no member
    EXPECT_EQ(status(leave(0, ipoib_broadcast, join_state<"non_member">)),
              sa_status<"req_invalid">); // isn't that
    EXPECT_EQ(status(leave(0, ipoib_broadcast)), 0U);
}

TEST_F(AdministrationTest, MembersReportedToTrustedRequestsOnly) {
    ASSERT_EQ(status(join(0, ipoib_broadcast)), 0U);
    ASSERT_EQ(status(join(1, ipoib_broadcast)), 0U);
    Mad request = make_request(MadMethod::get_table, record<"mc_member_rec">);
    constexpr std::size_t size = padded(hwtab::mc_member_record.size);
    const auto groups = receive_table(0, request);
    ASSERT_EQ(groups.size(), size);
    const hwtab::ConstView<hwtab::mc_member_record> group(groups);
    EXPECT_EQ(fabric::Gid(group.bytes<"port_gid">()), fabric::Gid());
    request = make_request(MadMethod::get_table, record<"mc_member_rec">);
    SaMad(request).set<"sm_key">(ManagerSettings{}.sm_key);
    EXPECT_EQ(table_size(0, request, size), 2U);
}

TEST_F(AdministrationTest, UnpluggedPortIsNoMember) {
    ASSERT_EQ(status(join(1, ipoib_broadcast)), 0U);
    links[1]->set_plugged(false);
    settle();
    Mad request = make_request(MadMethod::get_table, record<"mc_member_rec">);
    SaMad(request).set<"sm_key">(ManagerSettings{}.sm_key);
    EXPECT_TRUE(receive_table(0, request).empty());
}

TEST_F(AdministrationTest, MulticastCrossesSwitchesWithoutCopies) {
    // Two more switches in a triangle with the first one: packets must not go around.
    for (unsigned number = 1; number <= 2; ++number)
        add_switch(number);
    connect(switches[0]->port(7), switches[1]->port(7));
    connect(switches[0]->port(8), switches[2]->port(8));
    connect(switches[1]->port(6), switches[2]->port(6));
    for (std::size_t at = 1; at <= 2; ++at)
        add_host(*switches[at], 1);
    settle();
    ASSERT_EQ(status(join(0, ipoib_broadcast)), 0U);
    ASSERT_EQ(status(join(3, ipoib_broadcast)), 0U);
    ASSERT_EQ(status(join(4, ipoib_broadcast)), 0U);
    for (const std::size_t from : {0U, 3U, 4U}) {
        for (const auto& host : hosts)
            host->arrivals.clear();
        hosts[from]->port.send(make_datagram(hosts[from]->port.lid(), 0xc000, 0xff'ffff));
        settle();
        for (const std::size_t to : {0U, 1U, 3U, 4U})
            EXPECT_EQ(hosts[to]->arrivals.size(), to == from || to == 1 ? 0U : 1U)
                << from << " to " << to;
    }
}

// --- Events --------------------------------------------------------------------------------------

TEST_F(AdministrationTest, SubscriberNotifiedOfPortChanges) {
    ASSERT_EQ(status(subscribe(0, 0xffff)), 0U);
    hosts[0]->arrivals.clear();
    links[1]->set_plugged(false);
    settle();
    std::vector<std::uint64_t> traps;
    fabric::Gid gone;
    while (const auto mad = hosts[0]->take_mad()) {
        EXPECT_EQ(ConstSaMad(*mad).get<"method">(), 0x06U);
        const auto notice = data<hwtab::notice_trap_64_67>(*mad);
        traps.push_back(notice.get<"trap_number">());
        if (traps.back() == trap<"gid_out_of_service">)
            gone = fabric::Gid(notice.bytes<"gid_addr">());
    }
    EXPECT_TRUE(std::ranges::contains(traps, trap<"link_state_change">));
    EXPECT_TRUE(std::ranges::contains(traps, trap<"gid_out_of_service">));
    EXPECT_EQ(gone, gid(1));
}

TEST_F(AdministrationTest, ReportRepeatedUntilResponse) {
    ASSERT_EQ(status(subscribe(0, trap<"multicast_group_created">)), 0U);
    ASSERT_EQ(status(join(1, other_group, join_state<"full_member">, to_create)), 0U);
    const auto report = hosts[0]->take_mad();
    ASSERT_TRUE(report);
    EXPECT_EQ(fabric::Gid(data<hwtab::notice_trap_64_67>(*report).bytes<"gid_addr">()),
              other_group);
    advance(Subscriptions::timeout + milliseconds(100));
    EXPECT_EQ(hosts[0]->arrivals.size(), 1U);
    Mad reply = *report;
    SaMad(reply).set<"method">(static_cast<std::uint64_t>(MadMethod::report_response));
    send(1, reply); // of a host that has no such report
    advance(Subscriptions::timeout + milliseconds(100));
    EXPECT_EQ(hosts[0]->arrivals.size(), 2U);
    send(0, reply);
    hosts[0]->arrivals.clear();
    advance(Subscriptions::timeout * 10);
    EXPECT_TRUE(hosts[0]->arrivals.empty());
}

TEST_F(AdministrationTest, SubscriptionEnds) {
    ASSERT_EQ(status(subscribe(0, trap<"multicast_group_created">)), 0U);
    ASSERT_EQ(status(subscribe(0, trap<"multicast_group_created">, false)), 0U);
    EXPECT_EQ(status(subscribe(0, trap<"multicast_group_created">, false)),
              sa_status<"req_invalid">);
    hosts[0]->arrivals.clear();
    ASSERT_EQ(status(join(1, other_group, join_state<"full_member">, to_create)), 0U);
    EXPECT_TRUE(hosts[0]->arrivals.empty());
}

// --- Rates ---------------------------------------------------------------------------------------

struct RateCase {
    fabric::LinkWidth width;
    fabric::LaneSpeed speed;
    std::uint8_t code; ///< InfiniBand specification, table of PathRecord rates
};

struct RateCodes : ::testing::TestWithParam<RateCase> {};

TEST_P(RateCodes, RateCodeMatchesLink) {
    const RateCase& expected = GetParam();
    SubnetPort port;
    const hwtab::View<hwtab::port_info> info(port.info);
    info.set<"link_width_active">(fabric::port_info_widths(fabric::mask_of(expected.width)));
    const auto basic = fabric::port_info_speeds(fabric::mask_of(expected.speed));
    info.set<"link_speed_active">(basic == 0 ? 4 : basic);
    info.set<"link_speed_ext_active">(
        fabric::port_info_extended_speeds(fabric::mask_of(expected.speed)));
    EXPECT_EQ(rate_code_of(port), expected.code);
}

using enum fabric::LinkWidth;
using enum fabric::LaneSpeed;
INSTANTIATE_TEST_SUITE_P(
    Links, RateCodes,
    ::testing::Values(RateCase{x1, sdr, 2}, RateCase{x4, sdr, 3}, RateCase{x12, sdr, 4},
                      RateCase{x1, ddr, 5}, RateCase{x4, ddr, 6}, RateCase{x4, qdr, 7},
                      RateCase{x12, qdr, 10}, RateCase{x1, fdr, 11}, RateCase{x4, fdr, 12},
                      RateCase{x1, edr, 15}, RateCase{x4, edr, 16}, RateCase{x2, edr, 20},
                      RateCase{x4, hdr, 17}, RateCase{x12, hdr, 22}, RateCase{x4, ndr, 21}));

} // namespace
} // namespace cxemu::subnet_manager
