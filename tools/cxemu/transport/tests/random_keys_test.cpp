// SPDX-License-Identifier: GPL-2.0-or-later
//
// Random WRs that use, create, change and invalidate mkeys and windows on two connected QPs,
// compared with a reference model of the specification: see key_model.hpp and random_script.hpp. A
// script ends with a request that must be refused, or with keys that change while the peer uses
// them.
#include "transport/testing/key_requests.hpp"
#include "transport/testing/peers.hpp"
#include "transport/tests/key_model.hpp"
#include "transport/tests/key_script.hpp"
#include "transport/tests/random_script.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace cxemu::transport {
namespace {

using fabric::LinkDirection;
using model::Act;
using model::Action;
using model::Completion;
using model::Key;
using model::KeyKind;
using model::KeyModel;
using model::Registration;
using model::Right;
using model::Status;
using queues::CompletionOpcode;
using queues::SendOpcode;
using testing::Data;
using testing::KeyChange;
using testing::KeyDemand;
using testing::KeyScript;
using testing::KeySettings;
using testing::Peer;
using testing::Peers;
using testing::Result;
using testing::Send;
using testing::TranslationEntry;

SendOpcode opcode_of(Act act) {
    constexpr std::array opcodes{SendOpcode::send,
                                 SendOpcode::send_immediate,
                                 SendOpcode::send_invalidate,
                                 SendOpcode::rdma_write,
                                 SendOpcode::rdma_write_immediate,
                                 SendOpcode::rdma_read,
                                 SendOpcode::compare_swap,
                                 SendOpcode::fetch_add,
                                 SendOpcode::masked_compare_swap,
                                 SendOpcode::masked_fetch_add,
                                 SendOpcode::masked_compare_swap,
                                 SendOpcode::masked_fetch_add};
    return opcodes.at(static_cast<std::size_t>(act));
}

queues::AtomicOperands operands_of(const model::Operands& operands) {
    return {.swap_or_add = operands.swap_or_add,
            .compare = operands.compare,
            .swap_or_add_mask = operands.swap_or_add_mask,
            .compare_mask = operands.compare_mask};
}

queues::Fence fence_of(model::Order order) {
    switch (order) {
    case model::Order::none:
        break;
    case model::Order::reads:
        return queues::Fence::reads_and_atomics;
    case model::Order::everything:
        return queues::Fence::everything;
    }
    return queues::Fence::none;
}

memory::AccessMode mode_of(KeyKind kind) {
    if (kind == KeyKind::page_region)
        return memory::AccessMode::mtt;
    return kind == KeyKind::fixed_region ? memory::AccessMode::ksm : memory::AccessMode::klm;
}

// --- Keys of a side ------------------------------------------------------------------------------

/// The keys of the model as mkeys of a peer.
class PeerKeys {
public:
    PeerKeys(Peer& peer, const model::Side& side)
        : peer_(peer), memory_(peer.space(KeyModel::memory_size)),
          other_domain_(peer.bench.make_domain()) {
        const auto bytes = peer.bench.at(memory_.address, memory_.length);
        std::ranges::transform(side.memory, bytes.begin(), &model::Byte::value);
        for (const Key& key : side.keys)
            indices_.push_back(make_key(peer, settings(key, key.is, !key.valid), capacity));
    }

    [[nodiscard]] std::uint32_t number(std::size_t key, std::uint8_t variant) const {
        return indices_.at(key) << memory::MemoryKey::variant_bits | variant;
    }
    /// The index of a key in the model.
    [[nodiscard]] std::uint32_t key_of(std::uint32_t number) const {
        const auto found = std::ranges::find(indices_, number >> memory::MemoryKey::variant_bits);
        return static_cast<std::uint32_t>(found - indices_.begin());
    }
    [[nodiscard]] std::vector<std::byte> contents() const { return peer_.contents(memory_); }

