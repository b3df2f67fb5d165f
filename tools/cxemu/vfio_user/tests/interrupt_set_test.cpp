// SPDX-License-Identifier: GPL-2.0-or-later
#include "vfio_user/interrupt_set.hpp"
#include "vfio_user/testing/wire.hpp"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <utility>
#include <vector>

namespace cxemu::vfio_user {
namespace {

using testing::drain;
using testing::is_open;
using testing::make_eventfd;

class Interrupts : public ::testing::Test {
protected:
    /// Assigns an eventfd to \p vector. \return the guest's descriptor
    UniqueFd assign(std::uint32_t vector) {
        UniqueFd guest = make_eventfd();
        std::vector<UniqueFd> fds;
        fds.emplace_back(::dup(guest.get()));
        EXPECT_TRUE(set_.assign(vector, std::move(fds)));
        return guest;
    }
    static std::vector<UniqueFd> one(UniqueFd fd) {
        std::vector<UniqueFd> fds;
        fds.push_back(std::move(fd));
        return fds;
    }

    InterruptSet set_{16, make_silent_log()};
};

TEST_F(Interrupts, RaisedVectorReachesOwnEventfdOnly) {
    const UniqueFd three = assign(3);
    const UniqueFd four = assign(4);
    set_.raise(3);
    EXPECT_EQ(drain(three), 1U);
    EXPECT_EQ(drain(four), 0U);
    EXPECT_FALSE(set_.pending(3));
}

TEST_F(Interrupts, InterruptWaitsForEventfd) {
    set_.raise(5);
    EXPECT_TRUE(set_.pending(5));
    const UniqueFd five = assign(5);
    EXPECT_EQ(drain(five), 1U);
    EXPECT_FALSE(set_.pending(5));
}

TEST_F(Interrupts, PendingInterruptsCoalesce) {
    set_.raise(5);
    set_.raise(5);
    EXPECT_EQ(drain(assign(5)), 1U);
}

TEST_F(Interrupts, MaskedVectorPending) {
    const UniqueFd guest = assign(0);
    ASSERT_TRUE(set_.set_masked(0, 1, true));
    set_.raise(0);
    EXPECT_EQ(drain(guest), 0U);
    EXPECT_TRUE(set_.pending(0));
    ASSERT_TRUE(set_.set_masked(0, 1, false));
    EXPECT_EQ(drain(guest), 1U);
}

TEST_F(Interrupts, DisabledFunctionHoldsInterrupt) {
    const UniqueFd guest = assign(0);
    set_.set_enabled(false);
    set_.raise(0);
    EXPECT_EQ(drain(guest), 0U);
    set_.set_enabled(true);
    EXPECT_EQ(drain(guest), 1U);
}

TEST_F(Interrupts, InterruptWaitsForEnableAndUnmask) {
    set_.set_enabled(false);
    ASSERT_TRUE(set_.set_masked(0, 1, true));
    set_.raise(0);
    const UniqueFd guest = assign(0);
    set_.set_enabled(true);
    EXPECT_EQ(drain(guest), 0U);
    ASSERT_TRUE(set_.set_masked(0, 1, false));
    EXPECT_EQ(drain(guest), 1U);
}

TEST_F(Interrupts, ReassignedEventfdClosesOld) {
    UniqueFd old_end = make_eventfd();
    const int old_number = old_end.get();
    ASSERT_TRUE(set_.assign(2, one(std::move(old_end))));
    const UniqueFd fresh = assign(2);
    EXPECT_FALSE(is_open(old_number));
    set_.raise(2);
    EXPECT_EQ(drain(fresh), 1U);
}

TEST_F(Interrupts, EmptyDescriptorMakesInterruptPending) {
    const UniqueFd guest = assign(2);
    ASSERT_TRUE(set_.assign(2, one(UniqueFd())));
    set_.raise(2);
    EXPECT_EQ(drain(guest), 0U);
    EXPECT_TRUE(set_.pending(2));
}

TEST_F(Interrupts, ReleasedVectorsKeepPendingBits) {
    assign(1);
    set_.release_all();
    set_.raise(1);
    EXPECT_EQ(drain(assign(1)), 1U);
}

TEST_F(Interrupts, ClearedPendingBitsDropInterrupt) {
    set_.raise(1);
    set_.clear_pending();
    EXPECT_EQ(drain(assign(1)), 0U);
}

TEST_F(Interrupts, InvalidVectorCountedAndDropped) {
    set_.raise(16);
    set_.raise(UINT32_MAX);
    EXPECT_EQ(set_.statistics().invalid_vector, 2U);
    EXPECT_FALSE(set_.pending(16));
}

TEST_F(Interrupts, VectorBeyondLastRefused) {
    EXPECT_EQ(set_.assign(16, one(make_eventfd())).error(), EINVAL);
    EXPECT_EQ(set_.set_masked(15, 2, true).error(), EINVAL);
    EXPECT_EQ(set_.set_masked(UINT32_MAX, UINT32_MAX, true).error(), EINVAL);
    EXPECT_EQ(set_.trigger(1, UINT32_MAX).error(), EINVAL);
    EXPECT_TRUE(set_.set_masked(16, 0, true));
}

TEST_F(Interrupts, InvalidDescriptorKeepsOldOnes) {
    const UniqueFd guest = assign(0);
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
    const UniqueFd read_end(pipe[0]);
    std::vector<UniqueFd> fds;
    fds.push_back(make_eventfd());
    fds.emplace_back(pipe[1]);
    EXPECT_EQ(set_.assign(0, std::move(fds)).error(), EINVAL);
    set_.raise(0);
    EXPECT_EQ(drain(guest), 1U);
}

TEST_F(Interrupts, FullCounterDoesNotBlock) {
    UniqueFd full(::eventfd(0, EFD_CLOEXEC)); // a blocking one
    ASSERT_EQ(::eventfd_write(full.get(), UINT64_MAX - 1), 0);
    ASSERT_TRUE(set_.assign(0, one(UniqueFd(::dup(full.get())))));
    set_.raise(0);
    EXPECT_EQ(drain(full), UINT64_MAX - 1);
}

TEST_F(Interrupts, PendingInterruptReadable) {
    set_.raise(0);
    set_.raise(9);
    std::array<std::byte, 8> bits{};
    bits.fill(std::byte{0xff});
    set_.read_pending_bits(0, bits);
    EXPECT_EQ(bits[0], std::byte{0x01});
    EXPECT_EQ(bits[1], std::byte{0x02});
    EXPECT_EQ(bits[2], std::byte{0x00});
    std::array<std::byte, 1> second{};
    set_.read_pending_bits(1, second);
    EXPECT_EQ(second[0], std::byte{0x02});
}

TEST_F(Interrupts, TriggerReachesEveryVectorOfRange) {
    const UniqueFd four = assign(4);
    const UniqueFd five = assign(5);
    ASSERT_TRUE(set_.trigger(4, 2));
    EXPECT_EQ(drain(four), 1U);
    EXPECT_EQ(drain(five), 1U);
}

TEST_F(Interrupts, InterruptsCountedAsDeliveredOrHeld) {
    const UniqueFd guest = assign(0);
    set_.raise(0);
    set_.raise(1);
    EXPECT_EQ(set_.statistics().raised, 2U);
    EXPECT_EQ(set_.statistics().delivered, 1U);
    EXPECT_EQ(set_.statistics().held_pending, 1U);
}

} // namespace
} // namespace cxemu::vfio_user
