// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/event_loop.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <spdlog/spdlog.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <system_error>

namespace cxemu {
namespace {

using std::chrono::hours;

/// Reserved watch number of the wake-up timer.
constexpr std::uint64_t wakeup_id = 0;

/// Longer delays are cut to this, so that "now + delay" cannot overflow.
constexpr EventLoop::Duration longest_delay = hours(24 * 365);

int checked(int result, const char* what) {
    if (result < 0)
        throw std::system_error(errno, std::generic_category(), what);
    return result;
}

std::uint32_t epoll_events(Readiness interest) {
    return (interest.readable ? std::uint32_t{EPOLLIN} : 0U) |
           (interest.writable ? std::uint32_t{EPOLLOUT} : 0U);
}

/// Runs a handler; catches and logs its exceptions.
template <typename Call>
void guarded(Call&& call) {
    try {
        std::forward<Call>(call)();
    } catch (const std::exception& error) {
        spdlog::error("an event handler failed: {}", error.what());
    }
}

} // namespace

struct EventLoop::WatchState {
    FdWatch::Handler handler;
};

struct EventLoop::TimerState {
    std::function<void()> handler;
    Duration period{}; ///< zero: fires once
    TimePoint deadline;
    std::uint64_t start = 0; ///< number of the start; 0: stopped
};

EventLoop::EventLoop(std::function<TimePoint()> clock)
    : clock_(std::move(clock)), epoll_(checked(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      wakeup_(checked(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK),
                      "timerfd_create")) {
    epoll_event event{.events = EPOLLIN, .data = {.u64 = wakeup_id}};
    checked(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wakeup_.get(), &event), "epoll_ctl");
}

EventLoop::~EventLoop() = default;

void EventLoop::run() {
    stopped_ = false;
    while (!stopped_)
        turn(Duration::max());
}

void EventLoop::turn(Duration max_wait) {
    wait_for_events(max_wait);
    run_due_timers();
    run_deferred();
}

void EventLoop::defer(std::function<void()> call) {
    deferred_.push_back(std::move(call));
}

/// Returns the time at which a wait for events that begins at \p start must end; TimePoint::max():
/// never.
EventLoop::TimePoint EventLoop::end_of_wait(TimePoint start, Duration max_wait) const {
    if (!deferred_.empty())
        return start;
    const TimePoint end = max_wait < longest_delay ? start + max_wait : TimePoint::max();
    return timers_.empty() ? end : std::min(end, std::get<TimePoint>(*timers_.begin()));
}

/// \param delay zero disarms the timer
void EventLoop::set_wakeup(Duration delay) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(delay);
    const auto rest = std::chrono::duration_cast<std::chrono::nanoseconds>(delay - seconds);
    itimerspec when{};
    when.it_value.tv_sec = seconds.count();
    when.it_value.tv_nsec = rest.count();
    checked(::timerfd_settime(wakeup_.get(), 0, &when, nullptr), "timerfd_settime");
}

void EventLoop::wait_for_events(Duration max_wait) {
    const TimePoint start = now();
    const TimePoint end = end_of_wait(start, max_wait);
    const bool wait = end > start;
    if (wait && end != wakeup_at_) {
        set_wakeup(end == TimePoint::max() ? Duration::zero() : end - start);
        wakeup_at_ = end;
    }
    std::array<epoll_event, 64> events{};
    const int count =
        ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), wait ? -1 : 0);
    if (count < 0 && errno != EINTR)
        checked(count, "epoll_wait");
    for (int i = 0; i < count; ++i) {
        const auto& event = events.at(static_cast<std::size_t>(i));
        if (event.data.u64 == wakeup_id) {
            set_wakeup(Duration::zero()); // also clears a pending expiry
            wakeup_at_ = TimePoint::max();
        } else {
            dispatch(event.data.u64, event.events);
        }
    }
}

void EventLoop::dispatch(std::uint64_t watch, std::uint32_t events) {
    const auto found = watches_.find(watch);
    if (found == watches_.end())
        return; // removed by a handler earlier in this turn
    const std::shared_ptr<WatchState> state = found->second;
    const Readiness ready{.readable = (events & EPOLLIN) != 0,
                          .writable = (events & EPOLLOUT) != 0,
                          .hung_up = (events & (EPOLLHUP | EPOLLERR)) != 0};
    guarded([&] { state->handler(ready); });
}

void EventLoop::schedule(const std::shared_ptr<TimerState>& timer, Duration delay) {
    timer->deadline = now() + std::clamp(delay, Duration::zero(), longest_delay);
    timer->start = next_id_++;
    timers_.emplace(timer->deadline, timer->start, timer);
}

void EventLoop::cancel(TimerState& timer) {
    if (timer.start == 0)
        return;
    const auto entry = timers_.lower_bound({timer.deadline, timer.start, nullptr});
    if (entry != timers_.end() && std::get<std::uint64_t>(*entry) == timer.start)
        timers_.erase(entry);
    timer.start = 0;
}

void EventLoop::run_due_timers() {
    // All due timers are removed first: a handler that restarts its timer without delay must not
    // block the loop.
    const auto end = timers_.upper_bound({now(), UINT64_MAX, nullptr});
    const std::vector<TimerEntry> due(timers_.begin(), end);
    timers_.erase(timers_.begin(), end);
    for (const auto& [deadline, start, timer] : due) {
        if (timer->start != start)
            continue; // stopped or restarted by an earlier handler
        timer->start = 0;
        if (timer->period > Duration::zero())
            schedule(timer, timer->period);
        guarded(timer->handler);
    }
}

void EventLoop::run_deferred() {
    const auto calls = std::exchange(deferred_, {});
    for (const auto& call : calls)
        guarded(call);
}

FdWatch::FdWatch(EventLoop& loop, int fd, Readiness interest, Handler handler)
    : loop_(loop), fd_(fd), interest_(interest), id_(loop.next_id_++) {
    epoll_event event{.events = epoll_events(interest), .data = {.u64 = id_}};
    checked(::epoll_ctl(loop_.epoll_.get(), EPOLL_CTL_ADD, fd_, &event), "epoll_ctl");
    loop_.watches_.emplace(
        id_, std::make_shared<EventLoop::WatchState>(EventLoop::WatchState{std::move(handler)}));
}

FdWatch::~FdWatch() {
    ::epoll_ctl(loop_.epoll_.get(), EPOLL_CTL_DEL, fd_, nullptr);
    loop_.watches_.erase(id_);
}

void FdWatch::set_interest(Readiness interest) {
    if (epoll_events(interest) == epoll_events(interest_))
        return;
    interest_ = interest;
    epoll_event event{.events = epoll_events(interest), .data = {.u64 = id_}};
    checked(::epoll_ctl(loop_.epoll_.get(), EPOLL_CTL_MOD, fd_, &event), "epoll_ctl");
}

Timer::Timer(EventLoop& loop, std::function<void()> handler)
    : loop_(loop), state_(std::make_shared<EventLoop::TimerState>()) {
    state_->handler = std::move(handler);
}

Timer::~Timer() {
    stop();
}

void Timer::start(EventLoop::Duration delay) {
    stop();
    state_->period = EventLoop::Duration::zero();
    loop_.schedule(state_, delay);
}

void Timer::start_periodic(EventLoop::Duration period) {
    stop();
    state_->period = std::max(period, EventLoop::Duration(1));
    loop_.schedule(state_, state_->period);
}

void Timer::stop() {
    loop_.cancel(*state_);
}

bool Timer::active() const {
    return state_->start != 0;
}

} // namespace cxemu
