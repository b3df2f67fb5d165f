// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The transport of an HCA: turns work requests into packets and packets into completions.
///
/// ```
///   work queues ── requests ──► datagram sender ──► port ──► link
///        ▲                            └──► loopback ──┐
///        └── completions ◄── datagram receiver ◄──────┴── port bindings ◄── link
/// ```
///
/// This version carries datagrams: UD and the special queue pairs 0 and 1. Queue pairs of the
/// connected services can be made, but not connected: the transition to RTR is refused, so neither
/// side waits for packets that never come.
#pragma once

#include "hca/hca.hpp"
#include "hca/part.hpp"
#include "queues/transport.hpp"
#include "queues/work_queues.hpp"
#include "transport/datagram_receiver.hpp"
#include "transport/datagram_sender.hpp"
#include "transport/loopback.hpp"
#include "transport/multicast_groups.hpp"
#include "transport/port_binding.hpp"
#include "transport/special_queue_pairs.hpp"

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

namespace cxemu::transport {

struct SendStatistics {
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;     ///< of messages
    std::uint64_t discarded = 0; ///< by the port: link down, no virtual lane, ...
    std::uint64_t failed = 0;    ///< error completions
    std::uint64_t own_agent = 0; ///< SMPs that the agent of the own port answered
};

class PacketTransport final : public hca::Part, public queues::Transport {
public:
    /// Requests that a queue pair may start before it is the turn of the others.
    static constexpr int sends_per_turn = 16;

    /// \pre all ports and the WorkQueues have been added to \p hca; the ports outlive it
    explicit PacketTransport(hca::Hca& hca);
    ~PacketTransport() override;

    /// Lets go of the ports, which may be destroyed then.
    void release_ports() { bindings_.clear(); }

    [[nodiscard]] MulticastGroups& groups() { return groups_; }
    [[nodiscard]] const DatagramReceiver& receiver() const { return receiver_; }
    [[nodiscard]] const SendStatistics& sends() const { return sends_; }

    // --- queues::Transport
    void sends_posted(queues::QueuePair& queue_pair) override;
    void state_changed(queues::QueuePair& queue_pair, queues::QueuePairState from) override;
    void destroyed(queues::QueuePair& queue_pair) override;
    [[nodiscard]] bool carries(queues::ServiceType service) const override;

    // --- hca::Part
    [[nodiscard]] std::string_view name() const override { return "transport"; }
    void reset(pci::ResetCause cause) override;
    void function_torn_down() override;
    [[nodiscard]] nlohmann::json statistics() const override;

private:
    std::expected<void, SendFault> send(queues::QueuePair& queue_pair,
                                        const queues::SendRequest& request);
    void dispatch(fabric::HcaPort& port, const queues::QueuePair& queue_pair,
                  const Datagram& datagram, bool force_loopback);
    bool ask_own_agent(fabric::HcaPort& port, const queues::QueuePair& queue_pair,
                       const Datagram& datagram);
    void fail(queues::QueuePair& queue_pair, const queues::SendRequest& request, SendFault fault);
    void forget_everything();

    hca::Hca& hca_;
    queues::WorkQueues& queues_;
    MulticastGroups groups_;
    SpecialQueuePairs special_;
    DatagramReceiver receiver_;
    Loopback loopback_;
    std::vector<std::unique_ptr<PortBinding>> bindings_;
    SendStatistics sends_;
};

} // namespace cxemu::transport
