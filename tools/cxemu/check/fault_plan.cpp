// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/fault_plan.hpp"

#include "base/numbers.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

namespace cxemu::check {

namespace {

constexpr std::string_view seed_word = "seed";
constexpr std::string_view random_device_word = "random-device";

/// A device whose outputs, CQEs and EQEs are random. Some of its commands have a wrong output (with
/// or without header), length, token or delivery status; EQEs are random, and some have no cause.
/// Every command completes, because a fuzzer must not wait for timeouts.
constexpr std::array random_device_rules{
    "command * garbage",
    "command * garbage=all",
    "command * mailbox-token=0",
    "command * token=0",
    "command * delivery=0x7f",
    "command * bad-length",
    "eqe random",
    "eqe extra",
    "eqe unknown",
    "eqe duplicate",
    "cqe random",
    "cqe extra",
};

/// \return the rest of \p line if its first word is \p name
std::optional<std::string_view> after_word(std::string_view line, std::string_view name) {
    if (!line.starts_with(name))
        return {};
    line.remove_prefix(name.size());
    if (!line.empty() && line.front() != ' ' && line.front() != '\t')
        return {};
    const auto begin = line.find_first_not_of(" \t");
    return begin == std::string_view::npos ? std::string_view() : line.substr(begin);
}

bool fits(const auto& wanted, const auto& found) {
    return !wanted || *wanted == found;
}

bool matches(const PacketRule& rule, const PacketFacts& facts) {
    constexpr std::uint32_t last_management_qp = 1;
    constexpr unsigned service_shift = 5;
    if (rule.spare_management && facts.destination_qp <= last_management_qp)
        return false;
    return fits(rule.port, facts.port) && fits(rule.direction, facts.direction) &&
           fits(rule.opcode, facts.opcode) && fits(rule.destination_qp, facts.destination_qp) &&
           fits(rule.service, static_cast<std::uint8_t>(facts.opcode >> service_shift));
}

bool matches(const EntryRule& rule, const EntryFacts& facts) {
    if (rule.spare_management && facts.is_management)
        return false;
    return rule.kind == facts.kind && fits(rule.queue, facts.queue) &&
           fits(rule.type, facts.type) && fits(rule.queue_pair, facts.queue_pair) &&
           fits(rule.wqe_opcode, facts.wqe_opcode);
}

template <class T>
void override_with(std::optional<T>& value, const std::optional<T>& other) {
    if (other)
        value = other;
}

/// Several rules may inject faults into the same command, so their faults are merged.
void merge(CommandFault& fault, const CommandFault& other) {
    fault.hang |= other.hang;
    fault.drop_completion |= other.drop_completion;
    fault.drop_eqe |= other.drop_eqe;
    override_with(fault.status, other.status);
    fault.syndrome = other.status ? other.syndrome : fault.syndrome;
    fault.delay = std::max(fault.delay, other.delay);
    if (other.garbage > fault.garbage) {
        fault.garbage = other.garbage;
        fault.garbage_seed = other.garbage_seed;
    }
    override_with(fault.length, other.length);
    override_with(fault.token, other.token);
    override_with(fault.mailbox_token, other.mailbox_token);
    override_with(fault.signature, other.signature);
    override_with(fault.delivery, other.delivery);
    fault.words.insert(fault.words.end(), other.words.begin(), other.words.end());
}

void merge(EntryFault& fault, const EntryFault& other) {
    fault.drop |= other.drop;
    fault.random |= other.random;
    if (other.companion != EntryFault::Companion::none)
        fault.companion = other.companion;
    fault.seed ^= other.seed;
    fault.forged_fields.insert(fault.forged_fields.end(), other.forged_fields.begin(),
                               other.forged_fields.end());
    fault.companion_fields.insert(fault.companion_fields.end(), other.companion_fields.begin(),
                                  other.companion_fields.end());
}

} // namespace

/// A rule and its counters.
struct FaultPlan::Rule {
    Rule(FaultRule rule, std::uint64_t seed) : said(std::move(rule)), random(seed) {}

    [[nodiscard]] bool concerns(std::string_view device) const {
        return said.device.empty() || said.device == device;
    }

    /// Counts a match of the rule. \return true if the fault is injected
    bool injects() {
        ++matched;
        const FaultTrigger& trigger = said.trigger;
        if (matched < trigger.first || (matched - trigger.first) % trigger.every != 0)
            return false;
        if (trigger.max_injections && injected >= *trigger.max_injections)
            return false;
        if (trigger.chance != FaultTrigger::certain &&
            random.below(FaultTrigger::certain) >= trigger.chance)
            return false;
        ++injected;
        return true;
    }

