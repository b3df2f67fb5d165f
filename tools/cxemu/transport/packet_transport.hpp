// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The transport of an HCA: turns WQEs into packets and packets into completions.
///
/// ```
///                  ┌─► datagram sender ─────────┐
///   work queues ───┤                            ├─► port ──► link
///        ▲         └─► connection ─ requester ──┤
///        │                        └ responder ──┼─► loopback ──┐
///        │                            ▲         ┘              │
///        └── completions ◄─┬──────────┴── by destination ◄─────┴── port bindings ◄── link
///                          └─ datagram receiver ◄─┘
/// ```
///
/// Datagrams (UD, QP0 and QP1) need no state here. Each QP of a connected service (RC, UC, XRC) and
/// each DCI has a Connection from RTR on, each DCT a Dct with a connection per DCI.
#pragma once

#include "hca/hca.hpp"
#include "hca/part.hpp"
#include "queues/transport.hpp"
#include "queues/work_queues.hpp"
#include "transport/connection.hpp"
#include "transport/datagram_receiver.hpp"
#include "transport/datagram_sender.hpp"
#include "transport/dct.hpp"
#include "transport/loopback.hpp"
#include "transport/multicast_groups.hpp"
#include "transport/port_binding.hpp"
#include "transport/send_scheduler.hpp"
#include "transport/special_queue_pairs.hpp"

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cxemu::transport {

struct SendStatistics {
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;     ///< of messages
    std::uint64_t discarded = 0; ///< by the port: link down, no VL, ...
    std::uint64_t failed = 0;    ///< error completions
    std::uint64_t own_agent = 0; ///< SMPs that the agent of the own port handled
};

class PacketTransport final : public hca::Part, public queues::Transport, public PacketReceiver {
public:
    /// Maximum number of WQEs that a QP may start per turn.
    static constexpr int sends_per_turn = 16;

    /// \pre all ports and the WorkQueues have been added to \p hca; the ports outlive it
    explicit PacketTransport(hca::Hca& hca);
    ~PacketTransport() override;

    /// Releases the ports, which may be destroyed then.
    void release_ports() { bindings_.clear(); }

    [[nodiscard]] MulticastGroups& groups() { return groups_; }
    [[nodiscard]] const DatagramReceiver& receiver() const { return receiver_; }
    [[nodiscard]] const SendStatistics& sends() const { return sends_; }

    // --- queues::Transport
    void sends_posted(queues::QueuePair& queue_pair) override;
    void state_changed(queues::QueuePair& queue_pair, queues::QueuePairState from) override;
    void attributes_changed(queues::QueuePair& queue_pair) override;
    void destroyed(queues::QueuePair& queue_pair) override;
    void refresh(queues::QueuePair& queue_pair) override;
    void page_fault_resumed(queues::QueuePair& queue_pair, std::uint32_t token,
                            bool resolved) override;

    // --- PacketReceiver
    void receive(fabric::HcaPort& port, const fabric::ParsedPacket& packet,
                 std::optional<std::uint32_t> sender) override;

    // --- hca::Part
    [[nodiscard]] std::string_view name() const override { return "transport"; }
    void reset(pci::ResetCause cause) override;
    void function_torn_down() override;
    [[nodiscard]] nlohmann::json statistics() const override;

private:
    void give_turn(std::uint32_t queue_pair);
    void target_changed(queues::QueuePair& queue_pair);
    void send_datagrams(queues::QueuePair& queue_pair);
    [[nodiscard]] Connection* find_connection(std::uint32_t queue_pair) const;
    std::expected<void, SendFault> send(queues::QueuePair& queue_pair,
                                        const queues::SendWqe& request);
    void dispatch(fabric::HcaPort& port, const queues::QueuePair& queue_pair,
                  const Datagram& datagram, bool force_loopback);
    bool ask_own_agent(fabric::HcaPort& port, const queues::QueuePair& queue_pair,
                       const Datagram& datagram);
    void fail(queues::QueuePair& queue_pair, const queues::SendWqe& request, SendFault fault);
    bool stall(queues::QueuePair& queue_pair, const queues::SendWqe& request);
    void forget_everything();

    hca::Hca& hca_;
    queues::WorkQueues& queues_;
    MulticastGroups groups_;
    SpecialQueuePairs special_;
    DatagramReceiver receiver_;
    Loopback loopback_;
    SendScheduler turns_;
    ConnectionNumbers numbers_;
    std::unordered_map<std::uint32_t, std::unique_ptr<Connection>> connections_;
    /// QPs whose next datagram waits for a page: the page fault tokens.
    std::unordered_map<std::uint32_t, std::uint32_t> stalled_;
    std::unordered_map<std::uint32_t, std::unique_ptr<Dct>> targets_;
    std::vector<std::unique_ptr<PortBinding>> bindings_;
    SendStatistics sends_;
};

} // namespace cxemu::transport
