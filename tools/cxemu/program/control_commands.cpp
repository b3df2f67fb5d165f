// SPDX-License-Identifier: GPL-2.0-or-later
#include "program/control_commands.hpp"

#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace cxemu::program {

namespace {

using nlohmann::json;
using Arguments = ControlCommands::Arguments;

json error(std::string text) {
    return {{"error", std::move(text)}};
}

std::optional<std::int64_t> number(const std::string& text) {
    const bool negative = text.starts_with('-');
    std::string_view digits = std::string_view(text).substr(negative ? 1 : 0);
    const int base = digits.starts_with("0x") ? 16 : 10;
    if (base == 16)
        digits.remove_prefix(2);
    std::int64_t value = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size())
        return {};
    return negative ? -value : value;
}

json describe_health(const hca::Health& health) {
    return {{"counter", health.counter()},
            {"syndrome", static_cast<unsigned>(health.report().syndrome)},
            {"fatal", health.fatal()},
            {"miss_syndrome", health.miss_syndrome()}};
}

json set_health_syndrome(Adapter& adapter, std::int64_t syndrome, bool fatal) {
    const hca::HealthReport report{.syndrome = static_cast<hca::HealthSyndrome>(syndrome),
                                   .reset_required = fatal,
                                   .severity = fatal ? hca::HealthSeverity::emergency
                                                     : hca::HealthSeverity::warning};
    if (fatal)
        adapter.hca().fail_fatally(report);
    else
        adapter.hca().health().set_report(report);
    return describe_health(adapter.hca().health());
}

json run_health(Adapter& adapter, Arguments arguments) {
    hca::Health& health = adapter.hca().health();
    if (arguments.empty())
        return describe_health(health);
    const std::string& what = arguments.front();
    if (what == "clear")
        health.reset();
    else if (what == "stop" || what == "go")
        health.stop_counter(what == "stop");
    else if ((what == "fatal" || what == "report") && arguments.size() == 2) {
        const auto syndrome = number(arguments[1]);
        if (!syndrome || *syndrome < 1 || *syndrome > 0xff)
            return error(fmt::format("syndrome {} is not 1 to 255", arguments[1]));
        return set_health_syndrome(adapter, *syndrome, what == "fatal");
    } else
        return error(fmt::format("\"{}\" is not clear, stop, go, fatal N or report N", what));
    return describe_health(health);
}

/// All events are posted before the guest runs, so more events than the EQ has entries overrun it.
json request_pages(hca::FirmwarePages& pages, std::int32_t count, std::int64_t times) {
    for (std::int64_t sent = 0; sent < times; ++sent)
        if (!pages.request(count) && sent == 0)
            return error("no event queue takes page requests");
    return pages.to_json();
}

json run_pages(Adapter& adapter, Arguments arguments) {
    hca::FirmwarePages& pages = adapter.hca().pages();
    if (arguments.empty())
        return pages.to_json();
    if (arguments.front() == "verify")
        return {{"damaged", pages.verify()}};
    if (arguments.front() != "request" || arguments.size() < 2 || arguments.size() > 3)
        return error("the arguments are none, verify, or request N [TIMES]");
    const auto count = number(arguments[1]);
    constexpr std::int64_t max_count = 50'000;
    if (!count || *count == 0 || *count < -max_count || *count > max_count)
        return error(fmt::format("{} is not a number of pages from {} to {}", arguments[1],
                                 -max_count, max_count));
    const auto times = arguments.size() == 3 ? number(arguments[2]) : 1;
    constexpr std::int64_t max_times = 10'000;
    if (!times || *times < 1 || *times > max_times)
        return error(fmt::format("{} is not 1 to {} times", arguments[2], max_times));
    return request_pages(pages, static_cast<std::int32_t>(*count), *times);
}

json run_link(fabric::Fabric& fabric, Adapter& adapter, Arguments arguments) {
    if (arguments.size() != 1 || (arguments[0] != "down" && arguments[0] != "up"))
        return error("the argument is down or up");
    json result = json::object();
    for (std::uint8_t number = 1; number <= adapter.hca().settings().ports; ++number) {
        fabric::Link* link = fabric.find_link(fmt::format("{}/{}", adapter.name(), number));
        if (link == nullptr)
            continue;
        link->set_plugged(arguments[0] == "up");
        result[link->name()] = arguments[0];
    }
    return result;
}

} // namespace

