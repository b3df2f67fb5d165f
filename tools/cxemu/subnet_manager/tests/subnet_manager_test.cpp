// SPDX-License-Identifier: GPL-2.0-or-later
//
// What the manager makes of a fabric: LIDs, states, forwarding; changes, losses, silent nodes.
#include "subnet_manager/tests/fixtures.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace cxemu::subnet_manager {
namespace {

using namespace testing;

/// Three hosts at ports 1 to 3 of a switch.
struct SubnetManagerTest : ::testing::Test, ManagedNetwork {
    SubnetManagerTest() {
        Switch& one = add_switch(0);
        for (std::uint8_t port = 1; port <= 3; ++port)
            add_host(one, port);
        time.settle();
    }
};

TEST_F(SubnetManagerTest, PortsBecomeActive) {
    start();
    EXPECT_EQ(manager->state(), ManagerState::master);
    EXPECT_TRUE(all_hosts_are_active());
    for (std::uint8_t port = 1; port <= 3; ++port)
        EXPECT_EQ(switches[0]->port(port).state(), PortState::active);
    EXPECT_EQ(switches[0]->port(4).state(), PortState::down);
}

TEST_F(SubnetManagerTest, EndPortsHaveUniqueLidAndSmLid) {
    start();
    const auto own = static_cast<Lid>(std::as_const(switches[0]->port(0)).settings().get<"lid">());
    std::set<Lid> lids{own};
    for (const auto& host : hosts) {
        lids.insert(host->port.lid());
        EXPECT_EQ(host->port.sm_lid(), own);
        EXPECT_EQ(host->port.subnet_timeout(), ManagerSettings{}.subnet_timeout);
    }
    EXPECT_EQ(lids.size(), 4U);
    EXPECT_FALSE(lids.contains(fabric::unassigned_lid));
}

TEST_F(SubnetManagerTest, LinksUseValuesSupportedByBothEnds) {
    fabric::HcaPortSettings settings = port_settings(3);
    settings.mtu_cap = 4; // 2048 bytes; the switch has 4096
    settings.vl_cap = 2;  // VL 0 and 1; the switch has VL 0 to 7
    hosts.push_back(std::make_unique<Host>(time.loop, settings));
    connect(hosts.back()->port.port(), switches[0]->port(4));
    time.settle();
    start();
    for (const fabric::Port* port :
         {&std::as_const(hosts.back()->port).port(), &std::as_const(switches[0]->port(4))}) {
        EXPECT_EQ(port->mtu(), 2048U);
        EXPECT_EQ(port->data_lanes(), 2U);
    }
    EXPECT_EQ(hosts[0]->port.mtu(), 4096U);
    EXPECT_EQ(hosts[0]->port.port().data_lanes(), 4U); // vl_cap 3 of a host
}

TEST_F(SubnetManagerTest, PartitionTablesHaveDefaultPartitionOnly) {
    hosts[0]->port.port().p_keys()[0] = 0x7fff;
    hosts[0]->port.port().p_keys()[40] = 0x8005; // as another manager may have left it
    start();
    const auto keys = hosts[0]->port.p_keys();
    EXPECT_EQ(keys[0], fabric::default_p_key);
    EXPECT_TRUE(std::ranges::all_of(keys.subspan(1), [](auto key) { return key == 0; }));
}

TEST_F(SubnetManagerTest, SwitchEnforcesDefaultPartitionAtHosts) {
    const auto keys = switches[0]->port(1).p_keys();
    keys[0] = 0x8005; // as another manager may have left it
    start();
    EXPECT_EQ(keys[0], fabric::default_p_key);
    // A host that puts itself into another partition must not reach the members of that partition.
    for (const auto& host : {hosts[0].get(), hosts[1].get()})
        host->port.port().p_keys()[1] = 0x8005;
    hosts[0]->port.send(
        make_datagram(hosts[0]->port.lid(), hosts[1]->port.lid(), 0x123, 64, 0x8005));
    settle();
    EXPECT_TRUE(hosts[1]->arrivals.empty());
    EXPECT_EQ(switches[0]->statistics().dropped_filter, 1U);
}

TEST_F(SubnetManagerTest, DatagramsReachEveryHost) {
    start();
    for (const auto& from : hosts)
        for (const auto& to : hosts)
            EXPECT_TRUE(reaches(*from, *to, to->port.lid()));
}

TEST_F(SubnetManagerTest, RestartedManagerKeepsLids) {
    start();
    const Lid before = hosts[1]->port.lid();
    manager.reset();
    start();
    EXPECT_EQ(hosts[1]->port.lid(), before);
    EXPECT_TRUE(all_hosts_are_active());
}

TEST_F(SubnetManagerTest, DuplicateLidReplaced) {
    for (const auto& host : hosts)
        host->port.port().settings().set<"lid">(7);
    start();
    EXPECT_EQ(hosts[0]->port.lid(), 7U); // the lowest GUID keeps it
    EXPECT_NE(hosts[1]->port.lid(), 7U);
    EXPECT_NE(hosts[1]->port.lid(), hosts[2]->port.lid());
}

TEST_F(SubnetManagerTest, ClientReregisterSentOnceAfterStart) {
    start();
    EXPECT_TRUE(hosts[0]->saw(PortEvent::client_reregister));
    hosts[0]->events.clear();
    hosts[0]->port.set_node_description("another name"); // trap 144: a heavy sweep
    advance(seconds(2));
    EXPECT_FALSE(hosts[0]->saw(PortEvent::client_reregister));
}

TEST_F(SubnetManagerTest, HostTrapRepressedAndChangeRead) {
    start();
    hosts[0]->port.set_node_description("another name");
    advance(seconds(2));
    const auto& node = manager->subnet().nodes.at(hosts[0]->port.node_guid());
    EXPECT_EQ(node.text(), "another name");
    const auto sent = manager->statistics()["traps"];
    advance(seconds(30));
    EXPECT_EQ(manager->statistics()["traps"], sent); // it isn't repeated
}

TEST_F(SubnetManagerTest, CapabilityChangeReadAfterDelay) {
    start();
    unsigned gets = 0;
    links[0]->add_tap([&](const Link&, LinkDirection direction, const Packet& packet) {
        const auto parsed = fabric::parse(packet);
        const auto mad = parsed ? fabric::mad_in(*parsed) : std::nullopt;
        const bool is_get = mad && fabric::method_of(*mad) == MadMethod::get;
        gets += is_get && direction == LinkDirection::from_second ? 1 : 0;
    });
    constexpr auto cm = fabric::capability_mask_of<"cm_sup">;
    hosts[0]->port.modify_capability_mask(cm, cm);
    advance(ManagerSettings{}.trap_delay - milliseconds(200));
    EXPECT_EQ(gets, 0U);
    advance(milliseconds(400));
    EXPECT_GT(gets, 0U);
}

TEST_F(SubnetManagerTest, ReturnedLinkActiveWithSameLid) {
    start();
    const Lid before = hosts[1]->port.lid();
    links[1]->set_plugged(false);
    settle();
    EXPECT_FALSE(manager->subnet().nodes.contains(hosts[1]->port.node_guid()));
    links[1]->set_plugged(true);
    settle();
    EXPECT_EQ(hosts[1]->port.state(), PortState::active);
    EXPECT_EQ(hosts[1]->port.lid(), before);
    EXPECT_TRUE(reaches(*hosts[0], *hosts[1], before));
}

TEST_F(SubnetManagerTest, ResetHostConfiguredAgain) {
    start();
    const Lid before = hosts[1]->port.lid();
    hosts[1]->events.clear();
    hosts[1]->port.reset();
    settle();
    EXPECT_EQ(hosts[1]->port.state(), PortState::active);
    EXPECT_EQ(hosts[1]->port.lid(), before);
    EXPECT_TRUE(hosts[1]->saw(PortEvent::client_reregister));
}

TEST_F(SubnetManagerTest, NewHostActivated) {
    start();
    Host& late = add_host(*switches[0], 5);
    settle();
    EXPECT_EQ(late.port.state(), PortState::active);
    EXPECT_TRUE(reaches(*hosts[0], late, late.port.lid()));
}

TEST_F(SubnetManagerTest, LostSmpsRepeated) {
    unsigned count = 0;
    for (const auto& link : links)
        link->set_filter([&count](Link& on, LinkDirection direction, Packet packet) {
            if (++count % 3 != 0)
                on.deliver(direction, std::move(packet));
        });
    start();
    EXPECT_FALSE(all_hosts_are_active()); // as some are lost
    advance(seconds(60));
    EXPECT_TRUE(all_hosts_are_active());
    EXPECT_GT(manager->statistics()["smps_repeated"], 0);
}

TEST_F(SubnetManagerTest, LateHostActivated) {
    hosts[1]->has_qp0 = true;
    hosts[1]->is_silent = true;
    start();
    advance(seconds(20));
    EXPECT_EQ(hosts[0]->port.state(), PortState::active);
    EXPECT_EQ(hosts[1]->port.state(), PortState::init);
    hosts[1]->is_silent = false;
    advance(seconds(20));
    EXPECT_EQ(hosts[1]->port.state(), PortState::active);
}

TEST_F(SubnetManagerTest, SilentHostKeepsRoutesWhileLinkActive) {
    start();
    hosts[1]->has_qp0 = true;
    hosts[1]->is_silent = true;
    hosts[0]->port.set_node_description("another name"); // a heavy sweep
    advance(seconds(20));
    EXPECT_TRUE(manager->subnet().nodes.contains(hosts[1]->port.node_guid()));
    EXPECT_TRUE(reaches(*hosts[0], *hosts[1], hosts[1]->port.lid()));
    links[1]->set_plugged(false);
    advance(seconds(20));
    EXPECT_FALSE(manager->subnet().nodes.contains(hosts[1]->port.node_guid()));
}

TEST_F(SubnetManagerTest, HostInventingNodesLeavesOthersActive) {
    hosts[1]->has_qp0 = true;
    hosts[1]->invents_nodes = true;
    start();
    for (int times = 0; times < 1000 && hosts[2]->port.state() != PortState::active; ++times)
        time.settle();
    std::size_t ports = 0;
    for (const auto& [guid, node] : manager->subnet().nodes)
        ports += node.ports.size();
    EXPECT_LE(ports, Discovery::max_ports);
    EXPECT_GT(ports, Discovery::max_ports / 2);
    EXPECT_EQ(hosts[2]->port.state(), PortState::active);
}

TEST_F(SubnetManagerTest, PortWithoutOwnLidNotActivated) {
    switches[0]->tables().info().set<"linear_fdb_cap">(0); // there are none to give
    hosts[0]->port.port().settings().set<"lid">(7);
    hosts[0]->port.port().settings().set<"master_sm_lid">(1); // or it would refuse any Set
    start();
    EXPECT_EQ(manager->state(), ManagerState::master);
    EXPECT_EQ(hosts[0]->port.state(), PortState::init);
}

TEST_F(SubnetManagerTest, ManagedSwitchSetsSmCapability) {
    constexpr auto is_sm = fabric::capability_mask_of<"sm">;
    const auto mask = [this] {
        return std::as_const(switches[0]->port(0)).settings().get<"capability_mask">();
    };
    EXPECT_EQ(mask() & is_sm, 0U);
    start();
    EXPECT_EQ(mask() & is_sm, is_sm);
    manager.reset();
    EXPECT_EQ(mask() & is_sm, 0U);
}

// --- Several switches ----------------------------------------------------------------------------

/// A ring of three switches, and a fourth one behind the third, with a host at port 1 of each.
struct SeveralSwitches : ::testing::Test, ManagedNetwork {
    static constexpr std::size_t ring_links = 3;

