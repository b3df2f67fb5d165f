// SPDX-License-Identifier: GPL-2.0-or-later
#include "queues/completion_queue.hpp"
#include "queues/rules.hpp"
#include "queues/testing/bench.hpp"
#include "tables/work_queue.hpp"

#include <chrono>
#include <gtest/gtest.h>

namespace cxemu::queues {
namespace {

using namespace std::chrono_literals;
using hca::CommandStatus;
using testing::Bench;
using testing::Call;

constexpr std::uint32_t solicited_only = 1U << 24U;

std::uint32_t arm_command(std::uint32_t sequence, std::uint32_t consumer) {
    return sequence << 28U | consumer;
}

Completion ordinary() {
    return {.opcode = CompletionOpcode::send};
}

Completion solicited() {
    return {.opcode = CompletionOpcode::send, .solicited = true};
}

/// A CQ and the number of its events.
class CompletionQueueTest : public ::testing::Test {
protected:
    std::uint32_t events() {
        const auto producer =
            static_cast<std::uint32_t>(bench_.event_queue().context().get<"producer_counter">());
        const std::uint32_t fresh = producer - events_seen_;
        events_seen_ = producer;
        return fresh;
    }
    void post(CompletionQueue& queue, int count = 1) {
        for (int i = 0; i < count; ++i)
            ASSERT_TRUE(queue.post(ordinary()));
    }
    /// Sets the consumer index in the doorbell record.
    void consume(CompletionQueue& queue, std::uint32_t consumer) {
        bench_.store32(queue.context().get<"dbr_addr">(), consumer);
    }

