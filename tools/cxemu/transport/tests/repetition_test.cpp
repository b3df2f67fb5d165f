// SPDX-License-Identifier: GPL-2.0-or-later
//
// RC with lost, duplicated or late packets, RNR, and a silent peer.
#include "base/byte_order.hpp"
#include "transport/testing/peers.hpp"

#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cxemu::transport {
namespace {

using queues::CompletionError;
using queues::CompletionOpcode;
using queues::QueuePairState;
using queues::SendOpcode;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using testing::ConnectionOptions;
using testing::Data;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::mtu;
using testing::Peers;
using testing::Result;
using testing::Send;
using ::testing::SizeIs;

struct Repetition : Peers {
    explicit Repetition(const ConnectionOptions& wanted = {}) : Peers(wanted) { connect(); }

    /// Posts receives whose credits are advertised to the sender.
    void provide_receives(int count) {
        for (int i = 0; i <= count; ++i)
            second.post_receive({});
        first.post(Send{});
        settle();
        first.poll();
        second.poll();
        take_packets();
    }
    /// Loses the packets with these numbers; counted over both directions.
    void lose(std::initializer_list<std::size_t> numbers) {
        set_fate([lost = std::set(numbers)](std::size_t number, const auto& /*packet*/) {
            return lost.contains(number) ? 0 : 1;
        });
    }
    /// Loses every packet from now on.
    void cut() {
        set_fate([](std::size_t, const auto&) { return 0; });
    }
    Send write(std::size_t size) {
        source = first.fill(size, 3);
        target = second.space(size);
        return {.opcode = SendOpcode::rdma_write, .data = {source}, .remote = target};
    }
    Send read(std::size_t size) {
        source = second.fill(size, 3);
        target = first.space(size);
        return {.opcode = SendOpcode::rdma_read, .data = {target}, .remote = source};
    }
    Send add_one() {
        target = second.space(8);
        return {.opcode = SendOpcode::fetch_add,
                .data = {first.space(8)},
                .remote = target,
                .atomic = {.swap_or_add = 1}};
    }
    std::uint64_t sum() { return load_le<std::uint64_t>(second.bench.at(target.address, 8)); }
    void expect_failure(CompletionError error) {
        const auto results = first.poll();
        ASSERT_THAT(results, SizeIs(1));
        EXPECT_EQ(results.front().error, error);
    }

