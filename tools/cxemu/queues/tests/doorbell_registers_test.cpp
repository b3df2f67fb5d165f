// SPDX-License-Identifier: GPL-2.0-or-later
// BlueFlame WQEs on a host with write combining. The WQE in the register differs from that in the
// ring, so that tests see which one was executed.
#include "base/byte_order.hpp"
#include "queues/queue_pair.hpp"
#include "queues/testing/bench.hpp"

#include <algorithm>
#include <gtest/gtest.h>

namespace cxemu::queues {
namespace {

using testing::Bench;

/// Records WQEs without executing them.
class TransportStub final : public Transport {
public:
    void sends_posted(QueuePair& queue_pair) override {
        while (is_working) {
            auto request = queue_pair.next_send();
            if (!request)
                return;
            requests.push_back(*std::move(request));
        }
    }
    void state_changed(QueuePair& /*queue_pair*/, QueuePairState /*from*/) override {}
    void attributes_changed(QueuePair& /*queue_pair*/) override {}
    void destroyed(QueuePair& /*queue_pair*/) override {}

    bool is_working = true;
    std::vector<SendWqe> requests;
};

class DoorbellRegisterTest : public ::testing::Test {
protected:
    static constexpr std::uint64_t page_size = 4096;
    static constexpr std::uint64_t first_register = 0x800;
    static constexpr std::uint64_t second_register = 0xa00;

    DoorbellRegisterTest() { bench_.queues().set_transport(&transport_); }
    ~DoorbellRegisterTest() override { bench_.queues().set_transport(nullptr); }

    static hca::HcaSettings settings() {
        hca::HcaSettings settings = Bench::default_settings();
        settings.profile = hca::find_profile(std::string_view("connectx7"));
        settings.write_combining = true;
        return settings;
    }

    QueuePair& make_queue_pair(ServiceType service = ServiceType::unreliable_datagram,
                               std::uint8_t record_mode = 0) {
        QueuePair& queue_pair =
            bench_.make_queue_pair({.service = service, .send_record_mode = record_mode});
        bench_.bring_to(queue_pair, QueuePairState::ready_to_send);
        bench_.settle();
        return queue_pair;
    }

    /// Writes an unsignaled NOP WQE to the ring, without a doorbell.
    void put_into_ring(QueuePair& queue_pair, std::uint16_t index) {
        auto bytes = Bench::nop(queue_pair, index);
        hwtab::View<hwtab::wqe_ctrl_seg>{bytes}.set<"ce">(
            static_cast<std::uint8_t>(CompletionMode::only_error));
        bench_.write_send(queue_pair, index, bytes);
    }

    /// Writes \p bytes, padded to a multiple of 64, in accesses of 8 bytes.
    void write_register(std::span<const std::byte> bytes, std::uint64_t place = first_register) {
        constexpr std::size_t piece = 8;
        std::vector<std::byte> padded(bytes.begin(), bytes.end());
        padded.resize((bytes.size() + SendQueue::block_size - 1) / SendQueue::block_size *
                      SendQueue::block_size);
        const std::uint64_t start = (bench_.uar().number() * page_size) + place;
        for (std::size_t done = 0; done < padded.size(); done += piece)
            bench_.hca().bar_write(start + done, std::span(padded).subspan(done, piece));
    }

    void expect(const QueuePair& queue_pair, std::uint64_t completions,
                std::uint64_t from_registers) {
        bench_.settle();
        EXPECT_EQ(queue_pair.send_completions()->context().get<"producer_counter">(), completions);
        EXPECT_EQ(bench_.queues().counters().requests_from_registers, from_registers);
    }

