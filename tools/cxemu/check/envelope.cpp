// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/envelope.hpp"

#include "base/write_file.hpp"
#include "hwtab/view.hpp"

#include <spdlog/fmt/fmt.h>
#include <utility>

namespace cxemu::check {

namespace {

std::uint64_t all_ones(std::uint32_t width) {
    return width >= 64 ? ~0ULL : (1ULL << width) - 1;
}

std::string_view class_of(const hwtab::Field& field, std::uint64_t value) {
    return value == all_ones(field.width) ? "ones" : "nonzero";
}

/// The tables have no names for the bits of some masks.
bool is_mask(const hwtab::Field& field) {
    return field.values != nullptr ? field.values->is_mask
                                   : field.width > 1 && field.name.ends_with("_mask");
}

/// The field is one byte of a longer value, so its values mean nothing by themselves.
bool is_byte_string(const hwtab::Field& field) {
    return field.count != 1 && field.width == hwtab::bits_per_byte;
}

/// A wide field may name only a few of its values, such as special keys. Only these are recorded by
/// value.
bool is_recorded_by_value(const hwtab::Field& field, std::uint64_t value) {
    if (value == 0)
        return true;
    const std::uint32_t width = field.values != nullptr ? max_enumeration_width : max_number_width;
    return field.width <= width
               ? !is_byte_string(field)
               : field.values != nullptr && !hwtab::name_of(*field.values, value).empty();
}

std::string value_name(const hwtab::Field& field, std::uint64_t value) {
    const auto name = field.values != nullptr && value != 0 ? hwtab::name_of(*field.values, value)
                                                            : std::string_view{};
    if (!name.empty())
        return std::string(name);
    return value < 10 ? fmt::format("{}", value) : fmt::format("{:#x}", value);
}

EnvelopeValues bits_of(const hwtab::Field& field, std::uint64_t any, std::uint64_t all) {
    EnvelopeValues values;
    while (any != 0) {
        const std::uint64_t bit = any & -any;
        any ^= bit;
        values.insert(fmt::format("+{}{}", value_name(field, bit), (all & bit) != 0 ? "" : "?"));
    }
    return values;
}

/// All elements of an array have one path. The path of a gap is its position.
std::string path_of(const FoundField& found) {
    std::string path;
    bool skipping = false;
    for (const char character : found.path) {
        skipping = skipping && character != ']';
        if (!skipping)
            path.push_back(character);
        skipping = skipping || character == '[';
    }
    if (!found.field->is_reserved())
        return path;
    path += path.empty() ? "reserved" : ".reserved";
    const hwtab::Field& gap = *found.field;
    const std::uint32_t in_word = gap.offset % hwtab::bits_per_word;
    const std::uint32_t high = hwtab::bits_per_word - 1 - in_word;
    const std::uint32_t byte = gap.offset / hwtab::bits_per_byte;
    return gap.count != 1
               ? fmt::format("{} {:#x}[{}]", path, byte, gap.count)
               : fmt::format("{} {:#x} {}:{}", path, byte / 4 * 4, high, high + 1 - gap.width);
}

/// Returns true for fields of the command header whose values are part of the subject.
bool is_named_by_subject(const hwtab::Field& field) {
    return field.name == "opcode" || field.name == "op_mod";
}

} // namespace

void Envelope::add(Seen& seen, std::uint64_t value) {
    const hwtab::Field& field = *seen.field;
    if (is_mask(field)) {
        seen.any |= value;
        seen.all &= value;
        return;
    }
    if (is_recorded_by_value(field, value))
        seen.values.insert(value);
    else
        seen.classes.insert(class_of(field, value));
}

EnvelopeValues Envelope::values_of(const Seen& seen) {
    if (is_mask(*seen.field))
        return bits_of(*seen.field, seen.any, seen.all);
    if (seen.classes.empty() && seen.values == std::set<std::uint64_t>{0})
        return {};
    EnvelopeValues values(seen.classes.begin(), seen.classes.end());
    for (const std::uint64_t value : seen.values)
        values.insert(value_name(*seen.field, value));
    return values;
}

void Envelope::record(std::string_view subject, const hwtab::Layout& layout,
                      std::span<const std::byte> bytes, const Chooser& choose) {
    auto found = subjects_.find(subject);
    if (found == subjects_.end())
        found = subjects_.emplace(subject, SeenFields{}).first;
    SeenFields& fields = found->second;
    std::map<std::string, std::pair<const hwtab::Field*, std::uint64_t>> byte_strings;
    const WalkOptions options{.choose = choose, .max_elements = elements_recorded};
    walk_layout(layout, bytes.size(), options, [&](const FoundField& visited) {
        const hwtab::Field& field = *visited.field;
        if (visited.width > 64 || is_named_by_subject(field))
            return;
        const std::uint64_t value = hwtab::read_bits(bytes.data(), visited.offset, visited.width);
        if (is_byte_string(field)) {
            auto& [described, sum] = byte_strings[path_of(visited)];
            described = &field;
            sum |= value;
            return;
        }
        Seen& seen = fields[path_of(visited)];
        seen.field = &field;
        add(seen, value);
    });
    for (const auto& [path, bytes_seen] : byte_strings) {
        Seen& seen = fields[path];
        seen.field = bytes_seen.first;
        add(seen, bytes_seen.second != 0 ? 1 : 0);
    }
}

void Envelope::note(std::string_view subject, std::string_view field, std::string_view value) {
    notes_[std::string(subject)][std::string(field)].emplace(value);
}

EnvelopeText Envelope::text() const {
    EnvelopeText envelope = notes_;
    for (const auto& [subject, fields] : subjects_) {
        EnvelopeFields& described = envelope[subject];
        for (const auto& [path, seen] : fields) {
            if (auto values = values_of(seen); !values.empty())
                described[path] = std::move(values);
        }
    }
    return envelope;
}

std::expected<void, std::string> Envelope::write(const std::filesystem::path& file) const {
    EnvelopeText envelope = text();
    if (std::filesystem::exists(file)) {
        const auto earlier = read_envelope(file);
        if (!earlier)
            return std::unexpected(earlier.error());
        envelope = merge(*earlier, envelope);
    }
    return write_file(file, print(envelope));
}

} // namespace cxemu::check