    Bench bench_;

private:
    std::uint32_t events_seen_ = 0;
};

TEST_F(CompletionQueueTest, OwnerBitTogglesWithEachPass) {
    CompletionQueue& queue = bench_.make_completion_queue({.log_size = 1});
    post(queue, 2);
    EXPECT_EQ(bench_.completion(queue, 1).get<"owner">(), 0U);
    consume(queue, 2);
    post(queue);
    EXPECT_EQ(bench_.completion(queue, 0).get<"owner">(), 1U);
    EXPECT_EQ(bench_.completion(queue, 0).get<"opcode">(), 2U);
}

TEST_F(CompletionQueueTest, LargeSlotHoldsCqeInUpperHalf) {
    CompletionQueue& queue = bench_.make_completion_queue({.entry_size_code = 1});
    Completion completion{.opcode = CompletionOpcode::send,
                          .format = CompletionFormat::data_in_first_half};
    completion.first_half.fill(std::byte{0x5a});
    completion.fields().set<"byte_cnt">(64);
    ASSERT_TRUE(queue.post(completion));
    EXPECT_EQ(bench_.load32(queue.buffer().address(0)), 0x5a5a5a5aU);
    EXPECT_EQ(bench_.completion(queue, 0).get<"byte_cnt">(), 64U);
    EXPECT_EQ(bench_.completion(queue, 0).get<"format">(), 2U);
}

TEST_F(CompletionQueueTest, UnarmedCqPostsNoEvent) {
    CompletionQueue& queue = bench_.make_completion_queue();
    post(queue, 3);
    EXPECT_EQ(events(), 0U);
}

TEST_F(CompletionQueueTest, ArmedCqPostsOneEvent) {
    CompletionQueue& queue = bench_.make_completion_queue();
    queue.arm(arm_command(0, 0));
    EXPECT_EQ(events(), 0U);
    post(queue, 3);
    EXPECT_EQ(events(), 1U);
    EXPECT_EQ(bench_.event(bench_.event_queue(), 0).get<"event_data.comp_event.cq_number">(),
              queue.number());
}

TEST_F(CompletionQueueTest, ArmWithCqesBeyondConsumerIndexPostsEventAtOnce) {
    CompletionQueue& queue = bench_.make_completion_queue();
    post(queue, 2);
    queue.arm(arm_command(0, 1));
    EXPECT_EQ(events(), 1U) << "entry 1 came between the last look and the arming";
}

TEST_F(CompletionQueueTest, ArmWithAllCqesConsumedPostsNoEvent) {
    CompletionQueue& queue = bench_.make_completion_queue();
    post(queue, 2);
    queue.arm(arm_command(0, 2));
    EXPECT_EQ(events(), 0U);
    post(queue);
    EXPECT_EQ(events(), 1U);
}

TEST_F(CompletionQueueTest, ArmWithSnOfOutstandingEventIsIgnored) {
    CompletionQueue& queue = bench_.make_completion_queue();
    queue.arm(arm_command(0, 0));
    post(queue);
    ASSERT_EQ(events(), 1U);
    queue.arm(arm_command(0, 0));
    post(queue);
    EXPECT_EQ(events(), 0U) << "software has not seen the first event yet";
    queue.arm(arm_command(1, 0));
    EXPECT_EQ(events(), 1U) << "entries 0 and 1 are still there";
}

TEST_F(CompletionQueueTest, CqeBetweenPollAndArmPostsEvent) {
    CompletionQueue& queue = bench_.make_completion_queue();
    std::uint32_t consumed = 0;
    for (std::uint32_t sequence = 0; sequence < 16; ++sequence) {
        consume(queue, consumed);
        post(queue); // arrives after software has looked, before it arms
        queue.arm(arm_command(sequence & 3U, consumed));
        ASSERT_EQ(events(), 1U) << "round " << sequence;
        ++consumed;
    }
}

TEST_F(CompletionQueueTest, CqeReportedOnce) {
    CompletionQueue& queue = bench_.make_completion_queue();
    queue.arm(arm_command(0, 0));
    post(queue);
    EXPECT_EQ(events(), 1U);
    queue.arm(arm_command(1, 0));
    EXPECT_EQ(events(), 0U) << "software arms first, then it takes the entry that it knows of";
    post(queue);
    EXPECT_EQ(events(), 1U);
    post(queue);
    queue.arm(arm_command(2, 1));
    EXPECT_EQ(events(), 1U) << "the third entry came after the event";
}

TEST_F(CompletionQueueTest, SolicitedArmIgnoresUnsolicitedCqe) {
    CompletionQueue& queue = bench_.make_completion_queue();
    queue.arm(arm_command(0, 0) | solicited_only);
    post(queue, 2);
    EXPECT_EQ(events(), 0U);
    queue.post(solicited());
    EXPECT_EQ(events(), 1U);
}

TEST_F(CompletionQueueTest, ErrorCqeIsSolicited) {
    CompletionQueue& queue = bench_.make_completion_queue();
    queue.arm(arm_command(0, 0) | solicited_only);
    queue.post({.opcode = CompletionOpcode::requester_error});
    EXPECT_EQ(events(), 1U);
}

TEST_F(CompletionQueueTest, ArmSolicitedWithSolicitedCqePostsEventAtOnce) {
    CompletionQueue& queue = bench_.make_completion_queue();
    queue.post(solicited());
    post(queue);
    queue.arm(arm_command(0, 1) | solicited_only);
    EXPECT_EQ(events(), 0U) << "the solicited entry has been consumed";
    queue.arm(arm_command(0, 0) | solicited_only);
    EXPECT_EQ(events(), 1U);
}

TEST_F(CompletionQueueTest, ForcedEventPostedWithoutArm) {
    CompletionQueue& queue = bench_.make_completion_queue();
    queue.post({.opcode = CompletionOpcode::requester, .forces_event = true});
    EXPECT_EQ(events(), 1U);
}

TEST_F(CompletionQueueTest, ModerationCountReachedPostsEvent) {
    CompletionQueue& queue =
        bench_.make_completion_queue({.period = 100, .max_count = 3, .period_mode = 1});
    queue.arm(arm_command(0, 0));
    post(queue, 2);
    bench_.settle();
    EXPECT_EQ(events(), 0U);
    post(queue);
    EXPECT_EQ(events(), 1U);
}

TEST_F(CompletionQueueTest, ModerationPeriodOverPostsEvent) {
    CompletionQueue& queue =
        bench_.make_completion_queue({.period = 100, .max_count = 30, .period_mode = 1});
    queue.arm(arm_command(0, 0));
    post(queue);
    bench_.advance(99us);
    EXPECT_EQ(events(), 0U);
    bench_.advance(1us);
    EXPECT_EQ(events(), 1U);
    bench_.advance(1ms);
    EXPECT_EQ(events(), 0U);
}

TEST_F(CompletionQueueTest, CqeModePeriodRestartedByEachCqe) {
    CompletionQueue& queue =
        bench_.make_completion_queue({.period = 100, .max_count = 30, .period_mode = 1});
    queue.arm(arm_command(0, 0));
    post(queue);
    bench_.advance(60us);
    post(queue);
    bench_.advance(60us);
    EXPECT_EQ(events(), 0U);
    bench_.advance(40us);
    EXPECT_EQ(events(), 1U);
}

TEST_F(CompletionQueueTest, EqeModePeriodStartsAtLastEvent) {
    CompletionQueue& queue = bench_.make_completion_queue({.period = 100, .max_count = 30});
    queue.arm(arm_command(0, 0));
    post(queue);
    EXPECT_EQ(events(), 1U) << "the last event is long ago";
    bench_.advance(40us);
    queue.arm(arm_command(1, 1));
    post(queue);
    EXPECT_EQ(events(), 0U);
    bench_.advance(60us);
    EXPECT_EQ(events(), 1U);
}

TEST_F(CompletionQueueTest, OverrunStopsCqAndPostsEvent) {
    EventQueue& errors = bench_.make_event_queue(
        {.events = 1ULL << static_cast<unsigned>(hca::EventType::cq_error)});
    CompletionQueue& queue = bench_.make_completion_queue({.log_size = 1});
    post(queue, 2);
    EXPECT_FALSE(queue.post(ordinary()));
    EXPECT_TRUE(queue.stopped());
    EXPECT_EQ(queue.context().get<"status">(), 9U);
    const auto event = bench_.event(errors, 0);
    EXPECT_EQ(event.get<"event_data.cq_error.cqn">(), queue.number());
    EXPECT_EQ(event.get<"event_data.cq_error.syndrome">(), 1U);
    consume(queue, 2);
    EXPECT_FALSE(queue.post(ordinary())) << "a stopped queue stays stopped";
}

TEST_F(CompletionQueueTest, OverrunCheckReadsDoorbellRecord) {
    CompletionQueue& queue = bench_.make_completion_queue({.log_size = 1});
    post(queue, 2);
    consume(queue, 1);
    EXPECT_TRUE(queue.post(ordinary()));
    EXPECT_FALSE(queue.post(ordinary()));
}

TEST_F(CompletionQueueTest, IgnoredOverrunDoesNotStopCq) {
    CompletionQueue& queue = bench_.make_completion_queue({.log_size = 1, .overrun_ignored = true});
    post(queue, 5);
    EXPECT_FALSE(queue.stopped());
}

TEST_F(CompletionQueueTest, UnmappedRingPostsCqError) {
    EventQueue& errors = bench_.make_event_queue(
        {.events = 1ULL << static_cast<unsigned>(hca::EventType::cq_error)});
    CompletionQueue& queue = bench_.make_completion_queue();
    const std::uint64_t event = errors.buffer().address(0);
    const auto keep_until = (event / 4096 + 1) * 4096;
    ASSERT_GT(queue.buffer().address(0), event);
    // Removes everything behind the page of the EQ: maps can't be split, so the map is replaced.
    ASSERT_TRUE(bench_.dma().unmap(Bench::memory_start, Bench::memory_size));
    bench_.map_memory(keep_until - Bench::memory_start);
    EXPECT_FALSE(queue.post(ordinary()));
    EXPECT_EQ(bench_.event(errors, 0).get<"event_data.cq_error.syndrome">(), 2U);
}

TEST_F(CompletionQueueTest, ConsumerBeyondProducerReported) {
    CompletionQueue& queue = bench_.make_completion_queue();
    post(queue);
    consume(queue, 2);
    EXPECT_EQ(queue.outstanding(), 1U);
    EXPECT_EQ(bench_.violations(rules::completion_queue_consumer_beyond_producer), 1U);
}

// --- Commands ------------------------------------------------------------------------------------

hca::CommandResult resize(Bench& bench, CompletionQueue& queue, std::uint32_t log_size,
                          std::uint64_t buffer) {
    Call<hwtab::cmd_modify_cq> call((hwtab::cqe64.size << log_size) / 4096 * 8 + 8);
    call.in().set<"cqn">(queue.number());
    call.in()
        .set<"modify_field_select_resize_field_select.resize_field_select.resize_field_select">(
            hwtab::value<hwtab::cq_resize_field_select, "log_cq_size">);
    call.in().set<"cq_context.log_cq_size">(log_size);
    Bench::list_pages(call.in().bytes<"pas">(), buffer);
    return bench.run(call, 1);
}

TEST_F(CompletionQueueTest, ResizePostsResizeCqeToOldRing) {
    CompletionQueue& queue = bench_.make_completion_queue({.log_size = 2});
    post(queue, 2);
    const std::uint64_t old_ring = queue.buffer().address(0);
    const std::uint64_t new_ring = bench_.allocate(4096);
    ASSERT_TRUE(resize(bench_, queue, 3, new_ring));
    const hwtab::ConstView<hwtab::cqe64> last{bench_.at(old_ring + 2 * 64, 64)};
    EXPECT_EQ(last.get<"opcode">(), 5U);
    EXPECT_EQ(last.get<"owner">(), 0U);
    post(queue);
    EXPECT_EQ(queue.buffer().address(0), new_ring);
    EXPECT_EQ(bench_.completion(queue, 3).get<"opcode">(), 2U) << "the next index is 3";
    EXPECT_EQ(bench_.completion(queue, 3).get<"owner">(), 0U);
}

TEST_F(CompletionQueueTest, ResizeTakesOwnerBitFromNewSize) {
    CompletionQueue& queue = bench_.make_completion_queue({.log_size = 3});
    post(queue, 4);
    consume(queue, 4);
    ASSERT_TRUE(resize(bench_, queue, 2, bench_.allocate(4096)));
    post(queue);
    EXPECT_EQ(bench_.completion(queue, 5).get<"owner">(), 1U) << "index 5 is in the second pass";
}

TEST_F(CompletionQueueTest, ResizeBelowOutstandingCqesRefused) {
    CompletionQueue& queue = bench_.make_completion_queue({.log_size = 3});
    post(queue, 5);
    const auto result = resize(bench_, queue, 2, bench_.allocate(4096));
    EXPECT_EQ(result.status, CommandStatus::bad_size_with_outstanding_cqes);
    consume(queue, 1);
    EXPECT_TRUE(resize(bench_, queue, 2, bench_.allocate(4096)));
}

TEST_F(CompletionQueueTest, ModifyUnselectedFieldsUnchanged) {
    CompletionQueue& queue = bench_.make_completion_queue({.period = 7, .max_count = 8});
    Call<hwtab::cmd_modify_cq> call;
    call.in().set<"cqn">(queue.number());
    call.in()
        .set<"modify_field_select_resize_field_select.modify_field_select.modify_field_"
             "select">(1);
    call.in().set<"cq_context.cq_period">(70);
    call.in().set<"cq_context.cq_max_count">(80);
    ASSERT_TRUE(bench_.run(call));
    EXPECT_EQ(queue.context().get<"cq_period">(), 70U);
    EXPECT_EQ(queue.context().get<"cq_max_count">(), 8U);
}

TEST_F(CompletionQueueTest, QueryCqReturnsCurrentCounters) {
    CompletionQueue& queue = bench_.make_completion_queue();
    queue.arm(arm_command(0, 0));
    post(queue, 3);
    consume(queue, 2);
    Call<hwtab::cmd_query_cq> call;
    call.in().set<"cqn">(queue.number());
    ASSERT_TRUE(bench_.run(call));
    EXPECT_EQ(call.out().get<"cq_context.producer_counter">(), 3U);
    EXPECT_EQ(call.out().get<"cq_context.consumer_counter">(), 2U);
    EXPECT_EQ(call.out().get<"cq_context.last_notified_index">(), 0U);
    EXPECT_EQ(call.out().get<"cq_context.st">(), 0xaU);
}

TEST_F(CompletionQueueTest, CreatePageListTooShortRefused) {
    Call<hwtab::cmd_create_cq> call(8);
    call.in().set<"cq_context.log_cq_size">(7); // 8192 bytes: two pages
    call.in().set<"cq_context.uar_page">(bench_.uar().number());
    call.in().set<"cq_context.c_eqn_or_apu_element">(bench_.event_queue().number());
    Bench::list_pages(call.in().bytes<"pas">(), bench_.allocate(4096));
    EXPECT_EQ(bench_.run(call).status, CommandStatus::bad_parameter);
}

TEST_F(CompletionQueueTest, DoorbellOfDestroyedCqReported) {
    CompletionQueue& queue = bench_.make_completion_queue();
    const std::uint32_t number = queue.number();
    Call<hwtab::cmd_destroy_cq> call;
    call.in().set<"cqn">(number);
    ASSERT_TRUE(bench_.run(call));
    bench_.queues().completion_queue_doorbell(bench_.uar(), arm_command(0, 0), number);
    EXPECT_EQ(bench_.violations(rules::completion_queue_doorbell_unknown), 1U);
}

TEST_F(CompletionQueueTest, CqeFaultsChangeWrittenCqes) {
    CompletionQueue& queue = bench_.make_completion_queue();
    bench_.add_fault("cqe nth=1 field=qpn:0x123456");
    bench_.add_fault("cqe nth=2 drop");
    bench_.add_fault("cqe nth=3 duplicate");
    EXPECT_TRUE(queue.post(ordinary()));
    EXPECT_TRUE(queue.post(ordinary())) << "the queue pair doesn't notice";
    EXPECT_TRUE(queue.post(solicited()));
    EXPECT_EQ(bench_.completion(queue, 0).get<"qpn">(), 0x123456U);
    EXPECT_EQ(bench_.completion(queue, 1).get<"se">(), 1U);
    EXPECT_EQ(bench_.completion(queue, 2).get<"se">(), 1U);
    EXPECT_EQ(queue.context().get<"producer_counter">(), 3U);
}

TEST_F(CompletionQueueTest, CqeFaultMatchesOperationOfRequest) {
    CompletionQueue& queue = bench_.make_completion_queue();
    bench_.add_fault("cqe nth=1 times=2 wqe=umr field=qpn:0x123456");
    Completion other = ordinary();
    other.fields().set<"s_wqe_opcode">(hwtab::value<hwtab::wqe_opcode, "umr">);
    Completion request{.opcode = CompletionOpcode::requester};
    request.fields().set<"s_wqe_opcode">(hwtab::value<hwtab::wqe_opcode, "send">);
    Completion refused{.opcode = CompletionOpcode::requester_error};
    refused.fields().set<"s_wqe_opcode">(hwtab::value<hwtab::wqe_opcode, "umr">);
    Completion changed = refused;
    changed.opcode = CompletionOpcode::requester;
    for (const Completion& completion : {other, request, refused, changed})
        EXPECT_TRUE(queue.post(completion));
    EXPECT_EQ(bench_.completion(queue, 0).get<"qpn">(), 0U) << "a received message";
    EXPECT_EQ(bench_.completion(queue, 1).get<"qpn">(), 0U) << "another operation";
    EXPECT_EQ(bench_.completion(queue, 2).get<"qpn">(), 0x123456U);
    EXPECT_EQ(bench_.completion(queue, 3).get<"qpn">(), 0x123456U);
}

} // namespace
} // namespace cxemu::queues