ControlCommands::ControlCommands(std::vector<std::unique_ptr<Adapter>>& adapters,
                                 fabric::Fabric& fabric, check::Checker& checker,
                                 check::FaultPlan& faults)
    : adapters_(adapters), fabric_(fabric), checker_(checker), faults_(faults) {
    add("stats", "all statistics",
        [](Adapter& adapter, Arguments) { return adapter.statistics(); });
    add("objects", "numbers of objects by kind",
        [](Adapter& adapter, Arguments) { return adapter.hca().objects().to_json(); });
    add("health", "[clear | stop | go | fatal N | report N]: the health report; N is a syndrome",
        run_health);
    add("complete", "completes the commands whose completion a fault has dropped; says how many",
        [](Adapter& adapter, Arguments) {
            return adapter.hca().command_queue().complete_dropped();
        });
    add("insert", "puts the HCA back that a fault has removed; says whether it was removed",
        [](Adapter& adapter, Arguments) { return adapter.insert(); });
    add("link", "down | up: takes the cables of the HCA out, or puts them in",
        [this](Adapter& adapter, Arguments arguments) {
            return run_link(fabric_, adapter, arguments);
        });
    add("pages",
        "[verify | request N [TIMES]]: firmware pages; N < 0 offers pages to the host; with TIMES "
        "as many requests at once",
        run_pages);
}

void ControlCommands::add(std::string name, std::string usage, AdapterCommand command) {
    commands_.insert_or_assign(std::move(name), Command{std::move(usage), std::move(command)});
}

json ControlCommands::help() const {
    json result = json::object();
    for (const auto& [name, command] : commands_)
        result[name] = command.usage;
    result["fabric"] = "ports, links and switch";
    result["violations"] = "[allow RULE N REASON]: what the strict checker has found; the next N "
                           "violations of a rule are expected";
    result["faults"] =
        "[clear [@hca0]]: the rules of the fault plan and how often they were applied";
    result["fault"] = "LINE: adds a line to the fault plan";
    result["help"] = "this list; a last word @hca0 chooses one HCA";
    return result;
}

json ControlCommands::statistics() const {
    json result = json::object();
    for (const auto& adapter : adapters_)
        result[adapter->name()] = adapter->statistics();
    return result;
}

json ControlCommands::add_fault(Arguments words) {
    if (words.empty())
        return error("the argument is a line of a fault plan");
    if (const auto added = faults_.add(fmt::format("{}", fmt::join(words, " "))); !added)
        return error(added.error());
    return {{"ok", faults_.to_json()}};
}

json ControlCommands::run_violations(Arguments words) {
    if (words.empty())
        return {{"ok", checker_.to_json()}};
    if (words.front() != "allow" || words.size() < 4)
        return error("the arguments are none, or allow RULE N REASON");
    const auto max_violations = number(words[2]);
    if (!max_violations || *max_violations < 1)
        return error(fmt::format("{} is not a number of violations from 1 on", words[2]));
    checker_.allow({.rule = words[1],
                    .detail = "",
                    .reason = fmt::format("{}", fmt::join(words.subspan(3), " ")),
                    .max_violations = static_cast<std::uint64_t>(*max_violations)});
    return {{"ok", checker_.to_json()}};
}

json ControlCommands::run_faults(Arguments words) {
    std::string_view device;
    if (words.size() == 2 && words.back().starts_with('@')) {
        device = std::string_view(words.back()).substr(1);
        words = words.first(1);
    }
    const bool clear = words.size() == 1 && words.front() == "clear";
    if (!words.empty() && !clear)
        return error("the arguments are none, clear, or clear @hca0");
    json before = faults_.to_json();
    if (clear)
        faults_.clear(device);
    return {{"ok", std::move(before)}};
}

json ControlCommands::run(const std::vector<std::string>& words) {
    if (words.front() == "help")
        return {{"ok", help()}};
    if (words.front() == "fabric")
        return {{"ok", fabric_.statistics()}};
    const Arguments arguments = Arguments(words).subspan(1);
    if (words.front() == "violations")
        return run_violations(arguments);
    if (words.front() == "faults")
        return run_faults(arguments);
    if (words.front() == "fault")
        return add_fault(arguments);
    const auto found = commands_.find(words.front());
    if (found == commands_.end())
        return error(fmt::format("there is no command \"{}\"; help lists them", words.front()));
    return run_for_adapters(found->second, {words.begin() + 1, words.end()});
}

json ControlCommands::run_for_adapters(const Command& command, std::vector<std::string> arguments) {
    std::string chosen;
    if (!arguments.empty() && arguments.back().starts_with('@')) {
        chosen = arguments.back().substr(1);
        arguments.pop_back();
    }
    json results = json::object();
    for (const auto& adapter : adapters_) {
        if (!chosen.empty() && adapter->name() != chosen)
            continue;
        json result = command.run(*adapter, arguments);
        if (result.is_object() && result.contains("error"))
            return result;
        results[adapter->name()] = std::move(result);
    }
    if (results.empty())
        return error(fmt::format("there is no HCA \"{}\"", chosen));
    return {{"ok", std::move(results)}};
}

} // namespace cxemu::program