    SeveralSwitches() {
        for (unsigned number = 0; number < 4; ++number)
            add_switch(number);
        for (unsigned number = 0; number < 3; ++number)
            connect(switches[number]->port(7), switches[(number + 1) % 3]->port(8));
        connect(switches[2]->port(5), switches[3]->port(6));
        for (const auto& each : switches)
            add_host(*each, 1);
        time.settle();
    }
    void expect_all_reach_all() {
        for (const auto& from : hosts)
            for (const auto& to : hosts)
                EXPECT_TRUE(reaches(*from, *to, to->port.lid()))
                    << from->port.lid() << " to " << to->port.lid();
    }
};

TEST_F(SeveralSwitches, AllHostsActiveAndReachEachOther) {
    start();
    EXPECT_TRUE(all_hosts_are_active());
    EXPECT_EQ(manager->subnet().nodes.size(), 8U);
    expect_all_reach_all();
}

TEST_F(SeveralSwitches, PathsAreShortest) {
    start();
    const auto before = switches[1]->statistics().forwarded;
    EXPECT_TRUE(reaches(*hosts[0], *hosts[2], hosts[2]->port.lid()));
    EXPECT_EQ(switches[1]->statistics().forwarded, before); // not around the ring
}

TEST_F(SeveralSwitches, FailedLinkReroutesTraffic) {
    start();
    links[0]->set_plugged(false);
    advance(seconds(1));
    expect_all_reach_all();
}

TEST_F(SeveralSwitches, ChangeWithoutTrapFoundBySweep) {
    start();
    advance(seconds(1));
    // Only directed-route SMPs leave the last switch, so its traps, which are LID routed, are lost.
    links[ring_links]->set_filter([](Link& link, LinkDirection direction, Packet packet) {
        const auto parsed = fabric::parse(packet);
        const auto mad = parsed ? fabric::mad_in(*parsed) : std::nullopt;
        if (mad && fabric::is_directed_route(*mad))
            link.deliver(direction, std::move(packet));
    });
    Host& late = add_host(*switches[3], 2);
    settle();
    EXPECT_EQ(late.port.state(), PortState::init);
    advance(ManagerSettings{}.sweep_interval + seconds(1));
    EXPECT_EQ(late.port.state(), PortState::active);
}

TEST_F(SeveralSwitches, ReturnedSubtreeReachable) {
    start();
    links[ring_links]->set_plugged(false);
    advance(seconds(1));
    EXPECT_EQ(manager->subnet().nodes.size(), 6U);
    links[ring_links]->set_plugged(true);
    advance(seconds(1));
    EXPECT_EQ(manager->subnet().nodes.size(), 8U);
    expect_all_reach_all();
}

TEST_F(SeveralSwitches, SilentSwitchKeptWithSubtree) {
    start();
    links[ring_links]->set_filter([](Link&, LinkDirection, const Packet&) {});
    hosts[0]->port.set_node_description("another name"); // a heavy sweep
    advance(seconds(20));
    EXPECT_EQ(manager->subnet().nodes.size(), 8U);
    links[ring_links]->set_filter({});
    advance(seconds(20));
    expect_all_reach_all();
}

TEST_F(SeveralSwitches, ResetSwitchGetsTablesAgain) {
    start();
    switches[3]->tables().reset();
    switches[3]->port(0).reset();
    hosts[0]->port.set_node_description("another name"); // a heavy sweep
    advance(seconds(2));
    expect_all_reach_all();
}

TEST_F(SeveralSwitches, SwitchWithoutForwardingLeavesOthersWorking) {
    switches[3]->tables().info().set<"linear_fdb_cap">(0);
    start();
    EXPECT_TRUE(all_hosts_are_active());
    EXPECT_TRUE(reaches(*hosts[0], *hosts[2], hosts[2]->port.lid()));
    EXPECT_FALSE(switches[3]->tables().linear(hosts[0]->port.lid())); // nothing is written there
}

TEST_F(SeveralSwitches, SweepWithoutChangeSetsNothing) {
    start();
    advance(seconds(1));
    unsigned sets = 0;
    unsigned gets = 0;
    links[ring_links]->add_tap([&](const Link&, LinkDirection, const Packet& packet) {
        const auto parsed = fabric::parse(packet);
        const auto mad = parsed ? fabric::mad_in(*parsed) : std::nullopt;
        sets += mad && fabric::method_of(*mad) == MadMethod::set ? 1 : 0;
        gets += mad && fabric::method_of(*mad) == MadMethod::get ? 1 : 0;
    });
    hosts[0]->port.set_node_description("another name"); // a heavy sweep
    advance(seconds(2));
    EXPECT_EQ(sets, 0U);
    EXPECT_GT(gets, 0U);
}

// --- Election ------------------------------------------------------------------------------------

constexpr std::uint64_t handover = hwtab::value<hwtab::sm_info_modifier, "handover">;

/// Among managers of equal priority the lower port GUID wins. The GUIDs of the hosts are below that
/// of the switch.
struct ElectionTest : SubnetManagerTest {};

TEST_F(ElectionTest, HigherStandbyGetsHandover) {
    start();
    hosts[1]->run_manager(0, ManagerState::standby);
    advance(seconds(2));
    EXPECT_EQ(hosts[1]->sm_info_sets, std::vector<std::uint64_t>{handover});
    EXPECT_EQ(manager->state(), ManagerState::standby);
}

TEST_F(ElectionTest, LowerStandbyGetsNoHandover) {
    start({.priority = 1});
    hosts[1]->run_manager(0, ManagerState::standby);
    advance(seconds(30));
    EXPECT_TRUE(hosts[1]->sm_info_sets.empty());
    EXPECT_EQ(manager->state(), ManagerState::master);
}

TEST_F(ElectionTest, MasterFoundAtStartStaysMaster) {
    hosts[1]->run_manager(0, ManagerState::master);
    start({.priority = 1}); // it is for the master to hand over
    EXPECT_EQ(manager->state(), ManagerState::standby);
    EXPECT_EQ(hosts[0]->port.state(), PortState::init);
}

TEST_F(ElectionTest, ManagerWithOtherKeyIgnored) {
    start();
    hosts[1]->run_manager(15, ManagerState::standby);
    hosts[1]->info->sm_key = 0x1234;
    advance(seconds(2));
    EXPECT_TRUE(hosts[1]->sm_info_sets.empty());
    EXPECT_EQ(manager->state(), ManagerState::master);
}

TEST_F(ElectionTest, LaterStandbyNoticed) {
    start();
    hosts[1]->run_manager(15, ManagerState::not_active);
    advance(seconds(2));
    EXPECT_EQ(manager->state(), ManagerState::master);
    hosts[1]->info->state = static_cast<std::uint8_t>(ManagerState::standby);
    advance(ManagerSettings{}.sweep_interval + seconds(1));
    EXPECT_EQ(manager->state(), ManagerState::standby);
}

TEST_F(ElectionTest, SilentMasterReplacedByStandby) {
    hosts[1]->run_manager(15, ManagerState::master);
    start();
    advance(seconds(120));
    EXPECT_EQ(manager->state(), ManagerState::standby); // it answers
    hosts[1]->info.reset();
    const ManagerSettings settings;
    // Each request takes 6.2 s until it counts as unanswered (200 ms and twice as much four times).
    advance((settings.polling_attempts + 2) * settings.polling_interval + seconds(30));
    EXPECT_EQ(manager->state(), ManagerState::master);
    EXPECT_TRUE(all_hosts_are_active());
}

TEST_F(ElectionTest, LidsOfOtherManagerKept) {
    start();
    hosts[1]->run_manager(15, ManagerState::master);
    advance(seconds(2));
    ASSERT_EQ(manager->state(), ManagerState::standby);
    hosts[0]->port.port().settings().set<"lid">(77);
    hosts[1]->info.reset();
    advance(seconds(120)); // as above
    ASSERT_EQ(manager->state(), ManagerState::master);
    EXPECT_EQ(hosts[0]->port.lid(), 77U);
}

TEST_F(ElectionTest, OccasionallyRespondingMasterKeepsStandby) {
    hosts[1]->run_manager(15, ManagerState::master);
    start();
    for (int times = 0; times < 4; ++times) {
        hosts[1]->is_silent = true;
        advance(ManagerSettings{}.polling_interval * 3);
        hosts[1]->is_silent = false;
        advance(ManagerSettings{}.polling_interval * 2);
    }
    EXPECT_EQ(manager->state(), ManagerState::standby);
    EXPECT_EQ(manager->statistics()["sweeps"], 1); // it has never begun to take over
}

/// Two embedded managers, of which the one with the lower GUID wins.
struct TwoManagers : ::testing::Test, Network {
    std::vector<std::unique_ptr<SubnetManager>> managers;