    /// \param key before the change
    Send change(const Action& action, const Key& key) {
        const std::uint32_t index = indices_.at(action.key);
        switch (action.act) {
        case Act::invalidation: {
            const bool is_bound = key.kind == KeyKind::window_type_2;
            return testing::invalidation(
                {.index = index,
                 .demand = is_bound ? KeyDemand::own_queue_pair : KeyDemand::nothing});
        }
        case Act::page_change:
            return testing::translation_change(peer_,
                                               {.index = index,
                                                .demand = KeyDemand::in_use,
                                                .lists_in_memory = action.lists_in_memory},
                                               action.entry / 2, pages(action.registration));
        default:
            break;
        }
        Key bound = key;
        bound.of_other_queue_pair = false;
        return testing::registration(
            peer_,
            {.index = index,
             .demand = action.demands_free ? KeyDemand::free : KeyDemand::nothing,
             .sets_queue_pair = key.kind == KeyKind::window_type_2,
             .lists_in_memory = action.lists_in_memory},
            settings(bound, action.registration, false));
    }

private:
    static constexpr std::size_t capacity = KeyModel::pages;

    [[nodiscard]] std::vector<TranslationEntry> pages(const Registration& registration) const {
        std::vector<std::uint64_t> addresses;
        for (const model::Piece& piece : registration.pieces)
            addresses.push_back(memory_.address + piece.offset / KeyModel::page * KeyModel::page);
        return testing::page_entries(addresses);
    }

    [[nodiscard]] std::vector<TranslationEntry> turns(const Registration& registration) const {
        std::vector<testing::StridedRange> ranges;
        for (const model::Block& block : registration.blocks)
            ranges.push_back({.key = peer_.key(),
                              .address = memory_.address + block.offset,
                              .length = block.length,
                              .stride = block.stride});
        return testing::strided_entries(ranges, registration.repeats);
    }

    [[nodiscard]] std::vector<TranslationEntry> entries(const Key& key,
                                                        const Registration& registration) const {
        if (key.kind == KeyKind::page_region)
            return pages(registration);
        if (key.is_window())
            return {testing::range_entry(number(registration.region, registration.region_variant),
                                         registration.region_address,
                                         static_cast<std::uint32_t>(registration.length))};
        if (key.kind == KeyKind::strided_region)
            return turns(registration);
        std::vector<TranslationEntry> entries;
        for (const model::Piece& piece : registration.pieces)
            entries.push_back(
                testing::range_entry(peer_.key(), memory_.address + piece.offset, piece.length));
        return entries;
    }

    [[nodiscard]] KeySettings settings(const Key& key, const Registration& registration,
                                       bool is_free) const {
        constexpr std::uint32_t any = memory::MemoryKey::any_queue_pair;
        const std::uint32_t own = peer_.queue_pair().number();
        const std::uint32_t bound = key.of_other_queue_pair ? own + 1 : own;
        return {.mode = mode_of(key.kind),
                .is_free = is_free,
                .peer_may_invalidate = key.peer_may_invalidate,
                .variant = registration.variant,
                .start = registration.start,
                .length = registration.length,
                .local_write = registration.rights.local_write,
                .remote_read = registration.rights.remote_read,
                .remote_write = registration.rights.remote_write,
                .remote_atomic = registration.rights.remote_atomic,
                .domain = key.of_other_domain ? other_domain_ : peer_.bench.domain(),
                .queue_pair = key.kind == KeyKind::window_type_2 ? bound : any,
                .entries = entries(key, registration)};
    }

    Peer& peer_;
    Data memory_;
    std::uint32_t other_domain_;
    std::vector<std::uint32_t> indices_;
};

// --- Execution of scripts ------------------------------------------------------------------------

/// Completions of a side since the last check.
struct Seen {
    std::vector<Completion> sends;
    std::vector<Completion> receives;
    std::map<std::uint16_t, std::size_t> action_at; ///< by WQE index
};

class KeyRun {
public:
    explicit KeyRun(const KeyScript& script)
        : script_(script), peers_(script.options), model_(script.sides, script.rules()),
          keys_{PeerKeys(peers_.first, script.sides[0]), PeerKeys(peers_.second, script.sides[1])},
          weather_(peers_.time.loop, script.link, script.seed) {
        for (Peer* peer : {&peers_.first, &peers_.second})
            choose_atomic_byte_order(*peer);
        peers_.connect();
        peers_.set_filter(
            [this](fabric::Link& link, LinkDirection direction, fabric::Packet packet) {
                weather_.take(link, direction, std::move(packet));
            });
    }

