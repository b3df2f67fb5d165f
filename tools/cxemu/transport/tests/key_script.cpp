// SPDX-License-Identifier: GPL-2.0-or-later
#include "transport/tests/key_script.hpp"

#include "check/seeded_random.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <spdlog/fmt/fmt.h>
#include <utility>

namespace cxemu::transport::testing {

namespace {

using check::SeededRandom;
using model::Act;
using model::Action;
using model::Key;
using model::KeyKind;
using model::KeyModel;
using model::Registration;
using model::Right;
using model::Side;
using model::Use;
using queues::ServiceType;

constexpr std::uint32_t word = 8; ///< bytes: alignment of atomics
constexpr std::uint32_t max_key_receives = 56;
constexpr std::size_t max_actions = 40; ///< of a side: all fit into its queue

std::uint32_t draw(SeededRandom& random, std::uint64_t count) {
    return static_cast<std::uint32_t>(random.below(count));
}

bool one_of(SeededRandom& random, std::uint64_t count) {
    return random.below(count) == 0;
}

// --- Registrations -------------------------------------------------------------------------------

std::vector<std::uint32_t> draw_pages(SeededRandom& random, std::size_t count) {
    std::vector<std::uint32_t> pages(KeyModel::pages);
    std::iota(pages.begin(), pages.end(), 0U);
    for (std::size_t i = 0; i < count; ++i)
        std::swap(pages[i], pages[i + random.below(pages.size() - i)]);
    pages.resize(count);
    return pages;
}

/// Zero, or anywhere in the address space.
std::uint64_t draw_start(SeededRandom& random) {
    constexpr unsigned highest = 20; ///< address bits left out
    return one_of(random, 3) ? 0 : (random.next() >> highest) * word;
}

/// Access rights allowed by verbs: remote write requires local write.
model::Rights draw_rights(SeededRandom& random) {
    model::Rights rights{.local_write = !one_of(random, 4)};
    rights.remote_read = !one_of(random, 4);
    rights.remote_write = rights.local_write && !one_of(random, 4);
    rights.remote_atomic = rights.local_write && !one_of(random, 4);
    return rights;
}

std::uint64_t total(const std::vector<model::Piece>& pieces) {
    std::uint64_t sum = 0;
    for (const model::Piece& piece : pieces)
        sum += piece.length;
    return sum;
}

/// The first page starts at the start address.
void draw_page_list(SeededRandom& random, Registration& registration) {
    constexpr std::uint32_t page = KeyModel::page;
    const auto skip = static_cast<std::uint32_t>(registration.start % page);
    for (const std::uint32_t number : draw_pages(random, 1 + random.below(8)))
        registration.pieces.push_back({.offset = number * page, .length = page});
    registration.pieces[0].offset += skip;
    registration.pieces[0].length -= skip;
}

void draw_piece_list(SeededRandom& random, Registration& registration) {
    constexpr std::uint32_t words = KeyModel::page / word;
    for (const std::uint32_t number : draw_pages(random, 1 + random.below(8))) {
        const std::uint32_t begin = draw(random, words);
        const std::uint32_t length = 1 + draw(random, words - begin);
        registration.pieces.push_back(
            {.offset = number * KeyModel::page + begin * word, .length = length * word});
    }
}

/// Page-sized ranges at any address.
void draw_fixed_list(SeededRandom& random, Registration& registration) {
    constexpr std::uint32_t page = KeyModel::page;
    registration.start -= registration.start % page;
    const auto numbers = draw_pages(random, 1 + random.below(8));
    const bool room = std::ranges::find(numbers, KeyModel::pages - 1) == numbers.end();
    const std::uint32_t begin = room ? draw(random, page / word) * word : 0;
    for (const std::uint32_t number : numbers)
        registration.pieces.push_back({.offset = number * page + begin, .length = page});
}

/// Each block has its own part of the memory.
void draw_blocks(SeededRandom& random, Registration& registration) {
    constexpr std::uint32_t parts = 4;
    constexpr std::uint32_t room = KeyModel::memory_size / parts;
    std::array<std::uint32_t, parts> order{0, 1, 2, 3};
    for (std::size_t i = 0; i < order.size(); ++i)
        std::swap(order.at(i), order.at(i + random.below(parts - i)));
    registration.repeats = 1 + draw(random, 8);
    const std::uint32_t count = 1 + draw(random, 3);
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t words = 1 + draw(random, room / registration.repeats / word);
        registration.blocks.push_back({.offset = order.at(i) * room,
                                       .length = (1 + draw(random, words)) * word,
                                       .stride = words * word});
    }
    for (std::uint32_t turn = 0; turn < registration.repeats; ++turn) {
        for (const model::Block& block : registration.blocks)
            registration.pieces.push_back(
                {.offset = block.offset + turn * block.stride, .length = block.length});
    }
}

Registration draw_region(SeededRandom& random, KeyKind kind) {
    Registration registration{.variant = static_cast<std::uint8_t>(random.next()),
                              .start = draw_start(random),
                              .rights = draw_rights(random)};
    if (kind == KeyKind::page_region)
        draw_page_list(random, registration);
    else if (kind == KeyKind::fixed_region)
        draw_fixed_list(random, registration);
    else if (kind == KeyKind::strided_region)
        draw_blocks(random, registration);
    else
        draw_piece_list(random, registration);
    const std::uint64_t bytes = total(registration.pieces);
    registration.length = one_of(random, 2) ? bytes : bytes - random.below(bytes);
    return registration;
}

/// A window of a valid region, if there is one.
Registration draw_window(SeededRandom& random, const Side& side) {
    Registration registration{.variant = static_cast<std::uint8_t>(random.next()),
                              .start = draw_start(random),
                              .length = 1};
    for (int attempt = 0; attempt < 8; ++attempt) {
        const std::size_t choice = random.below(side.keys.size());
        const Key& region = side.keys[choice];
        if (region.is_window() || !region.valid || region.of_other_domain)
            continue;
        const std::uint64_t skip = random.below((region.is.length + word - 1) / word) * word;
        registration.region = choice;
        registration.region_variant = region.is.variant;
        registration.region_address = region.is.start + skip;
        registration.length = 1 + random.below(region.is.length - skip);
        if (one_of(random, 2))
            registration.start = registration.region_address;
        const bool writable = region.is.rights.local_write;
        registration.rights.remote_read = !one_of(random, 4);
        registration.rights.remote_write = writable && !one_of(random, 4);
        registration.rights.remote_atomic = writable && !one_of(random, 4);
        break;
    }
    return registration;
}

Registration draw_registration(SeededRandom& random, KeyKind kind, const Side& side) {
    const bool is_window = kind == KeyKind::window_type_1 || kind == KeyKind::window_type_2;
    Registration registration = is_window ? draw_window(random, side) : draw_region(random, kind);
    return registration;
}

Side draw_side(SeededRandom& random) {
    Side side;
    side.memory.resize(KeyModel::memory_size);
    for (model::Byte& byte : side.memory)
        byte.value = static_cast<std::byte>(random.next());
    const auto add = [&](KeyKind kind) -> Key& {
        const bool valid = !one_of(random, 4);
        Registration registration = draw_registration(random, kind, side);
        side.keys.push_back({.kind = kind, .valid = valid, .is = std::move(registration)});
        side.keys.back().peer_may_invalidate =
            kind == KeyKind::window_type_2 || (kind != KeyKind::window_type_1 && one_of(random, 2));
        return side.keys.back();
    };
    for (const KeyKind kind :
         {KeyKind::page_region, KeyKind::page_region, KeyKind::piece_region, KeyKind::piece_region,
          KeyKind::fixed_region, KeyKind::strided_region, KeyKind::window_type_1,
          KeyKind::window_type_2, KeyKind::window_type_2})
        add(kind);
    add(KeyKind::page_region).of_other_domain = true;
    add(KeyKind::window_type_2).of_other_queue_pair = true;
    return side;
}

// --- Uses ----------------------------------------------------------------------------------------

enum class Flaw : std::uint8_t { none, variant, before_start, behind_end, far_away };

Use draw_use(SeededRandom& random, const Side& side, std::uint32_t length, Flaw flaw) {
    Use use{.key = random.below(side.keys.size()), .length = length};
    const Registration& is = side.keys[use.key].is;
    use.variant = is.variant;
    const std::uint64_t room = is.length > length ? is.length - length : 0;
    use.address = is.start + random.below(room + 1) / word * word;
    switch (flaw) {
    case Flaw::none:
        break;
    case Flaw::variant:
        use.variant = static_cast<std::uint8_t>(use.variant + 1 + random.below(255));
        break;
    case Flaw::before_start:
        use.address = is.start - word;
        break;
    case Flaw::behind_end:
        use.address = is.start + room / word * word + word;
        break;
    case Flaw::far_away:
        use.address += 1ULL << 50U;
        break;
    }
    return use;
}

/// Regions only: windows are for remote access.
Use draw_local_use(SeededRandom& random, const Side& side, std::uint32_t length, Flaw flaw) {
    Use use = draw_use(random, side, length, flaw);
    while (side.keys[use.key].is_window())
        use = draw_use(random, side, length, flaw);
    return use;
}

// --- Actions -------------------------------------------------------------------------------------

/// Atomics get an aligned address, after a few attempts to find a suitable range.
Use draw_remote_use(SeededRandom& random, const KeyModel& model, std::size_t side, Act act,
                    std::uint32_t length, Flaw flaw) {
    constexpr int attempts = 20;
    Use use = draw_use(random, model.side(side), length, flaw);
    if (!model::is_atomic(act))
        return use;
    use.address -= use.address % length;
    for (int i = 0; i < attempts && flaw == Flaw::none && !model.is_operand(side, use); ++i) {
        use = draw_use(random, model.side(side), length, flaw);
        use.address -= use.address % length;
    }
    return use;
}

std::uint32_t draw_length(SeededRandom& random, Act act) {
    constexpr std::array<std::uint32_t, 4> operands{4, 8, 16, 32};
    if (model::is_extended(act))
        return operands.at(random.below(operands.size()));
    if (model::is_atomic(act))
        return word;
    constexpr std::array<std::uint32_t, 3> lengths{64, 1100, 5000};
    const std::uint32_t length = draw(random, lengths.at(random.below(3)) + 1);
    return act == Act::read ? std::max(length, 1U) : length;
}

/// Small numbers, so that compares succeed, or any.
std::uint64_t draw_operand(SeededRandom& random) {
    return one_of(random, 2) ? random.below(3) : random.next();
}

/// The compare mask often leaves few bits.
model::Operands draw_operands(SeededRandom& random) {
    return {.swap_or_add = draw_operand(random),
            .compare = draw_operand(random),
            .swap_or_add_mask = random.next(),
            .compare_mask = one_of(random, 2) ? random.below(4) : random.next()};
}

/// Replaces two pages of the region; an invalidation if it has too few pages.
void draw_page_change(SeededRandom& random, const Key& key, Action& action) {
    constexpr std::size_t untouched = 2; // the first one may begin within a page
    constexpr std::uint32_t page = KeyModel::page;
    if (key.kind != KeyKind::page_region || key.is.pieces.size() < untouched + 2) {
        action.act = Act::invalidation;
        return;
    }
    action.entry = untouched + random.below((key.is.pieces.size() - untouched) / 2) * 2;
    for (const std::uint32_t number : draw_pages(random, 2))
        action.registration.pieces.push_back({.offset = number * page, .length = page});
}

void draw_key_change(SeededRandom& random, const Side& side, Action& action) {
    action.key = random.below(side.keys.size());
    const Key& key = side.keys[action.key];
    action.lists_in_memory = !key.is_window() && one_of(random, 3);
    if (action.act == Act::page_change)
        return draw_page_change(random, key, action);
    if (action.act != Act::registration)
        return;
    action.demands_free = key.kind == KeyKind::window_type_2 || one_of(random, 2);
    action.registration = draw_registration(random, key.kind, side);
    if (action.registration.variant == key.is.variant)
        ++action.registration.variant;
}

/// \param is_flawed faults are allowed
Action draw_action(SeededRandom& random, const KeyModel& model, std::size_t side, bool is_flawed) {
    constexpr std::uint64_t acts = 15;
    Action action{.side = side, .act = static_cast<Act>(random.below(acts))};
    action.signaled = !one_of(random, 4);
    action.number = draw(random, 1U << 31U);
    if (!one_of(random, 2))
        action.order = one_of(random, 2) ? model::Order::reads : model::Order::everything;
    const Side& own = model.side(side);
    const Side& other = model.side(1 - side);
    if (model::is_local(action.act)) {
        draw_key_change(random, own, action);
        return action;
    }
    const auto flaw = [&] {
        return is_flawed && one_of(random, 2) ? static_cast<Flaw>(random.below(5)) : Flaw::none;
    };
    const std::uint32_t length = draw_length(random, action.act);
    action.local = draw_local_use(random, own, length, flaw());
    action.remote = draw_remote_use(random, model, 1 - side, action.act, length, flaw());
    action.receive = draw_local_use(random, other, length, flaw());
    action.receive_is_late = !model.rules().unreliable && one_of(random, 4);
    action.operands = draw_operands(random);
    for (std::uint32_t i = word; model::is_atomic(action.act) && i < length; i += word)
        action.more_words.push_back(draw_operands(random));
    return action;
}

/// The only fault of an action.
enum class Wrong : std::uint8_t { nothing, local, remote, receive, invalidated, own_key, several };

Wrong wrong_with(const model::Faults& faults) {
    const std::array found{faults.local, faults.remote, faults.receive, faults.invalidated,
                           faults.own_key};
    const auto count = std::ranges::count(found, true);
    if (count > 1)
        return Wrong::several;
    return static_cast<Wrong>(count == 0 ? 0
                                         : 1 + (std::ranges::find(found, true) - found.begin()));
}

/// Returns true if the connection supports the request. An unaligned atomic is excluded, because
/// its fault would not be that of its keys.
bool is_possible(const KeyModel& model, const Action& action) {
    const std::size_t peer = 1 - action.side;
    if (model::takes_receive(action.act) && model.side(peer).receives_posted >= max_key_receives)
        return false;
    if (model.rules().unreliable && !model::is_unreliable(action.act))
        return false;
    return !model::is_atomic(action.act) || model.is_operand(peer, action.remote) ||
           (model.check(action).remote && action.remote.address % action.remote.length == 0);
}

/// Draws actions until one has exactly the wanted fault.
std::optional<Action> draw_fitting(SeededRandom& random, const KeyModel& model, std::size_t side,
                                   Wrong wanted) {
    constexpr int attempts = 500;
    for (int attempt = 0; attempt < attempts; ++attempt) {
        const Action action = draw_action(random, model, side, wanted != Wrong::nothing);
        if (is_possible(model, action) && wrong_with(model.check(action)) == wanted)
            return action;
    }
    return {};
}

// --- Scripts -------------------------------------------------------------------------------------

ConnectionOptions draw_key_options(SeededRandom& random) {
    ConnectionOptions options;
    constexpr std::array services{
        ServiceType::reliable_connection, ServiceType::reliable_connection,
        ServiceType::extended_reliable_connection, ServiceType::unreliable_connection};
    options.service = services.at(random.below(services.size()));
    options.mtu_code = static_cast<std::uint8_t>(1 + random.below(5));
    options.first_psn = one_of(random, 2) ? 0x1000 : 0xff'fff8;
    options.not_ready_timer = static_cast<std::uint8_t>(1 + random.below(14));
    options.log_reads = static_cast<std::uint8_t>(random.below(4));
    return options;
}

/// Zero, the duration of a packet, or longer than most timers.
std::chrono::microseconds draw_time(SeededRandom& random) {
    constexpr std::array<std::uint64_t, 4> longest{1, 1, 20, 2'000};
    return std::chrono::microseconds(random.below(longest.at(random.below(longest.size()))));
}

struct Draft {
    KeyScript script;
    KeyModel model; ///< after the script

    std::optional<Action> add(SeededRandom& random, std::size_t side, Wrong wanted) {
        auto action = draw_fitting(random, model, side, wanted);
        if (!action || model.side(side).actions >= max_actions)
            return {};
        model.carry_out(*action);
        script.steps.push_back({.action = *action, .time = draw_time(random)});
        return action;
    }
};

Draft draw_draft(SeededRandom& random, std::uint64_t seed) {
    KeyScript script{.seed = seed, .options = draw_key_options(random), .link = draw_link(random)};
    if (script.is_unreliable())
        script.link = {}; // no losses
    script.host_order_atomics = one_of(random, 2);
    script.sides = {draw_side(random), draw_side(random)};
    const KeyModel model(script.sides, script.rules());
    Draft draft{.script = std::move(script), .model = model};
    std::size_t side = 0;
    for (std::size_t left = 4 + random.below(40); left != 0; --left) {
        if (one_of(random, 6) && !draft.script.is_one_way())
            side = 1 - side;
        draft.add(random, side, Wrong::nothing);
    }
    return draft;
}

/// As many consecutive writes as fit.
std::vector<Action> draw_writes(SeededRandom& random, const KeyModel& model, std::size_t side) {
    constexpr std::uint32_t max = 10;
    const Side& other = model.side(1 - side);
    std::vector<Action> writes;
    for (int attempt = 0; attempt < 30 && writes.empty(); ++attempt) {
        Use target = draw_use(random, other, 1, Flaw::none);
        const Registration& is = other.keys[target.key].is;
        const auto length = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(1 + random.below(1500), is.length / max));
        for (std::uint32_t i = 0; length != 0 && i < max; ++i) {
            target.address = is.start + std::uint64_t{i} * length;
            target.length = length;
            writes.push_back({.side = side,
                              .act = Act::write,
                              .local = draw_local_use(random, model.side(side), length, Flaw::none),
                              .remote = target});
        }
        if (std::ranges::any_of(writes,
                                [&](const Action& write) { return model.check(write).any(); }))
            writes.clear();
    }
    return writes;
}

/// Changes the key, or the region of the window.
Action draw_interference(SeededRandom& random, const Side& side, std::size_t who,
                         std::size_t target) {
    Action action{.side = who, .key = target};
    if (side.keys[target].is_window() && one_of(random, 2))
        action.key = side.keys[target].is.region;
    const Key& key = side.keys[action.key];
    action.act = key.kind == KeyKind::window_type_2 || one_of(random, 2) ? Act::invalidation
                                                                         : Act::registration;
    if (action.act == Act::registration) {
        action.registration = draw_registration(random, key.kind, side);
        action.registration.variant = static_cast<std::uint8_t>(key.is.variant + 1);
    }
    return action;
}

} // namespace

