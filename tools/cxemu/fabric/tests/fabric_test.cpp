// SPDX-License-Identifier: GPL-2.0-or-later
//
// Ports and switch together: packet delivery, and a subnet manager that configures a fabric with
// MADs only.
#include "fabric/tests/fixtures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <memory>

namespace cxemu::fabric {
namespace {

using namespace testing;
using std::chrono::seconds;
using Path = std::vector<std::uint8_t>;

/// Three HCAs at ports 1 to 3 of a switch with 4 ports.
struct FabricTest : ::testing::Test {
    static constexpr std::size_t nodes = 3;

    ManualLoop time;
    Fabric fabric{time.loop, switch_settings()};
    std::array<HcaPort*, nodes> ports{};
    std::array<RecordingClient, nodes> clients;

    FabricTest() {
        for (unsigned n = 0; n < nodes; ++n) {
            ports[n] = *fabric.add(port_settings(n));
            ports[n]->set_client(&clients[n]);
        }
        time.settle();
        for (auto& client : clients)
            client.events.clear();
    }
    ~FabricTest() override {
        for (HcaPort* port : ports)
            port->set_client(nullptr);
    }

    Switch& central() { return fabric.central_switch(); }

    // --- A subnet manager at the first HCA
    // -----------------------------------------------------------

    /// Sends an SMP from QP0 of the first HCA and waits for the response.
    std::optional<Mad> exchange_smp(const Mad& request, Lid destination) {
        clients[0].has_qp0 = true;
        const Lid source = destination == permissive_lid ? permissive_lid : ports[0]->lid();
        EXPECT_TRUE(ports[0]->send(subnet_management_packet(request, source, destination)));
        time.settle();
        return clients[0].take_mad();
    }

    /// A directed-route request from the first HCA; without hops it is handled by the HCA's own
    /// agent.
    std::optional<Mad> ask(
        MadMethod method, std::uint16_t id, const Path& path, std::uint32_t modifier = 0,
        auto fill = [](Mad&) {}) {
        Mad request = make_directed(method, id, path, modifier);
        fill(request);
        if (path.empty()) {
            const auto response = ports[0]->process(request, {}, permissive_lid);
            return response ? *response : std::nullopt;
        }
        DirectedSmp(request).set<"hop_pointer">(1);
        return exchange_smp(request, permissive_lid);
    }
    std::optional<Mad> get(std::uint16_t id, const Path& path, std::uint32_t modifier = 0) {
        return ask(MadMethod::get, id, path, modifier, [](Mad&) {});
    }
    void set_port(const Path& path, std::uint32_t number, auto change) {
        const auto before = get(attribute<"port_info">, path, number);
        ASSERT_TRUE(before);
        const auto response =
            ask(MadMethod::set, attribute<"port_info">, path, number, [&](Mad& request) {
                std::ranges::copy(ConstSmp(*before).bytes<"data">(),
                                  Smp(request).bytes<"data">().begin());
                const auto info = data_of<hwtab::port_info>(request);
                info.template set<"port_state">(0);
                info.template set<"port_physical_state">(0);
                change(info);
            });
        ASSERT_TRUE(response);
        EXPECT_EQ(status_of(*response), 0U);
    }
    void set_lid(const Path& path, Lid lid) {
        set_port(path, 0, [=](auto info) {
            info.template set<"lid">(lid);
            info.template set<"master_sm_lid">(1);
        });
    }
    void set_state(const Path& path, std::uint32_t number, PortState state) {
        set_port(path, number, [=](auto info) {
            info.template set<"port_state">(static_cast<std::uint64_t>(state));
            info.template set<"neighbor_mtu">(5);
        });
    }
    void program_linear(const std::map<Lid, std::uint8_t>& routes) {
        const auto response =
            ask(MadMethod::set, attribute<"linear_forward_table">, {1}, 0, [&](Mad& request) {
                const auto data = Smp(request).bytes<"data">();
                std::ranges::fill(data, std::byte{255});
                for (const auto& [lid, port] : routes)
                    data[lid] = std::byte{port};
            });
        ASSERT_TRUE(response);
        EXPECT_EQ(status_of(*response), 0U);
        const auto before = get(attribute<"switch_info">, {1});
        const auto info = ask(MadMethod::set, attribute<"switch_info">, {1}, 0, [&](Mad& request) {
            std::ranges::copy(ConstSmp(*before).bytes<"data">(),
                              Smp(request).bytes<"data">().begin());
            data_of<hwtab::switch_info>(request).set<"linear_fdb_top">(routes.rbegin()->first);
            data_of<hwtab::switch_info>(request).set<"port_state_change">(1);
        });
        ASSERT_TRUE(info);
        EXPECT_EQ(status_of(*info), 0U);
        EXPECT_EQ(data_of<hwtab::switch_info>(*info).get<"port_state_change">(), 0U);
    }
    void program_multicast(std::size_t entry, std::uint16_t mask) {
        const auto response =
            ask(MadMethod::set, attribute<"mcast_forward_table">, {1}, 0, [&](Mad& request) {
                data_of<hwtab::multicast_forwarding_table>(request).set_at<"port_mask_block">(entry,
                                                                                              mask);
            });
        ASSERT_TRUE(response);
        EXPECT_EQ(status_of(*response), 0U);
    }