    /// \return the difference from the model
    std::optional<std::string> operator()() {
        for (const testing::KeyStep& step : script_.steps) {
            const bool refused = model_.check(step.action).any();
            if (step.action.side != acting_ || refused || model_.needs_rest(step.action)) {
                if (auto wrong = rest())
                    return wrong;
            }
            acting_ = step.action.side;
            if (refused)
                return end_with(step.action);
            post(step.action);
            model_.carry_out(step.action);
            if (step.time.count() != 0)
                pass(step.time);
        }
        if (auto wrong = rest())
            return wrong;
        return script_.race ? race(*script_.race) : std::nullopt;
    }

private:
    Peer& peer(std::size_t side) { return side == 0 ? peers_.first : peers_.second; }
    [[nodiscard]] bool is_xrc() const {
        return script_.options.service == queues::ServiceType::extended_reliable_connection;
    }

    void choose_atomic_byte_order(Peer& peer) const {
        std::array<std::byte, hwtab::atomic_caps.size> block{};
        hwtab::View<hwtab::atomic_caps>{block}.set<"atomic_req_8B_endianness_mode">(
            script_.host_order_atomics ? 1 : 0);
        ASSERT_TRUE(peer.bench.hca().capabilities().set(hca::CapabilityPage::atomic, block));
    }

    void post(const Action& action) {
        Peer& sender = peer(action.side);
        if (model::takes_receive(action.act)) {
            late_receives_.push_back(action);
            if (!action.receive_is_late)
                post_receives();
        }
        seen_.at(action.side).action_at[sender.next_send()] = model_.side(action.side).actions;
        Send send = request(action);
        send.fence = fence_of(action.order);
        send.signaled = action.signaled;
        sender.post(send);
        peers_.time.loop.turn(EventLoop::Duration::zero());
    }

    Send request(const Action& action) {
        if (model::is_local(action.act))
            return keys_.at(action.side)
                .change(action, model_.side(action.side).keys.at(action.key));
        const PeerKeys& own = keys_.at(action.side);
        const PeerKeys& others = keys_.at(1 - action.side);
        const std::uint32_t remote = others.number(action.remote.key, action.remote.variant);
        std::vector<queues::AtomicOperands> more_words;
        std::ranges::transform(action.more_words, std::back_inserter(more_words), operands_of);
        return {.opcode = opcode_of(action.act),
                .data = {{.address = action.local.address, .length = action.local.length}},
                .remote = {.address = action.remote.address},
                .remote_key = remote,
                .local_key = own.number(action.local.key, action.local.variant),
                .immediate = action.act == Act::send_invalidate ? remote : action.number,
                .xrc_srq = is_xrc() ? peers_.second.xrc_queue().number() : 0,
                .atomic = operands_of(action.operands),
                .more_words = std::move(more_words),
                .operand_size = model::is_extended(action.act) ? action.local.length : 8};
    }

    void post_receives() {
        for (const Action& action : late_receives_) {
            Peer& receiver = peer(1 - action.side);
            const auto key =
                keys_.at(1 - action.side).number(action.receive.key, action.receive.variant);
            const Data buffer{.address = action.receive.address, .length = action.receive.length};
            if (is_xrc())
                receiver.post_shared(receiver.xrc_queue(), shared_slot_++, buffer, key);
            else
                receiver.post_receive({buffer}, key);
        }
        late_receives_.clear();
    }

    void pass(std::chrono::microseconds time) {
        peers_.advance(time);
        post_receives();
        poll();
    }

    // --- Results ---------------------------------------------------------------------------------

    void poll() {
        for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
            for (const Result& result : peer(side).poll())
                note(side, result);
        }
    }

