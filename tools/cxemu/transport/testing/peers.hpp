// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Two HCAs connected by one link, and the software that uses them. The test controls which packets
/// arrive, and the time.
#pragma once

#include "base/event_loop.hpp"
#include "fabric/hca_port.hpp"
#include "fabric/link.hpp"
#include "fabric/tests/fixtures.hpp"
#include "queues/queue_pair.hpp"
#include "queues/testing/bench.hpp"
#include "transport/packet_transport.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <vector>

namespace cxemu::transport::testing {

/// A range of the bench's memory.
struct Data {
    std::uint64_t address = 0;
    std::uint32_t length = 0;
};

/// Of all datagram QPs.
inline constexpr std::uint32_t queue_key = 0x1234'5678;
/// Of all DCTs.
inline constexpr std::uint64_t dynamic_access_key = 0x0123'4567'89ab'cdef;

/// A send WR.
struct Send {
    queues::SendOpcode opcode = queues::SendOpcode::send;
    std::vector<Data> data{};
    Data remote{};                             ///< its length is ignored
    std::optional<std::uint32_t> remote_key{}; ///< nothing: the peer's mkey for all its memory
    std::optional<std::uint32_t> local_key{};  ///< nothing: the own mkey for all memory
    std::uint32_t immediate = 0;               ///< or the mkey to invalidate or to change
    std::uint32_t xrc_srq = 0;
    queues::Fence fence = queues::Fence::none;
    bool signaled = true;
    bool solicited = false;
    queues::AtomicOperands atomic{};
    std::vector<queues::AtomicOperands>
        more_words{};                     ///< of an atomic operation on more than 8 bytes
    std::uint32_t operand_size = 8;       ///< of a masked atomic operation, in bytes
    std::optional<std::uint8_t> op_mod{}; ///< of a masked atomic operation, if not operand_size's
    const queues::QueuePair* target = nullptr; ///< of a DCI; nullptr: the peer's first DCT
    std::uint64_t access_key = dynamic_access_key;
    std::uint16_t stream = 0;
    std::vector<std::byte> body{}; ///< of a local operation: segments after the control segment
};

/// A completion that software has polled.
struct Result {
    queues::CompletionOpcode opcode = queues::CompletionOpcode::requester;
    std::optional<queues::CompletionError> error{};
    std::uint16_t index = 0; ///< WQE index
    std::uint32_t byte_count = 0;
    std::uint32_t immediate = 0;
    bool solicited = false;

    [[nodiscard]] bool is_send() const {
        return opcode == queues::CompletionOpcode::requester ||
               opcode == queues::CompletionOpcode::requester_error;
    }
    bool operator==(const Result&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Result& result);

inline Result success(std::uint16_t index, std::uint32_t bytes = 0) {
    return {.index = index, .byte_count = bytes};
}
inline Result failure(std::uint16_t index, queues::CompletionError error) {
    return {.opcode = queues::CompletionOpcode::requester_error, .error = error, .index = index};
}
inline Result received(std::uint32_t bytes,
                       queues::CompletionOpcode opcode = queues::CompletionOpcode::send,
                       std::uint32_t immediate = 0, std::uint16_t index = 0) {
    return {.opcode = opcode, .index = index, .byte_count = bytes, .immediate = immediate};
}
inline Result receive_failure(std::uint16_t index, queues::CompletionError error) {
    return {.opcode = queues::CompletionOpcode::responder_error, .error = error, .index = index};
}

/// Payload bytes of a packet, unless ConnectionOptions differ.
inline constexpr std::uint32_t mtu = 256;

/// Configuration of the two QPs.
struct ConnectionOptions {
    queues::ServiceType service = queues::ServiceType::reliable_connection;
    std::uint8_t mtu_code = 1; ///< mtu
    std::uint32_t first_psn = 0x1000;
    std::uint8_t timeout_code = 14; ///< 67 ms
    std::uint8_t retries = 7;
    std::uint8_t not_ready_retries = 7; ///< 7: infinite
    std::uint8_t not_ready_timer = 12;  ///< 640 us
    std::uint8_t log_reads = 2;         ///< reads and atomics at a time, log2
    bool may_read = true;               ///< access rights of the peer
    bool may_write = true;
    bool may_atomic = true;
    std::uint8_t atomic_mode = 5; ///< up to 32 bytes
    std::uint32_t log_sends = 8;
    std::uint32_t log_receives = 6;
    bool shares_receives = false;   ///< the second QP receives from an SRQ
    bool matches_tags = false;      ///< the second side receives from an XRQ with tag matching
    bool fetches_rendezvous = true; ///< with rendezvous offload
    std::uint32_t log_streams = 0;  ///< of a DCI
    std::uint32_t log_failed = 0;   ///< of its streams
    bool memory_faults = false;     ///< page faults name the memory, as on ConnectX-7
    hca::SignatureStop signature_stop = hca::SignatureStop::next;
    hca::SignatureReport signature_report = hca::SignatureReport::before;
};

/// Half of an XRC connection of a side: the initiator sends, the target receives.
enum class Role : std::uint8_t { both, initiator, target };

/// One side: an HCA and its software.
class Peer {
public:
    static constexpr std::uint32_t log_completions = 10;

    Peer(EventLoop& loop, unsigned number, const ConnectionOptions& options);
    ~Peer();
    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;

