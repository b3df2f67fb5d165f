// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/fault_rule.hpp"

#include "base/numbers.hpp"
#include "tables/all.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <concepts>
#include <limits>
#include <spdlog/fmt/fmt.h>

namespace cxemu::check {

namespace {

constexpr std::string_view blanks = " \t\r";

/// `name`, `name=value`, `12.5%` or `@device`.
struct Word {
    std::string_view text;
    std::string_view name;
    std::optional<std::string_view> value;
};

/// Whether the word was consumed; an error text if its value is invalid.
using Taken = std::expected<bool, std::string>;

Word split(std::string_view text) {
    const auto equals = text.find('=');
    if (equals == std::string_view::npos)
        return {.text = text, .name = text, .value = {}};
    return {.text = text, .name = text.substr(0, equals), .value = text.substr(equals + 1)};
}

std::vector<Word> split_line(std::string_view line) {
    std::vector<Word> words;
    while (true) {
        const auto begin = line.find_first_not_of(blanks);
        if (begin == std::string_view::npos)
            return words;
        const auto end = std::min(line.find_first_of(blanks, begin), line.size());
        words.push_back(split(line.substr(begin, end - begin)));
        line.remove_prefix(end);
    }
}

template <class... Arguments>
std::unexpected<std::string> refuse(const Word& word, fmt::format_string<Arguments...> format,
                                    Arguments&&... arguments) {
    return std::unexpected(fmt::format("\"{}\": {}", word.text,
                                       fmt::format(format, std::forward<Arguments>(arguments)...)));
}

// --- Values --------------------------------------------------------------------------------------

template <std::unsigned_integral T>
Taken take_number(const Word& word, std::uint64_t min, std::uint64_t max, T& target) {
    const auto value = parse_number(word.value.value_or(""));
    if (!value || *value < min || *value > max)
        return refuse(word, "{} takes a number of {} to {:#x}", word.name, min, max);
    target = static_cast<T>(*value);
    return true;
}

template <std::unsigned_integral T>
Taken take_number(const Word& word, std::uint64_t min, std::uint64_t max,
                  std::optional<T>& target) {
    T value{};
    auto taken = take_number(word, min, max, value);
    if (taken)
        target = value;
    return taken;
}

Taken take_duration(const Word& word, EventLoop::Duration& target) {
    constexpr auto longest = std::chrono::hours(24);
    constexpr std::array<std::pair<std::string_view, std::chrono::nanoseconds>, 4> units{
        {{"ns", std::chrono::nanoseconds(1)},
         {"us", std::chrono::microseconds(1)},
         {"ms", std::chrono::milliseconds(1)},
         {"s", std::chrono::seconds(1)}}};
    const std::string_view text = word.value.value_or("");
    for (const auto& [unit, length] : units) {
        if (!text.ends_with(unit))
            continue;
        const auto count = parse_number(text.substr(0, text.size() - unit.size()));
        if (!count)
            continue;
        const auto max = static_cast<std::uint64_t>(longest / length);
        if (*count == 0 || *count > max)
            return refuse(word, "the longest time is 24 hours, the shortest is 1 ns");
        target = length * static_cast<std::int64_t>(*count);
        return true;
    }
    return refuse(word, "{} takes a time such as 500ms; its unit is ns, us, ms or s", word.name);
}

/// Lower case, joined by underscores: the form of names in the tables.
std::string as_in_tables(std::string_view text) {
    std::string name(text);
    std::ranges::transform(name, name.begin(), [](unsigned char letter) {
        return letter == '-' ? '_' : static_cast<char>(std::tolower(letter));
    });
    return name;
}

/// A name, or an unambiguous prefix of one.
template <class Range, class NameOf>
auto find_name(const Range& range, std::string_view text, NameOf name_of)
    -> const std::ranges::range_value_t<Range>* {
    const std::string wanted = as_in_tables(text);
    const std::ranges::range_value_t<Range>* found = nullptr;
    std::size_t candidates = 0;
    for (const auto& item : range) {
        if (name_of(item) == wanted)
            return &item;
        if (!wanted.empty() && name_of(item).starts_with(wanted)) {
            found = &item;
            ++candidates;
        }
    }
    return candidates == 1 ? found : nullptr;
}

/// A value of \p enumeration by its name, or a number up to \p max.
template <class T>
Taken take_named(const Word& word, const hwtab::Enumeration& enumeration, std::uint64_t max,
                 std::optional<T>& target) {
    const std::string_view text = word.value.value_or("");
    if (const auto* value =
            find_name(enumeration.values, text, [](const auto& item) { return item.name; })) {
        target = static_cast<T>(value->value);
        return true;
    }
    if (const auto number = parse_number(text); number && *number <= max) {
        target = static_cast<T>(*number);
        return true;
    }
    std::vector<std::string_view> names;
    for (const auto& value : enumeration.values)
        names.push_back(value.name);
    return refuse(word, "{} takes a number of 0 to {:#x} or one of {}", word.name, max,
                  fmt::join(names, ", "));
}

std::vector<const hwtab::Command*> all_commands() {
    std::vector<const hwtab::Command*> commands;
    for (const hwtab::Group* group : hwtab::all_groups)
        commands.insert(commands.end(), group->commands.begin(), group->commands.end());
    return commands;
}

Taken take_command_name(const Word& word, std::string_view name,
                        std::optional<std::uint16_t>& opcode) {
    if (name == "*") {
        opcode.reset();
        return true;
    }
    static const auto commands = all_commands();
    if (const auto* command =
            find_name(commands, name, [](const auto* item) { return item->name; })) {
        opcode = (*command)->opcode;
        return true;
    }
    if (const auto number = parse_number(name);
        number && *number <= std::numeric_limits<std::uint16_t>::max()) {
        opcode = static_cast<std::uint16_t>(*number);
        return true;
    }
    return refuse(word, "a command is *, a name such as CREATE_CQ, or an opcode of 0 to 0xffff");
}

/// `OFFSET:VALUE`.
std::optional<std::pair<std::uint64_t, std::uint64_t>> parse_pair(std::string_view text) {
    const auto colon = text.find(':');
    if (colon == std::string_view::npos)
        return {};
    const auto first = parse_number(text.substr(0, colon));
    const auto second = parse_number(text.substr(colon + 1));
    if (!first || !second)
        return {};
    return std::pair(*first, *second);
}

// --- Words of every kind -------------------------------------------------------------------------

/// "12.5%", in millionths.
Taken take_chance(const Word& word, FaultTrigger& trigger) {
    constexpr std::uint64_t per_percent = FaultTrigger::certain / 100;
    std::string_view text = word.text;
    text.remove_suffix(1);
    const auto point = text.find('.');
    std::string fraction(point == std::string_view::npos ? "" : text.substr(point + 1));
    const auto whole = parse_number(text.substr(0, point));
    if (fraction.size() <= 4)
        fraction.resize(4, '0');
    const auto part = parse_number(fraction);
    const std::uint64_t chance = whole.value_or(0) * per_percent + part.value_or(0);
    if (!whole || !part || fraction.size() > 4 || *whole > 100 || chance == 0 ||
        chance > FaultTrigger::certain)
        return refuse(word, "a chance is 0.0001% to 100%");
    trigger.chance = static_cast<std::uint32_t>(chance);
    return true;
}

Taken take_trigger(const Word& word, FaultTrigger& trigger) {
    constexpr std::uint64_t max = std::numeric_limits<std::uint32_t>::max();
    if (word.name == "nth") {
        auto taken = take_number(word, 1, max, trigger.first);
        if (taken && !trigger.max_injections)
            trigger.max_injections = 1;
        return taken;
    }
    if (word.name == "from")
        return take_number(word, 1, max, trigger.first);
    if (word.name == "every")
        return take_number(word, 1, max, trigger.every);
    if (word.name == "times")
        return take_number(word, 1, max, trigger.max_injections);
    if (word.text.ends_with('%'))
        return take_chance(word, trigger);
    return false;
}

// --- command -------------------------------------------------------------------------------------

Taken take_output_word(const Word& word, CommandFault& fault) {
    const auto pair = parse_pair(word.value.value_or(""));
    constexpr std::uint64_t max = std::numeric_limits<std::uint32_t>::max();
    if (!pair || pair->first % 4 != 0 || pair->first > max || pair->second > max)
        return refuse(word, "word takes OFFSET:VALUE, an offset in bytes that is a multiple of 4 "
                            "and a value of 32 bits");
    fault.words.emplace_back(static_cast<std::uint32_t>(pair->first),
                             static_cast<std::uint32_t>(pair->second));
    return true;
}

Taken take_garbage(const Word& word, CommandFault& fault) {
    if (word.value && *word.value != "all")
        return refuse(word, "it is garbage (the output behind its header) or garbage=all");
    fault.garbage = word.value ? CommandFault::Garbage::everything : CommandFault::Garbage::output;
    return true;
}

/// Without a value the output length is 0.
Taken take_length(const Word& word, CommandFault& fault) {
    fault.length = 0;
    return word.value
               ? take_number(word, 0, std::numeric_limits<std::uint32_t>::max(), fault.length)
               : Taken(true);
}

Taken take_flag(bool& flag) {
    flag = true;
    return true;
}

Taken take_command_word(const Word& word, CommandRule& rule) {
    constexpr std::uint64_t max_word = std::numeric_limits<std::uint32_t>::max();
    constexpr std::uint64_t max_delivery = 0x7f;
    CommandFault& fault = rule.fault;
    if (word.name == "hang")
        return take_flag(fault.hang);
    if (word.name == "drop-completion")
        return take_flag(fault.drop_completion);
    if (word.name == "drop-eqe")
        return take_flag(fault.drop_eqe);
    if (word.name == "status")
        return take_named(word, hwtab::command_status, 0xff, fault.status);
    if (word.name == "syndrome")
        return take_number(word, 0, max_word, fault.syndrome);
    if (word.name == "delay")
        return take_duration(word, fault.delay);
    if (word.name == "garbage")
        return take_garbage(word, fault);
    if (word.name == "bad-length")
        return take_length(word, fault);
    if (word.name == "token")
        return take_number(word, 0, 0xff, fault.token);
    if (word.name == "mailbox-token")
        return take_number(word, 0, 0xff, fault.mailbox_token);
    if (word.name == "signature")
        return take_number(word, 0, 0xff, fault.signature);
    if (word.name == "delivery")
        return take_named(word, hwtab::command_delivery_status, max_delivery, fault.delivery);
    if (word.name == "word")
        return take_output_word(word, fault);
    return false;
}

bool does_something(const CommandFault& fault) {
    return fault.hang || fault.drop_completion || fault.drop_eqe || fault.status ||
           fault.delay != EventLoop::Duration::zero() ||
           fault.garbage != CommandFault::Garbage::none || fault.length || fault.token ||
           fault.mailbox_token || fault.signature || fault.delivery || !fault.words.empty();
}

std::expected<void, std::string> check(const CommandRule& rule) {
    if (rule.fault.syndrome != 0 && !rule.fault.status)
        return std::unexpected(std::string("a syndrome needs a status"));
    if (!does_something(rule.fault))
        return std::unexpected(
            std::string("no fault of the command: status=, hang, "
                        "drop-completion, drop-eqe, delay=, garbage, bad-length, token=, "
                        "mailbox-token=, signature=, delivery= or word="));
    return {};
}

// --- packet --------------------------------------------------------------------------------------

constexpr std::array<std::pair<std::string_view, PacketFault>, 6> packet_faults{
    {{"drop", PacketFault::drop},
     {"duplicate", PacketFault::duplicate},
     {"reorder", PacketFault::reorder},
     {"corrupt", PacketFault::corrupt},
     {"corrupt-valid-crc", PacketFault::corrupt_valid_crc},
     {"delay", PacketFault::delay}}};

/// Upper three bits of the opcode.
constexpr std::array<std::pair<std::string_view, std::uint8_t>, 5> services{
    {{"rc", 0}, {"uc", 1}, {"rd", 2}, {"ud", 3}, {"xrc", 5}}};

Taken take_service(const Word& word, PacketRule& rule) {
    for (const auto& [name, bits] : services) {
        if (as_in_tables(word.value.value_or("")) == name) {
            rule.service = bits;
            return true;
        }
    }
    return refuse(word, "service takes rc, uc, rd, ud or xrc");
}

Taken take_direction(const Word& word, PacketRule& rule) {
    if (word.value == "out")
        rule.direction = PacketDirection::from_hca;
    else if (word.value == "in")
        rule.direction = PacketDirection::to_hca;
    else
        return refuse(word, "direction takes out (from the HCA) or in (to it)");
    return true;
}

Taken take_packet_word(const Word& word, PacketRule& rule) {
    constexpr std::uint64_t max_qpn = 0xff'ffff;
    if (word.name == "opcode")
        return take_named(word, hwtab::transport_opcode, 0xff, rule.opcode);
    if (word.name == "service")
        return take_service(word, rule);
    if (word.name == "direction")
        return take_direction(word, rule);
    if (word.name == "qp")
        return take_number(word, 0, max_qpn, rule.destination_qp);
    if (word.name == "port")
        return take_number(word, 1, 2, rule.port);
    if (word.name == "data")
        return take_flag(rule.spare_management);
    return false;
}

/// The second word is the fault.
Taken take_packet_fault(const Word& word, PacketRule& rule) {
    for (const auto& [name, fault] : packet_faults) {
        if (word.name != name)
            continue;
        rule.fault = fault;
        return fault == PacketFault::delay ? take_duration(word, rule.delay) : Taken(true);
    }
    return refuse(
        word,
        "a packet fault is drop, duplicate, reorder, corrupt, corrupt-valid-crc or delay=TIME");
}

// --- cqe and eqe ---------------------------------------------------------------------------------

constexpr std::uint32_t entry_bytes = hwtab::eqe.size;
static_assert(hwtab::cqe64.size == entry_bytes);
constexpr std::uint32_t owner_at = entry_bytes - 1;

/// A field of a completion that reports success, or of one that reports failure.
const hwtab::Field* find_field(EntryKind kind, std::string_view name) {
    if (kind == EntryKind::event)
        return hwtab::eqe.find(name);
    const hwtab::Field* field = hwtab::cqe64.find(name);
    return field != nullptr ? field : hwtab::err_cqe.find(name);
}

Taken take_field(const Word& word, EntryRule& rule) {
    const std::string_view text = word.value.value_or("");
    const auto colon = text.find(':');
    const std::string name = as_in_tables(text.substr(0, colon));
    const hwtab::Field* field = find_field(rule.kind, name);
    const bool has_value = colon != std::string_view::npos;
    const auto value = parse_number(has_value ? text.substr(colon + 1) : std::string_view());
    if (field == nullptr || field->width > 64 || field->is_structured() || field->count != 1)
        return refuse(word, "field takes FIELD:VALUE; the entry has no field \"{}\"", name);
    if (!value || (field->width < 64 && (*value >> field->width) != 0))
        return refuse(word, "{} has {} bits", name, field->width);
    rule.fault.forged_fields.push_back({field->offset, field->width, *value});
    return true;
}

Taken take_byte(const Word& word, std::vector<EntryFault::ForgedField>& fields) {
    const auto pair = parse_pair(word.value.value_or(""));
    if (!pair || pair->first >= entry_bytes || pair->second > 0xff)
        return refuse(word,
                      "{} takes OFFSET:VALUE, an offset of 0 to {:#x} and a value of 0 to "
                      "0xff",
                      word.name, owner_at);
    fields.push_back({static_cast<std::uint32_t>(pair->first) * hwtab::bits_per_byte,
                      hwtab::bits_per_byte, pair->second});
    return true;
}

/// An additional entry: a copy, with a byte changed or not, random, or of an undefined type.
Taken take_companion(const Word& word, EntryFault& fault) {
    if (word.name == "duplicate" || word.name == "second")
        fault.companion = EntryFault::Companion::same;
    else if (word.name == "extra")
        fault.companion = EntryFault::Companion::random;
    else if (word.name == "unknown")
        fault.companion = EntryFault::Companion::unknown;
    else
        return false;
    return word.name == "second" ? take_byte(word, fault.companion_fields) : Taken(true);
}

Taken take_entry_word(const Word& word, EntryRule& rule) {
    constexpr std::uint64_t max_number = 0xff'ffff;
    const bool completion = rule.kind == EntryKind::completion;
    if (word.name == "queue")
        return take_number(word, 0, max_number, rule.queue);
    if (completion && word.name == "qp")
        return take_number(word, 0, max_number, rule.queue_pair);
    if (completion && word.name == "wqe")
        return take_named(word, hwtab::wqe_opcode, 0xff, rule.wqe_opcode);
    if (completion && word.name == "data")
        return take_flag(rule.spare_management);
    if (word.name == "type")
        return completion ? take_named(word, hwtab::cqe_opcode, 0xf, rule.type)
                          : take_named(word, hwtab::event_type, 0xff, rule.type);
    if (word.name == "drop")
        return take_flag(rule.fault.drop);
    if (word.name == "random")
        return take_flag(rule.fault.random);
    if (word.name == "field")
        return take_field(word, rule);
    if (word.name == "set")
        return take_byte(word, rule.fault.forged_fields);
    return take_companion(word, rule.fault);
}

std::expected<void, std::string> check(const EntryRule& rule) {
    const EntryFault& fault = rule.fault;
    if (!fault.drop && !fault.random && fault.forged_fields.empty() &&
        fault.companion == EntryFault::Companion::none)
        return std::unexpected(std::string("no fault of the entry: drop, random, field=, set=, "
                                           "duplicate, second=, extra or unknown"));
    return {};
}

// --- health, surprise-removal, flr, event --------------------------------------------------------

Taken take_event_type(const Word& word, DeviceFault& fault) {
    constexpr std::uint8_t no_such_type = 0xfe;
    if (word.name == "unknown")
        fault.event = no_such_type;
    else if (word.name == "type")
        return take_named(word, hwtab::event_type, 0xff, fault.event);
    else
        return word.name == "random";
    return true;
}

Taken take_when(const Word& word, DeviceRule& rule) {
    if (word.name == "after")
        return take_duration(word, rule.after);
    if (word.name == "period")
        return take_duration(word, rule.period);
    if (word.name == "on") {
        rule.on_command = true;
        return take_command_name(word, word.value.value_or(""), rule.opcode);
    }
    return false;
}

Taken take_device_word(const Word& word, DeviceRule& rule) {
    using Kind = DeviceFault::Kind;
    DeviceFault& fault = rule.fault;
    const bool health = fault.kind == Kind::health || fault.kind == Kind::health_stuck;
    if (health && word.name == "stuck") {
        fault.kind = Kind::health_stuck;
        return true;
    }
    if (health && word.name == "warning")
        return take_flag(fault.warning);
    if (health && word.name == "syndrome")
        return take_number(word, 1, 0xff, fault.syndrome);
    if (fault.kind == Kind::surprise_removal && word.name == "for")
        return take_duration(word, fault.gone_for);
    if (fault.kind == Kind::event) {
        if (auto taken = take_event_type(word, fault); !taken || *taken)
            return taken;
    }
    return take_when(word, rule);
}

std::expected<void, std::string> check(const DeviceRule& rule) {
    const bool timed =
        rule.after != EventLoop::Duration::zero() || rule.period != EventLoop::Duration::zero();
    if (rule.on_command && timed)
        return std::unexpected(std::string("on= excludes after= and period="));
    return {};
}

std::expected<void, std::string> check(const PacketRule& /*rule*/) {
    return {};
}

// --- Lines ---------------------------------------------------------------------------------------

constexpr std::array<std::pair<std::string_view, DeviceFault::Kind>, 4> device_kinds{
    {{"health", DeviceFault::Kind::health},
     {"surprise-removal", DeviceFault::Kind::surprise_removal},
     {"flr", DeviceFault::Kind::function_reset},
     {"event", DeviceFault::Kind::event}}};

std::expected<void, std::string> choose_kind(const Word& word, FaultRule& rule) {
    if (word.text == "command")
        rule.what = CommandRule{};
    else if (word.text == "packet")
        rule.what = PacketRule{};
    else if (word.text == "cqe")
        rule.what.emplace<EntryRule>().kind = EntryKind::completion;
    else if (word.text == "eqe")
        rule.what.emplace<EntryRule>().kind = EntryKind::event;
    else {
        const auto* kind =
            std::ranges::find(device_kinds, word.text, [](const auto& item) { return item.first; });
        if (kind == device_kinds.end())
            return refuse(word, "a fault is command, packet, cqe, eqe, event, health, flr, "
                                "surprise-removal or random-device");
        rule.what.emplace<DeviceRule>().fault.kind = kind->second;
    }
    return {};
}

/// Command and packet rules require a second word. \return the number of words consumed
std::expected<std::size_t, std::string> take_head(const std::vector<Word>& words, FaultRule& rule) {
    if (auto chosen = choose_kind(words.front(), rule); !chosen)
        return std::unexpected(chosen.error());
    auto* command = std::get_if<CommandRule>(&rule.what);
    auto* packet = std::get_if<PacketRule>(&rule.what);
    if (command == nullptr && packet == nullptr)
        return 1;
    if (words.size() < 2)
        return std::unexpected(
            fmt::format("\"{}\" lacks {}", words.front().text,
                        command ? "the name of a command, or *" : "the fault of the packet"));
    const Taken taken = command ? take_command_name(words[1], words[1].text, command->opcode)
                                : take_packet_fault(words[1], *packet);
    if (!taken)
        return std::unexpected(taken.error());
    return 2;
}

struct TakeWord {
    const Word& word;
    Taken operator()(CommandRule& rule) const { return take_command_word(word, rule); }
    Taken operator()(PacketRule& rule) const { return take_packet_word(word, rule); }
    Taken operator()(EntryRule& rule) const { return take_entry_word(word, rule); }
    Taken operator()(DeviceRule& rule) const { return take_device_word(word, rule); }
};

std::expected<void, std::string> take_word(const Word& word, FaultRule& rule) {
    if (word.text.starts_with('@') && word.text.size() > 1) {
        rule.device = word.text.substr(1);
        return {};
    }
    Taken taken = std::visit(TakeWord{word}, rule.what);
    if (taken && !*taken)
        taken = take_trigger(word, rule.trigger);
    if (!taken)
        return std::unexpected(taken.error());
    if (!*taken)
        return refuse(word, "unknown word for this fault");
    return {};
}

} // namespace

std::string_view strip_comment(std::string_view line) {
    line = line.substr(0, line.find('#'));
    const auto begin = line.find_first_not_of(blanks);
    if (begin == std::string_view::npos)
        return {};
    return line.substr(begin, line.find_last_not_of(blanks) - begin + 1);
}

std::expected<FaultRule, std::string> parse_fault(std::string_view line) {
    FaultRule rule;
    rule.text = strip_comment(line);
    const auto words = split_line(rule.text);
    if (words.empty())
        return std::unexpected(std::string("the line is empty"));
    const auto head = take_head(words, rule);
    if (!head)
        return std::unexpected(head.error());
    for (std::size_t i = *head; i < words.size(); ++i) {
        if (auto taken = take_word(words[i], rule); !taken)
            return std::unexpected(taken.error());
    }
    if (auto checked = std::visit([](const auto& what) { return check(what); }, rule.what);
        !checked)
        return std::unexpected(checked.error());
    return rule;
}

} // namespace cxemu::check
