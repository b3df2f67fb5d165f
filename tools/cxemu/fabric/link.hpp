// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Links: two ends joined in memory.
///
/// A packet that is sent is delivered through the event loop, in order, never from within the
/// sender's call. Training is negotiated the same way: whoever changes what an end offers calls
/// Link::renegotiate(), and both ends hear of the outcome later.
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

/// What an end of a link wants from the physical layer.
struct LinkOffer {
    enum class Training : std::uint8_t {
        off,       ///< disabled: never trains
        listening, ///< sleeping: trains when the other end asks for it
        polling,   ///< asks for training
    };
    Training training = Training::polling;
    WidthMask widths = mask_of(LinkWidth::x4);
    SpeedMask speeds = mask_of(LaneSpeed::sdr);

    bool operator==(const LinkOffer&) const = default;
};

/// One end of a link.
class Endpoint {
public:
    Endpoint() = default;
    virtual ~Endpoint() = default;
    Endpoint(const Endpoint&) = delete;
    Endpoint& operator=(const Endpoint&) = delete;

    /// A packet has arrived. It may be damaged.
    virtual void receive(Packet packet) = 0;

    /// The link has been trained, or lost (nothing).
    virtual void link_changed(std::optional<LinkRate> rate) = 0;

    /// What the end offers now.
    [[nodiscard]] virtual LinkOffer link_offer() const = 0;
};

/// Direction of a packet on a link.
enum class LinkDirection : std::uint8_t { from_first, from_second };

class Link {
public:
    /// Sees every packet as the receiver gets it.
    using Tap = std::function<void(const Link&, LinkDirection, const Packet&)>;
    /// Gets every packet instead of the receiver; it passes on what it likes, now or later, with
    /// Link::deliver(). For fault plans.
    using Filter = std::function<void(Link&, LinkDirection, Packet)>;

    /// Joins two ends, which must call detach() or be destroyed after the link. The link trains by
    /// itself soon after.
    Link(EventLoop& loop, std::string name, Endpoint& first, Endpoint& second);
    ~Link();
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    /// "hca0/1 - switch0/3"
    [[nodiscard]] const std::string& name() const;

    /// Sends a packet from an end. \return false when the link is not trained: the packet is lost
    bool send(const Endpoint& from, Packet packet);

    /// An end offers something else, or (\p retrain) wants the link to train anew.
    void renegotiate(bool retrain = false);

    /// Takes the cable out, or puts it in.
    void set_plugged(bool plugged);
    [[nodiscard]] bool plugged() const;

    /// How the link runs; nothing while it is down.
    [[nodiscard]] std::optional<LinkRate> rate() const;

    void add_tap(Tap tap);
    /// An empty filter passes everything.
    void set_filter(Filter filter);
    /// Puts a packet into the queue to the end that \p direction leads to.
    void deliver(LinkDirection direction, Packet packet);

private:
    struct State; ///< outlives the link while calls are deferred
    std::shared_ptr<State> state_;
};

} // namespace cxemu::fabric