    void note(std::size_t side, const Result& result) {
        Seen& seen = seen_.at(side);
        Completion completion{.index = result.index, .status = testing::status_of(result)};
        if (result.is_send()) {
            const auto action = seen.action_at.find(result.index);
            completion.index = action == seen.action_at.end() ? ~std::size_t{0} : action->second;
            seen.sends.push_back(completion);
            return;
        }
        completion.index = seen.receives.size(); // receive queues wrap around
        if (!result.error) {
            completion.length = result.byte_count;
            if (result.opcode == CompletionOpcode::send_invalidate)
                completion.immediate = keys_.at(side).key_of(result.immediate);
            else if (result.opcode != CompletionOpcode::send)
                completion.immediate = result.immediate;
        }
        seen.receives.push_back(completion);
    }

    /// Waits until everything posted has completed. \return the difference from the model
    std::optional<std::string> rest() {
        settle();
        model_.rest();
        return check();
    }

    void settle() {
        post_receives();
        peers_.run(std::chrono::milliseconds(20), 10); // longer than any timer
        poll();
    }

    std::optional<std::string> check() {
        for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
            const std::string who = side == 0 ? "first: " : "second: ";
            if (auto wrong = check_completions(side))
                return who + *wrong;
            if (auto wrong = check_memory(side))
                return who + *wrong;
        }
        return {};
    }

    /// A NAK may be lost: then the sender exhausts its retries.
    [[nodiscard]] bool is_right(const Completion& seen, const Completion& expected) const {
        if (expected.status == Status::other)
            return seen.index == expected.index && seen.status != Status::success;
        const bool by_peer =
            expected.status == Status::remote_access || expected.status == Status::remote_operation;
        if (by_peer && script_.link.loses_responses() && seen.status == Status::other)
            return seen.index == expected.index;
        return seen == expected;
    }

    std::optional<std::string> check_completions(std::size_t side) {
        const model::Side& expected = model_.side(side);
        const auto wrong = compare("send", seen_.at(side).sends, expected.sends);
        return wrong ? wrong : compare("receive", seen_.at(side).receives, expected.receives);
    }

    std::optional<std::string> compare(std::string_view what, const std::vector<Completion>& seen,
                                       const std::vector<Completion>& expected) const {
        const auto text = [](const std::vector<Completion>& list, std::size_t i) {
            if (i >= list.size())
                return std::string("nothing");
            return fmt::format("number {}, {}, {} bytes, immediate {:#x}", list[i].index,
                               name_of(list[i].status), list[i].length,
                               list[i].immediate.value_or(0xdead));
        };
        for (std::size_t i = 0; i < std::max(seen.size(), expected.size()); ++i) {
            if (i >= seen.size() || i >= expected.size() || !is_right(seen[i], expected[i]))
                return fmt::format("{} completion {}: {} instead of {}", what, i, text(seen, i),
                                   text(expected, i));
        }
        return {};
    }

    std::optional<std::string> check_memory(std::size_t side) {
        const auto seen = keys_.at(side).contents();
        const auto& expected = model_.side(side).memory;
        for (std::size_t i = 0; i < expected.size(); ++i) {
            if (expected[i].certain && seen[i] != expected[i].value)
                return fmt::format("byte {:#x} of the memory is {:#x} instead of {:#x}", i,
                                   std::to_integer<int>(seen[i]),
                                   std::to_integer<int>(expected[i].value));
        }
        return {};
    }

    // --- Ends ------------------------------------------------------------------------------------

    /// The action is refused, and later ones are flushed.
    std::optional<std::string> end_with(const Action& action) {
        const model::Faults faults = model_.check(action);
        post(action);
        const bool goes_on = model_.carry_out(action);
        const Action behind{.side = action.side, .act = Act::write};
        post(behind);
        if (goes_on)
            model_.carry_out(behind);
        else
            model_.flush(behind);
        model_.flush_receives();
        settle();
        if (faults.local && (faults.remote || faults.receive || faults.invalidated))
            return check_completions(action.side); // the peer may have failed or not
        return check();
    }

    /// Writes through a key that its owner changes meanwhile: some succeed, one is refused, and the
    /// others have no effect.
    std::optional<std::string> race(const testing::Race& race) {
        const std::size_t side = race.change.side == 0 ? 1 : 0;
        for (const Action& write : race.writes) {
            if (model_.check(write).any())
                return {};
        }
        if (model_.check(race.change).any())
            return {};
        const KeyModel before = model_;
        for (const Action& write : race.writes) {
            post(write);
            model_.carry_out(write);
        }
        peers_.advance(race.time);
        post(race.change);
        model_.carry_out(race.change);
        settle();
        return check_race(side, race, before);
    }

    std::optional<std::string> check_race(std::size_t side, const testing::Race& race,
                                          const KeyModel& before) {
        const auto& sends = seen_.at(side).sends;
        const std::size_t first = before.side(side).sends.size();
        const auto is_bad = [](const Completion& completion) {
            return completion.status != Status::success;
        };
        const auto bad = std::ranges::find_if(sends, is_bad);
        if (sends.size() != model_.side(side).sends.size())
            return fmt::format("{} completions instead of {}", sends.size(),
                               model_.side(side).sends.size());
        if (bad != sends.end() && bad->status != Status::remote_access &&
            !(script_.link.loses_responses() && bad->status == Status::other))
            return fmt::format("a write through a changed key ended with {}", name_of(bad->status));
        if (auto wrong =
                compare("owner's send", seen_.at(1 - side).sends, model_.side(1 - side).sends))
            return wrong;
        const auto succeeded = static_cast<std::size_t>(bad - sends.begin()) - first;
        return check_written(side, race, before, succeeded);
    }

    /// Each write has its own range. They are executed in order and completely, except for the one
    /// that the change interrupts.
    std::optional<std::string> check_written(std::size_t side, const testing::Race& race,
                                             const KeyModel& before, std::size_t succeeded) {
        const auto seen = keys_.at(1 - side).contents();
        const auto& old = before.side(1 - side).memory;
        const auto& written = model_.side(1 - side).memory;
        bool ended = false;
        for (std::size_t i = 0; i < race.writes.size(); ++i) {
            bool complete = true;
            bool untouched = true;
            for (const std::uint32_t at :
                 before.find(1 - side, race.writes[i].remote, Right::remote_write).offsets) {
                if (!old[at].certain || !written[at].certain)
                    continue;
                complete = complete && seen[at] == written[at].value;
                untouched = untouched && seen[at] == old[at].value;
                if (seen[at] != written[at].value && seen[at] != old[at].value)
                    return fmt::format("byte {:#x} is neither old nor new", at);
            }
            if (i < succeeded && !complete)
                return fmt::format("write {} succeeded and isn't there", i);
            if (ended && !untouched)
                return fmt::format("write {} was done, though one before it wasn't", i);
            ended = ended || !complete;
        }
        return {};
    }

    const KeyScript& script_;
    Peers peers_;
    KeyModel model_;
    std::array<PeerKeys, 2> keys_;
    testing::Weather weather_;
    std::array<Seen, 2> seen_;
    std::vector<Action> late_receives_;
    std::uint16_t shared_slot_ = 0;
    std::size_t acting_ = 0;
};

void try_scripts(KeyScript (*draw)(std::uint64_t), std::uint64_t usual) {
    testing::try_seeds(usual, [draw](std::uint64_t seed) -> std::optional<std::string> {
        KeyScript script = draw(seed);
        if (!KeyRun(script)())
            return {};
        testing::shorten(script.steps, [&script] { return KeyRun(script)().has_value(); });
        return *KeyRun(script)() + "\n" + describe(script);
    });
}

TEST(RandomKeys, AllowedAccessesMatchSpecificationModel) {
    try_scripts(testing::draw_key_script, 6);
}

TEST(RandomKeys, RefusedAccessesMatchSpecificationModel) {
    try_scripts(testing::draw_refused_script, 8);
}

TEST(RandomKeys, RacingKeyChangesMatchSpecificationModel) {
    try_scripts(testing::draw_racing_script, 6);
}

} // namespace
} // namespace cxemu::transport
