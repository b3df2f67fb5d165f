// SPDX-License-Identifier: GPL-2.0-or-later
//
// Signature offload on connections: memory and completions on both sides, and the stop of the send
// queue at an error.
#include "base/byte_order.hpp"
#include "queues/rules.hpp"
#include "queues/testing/signed_key.hpp"
#include "transport/testing/peers.hpp"

#include <algorithm>
#include <array>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cxemu::transport {
namespace {

using memory::SignaturePlace;
using memory::testing::SignatureDescription;
using queues::CompletionOpcode;
using queues::Fence;
using queues::QueuePairState;
using queues::SendOpcode;
using queues::testing::SignedKey;
using testing::ConnectionOptions;
using testing::Data;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Peer;
using testing::Peers;
using testing::Result;
using testing::Send;
using ::testing::SizeIs;

constexpr std::uint32_t block = 512;
constexpr std::uint32_t blocks = 3;
constexpr std::uint32_t dif_size = 8;
constexpr std::uint32_t with_dif = blocks * (block + dif_size);

Result completed(std::uint16_t index, std::uint32_t bytes = 0) {
    return {.index = index, .byte_count = bytes};
}

MATCHER(IsSignatureError, "") {
    return arg.opcode == CompletionOpcode::signature_error;
}

/// A side with memory for three blocks: `plain` without T10-DIF, `protected_data` with space for
/// T10-DIF. Its mkey refers to one of them.
struct Side {
    explicit Side(Peer& which)
        : peer(which), plain(which.fill(blocks * block, 3)), protected_data(which.space(with_dif)),
          key(which.bench) {}

    void set_dif(SignatureDescription& description, SignaturePlace place) const {
        description.set_dif(place, application_tag, reference_tag,
                            place == SignaturePlace::wire ? key.wire_variable()
                                                          : key.memory_variable());
    }
    /// Plain memory, T10-DIF on the wire.
    void insert() {
        SignatureDescription description;
        set_dif(description, SignaturePlace::wire);
        ASSERT_TRUE(key.configure(plain.address, plain.length, description));
    }
    /// T10-DIF in memory, none on the wire.
    void strip() {
        SignatureDescription description;
        set_dif(description, SignaturePlace::memory);
        ASSERT_TRUE(key.configure(protected_data.address, protected_data.length, description));
    }
    /// T10-DIF in memory and on the wire.
    void pass() {
        SignatureDescription description;
        set_dif(description, SignaturePlace::memory);
        set_dif(description, SignaturePlace::wire);
        description.basic().set<"sbs">(1);
        description.basic().set<"wire_copy_byte_mask">(0xff);
        ASSERT_TRUE(key.configure(protected_data.address, protected_data.length, description));
    }
    /// Fills the protected memory with the data of the other one and valid T10-DIF.
    void protect() {
        strip();
        ASSERT_TRUE(peer.bench.keys().write({.protection_domain = peer.bench.domain()},
                                            {.key = key.key(),
                                             .address = 0,
                                             .length = plain.length,
                                             .right = memory::AccessRight::local_write},
                                            peer.contents(plain)));
    }
    void corrupt(std::uint32_t offset) {
        std::byte& byte = peer.bench.at(protected_data.address + offset, 1).front();
        byte = ~byte;
    }

    static constexpr std::uint16_t application_tag = 0x5678;
    static constexpr std::uint32_t reference_tag = 100;
    Peer& peer;
    Data plain;
    Data protected_data;
    SignedKey key;
};

struct SignatureTest : ::testing::Test {
    explicit SignatureTest(const ConnectionOptions& options = {}) : peers(options) {
        peers.connect();
    }

    /// The request of the first side that uses its mkey.
    [[nodiscard]] Send request(SendOpcode opcode, std::uint32_t length) const {
        return {.opcode = opcode,
                .data = {{.address = 0, .length = length}},
                .remote_key = second.key.key(),
                .local_key = first.key.key()};
    }
    void post_receive(std::uint32_t length) {
        peers.second.post_receive({{.address = 0, .length = length}}, second.key.key());
    }
    /// The last signature error completion.
    hwtab::ConstView<hwtab::sig_err_cqe> signature_error(Peer& peer, std::uint32_t index) {
        return hwtab::ConstView<hwtab::sig_err_cqe>{
            peer.bench.completion(peer.completions(), index).memory()};
    }

