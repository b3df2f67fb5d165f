// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Reference model of memory keys according to the InfiniBand Architecture Specification, volume 1:
/// 10.6 (memory regions and windows, fast registration, local and remote invalidation), 9.7.4.1 and
/// 9.9 (checks of the responder, errors on both sides), 10.8.3.3 (ordering). Masked atomics are
/// those of verbs; extended ones have operands of 4 to 32 bytes, of which all words must compare
/// equal before one is swapped. The model depends neither on packets nor on the implementation in
/// cxemu.
///
/// One side acts at a time, and all its requests have completed before the other side starts.
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

/// A byte of memory is uncertain if it may have one of several values.
struct Byte {
    std::byte value{};
    bool certain = true;
};

struct Rights {
    bool local_write = false; ///< local read is always allowed
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

/// A range of the memory of a side.
struct Piece {
    std::uint32_t offset = 0;
    std::uint32_t length = 0;
};

/// Equidistant ranges.
struct Block {
    std::uint32_t offset = 0; ///< of the first one
    std::uint32_t length = 0;
    std::uint32_t stride = 0;
};

/// Contents of a registered region or a bound window.
struct Registration {
    std::uint8_t variant = 0; ///< variant: the low byte of the key, chosen by software
    std::uint64_t start = 0;  ///< the address of its first byte
    std::uint64_t length = 0; ///< bytes
    Rights rights{};
    std::vector<Piece> pieces{};      ///< ranges of a region; at least length bytes
    std::vector<Block> blocks{};      ///< interleaved ranges of a strided region
    std::uint32_t repeats = 0;        ///< repeat count of a strided region
    std::size_t region = 0;           ///< region of a window
    std::uint8_t region_variant = 0;  ///< variant of the region when the window was bound
    std::uint64_t region_address = 0; ///< address of the window in the region
};

enum class KeyKind : std::uint8_t {
    page_region,
    piece_region,   ///< ranges of any length
    fixed_region,   ///< page-sized ranges at any address
    strided_region, ///< interleaved blocks
    window_type_1,
    window_type_2
};
std::string_view name_of(KeyKind kind);

struct Key {
    KeyKind kind = KeyKind::page_region;
    bool valid = false;               ///< else free
    bool of_other_domain = false;     ///< in another PD than the QP
    bool of_other_queue_pair = false; ///< a type 2 window bound to another QP
    bool peer_may_invalidate = false; ///< a region that allows it, or a type 2 window
    Registration is{};

    [[nodiscard]] bool is_window() const {
        return kind == KeyKind::window_type_1 || kind == KeyKind::window_type_2;
    }
};

/// A range of memory as addressed by a request.
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
    registration, ///< of a region, or window bind: an own key becomes the registration of the
                  ///< action
    page_change,  ///< two pages of an own valid region are replaced
    invalidation, ///< of an own key
};

std::string_view name_of(Act act);
bool takes_receive(Act act);
bool is_send(Act act);
bool is_atomic(Act act);
bool is_extended(Act act);
/// Whether UC supports it.
bool is_unreliable(Act act);
/// Changes an own key, without the peer.
bool is_local(Act act);

/// Operands of atomics.
struct Operands {
    std::uint64_t swap_or_add = 0;
    std::uint64_t compare = 0;
    std::uint64_t swap_or_add_mask = 0; ///< bits to swap; for additions the top bit of each field
    std::uint64_t compare_mask = 0;
};

/// The fence of an action.
enum class Order : std::uint8_t { none, reads, everything };

struct Action {
    std::size_t side = 0;
    Act act = Act::send;
    Use local{};   ///< source data, or destination of a response
    Use remote{};  ///< remote memory, or the key to be invalidated
    Use receive{}; ///< buffer of the peer
    bool receive_is_late = false;
    Operands operands{};
    std::vector<Operands> more_words{}; ///< of an extended atomic on 16 or 32 bytes
    std::uint32_t number = 0;           ///< its immediate data
    Order order = Order::none;
    bool signaled = true;
    std::size_t key = 0;          ///< the own key that is changed
    Registration registration{};  ///< its new registration; for page_change the new pages
    std::size_t entry = 0;        ///< for page_change: the first of two entries
    bool demands_free = false;    ///< fails if the key is valid
    bool lists_in_memory = false; ///< the device fetches the pages or KLMs from memory
};

