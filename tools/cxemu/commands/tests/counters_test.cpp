// SPDX-License-Identifier: GPL-2.0-or-later
#include "commands/tests/fixtures.hpp"
#include "queues/queue_counters.hpp"
#include "tables/commands_port.hpp"

namespace cxemu::commands {
namespace {

using queues::QueueCounterSet;
using queues::QueuePair;
using testing::Bench;
using testing::Call;
using testing::outcome;
using testing::PortCommandTest;

class CountersTest : public PortCommandTest {
protected:
    explicit CountersTest(const hca::HcaSettings& settings = testing::Bench::default_settings())
        : PortCommandTest(settings) {}

    std::uint64_t allocate() {
        Call<hwtab::cmd_alloc_q_counter> call;
        last = outcome(bench.run(call));
        return call.out().get<"counter_set_id">();
    }
    std::string release(std::uint64_t set, std::uint16_t uid = 0) {
        return run<hwtab::cmd_dealloc_q_counter>(
            [&](auto in) { in.template set<"counter_set_id">(set); }, 0, uid);
    }
    Call<hwtab::cmd_query_q_counter> query(std::uint64_t set, bool clear = false) {
        Call<hwtab::cmd_query_q_counter> call;
        call.in().set<"counter_set_id">(set);
        call.in().set<"clear">(clear ? 1 : 0);
        last = outcome(bench.run(call));
        return call;
    }
    auto query_port(bool clear = false) {
        Call<hwtab::cmd_query_vport_counter> call;
        call.in().set<"port_num">(1);
        call.in().set<"clear">(clear ? 1 : 0);
        last = outcome(bench.run(call));
        return call;
    }

