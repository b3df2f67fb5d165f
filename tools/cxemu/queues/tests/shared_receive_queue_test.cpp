// SPDX-License-Identifier: GPL-2.0-or-later
#include "queues/rules.hpp"
#include "queues/shared_receive_queue.hpp"
#include "queues/testing/bench.hpp"

#include <gtest/gtest.h>

namespace cxemu::queues {
namespace {

using hca::CommandStatus;
using testing::Bench;
using testing::Call;

class SharedReceiveQueueTest : public ::testing::Test {
protected:
    SharedReceiveQueueTest()
        : events_(bench_.make_event_queue(
              {.events = 1ULL << static_cast<unsigned>(hca::EventType::srq_limit_reached) |
                         1ULL << static_cast<unsigned>(hca::EventType::srq_catastrophic_error)})) {}

    /// An RMP of four WQEs of 64 bytes, linked 0, 1, 2, 3, 0; WQE n points to n * 0x100.
    ReceiveMemoryPool& pool(std::uint16_t limit = 0, bool linked_list = true) {
        ReceiveMemoryPool& pool =
            bench_.make_receive_pool({.linked_list = linked_list, .limit = limit});
        for (std::uint16_t slot = 0; slot < 4; ++slot) {
            link(pool, slot, (slot + 1) % 4);
            const auto entry = bench_.at(pool.buffer().address(slot * 64U), 64);
            const hwtab::View<hwtab::wqe_data_seg> pointer{entry.subspan(16)};
            pointer.set<"byte_count">(0x100);
            pointer.set<"addr">(slot * 0x100U);
            hwtab::View<hwtab::wqe_data_seg>{entry.subspan(32)}.set<"lkey">(0x100);
        }
        return pool;
    }
    void link(SharedReceiveQueue& queue, std::uint16_t slot, std::uint32_t next) {
        const auto entry = bench_.at(queue.buffer().address(slot * 64U), 64);
        hwtab::View<hwtab::wqe_srq_next_seg>{entry}.set<"next_wqe_index">(next);
    }
    void post(ReceiveMemoryPool& queue, std::uint16_t counter) {
        bench_.store32(queue.context().get<"wq.dbr_addr">(), counter);
    }
    std::uint64_t last_event() {
        const auto count = events_.context().get<"producer_counter">();
        return count == 0 ? 0
                          : bench_.event(events_, static_cast<std::uint32_t>(count - 1))
                                .get<"event_type">();
    }

