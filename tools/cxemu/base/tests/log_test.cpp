// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/log.hpp"

#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cxemu {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(LogLimiter, LinesPerSecondLimited) {
    LogLimiter limiter(2);
    const LogLimiter::Clock::time_point start(seconds(100));
    EXPECT_TRUE(limiter.allow(start));
    EXPECT_TRUE(limiter.allow(start));
    EXPECT_FALSE(limiter.allow(start + milliseconds(999)));
    EXPECT_TRUE(limiter.allow(start + milliseconds(1000)));
}

TEST(LogLimiter, SuppressedLinesCounted) {
    LogLimiter limiter(1);
    const LogLimiter::Clock::time_point start(seconds(100));
    for (int i = 0; i < 4; ++i)
        limiter.allow(start);
    EXPECT_EQ(limiter.take_suppressed(), 3U);
    EXPECT_EQ(limiter.take_suppressed(), 0U);
}

TEST(Logging, UnopenableFileNamed) {
    const auto result = configure_logging(spdlog::level::info, "/dev/null/log");
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error(), ::testing::HasSubstr("/dev/null/log"));
}

} // namespace
} // namespace cxemu