    std::string last;
};

// --- Q counter sets ------------------------------------------------------------------------------

TEST_F(CountersTest, QueueCountersReadAndCleared) {
    const auto set = allocate();
    ASSERT_NE(set, 0U) << "0 counts nowhere";
    auto& counts =
        bench.hca().objects().of<QueueCounterSet>().find(static_cast<std::uint32_t>(set))->counts;
    counts.out_of_buffer = 5;
    counts.req_cqe_flush_error = 7;
    auto call = query(set, true);
    EXPECT_EQ(call.out().get<"out_of_buffer">(), 5U) << "as it was before it was cleared";
    EXPECT_EQ(call.out().get<"req_cqe_flush_error">(), 7U);
    EXPECT_EQ(query(set).out().get<"out_of_buffer">(), 0U);
}

/// Public documents describe only the 32 bits of these counters, and drivers show them.
TEST_F(CountersTest, QueueCountersWrap) {
    const auto set = allocate();
    auto& counts =
        bench.hca().objects().of<QueueCounterSet>().find(static_cast<std::uint32_t>(set))->counts;
    counts.out_of_buffer = 0xffff'ffff;
    counts.rx_write_requests = 0xffff'fffe;
    EXPECT_EQ(query(set).out().get<"out_of_buffer">(), 0xffff'ffffU);
    ++counts.out_of_buffer;
    ++counts.rx_write_requests;
    EXPECT_EQ(query(set).out().get<"out_of_buffer">(), 0U);
    EXPECT_EQ(query(set).out().get<"rx_write_requests">(), 0xffff'ffffU);
    EXPECT_EQ(query(set).out().get<"rx_read_requests">(), 0U);
}

TEST_F(CountersTest, QueueCountersUnknownAfterDealloc) {
    const auto set = allocate();
    EXPECT_EQ(release(set, 7), "BAD_RESOURCE object_of_other_user_context");
    EXPECT_EQ(release(set), "OK");
    EXPECT_EQ(release(set), "BAD_RESOURCE unknown_object");
    query(set);
    EXPECT_EQ(last, "BAD_RESOURCE unknown_object");
}

TEST_F(CountersTest, OtherPortsAndSumsRefused) {
    const auto refused = [&]<hwtab::FixedString field>() {
        return run<hwtab::cmd_query_q_counter>([](auto in) { in.template set<field>(1); });
    };
    EXPECT_EQ(refused.operator()<"other_vport">(), "BAD_PARAMETER not_supported");
    EXPECT_EQ(refused.operator()<"aggregate">(), "BAD_PARAMETER not_supported");
}

class CountedQueuePairTest : public CountersTest {
protected:
    using CountersTest::CountersTest;

    /// Creates a QP in INIT whose counter_set_id is \p set.
    QueuePair& counted_in(std::uint64_t set) {
        QueuePair& queue_pair = bench.make_queue_pair();
        Call<hwtab::cmd_rst2init_qp> call;
        call.in().set<"qpn">(queue_pair.number());
        const auto context = call.in().nested<"qpc", hwtab::qpc>();
        Bench::fill_context(context);
        context.set<"counter_set_id">(set);
        last = outcome(bench.run(call));
        return queue_pair;
    }
};

class FewCountersTest : public CountedQueuePairTest {
protected:
    FewCountersTest() : CountedQueuePairTest(Bench::with_capability("max_qp_cnt", 2)) {}
};

TEST_F(CountedQueuePairTest, QpCountsInSetOfContext) {
    const auto set = allocate();
    ++counted_in(set).counts().out_of_buffer;
    EXPECT_EQ(query(set).out().get<"out_of_buffer">(), 1U);
    counted_in(set + 1);
    EXPECT_EQ(last, "BAD_RESOURCE unknown_object");
}

TEST_F(CountedQueuePairTest, QpMovedCountsInNewSet) {
    const auto first = allocate();
    const auto second = allocate();
    QueuePair& queue_pair = counted_in(first);
    const auto move_to = [&](std::uint64_t set) {
        return run<hwtab::cmd_init2init_qp>([&](auto in) {
            in.template set<"qpn">(queue_pair.number());
            in.template set<"opt_param_mask">(
                hwtab::value<hwtab::qp_optional_parameters, "counter_set_id">);
            in.template set<"qpc.counter_set_id">(set);
        });
    };
    EXPECT_EQ(move_to(second), "OK");
    ++queue_pair.counts().out_of_buffer;
    EXPECT_EQ(query(first).out().get<"out_of_buffer">(), 0U);
    EXPECT_EQ(query(second).out().get<"out_of_buffer">(), 1U);
}

TEST_F(FewCountersTest, QpOfDeallocatedSetDoesNotCountInNewSet) {
    const auto set = allocate();
    QueuePair& queue_pair = counted_in(set);
    EXPECT_EQ(release(set), "OK") << "Linux releases the set first";
    allocate();
    ASSERT_EQ(allocate(), set);
    ++queue_pair.counts().out_of_buffer;
    EXPECT_EQ(query(set).out().get<"out_of_buffer">(), 0U);
}

TEST_F(FewCountersTest, AllocWithoutFreeSetRefused) {
    const auto first = allocate();
    allocate();
    EXPECT_EQ(last, "OK");
    allocate();
    EXPECT_EQ(last, "NO_RESOURCES no_number_left");
    EXPECT_EQ(release(first), "OK");
    EXPECT_EQ(allocate(), first);
}

// --- Ports ---------------------------------------------------------------------------------------

TEST_F(CountersTest, PortTrafficIsCounted) {
    auto& traffic = port->port().traffic();
    traffic.unicast_transmitted = {.packets = 3, .bytes = 300};
    traffic.multicast_received = {.packets = 4, .bytes = 400};
    traffic.loopback = {.packets = 5, .bytes = 500};
    auto call = query_port();
    ASSERT_EQ(last, "OK");
    EXPECT_EQ(call.out().get<"transmitted_ib_unicast.packets">(), 3U);
    EXPECT_EQ(call.out().get<"transmitted_ib_unicast.octets">(), 300U);
    EXPECT_EQ(call.out().get<"received_ib_multicast.packets">(), 4U);
    EXPECT_EQ(call.out().get<"local_loopback.octets">(), 500U);
    EXPECT_EQ(call.out().get<"received_eth_unicast.packets">(), 0U);
}

TEST_F(CountersTest, ClearedPortCountersRestartAtZero) {
    port->port().traffic().loopback = {.packets = 5, .bytes = 500};
    EXPECT_EQ(query_port(true).out().get<"local_loopback.packets">(), 5U);
    EXPECT_EQ(query_port().out().get<"local_loopback.packets">(), 0U);
}

TEST_F(CountersTest, InvalidPortRefused) {
    EXPECT_EQ(run<hwtab::cmd_query_vport_counter>([](auto in) { in.template set<"port_num">(2); }),
              "BAD_PARAMETER wrong_port");
    EXPECT_EQ(
        run<hwtab::cmd_query_vport_counter>([](auto in) { in.template set<"other_vport">(1); }),
        "BAD_PARAMETER not_supported");
}

// --- VNIC environment counters -------------------------------------------------------------------

TEST_F(CountersTest, VnicEnvReportsQpsInErrorAndDiscards) {
    bench.make_queue_pair().change_state(queues::QueuePairState::error);
    bench.make_queue_pair();
    port->port().counters().transmit_discards = 6;
    Call<hwtab::cmd_query_vnic_env> call;
    ASSERT_EQ(outcome(bench.run(call)), "OK");
    EXPECT_EQ(call.out().get<"vport_env.total_error_queues">(), 1U);
    EXPECT_EQ(call.out().get<"vport_env.transmit_discard_vport_down">(), 6U);
    EXPECT_EQ(run<hwtab::cmd_query_vnic_env>([](auto in) { in.template set<"other_vport">(1); }),
              "BAD_PARAMETER not_supported");
}

} // namespace
} // namespace cxemu::commands
