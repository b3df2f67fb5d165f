// SPDX-License-Identifier: GPL-2.0-or-later
//
// Access to memory through signature mkeys.
#include "base/byte_order.hpp"
#include "memory/memory_keys.hpp"
#include "queues/testing/signed_key.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

namespace cxemu::memory {
namespace {

using queues::testing::Bench;
using queues::testing::Call;
using queues::testing::SignedKey;
using queues::testing::UmrLists;
using testing::SignatureDescription;

constexpr std::uint64_t crc32c_repeat = hwtab::value<hwtab::bsf_block_format, "crc32c_repeat">;

class SignedKeysTest : public ::testing::Test {
protected:
    SignedKeysTest() {
        bench_.keys().set_signature_error_handler(
            [this](const SignatureError& error) { errors_.push_back(error); });
        data_.resize(512, std::byte{0xa5});
        std::ranges::copy(data_, bench_.at(memory_, data_.size()).begin());
    }

    /// One block of 512 bytes in memory, T10-DIF on the wire.
    void insert_dif(UmrLists lists = UmrLists::in_request) {
        SignatureDescription description;
        description.set_dif(SignaturePlace::wire, 0x5678, 0xf0de'bc9a, signed_.wire_variable());
        ASSERT_TRUE(signed_.configure(memory_, 512, description, lists));
    }
    /// One block of 512 bytes and its CRC-32C in memory, without it on the wire.
    void strip_crc() {
        SignatureDescription description;
        description.set_crc(SignaturePlace::memory, crc32c_repeat, signed_.memory_variable());
        ASSERT_TRUE(signed_.configure(memory_, 516, description));
    }

    AccessResult<std::vector<std::byte>> read(std::uint64_t address, std::uint64_t length,
                                              AccessRight right = AccessRight::local_read) {
        std::vector<std::byte> out(length);
        const auto done = bench_.keys().read(
            accessor(),
            {.key = signed_.key(), .address = address, .length = length, .right = right}, out);
        if (!done)
            return std::unexpected(done.error());
        return out;
    }
    AccessResult<void> write(std::uint64_t address, std::span<const std::byte> data) {
        return bench_.keys().write(accessor(),
                                   {.key = signed_.key(),
                                    .address = address,
                                    .length = data.size(),
                                    .right = AccessRight::remote_write},
                                   data);
    }
    [[nodiscard]] Accessor accessor() { return {.protection_domain = bench_.domain()}; }

    Bench bench_;
    SignedKey signed_{bench_};
    std::uint64_t memory_ = bench_.allocate(4096);
    std::vector<std::byte> data_;
    std::vector<SignatureError> errors_;
};

TEST_F(SignedKeysTest, PeerReadInsertsSignatures) {
    for (const UmrLists lists : {UmrLists::in_request, UmrLists::in_memory}) {
        insert_dif(lists);
        const auto stream = read(0, 520, AccessRight::remote_read).value();
        EXPECT_TRUE(std::ranges::equal(std::span(stream).first(512), data_));
        EXPECT_EQ(load_be<std::uint64_t>(std::span(stream).last(8)), 0xec7d'5678'f0de'bc9aU);
    }
}

TEST_F(SignedKeysTest, PeerWriteStoresSignatures) {
    strip_crc();
    ASSERT_TRUE(write(0, std::vector(512, std::byte{0})));
    Guard guard(GuardKind::crc32c, 0xffff'ffff);
    guard.add(std::vector(512, std::byte{0}));
    EXPECT_EQ(bench_.load32(memory_ + 512), guard.value());
    EXPECT_TRUE(errors_.empty());
}

TEST_F(SignedKeysTest, AddressesCountedInWireForm) {
    insert_dif();
    EXPECT_TRUE(read(0, 520)) << "more than is in memory";
    EXPECT_EQ(read(0, 521).error(), AccessFault::out_of_range);
    EXPECT_EQ(read(~0ULL, 2).error(), AccessFault::out_of_range);
    strip_crc();
    EXPECT_TRUE(read(0, 512));
    EXPECT_EQ(read(0, 513).error(), AccessFault::out_of_range) << "the CRC isn't data";
}

TEST_F(SignedKeysTest, RangeTranslatedToMemoryForm) {
    strip_crc();
    const auto located =
        bench_.keys().translate(accessor(), {.key = signed_.key(), .address = 0, .length = 512});
    ASSERT_TRUE(located);
    EXPECT_EQ(located->front(), (BusRange{memory_, 516}));
}

/// Software must acknowledge each error by a UMR.
TEST_F(SignedKeysTest, ErrorReportedOnceUntilAcknowledged) {
    strip_crc();
    ASSERT_TRUE(read(0, 512)) << "the transfer itself succeeds";
    ASSERT_TRUE(read(0, 512));
    ASSERT_EQ(errors_.size(), 1U);
    EXPECT_EQ(errors_.front().key, signed_.key());
    EXPECT_EQ(errors_.front().failure.place, SignaturePlace::memory);
    EXPECT_EQ(errors_.front().failure.found, 0U) << "memory has no CRC yet";
    strip_crc(); // as a driver that has not polled the error
    ASSERT_TRUE(read(0, 512));
    EXPECT_EQ(errors_.size(), 1U);
    signed_.error_seen();
    strip_crc();
    ASSERT_TRUE(read(0, 512));
    EXPECT_EQ(errors_.size(), 2U);
}

TEST_F(SignedKeysTest, DestroyedPsvRefused) {
    strip_crc();
    Call<hwtab::cmd_destroy_psv> call;
    call.in().set<"psvn">(signed_.memory_variable());
    ASSERT_TRUE(bench_.run(call));
    EXPECT_EQ(read(0, 512).error(), AccessFault::no_signature_state);
}

TEST_F(SignedKeysTest, AtomicOperationRefused) {
    insert_dif();
    EXPECT_EQ(bench_.keys()
                  .modify(accessor(), signed_.key(), 0, [](std::uint64_t value) { return value; })
                  .error(),
              AccessFault::signed_data);
}

TEST_F(SignedKeysTest, RefusedWriteChangesNothing) {
    strip_crc();
    EXPECT_EQ(write(1, std::vector(512, std::byte{1})).error(), AccessFault::out_of_range);
    EXPECT_EQ(bench_.load32(memory_), 0xa5a5'a5a5U);
}

TEST_F(SignedKeysTest, InvalidDescriptionsRefused) {
    SignatureDescription description;
    description.set_crc(SignaturePlace::memory, 0x32, signed_.memory_variable());
    EXPECT_EQ(signed_.configure(memory_, 512, description).error(), UmrFault::bad_signature_format);
}

} // namespace
} // namespace cxemu::memory
