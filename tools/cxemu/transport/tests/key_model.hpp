// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// What memory keys allow according to the InfiniBand Architecture Specification, volume 1: 10.6
/// (memory regions and windows, fast registration, invalidation, locally and by the peer), 9.7.4.1
/// and 9.9 (what responders check, and how both sides end), 10.8.3.3 (order of requests). Masked
/// atomics are those of verbs; extended ones have operands of 4 to 32 bytes, all words of which
/// must compare before one is swapped. It knows nothing of packets, nor of how cxemu does it.
///
/// One side acts at a time; when the other begins to, everything has come to rest.
#pragma once

#include "transport/tests/reference_model.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cxemu::transport::model {

/// A byte of memory that may have one of several values is not certain.
struct Byte {
    std::byte value{};
    bool certain = true;
};

struct Rights {
    bool local_write = false; ///< a region can always be read locally
    bool remote_read = false;
    bool remote_write = false;
    bool remote_atomic = false;
};

enum class Right : std::uint8_t {
    local_read,
    local_write,
    remote_read,
    remote_write,
    remote_atomic
};

/// A piece of the memory of a side.
struct Piece {
    std::uint32_t offset = 0;
    std::uint32_t length = 0;
};

/// Pieces at equal distances.
struct Block {
    std::uint32_t offset = 0; ///< of the first one
    std::uint32_t length = 0;
    std::uint32_t stride = 0;
};

/// What registration makes of a region, and binding of a window.
struct Registration {
    std::uint8_t variant = 0; ///< the part of the key that software chooses
    std::uint64_t start = 0;  ///< the address of its first byte
    std::uint64_t length = 0; ///< bytes
    Rights rights{};
    std::vector<Piece> pieces{};      ///< a region: what it consists of; at least length bytes
    std::vector<Block> blocks{};      ///< a strided region: what takes turns
    std::uint32_t repeats = 0;        ///< ... so often
    std::size_t region = 0;           ///< a window: which region it shows
    std::uint8_t region_variant = 0;  ///< ... as it was when the window was bound
    std::uint64_t region_address = 0; ///< ... and from where on
};

enum class KeyKind : std::uint8_t {
    page_region,
    piece_region,   ///< of any length
    fixed_region,   ///< of pieces as long as a page, anywhere
    strided_region, ///< of blocks that take turns
    window_type_1,
    window_type_2
};
std::string_view name_of(KeyKind kind);

struct Key {
    KeyKind kind = KeyKind::page_region;
    bool valid = false;               ///< else it is free
    bool of_other_domain = false;     ///< belongs to a protection domain that isn't the queue's
    bool of_other_queue_pair = false; ///< a window of type 2 that another queue pair has bound
    bool peer_may_invalidate = false; ///< a region that allows it, or a window of type 2
    Registration is{};

    [[nodiscard]] bool is_window() const {
        return kind == KeyKind::window_type_1 || kind == KeyKind::window_type_2;
    }
};

/// A range of memory as a request names it.
struct Use {
    std::size_t key = 0;
    std::uint8_t variant = 0;
    std::uint64_t address = 0;
    std::uint32_t length = 0;
};

enum class Act : std::uint8_t {
    send,
    send_immediate,
    send_invalidate, ///< invalidates the peer's key that remote names
    write,
    write_immediate,
    read,
    compare_swap,
    fetch_add,
    masked_compare_swap,
    masked_fetch_add,
    extended_compare_swap,
    extended_fetch_add,
    registration, ///< of a region, or binding of a window: an own key becomes what the action says
    page_change,  ///< two pages of an own region in use become others
    invalidation, ///< of an own key
};

std::string_view name_of(Act act);
bool takes_receive(Act act);
bool is_send(Act act);
bool is_atomic(Act act);
bool is_extended(Act act);
/// Whether unreliable connections have it.
bool is_unreliable(Act act);
/// Changes a key of the side itself, without the peer.
bool is_local(Act act);

/// Operands of atomics.
struct Operands {
    std::uint64_t swap_or_add = 0;
    std::uint64_t compare = 0;
    std::uint64_t swap_or_add_mask =
        0; ///< bits to swap; of additions: the highest bit of each field
    std::uint64_t compare_mask = 0;
};

/// For what an action waits before it begins.
enum class Order : std::uint8_t { none, reads, everything };

