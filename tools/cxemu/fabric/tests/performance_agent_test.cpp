// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/performance_agent.hpp"
#include "fabric/tests/fixtures.hpp"

#include <gtest/gtest.h>
#include <map>

namespace cxemu::fabric {
namespace {

using namespace testing;

class FakeNode : public CountedNode {
public:
    [[nodiscard]] PortCounters* counters(std::uint8_t port) override {
        const auto found = ports.find(port);
        return found == ports.end() ? nullptr : &found->second;
    }
    [[nodiscard]] std::vector<std::uint8_t> all_ports() const override { return every; }

    std::map<std::uint8_t, PortCounters> ports{{1, {}}, {2, {}}};
    std::vector<std::uint8_t> every;
};

struct PerformanceAgentTest : ::testing::Test {
    ManualLoop time;
    FakeNode node;
    PerformanceAgent agent{time.loop, node};

    template <const hwtab::Layout& layout>
    Mad request(MadMethod method, std::uint16_t id, auto fill) {
        Mad mad = make_pma(method, id);
        fill(data_of<layout>(mad));
        return mad;
    }
    Mad get_counters(std::uint8_t port) {
        return *agent.process(request<hwtab::port_counters>(
            MadMethod::get, pma_attribute<"port_counters">,
            [=](auto data) { data.template set<"port_select">(port); }));
    }
    template <hwtab::FixedString field>
    std::uint64_t counter(std::uint8_t port = 1) {
        const Mad response = get_counters(port);
        return data_of<hwtab::port_counters>(response).template get<field>();
    }
    std::uint16_t clear(std::uint64_t select, std::uint64_t select2 = 0) {
        return status_of(*agent.process(request<hwtab::port_counters>(
            MadMethod::set, pma_attribute<"port_counters">, [=](auto data) {
                data.template set<"port_select">(1);
                data.template set<"counter_select">(select);
                data.template set<"counter_select2">(select2);
            })));
    }
};

TEST_F(PerformanceAgentTest, DataCountedInWords) {
    node.ports[1].transmit_bytes = 4000;
    node.ports[1].transmit_packets = 3;
    EXPECT_EQ(counter<"port_xmit_data">(), 1000U);
    EXPECT_EQ(counter<"port_xmit_pkts">(), 3U);
    EXPECT_EQ(counter<"port_xmit_data">(2), 0U);
}

TEST_F(PerformanceAgentTest, CountersSaturateAtFieldMaximum) {
    PortCounters& counters = node.ports[1];
    counters.symbol_errors = 0x1'0000;
    counters.link_downed = 0x100;
    counters.local_link_integrity_errors = 16;
    counters.transmit_bytes = std::uint64_t{1} << 40U;
    counters.receive_packets = std::uint64_t{1} << 32U;
    EXPECT_EQ(counter<"symbol_error_counter">(), 0xffffU);
    EXPECT_EQ(counter<"link_downed_counter">(), 0xffU);
    EXPECT_EQ(counter<"local_link_integrity_errors">(), 0xfU);
    EXPECT_EQ(counter<"port_xmit_data">(), 0xffff'ffffU);
    EXPECT_EQ(counter<"port_rcv_pkts">(), 0xffff'ffffU);
    counters.symbol_errors = 0xffff;
    EXPECT_EQ(counter<"symbol_error_counter">(), 0xffffU);
    counters.symbol_errors = 0xfffe;
    EXPECT_EQ(counter<"symbol_error_counter">(), 0xfffeU);
}

TEST_F(PerformanceAgentTest, SetChangesSelectedCountersOnly) {
    node.ports[1].symbol_errors = 5;
    node.ports[1].transmit_packets = 6;
    node.ports[1].transmit_wait = 7;
    EXPECT_EQ(clear(hwtab::value<hwtab::pma_counter_select, "symbol_error">), 0U);
    EXPECT_EQ(counter<"symbol_error_counter">(), 0U);
    EXPECT_EQ(counter<"port_xmit_pkts">(), 6U);
    clear(0xffff);
    EXPECT_EQ(counter<"port_xmit_pkts">(), 0U);
    EXPECT_EQ(counter<"port_xmit_wait">(), 7U) << "selected elsewhere";
    clear(0, 1);
    EXPECT_EQ(counter<"port_xmit_wait">(), 0U);
}

TEST_F(PerformanceAgentTest, SetWritesCounterValue) {
    agent.process(request<hwtab::port_counters>(
        MadMethod::set, pma_attribute<"port_counters">, [](auto data) {
            data.template set<"port_select">(2);
            data.template set<"counter_select">(
                hwtab::value<hwtab::pma_counter_select, "port_xmit_data">);
            data.template set<"port_xmit_data">(25);
        }));
    EXPECT_EQ(node.ports[2].transmit_bytes, 100U);
}

TEST_F(PerformanceAgentTest, ExtendedCountersHave64Bits) {
    node.ports[1].receive_bytes = std::uint64_t{1} << 40U;
    node.ports[1].multicast_receive_packets = 9;
    Mad mad = request<hwtab::port_counters_extended>(
        MadMethod::get, pma_attribute<"port_counters_ext">,
        [](auto data) { data.template set<"port_select">(1); });
    Mad response = *agent.process(mad);
    EXPECT_EQ(data_of<hwtab::port_counters_extended>(response).get<"port_rcv_data">(),
              std::uint64_t{1} << 38U);
    EXPECT_EQ(data_of<hwtab::port_counters_extended>(response).get<"port_multicast_rcv_pkts">(),
              9U);
    MadHeader(mad).set<"method">(static_cast<std::uint64_t>(MadMethod::set));
    data_of<hwtab::port_counters_extended>(mad).set<"counter_select">(0x80);
    response = *agent.process(mad);
    EXPECT_EQ(node.ports[1].multicast_receive_packets, 0U);
    EXPECT_NE(node.ports[1].receive_bytes, 0U);
}

TEST_F(PerformanceAgentTest, InvalidPortSelectRefused) {
    EXPECT_EQ(status_of(get_counters(3)), code(MadStatus::invalid_field));
    EXPECT_EQ(status_of(get_counters(255)), code(MadStatus::invalid_field));
}

TEST_F(PerformanceAgentTest, PortSelect255AddsUpAllPorts) {
    node.every = {1, 2};
    node.ports[1].receive_packets = 3;
    node.ports[2].receive_packets = 4;
    EXPECT_EQ(counter<"port_rcv_pkts">(255), 7U);
    const Mad response = *agent.process(make_pma(MadMethod::get, pma_attribute<"class_port_info">));
    EXPECT_NE(data_of<hwtab::class_port_info>(response).get<"capability_mask">() & 0x100U, 0U);
}

TEST_F(PerformanceAgentTest, ClassPortInfoOffersExtendedCounters) {
    const Mad response = *agent.process(make_pma(MadMethod::get, pma_attribute<"class_port_info">));
    const auto info = data_of<hwtab::class_port_info>(response);
    EXPECT_EQ(info.get<"base_version">(), 1U);
    EXPECT_EQ(info.get<"capability_mask">(), 0x1200U);
}

TEST_F(PerformanceAgentTest, UnsupportedRequestReportsStatus) {
    EXPECT_EQ(status_of(*agent.process(make_pma(MadMethod::get, 0x99))),
              code(MadStatus::unsupported_attribute));
    EXPECT_EQ(status_of(*agent.process(make_pma(MadMethod::trap, 0x12))),
              code(MadStatus::unsupported_method));
    Mad old = make_pma(MadMethod::get, 0x12);
    MadHeader(old).set<"class_version">(2);
    EXPECT_EQ(status_of(*agent.process(old)), code(MadStatus::bad_version));
    EXPECT_FALSE(agent.process(make_pma(MadMethod::get_response, 0x12)));
    EXPECT_FALSE(agent.process(make_smp(MadMethod::get, 0x12)));
}

TEST_F(PerformanceAgentTest, SampleCountsInterval) {
    const auto control = [&](MadMethod method) {
        return *agent.process(request<hwtab::port_samples_control>(
            method, pma_attribute<"port_samples_control">, [](auto data) {
                data.template set<"port_select">(1);
                data.template set<"sample_start">(10);
                data.template set<"sample_interval">(100);
                data.template set<"tag">(0x42);
                data.template set_at<"counter_select">(
                    0, hwtab::value<hwtab::pma_sample_counter, "port_rcv_pkts">);
            }));
    };
    const auto result = [&] {
        return *agent.process(make_pma(MadMethod::get, pma_attribute<"port_samples_result">));
    };
    node.ports[1].receive_packets = 50;
    control(MadMethod::set);
    Mad response = result();
    EXPECT_EQ(data_of<hwtab::port_samples_result>(response).get<"sample_status">(), 1U)
        << "started";
    time.advance(std::chrono::microseconds(10));
    response = result();
    EXPECT_EQ(data_of<hwtab::port_samples_result>(response).get<"sample_status">(), 2U)
        << "running";
    node.ports[1].receive_packets = 57;
    time.advance(std::chrono::microseconds(100));
    response = result();
    EXPECT_EQ(data_of<hwtab::port_samples_result>(response).get<"sample_status">(), 0U) << "done";
    EXPECT_EQ(data_of<hwtab::port_samples_result>(response).get<"tag">(), 0x42U);
    EXPECT_EQ(data_of<hwtab::port_samples_result>(response).get_at<"counter">(0), 7U);
}

} // namespace
} // namespace cxemu::fabric
