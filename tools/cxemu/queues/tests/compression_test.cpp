// SPDX-License-Identifier: GPL-2.0-or-later
#include "queues/completion_queue.hpp"
#include "queues/rules.hpp"
#include "queues/testing/bench.hpp"

#include <array>
#include <gtest/gtest.h>

namespace cxemu::queues {
namespace {

using testing::Bench;

constexpr std::uint64_t compressed = hwtab::value<hwtab::cqe_format, "compressed">;

Completion receive(std::uint32_t counter, std::uint32_t byte_count) {
    Completion completion{.opcode = CompletionOpcode::send};
    completion.fields().set<"wqe_counter">(counter);
    completion.fields().set<"byte_cnt">(byte_count);
    completion.fields().set<"qpn">(0x47);
    return completion;
}

Completion send(std::uint32_t counter, std::uint8_t opcode, std::uint32_t byte_count = 0) {
    Completion completion{.opcode = CompletionOpcode::requester};
    completion.fields().set<"wqe_counter">(counter);
    completion.fields().set<"s_wqe_opcode">(opcode);
    completion.fields().set<"byte_cnt">(byte_count);
    completion.fields().set<"qpn">(0x47);
    return completion;
}

class CompressionTest : public ::testing::Test {
protected:
    CompletionQueue& make_queue(MiniFormat format = MiniFormat::hash, std::uint32_t log_size = 6) {
        return bench_.make_completion_queue({.log_size = log_size, .mini_format = format});
    }
    void post_receives(CompletionQueue& queue, std::uint32_t count, std::uint32_t first = 0) {
        for (std::uint32_t i = 0; i < count; ++i)
            ASSERT_TRUE(queue.post(receive(first + i, 100 + i)));
    }
    /// Mini CQE \p index of the array in slot \p slot.
    hwtab::ConstView<hwtab::mini_cqe8> mini(CompletionQueue& queue, std::uint32_t slot,
                                            std::uint32_t index) {
        const auto offset = (slot + 1) * queue.entry_size() - hwtab::cqe64.size;
        const auto address = queue.buffer().address(offset + index * hwtab::mini_cqe8.size);
        return hwtab::ConstView<hwtab::mini_cqe8>{bench_.at(address, hwtab::mini_cqe8.size)};
    }
    std::uint64_t producer(const CompletionQueue& queue) const {
        return queue.context().get<"producer_counter">();
    }

