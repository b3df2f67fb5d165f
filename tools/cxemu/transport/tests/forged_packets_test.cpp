// SPDX-License-Identifier: GPL-2.0-or-later
//
// RC with forged packets of the peer.
#include "transport/operation.hpp"
#include "transport/testing/peers.hpp"

#include <chrono>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <utility>

namespace cxemu::transport {
namespace {

using queues::CompletionError;
using queues::QueuePairState;
using queues::SendOpcode;
using queues::ServiceType;
using std::chrono::milliseconds;
using testing::ConnectionOptions;
using testing::Data;
using ::testing::IsEmpty;
using testing::mtu;
using testing::Peers;
using testing::Result;
using testing::Send;

std::uint8_t rc_opcode(const Operation& operation) {
    return opcode_of(ServiceType::reliable_connection, operation);
}

class Forged : public Peers {
public:
    using Change = std::function<void(fabric::PacketHeaders&, std::vector<std::byte>& payload)>;

    explicit Forged(const ConnectionOptions& wanted = {}) : Peers(wanted) { connect(); }

    /// Changes the packet with this number, counted from 0 over both directions. Its CRCs are
    /// valid.
    void change(std::size_t number, Change change) {
        set_filter([number, change = std::move(change),
                    count = std::size_t{0}](fabric::Link& link, fabric::LinkDirection direction,
                                            fabric::Packet packet) mutable {
            if (count++ != number)
                return link.deliver(direction, std::move(packet));
            const auto parsed = fabric::parse(packet);
            fabric::PacketHeaders headers = parsed->headers;
            std::vector<std::byte> payload(parsed->payload.begin(), parsed->payload.end());
            change(headers, payload);
            link.deliver(direction, fabric::build(headers, payload));
        });
    }
    void change_opcode(std::size_t number, std::uint8_t opcode) {
        change(number, [opcode](auto& headers, auto&) { headers.transport.opcode = opcode; });
    }
    void change_length(std::size_t number, std::size_t length) {
        change(number, [length](auto&, auto& payload) { payload.resize(length); });
    }
    Send write(std::uint32_t size) {
        return {.opcode = SendOpcode::rdma_write,
                .data = {first.fill(size, 1)},
                .remote = second.space(size)};
    }
    Send read(std::uint32_t size) {
        return {.opcode = SendOpcode::rdma_read,
                .data = {first.space(size)},
                .remote = second.fill(size, 1)};
    }
    Send add_one() {
        return {.opcode = SendOpcode::fetch_add,
                .data = {first.space(8)},
                .remote = second.space(8),
                .atomic = {.swap_or_add = 1}};
    }
    void expect_failure(const Send& send, CompletionError error) {
        first.post(send);
        settle();
        const auto results = first.poll();
        ASSERT_EQ(results.size(), 1U);
        EXPECT_EQ(results.front().error, error);
        EXPECT_EQ(first.queue_pair().state(), QueuePairState::error);
    }
    /// As if the packet had been lost.
    void expect_success_after_timeout(const Send& send) {
        first.post(send);
        settle();
        EXPECT_THAT(first.poll(), IsEmpty());
        advance(milliseconds(70));
        const auto results = first.poll();
        ASSERT_EQ(results.size(), 1U);
        EXPECT_EQ(results.front().error, std::nullopt);
    }
};

// --- Packets of the responder --------------------------------------------------------------------

TEST(ForgedResponse, InvalidReadResponseFailsRead) {
    const auto end_read = [](auto forge) {
        Forged peers;
        forge(peers);
        peers.expect_failure(peers.read(2 * mtu + 10), CompletionError::bad_response);
        EXPECT_EQ(peers.first.counts().req_bad_response, 1U);
    };
    end_read([](Forged& peers) { peers.change_length(1, mtu - 4); });
    end_read([](Forged& peers) { peers.change_length(3, 12); });
    end_read([](Forged& peers) {
        peers.change_opcode(1, rc_opcode({.verb = PacketOp::read_response}));
    });
    end_read([](Forged& peers) {
        peers.change_opcode(1, rc_opcode({.verb = PacketOp::atomic_acknowledge}));
    });
}

TEST(ForgedResponse, InvalidAtomicResponseFailsAtomic) {
    Forged other;
    other.change_opcode(1, rc_opcode({.verb = PacketOp::read_response}));
    other.expect_failure(other.add_one(), CompletionError::bad_response);
    Forged too_long;
    too_long.change_length(1, 8);
    too_long.expect_failure(too_long.add_one(), CompletionError::bad_response);
}

TEST(ForgedResponse, NakSyndromeSelectsError) {
    constexpr std::array<std::pair<std::uint8_t, CompletionError>, 4> reasons{
        {{0x61, CompletionError::remote_invalid_request},
         {0x62, CompletionError::remote_access},
         {0x63, CompletionError::remote_operation},
         {0x7f, CompletionError::remote_operation}}}; // an undefined code
    for (const auto& [syndrome, error] : reasons) {
        Forged peers;
        peers.change(1, [syndrome](auto& headers, auto&) { headers.ack->syndrome = syndrome; });
        peers.expect_failure(peers.write(8), error);
    }
}

TEST(ForgedResponse, UnexpectedResponseIgnored) {
    Forged reserved;
    reserved.change(1, [](auto& headers, auto&) { headers.ack->syndrome = 0x40; });
    reserved.expect_success_after_timeout(reserved.write(8));
    Forged unsent;
    unsent.change(1, [](auto& headers, auto&) { headers.transport.psn += 5; });
    unsent.expect_success_after_timeout(unsent.write(8));
}

// --- Packets of the requester --------------------------------------------------------------------

TEST(ForgedRequest, NonContinuingPacketRefused) {
    const auto refuse = [](auto forge) {
        Forged peers;
        forge(peers);
        peers.expect_failure(peers.write(2 * mtu + 10), CompletionError::remote_invalid_request);
        EXPECT_EQ(peers.second.queue_pair().state(), QueuePairState::error);
        EXPECT_EQ(peers.second.events(hca::EventType::work_queue_invalid_request), 1U);
    };
    constexpr Operation middle{.verb = PacketOp::write, .first = false, .last = false};
    refuse([&](Forged& peers) { peers.change_opcode(0, rc_opcode(middle)); });
    refuse([](Forged& peers) {
        peers.change_opcode(1, rc_opcode({.verb = PacketOp::write, .first = true, .last = false}));
    });
    refuse([](Forged& peers) {
        peers.change_opcode(1, rc_opcode({.verb = PacketOp::send, .first = false, .last = false}));
    });
    refuse([](Forged& peers) { peers.change_length(1, mtu - 4); });
    refuse([](Forged& peers) { peers.change_length(1, mtu + 4); });
    refuse([](Forged& peers) { peers.change_length(2, 0); });
    refuse([](Forged& peers) { peers.change_length(2, 6); });
    refuse([](Forged& peers) { peers.change_length(2, mtu + 4); });
}

TEST(ForgedRequest, WrongDmaLengthRefused) {
    for (const std::uint32_t length : {0U, mtu, 3 * mtu, (1U << 31U) + 1}) {
        Forged peers;
        peers.change(0, [length](auto& headers, auto&) { headers.rdma->length = length; });
        peers.expect_failure(peers.write(2 * mtu), CompletionError::remote_invalid_request);
    }
}

TEST(ForgedRequest, UnexpectedPayloadRefused) {
    Forged reading;
    reading.change_length(0, 8);
    reading.expect_failure(reading.read(8), CompletionError::remote_invalid_request);
    Forged adding;
    adding.change_length(0, 24);
    adding.expect_failure(adding.add_one(), CompletionError::remote_invalid_request);
}

TEST(ForgedRequest, ReadsBeyondResponderResourcesRefused) {
    Forged peers({.log_reads = 0});
    peers.first.queue_pair().context().set<"log_sra_max">(2);
    peers.first.post(std::vector<Send>{peers.read(100 * mtu), peers.read(mtu)});
    peers.settle();
    const auto results = peers.first.poll();
    ASSERT_EQ(results.size(), 2U);
    EXPECT_EQ(results[0].error, std::nullopt) << "what was accepted before gets its response";
    EXPECT_EQ(results[1].error, CompletionError::remote_invalid_request);
}

TEST(ForgedRequest, OtherServicePacketDropped) {
    constexpr std::uint8_t unreliable = 0x20;
    Forged peers;
    peers.change(0, [](auto& headers, auto&) { headers.transport.opcode |= unreliable; });
    peers.expect_success_after_timeout(peers.write(8));
}

// --- Both directions -----------------------------------------------------------------------------

TEST(Acknowledgements, ConsecutiveAcksCoalesced) {
    Forged peers;
    constexpr std::size_t writes = 10;
    peers.first.post(std::vector<Send>(writes, peers.write(8)));
    peers.settle();
    EXPECT_EQ(peers.first.poll().size(), writes);
    std::size_t acknowledgements = 0;
    for (const auto& packet : peers.take_packets())
        acknowledgements += packet.ack ? 1 : 0;
    EXPECT_GE(acknowledgements, 1U);
    EXPECT_LT(acknowledgements, writes);
}

} // namespace
} // namespace cxemu::transport
