// SPDX-License-Identifier: GPL-2.0-or-later
#include "queues/data_pointer.hpp"
#include "queues/send_queue.hpp"
#include "queues/send_wqe.hpp"
#include "vfio_user/testing/guest_memory.hpp"

#include <algorithm>
#include <gtest/gtest.h>

namespace cxemu::queues {
namespace {

/// Composes a WQE segment by segment.
class Entry {
public:
    explicit Entry(SendOpcode opcode) : Entry(static_cast<std::uint8_t>(opcode)) {}
    explicit Entry(std::uint8_t opcode) : bytes_(ds_size) {
        control().set<"opcode">(opcode);
        close();
    }

    hwtab::View<hwtab::wqe_ctrl_seg> control() { return hwtab::View<hwtab::wqe_ctrl_seg>{bytes_}; }
    std::span<std::byte> add(std::size_t size) {
        bytes_.resize(bytes_.size() + size);
        close();
        return std::span(bytes_).last(size);
    }
    Entry& pointer(std::uint32_t length, std::uint32_t key, std::uint64_t address) {
        const hwtab::View<hwtab::wqe_data_seg> segment{add(ds_size)};
        segment.set<"byte_count">(length);
        segment.set<"lkey">(key);
        segment.set<"addr">(address);
        return *this;
    }
    /// \param claimed length in the inline segment
    Entry& inline_data(std::uint32_t claimed, std::size_t ds) {
        const hwtab::View<hwtab::wqe_inline_seg> segment{add(ds * ds_size)};
        segment.set<"inline_seg">(1);
        segment.set<"byte_count">(claimed);
        return *this;
    }
    Entry& remote(std::uint64_t address, std::uint32_t key) {
        const hwtab::View<hwtab::wqe_raddr_seg> segment{add(ds_size)};
        segment.set<"raddr">(address);
        segment.set<"rkey">(key);
        return *this;
    }

    [[nodiscard]] std::vector<std::byte> bytes() const { return bytes_; }
    std::expected<SendWqe, DecodeError> decode(ServiceType service) {
        return queues::decode({.service = service, .log_max_message = 20}, bytes_);
    }
    DecodeError error(ServiceType service = ServiceType::reliable_connection) {
        const auto request = decode(service);
        return request ? DecodeError{} : request.error();
    }

private:
    void close() { control().set<"ds">(bytes_.size() / ds_size); }

