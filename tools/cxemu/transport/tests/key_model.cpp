// SPDX-License-Identifier: GPL-2.0-or-later
#include "transport/tests/key_model.hpp"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <utility>

namespace cxemu::transport::model {

namespace {

constexpr std::uint32_t atomic_size = 8;

bool has(const Rights& rights, Right right) {
    switch (right) {
    case Right::local_read:
        return true;
    case Right::local_write:
        return rights.local_write;
    case Right::remote_read:
        return rights.remote_read;
    case Right::remote_write:
        return rights.remote_write;
    case Right::remote_atomic:
        return rights.remote_atomic;
    }
    return false;
}

bool changes_memory(Right right) {
    return right != Right::local_read && right != Right::remote_read;
}

bool is_within(const Registration& registration, const Use& use) {
    return use.address >= registration.start &&
           use.address - registration.start <= registration.length &&
           use.length <= registration.length - (use.address - registration.start);
}

bool meet(const std::vector<std::uint32_t>& first, const std::vector<std::uint32_t>& second) {
    std::vector<bool> touched(KeyModel::memory_size);
    for (const std::uint32_t offset : first)
        touched[offset] = true;
    return std::ranges::any_of(second, [&](std::uint32_t offset) { return touched[offset]; });
}

/// Little-endian value, as in host memory.
std::uint64_t number_in(std::span<const Byte> bytes) {
    std::uint64_t value = 0;
    for (const Byte& byte : std::views::reverse(bytes))
        value = value << 8U | std::to_integer<std::uint64_t>(byte.value);
    return value;
}

std::vector<std::uint64_t> numbers_in(std::span<const Byte> bytes, std::size_t width) {
    std::vector<std::uint64_t> values;
    for (; !bytes.empty(); bytes = bytes.subspan(width))
        values.push_back(number_in(bytes.first(width)));
    return values;
}

std::size_t width_of_words(std::size_t size) {
    return std::min<std::size_t>(size, atomic_size);
}

bool bit(std::uint64_t value, unsigned number) {
    return (value >> number & 1U) != 0;
}

bool is_swap(Act act) {
    return act == Act::compare_swap || act == Act::masked_compare_swap ||
           act == Act::extended_compare_swap;
}

bool has_masks(Act act) {
    return is_atomic(act) && act != Act::compare_swap && act != Act::fetch_add;
}

} // namespace

// --- Names ---------------------------------------------------------------------------------------

std::string_view name_of(KeyKind kind) {
    constexpr std::array<std::string_view, 6> names{"region of pages",  "region of pieces",
                                                    "region of ranges", "strided region",
                                                    "window of type 1", "window of type 2"};
    return names.at(static_cast<std::size_t>(kind));
}

std::string_view name_of(Act act) {
    constexpr std::array<std::string_view, 15> names{"send",
                                                     "send_immediate",
                                                     "send_invalidate",
                                                     "write",
                                                     "write_immediate",
                                                     "read",
                                                     "compare_swap",
                                                     "fetch_add",
                                                     "masked_compare_swap",
                                                     "masked_fetch_add",
                                                     "extended_compare_swap",
                                                     "extended_fetch_add",
                                                     "registration",
                                                     "page_change",
                                                     "invalidation"};
    return names.at(static_cast<std::size_t>(act));
}

bool is_send(Act act) {
    return act == Act::send || act == Act::send_immediate || act == Act::send_invalidate;
}

bool takes_receive(Act act) {
    return is_send(act) || act == Act::write_immediate;
}

bool is_atomic(Act act) {
    return act == Act::compare_swap || act == Act::fetch_add || act == Act::masked_compare_swap ||
           act == Act::masked_fetch_add || is_extended(act);
}

bool is_extended(Act act) {
    return act == Act::extended_compare_swap || act == Act::extended_fetch_add;
}

bool is_unreliable(Act act) {
    return act != Act::send_invalidate && act != Act::read && !is_atomic(act);
}

bool is_local(Act act) {
    return act == Act::registration || act == Act::page_change || act == Act::invalidation;
}

bool names_memory(Act act) {
    return !is_send(act) && !is_local(act);
}

Right remote_right(Act act) {
    if (is_atomic(act))
        return Right::remote_atomic;
    return act == Act::read ? Right::remote_read : Right::remote_write;
}

// --- Keys ----------------------------------------------------------------------------------------

/// The checks of an mkey (10.6.3, 10.6.7.2.4), through a window to its region.
KeyModel::Found KeyModel::find(std::size_t side, const Use& use, Right right) const {
    if (use.length == 0)
        return {}; // 9.7.4.1.5: no check
    const Key& key = sides_.at(side).keys.at(use.key);
    const Registration& is = key.is;
    if (!key.valid || key.of_other_domain || key.of_other_queue_pair || is.variant != use.variant ||
        !has(is.rights, right))
        return {.offsets = {}, .allowed = false};
    Use inside = use;
    const bool fits = is_within(is, use);
    if (!fits) {
        const bool begins_inside = use.address >= is.start && use.address - is.start < is.length;
        if (!begins_inside)
            return {.offsets = {}, .allowed = false};
        inside.length = static_cast<std::uint32_t>(is.length - (use.address - is.start));
    }
    Found found;
    if (key.is_window()) {
        found = find(side,
                     {.key = is.region,
                      .variant = is.region_variant,
                      .address = is.region_address + (use.address - is.start),
                      .length = inside.length},
                     changes_memory(right) ? Right::local_write : Right::local_read);
    } else {
        std::uint64_t skip = use.address - is.start;
        for (const Piece& piece : is.pieces) {
            for (std::uint64_t i = skip; i < piece.length && found.offsets.size() < inside.length;
                 ++i)
                found.offsets.push_back(piece.offset + static_cast<std::uint32_t>(i));
            skip -= std::min<std::uint64_t>(skip, piece.length);
        }
    }
    found.allowed = found.allowed && fits;
    return found;
}

/// 10.6.5: the region or window must be valid, in the PD, and allow invalidation.
bool KeyModel::may_invalidate(std::size_t side, const Use& use) const {
    const Key& key = sides_.at(side).keys.at(use.key);
    return key.valid && key.is.variant == use.variant && !key.of_other_domain &&
           !key.of_other_queue_pair && key.peer_may_invalidate;
}

bool KeyModel::is_operand(std::size_t side, const Use& use) const {
    const auto offsets = find(side, use, Right::remote_atomic).offsets;
    const bool aligned =
        use.address % use.length == 0 && !offsets.empty() && offsets.front() % use.length == 0;
    return aligned && std::ranges::adjacent_find(offsets, [](std::uint32_t a, std::uint32_t b) {
                          return b != a + 1;
                      }) == offsets.end();
}

Faults KeyModel::check(const Action& action) const {
    Faults faults;
    const std::size_t peer = 1 - action.side;
    if (is_local(action.act)) {
        const Key& key = sides_.at(action.side).keys.at(action.key);
        faults.own_key = key.of_other_domain || (action.demands_free && key.valid) ||
                         (action.act == Act::page_change && !key.valid) ||
                         (action.act == Act::invalidation && key.of_other_queue_pair);
        return faults;
    }
    const bool is_read_or_atomic = action.act == Act::read || is_atomic(action.act);
    faults.local =
        !find(action.side, action.local, is_read_or_atomic ? Right::local_write : Right::local_read)
             .allowed;
    faults.remote =
        names_memory(action.act) && !find(peer, action.remote, remote_right(action.act)).allowed;
    Use filled = action.receive;
    filled.length = action.local.length;
    faults.receive = is_send(action.act) && !find(peer, filled, Right::local_write).allowed;
    faults.invalidated = action.act == Act::send_invalidate && !may_invalidate(peer, action.remote);
    return faults;
}

// --- Order ---------------------------------------------------------------------------------------

void KeyModel::wait_for(Order order) {
    if (order == Order::everything)
        outstanding_.clear();
    if (order == Order::reads)
        std::erase_if(outstanding_,
                      [](const Outstanding& request) { return request.is_read_or_atomic(); });
}

/// 10.8.3.3: a key must not be invalidated or changed before the requests that use it have
/// completed. All remote accesses except for reads are executed before a later send with
/// invalidate.
bool KeyModel::needs_rest(const Action& action) const {
    const auto leads_to = [&](std::size_t side, std::size_t used, std::size_t changed) {
        const Key& key = sides_.at(side).keys.at(used);
        return used == changed || (key.is_window() && key.is.region == changed);
    };
    return std::ranges::any_of(outstanding_, [&](const Outstanding& request) {
        if (action.order == Order::everything ||
            (action.order == Order::reads && request.is_read_or_atomic()))
            return false;
        if (is_local(action.act))
            return leads_to(action.side, request.action.local.key, action.key);
        return action.act == Act::send_invalidate && request.action.act == Act::read &&
               leads_to(1 - action.side, request.action.remote.key, action.remote.key);
    });
}

// --- Success -------------------------------------------------------------------------------------

bool KeyModel::carry_out(const Action& action) {
    const Faults faults = check(action);
    Side& side = sides_.at(action.side);
    if (takes_receive(action.act))
        ++sides_.at(1 - action.side).receives_posted;
    // 9.8.2: the responder of an unreliable connection drops refused requests silently.
    const bool is_dropped = rules_.unreliable && faults.remote && !faults.local;
    if (faults.any() && !is_dropped) {
        fail(action, faults);
        ++side.actions;
        return false;
    }
    wait_for(action.order);
    if (!is_dropped)
        succeed(action);
    if (action.signaled)
        side.sends.push_back({.index = side.actions});
    ++side.actions;
    return true;
}

void KeyModel::succeed(const Action& action) {
    switch (action.act) {
    case Act::registration:
    case Act::page_change:
    case Act::invalidation:
        return change_key(action);
    case Act::send:
    case Act::send_immediate:
    case Act::send_invalidate:
        return send(action);
    case Act::write:
    case Act::write_immediate:
        return write(action);
    case Act::read:
        return read(action);
    default:
        return change_atomically(action);
    }
}

void KeyModel::change_key(const Action& action) {
    Key& key = sides_.at(action.side).keys.at(action.key);
    if (action.act == Act::invalidation) {
        key.valid = false;
        return;
    }
    if (action.act == Act::page_change) {
        std::ranges::copy(action.registration.pieces,
                          key.is.pieces.begin() + static_cast<std::ptrdiff_t>(action.entry));
        return;
    }
    key.valid = true;
    key.of_other_queue_pair = false;
    key.is = action.registration;
}

/// Data of an outstanding read may have arrived or not.
std::vector<Byte> KeyModel::gather(std::size_t side, const std::vector<std::uint32_t>& from) const {
    std::vector<bool> open(memory_size);
    for (const Outstanding& request : outstanding_) {
        if (request.action.side != side)
            continue;
        for (const std::uint32_t offset : request.to)
            open[offset] = true;
    }
    std::vector<Byte> data;
    data.reserve(from.size());
    for (const std::uint32_t offset : from) {
        data.push_back(sides_.at(side).memory[offset]);
        data.back().certain = data.back().certain && !open[offset];
    }
    return data;
}

/// A read retried after a loss may return data of later writes.
void KeyModel::store(std::size_t side, const std::vector<std::uint32_t>& to,
                     std::span<const Byte> data) {
    for (std::size_t i = 0; i < to.size(); ++i)
        sides_.at(side).memory[to[i]] = data[i];
    for (const Outstanding& request : outstanding_) {
        if (request.action.side == side || request.action.act != Act::read ||
            !meet(to, request.from))
            continue;
        std::vector<bool> changed(memory_size);
        for (const std::uint32_t offset : to)
            changed[offset] = true;
        for (std::size_t i = 0; i < request.from.size(); ++i) {
            if (changed[request.from[i]])
                sides_.at(1 - side).memory[request.to[i]].certain = false;
        }
    }
}

void KeyModel::doubt(std::size_t side, const std::vector<std::uint32_t>& where) {
    for (const std::uint32_t offset : where)
        sides_.at(side).memory[offset].certain = false;
}

void KeyModel::complete_receive(const Action& action) {
    Side& peer = sides_.at(1 - action.side);
    Completion completion{.index = peer.receives.size(), .length = action.local.length};
    if (action.act == Act::send_invalidate)
        completion.immediate = static_cast<std::uint32_t>(action.remote.key);
    else if (action.act != Act::send)
        completion.immediate = action.number;
    peer.receives.push_back(completion);
}

void KeyModel::send(const Action& action) {
    const std::size_t peer = 1 - action.side;
    const auto data =
        gather(action.side, find(action.side, action.local, Right::local_read).offsets);
    auto to = find(peer, action.receive, Right::local_write).offsets;
    to.resize(data.size());
    store(peer, to, data);
    if (action.act == Act::send_invalidate)
        sides_.at(peer).keys.at(action.remote.key).valid = false;
    complete_receive(action);
    outstanding_.push_back({.action = action, .from = {}, .to = {}});
}

void KeyModel::write(const Action& action) {
    const std::size_t peer = 1 - action.side;
    const auto data =
        gather(action.side, find(action.side, action.local, Right::local_read).offsets);
    store(peer, find(peer, action.remote, Right::remote_write).offsets, data);
    if (takes_receive(action.act))
        complete_receive(action);
    outstanding_.push_back({.action = action, .from = {}, .to = {}});
}

void KeyModel::read(const Action& action) {
    const std::size_t peer = 1 - action.side;
    const auto from = find(peer, action.remote, Right::remote_read).offsets;
    const auto to = find(action.side, action.local, Right::local_write).offsets;
    store(action.side, to, gather(peer, from));
    outstanding_.push_back({.action = action, .from = from, .to = to});
}

void KeyModel::change_atomically(const Action& action) {
    const std::size_t peer = 1 - action.side;
    const auto place = find(peer, action.remote, Right::remote_atomic).offsets;
    const auto to = find(action.side, action.local, Right::local_write).offsets;
    const auto before = gather(peer, place);
    const std::size_t width = width_of_words(before.size());
    std::vector<Operands> operands{action.operands};
    operands.insert(operands.end(), action.more_words.begin(), action.more_words.end());
    const auto after = apply_atomically(action.act, operands, numbers_in(before, width),
                                        static_cast<unsigned>(8 * width));
    const bool certain = std::ranges::all_of(before, &Byte::certain);
    std::vector<Byte> stored;
    for (std::uint64_t value : after) {
        for (std::size_t i = 0; i < width; ++i, value >>= 8U)
            stored.push_back({.value = static_cast<std::byte>(value), .certain = certain});
    }
    store(peer, place, stored);
    store(action.side, to, response_of(before));
    outstanding_.push_back({.action = action, .from = place, .to = to});
}

/// Each word is big-endian, unless software has chosen host order.
std::vector<Byte> KeyModel::response_of(std::vector<Byte> before) const {
    if (before.size() == atomic_size && rules_.host_order_atomics)
        return before;
    const std::size_t width = width_of_words(before.size());
    for (std::size_t i = 0; i < before.size(); i += width)
        std::ranges::reverse(std::span(before).subspan(i, width));
    return before;
}

namespace {

bool compares(Act act, const Operands& operands, std::uint64_t before, unsigned bits) {
    for (unsigned i = 0; i < bits; ++i) {
        if ((!has_masks(act) || bit(operands.compare_mask, i)) &&
            bit(operands.compare, i) != bit(before, i))
            return false;
    }
    return true;
}

std::uint64_t swap(Act act, const Operands& operands, std::uint64_t before, unsigned bits) {
    std::uint64_t after = 0;
    for (unsigned i = 0; i < bits; ++i) {
        const bool swapped = !has_masks(act) || bit(operands.swap_or_add_mask, i);
        after |= std::uint64_t{bit(swapped ? operands.swap_or_add : before, i)} << i;
    }
    return after;
}

std::uint64_t add(Act act, const Operands& operands, std::uint64_t before, unsigned bits) {
    std::uint64_t after = 0;
    bool carry = false;
    for (unsigned i = 0; i < bits; ++i) {
        const int sum = int{bit(before, i)} + int{bit(operands.swap_or_add, i)} + int{carry};
        after |= static_cast<std::uint64_t>(sum % 2) << i;
        carry = sum > 1 && !(has_masks(act) && bit(operands.swap_or_add_mask, i));
    }
    return after;
}

} // namespace

/// Bit by bit, as an independent implementation.
std::vector<std::uint64_t> apply_atomically(Act act, std::span<const Operands> operands,
                                            std::vector<std::uint64_t> before, unsigned bits) {
    for (std::size_t i = 0; is_swap(act) && i < before.size(); ++i) {
        if (!compares(act, operands[i], before[i], bits))
            return before;
    }
    for (std::size_t i = 0; i < before.size(); ++i)
        before[i] = is_swap(act) ? swap(act, operands[i], before[i], bits)
                                 : add(act, operands[i], before[i], bits);
    return before;
}

// --- Failure -------------------------------------------------------------------------------------

/// 9.9.2 and 9.9.3. With two faults at once either may be detected first.
void KeyModel::fail(const Action& action, const Faults& faults) {
    Side& side = sides_.at(action.side);
    const bool at_peer = faults.remote || faults.receive || faults.invalidated;
    Completion send{.index = side.actions, .status = Status::local_protection};
    if (faults.own_key)
        send.status = Status::window_bind;
    else if (faults.local && at_peer)
        send.status = Status::other;
    else if (faults.remote || (faults.invalidated && !faults.receive))
        send.status = Status::remote_access;
    else if (faults.receive)
        send.status = Status::remote_operation;
    side.sends.push_back(send);
    doubt_failed(action, faults);
    if (faults.local || !at_peer)
        return;
    failed_side_ = 1 - action.side;
    if (is_send(action.act))
        fail_peer(action, faults.receive ? Status::local_protection : Status::local_access);
}

void KeyModel::fail_peer(const Action& action, Status status) {
    Side& peer = sides_.at(1 - action.side);
    peer.receives.push_back({.index = peer.receives.size(), .status = status});
}

/// A failed action may have been executed partially.
void KeyModel::doubt_failed(const Action& action, const Faults& faults) {
    if (faults.own_key)
        return;
    const std::size_t peer = 1 - action.side;
    const bool is_read_or_atomic = action.act == Act::read || is_atomic(action.act);
    if (is_send(action.act))
        doubt(peer, find(peer, action.receive, Right::local_write).offsets);
    if (is_read_or_atomic && faults.local)
        doubt(action.side, find(action.side, action.local, Right::local_write).offsets);
    if (names_memory(action.act) && action.act != Act::read && !faults.remote)
        doubt(peer, find(peer, action.remote, remote_right(action.act)).offsets);
}

/// A response that cannot be stored fails late, after the peer may have executed later requests.
void KeyModel::flush(const Action& action) {
    Side& side = sides_.at(action.side);
    side.sends.push_back({.index = side.actions, .status = Status::flushed});
    ++side.actions;
    const std::size_t peer = 1 - action.side;
    if (names_memory(action.act) && !failed_side_)
        doubt(peer, find(peer, action.remote, remote_right(action.act)).offsets);
}

void KeyModel::flush_receives() {
    if (!failed_side_ || rules_.shares_receives)
        return;
    Side& side = sides_.at(*failed_side_);
    while (side.receives.size() < side.receives_posted)
        side.receives.push_back({.index = side.receives.size(), .status = Status::flushed});
}

} // namespace cxemu::transport::model