    Bench bench_;
    EventQueue& events_;
};

TEST_F(SharedReceiveQueueTest, LinksFollowedAndSlotsReported) {
    ReceiveMemoryPool& queue = pool();
    link(queue, 0, 2);
    link(queue, 2, 1);
    post(queue, 3);
    for (const std::uint16_t slot : {0, 2, 1}) {
        const auto request = queue.take();
        ASSERT_TRUE(request);
        EXPECT_EQ(request->index, slot);
        ASSERT_EQ(request->segments.size(), 1U);
        EXPECT_EQ(request->segments[0].address, slot * 0x100U);
        EXPECT_EQ(request->shared, &queue);
    }
    EXPECT_EQ(queue.take().error(), ReceiveFault::empty);
}

TEST_F(SharedReceiveQueueTest, RewrittenLinksFollowed) {
    ReceiveMemoryPool& queue = pool();
    post(queue, 1);
    ASSERT_TRUE(queue.take());
    EXPECT_EQ(queue.take().error(), ReceiveFault::empty);
    link(queue, 1, 0); // slot 0 was freed and is next after slot 1 now
    post(queue, 3);
    EXPECT_EQ(queue.take()->index, 1U);
    EXPECT_EQ(queue.take()->index, 0U);
}

TEST_F(SharedReceiveQueueTest, LinkOutsideQueueStopsQueue) {
    ReceiveMemoryPool& queue = pool();
    link(queue, 0, 4);
    post(queue, 2);
    EXPECT_EQ(queue.take().error(), ReceiveFault::corrupt);
    EXPECT_EQ(queue.take().error(), ReceiveFault::stopped);
    EXPECT_EQ(last_event(), 0x12U);
    EXPECT_EQ(bench_.violations(rules::shared_receive_chain_corrupt), 1U);
}

TEST_F(SharedReceiveQueueTest, LinkToItselfStopsQueue) {
    ReceiveMemoryPool& queue = pool();
    link(queue, 0, 0);
    post(queue, 2);
    EXPECT_EQ(queue.take().error(), ReceiveFault::corrupt);
    EXPECT_EQ(bench_.violations(rules::shared_receive_chain_corrupt), 1U);
}

TEST_F(SharedReceiveQueueTest, LastEntryLinkIsIgnored) {
    ReceiveMemoryPool& queue = pool();
    link(queue, 0, 0);
    post(queue, 1);
    EXPECT_TRUE(queue.take());
}

TEST_F(SharedReceiveQueueTest, LongerLoopEndsAtPostedCounter) {
    ReceiveMemoryPool& queue = pool();
    link(queue, 1, 0);
    post(queue, 4);
    for (const std::uint16_t slot : {0, 1, 0, 1})
        EXPECT_EQ(queue.take()->index, slot);
    EXPECT_EQ(queue.take().error(), ReceiveFault::empty);
}

TEST_F(SharedReceiveQueueTest, PostBeyondQueueSizeStopsQueue) {
    ReceiveMemoryPool& queue = pool();
    post(queue, 5);
    EXPECT_EQ(queue.take().error(), ReceiveFault::corrupt);
    EXPECT_EQ(bench_.violations(rules::receive_doorbell_beyond_ring), 1U);
}

TEST_F(SharedReceiveQueueTest, RingWithoutLinksTakenInOrder) {
    ReceiveMemoryPool& queue = bench_.make_receive_pool(
        {.linked_list = false, .has_next_segments = false, .log_entries = 1});
    for (std::uint16_t round = 1; round <= 4; ++round) {
        post(queue, round);
        EXPECT_EQ(queue.take()->index, (round - 1) % 2);
    }
}

TEST_F(SharedReceiveQueueTest, RingWithNextSegmentsTakenInOrderWithDataBehindThem) {
    ReceiveMemoryPool& queue = pool(0, false);
    link(queue, 0, 2); // not looked at
    for (std::uint16_t round = 1; round <= 8; ++round) {
        post(queue, round);
        const auto request = queue.take();
        const std::uint16_t slot = (round - 1) % 4;
        ASSERT_TRUE(request);
        EXPECT_EQ(request->index, slot);
        ASSERT_EQ(request->segments.size(), 1U);
        EXPECT_EQ(request->segments[0].address, slot * 0x100U);
        EXPECT_EQ(request->length, 0x100U);
    }
}

TEST_F(SharedReceiveQueueTest, EntriesBelowLimitPostOneEvent) {
    ReceiveMemoryPool& queue = pool(2);
    post(queue, 3);
    ASSERT_TRUE(queue.take());
    EXPECT_EQ(last_event(), 0U) << "two are left";
    ASSERT_TRUE(queue.take());
    EXPECT_EQ(last_event(), 0x14U);
    ASSERT_TRUE(queue.take());
    EXPECT_EQ(events_.context().get<"producer_counter">(), 1U);
}

TEST_F(SharedReceiveQueueTest, ArmBelowLimitPostsEventAtOnce) {
    ReceiveMemoryPool& queue = pool();
    post(queue, 1);
    Call<hwtab::cmd_modify_rmp> call;
    call.in().set<"rmpn">(queue.number());
    call.in().set<"rmp_state">(1);
    call.in().set<"bitmask.lwm">(1);
    call.in().set<"ctx.wq.lwm">(2);
    ASSERT_TRUE(bench_.run(call));
    EXPECT_EQ(last_event(), 0x14U);
    EXPECT_EQ(queue.limit(), 0U);
}

TEST_F(SharedReceiveQueueTest, QueryReturnsCurrentCounters) {
    ReceiveMemoryPool& queue = pool(1);
    post(queue, 3);
    ASSERT_TRUE(queue.take());
    Call<hwtab::cmd_query_rmp> call;
    call.in().set<"rmpn">(queue.number());
    ASSERT_TRUE(bench_.run(call));
    EXPECT_EQ(call.out().get<"rmp_context.wq.hw_counter">(), 1U);
    EXPECT_EQ(call.out().get<"rmp_context.wq.sw_counter">(), 3U);
    EXPECT_EQ(call.out().get<"rmp_context.wq.lwm">(), 1U);
}

TEST_F(SharedReceiveQueueTest, DestroyRmpWithQpRefused) {
    const ReceiveMemoryPool& queue = pool();
    bench_.make_queue_pair(
        {.receives = ReceiveSource::shared_queue, .shared_receive = queue.number()});
    Call<hwtab::cmd_destroy_rmp> call;
    call.in().set<"rmpn">(queue.number());
    EXPECT_EQ(bench_.run(call).status, CommandStatus::resource_busy);
}

TEST_F(SharedReceiveQueueTest, NumbersSharedWithNoOtherType) {
    CompletionQueue& completions = bench_.make_completion_queue();
    const auto& xrc =
        bench_.make_xrc_receive_queue(bench_.make_xrc_domain(), completions, 0xffffff);
    EXPECT_NE(xrc.number(), pool().number());
}

TEST_F(SharedReceiveQueueTest, XrcReceiveCompletesOnSrqCq) {
    const std::uint32_t domain = bench_.make_xrc_domain();
    CompletionQueue& completions = bench_.make_completion_queue();
    XrcSharedReceiveQueue& queue = bench_.make_xrc_receive_queue(domain, completions, 0x99);
    QueuePair& target =
        bench_.make_queue_pair({.service = ServiceType::extended_reliable_connection,
                                .has_sends = false,
                                .receives = ReceiveSource::shared_queue,
                                .shared_receive = queue.number(),
                                .xrc_domain = domain});
    const auto context = queue.context();
    bench_.store32(
        context.get<"db_record_addr_h">() << 32U | context.get<"db_record_addr_l">() << 2U, 1);
    const auto request = target.take_receive(queue.number());
    ASSERT_TRUE(request);
    target.complete_receive(*request, {.byte_count = 3});
    EXPECT_EQ(bench_.completion(completions, 0).get<"user_index">(), 0x99U);
    EXPECT_EQ(bench_.completion(completions, 0).get<"byte_cnt">(), 3U);
}

TEST_F(SharedReceiveQueueTest, XrcSrqOfOtherDomainRefused) {
    CompletionQueue& completions = bench_.make_completion_queue();
    const auto& mine =
        bench_.make_xrc_receive_queue(bench_.make_xrc_domain(), completions, 0xffffff);
    const std::uint32_t other_domain = bench_.make_xrc_domain();
    const auto& other = bench_.make_xrc_receive_queue(other_domain, completions, 0xffffff);
    QueuePair& target =
        bench_.make_queue_pair({.service = ServiceType::extended_reliable_connection,
                                .has_sends = false,
                                .receives = ReceiveSource::shared_queue,
                                .shared_receive = other.number(),
                                .xrc_domain = other_domain});
    EXPECT_EQ(target.take_receive(mine.number()).error(), ReceiveFault::no_queue);
}

} // namespace
} // namespace cxemu::queues
