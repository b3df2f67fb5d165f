// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The strict checker: counts and names violations of the interface rules by the driver.
///
/// The checker never changes the behaviour of the device. The code that detects a violation reports
/// it once. The allow-list decides whether the violation counts against the driver.
#pragma once

#include "base/log.hpp"
#include "check/rule.hpp"

#include <cstdint>
#include <expected>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cxemu::check {

/// A violation that is known and accepted.
struct Allowance {
    std::string rule;   ///< name of the rule
    std::string detail; ///< text that the detail must contain; empty: any
    std::string reason; ///< why it is accepted; never empty
    std::optional<std::uint64_t> max_violations = {}; ///< empty: unlimited
    std::uint64_t used = 0;

    [[nodiscard]] bool covers(const Rule& violated, std::string_view what) const {
        return rule == violated.name && what.contains(detail) &&
               (!max_violations || used < *max_violations);
    }
};

/// Violations of one rule.
struct ViolationCount {
    std::string_view meaning;
    std::uint64_t counted = 0;         ///< against the driver
    std::uint64_t allowed = 0;         ///< covered by the allow-list
    std::vector<std::string> examples; ///< the first few details that counted
};

class Checker {
public:
    static constexpr std::size_t examples_kept = 8;

    explicit Checker(Log log);
    ~Checker();
    Checker(const Checker&) = delete;
    Checker& operator=(const Checker&) = delete;

    /// Counts a violation of \p rule. \param device HCA that saw it ("hca0")
    /// \param detail names, numbers and values of the violation; one line
    void report(const Rule& rule, std::string_view device, std::string_view detail);

    /// Reads an allow-list: a TOML file with tables `[[allow]]` of `rule`, `reason` and optionally
    /// `detail`.
    /// \return an error text that names the file, the entry and the cause
    std::expected<void, std::string> read_allow_list(const std::filesystem::path& file);

    void allow(Allowance allowance);

    /// Violations that count against the driver, over all rules.
    [[nodiscard]] std::uint64_t counted() const;
    [[nodiscard]] std::uint64_t counted(const Rule& rule) const;
    [[nodiscard]] const std::map<std::string_view, ViolationCount>& violations() const {
        return violations_;
    }

    [[nodiscard]] nlohmann::json to_json() const;

    /// One line for each rule that counted: "name: how often: meaning: first example".
    [[nodiscard]] std::string to_text() const;

    /// Writes to_text() to \p file, replacing it atomically; without violations it is empty.
    /// \return an error text that names the file and the cause
    [[nodiscard]] std::expected<void, std::string>
    write_report(const std::filesystem::path& file) const;

private:
    Allowance* find_allowance(const Rule& rule, std::string_view detail);

    Log log_;
    LogLimiter limiter_;
    std::map<std::string_view, ViolationCount> violations_; ///< by name of the rule
    std::vector<Allowance> allowances_;
};

} // namespace cxemu::check
