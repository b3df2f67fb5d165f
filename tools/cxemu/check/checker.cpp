// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/checker.hpp"

#include "base/write_file.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <toml++/toml.hpp>
#include <utility>

namespace cxemu::check {

namespace {

/// Parses one `[[allow]]` table. \return the allowance, or an error text
std::expected<Allowance, std::string> parse_allowance(const toml::node& node) {
    const toml::table* table = node.as_table();
    if (table == nullptr)
        return std::unexpected("is not a table");
    Allowance allowance{.rule = (*table)["rule"].value_or(std::string{}),
                        .detail = (*table)["detail"].value_or(std::string{}),
                        .reason = (*table)["reason"].value_or(std::string{})};
    if (allowance.rule.empty())
        return std::unexpected("has no 'rule'");
    if (allowance.reason.empty())
        return std::unexpected("has no 'reason'");
    return allowance;
}

} // namespace

Checker::Checker(Log log) : log_(std::move(log)) {}

Checker::~Checker() = default;

Allowance* Checker::find_allowance(const Rule& rule, std::string_view detail) {
    const auto found = std::ranges::find_if(
        allowances_, [&](const Allowance& allowance) { return allowance.covers(rule, detail); });
    return found == allowances_.end() ? nullptr : &*found;
}

void Checker::report(const Rule& rule, std::string_view device, std::string_view detail) {
    ViolationCount& count = violations_[rule.name];
    count.meaning = rule.meaning;
    if (Allowance* allowance = find_allowance(rule, detail)) {
        ++allowance->used;
        ++count.allowed;
        return;
    }
    ++count.counted;
    if (count.examples.size() < examples_kept)
        count.examples.push_back(fmt::format("{}: {}", device, detail));
    if (limiter_.allow())
        log_->warn("violation of {}: {}: {}", rule.name, device, detail);
}

void Checker::allow(Allowance allowance) {
    allowances_.push_back(std::move(allowance));
}

std::expected<void, std::string> Checker::read_allow_list(const std::filesystem::path& file) {
    toml::table document;
    try {
        document = toml::parse_file(file.string());
    } catch (const toml::parse_error& error) {
        return std::unexpected(fmt::format("allow-list {}, line {}: {}", file.string(),
                                           error.source().begin.line, error.description()));
    }
    const toml::array* entries = document["allow"].as_array();
    if (entries == nullptr)
        return std::unexpected(fmt::format("allow-list {}: no [[allow]] in it", file.string()));
    for (const toml::node& entry : *entries) {
        auto allowance = parse_allowance(entry);
        if (!allowance)
            return std::unexpected(fmt::format("allow-list {}, line {}: the entry {}",
                                               file.string(), entry.source().begin.line,
                                               allowance.error()));
        allow(*std::move(allowance));
    }
    return {};
}

std::uint64_t Checker::counted() const {
    std::uint64_t sum = 0;
    for (const auto& [name, count] : violations_)
        sum += count.counted;
    return sum;
}

std::uint64_t Checker::counted(const Rule& rule) const {
    const auto found = violations_.find(rule.name);
    return found == violations_.end() ? 0 : found->second.counted;
}

nlohmann::json Checker::to_json() const {
    nlohmann::json rules = nlohmann::json::object();
    for (const auto& [name, count] : violations_) {
        rules[std::string(name)] = {{"meaning", count.meaning},
                                    {"counted", count.counted},
                                    {"allowed", count.allowed},
                                    {"examples", count.examples}};
    }
    nlohmann::json allowed = nlohmann::json::array();
    for (const Allowance& allowance : allowances_) {
        allowed.push_back({{"rule", allowance.rule},
                           {"detail", allowance.detail},
                           {"reason", allowance.reason},
                           {"used", allowance.used}});
    }
    return {{"violations", counted()}, {"rules", rules}, {"allow_list", allowed}};
}

std::string Checker::to_text() const {
    std::string text;
    for (const auto& [name, count] : violations_) {
        if (count.counted != 0)
            text += fmt::format("{}: {} times: {} First: {}\n", name, count.counted, count.meaning,
                                count.examples.front());
    }
    return text;
}

std::expected<void, std::string> Checker::write_report(const std::filesystem::path& file) const {
    return write_file(file, to_text());
}

} // namespace cxemu::check