    Bench bench_;
};

TEST_F(CompressionTest, SingleCqeNotCompressed) {
    CompletionQueue& queue = make_queue();
    post_receives(queue, 1);
    bench_.settle();
    const auto entry = bench_.completion(queue, 0);
    EXPECT_EQ(entry.get<"format">(), 0U);
    EXPECT_EQ(entry.get<"byte_cnt">(), 100U);
    EXPECT_EQ(producer(queue), 1U);
}

TEST_F(CompressionTest, TitleHasNumberOfCqes) {
    CompletionQueue& queue = make_queue();
    post_receives(queue, 3, 5);
    bench_.settle();
    const auto title = bench_.completion(queue, 0);
    EXPECT_EQ(title.get<"format">(), compressed);
    EXPECT_EQ(title.get<"opcode">(), static_cast<std::uint64_t>(CompletionOpcode::send));
    EXPECT_EQ(title.get<"owner">(), 0U);
    EXPECT_EQ(title.get<"byte_cnt">(), 3U);
    EXPECT_EQ(title.get<"wqe_counter">(), 5U);
    EXPECT_EQ(title.get<"qpn">(), 0x47U);
    for (std::uint32_t i = 0; i < 3; ++i)
        EXPECT_EQ(mini(queue, 1, i).get<"byte_cnt">(), 100 + i);
    EXPECT_EQ(producer(queue), 3U) << "the run takes the slots of its entries";
}

TEST_F(CompressionTest, LaterArraysStartAtTheirFirstCqe) {
    CompletionQueue& queue = make_queue();
    post_receives(queue, 20);
    bench_.settle();
    EXPECT_EQ(bench_.completion(queue, 0).get<"byte_cnt">(), 20U);
    EXPECT_EQ(mini(queue, 1, 7).get<"byte_cnt">(), 107U);
    EXPECT_EQ(mini(queue, 8, 0).get<"byte_cnt">(), 108U);
    EXPECT_EQ(mini(queue, 16, 3).get<"byte_cnt">(), 119U);
    EXPECT_EQ(mini(queue, 16, 4).get<"byte_cnt">(), 0U);
}

TEST_F(CompressionTest, NextSessionFollowsBehindArrayAndRing) {
    CompletionQueue& queue = make_queue(MiniFormat::hash, 3);
    post_receives(queue, 6);
    bench_.settle();
    bench_.store32(queue.context().get<"dbr_addr">(), 6);
    post_receives(queue, 3, 6);
    bench_.settle();
    const auto title = bench_.completion(queue, 6);
    EXPECT_EQ(title.get<"byte_cnt">(), 3U);
    EXPECT_EQ(title.get<"owner">(), 0U);
    EXPECT_EQ(mini(queue, 7, 2).get<"byte_cnt">(), 102U);
    post_receives(queue, 1, 9);
    bench_.settle();
    EXPECT_EQ(bench_.completion(queue, 1).get<"owner">(), 1U);
}

TEST_F(CompressionTest, SendCqesKeepCounterAndOpcode) {
    CompletionQueue& queue = make_queue();
    ASSERT_TRUE(queue.post(send(4, 0x0a)));
    ASSERT_TRUE(queue.post(send(9, 0x10, 77)));
    bench_.settle();
    EXPECT_EQ(bench_.completion(queue, 0).get<"format">(), compressed);
    EXPECT_EQ(mini(queue, 1, 0).get<"wqe_counter">(), 4U);
    EXPECT_EQ(mini(queue, 1, 0).get<"s_wqe_opcode">(), 0x0aU);
    EXPECT_EQ(mini(queue, 1, 1).get<"wqe_counter">(), 9U);
    EXPECT_EQ(mini(queue, 1, 1).get<"s_wqe_opcode">(), 0x10U);
    EXPECT_EQ(mini(queue, 1, 1).get<"byte_cnt">(), 77U);
}

TEST_F(CompressionTest, MiniFormatSelectsFields) {
    CompletionQueue& hashes = make_queue(MiniFormat::hash);
    CompletionQueue& checksums = make_queue(MiniFormat::checksum);
    CompletionQueue& strides = make_queue(MiniFormat::checksum_and_stride);
    for (CompletionQueue* queue : {&hashes, &checksums, &strides}) {
        for (std::uint32_t i = 0; i < 2; ++i) {
            Completion completion = receive(3 + i, 64);
            if (queue == &hashes)
                completion.fields().set<"rss_hash_result">(0x12345670 + i);
            else
                completion.fields().set<"check_sum">(0xabc0 + i);
            ASSERT_TRUE(queue->post(completion));
        }
    }
    bench_.settle();
    EXPECT_EQ(mini(hashes, 1, 1).get<"rx_hash_result">(), 0x12345671U);
    EXPECT_EQ(mini(checksums, 1, 1).get<"checksum">(), 0xabc1U);
    EXPECT_EQ(mini(checksums, 1, 1).get<"stridx">(), 0U);
    EXPECT_EQ(mini(strides, 1, 1).get<"checksum">(), 0xabc1U);
    EXPECT_EQ(mini(strides, 1, 1).get<"stridx">(), 4U);
}

TEST_F(CompressionTest, DifferingCqeEndsSession) {
    const auto other = [](auto change) {
        Completion completion = receive(1, 100);
        change(completion);
        return completion;
    };
    const std::array others{
        other([](Completion& entry) { entry.fields().set<"qpn">(0x48); }),
        other([](Completion& entry) { entry.fields().set<"wqe_counter">(2); }),
        other([](Completion& entry) { entry.fields().set<"immediate">(1); }),
        other([](Completion& entry) { entry.opcode = CompletionOpcode::send_immediate; }),
        other([](Completion& entry) { entry.opcode = CompletionOpcode::send_invalidate; }),
        other([](Completion& entry) { entry.opcode = CompletionOpcode::responder_error; }),
        other([](Completion& entry) { entry.format = CompletionFormat::data_in_entry; }),
        other([](Completion& entry) { entry.solicited = true; }),
    };
    for (std::size_t i = 0; i < others.size(); ++i) {
        CompletionQueue& queue = make_queue();
        post_receives(queue, 1);
        ASSERT_TRUE(queue.post(others.at(i)));
        bench_.settle();
        EXPECT_EQ(bench_.completion(queue, 0).get<"format">(), 0U) << i;
        EXPECT_EQ(bench_.completion(queue, 1).get<"format">(),
                  static_cast<std::uint64_t>(others.at(i).format))
            << i;
        EXPECT_EQ(producer(queue), 2U) << i;
    }
}

TEST_F(CompressionTest, FullSessionStartsAnother) {
    CompletionQueue& queue = make_queue(MiniFormat::hash, 7);
    post_receives(queue, CompressedRun::longest + 2);
    bench_.settle();
    EXPECT_EQ(bench_.completion(queue, 0).get<"byte_cnt">(), CompressedRun::longest);
    EXPECT_EQ(bench_.completion(queue, CompressedRun::longest).get<"byte_cnt">(), 2U);
    EXPECT_EQ(bench_.hca().capabilities().current<"cqe_compression_max_num">(),
              CompressedRun::longest);
}

TEST_F(CompressionTest, EventFollowsWrittenSession) {
    CompletionQueue& queue = make_queue();
    queue.arm(0);
    post_receives(queue, 3);
    EXPECT_EQ(bench_.event_queue().context().get<"producer_counter">(), 0U);
    bench_.settle();
    EXPECT_EQ(bench_.event_queue().context().get<"producer_counter">(), 1U);
}

TEST_F(CompressionTest, QpResetFlushesHeldCqes) {
    CompletionQueue& queue = make_queue();
    QueuePair& pair = bench_.make_queue_pair({.completions = &queue});
    post_receives(queue, 2);
    EXPECT_EQ(producer(queue), 0U);
    pair.change_state(QueuePairState::reset);
    EXPECT_EQ(producer(queue), 2U);
}

TEST_F(CompressionTest, CompressedCqOverrunsAtRingSize) {
    CompletionQueue& queue = make_queue(MiniFormat::hash, 2);
    post_receives(queue, 4);
    EXPECT_FALSE(queue.post(receive(4, 100)));
    EXPECT_TRUE(queue.stopped());
    EXPECT_EQ(bench_.violations(rules::completion_queue_overrun), 1U);
    EXPECT_EQ(bench_.completion(queue, 0).get<"byte_cnt">(), 4U);
}

TEST_F(CompressionTest, LargeSlotHoldsArrayInUpperHalf) {
    CompletionQueue& queue =
        bench_.make_completion_queue({.entry_size_code = 1, .mini_format = MiniFormat::checksum});
    post_receives(queue, 2);
    bench_.settle();
    EXPECT_EQ(bench_.completion(queue, 0).get<"format">(), compressed);
    EXPECT_EQ(mini(queue, 1, 1).get<"byte_cnt">(), 101U);
}

TEST_F(CompressionTest, ResizeFlushesHeldCqes) {
    CompletionQueue& queue = make_queue();
    post_receives(queue, 2);
    const auto ring = queue.buffer();
    ASSERT_TRUE(queue.resize(4, 0, 0, ring, {}));
    EXPECT_EQ(producer(queue), 3U);
}

} // namespace
} // namespace cxemu::queues