    FaultRule said;
    SeededRandom random;
    std::uint64_t matched = 0;
    std::uint64_t injected = 0;
    std::unique_ptr<Timer> timer; ///< of a device fault with a time trigger
};

FaultPlan::FaultPlan(EventLoop& loop, Log log)
    : loop_(loop), log_(std::move(log)), alive_(std::make_shared<bool>(true)) {}

FaultPlan::~FaultPlan() = default;

// --- Lines ---------------------------------------------------------------------------------------

std::expected<void, std::string> FaultPlan::add(std::string_view line) {
    line = strip_comment(line);
    if (line.empty())
        return {};
    if (const auto rest = after_word(line, seed_word)) {
        const auto seed = parse_number(*rest);
        if (!seed)
            return std::unexpected(fmt::format("\"{}\": a seed is a number of 64 bits", *rest));
        set_seed(*seed);
        return {};
    }
    if (const auto rest = after_word(line, random_device_word))
        return add_random_device(*rest);
    return add_rule(line);
}

std::expected<void, std::string> FaultPlan::add_rule(std::string_view line) {
    if (rules_.size() >= max_rules)
        return std::unexpected(fmt::format("too many rules (maximum {})", max_rules));
    auto parsed = parse_fault(line);
    if (!parsed)
        return std::unexpected(parsed.error());
    const std::uint64_t seed = SeededRandom(seed_ + rules_made_++).next();
    Rule& rule = *rules_.emplace_back(std::make_unique<Rule>(*std::move(parsed), seed));
    if (const auto* device = std::get_if<DeviceRule>(&rule.said.what);
        device != nullptr && !device->on_command)
        start_timer(rule);
    announce_packets();
    return {};
}

/// \p words, such as a chance and a device, are appended to each of its rules.
std::expected<void, std::string> FaultPlan::add_random_device(std::string_view words) {
    for (const char* rule : random_device_rules) {
        if (auto added = add_rule(fmt::format("{} {}", rule, words)); !added)
            return added;
    }
    return {};
}

std::expected<void, std::string> FaultPlan::read(const std::filesystem::path& file) {
    std::ifstream stream(file);
    if (!stream)
        return std::unexpected(fmt::format("fault plan {} can't be read", file.string()));
    std::size_t number = 0;
    for (std::string line; std::getline(stream, line);) {
        ++number;
        if (auto added = add(line); !added)
            return std::unexpected(
                fmt::format("fault plan {}, line {}: {}", file.string(), number, added.error()));
    }
    return {};
}

void FaultPlan::clear(std::string_view device) {
    std::erase_if(rules_, [device](const auto& rule) {
        return device.empty() || rule->said.device == device;
    });
    if (device.empty())
        rules_made_ = 0;
    announce_packets();
}

// --- Queries -------------------------------------------------------------------------------------

std::optional<CommandFault> FaultPlan::on_command(std::string_view device, std::uint16_t opcode) {
    std::optional<CommandFault> fault;
    for (const auto& rule : rules_) {
        if (!rule->concerns(device))
            continue;
        if (auto* command = std::get_if<CommandRule>(&rule->said.what)) {
            if (!fits(command->opcode, opcode) || !rule->injects())
                continue;
            command->fault.garbage_seed = rule->random.next();
            if (!fault)
                fault.emplace();
            merge(*fault, command->fault);
        } else if (const auto* whole = std::get_if<DeviceRule>(&rule->said.what)) {
            if (!whole->on_command || !fits(whole->opcode, opcode) || !rule->injects())
                continue;
            if (!fault)
                fault.emplace();
            fault->hang |= whole->fault.kind != DeviceFault::Kind::event;
            inject_device_fault(*rule, device);
        }
    }
    return fault;
}

std::optional<FaultPlan::PacketVerdict> FaultPlan::on_packet(const PacketFacts& facts) {
    for (const auto& rule : rules_) {
        const auto* packet = std::get_if<PacketRule>(&rule->said.what);
        if (packet == nullptr || !rule->concerns(facts.device) || !matches(*packet, facts) ||
            !rule->injects())
            continue;
        return PacketVerdict{packet->fault, packet->delay, rule->random.next()};
    }
    return {};
}

std::optional<EntryFault> FaultPlan::on_entry(std::string_view device, const EntryFacts& facts) {
    std::optional<EntryFault> fault;
    for (const auto& rule : rules_) {
        auto* entry = std::get_if<EntryRule>(&rule->said.what);
        if (entry == nullptr || !rule->concerns(device) || !matches(*entry, facts) ||
            !rule->injects())
            continue;
        entry->fault.seed = rule->random.next();
        if (!fault)
            fault.emplace();
        merge(*fault, entry->fault);
    }
    return fault;
}

// --- Whole devices -------------------------------------------------------------------------------

void FaultPlan::start_timer(Rule& rule) {
    const auto& what = std::get<DeviceRule>(rule.said.what);
    const bool repeated = what.period != EventLoop::Duration::zero();
    rule.timer = std::make_unique<Timer>(loop_, [this, &rule, repeated, period = what.period] {
        if (rule.injects())
            inject_device_fault(rule, rule.said.device);
        if (repeated)
            rule.timer->start(period);
    });
    rule.timer->start(what.after != EventLoop::Duration::zero() ? what.after : what.period);
}

void FaultPlan::inject_device_fault(Rule& rule, std::string_view device) {
    DeviceFault fault = std::get<DeviceRule>(rule.said.what).fault;
    fault.seed = rule.random.next();
    if (limiter_.allow())
        log_->info("fault: {}", rule.said.text);
    loop_.defer([this, alive = std::weak_ptr(alive_), name = std::string(device), fault] {
        if (!alive.expired() && device_handler_)
            device_handler_(name, fault);
    });
}

// --- State ---------------------------------------------------------------------------------------

void FaultPlan::set_packet_switch(std::function<void(bool)> packet_switch) {
    packet_switch_ = std::move(packet_switch);
    packets_wanted_ = false;
    announce_packets();
}

bool FaultPlan::has_packet_rules() const {
    return std::ranges::any_of(rules_, [](const auto& rule) {
        return std::holds_alternative<PacketRule>(rule->said.what);
    });
}

void FaultPlan::announce_packets() {
    const bool wanted = has_packet_rules();
    if (std::exchange(packets_wanted_, wanted) != wanted && packet_switch_)
        packet_switch_(wanted);
}

nlohmann::json FaultPlan::to_json() const {
    nlohmann::json rules = nlohmann::json::array();
    for (const auto& rule : rules_)
        rules.push_back(
            {{"line", rule->said.text}, {"matched", rule->matched}, {"injected", rule->injected}});
    return {{"seed", seed_}, {"rules", std::move(rules)}};
}

} // namespace cxemu::check
