// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The event loop of the process: file descriptors, timers, deferred calls.
///
/// Everything in cxemu runs in the thread that calls EventLoop::run(). Handlers must not block: a
/// late answer makes QEMU give up on the device for good. A handler that throws is logged and
/// forgotten; it does not end the loop.
#pragma once

#include "base/unique_fd.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace cxemu {

class Timer;
class FdWatch;

class EventLoop {
public:
    using Clock = std::chrono::steady_clock;
    using TimePoint = Clock::time_point;
    using Duration = Clock::duration;

    /// \param clock where now() and the timers take the time from. A unit test passes its own
    ///              clock, moves it, and calls turn().
    explicit EventLoop(std::function<TimePoint()> clock = Clock::now);
    ~EventLoop();
    EventLoop(const EventLoop&) = delete;
    EventLoop& operator=(const EventLoop&) = delete;

    /// Handles events until stop() is called.
    void run();

    /// Makes run() return after the current turn. Callable from a handler.
    void stop() { stopped_ = true; }

    /// One round: waits up to \p max_wait for something to happen (zero: only looks), then runs
    /// ready descriptors, timers that are due and deferred calls.
    void turn(Duration max_wait);

    /// Runs \p call once, after the handlers of the current turn. This is the way to destroy an
    /// object from within its own handler.
    void defer(std::function<void()> call);

    [[nodiscard]] TimePoint now() const { return clock_(); }

private:
    friend class Timer;
    friend class FdWatch;
    struct WatchState;
    struct TimerState;

    using TimerEntry = std::tuple<TimePoint, std::uint64_t, std::shared_ptr<TimerState>>;

    void schedule(const std::shared_ptr<TimerState>& timer, Duration delay);
    void cancel(TimerState& timer);
    void run_due_timers();
    void run_deferred();
    void wait_for_events(Duration max_wait);
    void dispatch(std::uint64_t watch, std::uint32_t events);
    [[nodiscard]] TimePoint end_of_wait(TimePoint start, Duration max_wait) const;
    void set_wakeup(Duration delay);

    std::function<TimePoint()> clock_;
    UniqueFd epoll_;
    UniqueFd wakeup_;                        ///< timerfd: finer than the milliseconds of epoll_wait
    TimePoint wakeup_at_ = TimePoint::max(); ///< what wakeup_ is set to; max: off
    std::unordered_map<std::uint64_t, std::shared_ptr<WatchState>> watches_;
    std::set<TimerEntry> timers_; ///< by deadline, then by the order in which they were started
    std::vector<std::function<void()>> deferred_;
    std::uint64_t next_id_ = 1;
    bool stopped_ = false;
};

/// What a descriptor is watched for, and what it turned out to be ready for.
struct Readiness {
    bool readable = false;
    bool writable = false;
    bool hung_up = false; ///< only reported, never asked for: peer gone or descriptor in error
};

/// Calls a handler whenever a descriptor is ready (level-triggered), as long as it lives.
/// May be destroyed from its own handler. The descriptor must outlive the watch.
class FdWatch {
public:
    using Handler = std::function<void(Readiness)>;

    FdWatch(EventLoop& loop, int fd, Readiness interest, Handler handler);
    ~FdWatch();
    FdWatch(const FdWatch&) = delete;
    FdWatch& operator=(const FdWatch&) = delete;

    /// Changes what is watched for; hang-ups are reported in any case.
    void set_interest(Readiness interest);

private:
    EventLoop& loop_;
    int fd_;
    Readiness interest_;
    std::uint64_t id_;
};

/// Calls a handler after a time, once or again and again. May be destroyed, stopped or started anew
/// from its own handler. Thousands of them are cheap (one ordered set, one timerfd).
class Timer {
public:
    Timer(EventLoop& loop, std::function<void()> handler);
    ~Timer();
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

    /// Runs the handler once, \p delay from now; a running timer is started anew.
    void start(EventLoop::Duration delay);

    /// Runs the handler every \p period (greater than zero), first one period from now. Periods
    /// that were missed are not made up for.
    void start_periodic(EventLoop::Duration period);

    void stop();
    [[nodiscard]] bool active() const;

private:
    EventLoop& loop_;
    std::shared_ptr<EventLoop::TimerState> state_;
};

} // namespace cxemu