    /// Creates the QP, in RESET.
    void make_queue_pair(const ConnectionOptions& options, Role role);
    /// Creates a DCT, which is the QP of this side if it has none. It receives from the SRQ of the
    /// side.
    queues::QueuePair& make_target(const ConnectionOptions& options);
    /// Posts to the SRQ.
    void post_to_pool(const Data& data) { post_shared(*pool_, pooled_++, data); }
    /// From RESET to RTR, and to RTS.
    void connect(const ConnectionOptions& options, const Peer& other);
    void to_rts(const ConnectionOptions& options);
    /// SQD to RTS. \pre the send queue has drained
    void resume_sends(const ConnectionOptions& options);
    /// Back to RESET: software restarts its queues.
    void reset_queue_pair();

    /// Memory filled with bytes that count up from \p seed.
    Data fill(std::size_t size, unsigned seed);
    /// Zeroed memory.
    Data space(std::size_t size);
    [[nodiscard]] std::vector<std::byte> contents(const Data& data);

    /// Posts WRs and rings the doorbell once.
    void post(std::span<const Send> sends);
    void post(const Send& send) { post(std::span(&send, 1)); }
    void post_receive(const std::vector<Data>& data, std::optional<std::uint32_t> key = {});
    void post_shared(queues::SharedReceiveQueue& queue, std::uint16_t slot, const Data& data,
                     std::optional<std::uint32_t> key = {});

    /// The WQE index of the next send WR.
    [[nodiscard]] std::uint16_t next_send() const { return sent_; }
    /// Completions since the last call.
    std::vector<Result> poll();
    /// EQEs of a type since the bench was set up.
    std::size_t events(hca::EventType type);
    /// The newest EQE. \pre there is one
    [[nodiscard]] hwtab::ConstView<hwtab::eqe> last_event();
    [[nodiscard]] queues::EventQueue& event_queue() { return *events_; }

    [[nodiscard]] queues::QueuePair& queue_pair() { return *queue_pair_; }
    [[nodiscard]] const queues::QueuePair& queue_pair() const { return *queue_pair_; }
    [[nodiscard]] queues::QueueCounts& counts() { return queue_pair_->counts(); }
    [[nodiscard]] std::uint32_t key() const { return key_; }
    /// Of an XRC target: the SRQ of its XRC domain.
    [[nodiscard]] queues::XrcSharedReceiveQueue& xrc_queue() { return *xrc_queue_; }
    [[nodiscard]] std::uint32_t xrc_domain() const { return xrc_domain_; }
    /// The receive queue of a side with tag matching.
    [[nodiscard]] queues::ExtendedReceiveQueue& tag_queue() { return *tag_queue_; }
    [[nodiscard]] queues::CompletionQueue& completions() { return *completions_; }

    fabric::HcaPort port;
    queues::testing::Bench bench;
    const Peer* other = nullptr;
    std::optional<fabric::Lid> destination_lid; ///< of DC, instead of the peer's

private:
    friend class Peers;
    std::vector<std::byte> encode(const Send& send) const;
    void append_operation(std::vector<std::byte>& bytes, const Send& send) const;

    PacketTransport* transport_ = nullptr;
    queues::EventQueue* events_ = nullptr;
    queues::CompletionQueue* completions_ = nullptr;
    queues::QueuePair* queue_pair_ = nullptr;
    queues::ReceiveMemoryPool* pool_ = nullptr;
    queues::XrcSharedReceiveQueue* xrc_queue_ = nullptr;
    queues::ExtendedReceiveQueue* tag_queue_ = nullptr;
    std::uint32_t xrc_domain_ = 0;
    std::uint32_t key_ = 0;
    std::uint16_t sent_ = 0;     ///< WQEBBs
    std::uint16_t received_ = 0; ///< WQEs
    std::uint16_t pooled_ = 0;   ///< WQEs
    std::uint32_t polled_ = 0;
};

class Peers {
public:
    explicit Peers(const ConnectionOptions& options = {});

    /// Moves both QPs to RTS.
    void connect();

    /// Runs the event loop until idle, without advancing the time.
    void settle();
    void advance(EventLoop::Duration time);
    /// Advances the time in steps until the given number of steps was idle; two seconds by default.
    void run(EventLoop::Duration step = std::chrono::milliseconds(5), int idle_steps = 400);

    /// Decides how often each packet on the link arrives. The number counts from 0.
    using Fate = std::function<int(std::size_t number, const fabric::ParsedPacket& packet)>;
    void set_fate(Fate fate);
    /// Packets are randomly lost, duplicated or reordered, each with this probability.
    void make_unreliable(double chance, unsigned seed);
    /// Intercepts all packets of the link; it may hold some back. See fabric::Link::Filter.
    void set_filter(fabric::Link::Filter filter);
    /// Packets that this side has sent since the last call.
    std::vector<fabric::PacketHeaders> take_packets();

    ConnectionOptions options;
    fabric::testing::ManualLoop time;
    Peer first;
    Peer second;

private:
    void activate(Peer& peer, fabric::Lid lid);

    fabric::Link link_;
    std::vector<fabric::PacketHeaders> packets_;
    std::size_t activity_ = 0;
    std::size_t packet_count_ = 0;
};

} // namespace cxemu::transport::testing