KeyScript draw_key_script(std::uint64_t seed) {
    SeededRandom random(seed);
    return draw_draft(random, seed).script;
}

KeyScript draw_refused_script(std::uint64_t seed) {
    SeededRandom random(~seed);
    Draft draft = draw_draft(random, seed);
    constexpr std::array of_unreliable{Wrong::local, Wrong::remote, Wrong::own_key};
    const auto wrong = draft.script.is_unreliable()
                           ? of_unreliable.at(random.below(of_unreliable.size()))
                           : static_cast<Wrong>(1 + random.below(5));
    draft.add(random, draft.script.is_one_way() ? 0 : random.below(2), wrong);
    return draft.script;
}

KeyScript draw_racing_script(std::uint64_t seed) {
    SeededRandom random(seed ^ 0xaaaa'aaaaU);
    Draft draft = draw_draft(random, seed);
    if (draft.script.is_one_way() || draft.script.is_unreliable())
        return draft.script;
    const std::size_t side = random.below(2);
    Race race{.writes = draw_writes(random, draft.model, side),
              .change = {},
              .time = std::chrono::microseconds(random.below(60))};
    if (race.writes.empty())
        return draft.script;
    race.change =
        draw_interference(random, draft.model.side(1 - side), 1 - side, race.writes[0].remote.key);
    draft.script.race = std::move(race);
    return draft.script;
}

// --- Description ---------------------------------------------------------------------------------

namespace {

std::string describe(const Use& use) {
    return fmt::format("{} bytes at {:#x} of key {}/{:#x}", use.length, use.address, use.key,
                       use.variant);
}

std::string describe(const Registration& is) {
    std::string text = fmt::format(
        "variant {:#x}, {} bytes at {:#x}, rights {}{}{}{}, region {}/{:#x} at {:#x}, pieces",
        is.variant, is.length, is.start, is.rights.local_write ? "L" : "",
        is.rights.remote_read ? "r" : "", is.rights.remote_write ? "w" : "",
        is.rights.remote_atomic ? "a" : "", is.region, is.region_variant, is.region_address);
    for (const model::Piece& piece : is.pieces)
        text += fmt::format(" {:#x}+{:#x}", piece.offset, piece.length);
    for (const model::Block& block : is.blocks)
        text += fmt::format(", block {:#x}+{:#x} every {:#x}", block.offset, block.length,
                            block.stride);
    return text;
}

std::string describe(const Key& key) {
    return fmt::format("{}{}{}{}{}: {}", name_of(key.kind), key.valid ? "" : ", free",
                       key.of_other_domain ? ", other domain" : "",
                       key.of_other_queue_pair ? ", other queue pair" : "",
                       key.peer_may_invalidate ? ", peer may invalidate" : "", describe(key.is));
}

std::string describe(const model::Operands& operands) {
    return fmt::format("\n      operands {:#x}, {:#x}, masks {:#x}, {:#x}", operands.swap_or_add,
                       operands.compare, operands.swap_or_add_mask, operands.compare_mask);
}

std::string describe(const Action& action) {
    std::string text = fmt::format(
        "{} {}{}{}", action.side == 0 ? "first" : "second", name_of(action.act),
        action.order == model::Order::none
            ? ""
            : (action.order == model::Order::reads ? ", after reads" : ", after everything"),
        action.signaled ? "" : ", unsignaled");
    if (model::is_local(action.act))
        return text + fmt::format(" of key {}{}{}, entry {}: {}", action.key,
                                  action.demands_free ? ", which must be free" : "",
                                  action.lists_in_memory ? ", lists in memory" : "", action.entry,
                                  describe(action.registration));
    text += "\n      local " + describe(action.local) + "\n      remote " + describe(action.remote);
    if (model::takes_receive(action.act))
        text += "\n      receive " + describe(action.receive) +
                (action.receive_is_late ? ", late" : "");
    if (!model::is_atomic(action.act))
        return text;
    text += describe(action.operands);
    for (const model::Operands& operands : action.more_words)
        text += describe(operands);
    return text;
}

} // namespace

std::string describe(const KeyScript& script) {
    std::string text = fmt::format(
        "seed {}, service {}, MTU code {}, first PSN {:#x}, RNR timer {}, 2^{} reads, lost {}%, "
        "doubled {}%, overtaken {}%, late {}%{}\n",
        script.seed, queues::name_of(script.options.service), script.options.mtu_code,
        script.options.first_psn, script.options.not_ready_timer, script.options.log_reads,
        script.link.lost, script.link.doubled, script.link.overtaken, script.link.late,
        script.host_order_atomics ? ", atomic responses in host order" : "");
    for (const Side& side : script.sides) {
        for (std::size_t i = 0; i < side.keys.size(); ++i)
            text += fmt::format("  key {}: {}\n", i, describe(side.keys[i]));
        text += "\n";
    }
    for (const KeyStep& step : script.steps)
        text += fmt::format("  {}, then {} us\n", describe(step.action), step.time.count());
    if (!script.race)
        return text;
    for (const Action& write : script.race->writes)
        text += "  race: " + describe(write) + "\n";
    return text + fmt::format("  after {} us {}\n", script.race->time.count(),
                              describe(script.race->change));
}

} // namespace cxemu::transport::testing