    Bench bench_{settings()};
    TransportStub transport_;
};

TEST_F(DoorbellRegisterTest, RequestTakenFromRegister) {
    QueuePair& queue_pair = make_queue_pair();
    for (std::uint16_t i = 0; i < 3; ++i) {
        put_into_ring(queue_pair, i);
        bench_.record_sends(queue_pair, i + 1);
        write_register(Bench::nop(queue_pair, i));
    }
    expect(queue_pair, 3, 3);
    EXPECT_EQ(bench_.completion(*queue_pair.send_completions(), 2).get<"wqe_counter">(), 2U);
}

TEST_F(DoorbellRegisterTest, SqWithoutDbrTakesCounterFromDoorbell) {
    QueuePair& queue_pair = make_queue_pair(ServiceType::unreliable_datagram,
                                            hwtab::value<hwtab::qp_send_dbr_mode, "no_dbr_ext">);
    put_into_ring(queue_pair, 0);
    write_register(Bench::nop(queue_pair, 0));
    expect(queue_pair, 1, 1);
}

TEST_F(DoorbellRegisterTest, LaterWqesReadFromRing) {
    QueuePair& queue_pair = make_queue_pair();
    put_into_ring(queue_pair, 0);
    bench_.write_send(queue_pair, 1, Bench::nop(queue_pair, 1));
    bench_.record_sends(queue_pair, 2);
    write_register(Bench::nop(queue_pair, 0));
    bench_.ring_sends(queue_pair, 2);
    expect(queue_pair, 2, 1);
    EXPECT_EQ(bench_.queues().counters().sends_executed, 2U);
}

TEST_F(DoorbellRegisterTest, WqeOtherThanFirstUnknownReadFromRing) {
    QueuePair& queue_pair = make_queue_pair();
    put_into_ring(queue_pair, 0);
    put_into_ring(queue_pair, 1);
    bench_.record_sends(queue_pair, 2);
    write_register(Bench::nop(queue_pair, 1));
    expect(queue_pair, 0, 0);
    EXPECT_EQ(bench_.queues().counters().sends_executed, 2U);
}

TEST_F(DoorbellRegisterTest, UnpostedRequestNotTaken) {
    QueuePair& queue_pair = make_queue_pair();
    put_into_ring(queue_pair, 0);
    write_register(Bench::nop(queue_pair, 0));
    expect(queue_pair, 0, 0);
    EXPECT_EQ(bench_.queues().counters().sends_executed, 0U);
}

TEST_F(DoorbellRegisterTest, InterruptedRequestReadFromRing) {
    QueuePair& queue_pair = make_queue_pair();
    put_into_ring(queue_pair, 0);
    bench_.record_sends(queue_pair, 1);
    const auto bytes = Bench::nop(queue_pair, 0);
    bench_.hca().bar_write((bench_.uar().number() * page_size) + first_register,
                           std::span(bytes).first<8>());
    bench_.advance(hca::CombinedWrites::patience);
    expect(queue_pair, 0, 0);
    EXPECT_EQ(bench_.queues().counters().sends_executed, 1U);
}

TEST_F(DoorbellRegisterTest, SeparateRegistersServeTwoQps) {
    QueuePair& first = make_queue_pair();
    QueuePair& second = make_queue_pair();
    for (std::uint16_t i = 0; i < 4; ++i) {
        for (QueuePair* queue_pair : {&first, &second}) {
            put_into_ring(*queue_pair, i);
            bench_.record_sends(*queue_pair, i + 1);
            write_register(Bench::nop(*queue_pair, i),
                           queue_pair == &first ? first_register : second_register);
        }
    }
    expect(first, 4, 8);
    expect(second, 4, 8);
}

TEST_F(DoorbellRegisterTest, LongRequestTakenWithInlineData) {
    constexpr std::uint8_t ds = 7;
    constexpr std::uint32_t length = 80;
    QueuePair& queue_pair = make_queue_pair(ServiceType::reliable_connection);
    auto bytes = Bench::nop(queue_pair, 0);
    bytes.resize(ds * 16);
    const hwtab::View<hwtab::wqe_ctrl_seg> control{bytes};
    control.set<"opcode">(static_cast<std::uint8_t>(SendOpcode::send));
    control.set<"ds">(ds);
    const auto body = std::span(bytes).subspan(hwtab::wqe_ctrl_seg.size);
    const hwtab::View<hwtab::wqe_inline_seg> segment{body};
    segment.set<"inline_seg">(1);
    segment.set<"byte_count">(length);
    bench_.write_send(queue_pair, 0, bytes);
    std::ranges::fill(body.subspan(hwtab::wqe_inline_seg.size, length), std::byte{0x5a});
    bench_.record_sends(queue_pair, 2);
    write_register(bytes);
    expect(queue_pair, 0, 1);
    ASSERT_EQ(transport_.requests.size(), 1U);
    EXPECT_EQ(transport_.requests[0].bytes, bytes);
    EXPECT_EQ(transport_.requests[0].blocks, 2U);
}

TEST_F(DoorbellRegisterTest, EmptyRequestReadFromRing) {
    QueuePair& queue_pair = make_queue_pair();
    put_into_ring(queue_pair, 0);
    bench_.record_sends(queue_pair, 1);
    auto bytes = Bench::nop(queue_pair, 0);
    hwtab::View<hwtab::wqe_ctrl_seg>{bytes}.set<"ds">(0);
    write_register(bytes);
    expect(queue_pair, 0, 0);
}

TEST_F(DoorbellRegisterTest, ResetDropsRequest) {
    QueuePair& queue_pair = make_queue_pair();
    transport_.is_working = false;
    put_into_ring(queue_pair, 0);
    bench_.record_sends(queue_pair, 1);
    write_register(Bench::nop(queue_pair, 0));
    bench_.settle();
    queue_pair.change_state(QueuePairState::reset);
    bench_.record_sends(queue_pair, 0);
    bench_.bring_to(queue_pair, QueuePairState::ready_to_send);
    transport_.is_working = true;
    bench_.ring_sends(queue_pair, 1);
    expect(queue_pair, 0, 1);
    EXPECT_EQ(bench_.queues().counters().sends_executed, 1U);
}

TEST_F(DoorbellRegisterTest, RequestFlushedInError) {
    QueuePair& queue_pair = make_queue_pair();
    transport_.is_working = false;
    put_into_ring(queue_pair, 0);
    bench_.record_sends(queue_pair, 1);
    write_register(Bench::nop(queue_pair, 0));
    bench_.settle();
    queue_pair.change_state(QueuePairState::error);
    expect(queue_pair, 1, 1);
    EXPECT_EQ(bench_.queues().counters().sends_flushed, 1U);
}

} // namespace
} // namespace cxemu::queues
