// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Links: two endpoints connected in memory.
///
/// The event loop delivers sent packets in order, never from within the call of the sender. It also
/// negotiates training: an endpoint that changes its offer calls Link::renegotiate(), and both
/// endpoints are notified of the result later.
#pragma once

#include "base/event_loop.hpp"
#include "fabric/link_rate.hpp"
#include "fabric/packet.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cxemu::fabric {

/// What an endpoint offers to link training.
struct LinkOffer {
    enum class Training : std::uint8_t {
        off,       ///< disabled: never trains
        listening, ///< sleeping: trains when the peer is polling
        polling,   ///< polling: starts training
    };
    Training training = Training::polling;
    WidthMask widths = mask_of(LinkWidth::x4);
    SpeedMask speeds = mask_of(LaneSpeed::sdr);

    bool operator==(const LinkOffer&) const = default;
};

/// One endpoint of a link.
class Endpoint {
public:
    Endpoint() = default;
    virtual ~Endpoint() = default;
    Endpoint(const Endpoint&) = delete;
    Endpoint& operator=(const Endpoint&) = delete;

    /// A packet has arrived. It may be corrupted.
    virtual void receive(Packet packet) = 0;

    /// The link has been trained, or is down (nothing).
    virtual void link_changed(std::optional<LinkRate> rate) = 0;

    /// The present offer of the endpoint.
    [[nodiscard]] virtual LinkOffer link_offer() const = 0;
};

/// Direction of a packet on a link.
enum class LinkDirection : std::uint8_t { from_first, from_second };

class Link {
public:
    /// Is called for every packet as the receiver gets it.
    using Tap = std::function<void(const Link&, LinkDirection, const Packet&)>;
    /// Receives every packet instead of the receiver, and forwards it now or later with
    /// Link::deliver(). For fault plans.
    using Filter = std::function<void(Link&, LinkDirection, Packet)>;

    /// Connects two endpoints, which must call detach() or outlive the link. Training starts from
    /// the event loop.
    Link(EventLoop& loop, std::string name, Endpoint& first, Endpoint& second);
    ~Link();
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    /// "hca0/1 - switch0/3"
    [[nodiscard]] const std::string& name() const;

    /// Sends a packet from an endpoint. \return false when the link is not trained: the packet is
    /// lost
    bool send(const Endpoint& from, Packet packet);

    /// An endpoint has changed its offer, or (\p retrain) requests retraining.
    void renegotiate(bool retrain = false);

    /// Connects or disconnects the cable.
    void set_plugged(bool plugged);
    [[nodiscard]] bool plugged() const;

    /// Width and speed of the link; nothing while it is down.
    [[nodiscard]] std::optional<LinkRate> rate() const;

    void add_tap(Tap tap);
    /// An empty filter delivers everything.
    void set_filter(Filter filter);
    /// Queues a packet for the receiver in \p direction.
    void deliver(LinkDirection direction, Packet packet);

private:
    struct State; ///< outlives the link while calls are deferred
    std::shared_ptr<State> state_;
};

} // namespace cxemu::fabric
