// SPDX-License-Identifier: GPL-2.0-or-later
//
// Encodings of acknowledgements: credits, timers, timeouts.
#include "transport/acknowledgement.hpp"

#include <chrono>
#include <gtest/gtest.h>
#include <utility>

namespace cxemu::transport {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

std::optional<std::uint32_t> credits_reported(std::uint32_t credits) {
    return credits_of(decode_syndrome(ack_syndrome(credits)).value);
}

TEST(CreditCode, EncodedCreditsNeverExceedCount) {
    std::uint32_t before = 0;
    for (std::uint32_t credits = 0; credits < 40'000; ++credits) {
        const auto reported = credits_reported(credits);
        ASSERT_TRUE(reported);
        EXPECT_LE(*reported, credits);
        EXPECT_GE(*reported, before);
        before = *reported;
    }
    EXPECT_EQ(before, 32'768U);
    for (const std::uint32_t exact : {0U, 1U, 4U, 6U, 24U, 192U, 4096U, 24'576U})
        EXPECT_EQ(credits_reported(exact), exact);
}

TEST(CreditCode, MissingCountRoundTrips) {
    const Syndrome syndrome = decode_syndrome(ack_syndrome(std::nullopt));
    EXPECT_EQ(syndrome.kind, Syndrome::Kind::acknowledge);
    EXPECT_EQ(credits_of(syndrome.value), std::nullopt);
}

TEST(NotReadyTimer, TimesMatchSpecification) {
    constexpr std::array<std::pair<std::uint8_t, microseconds>, 9> times{
        {{0, microseconds(655'360)},
         {1, microseconds(10)},
         {5, microseconds(60)},
         {12, microseconds(640)},
         {14, microseconds(1'280)},
         {20, microseconds(10'240)},
         {25, microseconds(61'440)},
         {30, microseconds(327'680)},
         {31, microseconds(491'520)}}};
    for (const auto& [code, time] : times)
        EXPECT_EQ(not_ready_delay(code), time) << static_cast<unsigned>(code);
}

TEST(NotReadyTimer, CodeRoundTripsThroughSyndrome) {
    for (std::uint8_t code = 0; code < 32; ++code) {
        const Syndrome syndrome = decode_syndrome(rnr_nak_syndrome(code));
        EXPECT_EQ(syndrome.kind, Syndrome::Kind::receiver_not_ready);
        EXPECT_EQ(syndrome.value, code);
    }
}

TEST(AcknowledgeTimeout, TimeoutDoublesWithCodeAndZeroIsNone) {
    EXPECT_EQ(acknowledge_timeout(0), std::nullopt);
    EXPECT_EQ(acknowledge_timeout(1), nanoseconds(8'192));
    EXPECT_EQ(acknowledge_timeout(14), nanoseconds(67'108'864));
    EXPECT_EQ(acknowledge_timeout(31), nanoseconds(4'096) * (std::int64_t{1} << 31U));
}

} // namespace
} // namespace cxemu::transport
