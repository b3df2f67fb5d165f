// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/link.hpp"

#include <utility>

namespace cxemu::fabric {

struct Link::State {
    State(EventLoop& event_loop, std::string link_name, Endpoint& first, Endpoint& second)
        : loop(event_loop), name(std::move(link_name)), ends{&first, &second} {}

    struct InFlight {
        LinkDirection direction;
        Packet packet;
    };

    EventLoop& loop;
    std::string name;
    std::array<Endpoint*, 2> ends; ///< empty once the link is destroyed
    bool plugged = true;
    bool retrain_wanted = false;
    bool training_due = false;
    bool delivery_due = false;
    std::optional<LinkRate> rate;
    std::deque<InFlight> in_flight;
    std::vector<Tap> taps;
    Filter filter;

    [[nodiscard]] Endpoint* receiver(LinkDirection direction) const {
        return direction == LinkDirection::from_first ? ends[1] : ends[0];
    }

    [[nodiscard]] std::optional<LinkRate> negotiated() const {
        using Training = LinkOffer::Training;
        if (!plugged)
            return std::nullopt;
        const LinkOffer first = ends[0]->link_offer();
        const LinkOffer second = ends[1]->link_offer();
        const bool either_off = first.training == Training::off || second.training == Training::off;
        const bool either_polls =
            first.training == Training::polling || second.training == Training::polling;
        if (either_off || !either_polls)
            return std::nullopt;
        return negotiate(first.widths & second.widths, first.speeds & second.speeds);
    }

    [[nodiscard]] bool gone() const { return ends[0] == nullptr; }

    /// Reports the outcome to both endpoints while the link exists.
    void announce(std::optional<LinkRate> outcome) {
        rate = outcome;
        for (const std::size_t end : {0U, 1U})
            if (!gone())
                ends[end]->link_changed(outcome);
    }

    void train(const Link& link) {
        training_due = false;
        deliver_all(link);
        if (gone())
            return;
        const bool must_drop = std::exchange(retrain_wanted, false) || !plugged ||
                               ends[0]->link_offer().training == LinkOffer::Training::off ||
                               ends[1]->link_offer().training == LinkOffer::Training::off;
        if (rate && must_drop)
            announce(std::nullopt);
        if (gone() || rate)
            return;
        if (const auto outcome = negotiated())
            announce(outcome);
    }

    void deliver_all(const Link& link) {
        delivery_due = false;
        for (std::size_t left = in_flight.size(); left > 0 && !in_flight.empty(); --left) {
            InFlight next = std::move(in_flight.front());
            in_flight.pop_front();
            if (gone() || !rate)
                continue;
            for (const Tap& tap : taps)
                tap(link, next.direction, next.packet);
            receiver(next.direction)->receive(std::move(next.packet));
        }
    }
};

Link::Link(EventLoop& loop, std::string name, Endpoint& first, Endpoint& second)
    : state_(std::make_shared<State>(loop, std::move(name), first, second)) {
    renegotiate();
}

Link::~Link() {
    State& state = *state_;
    if (state.rate)
        state.announce(std::nullopt);
    state.ends = {};
    state.in_flight.clear();
}

const std::string& Link::name() const {
    return state_->name;
}

bool Link::send(const Endpoint& from, Packet packet) {
    if (!state_->rate)
        return false;
    const auto direction =
        &from == state_->ends[0] ? LinkDirection::from_first : LinkDirection::from_second;
    if (state_->filter)
        state_->filter(*this, direction, std::move(packet));
    else
        deliver(direction, std::move(packet));
    return true;
}

void Link::deliver(LinkDirection direction, Packet packet) {
    state_->in_flight.push_back({direction, std::move(packet)});
    if (std::exchange(state_->delivery_due, true))
        return;
    state_->loop.defer([this, state = state_] {
        if (!state->gone())
            state->deliver_all(*this);
    });
}

void Link::renegotiate(bool retrain) {
    state_->retrain_wanted |= retrain;
    if (std::exchange(state_->training_due, true))
        return;
    state_->loop.defer([this, state = state_] {
        if (!state->gone())
            state->train(*this);
    });
}

void Link::set_plugged(bool plugged) {
    state_->plugged = plugged;
    renegotiate();
}

bool Link::plugged() const {
    return state_->plugged;
}

std::optional<LinkRate> Link::rate() const {
    return state_->rate;
}

void Link::add_tap(Tap tap) {
    state_->taps.push_back(std::move(tap));
}

void Link::set_filter(Filter filter) {
    state_->filter = std::move(filter);
}

} // namespace cxemu::fabric