/// Faults of an action.
struct Faults {
    bool local = false;       ///< local source or destination memory
    bool remote = false;      ///< remote memory
    bool receive = false;     ///< receive buffer of the peer
    bool invalidated = false; ///< the peer's key that it invalidates
    bool own_key = false;     ///< the own key that it changes

    [[nodiscard]] bool any() const { return local || remote || receive || invalidated || own_key; }
};

/// Memory and keys of a side.
struct Side {
    std::vector<Byte> memory{};
    std::vector<Key> keys{};
    std::vector<Completion> sends{};    ///< expected; index: number of the action of this side
    std::vector<Completion> receives{}; ///< expected; index: in the order of posting
    std::size_t actions = 0;
    std::size_t receives_posted = 0;
};

/// Properties of the connection.
struct Rules {
    bool shares_receives = false; ///< with an SRQ, which outlives a failure
    bool unreliable = false;
    bool host_order_atomics = false; ///< responses to 8-byte atomics, not in network order
};

class KeyModel {
public:
    static constexpr std::uint32_t page = 4096;
    static constexpr std::uint32_t pages = 16;
    static constexpr std::uint32_t memory_size = page * pages;

    KeyModel(std::array<Side, 2> sides, const Rules& rules)
        : sides_(std::move(sides)), rules_(rules) {}

    [[nodiscard]] const Side& side(std::size_t which) const { return sides_.at(which); }
    [[nodiscard]] Faults check(const Action& action) const;
    /// Whether the action is defined only after earlier requests have completed.
    [[nodiscard]] bool needs_rest(const Action& action) const;
    /// Posts the action. \return false when it fails the connection
    bool carry_out(const Action& action);
    /// Posts the action after the failed one.
    void flush(const Action& action);
    /// Everything that was posted has completed.
    void rest() { outstanding_.clear(); }
    /// The connection has failed, and nothing else will be posted: flushes the remaining receives.
    void flush_receives();

    /// Memory addressed by \p use, as far as it is allowed.
    struct Found {
        std::vector<std::uint32_t> offsets; ///< of each byte, in the memory of the side
        bool allowed = true;
    };
    [[nodiscard]] Found find(std::size_t side, const Use& use, Right right) const;
    [[nodiscard]] bool may_invalidate(std::size_t side, const Use& use) const;
    /// Whether \p use is a valid atomic operand: contiguous, and aligned to its size.
    [[nodiscard]] bool is_operand(std::size_t side, const Use& use) const;
    [[nodiscard]] const Rules& rules() const { return rules_; }

private:
    /// A request that may not have completed yet.
    struct Outstanding {
        Action action;
        std::vector<std::uint32_t> from; ///< of a read or atomic: in the remote memory
        std::vector<std::uint32_t> to;   ///< in the local memory
        [[nodiscard]] bool is_read_or_atomic() const { return !to.empty(); }
    };

    void wait_for(Order order);
    void fail(const Action& action, const Faults& faults);
    void fail_peer(const Action& action, Status status);
    void doubt_failed(const Action& action, const Faults& faults);
    void succeed(const Action& action);
    [[nodiscard]] std::vector<Byte> response_of(std::vector<Byte> before) const;
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
    std::vector<Outstanding> outstanding_;
    std::optional<std::size_t> failed_side_; ///< side whose receives are flushed
};

/// The values of memory after the operation. \param bits of each
std::vector<std::uint64_t> apply_atomically(Act act, std::span<const Operands> operands,
                                            std::vector<std::uint64_t> before, unsigned bits);

/// The remote access right that the act requires. \pre the act accesses remote memory
Right remote_right(Act act);
bool names_memory(Act act);

} // namespace cxemu::transport::model