    Peers peers;
    Side first{peers.first};
    Side second{peers.second};
};

// --- Data ----------------------------------------------------------------------------------------

/// Packets have 256 bytes: no block boundary is a packet boundary.
TEST_F(SignatureTest, SentSignaturesInsertedAndKept) {
    for (const SendOpcode opcode : {SendOpcode::send, SendOpcode::rdma_write}) {
        second.protected_data = peers.second.space(with_dif);
        first.insert();
        second.pass();
        post_receive(with_dif);
        peers.first.post(request(opcode, with_dif));
        peers.settle();
        EXPECT_THAT(peers.first.poll(), SizeIs(1));
        const auto stream = peers.second.contents(second.protected_data);
        const auto data = peers.first.contents(first.plain);
        for (std::uint32_t i = 0; i < blocks; ++i) {
            const auto there = std::span(stream).subspan(i * (block + dif_size));
            EXPECT_TRUE(
                std::ranges::equal(there.first(block), std::span(data).subspan(i * block, block)));
            EXPECT_EQ(load_be<std::uint16_t>(there.subspan(block + 2)), Side::application_tag);
            EXPECT_EQ(load_be<std::uint32_t>(there.subspan(block + 4)), Side::reference_tag + i);
        }
    }
}

TEST_F(SignatureTest, ReadSignaturesStripped) {
    second.protect();
    second.pass();
    first.insert();
    first.peer.bench.at(first.plain.address, 1).front() = std::byte{0};
    peers.first.post(request(SendOpcode::rdma_read, with_dif));
    peers.settle();
    EXPECT_THAT(peers.first.poll(), ElementsAre(completed(0, with_dif)));
    EXPECT_THAT(peers.second.poll(), IsEmpty());
    EXPECT_EQ(peers.first.contents(first.plain), peers.second.contents(second.plain));
}

TEST_F(SignatureTest, RetransmissionKeepsSignatures) {
    first.protect();
    second.pass();
    first.pass();
    peers.make_unreliable(0.1, 1);
    for (std::uint16_t i = 0; i < 20; ++i)
        peers.first.post(request(SendOpcode::rdma_write, with_dif));
    peers.run();
    EXPECT_THAT(peers.first.poll(), SizeIs(20));
    EXPECT_THAT(peers.second.poll(), IsEmpty()) << "no error either";
    EXPECT_EQ(peers.second.contents(second.protected_data),
              peers.first.contents(first.protected_data));
}

// --- Errors --------------------------------------------------------------------------------------

TEST_F(SignatureTest, WrongSignatureInMemoryPrecedesSendCqe) {
    first.protect();
    first.corrupt(block + dif_size);
    peers.first.post({.opcode = SendOpcode::rdma_write,
                      .data = {{.address = 0, .length = blocks * block}},
                      .remote = second.plain,
                      .local_key = first.key.key()});
    peers.settle();
    EXPECT_THAT(peers.first.poll(), ElementsAre(IsSignatureError(), completed(0)));
    const auto error = signature_error(peers.first, 0);
    EXPECT_EQ(error.get<"syndrome">(), (hwtab::value<hwtab::cqe_sig_syndrome, "guard">));
    EXPECT_EQ(error.get<"domain">(), (hwtab::value<hwtab::cqe_sig_domain, "memory">));
    EXPECT_EQ(error.get<"mkey">(), first.key.key());
    EXPECT_EQ(error.get<"err_offset">(), 2 * (block + dif_size) - 1);
    EXPECT_EQ(error.get<"qpn">(), peers.first.queue_pair().number());
    EXPECT_EQ(error.get<"actual_reftag">(), Side::reference_tag + 1);
    EXPECT_EQ(peers.first.queue_pair().state(), QueuePairState::ready_to_send);
}

TEST_F(SignatureTest, WrongSignatureOnWireReportedToReceiver) {
    first.protect();
    first.corrupt(block + 2);
    second.insert();
    post_receive(with_dif);
    peers.first.post({.data = {first.protected_data}});
    peers.settle();
    EXPECT_THAT(peers.first.poll(), ElementsAre(completed(0)));
    const auto received = peers.second.poll();
    ASSERT_THAT(received, SizeIs(2));
    EXPECT_THAT(received.front(), IsSignatureError());
    EXPECT_EQ(received.back().opcode, CompletionOpcode::send);
    const auto error = signature_error(peers.second, 0);
    EXPECT_EQ(error.get<"syndrome">(), (hwtab::value<hwtab::cqe_sig_syndrome, "apptag">));
    EXPECT_EQ(error.get<"domain">(), (hwtab::value<hwtab::cqe_sig_domain, "wire">));
    EXPECT_EQ(error.get<"err_offset">(), block + dif_size - 1);
}

// --- Pipelining ----------------------------------------------------------------------------------

struct PipeliningTest : SignatureTest {
    explicit PipeliningTest(const ConnectionOptions& options = {}) : SignatureTest(options) {
        peers.first.queue_pair().context().set<"drain_sigerr">(1);
        first.protect();
    }