    /// LIDs 1, 2, 3 for the HCAs, 10 for the switch; everything active.
    void bring_up() {
        set_lid({}, 1);
        set_lid({1, 2}, 2);
        set_lid({1, 3}, 3);
        set_lid({1}, 10);
        program_linear({{1, 1}, {2, 2}, {3, 3}, {10, 0}});
        for (const PortState state : {PortState::armed, PortState::active}) {
            for (const std::uint32_t number : {1U, 2U, 3U})
                set_state({1}, number, state);
            set_state({}, 0, state);
            set_state({1, 2}, 0, state);
            set_state({1, 3}, 0, state);
        }
    }
    void forget_arrivals() {
        for (auto& client : clients)
            client.arrivals.clear();
    }
};

// --- Bringing a fabric up ------------------------------------------------------------------------

TEST_F(FabricTest, DirectedRouteDiscoversFabric) {
    const auto own = get(attribute<"node_info">, {});
    ASSERT_TRUE(own);
    EXPECT_EQ(data_of<hwtab::node_info>(*own).get<"node_guid">(), ports[0]->node_guid());

    const auto next = get(attribute<"node_info">, {1});
    ASSERT_TRUE(next);
    const auto node = data_of<hwtab::node_info>(*next);
    EXPECT_EQ(node.get<"node_type">(), 2U);
    EXPECT_EQ(node.get<"num_ports">(), 4U);
    EXPECT_EQ(node.get<"local_port_num">(), 1U) << "the port by which the request came";

    for (const std::uint8_t port : {2, 3}) {
        const auto far = get(attribute<"node_info">, {1, port});
        ASSERT_TRUE(far) << int{port};
        EXPECT_EQ(data_of<hwtab::node_info>(*far).get<"port_guid">(),
                  ports[port - 1U]->port_guid());
    }
    EXPECT_FALSE(get(attribute<"node_info">, {1, 4})) << "nothing is connected there";
    EXPECT_FALSE(get(attribute<"node_info">, {1, 9})) << "no such port";
    EXPECT_FALSE(get(attribute<"node_info">, {1, 2, 1})) << "an HCA doesn't relay";
}

TEST_F(FabricTest, PathMayReturnAtSwitch) {
    const auto returned = get(attribute<"node_info">, {1, 1});
    ASSERT_TRUE(returned);
    EXPECT_EQ(method_of(*returned), MadMethod::get) << "for the host, as that has QP0";
    EXPECT_EQ(ConstDirectedSmp(*returned).get<"hop_pointer">(), 2U);
    EXPECT_EQ(ConstDirectedSmp(*returned).bytes<"return_path">()[1], std::byte{1});
}

TEST_F(FabricTest, SwitchPortStatesFollowLinks) {
    const auto state = [&](std::uint32_t number) {
        const auto response = get(attribute<"port_info">, {1}, number);
        return data_of<hwtab::port_info>(*response).get<"port_state">();
    };
    EXPECT_EQ(state(0), 4U) << "port 0 is always active";
    EXPECT_EQ(state(2), 2U);
    EXPECT_EQ(state(4), 1U);
    EXPECT_EQ(status_of(*get(attribute<"port_info">, {1}, 5)), code(MadStatus::invalid_field));
}

TEST_F(FabricTest, FabricBroughtUpCarriesData) {
    bring_up();
    for (const HcaPort* port : ports)
        EXPECT_EQ(port->state(), PortState::active);
    EXPECT_EQ(ports[1]->lid(), 2);
    EXPECT_EQ(ports[1]->sm_lid(), 1);
    EXPECT_THAT(clients[1].events, ::testing::IsSupersetOf({PortEvent::lid_changed,
                                                            PortEvent::armed, PortEvent::active}));
    forget_arrivals();
    EXPECT_TRUE(ports[0]->send(make_datagram(1, 2, 0x123)));
    EXPECT_TRUE(ports[2]->send(make_datagram(3, 1, 0x456, max_payload)));
    time.settle();
    ASSERT_EQ(clients[1].arrivals.size(), 1U);
    EXPECT_EQ(clients[1].arrivals[0].headers.local.slid, 1);
    EXPECT_EQ(clients[1].arrivals[0].headers.transport.destination_qp, 0x123U);
    ASSERT_EQ(clients[0].arrivals.size(), 1U);
    EXPECT_EQ(clients[0].arrivals[0].payload.size(), max_payload);
    EXPECT_TRUE(clients[2].arrivals.empty());
}

TEST_F(FabricTest, LidRoutedSmpGetsResponseFromNodesAndSwitch) {
    bring_up();
    forget_arrivals();
    const auto node = exchange_smp(make_smp(MadMethod::get, attribute<"node_info">), 3);
    ASSERT_TRUE(node);
    EXPECT_EQ(data_of<hwtab::node_info>(*node).get<"port_guid">(), ports[2]->port_guid());
    const auto info = exchange_smp(make_smp(MadMethod::get, attribute<"switch_info">), 10);
    ASSERT_TRUE(info);
    EXPECT_EQ(data_of<hwtab::switch_info>(*info).get<"linear_fdb_top">(), 10U);
    EXPECT_EQ(data_of<hwtab::switch_info>(*info).get<"enhanced_port0">(), 1U);
}

TEST_F(FabricTest, DirectedRouteMayContinueByLid) {
    bring_up();
    forget_arrivals();
    Mad request = make_directed(MadMethod::get, attribute<"node_info">, {1});
    DirectedSmp(request).set<"hop_pointer">(1);
    DirectedSmp(request).set<"dr_dlid">(2);
    const auto response = exchange_smp(request, permissive_lid);
    ASSERT_TRUE(response) << "it returns by LID to the switch, and from there by its path";
    EXPECT_EQ(data_of<hwtab::node_info>(*response).get<"port_guid">(), ports[1]->port_guid());
    EXPECT_EQ(ConstDirectedSmp(*response).get<"hop_pointer">(), 1U);
}

TEST_F(FabricTest, DirectedRouteMayBeginByLid) {
    bring_up();
    forget_arrivals();
    Mad request = make_directed(MadMethod::get, attribute<"node_info">, {2});
    DirectedSmp(request).set<"dr_slid">(1);
    const auto response = exchange_smp(request, 10);
    ASSERT_TRUE(response) << "it returns by its path to the switch, and from there by LID";
    EXPECT_EQ(data_of<hwtab::node_info>(*response).get<"port_guid">(), ports[1]->port_guid());
    EXPECT_EQ(ConstDirectedSmp(*response).get<"hop_pointer">(), 0U);
}

TEST_F(FabricTest, DirectedPartHasPermissiveLids) {
    bring_up();
    clients[1].has_qp0 = true;
    forget_arrivals();
    Mad request = make_directed(MadMethod::get, attribute<"node_info">, {2});
    DirectedSmp(request).set<"dr_slid">(1);
    exchange_smp(request, 10);
    ASSERT_EQ(clients[1].arrivals.size(), 1U);
    const auto& local = clients[1].arrivals.front().headers.local;
    EXPECT_EQ(local.slid, permissive_lid);
    EXPECT_EQ(local.dlid, permissive_lid);
}

// --- Data ----------------------------------------------------------------------------------------

TEST_F(FabricTest, DataBeforePortsActiveDiscarded) {
    set_lid({}, 1);
    set_lid({1, 2}, 2);
    program_linear({{1, 1}, {2, 2}});
    forget_arrivals();
    EXPECT_FALSE(ports[0]->send(make_datagram(1, 2, 5)));
    EXPECT_EQ(ports[0]->counters().transmit_discards, 1U);
    EXPECT_TRUE(clients[1].arrivals.empty());
}

TEST_F(FabricTest, PortWithoutLidSendsNoData) {
    EXPECT_FALSE(ports[0]->send(make_datagram(unassigned_lid, 2, 5)));
    EXPECT_EQ(ports[0]->counters().transmit_discards, 1U);
}

TEST_F(FabricTest, DataReceivedActivatesArmedPort) {
    set_lid({}, 1);
    set_lid({1, 2}, 2);
    program_linear({{1, 1}, {2, 2}});
    for (const PortState state : {PortState::armed, PortState::active}) {
        set_state({1}, 1, state);
        set_state({1}, 2, state);
        set_state({}, 0, state);
    }
    set_state({1, 2}, 0, PortState::armed);
    ports[0]->send(make_datagram(1, 2, 5));
    time.settle();
    EXPECT_EQ(ports[1]->state(), PortState::active);
    EXPECT_EQ(clients[1].arrivals.size(), 1U);
}

TEST_F(FabricTest, MulticastReachesMembersExceptSender) {
    bring_up();
    program_multicast(4, 0b1110); // ports 1, 2, 3
    forget_arrivals();
    EXPECT_TRUE(ports[0]->send(make_datagram(1, 0xc004, multicast_qp)));
    time.settle();
    EXPECT_EQ(clients[0].arrivals.size(), 0U);
    EXPECT_EQ(clients[1].arrivals.size(), 1U);
    EXPECT_EQ(clients[2].arrivals.size(), 1U);
    EXPECT_EQ(ports[1]->counters().multicast_receive_packets, 1U);
    ports[0]->send(make_datagram(1, 0xc005, multicast_qp));
    time.settle();
    EXPECT_EQ(clients[1].arrivals.size(), 1U) << "a group without members";
}

TEST_F(FabricTest, UnroutedPacketCountedAtIngressPort) {
    bring_up();
    ports[0]->send(make_datagram(1, 5, 5));
    ports[0]->send(make_datagram(1, 0x4000, 5));
    time.settle();
    EXPECT_EQ(central().port(1).counters().receive_switch_relay_errors, 2U);
}

TEST_F(FabricTest, PacketAboveMtuNotSent) {
    bring_up();
    set_port({}, 0, [](auto info) { info.template set<"neighbor_mtu">(1); });
    EXPECT_TRUE(ports[0]->send(make_datagram(1, 2, 5, 256)));
    EXPECT_FALSE(ports[0]->send(make_datagram(1, 2, 5, 512)));
}

TEST_F(FabricTest, SwitchMapsSlToVlByPorts) {
    bring_up();
    ask(MadMethod::set, attribute<"sl_to_vl_table">, {1}, (1U << 8U) | 2U, [](Mad& request) {
        data_of<hwtab::sl_to_vl_mapping_table>(request).set<"sl3_to_vl">(2);
        data_of<hwtab::sl_to_vl_mapping_table>(request).set<"sl4_to_vl">(15);
    });
    forget_arrivals();
    ports[0]->send(make_datagram(1, 2, 5, 8, default_p_key, 3));
    ports[0]->send(make_datagram(1, 2, 5, 8, default_p_key, 4));
    ports[2]->send(make_datagram(3, 2, 5, 8, default_p_key, 3));
    time.settle();
    ASSERT_EQ(clients[1].arrivals.size(), 2U);
    EXPECT_EQ(clients[1].arrivals[0].headers.local.vl, 2);
    EXPECT_EQ(clients[1].arrivals[1].headers.local.vl, 0) << "from another input";
    EXPECT_EQ(central().port(2).counters().transmit_discards, 1U) << "lane 15";
}

TEST_F(FabricTest, SwitchEnforcementEnabledDropsForeignPKey) {
    bring_up();
    set_port({1}, 2, [](auto info) { info.template set<"partition_enforcement_outbound">(1); });
    set_port({1}, 3, [](auto info) { info.template set<"partition_enforcement_inbound">(1); });
    forget_arrivals();
    ports[0]->send(make_datagram(1, 2, 5, 8, 0x8005));
    ports[0]->send(make_datagram(1, 2, 5, 8, default_p_key));
    ports[2]->send(make_datagram(3, 2, 5, 8, 0x8005));
    time.settle();
    EXPECT_EQ(clients[1].arrivals.size(), 1U);
    EXPECT_EQ(central().port(2).counters().transmit_constraint_errors, 1U);
    EXPECT_EQ(central().port(3).counters().receive_constraint_errors, 1U);
}

/// The switch ports have the P_Key tables of the HCAs in front of them.
TEST_F(FabricTest, SwitchEnforcementLimitedMemberPasses) {
    bring_up();
    central().port(2).p_keys()[1] = 0x0123;
    central().port(3).p_keys()[1] = 0x0123;
    set_port({1}, 2, [](auto info) { info.template set<"partition_enforcement_outbound">(1); });
    set_port({1}, 3, [](auto info) { info.template set<"partition_enforcement_inbound">(1); });
    forget_arrivals();
    ports[2]->send(make_datagram(3, 2, 5, 8, 0x0123));
    ports[0]->send(make_datagram(1, 2, 5, 8, 0x8123));
    ports[2]->send(make_datagram(3, 2, 5, 8, 0x0456));
    ports[0]->send(make_datagram(1, 2, 5, 8, 0x0456));
    time.settle();
    EXPECT_EQ(clients[1].arrivals.size(), 2U);
    EXPECT_EQ(central().port(2).counters().transmit_constraint_errors, 1U);
    EXPECT_EQ(central().port(3).counters().receive_constraint_errors, 1U);
}

TEST_F(FabricTest, ForeignLidDropped) {
    bring_up();
    program_linear({{1, 1}, {2, 2}, {3, 3}, {5, 2}, {10, 0}});
    forget_arrivals();
    ports[0]->send(make_datagram(1, 5, 5));
    time.settle();
    EXPECT_TRUE(clients[1].arrivals.empty());
    EXPECT_EQ(ports[1]->statistics().dropped_other_lid, 1U);
}

TEST_F(FabricTest, OwnLidLoopedBackWithoutLink) {
    bring_up();
    forget_arrivals();
    const auto before = ports[0]->counters().transmit_packets;
    EXPECT_TRUE(ports[0]->send(make_datagram(1, 1, 5)));
    EXPECT_TRUE(clients[0].arrivals.empty()) << "not from within send";
    time.settle();
    EXPECT_EQ(clients[0].arrivals.size(), 1U);
    EXPECT_EQ(ports[0]->counters().transmit_packets, before);
    EXPECT_EQ(ports[0]->traffic().loopback.packets, 1U);
}

TEST_F(FabricTest, DamagedPacketCountedAndDropped) {
    bring_up();
    forget_arrivals();
    fabric.find_link("hca1/1")->set_filter([](Link& link, LinkDirection direction, Packet packet) {
        packet.bytes()[30] ^= std::byte{1};
        link.deliver(direction, std::move(packet));
    });
    ports[0]->send(make_datagram(1, 2, 5));
    time.settle();
    EXPECT_TRUE(clients[1].arrivals.empty());
    EXPECT_EQ(ports[1]->counters().receive_errors, 1U);
}

TEST_F(FabricTest, CountersOfLinkEndsAgree) {
    bring_up();
    const PortCounters before = ports[0]->counters();
    ports[0]->send(make_datagram(1, 2, 5, 100));
    ports[1]->send(make_datagram(2, 1, 5, 200));
    time.settle();
    const PortCounters& here = ports[0]->counters();
    const PortCounters& there = central().port(1).counters();
    EXPECT_EQ(here.transmit_packets, there.receive_packets);
    EXPECT_EQ(here.transmit_bytes, there.receive_bytes);
    EXPECT_EQ(here.receive_bytes, there.transmit_bytes);
    EXPECT_EQ(here.transmit_bytes - before.transmit_bytes, 8U + 12U + 8U + 100U + 4U);
}

// --- Receivers of management packets -------------------------------------------------------------

TEST_F(FabricTest, RequestsDeliveredToHostQp0) {
    bring_up();
    clients[1].has_qp0 = true;
    forget_arrivals();
    EXPECT_FALSE(exchange_smp(make_smp(MadMethod::get, attribute<"node_info">), 2));
    ASSERT_EQ(clients[1].arrivals.size(), 1U);
    EXPECT_EQ(clients[1].arrivals[0].headers.transport.destination_qp, 0U);
}

TEST_F(FabricTest, ManagerMadWithoutQp0Dropped) {
    bring_up();
    forget_arrivals();
    const auto before = ports[1]->statistics().dropped_smps;
    EXPECT_FALSE(exchange_smp(make_smp(MadMethod::get, attribute<"sm_info">), 2));
    EXPECT_FALSE(exchange_smp(make_smp(MadMethod::get_response, attribute<"node_info">), 2));
    EXPECT_FALSE(exchange_smp(make_smp(MadMethod::trap, attribute<"notice">), 2));
    EXPECT_EQ(ports[1]->statistics().dropped_smps, before + 3);
}

TEST_F(FabricTest, PerformanceRequestHandledByPort) {
    bring_up();
    clients[0].has_qp1 = true;
    Mad request = make_pma(MadMethod::get, pma_attribute<"port_counters">);
    data_of<hwtab::port_counters>(request).set<"port_select">(1);
    for (const bool has_qp1 : {false, true}) {
        forget_arrivals();
        clients[1].has_qp1 = has_qp1;
        ports[0]->send(general_services_packet(request, 1, 2));
        time.settle();
        const auto response = clients[0].take_mad();
        ASSERT_TRUE(response);
        EXPECT_NE(data_of<hwtab::port_counters>(*response).get<"port_rcv_pkts">(), 0U);
        EXPECT_TRUE(clients[1].arrivals.empty());
    }
}

TEST_F(FabricTest, PerformanceRequestWrongQKeyCountedAsViolation) {
    bring_up();
    const auto before = ports[1]->statistics().agent_responses;
    const Mad request = make_pma(MadMethod::get, pma_attribute<"port_counters">);
    ports[0]->send(general_services_packet(request, 1, 2, 0x1234));
    time.settle();
    EXPECT_EQ(ports[1]->statistics().agent_responses, before);
    EXPECT_EQ(ports[1]->q_key_violations(), 1);
}

TEST_F(FabricTest, OtherGsiClassesDeliveredToHost) {
    bring_up();
    clients[1].has_qp1 = true;
    forget_arrivals();
    const Mad response = make_pma(MadMethod::get_response, pma_attribute<"port_counters">);
    ports[0]->send(general_services_packet(response, 1, 2));
    time.settle();
    EXPECT_EQ(clients[1].arrivals.size(), 1U);
}

TEST_F(FabricTest, SwitchRespondsToPerformanceRequest) {
    bring_up();
    clients[0].has_qp1 = true;
    forget_arrivals();
    Mad request = make_pma(MadMethod::get, pma_attribute<"port_counters">);
    data_of<hwtab::port_counters>(request).set<"port_select">(1);
    ports[0]->send(general_services_packet(request, 1, 10));
    time.settle();
    const auto response = clients[0].take_mad();
    ASSERT_TRUE(response);
    EXPECT_NE(data_of<hwtab::port_counters>(*response).get<"port_rcv_pkts">(), 0U);
    ports[0]->send(general_services_packet(request, 1, 10, 0x1234));
    time.settle();
    EXPECT_FALSE(clients[0].take_mad()) << "wrong Q_Key";
}

TEST_F(FabricTest, PacketOnLane15ForOtherQpDropped) {
    bring_up();
    forget_arrivals();
    const auto before = ports[1]->statistics().dropped_malformed;
    PacketHeaders headers{.local = {.vl = management_vl, .dlid = 2, .slid = 1},
                          .transport = {.opcode = static_cast<std::uint8_t>(
                                            hwtab::value<hwtab::transport_opcode, "ud_send_only">),
                                        .destination_qp = 7},
                          .datagram = Deth{}};
    ports[0]->send(build(headers, {}));
    headers.local.vl = 0;
    headers.transport.destination_qp = subnet_management_qp;
    ports[0]->send(build(headers, {}));
    time.settle();
    EXPECT_TRUE(clients[1].arrivals.empty());
    EXPECT_EQ(ports[1]->statistics().dropped_malformed, before + 2);
}

// --- Traps of the switch -------------------------------------------------------------------------

TEST_F(FabricTest, SwitchLinkStateChangeSendsTrap) {
    bring_up();
    forget_arrivals();
    fabric.find_link("hca2/1")->set_plugged(false);
    time.settle();
    const auto trap = clients[0].take_mad();
    ASSERT_TRUE(trap);
    EXPECT_EQ(method_of(*trap), MadMethod::trap);
    const auto notice = data_of<hwtab::notice_trap_128>(*trap);
    EXPECT_EQ(notice.get<"trap_number">(), 128U);
    EXPECT_EQ(notice.get<"producer_type">(), 2U);
    EXPECT_EQ(notice.get<"lid_addr">(), 10U);
    const auto info = get(attribute<"switch_info">, {1});
    EXPECT_EQ(data_of<hwtab::switch_info>(*info).get<"port_state_change">(), 1U);
}

TEST_F(FabricTest, SwitchTrapRepeatedUntilRepressed) {
    bring_up();
    forget_arrivals();
    fabric.find_link("hca2/1")->set_plugged(false);
    time.settle();
    auto trap = clients[0].take_mad();
    ASSERT_TRUE(trap);
    time.advance(seconds(5));
    EXPECT_TRUE(clients[0].take_mad());
    MadHeader(*trap).set<"method">(static_cast<std::uint64_t>(MadMethod::trap_repress));
    exchange_smp(*trap, 10);
    forget_arrivals();
    time.advance(seconds(30));
    EXPECT_FALSE(clients[0].take_mad());
}

TEST_F(FabricTest, ManagerChangesSendNoTrap) {
    bring_up();
    forget_arrivals();
    time.advance(seconds(10));
    EXPECT_FALSE(clients[0].take_mad());
}

// --- The fabric as a whole -----------------------------------------------------------------------

TEST_F(FabricTest, AddBeyondSwitchPortsRefused) {
    EXPECT_TRUE(fabric.add(port_settings(3)));
    const auto refused = fabric.add(port_settings(4));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error(), "hca4/1 cannot be connected: all 4 ports of switch0 are in use");
}

TEST_F(FabricTest, LinksFoundByLinkOrPortName) {
    EXPECT_NE(fabric.find_link("hca1/1 - switch0/2"), nullptr);
    EXPECT_EQ(fabric.find_link("hca1/1"), fabric.find_link("hca1/1 - switch0/2"));
    EXPECT_EQ(fabric.find_link("hca9/1"), nullptr);
}

TEST_F(FabricTest, TapsGetEveryPacketOfEveryLink) {
    bring_up();
    std::map<std::string, int> seen;
    fabric.add_tap([&](const Link& link, LinkDirection, const Packet&) { ++seen[link.name()]; });
    ports[0]->send(make_datagram(1, 2, 5));
    time.settle();
    EXPECT_EQ(seen["hca0/1 - switch0/1"], 1);
    EXPECT_EQ(seen["hca1/1 - switch0/2"], 1);
    EXPECT_EQ(seen.size(), 2U);
}

} // namespace
} // namespace cxemu::fabric
