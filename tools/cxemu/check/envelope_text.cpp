// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/envelope_text.hpp"

#include <optional>
#include <spdlog/fmt/fmt.h>
#include <string_view>
#include <toml++/toml.hpp>
#include <utility>
#include <vector>

namespace cxemu::check {

namespace {

constexpr std::string_view zero = "0";

bool is_bit(const std::string& value) {
    return value.starts_with('+');
}

bool is_mask(const EnvelopeValues& values) {
    return !values.empty() && is_bit(*values.begin());
}

std::string sometimes(const std::string& bit) {
    return bit.ends_with('?') ? bit : bit + "?";
}

/// A bit that one recording always has set and the other never becomes "sometimes set".
EnvelopeValues merge_masks(const EnvelopeValues& one, const EnvelopeValues& other) {
    EnvelopeValues merged;
    for (const auto& [mine, theirs] : {std::pair(&one, &other), std::pair(&other, &one)}) {
        for (const std::string& bit : *mine)
            merged.insert(theirs->contains(bit) ? bit : sometimes(bit));
    }
    return merged;
}

EnvelopeValues merge_values(const EnvelopeValues& one, const EnvelopeValues& other) {
    if (is_mask(one) || is_mask(other))
        return merge_masks(one, other);
    EnvelopeValues merged = one;
    merged.insert(other.begin(), other.end());
    if (one.empty() || other.empty())
        merged.emplace(zero);
    return merged;
}

EnvelopeFields merge_fields(const EnvelopeFields& one, const EnvelopeFields& other) {
    EnvelopeFields merged;
    for (const auto& [name, values] : one) {
        const auto found = other.find(name);
        merged[name] =
            merge_values(values, found == other.end() ? EnvelopeValues{} : found->second);
    }
    for (const auto& [name, values] : other) {
        if (!one.contains(name))
            merged[name] = merge_values(values, {});
    }
    return merged;
}

std::optional<EnvelopeFields> take_fields(const toml::table& table) {
    EnvelopeFields fields;
    for (const auto& [name, list] : table) {
        if (!list.is_array())
            return std::nullopt;
        EnvelopeValues& values = fields[std::string(name.str())];
        for (const toml::node& value : *list.as_array()) {
            if (!value.is_string())
                return std::nullopt;
            values.insert(value.as_string()->get());
        }
    }
    return fields;
}

} // namespace

std::expected<EnvelopeText, std::string> read_envelope(const std::filesystem::path& file) {
    EnvelopeText envelope;
    try {
        for (const auto& [subject, table] : toml::parse_file(file.string())) {
            auto fields = table.is_table() ? take_fields(*table.as_table()) : std::nullopt;
            if (!fields)
                return std::unexpected(
                    fmt::format("envelope {}, line {}: \"{}\" is no table of lists of strings",
                                file.string(), table.source().begin.line, subject.str()));
            envelope.emplace(subject.str(), *std::move(fields));
        }
    } catch (const toml::parse_error& error) {
        return std::unexpected(fmt::format("envelope {}, line {}: {}", file.string(),
                                           error.source().begin.line, error.description()));
    }
    return envelope;
}

EnvelopeText merge(const EnvelopeText& one, const EnvelopeText& other) {
    EnvelopeText merged = one;
    for (const auto& [subject, fields] : other) {
        const auto [found, is_new] = merged.emplace(subject, fields);
        if (!is_new)
            found->second = merge_fields(found->second, fields);
    }
    return merged;
}

std::string print(const EnvelopeText& envelope) {
    std::string text;
    for (const auto& [subject, fields] : envelope) {
        text += fmt::format("{}[\"{}\"]\n", text.empty() ? "" : "\n", subject);
        for (const auto& [name, values] : fields)
            text += fmt::format("\"{}\" = [\"{}\"]\n", name, fmt::join(values, "\", \""));
    }
    return text;
}

} // namespace cxemu::check