    [[nodiscard]] Send data(bool signaled) const {
        return {.opcode = SendOpcode::rdma_write,
                .data = {{.address = 0, .length = blocks * block}},
                .remote = second.plain,
                .local_key = first.key.key(),
                .signaled = signaled};
    }
    [[nodiscard]] Send response(Fence fence = Fence::local_reads_and_atomics) const {
        return {.data = {{.address = first.plain.address, .length = 16}}, .fence = fence};
    }
    /// As libmlx5 does it: only the opcode changes.
    void cancel(std::uint16_t index) { change(index, SendOpcode::nop); }
    void change(std::uint16_t index, SendOpcode opcode) {
        auto& queue_pair = peers.first.queue_pair();
        const std::uint64_t address = queue_pair.buffer().address(
            sends_start + std::uint64_t{index} * queues::SendQueue::block_size);
        const auto memory = peers.first.bench.at(address, hwtab::wqe_ctrl_seg.size);
        hwtab::View<hwtab::wqe_ctrl_seg>{memory}.set<"opcode">(static_cast<std::uint8_t>(opcode));
    }
    [[nodiscard]] std::uint64_t changed_entries() {
        return peers.first.bench.violations(queues::rules::send_entry_changed);
    }
    void resume() {
        EXPECT_TRUE(peers.first.bench.transit<hwtab::cmd_sqd2rts_qp>(peers.first.queue_pair()));
        peers.settle();
    }
    [[nodiscard]] QueuePairState state() { return peers.first.queue_pair().state(); }

