// SPDX-License-Identifier: GPL-2.0-or-later
//
// RC: effects of each operation on both sides, and its errors.
#include "base/byte_order.hpp"
#include "queues/rules.hpp"
#include "tables/packet_headers.hpp"
#include "transport/testing/peers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cxemu::transport {
namespace {

using queues::CompletionError;
using queues::CompletionOpcode;
using queues::QueuePairState;
using queues::SendOpcode;
using testing::ConnectionOptions;
using testing::Data;
using ::testing::ElementsAre;
using testing::failure;
using ::testing::IsEmpty;
using testing::mtu;
using ::testing::Not;
using testing::Peers;
using testing::receive_failure;
using testing::received;
using testing::Result;
using testing::Send;
using testing::success;

struct Connected : Peers {
    explicit Connected(const ConnectionOptions& wanted = {}) : Peers(wanted) { connect(); }

    /// Writes \p value to 8 bytes of the second side's memory that atomics use.
    Data number(std::uint64_t value) {
        const Data data = second.space(sizeof(value));
        store_le(second.bench.at(data.address, sizeof(value)), value);
        return data;
    }
    /// The value after the operations.
    std::uint64_t value_of(const Data& number) {
        return load_le<std::uint64_t>(second.bench.at(number.address, number.length));
    }
    /// The value returned to the first side.
    std::uint64_t original_at(const Data& data) {
        return load_be<std::uint64_t>(first.bench.at(data.address, data.length));
    }
};

// --- Operations ----------------------------------------------------------------------------------

TEST(ReliableConnection, SendsOfLengthsAroundMtuDelivered) {
    for (const std::uint8_t code : {1, 2, 3, 4, 5}) {
        const std::uint32_t path_mtu = 128U << code;
        for (const std::uint32_t size :
             {0U, 1U, 3U, path_mtu - 1, path_mtu, path_mtu + 1, 2 * path_mtu, 5 * path_mtu + 7}) {
            Connected peers({.mtu_code = code});
            const Data source = peers.first.fill(size, code);
            const Data target = peers.second.space(size);
            peers.second.post_receive({target});
            peers.first.post({.data = {source}});
            peers.settle();
            EXPECT_THAT(peers.first.poll(), ElementsAre(success(0))) << size;
            EXPECT_THAT(peers.second.poll(), ElementsAre(received(size)));
            EXPECT_EQ(peers.second.contents(target), peers.first.contents(source));
        }
    }
}

TEST(ReliableConnection, MessageSegmentedByPathMtu) {
    Connected peers;
    peers.second.post_receive({peers.second.space(3 * mtu)});
    peers.second.post_receive({peers.second.space(3 * mtu)});
    peers.first.post(Send{});
    peers.settle();
    peers.take_packets();
    peers.second.poll();
    peers.first.post({.opcode = SendOpcode::send_immediate,
                      .data = {peers.first.fill(2 * mtu + 1, 1)},
                      .immediate = 77});
    peers.settle();
    std::vector<std::uint64_t> opcodes;
    for (const auto& packet : peers.take_packets())
        opcodes.push_back(packet.transport.opcode);
    EXPECT_THAT(opcodes,
                ElementsAre(hwtab::value<hwtab::transport_opcode, "rc_send_first">,
                            hwtab::value<hwtab::transport_opcode, "rc_send_middle">,
                            hwtab::value<hwtab::transport_opcode, "rc_send_last_with_immediate">,
                            hwtab::value<hwtab::transport_opcode, "rc_acknowledge">));
    EXPECT_THAT(peers.second.poll(),
                ElementsAre(received(2 * mtu + 1, CompletionOpcode::send_immediate, 77, 1)));
}

TEST(ReliableConnection, GatherAndScatterOverManySges) {
    Connected peers;
    const Data a = peers.first.fill(100, 1);
    const Data b = peers.first.fill(mtu, 2);
    const Data c = peers.first.fill(33, 3);
    const Data x = peers.second.space(mtu - 10);
    const Data y = peers.second.space(mtu);
    peers.second.post_receive({x, y});
    peers.first.post({.data = {a, b, c}});
    peers.settle();
    EXPECT_THAT(peers.second.poll(), ElementsAre(received(mtu + 133)));
    auto sent = peers.first.contents(a);
    std::ranges::copy(peers.first.contents(b), std::back_inserter(sent));
    std::ranges::copy(peers.first.contents(c), std::back_inserter(sent));
    auto arrived = peers.second.contents(x);
    std::ranges::copy(peers.second.contents(y), std::back_inserter(arrived));
    arrived.resize(sent.size());
    EXPECT_EQ(arrived, sent);
}

TEST(ReliableConnection, WriteRaisesNoRemoteCompletion) {
    Connected peers;
    const Data source = peers.first.fill(3 * mtu + 5, 1);
    const Data target = peers.second.space(source.length);
    peers.first.post({.opcode = SendOpcode::rdma_write, .data = {source}, .remote = target});
    peers.settle();
    EXPECT_THAT(peers.first.poll(), ElementsAre(success(0)));
    EXPECT_THAT(peers.second.poll(), IsEmpty());
    EXPECT_EQ(peers.second.contents(target), peers.first.contents(source));
}

TEST(ReliableConnection, WriteWithImmediateRaisesRemoteCompletion) {
    Connected peers;
    const Data source = peers.first.fill(3 * mtu, 1);
    const Data target = peers.second.space(source.length);
    peers.second.post_receive({});
    peers.first.post({.opcode = SendOpcode::rdma_write_immediate,
                      .data = {source},
                      .remote = target,
                      .immediate = 0xabcd,
                      .solicited = true});
    peers.settle();
    Result expected = received(3 * mtu, CompletionOpcode::write_immediate, 0xabcd);
    expected.solicited = true;
    EXPECT_THAT(peers.first.poll(), ElementsAre(success(0)));
    EXPECT_THAT(peers.second.poll(), ElementsAre(expected));
    EXPECT_EQ(peers.second.contents(target), peers.first.contents(source));
}

TEST(ReliableConnection, ReadReturnsPeerMemory) {
    for (const std::uint32_t size : {0U, 1U, 256U, 257U, 5000U}) {
        Connected peers;
        const Data source = peers.second.fill(size, 9);
        const Data target = peers.first.space(size);
        peers.first.post({.opcode = SendOpcode::rdma_read, .data = {target}, .remote = source});
        peers.settle();
        EXPECT_THAT(peers.first.poll(), ElementsAre(success(0, size)));
        EXPECT_EQ(peers.first.contents(target), peers.second.contents(source));
    }
}

TEST(ReliableConnection, CompareSwapSwapsOnMatch) {
    Connected peers;
    const Data number = peers.number(7);
    const Data found = peers.first.space(8);
    const auto swap = [&](std::uint64_t compare, std::uint64_t value) {
        peers.first.post({.opcode = SendOpcode::compare_swap,
                          .data = {found},
                          .remote = number,
                          .atomic = {.swap_or_add = value, .compare = compare}});
        peers.settle();
        return peers.original_at(found);
    };
    EXPECT_EQ(swap(8, 100), 7U);
    EXPECT_EQ(peers.value_of(number), 7U);
    EXPECT_EQ(swap(7, 100), 7U);
    EXPECT_EQ(peers.value_of(number), 100U);
    EXPECT_THAT(peers.first.poll(), ElementsAre(success(0, 8), success(1, 8)));
}

TEST(ReliableConnection, FetchAddReturnsOriginalValue) {
    Connected peers;
    const Data number = peers.number(0xffff'ffff);
    const Data found = peers.first.space(8);
    peers.first.post({.opcode = SendOpcode::fetch_add,
                      .data = {found},
                      .remote = number,
                      .atomic = {.swap_or_add = 2}});
    peers.settle();
    EXPECT_EQ(peers.original_at(found), 0xffff'ffffU);
    EXPECT_EQ(peers.value_of(number), 0x1'0000'0001U);
}

TEST(ReliableConnection, AtomicHostOrderResponseStored) {
    Connected peers;
    std::array<std::byte, hwtab::atomic_caps.size> block{};
    hwtab::View<hwtab::atomic_caps>{block}.set<"atomic_req_8B_endianness_mode">(1);
    ASSERT_TRUE(peers.first.bench.hca().capabilities().set(hca::CapabilityPage::atomic, block));
    const Data number = peers.number(0xff);
    const Data found = peers.first.space(8);
    peers.first.post({.opcode = SendOpcode::fetch_add,
                      .data = {found},
                      .remote = number,
                      .atomic = {.swap_or_add = 1}});
    peers.settle();
    EXPECT_EQ(load_le<std::uint64_t>(peers.first.bench.at(found.address, 8)), 0xffU);
    EXPECT_EQ(peers.value_of(number), 0x100U);
}

TEST(ReliableConnection, MaskedFetchAddKeepsFieldsSeparate) {
    Connected peers;
    const Data number = peers.number(0x00ff'00ff'ffff'ffff);
    const Data found = peers.first.space(8);
    peers.first.post({.opcode = SendOpcode::masked_fetch_add,
                      .data = {found},
                      .remote = number,
                      .atomic = {.swap_or_add = 0x0001'0001'0001'0001,
                                 .swap_or_add_mask = 0x8000'8000'8000'8000}});
    peers.settle();
    EXPECT_EQ(peers.original_at(found), 0x00ff'00ff'ffff'ffffU);
    EXPECT_EQ(peers.value_of(number), 0x0100'0100'0000'0000U)
        << "no carry from one field of 16 bits to the next";
}

TEST(ReliableConnection, MaskedCompareSwapUsesMasks) {
    Connected peers;
    const Data number = peers.number(0x1234'5678);
    const Data found = peers.first.space(8);
    peers.first.post({.opcode = SendOpcode::masked_compare_swap,
                      .data = {found},
                      .remote = number,
                      .atomic = {.swap_or_add = 0xffff'abcd,
                                 .compare = 0xff00'5678,
                                 .swap_or_add_mask = 0xffff,
                                 .compare_mask = 0xffff}});
    peers.settle();
    EXPECT_EQ(peers.original_at(found), 0x1234'5678U);
    EXPECT_EQ(peers.value_of(number), 0x1234'abcdU);
}

TEST(ReliableConnection, MaskedFetchAddWithoutBoundaryIsOneField) {
    Connected peers;
    const Data number = peers.number(0x0000'0001'ffff'ffff);
    peers.first.post({.opcode = SendOpcode::masked_fetch_add,
                      .data = {peers.first.space(8)},
                      .remote = number,
                      .atomic = {.swap_or_add = 1}});
    peers.settle();
    EXPECT_EQ(peers.value_of(number), 0x0000'0002'0000'0000U);
}

TEST(ReliableConnection, MaskedOperationWithoutOperandSizeRefused) {
    for (const SendOpcode opcode :
         {SendOpcode::masked_fetch_add, SendOpcode::masked_compare_swap}) {
        Connected peers;
        const Data number = peers.number(5);
        peers.first.post({.opcode = opcode,
                          .data = {peers.first.space(8)},
                          .remote = number,
                          .atomic = {.swap_or_add = 1},
                          .op_mod = 0});
        peers.settle();
        EXPECT_THAT(peers.first.poll(), ElementsAre(failure(0, CompletionError::local_operation)));
        EXPECT_EQ(peers.first.bench.violations(queues::rules::send_entry_malformed), 1U);
        EXPECT_EQ(peers.value_of(number), 5U);
    }
}

// --- Extended atomic operations: values in memory are in host order, responses are big-endian
// --------------------------------------------------------------------------

TEST(ExtendedAtomic, FourByteFetchAddChangesFourBytes) {
    Connected peers;
    const Data number = peers.second.space(8);
    store_le<std::uint64_t>(peers.second.bench.at(number.address, 8), 0x1111'1111'ffff'ffff);
    const Data found = peers.first.space(4);
    peers.first.post({.opcode = SendOpcode::masked_fetch_add,
                      .data = {found},
                      .remote = number,
                      .atomic = {.swap_or_add = 2},
                      .operand_size = 4});
    peers.settle();
    EXPECT_THAT(peers.first.poll(), ElementsAre(success(0, 4)));
    EXPECT_EQ(load_be<std::uint32_t>(peers.first.bench.at(found.address, 4)), 0xffff'ffffU);
    EXPECT_EQ(load_le<std::uint64_t>(peers.second.bench.at(number.address, 8)),
              0x1111'1111'0000'0001U);
}

TEST(ExtendedAtomic, FourByteCompareSwapUsesMasks) {
    Connected peers;
    const Data number = peers.second.space(8);
    store_le<std::uint64_t>(peers.second.bench.at(number.address, 8), 0x1234'5678'9abc'def0);
    peers.first.post({.opcode = SendOpcode::masked_compare_swap,
                      .data = {peers.first.space(4)},
                      .remote = {.address = number.address + 4},
                      .atomic = {.swap_or_add = 0xffff'ffff,
                                 .compare = 0xffff'5678,
                                 .swap_or_add_mask = 0xff,
                                 .compare_mask = 0xffff},
                      .operand_size = 4});
    peers.settle();
    EXPECT_EQ(load_le<std::uint64_t>(peers.second.bench.at(number.address, 8)),
              0x1234'56ff'9abc'def0U);
}

/// Four words of 8 bytes each, on both sides of a connection.
class FourWords : public Connected {
public:
    static constexpr std::uint32_t size = 32;
    using Words = std::array<std::uint64_t, 4>;

    explicit FourWords(const Words& words) {
        for (std::size_t i = 0; i < words.size(); ++i)
            store_le(second.bench.at(memory.address + (i * 8), 8), words[i]);
    }
    Words in_memory() {
        Words words{};
        for (std::size_t i = 0; i < words.size(); ++i)
            words[i] = load_le<std::uint64_t>(second.bench.at(memory.address + (i * 8), 8));
        return words;
    }
    Words original() {
        Words words{};
        for (std::size_t i = 0; i < words.size(); ++i)
            words[i] = load_be<std::uint64_t>(first.bench.at(found.address + (i * 8), 8));
        return words;
    }
    void run(SendOpcode opcode, const std::array<queues::AtomicOperands, 4>& operands) {
        first.post({.opcode = opcode,
                    .data = {found},
                    .remote = memory,
                    .atomic = operands[0],
                    .more_words = {operands.begin() + 1, operands.end()},
                    .operand_size = size});
        settle();
    }

    const Data memory = second.space(size);
    const Data found = first.space(size);
};

TEST(ExtendedAtomic, LongFetchAddAddsToEachWord) {
    constexpr FourWords::Words before{~0ULL, 1, 0x00ff, 10};
    FourWords peers(before);
    peers.run(SendOpcode::masked_fetch_add, {{{.swap_or_add = 1},
                                              {.swap_or_add = 1},
                                              {.swap_or_add = 1, .swap_or_add_mask = 0x80},
                                              {.swap_or_add = 0}}});
    EXPECT_THAT(peers.first.poll(), ElementsAre(success(0, FourWords::size)));
    EXPECT_EQ(peers.original(), before);
    EXPECT_EQ(peers.in_memory(), (FourWords::Words{0, 2, 0, 10}));
}

TEST(ExtendedAtomic, LongCompareSwapSwapsAllOrNone) {
    constexpr FourWords::Words before{1, 2, 3, 4};
    FourWords peers(before);
    std::array<queues::AtomicOperands, 4> operands{};
    for (std::size_t i = 0; i < operands.size(); ++i)
        operands[i] = {.swap_or_add = 10 * (i + 1),
                       .compare = i + 1,
                       .swap_or_add_mask = ~0ULL,
                       .compare_mask = ~0ULL};
    operands[3].compare = 5;
    peers.run(SendOpcode::masked_compare_swap, operands);
    EXPECT_EQ(peers.in_memory(), before);
    EXPECT_EQ(peers.original(), before);
    operands[3].compare = 4;
    peers.run(SendOpcode::masked_compare_swap, operands);
    EXPECT_EQ(peers.in_memory(), (FourWords::Words{10, 20, 30, 40}));
    EXPECT_EQ(peers.original(), before);
}

TEST(ExtendedAtomic, LengthBeyondAtomicModeRefused) {
    for (const bool fits : {true, false}) {
        Connected peers({.atomic_mode = 4}); // up to 16 bytes
        const std::uint32_t size = fits ? 16 : 32;
        Send send{.opcode = SendOpcode::masked_fetch_add,
                  .data = {peers.first.space(size)},
                  .remote = peers.second.space(size),
                  .operand_size = size};
        send.more_words.resize((size / 8) - 1);
        peers.first.post(send);
        peers.settle();
        EXPECT_THAT(peers.first.poll(),
                    ElementsAre(fits ? success(0, size)
                                     : failure(0, CompletionError::remote_invalid_request)));
    }
}

/// The response of a QP with operations of \p mode to a masked one of \p size bytes.
MATCHER_P(TakesMaskedOperationsOf, size, "") {
    Connected peers({.atomic_mode = arg});
    Send send{.opcode = SendOpcode::masked_fetch_add,
              .data = {peers.first.space(size)},
              .remote = peers.second.space(size),
              .operand_size = size};
    peers.first.post(send);
    peers.settle();
    return peers.first.poll() == std::vector{success(0, size)};
}

TEST(ExtendedAtomic, MaskedOperationRequiresAtomicMode) {
    constexpr std::uint8_t specification = 1, only_8_bytes = 2, up_to_8_bytes = 3;
    EXPECT_THAT(specification, Not(TakesMaskedOperationsOf(8U)));
    EXPECT_THAT(only_8_bytes, TakesMaskedOperationsOf(8U));
    EXPECT_THAT(only_8_bytes, Not(TakesMaskedOperationsOf(4U)));
    EXPECT_THAT(up_to_8_bytes, TakesMaskedOperationsOf(8U));
    EXPECT_THAT(up_to_8_bytes, TakesMaskedOperationsOf(4U));
}

TEST(ExtendedAtomic, MisalignedOperationRefused) {
    Connected peers;
    Send send{.opcode = SendOpcode::masked_fetch_add,
              .data = {peers.first.space(16)},
              .remote = {.address = peers.second.space(32).address / 16 * 16 + 8},
              .more_words = {{}},
              .operand_size = 16};
    peers.first.post(send);
    peers.settle();
    EXPECT_THAT(peers.first.poll(),
                ElementsAre(failure(0, CompletionError::remote_invalid_request)));
}

TEST(ReliableConnection, CompletionsInOrderOfRequests) {
    Connected peers;
    const Data remote = peers.second.fill(20 * mtu, 1);
    const Data local = peers.first.space(20 * mtu);
    peers.second.post_receive({});
    const std::vector<Send> sends{
        {.opcode = SendOpcode::rdma_read, .data = {local}, .remote = remote},
        {.opcode = SendOpcode::send},
        {.opcode = SendOpcode::rdma_write, .data = {peers.first.fill(8, 1)}, .remote = remote},
        {.opcode = SendOpcode::fetch_add,
         .data = {peers.first.space(8)},
         .remote = peers.number(1)}};
    peers.first.post(sends);
    peers.settle();
    EXPECT_THAT(peers.first.poll(),
                ElementsAre(success(0, 20 * mtu), success(1), success(2), success(3, 8)));
}

TEST(ReliableConnection, UnsignaledSuccessRaisesNoCompletion) {
    Connected peers;
    peers.second.post_receive({});
    peers.second.post_receive({});
    peers.first.post(std::vector<Send>{{.signaled = false}, {.signaled = true}});
    peers.settle();
    EXPECT_THAT(peers.first.poll(), ElementsAre(success(1)));
}

TEST(ReliableConnection, FencedWriteWaitsForRead) {
    Connected peers;
    const Data remote = peers.second.fill(4, 1);
    const Data local = peers.first.space(4);
    const Data copy = peers.second.space(4);
    peers.first.post(
        std::vector<Send>{{.opcode = SendOpcode::rdma_read, .data = {local}, .remote = remote},
                          {.opcode = SendOpcode::rdma_write,
                           .data = {local},
                           .remote = copy,
                           .fence = queues::Fence::reads_and_atomics}});
    peers.settle();
    EXPECT_EQ(peers.second.contents(copy), peers.second.contents(remote));
}

TEST(ReliableConnection, OutstandingReadsLimited) {
    Connected peers({.log_reads = 1});
    const Data remote = peers.second.fill(50 * mtu, 1);
    std::vector<Send> reads(6, {.opcode = SendOpcode::rdma_read, .remote = remote});
    for (Send& read : reads)
        read.data = {peers.first.space(50 * mtu)};
    std::size_t outstanding = 0;
    std::size_t max = 0;
    peers.set_fate([&](std::size_t /*number*/, const fabric::ParsedPacket& packet) {
        const auto operation = operation_of(packet.headers.transport.opcode);
        outstanding += operation->verb == PacketOp::read ? 1 : 0;
        max = std::max(max, outstanding);
        outstanding -= operation->verb == PacketOp::read_response && operation->last ? 1 : 0;
        return 1;
    });
    peers.first.post(reads);
    peers.settle();
    EXPECT_EQ(peers.first.poll().size(), 6U);
    EXPECT_EQ(max, 2U);
}

TEST(ReliableConnection, SendWithInvalidateInvalidatesKey) {
    Connected peers;
    const std::uint32_t key = peers.second.bench.make_physical_key();
    (*peers.second.bench.keys().find(key))->mutable_context().set<"en_rinval">(1);
    peers.second.post_receive({});
    peers.first.post({.opcode = SendOpcode::send_invalidate, .immediate = key});
    peers.settle();
    EXPECT_THAT(peers.second.poll(),
                ElementsAre(received(0, CompletionOpcode::send_invalidate, key)));
    peers.first.post({.opcode = SendOpcode::rdma_write,
                      .data = {peers.first.fill(1, 1)},
                      .remote = peers.second.space(1),
                      .remote_key = key});
    peers.settle();
    EXPECT_THAT(peers.first.poll(),
                ElementsAre(success(0), failure(1, CompletionError::remote_access)));
}

TEST(ReliableConnection, PsnWrapsAround) {
    Connected peers({.first_psn = 0xff'fffe});
    const Data source = peers.first.fill(5 * mtu, 1);
    const Data target = peers.second.space(source.length);
    peers.first.post({.opcode = SendOpcode::rdma_write, .data = {source}, .remote = target});
    peers.first.post({.opcode = SendOpcode::rdma_read, .data = {source}, .remote = target});
    peers.settle();
    EXPECT_THAT(peers.first.poll(), ElementsAre(success(0), success(1, 5 * mtu)));
    EXPECT_EQ(peers.second.contents(target), peers.first.contents(source));
    peers.first.queue_pair().refresh();
    EXPECT_EQ(peers.first.queue_pair().context().get<"next_send_psn">(), 8U);
}

TEST(ReliableConnection, MessageOfManyWindowsDelivered) {
    Connected peers;
    const Data source = peers.first.fill(3 << 20, 5);
    const Data target = peers.second.space(source.length);
    peers.first.post({.opcode = SendOpcode::rdma_write, .data = {source}, .remote = target});
    peers.settle();
    EXPECT_THAT(peers.first.poll(), ElementsAre(success(0)));
    EXPECT_EQ(peers.second.contents(target), peers.first.contents(source));
}

TEST(ReliableConnection, FirstPacketBeforeRtsRaisesEvent) {
    Peers peers;
    peers.first.to_rts(peers.options);
    peers.second.post_receive({});
    peers.second.post_receive({});
    peers.first.post(std::vector<Send>(2));
    peers.settle();
    EXPECT_EQ(peers.second.events(hca::EventType::communication_established), 1U);
    EXPECT_EQ(peers.second.poll().size(), 2U);
}

TEST(ReliableConnection, ShortMessagesScatteredToCqe) {
    Connected peers;
    peers.second.queue_pair().context().set<"cs_res">(1);
    peers.first.queue_pair().context().set<"cs_req">(0x11);
    const Data source = peers.first.fill(32, 3);
    const Data target = peers.second.space(32);
    peers.second.post_receive({target});
    peers.first.post({.data = {source}});
    peers.settle();
    EXPECT_THAT(peers.second.poll(), ElementsAre(received(32)));
    const auto entry =
        peers.second.bench.completion(*peers.second.queue_pair().receive_completions(), 0);
    EXPECT_TRUE(std::ranges::equal(entry.memory().first(32), peers.first.contents(source)));
    EXPECT_EQ(entry.get<"format">(), (hwtab::value<hwtab::cqe_format, "inline_data32_seg">));
    EXPECT_EQ(peers.second.contents(target), std::vector<std::byte>(32)) << "software copies it";

    const Data number = peers.number(41);
    peers.first.poll();
    peers.first.post({.opcode = SendOpcode::fetch_add,
                      .data = {peers.first.space(8)},
                      .remote = number,
                      .atomic = {.swap_or_add = 1}});
    peers.settle();
    const auto original =
        peers.first.bench.completion(*peers.first.queue_pair().send_completions(), 1);
    EXPECT_EQ(load_be<std::uint64_t>(original.memory()), 41U);
    EXPECT_EQ(peers.value_of(number), 42U);
}

// --- Failures ------------------------------------------------------------------------------------

/// Posts \p send, and WRs that must be flushed after it.
struct Failing : Connected {
    using Connected::Connected;

    void expect(const Send& send, CompletionError error) {
        first.post(std::vector<Send>{send, {.opcode = SendOpcode::send}});
        settle();
        EXPECT_THAT(first.poll(),
                    ElementsAre(failure(0, error), failure(1, CompletionError::flushed)));
        EXPECT_EQ(first.queue_pair().state(), QueuePairState::error);
    }
    void expect_event(hca::EventType type) {
        EXPECT_EQ(second.queue_pair().state(), QueuePairState::error);
        EXPECT_EQ(second.events(type), 1U);
    }
};

TEST(ReliableConnectionFailure, InvalidKeyRefused) {
    Failing peers;
    peers.second.post_receive({});
    peers.expect({.opcode = SendOpcode::rdma_write,
                  .data = {peers.first.fill(8, 1)},
                  .remote = peers.second.space(8),
                  .remote_key = 0x1234'5600},
                 CompletionError::remote_access);
    peers.expect_event(hca::EventType::work_queue_access_error);
    EXPECT_THAT(peers.second.poll(), ElementsAre(receive_failure(0, CompletionError::flushed)));
}

TEST(ReliableConnectionFailure, ReadBeyondKeyRefused) {
    Failing peers;
    peers.expect({.opcode = SendOpcode::rdma_read,
                  .data = {peers.first.space(8)},
                  .remote = {.address = ~std::uint64_t{0} - 3}},
                 CompletionError::remote_access);
    peers.expect_event(hca::EventType::work_queue_access_error);
}

TEST(ReliableConnectionFailure, OperationNotAllowedRefused) {
    const auto try_it = [](const ConnectionOptions& options, SendOpcode opcode) {
        Failing peers(options);
        peers.expect(
            {.opcode = opcode, .data = {peers.first.space(8)}, .remote = peers.second.space(8)},
            CompletionError::remote_invalid_request);
        peers.expect_event(hca::EventType::work_queue_invalid_request);
    };
    try_it({.may_read = false}, SendOpcode::rdma_read);
    try_it({.may_write = false}, SendOpcode::rdma_write);
    try_it({.may_atomic = false}, SendOpcode::fetch_add);
}

TEST(ReliableConnectionFailure, ErrorsCountedAtBothEnds) {
    Failing peers;
    for (int i = 0; i < 3; ++i)
        peers.second.post_receive({});
    peers.expect({.opcode = SendOpcode::rdma_write,
                  .data = {peers.first.fill(8, 1)},
                  .remote = peers.second.space(8),
                  .remote_key = 0x1234'5600},
                 CompletionError::remote_access);
    const auto& requester = peers.first.queue_pair().counts();
    EXPECT_EQ(requester.req_remote_access_errors, 1U);
    EXPECT_EQ(requester.req_cqe_flush_error, 1U);
    EXPECT_EQ(requester.req_cqe_error, 2U);
    const auto& responder = peers.second.queue_pair().counts();
    EXPECT_EQ(responder.resp_remote_access_errors, 1U);
    EXPECT_EQ(responder.resp_cqe_flush_error, 3U);
    EXPECT_EQ(responder.resp_cqe_error, 3U);
}

TEST(ReliableConnectionFailure, ErrorsCountedByType) {
    using queues::QueueCounts;
    const auto count = [](Failing& peers, const Send& send, CompletionError error,
                          std::uint32_t QueueCounts::* here, std::uint32_t QueueCounts::* there) {
        peers.expect(send, error);
        EXPECT_EQ(peers.first.queue_pair().counts().*here, 1U);
        EXPECT_EQ(peers.second.queue_pair().counts().*there, 1U);
    };
    Failing refused({.may_read = false});
    count(refused,
          {.opcode = SendOpcode::rdma_read,
           .data = {refused.first.space(8)},
           .remote = refused.second.space(8)},
          CompletionError::remote_invalid_request, &QueueCounts::req_remote_invalid_request,
          &QueueCounts::resp_remote_invalid_request);
    Failing too_long;
    too_long.second.post_receive({too_long.second.space(8)});
    count(too_long, {.data = {too_long.first.fill(9, 1)}}, CompletionError::remote_invalid_request,
          &QueueCounts::req_remote_invalid_request, &QueueCounts::resp_local_length_error);
    Failing not_writable;
    not_writable.second.post_receive({not_writable.second.space(8)}, 0x1234'5600);
    count(not_writable, {.data = {not_writable.first.fill(8, 1)}},
          CompletionError::remote_operation, &QueueCounts::req_remote_operation_errors,
          &QueueCounts::resp_local_protection);
}

TEST(ReliableConnectionFailure, MisalignedAtomicRefused) {
    Failing peers;
    Data remote = peers.second.space(16);
    remote.address += 4;
    peers.expect(
        {.opcode = SendOpcode::fetch_add, .data = {peers.first.space(8)}, .remote = remote},
        CompletionError::remote_invalid_request);
}

TEST(ReliableConnectionFailure, MessageTooLongReportedAtBothEnds) {
    Failing peers;
    peers.second.post_receive({peers.second.space(2 * mtu)});
    peers.expect({.data = {peers.first.fill(2 * mtu + 1, 1)}},
                 CompletionError::remote_invalid_request);
    EXPECT_THAT(peers.second.poll(),
                ElementsAre(receive_failure(0, CompletionError::local_length)));
    EXPECT_EQ(peers.second.queue_pair().state(), QueuePairState::error);
}

TEST(ReliableConnectionFailure, UnwritableReceiveReported) {
    Failing peers;
    peers.second.post_receive({peers.second.space(8)}, 0x1234'5600);
    peers.expect({.data = {peers.first.fill(8, 1)}}, CompletionError::remote_operation);
    EXPECT_THAT(peers.second.poll(),
                ElementsAre(receive_failure(0, CompletionError::local_protection)));
}

TEST(ReliableConnectionFailure, UnreadableSendReported) {
    Failing peers;
    peers.expect({.data = {peers.first.fill(8, 1)}, .local_key = 0x1234'5600},
                 CompletionError::local_protection);
    EXPECT_EQ(peers.second.queue_pair().state(), QueuePairState::ready_to_send)
        << "it knows nothing";
}

TEST(ReliableConnectionFailure, UnwritableResponseFailsRequest) {
    Failing peers;
    peers.expect({.opcode = SendOpcode::rdma_read,
                  .data = {peers.first.space(8)},
                  .remote = peers.second.space(8),
                  .local_key = 0x1234'5600},
                 CompletionError::local_protection);
}

TEST(ReliableConnectionFailure, FailedSendCompletesEarlierRequests) {
    Connected peers;
    peers.second.post_receive({});
    peers.first.post(
        std::vector<Send>{{.opcode = SendOpcode::rdma_read,
                           .data = {peers.first.space(10 * mtu)},
                           .remote = peers.second.fill(10 * mtu, 1)},
                          {.opcode = SendOpcode::send},
                          {.data = {peers.first.fill(8, 1)}, .local_key = 0x1234'5600}});
    peers.settle();
    EXPECT_THAT(peers.first.poll(), ElementsAre(success(0, 10 * mtu), success(1),
                                                failure(2, CompletionError::local_protection)));
}

TEST(ReliableConnectionFailure, RefusedRequestLeavesEarlierResponses) {
    Connected peers;
    const Data remote = peers.second.fill(200 * mtu, 1);
    const Data local = peers.first.space(200 * mtu);
    peers.first.post(
        std::vector<Send>{{.opcode = SendOpcode::rdma_read, .data = {local}, .remote = remote},
                          {.opcode = SendOpcode::rdma_write,
                           .data = {peers.first.fill(8, 1)},
                           .remote = remote,
                           .remote_key = 0x1234'5600}});
    peers.settle();
    EXPECT_THAT(peers.first.poll(),
                ElementsAre(success(0, 200 * mtu), failure(1, CompletionError::remote_access)));
    EXPECT_EQ(peers.first.contents(local), peers.second.contents(remote));
}

TEST(ReliableConnectionFailure, IncompleteMessageReceiveFlushed) {
    Connected peers;
    peers.second.post_receive({peers.second.space(4 * mtu)});
    peers.set_fate([](std::size_t number, const auto& /*packet*/) { return number < 2 ? 1 : 0; });
    peers.first.post({.data = {peers.first.fill(4 * mtu, 1)}});
    peers.settle();
    peers.second.queue_pair().change_state(QueuePairState::error);
    EXPECT_THAT(peers.second.poll(), ElementsAre(receive_failure(0, CompletionError::flushed)));
}

} // namespace
} // namespace cxemu::transport
