// SPDX-License-Identifier: GPL-2.0-or-later
#include "queues/event_queue.hpp"
#include "queues/rules.hpp"
#include "queues/testing/bench.hpp"

#include <gtest/gtest.h>

namespace cxemu::queues {
namespace {

using hca::EventType;
using testing::Bench;
using testing::bit;
using testing::Call;

TEST(EventQueue, OwnerBitTogglesWithEachPass) {
    Bench bench;
    EventQueue& queue = bench.make_event_queue({.log_size = 2});
    for (std::uint32_t i = 0; i < 4; ++i)
        ASSERT_TRUE(queue.post(EventType::port_change, 4, {}));
    EXPECT_EQ(bench.event(queue, 3).get<"owner">(), 0U);
    queue.consume(4, false);
    ASSERT_TRUE(queue.post(EventType::port_change, 1, {}));
    EXPECT_EQ(bench.event(queue, 0).get<"owner">(), 1U);
    EXPECT_EQ(bench.event(queue, 0).get<"event_type">(), 9U);
    EXPECT_EQ(bench.event(queue, 0).get<"event_sub_type">(), 1U);
    EXPECT_EQ(bench.event(queue, 1).get<"owner">(), 0U);
}

TEST(EventQueue, EqeDataWrittenAndRestCleared) {
    Bench bench;
    EventQueue& queue = bench.make_event_queue();
    std::ranges::fill(bench.at(queue.buffer().address(0), hwtab::eqe.size), std::byte{0xff});
    hca::EventData data{};
    hwtab::View<hwtab::qp_events>{data}.set<"qpn_rqn_sqn">(0x123456);
    queue.post(EventType::send_queue_drained, 0, data);
    const auto entry = bench.event(queue, 0);
    EXPECT_EQ(entry.get<"event_data.qp_events.qpn_rqn_sqn">(), 0x123456U);
    EXPECT_EQ(entry.get<"event_data.qp_events.type">(), 0U);
    EXPECT_EQ(entry.get<"signature">(), 0U);
}

TEST(EventQueue, PageOffsetFollowedAcrossPages) {
    Bench bench;
    EventQueue& queue = bench.make_event_queue({.log_size = 2, .page_offset = 63});
    queue.post(EventType::port_change, 0, {});
    queue.post(EventType::gpio, 0, {});
    EXPECT_EQ(queue.buffer().address(0) % 4096, 63U * 64);
    EXPECT_EQ(queue.buffer().address(64) % 4096, 0U);
    EXPECT_EQ(bench.event(queue, 1).get<"event_type">(), 0x15U);
}

TEST(EventQueue, UnarmedEqRaisesNoInterrupt) {
    Bench bench;
    EventQueue& queue = bench.make_event_queue();
    queue.post(EventType::port_change, 0, {});
    EXPECT_EQ(bench.take_interrupts(), 0U);
}

TEST(EventQueue, ArmedEqRaisesOneInterrupt) {
    Bench bench;
    EventQueue& queue = bench.make_event_queue();
    queue.consume(0, true);
    EXPECT_EQ(bench.take_interrupts(), 0U);
    queue.post(EventType::port_change, 0, {});
    queue.post(EventType::port_change, 0, {});
    EXPECT_EQ(bench.take_interrupts(), 1U);
    queue.consume(2, true);
    queue.post(EventType::port_change, 0, {});
    EXPECT_EQ(bench.take_interrupts(), 1U);
}

TEST(EventQueue, ArmWithUnconsumedEqeInterruptsAtOnce) {
    Bench bench;
    EventQueue& queue = bench.make_event_queue();
    queue.post(EventType::port_change, 0, {});
    queue.post(EventType::port_change, 0, {});
    queue.consume(1, true);
    EXPECT_EQ(bench.take_interrupts(), 1U);
    queue.consume(2, true);
    EXPECT_EQ(bench.take_interrupts(), 0U);
}

TEST(EventQueue, UnarmedDoorbellDoesNotArm) {
    Bench bench;
    EventQueue& queue = bench.make_event_queue();
    queue.consume(0, false);
    queue.post(EventType::port_change, 0, {});
    EXPECT_EQ(bench.take_interrupts(), 0U);
}

TEST(EventQueue, RewiredVectorRepeatsInterrupt) {
    Bench bench;
    EventQueue& queue = bench.make_event_queue({.vector = 3});
    queue.consume(0, true);
    queue.post(EventType::port_change, 0, {});
    bench.take_interrupts();
    bench.hca().vectors_changed(0, 3);
    EXPECT_EQ(bench.take_interrupts(), 0U) << "vector 3 was not touched";
    bench.hca().vectors_changed(3, 1);
    EXPECT_EQ(bench.take_interrupts(), 1U);
}

TEST(EventQueue, OverrunStopsEqFatally) {
    Bench bench;
    EventQueue& queue =
        bench.make_event_queue({.log_size = 1, .events = bit(EventType::port_change)});
    EXPECT_TRUE(queue.post(EventType::port_change, 0, {}));
    EXPECT_TRUE(queue.post(EventType::port_change, 0, {}));
    EXPECT_FALSE(queue.post(EventType::port_change, 0, {}));
    EXPECT_TRUE(queue.stopped());
    EXPECT_NE(queue.context().get<"status">(), 0U);
    EXPECT_EQ(bench.violations(rules::event_queue_overrun), 1U);
    bench.settle(); // the device failure destroys all objects
    EXPECT_EQ(bench.hca().health().report().syndrome, hca::HealthSyndrome::async_eq_overrun);
    EXPECT_TRUE(bench.hca().health().fatal());
}

class FalselyNamedEventQueue : public ::testing::Test {
protected:
    FalselyNamedEventQueue() { queue.set_eqn_forged(); }

