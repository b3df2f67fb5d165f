// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/event_loop.hpp"

#include <array>
#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

namespace cxemu {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;

/// An event loop with a manual clock.
class EventLoopTest : public ::testing::Test {
protected:
    void advance(EventLoop::Duration by) {
        time_ += by;
        loop_.turn(EventLoop::Duration::zero());
    }

    EventLoop::TimePoint time_;
    EventLoop loop_{[this] { return time_; }};
};

using TimerTest = EventLoopTest;

/// Two connected sockets.
struct SocketPair {
    SocketPair() {
        std::array<int, 2> fds{};
        if (::socketpair(AF_UNIX, SOCK_STREAM, 0, fds.data()) != 0)
            throw std::runtime_error("socketpair failed");
        ours.reset(fds[0]);
        theirs.reset(fds[1]);
    }
    UniqueFd ours;
    UniqueFd theirs;
};

TEST_F(TimerTest, DeadlineReachedFiresOnce) {
    int fired = 0;
    Timer timer(loop_, [&] { ++fired; });
    timer.start(seconds(2));
    advance(seconds(1));
    EXPECT_EQ(fired, 0);
    EXPECT_TRUE(timer.active());
    advance(seconds(1));
    EXPECT_EQ(fired, 1);
    EXPECT_FALSE(timer.active());
    advance(seconds(10));
    EXPECT_EQ(fired, 1);
}

TEST_F(TimerTest, SeveralFireInOrderOfDeadline) {
    std::string order;
    Timer late(loop_, [&] { order += "late "; });
    Timer early(loop_, [&] { order += "early "; });
    Timer same(loop_, [&] { order += "same "; });
    late.start(seconds(3));
    early.start(seconds(1));
    same.start(seconds(3));
    advance(seconds(5));
    EXPECT_EQ(order, "early late same ");
}

TEST_F(TimerTest, StoppedDoesNotFire) {
    int fired = 0;
    Timer timer(loop_, [&] { ++fired; });
    timer.start(seconds(1));
    timer.stop();
    advance(seconds(2));
    EXPECT_EQ(fired, 0);
}

TEST_F(TimerTest, RestartedCountsFromLatestStart) {
    int fired = 0;
    Timer timer(loop_, [&] { ++fired; });
    timer.start(seconds(2));
    advance(seconds(1));
    timer.start(seconds(2));
    advance(seconds(1));
    EXPECT_EQ(fired, 0);
    advance(seconds(1));
    EXPECT_EQ(fired, 1);
}

TEST_F(TimerTest, PeriodicMissedPeriodsNotRepeated) {
    int fired = 0;
    Timer timer(loop_, [&] { ++fired; });
    timer.start_periodic(seconds(1));
    advance(seconds(1));
    advance(seconds(1));
    EXPECT_EQ(fired, 2);
    advance(seconds(10));
    EXPECT_EQ(fired, 3);
}

TEST_F(TimerTest, StoppedByOtherInSameTurnDoesNotFire) {
    int fired = 0;
    Timer victim(loop_, [&] { ++fired; });
    Timer killer(loop_, [&] { victim.stop(); });
    killer.start(seconds(1));
    victim.start(seconds(1));
    advance(seconds(1));
    EXPECT_EQ(fired, 0);
}

TEST_F(TimerTest, DestroyFromOwnHandlerWorks) {
    auto timer = std::make_unique<Timer>(loop_, [] {});
    timer = std::make_unique<Timer>(loop_, [&] { timer.reset(); });
    timer->start(seconds(1));
    advance(seconds(1));
    EXPECT_EQ(timer, nullptr);
}

TEST_F(TimerTest, ZeroDelayFromOwnHandlerFiresNextTurn) {
    int fired = 0;
    std::optional<Timer> timer;
    timer.emplace(loop_, [&] {
        ++fired;
        timer->start(seconds(0));
    });
    timer->start(seconds(1));
    advance(seconds(1));
    EXPECT_EQ(fired, 1);
    advance(seconds(0));
    EXPECT_EQ(fired, 2);
}

TEST_F(TimerTest, MaximumDelayAccepted) {
    Timer timer(loop_, [] { FAIL() << "fired too early"; });
    timer.start(EventLoop::Duration::max());
    advance(seconds(1));
    EXPECT_TRUE(timer.active());
}

TEST(EventLoopWithRealTime, TimerWakesLoop) {
    EventLoop loop;
    Timer timer(loop, [&] { loop.stop(); });
    timer.start(milliseconds(1));
    loop.run();
    EXPECT_FALSE(timer.active());
}

TEST(EventLoopWithRealTime, IdleTurnReturnsAfterTimeout) {
    EventLoop loop;
    const auto before = loop.now();
    loop.turn(milliseconds(2));
    EXPECT_GE(loop.now() - before, milliseconds(2));
}

TEST_F(EventLoopTest, ReadableDescriptorReportedUntilRead) {
    const SocketPair sockets;
    int reported = 0;
    const FdWatch watch(loop_, sockets.ours.get(), {.readable = true}, [&](Readiness ready) {
        EXPECT_TRUE(ready.readable);
        ++reported;
    });
    loop_.turn({});
    EXPECT_EQ(reported, 0);
    ASSERT_EQ(::write(sockets.theirs.get(), "x", 1), 1);
    loop_.turn({});
    loop_.turn({});
    EXPECT_EQ(reported, 2);
}

TEST_F(EventLoopTest, UnwatchedEventsNotReported) {
    const SocketPair sockets;
    int reported = 0;
    FdWatch watch(loop_, sockets.ours.get(), {.readable = true}, [&](Readiness) { ++reported; });
    ASSERT_EQ(::write(sockets.theirs.get(), "x", 1), 1);
    watch.set_interest({});
    loop_.turn({});
    EXPECT_EQ(reported, 0);
    watch.set_interest({.writable = true});
    loop_.turn({});
    EXPECT_EQ(reported, 1);
}

TEST_F(EventLoopTest, HangUpWithoutInterestReported) {
    SocketPair sockets;
    bool hung_up = false;
    const FdWatch watch(loop_, sockets.ours.get(), {},
                        [&](Readiness ready) { hung_up = ready.hung_up; });
    sockets.theirs.reset();
    loop_.turn({});
    EXPECT_TRUE(hung_up);
}

TEST_F(EventLoopTest, HandlerDestroysOwnWatch) {
    const SocketPair sockets;
    int reported = 0;
    std::unique_ptr<FdWatch> watch;
    watch = std::make_unique<FdWatch>(loop_, sockets.ours.get(), Readiness{.readable = true},
                                      [&](Readiness) {
                                          watch.reset();
                                          ++reported;
                                      });
    ASSERT_EQ(::write(sockets.theirs.get(), "x", 1), 1);
    loop_.turn({});
    loop_.turn({});
    EXPECT_EQ(reported, 1);
}

TEST_F(EventLoopTest, EventOfDestroyedWatchDropped) {
    const SocketPair first;
    const SocketPair second;
    int reported = 0;
    std::unique_ptr<FdWatch> a;
    std::unique_ptr<FdWatch> b;
    const auto end_both = [&](Readiness) {
        ++reported;
        a.reset();
        b.reset();
    };
    a = std::make_unique<FdWatch>(loop_, first.ours.get(), Readiness{.readable = true}, end_both);
    b = std::make_unique<FdWatch>(loop_, second.ours.get(), Readiness{.readable = true}, end_both);
    ASSERT_EQ(::write(first.theirs.get(), "x", 1), 1);
    ASSERT_EQ(::write(second.theirs.get(), "x", 1), 1);
    loop_.turn({});
    EXPECT_EQ(reported, 1);
}

TEST_F(EventLoopTest, InvalidDescriptorRefused) {
    EXPECT_THROW(FdWatch(loop_, -1, {.readable = true}, [](Readiness) {}), std::system_error);
}

TEST_F(EventLoopTest, HandlerThrowsLoopContinues) {
    int later = 0;
    Timer bad(loop_, [] { throw std::runtime_error("deliberate"); });
    Timer good(loop_, [&] { ++later; });
    bad.start(seconds(1));
    good.start(seconds(1));
    advance(seconds(1));
    EXPECT_EQ(later, 1);
}

TEST_F(EventLoopTest, DeferredCallRunsOnceAfterHandlers) {
    std::vector<std::string> order;
    Timer timer(loop_, [&] {
        loop_.defer([&] { order.emplace_back("deferred"); });
        order.emplace_back("handler");
    });
    timer.start(seconds(1));
    advance(seconds(1));
    advance(seconds(1));
    EXPECT_THAT(order, ElementsAre("handler", "deferred"));
}

TEST_F(EventLoopTest, NestedDeferredCallRunsNextTurn) {
    int calls = 0;
    loop_.defer([&] {
        ++calls;
        loop_.defer([&] { ++calls; });
    });
    loop_.turn({});
    EXPECT_EQ(calls, 1);
    loop_.turn(EventLoop::Duration::max()); // must not wait: a call is pending
    EXPECT_EQ(calls, 2);
}

} // namespace
} // namespace cxemu