    Data source;
    Data target;
};

std::vector<std::optional<CompletionError>> errors_of(const std::vector<Result>& results) {
    std::vector<std::optional<CompletionError>> errors;
    for (const Result& result : results)
        errors.push_back(result.error);
    return errors;
}

// --- Loss ----------------------------------------------------------------------------------------

TEST(ReliableLoss, NakRetransmitsFromMissingPacket) {
    Repetition peers;
    peers.lose({2});
    peers.first.post(peers.write(6 * mtu));
    peers.settle();
    EXPECT_THAT(peers.first.poll(), SizeIs(1)) << "without waiting for the timeout";
    EXPECT_EQ(peers.second.contents(peers.target), peers.first.contents(peers.source));
}

TEST(ReliableLoss, TimeoutRetransmitsLastPacket) {
    Repetition peers;
    peers.lose({0});
    peers.first.post(peers.write(8));
    peers.advance(milliseconds(66));
    EXPECT_THAT(peers.first.poll(), IsEmpty());
    peers.advance(milliseconds(2));
    EXPECT_THAT(errors_of(peers.first.poll()), ElementsAre(std::nullopt));
    EXPECT_EQ(peers.second.contents(peers.target), peers.first.contents(peers.source));
}

TEST(ReliableLoss, TimeoutRestartedByProgress) {
    Repetition peers;
    peers.first.post(peers.write(8));
    peers.settle();
    peers.advance(milliseconds(60));
    peers.lose({0});
    peers.first.post(peers.write(8));
    peers.settle();
    peers.advance(milliseconds(60)); // the timer of the first write has expired meanwhile
    EXPECT_THAT(peers.first.poll(), SizeIs(1));
    peers.advance(milliseconds(8));
    EXPECT_THAT(peers.first.poll(), SizeIs(1));
}

TEST(ReliableLoss, LostAckDoesNotRepeatReceive) {
    Repetition peers;
    peers.second.post_receive({peers.second.space(8)});
    peers.second.post_receive({peers.second.space(8)});
    peers.lose({1});
    peers.first.post({.data = {peers.first.fill(8, 1)}});
    peers.run();
    EXPECT_THAT(peers.first.poll(), SizeIs(1));
    EXPECT_THAT(peers.second.poll(), SizeIs(1)) << "received once";
}

TEST(ReliableLoss, LostAtomicResponseAddsOnce) {
    Repetition peers;
    peers.lose({1});
    peers.first.post(peers.add_one());
    peers.run();
    EXPECT_THAT(errors_of(peers.first.poll()), ElementsAre(std::nullopt));
    EXPECT_EQ(peers.sum(), 1U);
}

TEST(ReliableLoss, LostAtomicResponseAddsToWordsOnce) {
    Repetition peers;
    constexpr std::uint32_t size = 16;
    const Data memory = peers.second.space(size);
    const Data found = peers.first.space(size);
    store_le<std::uint64_t>(peers.second.bench.at(memory.address, 8), 5);
    store_le<std::uint64_t>(peers.second.bench.at(memory.address + 8, 8), 6);
    peers.lose({1});
    peers.first.post({.opcode = SendOpcode::masked_fetch_add,
                      .data = {found},
                      .remote = memory,
                      .atomic = {.swap_or_add = 1},
                      .more_words = {{.swap_or_add = 1}},
                      .operand_size = size});
    peers.run();
    EXPECT_THAT(errors_of(peers.first.poll()), ElementsAre(std::nullopt));
    EXPECT_EQ(load_be<std::uint64_t>(peers.first.bench.at(found.address, 8)), 5U);
    EXPECT_EQ(load_be<std::uint64_t>(peers.first.bench.at(found.address + 8, 8)), 6U);
    EXPECT_EQ(load_le<std::uint64_t>(peers.second.bench.at(memory.address, 8)), 6U);
    EXPECT_EQ(load_le<std::uint64_t>(peers.second.bench.at(memory.address + 8, 8)), 7U);
}

TEST(ReliableLoss, LostReadResponseRetriesFromMissingPacket) {
    Repetition peers;
    peers.lose({3});
    peers.first.post(peers.read(6 * mtu));
    peers.settle();
    EXPECT_THAT(peers.first.poll(), SizeIs(1));
    EXPECT_EQ(peers.first.contents(peers.target), peers.second.contents(peers.source));
    std::vector<std::uint32_t> lengths;
    for (const auto& packet : peers.take_packets()) {
        if (packet.rdma)
            lengths.push_back(packet.rdma->length);
    }
    EXPECT_THAT(lengths, ElementsAre(6 * mtu, 4 * mtu));
}

TEST(ReliableLoss, LaterAckRetriesLostResponses) {
    Repetition peers;
    peers.provide_receives(4);
    peers.lose({2}); // read request, send, read response
    peers.first.post(std::vector<Send>{peers.read(8), {}});
    peers.settle();
    EXPECT_THAT(peers.first.poll(), SizeIs(2));
    EXPECT_EQ(peers.first.contents(peers.target), peers.second.contents(peers.source));
    EXPECT_THAT(peers.second.poll(), SizeIs(1)) << "the send is repeated, but not received again";
}

TEST(ReliableLoss, RetriesExhaustedFailsSend) {
    Repetition peers({.retries = 2});
    peers.cut();
    peers.first.post(peers.write(8));
    peers.advance(milliseconds(68));
    peers.advance(milliseconds(68));
    EXPECT_THAT(peers.first.poll(), IsEmpty());
    peers.advance(milliseconds(68));
    peers.expect_failure(CompletionError::transport_retries);
    EXPECT_EQ(peers.first.queue_pair().state(), QueuePairState::error);
}

TEST(ReliableLoss, ZeroTimeoutWaitsForever) {
    Repetition peers({.timeout_code = 0, .retries = 0});
    peers.cut();
    peers.first.post(peers.write(8));
    peers.advance(std::chrono::hours(10));
    EXPECT_THAT(peers.first.poll(), IsEmpty());
}

TEST(ReliableLoss, ProgressRestoresRetries) {
    Repetition peers({.retries = 1});
    for (int i = 0; i < 5; ++i) {
        peers.lose({0});
        peers.first.post(peers.write(8));
        peers.run();
        EXPECT_THAT(errors_of(peers.first.poll()), ElementsAre(std::nullopt));
    }
}

TEST(ReliableLoss, DuplicatePacketExecutedOnce) {
    Repetition peers;
    for (int i = 0; i < 4; ++i)
        peers.second.post_receive({peers.second.space(8)});
    peers.set_fate([](std::size_t, const auto&) { return 2; });
    peers.first.post(std::vector<Send>{{.data = {peers.first.fill(8, 1)}}, peers.add_one()});
    peers.run();
    EXPECT_THAT(errors_of(peers.first.poll()), ElementsAre(std::nullopt, std::nullopt));
    EXPECT_THAT(peers.second.poll(), SizeIs(1));
    EXPECT_EQ(peers.sum(), 1U);
}

TEST(ReliableLoss, OutOfOrderPacketsGetOneNak) {
    Repetition peers;
    peers.lose({1});
    peers.first.post(peers.write(20 * mtu));
    peers.settle();
    std::size_t refusals = 0;
    for (const auto& packet : peers.take_packets())
        refusals += packet.ack && packet.ack->syndrome == 0x60 ? 1 : 0;
    EXPECT_EQ(refusals, 1U) << "18 packets came too early";
    EXPECT_THAT(peers.first.poll(), SizeIs(1));
}

// --- Receiver not ready --------------------------------------------------------------------------

TEST(ReceiverNotReady, RnrTimerDelaysSend) {
    Repetition peers({.not_ready_timer = 14}); // 1.28 ms
    const Data target = peers.second.space(8);
    peers.first.post({.data = {peers.first.fill(8, 1)}});
    peers.settle();
    peers.second.post_receive({target});
    peers.advance(microseconds(1200));
    EXPECT_THAT(peers.second.poll(), IsEmpty());
    peers.advance(microseconds(100));
    EXPECT_THAT(peers.second.poll(), SizeIs(1));
    EXPECT_THAT(errors_of(peers.first.poll()), ElementsAre(std::nullopt));
}

TEST(ReceiverNotReady, RnrRetriesExhaustedFailsSend) {
    Repetition peers({.not_ready_retries = 2});
    peers.first.post({.data = {peers.first.fill(8, 1)}});
    peers.advance(milliseconds(1));
    peers.advance(milliseconds(1));
    peers.advance(milliseconds(1));
    peers.expect_failure(CompletionError::rnr_retry_exceeded);
    EXPECT_EQ(peers.second.queue_pair().state(), QueuePairState::ready_to_send)
        << "no side has failed there";
}

TEST(ReceiverNotReady, InfiniteRnrRetryNeverFails) {
    Repetition peers({.not_ready_retries = 7});
    peers.first.post({.data = {peers.first.fill(8, 1)}});
    for (int i = 0; i < 100; ++i)
        peers.advance(milliseconds(1));
    EXPECT_THAT(peers.first.poll(), IsEmpty());
    peers.second.post_receive({peers.second.space(8)});
    peers.advance(milliseconds(1));
    EXPECT_THAT(errors_of(peers.first.poll()), ElementsAre(std::nullopt));
}

TEST(ReceiverNotReady, WriteWithImmediateGetsRnr) {
    Repetition peers;
    Send write = peers.write(3 * mtu);
    write.opcode = SendOpcode::rdma_write_immediate;
    peers.first.post(write);
    peers.settle();
    EXPECT_THAT(peers.first.poll(), IsEmpty());
    peers.second.post_receive({});
    peers.advance(milliseconds(1));
    EXPECT_THAT(errors_of(peers.first.poll()), ElementsAre(std::nullopt));
    EXPECT_THAT(peers.second.poll(), SizeIs(1));
    EXPECT_EQ(peers.second.contents(peers.target), peers.first.contents(peers.source));
}

TEST(ReceiverNotReady, AdvertisedCreditsAvoidRnr) {
    Repetition peers;
    peers.provide_receives(3);
    peers.first.post(std::vector<Send>(10));
    peers.settle();
    EXPECT_THAT(peers.second.poll(), SizeIs(3));
    std::size_t sends = 0;
    for (const auto& packet : peers.take_packets())
        sends += operation_of(packet.transport.opcode)->verb == PacketOp::send ? 1 : 0;
    EXPECT_EQ(sends, 4U) << "of those without credit one, to ask";
}

TEST(ReceiverNotReady, EmptySrqSendsRnr) {
    Repetition peers({.shares_receives = true});
    peers.first.post(std::vector<Send>(3));
    peers.settle();
    auto& pool = *peers.second.queue_pair().shared_receive();
    for (std::uint16_t slot = 0; slot < 3; ++slot)
        peers.second.post_shared(pool, slot, {});
    peers.advance(milliseconds(1));
    EXPECT_THAT(errors_of(peers.first.poll()), Each(std::nullopt));
    EXPECT_THAT(peers.second.poll(), SizeIs(3));
}

// --- All of it -----------------------------------------------------------------------------------

class Unreliable : public ::testing::TestWithParam<std::tuple<double, unsigned>> {};

TEST_P(Unreliable, LossDuplicationReorderingSurvived) {
    const auto [chance, seed] = GetParam();
    Repetition peers({.mtu_code = 1, .first_psn = 0xff'ff00, .timeout_code = 10});
    peers.make_unreliable(chance, seed);
    constexpr int rounds = 30;
    const Data written = peers.second.space(rounds * 4 * mtu);
    const Data from = peers.first.fill(rounds * 4 * mtu, seed);
    const Data read = peers.first.space(rounds * 4 * mtu);
    const Data remote = peers.second.fill(rounds * 4 * mtu, seed + 1);
    const Data messages = peers.second.space(rounds * 4 * mtu);
    const Data counter = peers.second.space(8);
    for (std::uint32_t i = 0; i < rounds; ++i) {
        const auto part = [i](const Data& whole) {
            return Data{.address = whole.address + (std::uint64_t{i} * 4 * mtu),
                        .length = 4 * mtu - (i % 3)};
        };
        peers.second.post_receive({part(messages)});
        peers.first.post(std::vector<Send>{
            {.opcode = SendOpcode::rdma_write, .data = {part(from)}, .remote = part(written)},
            {.opcode = SendOpcode::rdma_read, .data = {part(read)}, .remote = part(remote)},
            {.data = {part(from)}},
            {.opcode = SendOpcode::fetch_add,
             .data = {peers.first.space(8)},
             .remote = counter,
             .atomic = {.swap_or_add = 1}}});
    }
    peers.run();
    const auto results = peers.first.poll();
    EXPECT_EQ(results.size(), 4U * rounds);
    for (const Result& result : results)
        EXPECT_EQ(result.error, std::nullopt) << result;
    EXPECT_THAT(peers.second.poll(), SizeIs(rounds));
    const auto expect_same = [&](const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
        for (std::size_t i = 0; i < rounds; ++i) {
            const std::size_t begin = i * 4 * mtu;
            EXPECT_TRUE(std::equal(a.begin() + begin, a.begin() + begin + 4 * mtu - (i % 3),
                                   b.begin() + begin))
                << "round " << i;
        }
    };
    expect_same(peers.first.contents(from), peers.second.contents(written));
    expect_same(peers.first.contents(from), peers.second.contents(messages));
    expect_same(peers.second.contents(remote), peers.first.contents(read));
    EXPECT_EQ(load_le<std::uint64_t>(peers.second.bench.at(counter.address, 8)),
              std::uint64_t{rounds});
}

INSTANTIATE_TEST_SUITE_P(Links, Unreliable,
                         ::testing::Combine(::testing::Values(0.01, 0.1),
                                            ::testing::Values(1U, 2U, 3U, 4U, 5U)));

} // namespace
} // namespace cxemu::transport
