// SPDX-License-Identifier: GPL-2.0-or-later
//
// DC: one DCI, several DCTs.
#include "base/byte_order.hpp"
#include "transport/testing/peers.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cxemu::transport {
namespace {

using queues::CompletionError;
using queues::CompletionOpcode;
using queues::QueuePair;
using queues::QueuePairState;
using queues::SendOpcode;
using queues::ServiceType;
using queues::testing::Call;
using testing::ConnectionOptions;
using testing::Data;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::mtu;
using testing::Peers;
using testing::Result;
using testing::Send;
using ::testing::SizeIs;

constexpr std::uint64_t wrong_key = 0xdead'beef;
constexpr std::uint32_t no_memory_key = 0x1234'5600;

struct Dynamic : Peers {
    explicit Dynamic(const ConnectionOptions& wanted = {.service = ServiceType::dci})
        : Peers(wanted) {
        connect();
    }
    static ConnectionOptions with_streams(std::uint32_t log_failed) {
        return {.service = ServiceType::dci, .log_streams = 3, .log_failed = log_failed};
    }
    std::ptrdiff_t count(std::uint8_t opcode) {
        return std::ranges::count_if(take_packets(), [&](const auto& headers) {
            return headers.transport.opcode == opcode;
        });
    }
    /// The error of the only completion of the DCI.
    std::optional<CompletionError> error() {
        const auto results = first.poll();
        EXPECT_THAT(results, SizeIs(1));
        return results.empty() ? std::nullopt : results.front().error;
    }
    std::string reset_stream(std::uint16_t stream) {
        constexpr std::size_t mask = 0x108;
        constexpr std::size_t where = 0x112;
        Call<hwtab::cmd_rts2rts_qp> call(0xc0);
        call.in().set<"qpn">(first.queue_pair().number());
        call.input()[8] |= std::byte{0x80};
        store_be<std::uint64_t>(call.input().subspan(mask), 1);
        store_be(call.input().subspan(where), stream);
        queues::testing::Bench::fill_context(call.in().nested<"qpc", hwtab::qpc>());
        const auto result = first.bench.run(call);
        return result ? "OK" : std::string(hca::name_of(result.status));
    }
};

Send send(const Data& data) {
    return {.data = {data}};
}

TEST(DynamicConnection, SendReachesConnectedTarget) {
    Dynamic peers;
    const Data source = peers.first.fill(5 * mtu + 3, 1);
    const Data target = peers.second.space(source.length);
    peers.second.post_to_pool(target);
    peers.first.post(send(source));
    peers.settle();
    EXPECT_THAT(peers.first.poll(), SizeIs(1));
    EXPECT_THAT(peers.second.poll(),
                ElementsAre(Result{.opcode = CompletionOpcode::send, .byte_count = source.length}));
    EXPECT_EQ(peers.second.contents(target), peers.first.contents(source));
    EXPECT_EQ(peers.second.counts().rx_dct_connect, 1U);
}

TEST(DynamicConnection, WriteReadAtomicShareConnection) {
    Dynamic peers;
    const Data source = peers.first.fill(2 * mtu, 1);
    const Data remote = peers.second.space(2 * mtu);
    const Data copy = peers.first.space(2 * mtu);
    const Data sum = peers.second.space(8);
    const Data before = peers.first.space(8);
    peers.first.post(
        std::vector<Send>{{.opcode = SendOpcode::rdma_write, .data = {source}, .remote = remote},
                          {.opcode = SendOpcode::rdma_read, .data = {copy}, .remote = remote},
                          {.opcode = SendOpcode::fetch_add,
                           .data = {before},
                           .remote = sum,
                           .atomic = {.swap_or_add = 5}}});
    peers.settle();
    EXPECT_THAT(peers.first.poll(), SizeIs(3));
    EXPECT_EQ(peers.first.contents(copy), peers.first.contents(source));
    EXPECT_EQ(peers.second.contents(sum).front(), std::byte{5});
    EXPECT_EQ(peers.count(fabric::dynamic_connect_opcode), 1);
}

TEST(DynamicConnection, TargetChangeReconnects) {
    Dynamic peers;
    const QueuePair& other = peers.second.make_target(peers.options);
    std::vector<Send> sends;
    for (unsigned i = 0; i < 6; ++i) {
        peers.second.post_to_pool(peers.second.space(mtu));
        sends.push_back(send(peers.first.fill(mtu, i)));
        sends.back().target = i % 2 == 0 ? nullptr : &other;
    }
    peers.first.post(sends);
    peers.settle();
    EXPECT_THAT(peers.first.poll(), SizeIs(6));
    EXPECT_THAT(peers.second.poll(), SizeIs(6));
    const auto packets = peers.take_packets();
    const auto of = [&](std::uint8_t opcode) {
        return std::ranges::count_if(
            packets, [&](const auto& headers) { return headers.transport.opcode == opcode; });
    };
    EXPECT_EQ(of(fabric::dynamic_connect_opcode), 6);
    EXPECT_EQ(of(fabric::dynamic_disconnect_opcode), 5) << "the last connection stays";
}

TEST(DynamicConnection, ResetDciWorksAgain) {
    Dynamic peers;
    for (int round = 0; round < 3; ++round) {
        peers.second.post_to_pool(peers.second.space(8));
        peers.first.post(send(peers.first.fill(8, 1)));
        peers.settle();
        EXPECT_THAT(peers.first.poll(), SizeIs(1)) << "round " << round;
        EXPECT_THAT(peers.second.poll(), SizeIs(1));
        peers.first.reset_queue_pair();
        peers.settle();
        peers.first.connect(peers.options, peers.second);
        peers.first.to_rts(peers.options);
    }
}

TEST(DynamicConnection, SendWaitsForReceive) {
    Dynamic peers;
    peers.first.post(send(peers.first.fill(8, 1)));
    peers.settle();
    EXPECT_THAT(peers.first.poll(), IsEmpty());
    peers.second.post_to_pool(peers.second.space(8));
    peers.run();
    EXPECT_THAT(peers.first.poll(), SizeIs(1));
    EXPECT_THAT(peers.second.poll(), SizeIs(1));
}

TEST(DynamicConnection, WrongAccessKeyRefused) {
    Dynamic peers;
    Send wrong = send(peers.first.fill(8, 1));
    wrong.access_key = wrong_key;
    Call<hwtab::cmd_arm_dct> arm;
    arm.in().set<"dct_number">(peers.second.queue_pair().number());
    ASSERT_TRUE(peers.second.bench.run(arm));
    peers.first.post(wrong);
    peers.settle();
    EXPECT_EQ(peers.error(), CompletionError::remote_access);
    EXPECT_EQ(peers.first.queue_pair().state(), QueuePairState::error);
    EXPECT_EQ(peers.second.events(hca::EventType::dct_key_violation), 1U);
    EXPECT_EQ(peers.second.queue_pair().key_violations().count, 1U);
    EXPECT_THAT(peers.second.poll(), IsEmpty());
}

TEST(DynamicConnection, RefusedRequestFailsInitiatorOnly) {
    Dynamic peers;
    const Data remote = peers.second.space(8);
    peers.first.post({.opcode = SendOpcode::rdma_write,
                      .data = {peers.first.fill(8, 1)},
                      .remote = remote,
                      .remote_key = no_memory_key});
    peers.settle();
    EXPECT_EQ(peers.error(), CompletionError::remote_access);
    EXPECT_TRUE(peers.second.queue_pair().can_receive()) << "targets serve others, too";
}

TEST(DynamicConnection, ReceiveTooShortFails) {
    Dynamic peers;
    peers.second.post_to_pool(peers.second.space(4));
    peers.first.post(send(peers.first.fill(8, 1)));
    peers.settle();
    EXPECT_EQ(peers.error(), CompletionError::remote_invalid_request);
    const auto results = peers.second.poll();
    ASSERT_THAT(results, SizeIs(1));
    EXPECT_EQ(results.front().error, CompletionError::local_length);
    EXPECT_TRUE(peers.second.queue_pair().can_receive());
}

TEST(DynamicConnection, SilentTargetExhaustsRetries) {
    Dynamic peers({.service = ServiceType::dci, .retries = 2});
    Call<hwtab::cmd_drain_dct> drain;
    drain.in().set<"dctn">(peers.second.queue_pair().number());
    ASSERT_TRUE(peers.second.bench.run(drain));
    EXPECT_EQ(peers.second.events(hca::EventType::dct_drained), 1U);
    peers.first.post(send(peers.first.fill(8, 1)));
    peers.run();
    EXPECT_EQ(peers.error(), CompletionError::transport_retries);
}

TEST(DynamicConnection, DrainFlushesIncompleteReceive) {
    Dynamic peers;
    peers.second.post_to_pool(peers.second.space(4 * mtu));
    peers.set_fate([](std::size_t number, const auto& /*packet*/) { return number < 3 ? 1 : 0; });
    peers.first.post(send(peers.first.fill(4 * mtu, 1)));
    peers.settle();
    Call<hwtab::cmd_drain_dct> drain;
    drain.in().set<"dctn">(peers.second.queue_pair().number());
    ASSERT_TRUE(peers.second.bench.run(drain));
    const auto results = peers.second.poll();
    ASSERT_THAT(results, SizeIs(1));
    EXPECT_EQ(results.front().error, CompletionError::flushed);
}

TEST(DynamicConnection, MissingDestinationRefused) {
    Dynamic peers;
    const Data data = peers.first.fill(8, 1);
    peers.first.destination_lid = 0;
    peers.first.post(send(data));
    peers.settle();
    EXPECT_EQ(peers.error(), CompletionError::local_operation);
}

TEST(DynamicConnection, LossDuplicationReorderingSurvived) {
    Dynamic peers;
    const QueuePair& other = peers.second.make_target(peers.options);
    peers.make_unreliable(0.1, 11);
    constexpr unsigned rounds = 40;
    std::vector<Data> sources;
    std::vector<Data> targets;
    for (unsigned i = 0; i < rounds; ++i) {
        sources.push_back(peers.first.fill(3 * mtu + i, i));
        targets.push_back(peers.second.space(3 * mtu + i));
        Send write{.opcode = SendOpcode::rdma_write, .data = {sources[i]}, .remote = targets[i]};
        write.target = i / 5 % 2 == 0 ? nullptr : &other;
        peers.first.post(write);
    }
    peers.run();
    const auto results = peers.first.poll();
    EXPECT_THAT(results, SizeIs(rounds));
    EXPECT_TRUE(std::ranges::all_of(results, [](const Result& result) { return !result.error; }));
    for (unsigned i = 0; i < rounds; ++i)
        EXPECT_EQ(peers.second.contents(targets[i]), peers.first.contents(sources[i])) << i;
}

// --- Streams -------------------------------------------------------------------------------------

Send bad(Dynamic& peers, std::uint16_t stream) {
    return {.data = {peers.first.fill(8, 1)}, .local_key = no_memory_key, .stream = stream};
}

TEST(DynamicStream, FailedStreamLeavesOthersRunning) {
    Dynamic peers(Dynamic::with_streams(2));
    peers.second.post_to_pool(peers.second.space(8));
    Send good = send(peers.first.fill(8, 1));
    good.stream = 2;
    Send behind = good;
    behind.stream = 1;
    peers.first.post(std::vector<Send>{bad(peers, 1), good, behind});
    peers.settle();
    const auto results = peers.first.poll();
    ASSERT_THAT(results, SizeIs(3));
    EXPECT_EQ(results[0].error, CompletionError::local_protection);
    EXPECT_EQ(results[1].error, std::nullopt);
    EXPECT_EQ(results[2].error, CompletionError::flushed);
    EXPECT_EQ(peers.first.queue_pair().state(), QueuePairState::ready_to_send);
    EXPECT_THAT(peers.second.poll(), SizeIs(1));
}

TEST(DynamicStream, ModifyResumesStream) {
    Dynamic peers(Dynamic::with_streams(2));
    peers.first.post(bad(peers, 1));
    peers.settle();
    EXPECT_EQ(peers.error(), CompletionError::local_protection);
    EXPECT_EQ(peers.reset_stream(2), "BAD_RESOURCE_STATE") << "it hasn't failed";
    EXPECT_EQ(peers.reset_stream(1), "OK");
    peers.second.post_to_pool(peers.second.space(8));
    Send good = send(peers.first.fill(8, 1));
    good.stream = 1;
    peers.first.post(good);
    peers.settle();
    EXPECT_EQ(peers.error(), std::nullopt);
}

TEST(DynamicStream, TooManyFailedStreamsSetError) {
    Dynamic peers(Dynamic::with_streams(1));
    peers.first.post(bad(peers, 1));
    peers.settle();
    EXPECT_EQ(peers.first.queue_pair().state(), QueuePairState::ready_to_send);
    peers.first.post(bad(peers, 5));
    peers.settle();
    EXPECT_EQ(peers.first.queue_pair().state(), QueuePairState::error);
}

} // namespace
} // namespace cxemu::transport