    void overrun() {
        while (queue.post(EventType::port_change, 0, {})) {
        }
    }

    Bench bench;
    EventQueue& queue = bench.make_event_queue({.log_size = 1});
};

TEST_F(FalselyNamedEventQueue, OverrunIsNoViolation) {
    overrun();
    EXPECT_EQ(bench.violations(rules::event_queue_named_falsely), 1U);
    EXPECT_EQ(bench.violations(rules::event_queue_overrun), 0U);
}

TEST_F(FalselyNamedEventQueue, OverrunAfterDoorbellReported) {
    queue.consume(0, true);
    overrun();
    EXPECT_EQ(bench.violations(rules::event_queue_named_falsely), 0U);
    EXPECT_EQ(bench.violations(rules::event_queue_overrun), 1U);
}

TEST_F(FalselyNamedEventQueue, DoorbellOfOtherEqReported) {
    EventQueue& other = bench.make_event_queue();
    other.consume(1, true);
    EXPECT_EQ(bench.violations(rules::event_queue_named_falsely), 1U);
    EXPECT_EQ(bench.violations(rules::event_queue_consumer_beyond_producer), 0U);
}

TEST_F(FalselyNamedEventQueue, OverrunOfOtherEqReported) {
    EventQueue& other = bench.make_event_queue({.log_size = 1});
    while (other.post(EventType::gpio, 0, {})) {
    }
    EXPECT_EQ(bench.violations(rules::event_queue_overrun), 1U);
}

TEST(EventQueue, IgnoredOverrunDoesNotStopEq) {
    Bench bench;
    EventQueue& queue = bench.make_event_queue({.log_size = 1, .overrun_ignored = true});
    for (int i = 0; i < 5; ++i)
        EXPECT_TRUE(queue.post(EventType::port_change, 0, {}));
    EXPECT_FALSE(queue.stopped());
}

TEST(EventQueue, UnmappedRingStopsEq) {
    Bench bench;
    EventQueue& queue = bench.make_event_queue();
    ASSERT_TRUE(bench.dma().unmap(Bench::memory_start, Bench::memory_size));
    EXPECT_FALSE(queue.post(EventType::port_change, 0, {}));
    EXPECT_TRUE(queue.stopped());
    bench.settle();
    EXPECT_EQ(bench.hca().health().report().syndrome, hca::HealthSyndrome::eq_in_error);
}

TEST(EventQueue, ConsumerBeyondProducerReported) {
    Bench bench;
    EventQueue& queue = bench.make_event_queue();
    queue.post(EventType::port_change, 0, {});
    queue.consume(2, true);
    EXPECT_EQ(bench.violations(rules::event_queue_consumer_beyond_producer), 1U);
    EXPECT_EQ(queue.context().get<"consumer_counter">(), 0U);
}

TEST(EventQueues, EventPostedToSubscribedEq) {
    Bench bench;
    EventQueue& ports = bench.make_event_queue({.events = bit(EventType::port_change)});
    EventQueue& pages = bench.make_event_queue({.events = bit(EventType::page_request)});
    EXPECT_TRUE(bench.hca().post_event(EventType::page_request, 0, {}));
    EXPECT_EQ(ports.context().get<"producer_counter">(), 0U);
    EXPECT_EQ(pages.context().get<"producer_counter">(), 1U);
    EXPECT_FALSE(bench.hca().post_event(EventType::gpio, 0, {}));
}

TEST(EventQueues, DuplicateSubscriptionRefused) {
    Bench bench;
    bench.make_event_queue({.events = bit(EventType::port_change)});
    EXPECT_THROW(bench.make_event_queue({.events = bit(EventType::port_change)}),
                 std::runtime_error);
}

TEST(EventQueues, DestroyedEqGetsNoEvent) {
    Bench bench;
    EventQueue& queue = bench.make_event_queue({.events = bit(EventType::port_change)});
    const std::uint64_t entry = queue.buffer().address(0);
    Call<hwtab::cmd_destroy_eq> call;
    call.in().set<"eq_number">(queue.number());
    ASSERT_TRUE(bench.run(call));
    EXPECT_FALSE(bench.hca().post_event(EventType::port_change, 0, {}));
    EXPECT_EQ(bench.load32(entry), 0U);
}

TEST(EventQueues, DestroyEqWithCqRefused) {
    Bench bench;
    bench.make_completion_queue();
    Call<hwtab::cmd_destroy_eq> call;
    call.in().set<"eq_number">(bench.event_queue().number());
    EXPECT_EQ(bench.run(call).status, hca::CommandStatus::resource_busy);
}

TEST(EventQueues, UnknownVectorRefused) {
    Bench bench;
    EXPECT_THROW(bench.make_event_queue({.vector = Bench::vectors}), std::runtime_error);
}

TEST(EventQueues, QueryEqReturnsCurrentCounters) {
    Bench bench;
    EventQueue& queue = bench.make_event_queue({.events = bit(EventType::port_change)});
    queue.post(EventType::port_change, 0, {});
    queue.post(EventType::port_change, 0, {});
    queue.consume(1, false);
    Call<hwtab::cmd_query_eq> call;
    call.in().set<"eq_number">(queue.number());
    ASSERT_TRUE(bench.run(call));
    EXPECT_EQ(call.out().get<"eq_context_entry.producer_counter">(), 2U);
    EXPECT_EQ(call.out().get<"eq_context_entry.consumer_counter">(), 1U);
    EXPECT_EQ(call.out().get<"event_bitmask">(), bit(EventType::port_change));
}

TEST(EventQueues, GenEqePostsEntryWithDeviceOwner) {
    Bench bench;
    EventQueue& queue = bench.make_event_queue();
    Call<hwtab::cmd_gen_eqe> call;
    call.in().set<"eq_number">(queue.number());
    const hwtab::View<hwtab::eqe> entry{call.in().bytes<"eqe">()};
    entry.set<"event_type">(0x16);
    entry.set<"owner">(1);
    ASSERT_TRUE(bench.run(call));
    EXPECT_EQ(bench.event(queue, 0).get<"event_type">(), 0x16U);
    EXPECT_EQ(bench.event(queue, 0).get<"owner">(), 0U);
}

TEST(EventQueues, EqeFaultsChangeWrittenEqes) {
    Bench bench;
    EventQueue& queue = bench.make_event_queue({.log_size = 3});
    bench.add_fault("eqe nth=1 field=event_type:0x77");
    bench.add_fault("eqe nth=2 drop");
    bench.add_fault("eqe nth=3 unknown");
    queue.post(EventType::port_change, 0, {});
    queue.post(EventType::port_change, 0, {});
    queue.post(EventType::gpio, 0, {});
    EXPECT_EQ(bench.event(queue, 0).get<"event_type">(), 0x77U);
    EXPECT_EQ(bench.event(queue, 1).get<"event_type">(), 0x15U);
    EXPECT_EQ(bench.event(queue, 2).get<"event_type">(), 0xfeU);
    EXPECT_EQ(bench.event(queue, 2).get<"owner">(), 0U) << "the driver takes it for new";
}

TEST(EventQueues, DuplicateFaultDoesNotOverrun) {
    Bench bench;
    EventQueue& queue = bench.make_event_queue({.log_size = 2});
    bench.add_fault("eqe duplicate");
    for (int i = 0; i < 3; ++i)
        queue.post(EventType::port_change, 0, {});
    EXPECT_EQ(queue.context().get<"producer_counter">(), 4U) << "one twice, then half is full";
    EXPECT_FALSE(queue.stopped());
}

TEST(EventDoorbell, ForeignUarReported) {
    Bench bench;
    EventQueue& queue = bench.make_event_queue();
    hca::Uar& other = *bench.hca().objects().of<hca::Uar>().find(bench.make_uar());
    bench.queues().event_queue_doorbell(other, static_cast<std::uint8_t>(queue.number()), 0, true);
    EXPECT_EQ(bench.violations(rules::event_queue_doorbell_unknown), 1U);
    queue.post(EventType::port_change, 0, {});
    EXPECT_EQ(bench.take_interrupts(), 0U);
}

} // namespace
} // namespace cxemu::queues