struct Action {
    std::size_t side = 0;
    Act act = Act::send;
    Use local{};   ///< what is sent; where an answer goes
    Use remote{};  ///< what is written or read, or the key to be invalidated
    Use receive{}; ///< buffer of the peer
    bool receive_is_late = false;
    Operands operands{};
    std::vector<Operands> more_words{}; ///< of an extended atomic on 16 or 32 bytes
    std::uint32_t number = 0;           ///< its immediate data
    Order order = Order::none;
    bool signaled = true;
    std::size_t key = 0;          ///< the own key that changes
    Registration registration{};  ///< ... into this; with page_change pieces: the new ones
    std::size_t entry = 0;        ///< with page_change: the first of two entries
    bool demands_free = false;    ///< it is an error if the key is in use
    bool lists_in_memory = false; ///< the device fetches the pages or pieces
};

/// Where something is wrong with an action.
struct Faults {
    bool local = false;       ///< the memory that it sends, or where the answer is to go
    bool remote = false;      ///< the memory of the peer that it names
    bool receive = false;     ///< the peer's buffer
    bool invalidated = false; ///< the peer's key that it invalidates
    bool own_key = false;     ///< the key that it changes

    [[nodiscard]] bool any() const { return local || remote || receive || invalidated || own_key; }
};

/// Memory of a side and the keys for it.
struct Side {
    std::vector<Byte> memory{};
    std::vector<Key> keys{};
    std::vector<Completion> sends{};    ///< expected; index: number of the action of this side
    std::vector<Completion> receives{}; ///< expected; index: in the order of posting
    std::size_t actions = 0;
    std::size_t receives_posted = 0;
};

/// What differs between connections.
struct Rules {
    bool shares_receives = false; ///< with a queue that outlives a failure
    bool unreliable = false;
    bool answers_of_host =
        false; ///< to atomics on 8 bytes: in the order of the host, not of networks
};

class KeyModel {
public:
    static constexpr std::uint32_t page = 4096;
    static constexpr std::uint32_t pages = 16;
    static constexpr std::uint32_t memory_size = page * pages;

    KeyModel(std::array<Side, 2> sides, const Rules& rules)
        : sides_(std::move(sides)), rules_(rules) {}

    [[nodiscard]] const Side& side(std::size_t which) const { return sides_.at(which); }
    [[nodiscard]] Faults judge(const Action& action) const;
    /// Whether what the action does is defined only when requests before it have ended.
    [[nodiscard]] bool needs_rest(const Action& action) const;
    /// The action has been posted. \return false when the connection ends with it
    bool carry_out(const Action& action);
    /// Posted behind the one with which the connection has ended.
    void flush(const Action& action);
    /// All that has been posted has ended.
    void rest() { outstanding_.clear(); }
    /// The connection has ended, and nothing else will be posted: receives that are left.
    void flush_receives();

    /// Where \p use leads, as far as it is allowed.
    struct Found {
        std::vector<std::uint32_t> offsets; ///< of each byte, in the memory of the side
        bool allowed = true;
    };
    [[nodiscard]] Found find(std::size_t side, const Use& use, Right right) const;
    [[nodiscard]] bool may_invalidate(std::size_t side, const Use& use) const;
    /// Whether an atomic operation can be done on what \p use names: it lies in one piece, on a
    /// multiple of its size.
    [[nodiscard]] bool is_operand(std::size_t side, const Use& use) const;
    [[nodiscard]] const Rules& rules() const { return rules_; }

private:
    /// A request whose end isn't known yet.
    struct UnderWay {
        Action action;
        std::vector<std::uint32_t> from; ///< of a read or atomic: in the memory of the peer
        std::vector<std::uint32_t> to;   ///< ... in the own memory
        [[nodiscard]] bool is_answered() const { return !to.empty(); }
    };

    void wait_for(Order order);
    void fail(const Action& action, const Faults& faults);
    void fail_peer(const Action& action, Status status);
    void doubt_failed(const Action& action, const Faults& faults);
    void succeed(const Action& action);
    [[nodiscard]] std::vector<Byte> answer_of(std::vector<Byte> before) const;
    void change_key(const Action& action);
    void send(const Action& action);
    void write(const Action& action);
    void read(const Action& action);
    void change_atomically(const Action& action);
    void complete_receive(const Action& action);
    std::vector<Byte> gather(std::size_t side, const std::vector<std::uint32_t>& from) const;
    void store(std::size_t side, const std::vector<std::uint32_t>& to, std::span<const Byte> data);
    void doubt(std::size_t side, const std::vector<std::uint32_t>& where);

    std::array<Side, 2> sides_;
    Rules rules_;
    std::vector<UnderWay> outstanding_;
    std::optional<std::size_t> failed_side_; ///< whose receives are flushed
};

/// The values of memory after the operation. \param bits of each
std::vector<std::uint64_t> apply_atomically(Act act, std::span<const Operands> operands,
                                            std::vector<std::uint64_t> before, unsigned bits);

/// The right that the peer's key needs. \pre the act names memory of the peer
Right remote_right(Act act);
bool names_memory(Act act);

} // namespace cxemu::transport::model