    std::vector<std::byte> bytes_;
};

TEST(SendWqe, ControlFieldsAndPointersDecoded) {
    Entry entry(SendOpcode::send_immediate);
    entry.control().set<"wqe_index">(0x1234);
    entry.control().set<"fm">(4);
    entry.control().set<"ce">(3);
    entry.control().set<"se">(1);
    entry.control().set<"imm">(0xcafe);
    entry.pointer(10, 0x100'01, 0x7000).pointer(20, 0x200'02, 0x8000);
    const auto request = entry.decode(ServiceType::reliable_connection);
    ASSERT_TRUE(request);
    EXPECT_EQ(request->index, 0x1234U);
    EXPECT_EQ(request->blocks, 1U);
    EXPECT_EQ(request->fence, Fence::local_reads_and_atomics);
    EXPECT_EQ(request->completion, CompletionMode::always_with_event);
    EXPECT_TRUE(request->solicited);
    EXPECT_EQ(request->immediate, 0xcafeU);
    EXPECT_EQ(request->length, 30U);
    ASSERT_EQ(request->data.size(), 2U);
    EXPECT_EQ(std::get<memory::DataSegment>(request->data[1]).address, 0x8000U);
}

TEST(SendWqe, ZeroLengthPointerMeans2Gib) {
    Entry entry(SendOpcode::send);
    entry.pointer(0, 1, 0);
    const auto request = decode({.log_max_message = 31}, entry.bytes());
    ASSERT_TRUE(request);
    EXPECT_EQ(request->length, 1ULL << 31U);
}

TEST(SendWqe, InlineDataBetweenPointersDecoded) {
    Entry entry(SendOpcode::send);
    entry.pointer(4, 1, 0).inline_data(20, 2).pointer(8, 1, 0);
    const auto request = entry.decode(ServiceType::reliable_connection);
    ASSERT_TRUE(request);
    EXPECT_EQ(request->length, 32U);
    ASSERT_EQ(request->data.size(), 3U);
    const auto& data = std::get<InlineData>(request->data[1]);
    EXPECT_EQ(data.offset, 2 * ds_size + 4);
    EXPECT_EQ(data.length, 20U);
}

TEST(SendWqe, FullDatagramAddressDecoded) {
    Entry entry(SendOpcode::send);
    const hwtab::View<hwtab::av> address{entry.add(hwtab::av.size)};
    address.set<"extended">(1);
    address.set<"dqp_dct">(0xabcdef);
    address.set<"qkey">(0x11);
    address.set<"rlid">(9);
    address.set<"sl">(2);
    address.set<"grh">(1);
    address.set<"hop_limit">(64);
    address.set<"src_addr_index">(1);
    entry.pointer(8, 1, 0);
    const auto request = entry.decode(ServiceType::unreliable_datagram);
    ASSERT_TRUE(request);
    ASSERT_TRUE(request->address);
    EXPECT_EQ(request->address->destination_qp, 0xabcdefU);
    EXPECT_EQ(request->address->remote_lid, 9U);
    EXPECT_TRUE(request->address->has_grh);
    EXPECT_EQ(request->address->hop_limit, 64U);
    EXPECT_EQ(request->length, 8U);
}

TEST(SendWqe, ShortDatagramAddressDecoded) {
    Entry entry(SendOpcode::send);
    hwtab::View<hwtab::base_av>{entry.add(hwtab::base_av.size)}.set<"rlid">(9);
    entry.pointer(8, 1, 0);
    const auto request = entry.decode(ServiceType::unreliable_datagram);
    ASSERT_TRUE(request);
    EXPECT_EQ(request->address->remote_lid, 9U);
    EXPECT_FALSE(request->address->has_grh);
    EXPECT_EQ(request->data.size(), 1U);
}

TEST(SendWqe, AtomicAddressAndOperandsDecoded) {
    Entry entry(SendOpcode::compare_swap);
    entry.remote(0x5000, 0x77);
    const hwtab::View<hwtab::wqe_atomic_seg> operands{entry.add(ds_size)};
    operands.set<"swap_add">(1);
    operands.set<"compare">(2);
    entry.pointer(8, 1, 0x9000);
    const auto request = entry.decode(ServiceType::reliable_connection);
    ASSERT_TRUE(request);
    EXPECT_EQ(request->remote->address, 0x5000U);
    EXPECT_EQ(request->atomic->swap_or_add, 1U);
    EXPECT_EQ(request->atomic->compare, 2U);
    EXPECT_EQ(request->atomic->compare_mask, ~0ULL);
}

/// A masked atomic operation: its operands are the bytes 0, 1, 2...
Entry masked(SendOpcode opcode, unsigned op_mod, std::size_t operands, std::uint32_t response) {
    Entry entry(opcode);
    entry.control().set<"opmod">(op_mod);
    entry.remote(0x5000, 0x77);
    unsigned value = 0;
    for (std::byte& byte : entry.add(operands))
        byte = static_cast<std::byte>(value++);
    entry.pointer(response, 1, 0x9000);
    return entry;
}

TEST(SendWqe, EightByteOperandsDecoded) {
    const auto swap = masked(SendOpcode::masked_compare_swap, 0x9, 32, 8)
                          .decode(ServiceType::reliable_connection);
    ASSERT_TRUE(swap);
    EXPECT_EQ(swap->atomic->swap_or_add, 0x0001'0203'0405'0607U);
    EXPECT_EQ(swap->atomic->compare, 0x0809'0a0b'0c0d'0e0fU);
    EXPECT_EQ(swap->atomic->swap_or_add_mask, 0x1011'1213'1415'1617U);
    EXPECT_EQ(swap->atomic->compare_mask, 0x1819'1a1b'1c1d'1e1fU);
    const auto addition =
        masked(SendOpcode::masked_fetch_add, 0x9, 16, 8).decode(ServiceType::reliable_connection);
    ASSERT_TRUE(addition);
    EXPECT_EQ(addition->atomic->swap_or_add, 0x0001'0203'0405'0607U);
    EXPECT_EQ(addition->atomic->swap_or_add_mask, 0x0809'0a0b'0c0d'0e0fU);
    EXPECT_TRUE(addition->more_words.empty());
}

TEST(SendWqe, FourByteOperandsDecoded) {
    const auto swap = masked(SendOpcode::masked_compare_swap, 0x8, 16, 4)
                          .decode(ServiceType::reliable_connection);
    ASSERT_TRUE(swap);
    EXPECT_EQ(swap->atomic->swap_or_add, 0x0001'0203U);
    EXPECT_EQ(swap->atomic->compare, 0x0405'0607U);
    EXPECT_EQ(swap->atomic->swap_or_add_mask, 0x0809'0a0bU);
    EXPECT_EQ(swap->atomic->compare_mask, 0x0c0d'0e0fU);
    const auto addition =
        masked(SendOpcode::masked_fetch_add, 0x8, 16, 4).decode(ServiceType::reliable_connection);
    ASSERT_TRUE(addition);
    EXPECT_EQ(addition->atomic->swap_or_add, 0x0001'0203U);
    EXPECT_EQ(addition->atomic->swap_or_add_mask, 0x0405'0607U);
}

TEST(SendWqe, LongOperandsDecodedByWord) {
    const auto swap = masked(SendOpcode::masked_compare_swap, 0xb, 128, 32)
                          .decode(ServiceType::reliable_connection);
    ASSERT_TRUE(swap);
    EXPECT_EQ(swap->atomic->compare, 0x2021'2223'2425'2627U);
    ASSERT_EQ(swap->more_words.size(), 3U);
    EXPECT_EQ(swap->more_words[2].swap_or_add, 0x1819'1a1b'1c1d'1e1fU);
    EXPECT_EQ(swap->more_words[2].compare_mask, 0x7879'7a7b'7c7d'7e7fU);
}

TEST(SendWqe, MaskedAtomicWithoutOperandSizeRefused) {
    for (const unsigned op_mod : {0x0U, 0x1U, 0x7U}) {
        EXPECT_EQ(masked(SendOpcode::masked_fetch_add, op_mod, 32, 8).error(),
                  DecodeError::no_operand_size);
        EXPECT_EQ(masked(SendOpcode::masked_compare_swap, op_mod, 32, 8).error(),
                  DecodeError::no_operand_size);
    }
}

TEST(SendWqe, OperandSizeBeyondCapabilitiesRefused) {
    EXPECT_EQ(masked(SendOpcode::masked_fetch_add, 0xc, 128, 64).error(),
              DecodeError::bad_operand_size);
    EXPECT_EQ(masked(SendOpcode::masked_fetch_add, 0xff, 32, 8).error(),
              DecodeError::bad_operand_size);
    const auto four_bytes = masked(SendOpcode::masked_fetch_add, 0x8, 16, 4).bytes();
    EXPECT_EQ(decode({.atomic_sizes = 0x8}, four_bytes).error(), DecodeError::bad_operand_size);
    EXPECT_TRUE(decode({.atomic_sizes = 0x4}, four_bytes));
}

TEST(SendWqe, OperandsOfOtherLengthRefused) {
    EXPECT_EQ(masked(SendOpcode::masked_fetch_add, 0xa, 32, 8).error(),
              DecodeError::bad_atomic_length);
    EXPECT_EQ(masked(SendOpcode::masked_fetch_add, 0xb, 32, 32).error(),
              DecodeError::segment_missing);
    EXPECT_EQ(masked(SendOpcode::masked_fetch_add, 0x9, 32, 8).error(),
              DecodeError::bad_atomic_length);
    EXPECT_EQ(masked(SendOpcode::masked_compare_swap, 0x9, 16, 8).error(),
              DecodeError::bad_atomic_length);
}

TEST(SendWqe, XrcSendSrqDecoded) {
    Entry entry(SendOpcode::send);
    hwtab::View<hwtab::wqe_xrc_seg>{entry.add(ds_size)}.set<"xrc_srqn">(0x4242);
    const auto request = entry.decode(ServiceType::extended_reliable_connection);
    ASSERT_TRUE(request);
    EXPECT_EQ(request->xrc_srq, 0x4242U);
}

TEST(SendWqe, UnknownOpcodeRefused) {
    EXPECT_EQ(Entry(0x7e).error(), DecodeError::unknown_opcode);
}

TEST(SendWqe, OpcodeOfOtherServiceRefused) {
    EXPECT_EQ(Entry(SendOpcode::rdma_write).error(ServiceType::unreliable_datagram),
              DecodeError::opcode_not_allowed);
    EXPECT_EQ(Entry(SendOpcode::rdma_read).error(ServiceType::unreliable_connection),
              DecodeError::opcode_not_allowed);
    EXPECT_EQ(Entry(SendOpcode::send).error(ServiceType::reg_umr), DecodeError::opcode_not_allowed);
    EXPECT_EQ(Entry(SendOpcode::reg_umr).error(ServiceType::subnet_management),
              DecodeError::opcode_not_allowed);
}

TEST(SendWqe, SegmentMissingRefused) {
    EXPECT_EQ(Entry(SendOpcode::rdma_write).error(), DecodeError::segment_missing);
    EXPECT_EQ(Entry(SendOpcode::send).error(ServiceType::unreliable_datagram),
              DecodeError::segment_missing);
    Entry atomic(SendOpcode::fetch_add);
    atomic.remote(0, 0);
    EXPECT_EQ(atomic.error(), DecodeError::segment_missing);
    Entry datagram(SendOpcode::send);
    hwtab::View<hwtab::base_av>{datagram.add(ds_size)}.set<"extended">(1);
    EXPECT_EQ(datagram.error(ServiceType::unreliable_datagram), DecodeError::segment_missing);
}

TEST(SendWqe, InlineDataBeyondWqeRefused) {
    Entry fits(SendOpcode::send);
    fits.inline_data(28, 2);
    EXPECT_TRUE(fits.decode(ServiceType::reliable_connection));
    Entry too_long(SendOpcode::send);
    too_long.inline_data(29, 2);
    EXPECT_EQ(too_long.error(), DecodeError::inline_too_long);
}

TEST(SendWqe, InlineDataForResponseRefused) {
    Entry entry(SendOpcode::rdma_read);
    entry.remote(0, 0).inline_data(8, 1);
    EXPECT_EQ(entry.error(), DecodeError::inline_not_allowed);
}

TEST(SendWqe, DciTargetAndStreamDecoded) {
    Entry entry(SendOpcode::send);
    const hwtab::View<hwtab::av> address{entry.add(hwtab::av.size)};
    address.set<"dc_key">(0x0123'4567'89ab'cdef);
    address.set<"extended">(1);
    address.set<"dqp_dct">(0x4711);
    entry.pointer(8, 1, 0);
    auto bytes = entry.bytes();
    bytes[9] = std::byte{0x12};
    bytes[10] = std::byte{0x34};
    const auto request = decode({.service = ServiceType::dci}, bytes);
    ASSERT_TRUE(request);
    EXPECT_EQ(request->address->access_key, 0x0123'4567'89ab'cdefU);
    EXPECT_EQ(request->address->destination_qp, 0x4711U);
    EXPECT_EQ(request->stream, 0x1234U);
    EXPECT_EQ(request->length, 8U);
}

TEST(SendWqe, MessageTooLongRefused) {
    Entry entry(SendOpcode::send);
    entry.pointer((1U << 20U) + 1, 1, 0);
    EXPECT_EQ(entry.error(), DecodeError::message_too_long);
}

TEST(SendWqe, MessagesUpTo2GibAccepted) {
    constexpr std::uint32_t half = 1U << 30U;
    const DecodeContext context{.log_max_message = 31};
    Entry whole(SendOpcode::send);
    whole.pointer(0, 1, 0); // the code for 2 GiB
    EXPECT_EQ(decode(context, whole.bytes())->length, 2ULL * half);
    Entry halves(SendOpcode::send);
    halves.pointer(half, 1, 0).pointer(half, 1, 0);
    EXPECT_EQ(decode(context, halves.bytes())->length, 2ULL * half);
    halves.pointer(1, 1, 0);
    EXPECT_EQ(decode(context, halves.bytes()).error(), DecodeError::message_too_long);
}

TEST(SendWqe, AtomicResponseNotEightBytesRefused) {
    Entry entry(SendOpcode::fetch_add);
    entry.remote(0, 0);
    entry.add(ds_size);
    entry.pointer(16, 1, 0);
    EXPECT_EQ(entry.error(), DecodeError::bad_atomic_length);
}

TEST(SendWqe, SignatureCheckedIfPresent) {
    Entry entry(SendOpcode::send);
    entry.pointer(8, 0x1234, 0x5678);
    auto bytes = entry.bytes();
    const DecodeContext context{.log_max_message = 20, .has_signatures = true};
    EXPECT_EQ(decode(context, bytes).error(), DecodeError::bad_signature);
    std::byte sum{};
    for (const std::byte byte : bytes)
        sum ^= byte;
    hwtab::View<hwtab::wqe_ctrl_seg>{bytes}.set<"signature">(std::to_integer<unsigned>(~sum));
    EXPECT_TRUE(decode(context, bytes));
}

// --- The ring ------------------------------------------------------------------------------------

class SendQueueTest : public ::testing::Test {
protected:
    static constexpr std::uint64_t start = 0x10000;
    static constexpr std::uint32_t blocks = 4;
    static constexpr std::uint32_t max_size = 1024;

    SendQueueTest()
        : memory_(0x10000), dma_(make_silent_log()),
          buffer_(*memory::HostBuffer::create(
              {.log_page_size = 12, .offset = 0, .size = blocks * SendQueue::block_size}, {start})),
          queue_(buffer_, 0, blocks) {
        memory_.map_into(dma_, start);
    }

    /// Writes a WQE of \p ds units of 16 bytes at WQEBB \p index, wrapping around.
    void write(std::uint16_t index, std::uint8_t ds) {
        std::vector<std::byte> bytes(std::max<std::size_t>(ds, 1) * ds_size);
        for (std::size_t i = 0; i < bytes.size(); ++i)
            bytes[i] = static_cast<std::byte>(i / ds_size);
        const hwtab::View<hwtab::wqe_ctrl_seg> control{bytes};
        control.set<"opcode">(0);
        control.set<"ds">(ds);
        for (std::size_t i = 0; i < bytes.size(); ++i)
            memory_.bytes()[((index * 64U) + i) % (blocks * 64U)] = bytes[i];
    }

    vfio_user::testing::GuestMemory memory_;
    vfio_user::DmaSpace dma_;
    memory::HostBuffer buffer_;
    SendQueue queue_;
};

TEST_F(SendQueueTest, WqeAcrossRingEndJoined) {
    for (std::uint16_t i = 0; i < 3; ++i) {
        write(i, 1);
        ASSERT_TRUE(queue_.post(i + 1));
        const auto bytes = queue_.fetch(dma_, max_size);
        ASSERT_TRUE(bytes);
        auto request = decode({}, *bytes);
        ASSERT_TRUE(request);
        request->index = i;
        queue_.start(*request);
        queue_.finish(i, {});
    }
    write(3, 8); // blocks 3 and 0
    ASSERT_TRUE(queue_.post(5));
    const auto bytes = queue_.fetch(dma_, max_size);
    ASSERT_TRUE(bytes);
    ASSERT_EQ(bytes->size(), 8 * ds_size);
    EXPECT_EQ((*bytes)[5 * ds_size], std::byte{5}) << "the second half comes from block 0";
}

TEST_F(SendQueueTest, WqeWithoutLengthRefused) {
    write(0, 0);
    ASSERT_TRUE(queue_.post(1));
    EXPECT_EQ(queue_.fetch(dma_, max_size).error(), DecodeError::empty);
}

TEST_F(SendQueueTest, WqeBeyondPostedRefused) {
    write(0, 5);
    ASSERT_TRUE(queue_.post(1));
    EXPECT_EQ(queue_.fetch(dma_, max_size).error(), DecodeError::too_long);
    ASSERT_TRUE(queue_.post(2));
    EXPECT_TRUE(queue_.fetch(dma_, max_size));
}

TEST_F(SendQueueTest, WqeBeyondMaximumSizeRefused) {
    write(0, 8);
    ASSERT_TRUE(queue_.post(2));
    EXPECT_EQ(queue_.fetch(dma_, 64).error(), DecodeError::too_long);
}

TEST_F(SendQueueTest, UnmappedRingFailsFetch) {
    ASSERT_TRUE(queue_.post(1));
    dma_.clear();
    EXPECT_EQ(queue_.fetch(dma_, max_size).error(), DecodeError::unreachable);
}

TEST_F(SendQueueTest, PostBeyondRingRefused) {
    EXPECT_FALSE(queue_.post(5));
    EXPECT_EQ(queue_.posted(), 0U);
    EXPECT_TRUE(queue_.post(4));
}

TEST_F(SendQueueTest, FlushReturnsOutstandingAndWaitingWqes) {
    write(0, 1);
    write(1, 5);
    write(3, 1);
    ASSERT_TRUE(queue_.post(4));
    queue_.start({});
    const auto flushed = queue_.flush(dma_);
    ASSERT_EQ(flushed.size(), 3U);
    EXPECT_EQ(flushed[0].index, 0U);
    EXPECT_EQ(flushed[1].index, 1U);
    EXPECT_EQ(flushed[2].index, 3U);
    EXPECT_EQ(queue_.waiting(), 0U);
    EXPECT_TRUE(queue_.idle());
}

TEST_F(SendQueueTest, FlushEndsAtWqeWithoutLength) {
    write(0, 0);
    ASSERT_TRUE(queue_.post(3));
    EXPECT_EQ(queue_.flush(dma_).size(), 1U);
    EXPECT_EQ(queue_.waiting(), 0U);
}

} // namespace
} // namespace cxemu::queues