    TwoManagers() {
        for (unsigned number = 0; number < 2; ++number)
            add_host(add_switch(number), 1);
        connect(switches[0]->port(8), switches[1]->port(8));
        time.settle();
    }
    void start(std::size_t at, ManagerSettings settings = {}) {
        managers.push_back(
            std::make_unique<SubnetManager>(time.loop, *switches[at], settings, make_silent_log()));
        managers.back()->start();
        settle();
    }
};

TEST_F(TwoManagers, SimultaneousStartLeavesOneMaster) {
    for (std::size_t at = 0; at < 2; ++at) {
        managers.push_back(std::make_unique<SubnetManager>(time.loop, *switches[at],
                                                           ManagerSettings{}, make_silent_log()));
        managers.back()->start();
    }
    advance(seconds(60));
    EXPECT_EQ(managers[0]->state(), ManagerState::master);
    EXPECT_EQ(managers[1]->state(), ManagerState::standby);
    EXPECT_TRUE(all_hosts_are_active());
    EXPECT_TRUE(reaches(*hosts[0], *hosts[1], hosts[1]->port.lid()));
}

TEST_F(TwoManagers, LowerMasterHandsOverToLaterManager) {
    start(1);
    EXPECT_EQ(managers[0]->state(), ManagerState::master);
    start(0);
    advance(seconds(60));
    EXPECT_EQ(managers[0]->state(), ManagerState::standby);
    EXPECT_EQ(managers[1]->state(), ManagerState::master);
    EXPECT_EQ(hosts[0]->port.sm_lid(),
              managers[1]->lids().lid_of(switches[0]->settings().node_guid));
}

TEST_F(TwoManagers, PriorityOutranksGuid) {
    start(0);
    start(1, {.priority = 3});
    advance(seconds(60));
    EXPECT_EQ(managers[0]->state(), ManagerState::standby);
    EXPECT_EQ(managers[1]->state(), ManagerState::master);
}

TEST_F(TwoManagers, MissingMasterReplacedByStandby) {
    start(0);
    start(1);
    advance(seconds(30));
    ASSERT_EQ(managers[1]->state(), ManagerState::standby);
    managers.erase(managers.begin());
    advance(seconds(120));
    EXPECT_EQ(managers[0]->state(), ManagerState::master);
    EXPECT_EQ(hosts[0]->port.sm_lid(),
              managers[0]->lids().lid_of(switches[1]->settings().node_guid));
}

// --- SMInfo --------------------------------------------------------------------------------------

struct SmInfoTest : SubnetManagerTest {
    /// A LID-routed request about SMInfo from a host. \return the response
    std::optional<Mad> ask(MadMethod method, std::uint32_t modifier, ManagerState own_state) {
        Mad request = make_smp(method, attribute<"sm_info">, modifier);
        const auto info = fabric::testing::data_of<hwtab::sm_info>(request);
        info.set<"sm_state">(static_cast<std::uint64_t>(own_state));
        std::optional<Mad> reply;
        links[0]->add_tap([&reply](const Link&, LinkDirection direction, const Packet& packet) {
            const auto parsed = fabric::parse(packet);
            const auto mad = parsed ? fabric::mad_in(*parsed) : std::nullopt;
            if (mad && direction == LinkDirection::from_second &&
                !fabric::is_directed_route(*mad) &&
                fabric::method_of(*mad) == MadMethod::get_response)
                reply = mad;
        });
        hosts[0]->port.send(fabric::subnet_management_packet(request, hosts[0]->port.lid(),
                                                             hosts[0]->port.sm_lid()));
        time.settle();
        return reply;
    }
};

TEST_F(SmInfoTest, GetReturnsManager) {
    start();
    const auto reply = ask(MadMethod::get, 0, ManagerState::not_active);
    ASSERT_TRUE(reply);
    const auto info = fabric::testing::data_of<hwtab::sm_info>(*reply);
    EXPECT_EQ(info.get<"guid">(), switches[0]->settings().node_guid);
    EXPECT_EQ(info.get<"sm_state">(), static_cast<std::uint64_t>(ManagerState::master));
    EXPECT_EQ(info.get<"priority">(), 0U);
    EXPECT_EQ(info.get<"sm_key">(), 1U); // OpenSM's, which ignores managers with another one
    EXPECT_GT(info.get<"act_count">(), 0U);
}

TEST_F(SmInfoTest, ControlInWrongStateRefused) {
    start();
    constexpr auto disable =
        static_cast<std::uint32_t>(hwtab::value<hwtab::sm_info_modifier, "disable">);
    const auto reply = ask(MadMethod::set, disable, ManagerState::master);
    ASSERT_TRUE(reply);
    EXPECT_EQ(fabric::testing::status_of(*reply), code(fabric::MadStatus::invalid_field));
    EXPECT_EQ(manager->state(), ManagerState::master);
}

TEST_F(SmInfoTest, ControlByOtherThanMasterRefused) {
    start();
    constexpr auto discover =
        static_cast<std::uint32_t>(hwtab::value<hwtab::sm_info_modifier, "discover">);
    const auto reply = ask(MadMethod::set, discover, ManagerState::standby);
    ASSERT_TRUE(reply);
    EXPECT_EQ(fabric::testing::status_of(*reply), code(fabric::MadStatus::invalid_field));
}

} // namespace
} // namespace cxemu::subnet_manager
