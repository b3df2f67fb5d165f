// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The event loop of the process: file descriptors, timers, deferred calls.
///
/// Everything in cxemu runs in the thread that calls EventLoop::run(). Handlers must not block,
/// because QEMU treats the device as failed after a late reply. The loop logs an exception of a
/// handler and continues.
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

    /// \param clock source of now() and the timers. A unit test passes its own clock, advances it,
    /// and calls turn().
    explicit EventLoop(std::function<TimePoint()> clock = Clock::now);
    ~EventLoop();
    EventLoop(const EventLoop&) = delete;
    EventLoop& operator=(const EventLoop&) = delete;

    /// Handles events until stop() is called.
    void run();

    /// Makes run() return after the current turn. Callable from a handler.
    void stop() { stopped_ = true; }

    /// One iteration: waits up to \p max_wait for events (zero: only polls), then runs ready
    /// descriptors, due timers and deferred calls.
    void turn(Duration max_wait);

    /// Runs \p call once, after the handlers of the current turn. Use it to destroy an object from
    /// within its own handler.
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
    UniqueFd wakeup_; ///< timerfd: finer resolution than the milliseconds of epoll_wait
    TimePoint wakeup_at_ = TimePoint::max(); ///< deadline of wakeup_; max: disarmed
    std::unordered_map<std::uint64_t, std::shared_ptr<WatchState>> watches_;
    std::set<TimerEntry> timers_; ///< by deadline, then by order of start
    std::vector<std::function<void()>> deferred_;
    std::uint64_t next_id_ = 1;
    bool stopped_ = false;
};

/// Events to watch for, or events that occurred.
struct Readiness {
    bool readable = false;
    bool writable = false;
    bool hung_up = false; ///< output only: peer closed or descriptor in error
};

/// Calls a handler whenever a descriptor is ready (level-triggered). May be destroyed from its own
/// handler. The descriptor must outlive the watch.
class FdWatch {
public:
    using Handler = std::function<void(Readiness)>;

    FdWatch(EventLoop& loop, int fd, Readiness interest, Handler handler);
    ~FdWatch();
    FdWatch(const FdWatch&) = delete;
    FdWatch& operator=(const FdWatch&) = delete;

    /// Changes the watched events; hang-ups are always reported.
    void set_interest(Readiness interest);

private:
    EventLoop& loop_;
    int fd_;
    Readiness interest_;
    std::uint64_t id_;
};

/// Calls a handler after a delay, once or periodically. May be destroyed, stopped or restarted from
/// its own handler. Thousands of timers are cheap (one ordered set, one timerfd).
class Timer {
public:
    Timer(EventLoop& loop, std::function<void()> handler);
    ~Timer();
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

    /// Runs the handler once, \p delay from now; a running timer is restarted.
    void start(EventLoop::Duration delay);

    /// Runs the handler every \p period (greater than zero), first one period from now. Missed
    /// periods are skipped.
    void start_periodic(EventLoop::Duration period);

    void stop();
    [[nodiscard]] bool active() const;

private:
    EventLoop& loop_;
    std::shared_ptr<EventLoop::TimerState> state_;
};

} // namespace cxemu