    static constexpr std::uint64_t sends_start = 2048; ///< after 64 receive WQEs of 32 bytes
};

struct StopAtFenceTest : PipeliningTest {
    StopAtFenceTest() : PipeliningTest({.signature_stop = hca::SignatureStop::fence}) {}
};

struct LateReportTest : PipeliningTest {
    LateReportTest() : PipeliningTest({.signature_report = hca::SignatureReport::behind}) {}
};

TEST_F(PipeliningTest, ValidSignaturesContinue) {
    peers.second.post_receive({peers.second.space(16)});
    peers.first.post(std::array{data(false), response()});
    peers.settle();
    EXPECT_THAT(peers.first.poll(), ElementsAre(completed(1)));
    EXPECT_EQ(state(), QueuePairState::ready_to_send);
}

TEST_F(PipeliningTest, SignatureErrorStopsBeforeFencedResponse) {
    first.corrupt(0);
    peers.second.post_receive({peers.second.space(16)});
    peers.first.post(std::array{data(false), response()});
    peers.settle();
    EXPECT_EQ(state(), QueuePairState::send_queue_drained);
    EXPECT_EQ(peers.first.events(hca::EventType::send_queue_drained), 1U);
    EXPECT_THAT(peers.first.poll(), ElementsAre(IsSignatureError()));
    EXPECT_THAT(peers.second.poll(), IsEmpty());
    EXPECT_EQ(peers.first.queue_pair().send_queue().next(), 1U);
}

/// The next WQEs wait, whether fenced or not.
TEST_F(PipeliningTest, SignatureErrorStopsBehindFailedWqe) {
    first.corrupt(with_dif - 1);
    peers.second.post_receive({peers.second.space(16)});
    peers.first.post(std::array{data(true), response(Fence::none)});
    peers.settle();
    EXPECT_EQ(state(), QueuePairState::send_queue_drained);
    EXPECT_THAT(peers.first.poll(), ElementsAre(IsSignatureError(), completed(0)));
    EXPECT_THAT(peers.second.poll(), IsEmpty());
}

/// The CQE is written before the event.
TEST_F(PipeliningTest, ErrorCompletionPrecedesDrainedEvent) {
    first.corrupt(0);
    peers.set_fate([](std::size_t /*number*/, const fabric::ParsedPacket& packet) {
        return packet.headers.ack ? 0 : 1; // the write is never acknowledged
    });
    peers.first.post(data(false));
    peers.settle();
    EXPECT_THAT(peers.first.poll(), ElementsAre(IsSignatureError()));
    EXPECT_EQ(state(), QueuePairState::send_queue_draining);
    EXPECT_EQ(peers.first.events(hca::EventType::send_queue_drained), 0U);
}

TEST_F(PipeliningTest, ModifiedWqesExecutedAfterResume) {
    first.corrupt(0);
    const Data place = peers.second.space(16);
    peers.second.post_receive({place});
    peers.first.post(std::array{data(false), response()});
    peers.settle();
    peers.first.poll();
    cancel(1);
    peers.first.post(response());
    peers.settle();
    EXPECT_THAT(peers.first.poll(), IsEmpty()) << "posted, but the queue stands";
    resume();
    EXPECT_THAT(peers.first.poll(), ElementsAre(completed(1), completed(2)));
    EXPECT_THAT(peers.second.poll(), SizeIs(1)) << "the cancelled response has not been sent";
    EXPECT_EQ(state(), QueuePairState::ready_to_send);
}

TEST_F(PipeliningTest, SecondSignatureErrorStopsAgain) {
    first.corrupt(0);
    peers.first.post(data(true));
    peers.settle();
    resume();
    first.key.error_seen();
    first.strip();
    peers.first.post(data(true));
    peers.settle();
    EXPECT_EQ(state(), QueuePairState::send_queue_drained);
    EXPECT_EQ(peers.first.events(hca::EventType::send_queue_drained), 2U);
}

/// Data read from the peer must be checked before the response to a third party is sent.
TEST_F(PipeliningTest, SignatureErrorOfReadStopsQueue) {
    second.protect();
    second.corrupt(0);
    first.insert();
    peers.second.post_receive({peers.second.space(16)});
    peers.first.post(std::array{Send{.opcode = SendOpcode::rdma_read,
                                     .data = {{.address = 0, .length = with_dif}},
                                     .remote = second.protected_data,
                                     .local_key = first.key.key()},
                                response()});
    peers.settle();
    EXPECT_EQ(state(), QueuePairState::send_queue_drained);
    EXPECT_THAT(peers.first.poll(), ElementsAre(IsSignatureError(), completed(0, with_dif)));
    EXPECT_THAT(peers.second.poll(), IsEmpty());
}

/// A processor that combines writes passes the WQE with the doorbell.
TEST_F(PipeliningTest, CancelledWqeOfRegisterNotSent) {
    auto& queue_pair = peers.first.queue_pair();
    first.corrupt(0);
    peers.second.post_receive({peers.second.space(16)});
    peers.first.post(std::array{data(false), response()});
    const std::uint64_t address =
        queue_pair.buffer().address(sends_start + queues::SendQueue::block_size);
    queue_pair.post_sends(2);
    ASSERT_TRUE(
        queue_pair.push_send(1, peers.first.bench.at(address, queues::SendQueue::block_size)));
    peers.settle();
    ASSERT_EQ(state(), QueuePairState::send_queue_drained);
    cancel(1);
    resume();
    EXPECT_THAT(peers.second.poll(), IsEmpty());
    EXPECT_EQ(state(), QueuePairState::ready_to_send);
}

TEST_F(StopAtFenceTest, UnfencedWqesStarted) {
    first.corrupt(0);
    for (int i = 0; i < 3; ++i)
        peers.second.post_receive({peers.second.space(16)});
    peers.first.post(std::array{data(false), response(Fence::none),
                                response(Fence::local_operations), response()});
    peers.settle();
    EXPECT_EQ(state(), QueuePairState::send_queue_drained);
    EXPECT_THAT(peers.first.poll(), ElementsAre(IsSignatureError(), completed(1), completed(2)));
    EXPECT_EQ(peers.first.queue_pair().send_queue().next(), 3U);
    EXPECT_EQ(peers.first.events(hca::EventType::send_queue_drained), 1U);
}

/// Without this, software would get the event only after it has posted a fence.
TEST_F(StopAtFenceTest, NoFencePostedStopsAtEnd) {
    first.corrupt(0);
    peers.first.post(data(true));
    peers.settle();
    EXPECT_EQ(state(), QueuePairState::send_queue_drained);
}

TEST_F(LateReportTest, ErrorCqeFollowsTransfer) {
    first.corrupt(0);
    peers.first.post(std::array{data(true), response()});
    peers.settle();
    EXPECT_EQ(state(), QueuePairState::send_queue_drained);
    EXPECT_THAT(peers.first.poll(), ElementsAre(completed(0), IsSignatureError()));
}

TEST_F(PipeliningTest, CancelInSqdAllowed) {
    first.corrupt(0);
    peers.first.post(std::array{data(false), response()});
    peers.settle();
    cancel(1);
    resume();
    EXPECT_EQ(changed_entries(), 0U);
}

TEST_F(PipeliningTest, WqeChangedOutsideSqdReported) {
    peers.second.post_receive({peers.second.space(16)});
    peers.set_fate([](std::size_t /*number*/, const fabric::ParsedPacket& /*packet*/) {
        return 0; // the response waits for the read
    });
    peers.first.post(std::array{
        Send{.opcode = SendOpcode::rdma_read, .data = {first.plain}, .remote = second.plain},
        response()});
    cancel(1);
    peers.set_fate(
        [](std::size_t /*number*/, const fabric::ParsedPacket& /*packet*/) { return 1; });
    peers.run();
    EXPECT_THAT(peers.first.poll(), SizeIs(2));
    EXPECT_EQ(changed_entries(), 1U);
}

/// The changed WQE does not start before the stop, in which the change would be allowed.
TEST_F(PipeliningTest, WqeChangedBeforeStopReported) {
    second.protect();
    second.corrupt(0);
    first.insert();
    peers.second.post_receive({peers.second.space(16)});
    peers.set_fate([](std::size_t /*number*/, const fabric::ParsedPacket& /*packet*/) {
        return 0; // the response waits for the read
    });
    peers.first.post(std::array{Send{.opcode = SendOpcode::rdma_read,
                                     .data = {{.address = 0, .length = with_dif}},
                                     .remote = second.protected_data,
                                     .local_key = first.key.key()},
                                response()});
    cancel(1);
    peers.set_fate(
        [](std::size_t /*number*/, const fabric::ParsedPacket& /*packet*/) { return 1; });
    peers.run();
    EXPECT_EQ(state(), QueuePairState::send_queue_drained);
    EXPECT_EQ(changed_entries(), 1U);
}

TEST_F(PipeliningTest, WqeChangedToOtherThanNopReported) {
    first.corrupt(0);
    peers.second.post_receive({peers.second.space(16)});
    peers.first.post(std::array{data(false), response()});
    peers.settle();
    change(1, SendOpcode::send_immediate);
    resume();
    EXPECT_EQ(changed_entries(), 1U);
}

TEST_F(PipeliningTest, DrainAttributeClearContinues) {
    peers.first.queue_pair().context().set<"drain_sigerr">(0);
    first.corrupt(0);
    peers.second.post_receive({peers.second.space(16)});
    peers.first.post(std::array{data(false), response()});
    peers.settle();
    EXPECT_THAT(peers.first.poll(), ElementsAre(IsSignatureError(), completed(1)));
}

} // namespace
} // namespace cxemu::transport
