// SPDX-License-Identifier: GPL-2.0-or-later
//
// UC and XRC: differences from RC.
#include "transport/testing/peers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace cxemu::transport {
namespace {

using queues::CompletionError;
using queues::CompletionOpcode;
using queues::QueuePairState;
using queues::SendOpcode;
using queues::ServiceType;
using testing::ConnectionOptions;
using testing::Data;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::mtu;
using testing::Peers;
using testing::Result;
using testing::Send;
using ::testing::SizeIs;

// --- UC ------------------------------------------------------------------------------------------

struct UnreliablePeers : Peers {
    explicit UnreliablePeers(
        const ConnectionOptions& wanted = {.service = ServiceType::unreliable_connection})
        : Peers(wanted) {
        connect();
    }
    void lose(std::initializer_list<std::size_t> numbers) {
        set_fate([lost = std::set(numbers)](std::size_t number, const auto& /*packet*/) {
            return lost.contains(number) ? 0 : 1;
        });
    }
    Result received(std::uint16_t index, std::uint32_t bytes) {
        return {.opcode = CompletionOpcode::send, .index = index, .byte_count = bytes};
    }
};

TEST(UnreliableConnection, SendAndWriteGetNoAck) {
    UnreliablePeers peers;
    const Data source = peers.first.fill(5 * mtu + 3, 1);
    const Data target = peers.second.space(source.length);
    const Data written = peers.second.space(source.length);
    peers.second.post_receive({target});
    peers.second.post_receive({});
    peers.first.post(std::vector<Send>{{.data = {source}},
                                       {.opcode = SendOpcode::rdma_write_immediate,
                                        .data = {source},
                                        .remote = written,
                                        .immediate = 5}});
    peers.settle();
    EXPECT_THAT(peers.first.poll(), SizeIs(2));
    EXPECT_THAT(peers.second.poll(), SizeIs(2));
    EXPECT_EQ(peers.second.contents(target), peers.first.contents(source));
    EXPECT_EQ(peers.second.contents(written), peers.first.contents(source));
    EXPECT_THAT(peers.take_packets(), SizeIs(12));
}

TEST(UnreliableConnection, LostPacketDropsWholeMessage) {
    for (const std::size_t lost : {0U, 1U, 2U}) {
        UnreliablePeers peers;
        const Data target = peers.second.space(3 * mtu);
        peers.second.post_receive({target});
        peers.lose({lost});
        const Data second = peers.first.fill(3 * mtu, 2);
        peers.first.post(
            std::vector<Send>{{.data = {peers.first.fill(3 * mtu, 1)}}, {.data = {second}}});
        peers.settle();
        EXPECT_THAT(peers.first.poll(), SizeIs(2)) << "the sender knows nothing of it";
        EXPECT_THAT(peers.second.poll(), ElementsAre(peers.received(0, 3 * mtu)))
            << "the receive request of the message that was lost serves the next one";
        EXPECT_EQ(peers.second.contents(target), peers.first.contents(second));
    }
}

TEST(UnreliableConnection, MessageWithoutReceiveDropped) {
    UnreliablePeers peers;
    peers.first.post({.data = {peers.first.fill(2 * mtu, 1)}});
    peers.settle();
    peers.second.post_receive({peers.second.space(8)});
    peers.first.post({.data = {peers.first.fill(8, 1)}});
    peers.settle();
    EXPECT_THAT(peers.first.poll(), SizeIs(2));
    EXPECT_THAT(peers.second.poll(), ElementsAre(peers.received(0, 8)));
}

TEST(UnreliableConnection, LongOrForbiddenMessageDropped) {
    UnreliablePeers peers;
    const Data target = peers.second.space(8);
    peers.second.post_receive({target});
    peers.first.post(std::vector<Send>{{.data = {peers.first.fill(9, 1)}},
                                       {.opcode = SendOpcode::rdma_write,
                                        .data = {peers.first.fill(8, 3)},
                                        .remote = target,
                                        .remote_key = 0x1234'5600},
                                       {.data = {peers.first.fill(4, 5)}}});
    peers.settle();
    EXPECT_THAT(peers.first.poll(), SizeIs(3));
    EXPECT_THAT(peers.second.poll(), ElementsAre(peers.received(0, 4)));
    EXPECT_EQ(peers.second.queue_pair().state(), QueuePairState::ready_to_send);
}

TEST(UnreliableConnection, FailedSendStopsOwnSendsOnly) {
    UnreliablePeers peers;
    peers.second.post_receive({});
    peers.first.post({.data = {peers.first.fill(8, 1)}, .local_key = 0x1234'5600});
    peers.settle();
    const auto results = peers.first.poll();
    ASSERT_THAT(results, SizeIs(1));
    EXPECT_EQ(results.front().error, CompletionError::local_protection);
    EXPECT_EQ(peers.first.queue_pair().state(), QueuePairState::send_queue_error);

    peers.first.post_receive({peers.first.space(8)});
    peers.second.post({.data = {peers.second.fill(8, 1)}});
    peers.settle();
    EXPECT_THAT(peers.first.poll(), ElementsAre(peers.received(0, 8)));
    ASSERT_TRUE(peers.first.bench.transit<hwtab::cmd_sqerr2rts_qp>(peers.first.queue_pair()));
    peers.first.post(Send{});
    peers.settle();
    EXPECT_THAT(peers.first.poll(), SizeIs(1));
    EXPECT_THAT(peers.second.poll(), SizeIs(2)) << "its own send, and what it received";
}

TEST(UnreliableConnection, LossDuplicationReorderingSurvived) {
    UnreliablePeers peers;
    peers.make_unreliable(0.1, 7);
    constexpr std::uint32_t rounds = 60;
    std::vector<Data> targets;
    for (std::uint32_t i = 0; i < rounds; ++i) {
        targets.push_back(peers.second.space(3 * mtu));
        peers.second.post_receive({targets.back()});
    }
    std::vector<Data> sources;
    for (std::uint32_t i = 0; i < rounds; ++i) {
        sources.push_back(peers.first.fill(3 * mtu, i));
        peers.first.post({.data = {sources.back()}});
    }
    peers.run();
    EXPECT_THAT(peers.first.poll(), SizeIs(rounds));
    for (const Result& result : peers.second.poll()) {
        const auto arrived = peers.second.contents(targets[result.index]);
        EXPECT_TRUE(std::ranges::any_of(
            sources, [&](const Data& source) { return peers.first.contents(source) == arrived; }))
            << "half of one message and half of another: " << result;
    }
}

// --- XRC -----------------------------------------------------------------------------------------

struct Extended : Peers {
    explicit Extended(
        const ConnectionOptions& wanted = {.service = ServiceType::extended_reliable_connection})
        : Peers(wanted) {
        first.to_rts(options);
    }
    std::uint32_t queue() { return second.xrc_queue().number(); }
    void provide(std::uint16_t slot, const Data& data) {
        second.post_shared(second.xrc_queue(), slot, data);
    }
};

TEST(ExtendedConnection, SendReachesNamedSrq) {
    Extended peers;
    const Data source = peers.first.fill(3 * mtu, 1);
    const Data target = peers.second.space(3 * mtu);
    peers.provide(0, target);
    peers.first.post({.data = {source}, .xrc_srq = peers.queue()});
    peers.settle();
    EXPECT_THAT(peers.first.poll(), SizeIs(1));
    EXPECT_THAT(peers.second.poll(),
                ElementsAre(Result{.opcode = CompletionOpcode::send, .byte_count = 3 * mtu}));
    EXPECT_EQ(peers.second.contents(target), peers.first.contents(source));
    const auto entry = peers.second.bench.completion(peers.second.completions(), 0);
    EXPECT_EQ(entry.get<"user_index">(), peers.queue());
}

TEST(ExtendedConnection, WriteReadAtomicSucceed) {
    Extended peers;
    const Data source = peers.first.fill(2 * mtu, 1);
    const Data target = peers.second.space(2 * mtu);
    const Data copy = peers.first.space(2 * mtu);
    const Data number = peers.second.space(8);
    peers.first.post(std::vector<Send>{{.opcode = SendOpcode::rdma_write,
                                        .data = {source},
                                        .remote = target,
                                        .xrc_srq = peers.queue()},
                                       {.opcode = SendOpcode::rdma_read,
                                        .data = {copy},
                                        .remote = target,
                                        .xrc_srq = peers.queue()},
                                       {.opcode = SendOpcode::fetch_add,
                                        .data = {peers.first.space(8)},
                                        .remote = number,
                                        .xrc_srq = peers.queue(),
                                        .atomic = {.swap_or_add = 1}}});
    peers.settle();
    EXPECT_THAT(peers.first.poll(), SizeIs(3));
    EXPECT_EQ(peers.first.contents(copy), peers.first.contents(source));
    EXPECT_EQ(peers.second.contents(number).front(), std::byte{1});
}

TEST(ExtendedConnection, WriteUsesPdOfSrq) {
    Extended peers;
    // The QP of the target is the kernel's, in its own PD.
    peers.second.queue_pair().context().set<"pd">(peers.second.bench.make_domain());
    const Data source = peers.first.fill(8, 1);
    const Data target = peers.second.space(8);
    peers.first.post({.opcode = SendOpcode::rdma_write,
                      .data = {source},
                      .remote = target,
                      .xrc_srq = peers.queue()});
    peers.settle();
    EXPECT_EQ(peers.second.contents(target), peers.first.contents(source));
}

TEST(ExtendedConnection, SrqOfOtherDomainRefused) {
    Extended peers;
    auto& foreign = peers.second.bench.make_xrc_receive_queue(
        peers.second.bench.make_xrc_domain(), peers.second.completions(),
        queues::SharedReceiveQueue::no_user_index);
    peers.first.post({.data = {peers.first.fill(8, 1)}, .xrc_srq = foreign.number()});
    peers.settle();
    const auto results = peers.first.poll();
    ASSERT_THAT(results, SizeIs(1));
    EXPECT_EQ(results.front().error, CompletionError::remote_invalid_request);
    EXPECT_EQ(peers.second.events(hca::EventType::work_queue_invalid_request), 1U);
}

TEST(ExtendedConnection, SendWaitsForReceive) {
    Extended peers;
    peers.first.post({.data = {peers.first.fill(8, 1)}, .xrc_srq = peers.queue()});
    peers.settle();
    EXPECT_THAT(peers.first.poll(), IsEmpty());
    peers.provide(0, peers.second.space(8));
    peers.advance(std::chrono::milliseconds(1));
    EXPECT_THAT(peers.first.poll(), SizeIs(1));
    EXPECT_THAT(peers.second.poll(), SizeIs(1));
}

TEST(ExtendedConnection, FirstPacketBeforeRtsRaisesEvent) {
    Extended peers;
    peers.provide(0, {});
    peers.first.post({.xrc_srq = peers.queue()});
    peers.settle();
    EXPECT_EQ(peers.second.events(hca::EventType::communication_established), 1U);
}

TEST(ExtendedConnection, SendToDestroyedSrqCompletes) {
    Extended peers;
    peers.provide(0, peers.second.space(3 * mtu));
    peers.set_fate([](std::size_t number, const auto& /*packet*/) { return number < 2 ? 1 : 0; });
    peers.first.post({.data = {peers.first.fill(3 * mtu, 1)}, .xrc_srq = peers.queue()});
    peers.settle();
    queues::testing::Call<hwtab::cmd_destroy_xrc_srq> call;
    call.in().set<"xrc_srqn">(peers.queue());
    ASSERT_TRUE(peers.second.bench.run(call));
    peers.set_fate([](std::size_t, const auto&) { return 1; });
    peers.run();
    EXPECT_THAT(peers.first.poll(), SizeIs(1));
}

} // namespace
} // namespace cxemu::transport
