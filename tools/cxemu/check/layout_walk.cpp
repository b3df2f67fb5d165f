// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/layout_walk.hpp"

#include "hwtab/view.hpp"

#include <algorithm>
#include <spdlog/fmt/fmt.h>

namespace cxemu::check {

namespace {

constexpr std::uint32_t elements_printed = 8;

class Walk {
public:
    Walk(std::size_t size, const WalkOptions& options, const FieldVisitor& visit)
        : end_(static_cast<std::uint32_t>(size * hwtab::bits_per_byte)), options_(options),
          visit_(visit) {}

    void structure(const hwtab::Layout& layout, const std::string& prefix, std::uint32_t base) {
        for (const hwtab::Field& field : layout.fields) {
            if (!field.is_alias)
                elements(field, prefix, base + field.offset);
        }
    }

private:
    void elements(const hwtab::Field& field, const std::string& prefix, std::uint32_t offset) {
        const std::uint32_t count = element_count(field, offset);
        for (std::uint32_t i = 0; i < count; ++i) {
            const std::uint32_t at = offset + (i * field.width);
            if (at + field.width > end_)
                return;
            element(field, element_path(field, prefix, i), at);
        }
    }

    [[nodiscard]] std::uint32_t element_count(const hwtab::Field& field,
                                              std::uint32_t offset) const {
        std::uint32_t count = field.count;
        if (field.is_list())
            count = offset < end_ && field.width != 0 ? (end_ - offset) / field.width : 0;
        // A reserved gap is one element: max_elements does not apply.
        if (options_.max_elements != 0 && !field.is_reserved())
            count = std::min(count, options_.max_elements);
        return count;
    }

    static std::string element_path(const hwtab::Field& field, const std::string& prefix,
                                    std::uint32_t index) {
        if (field.is_reserved())
            return prefix;
        const std::string path =
            prefix.empty() ? std::string(field.name) : fmt::format("{}.{}", prefix, field.name);
        return field.count == 1 ? path : fmt::format("{}[{}]", path, index);
    }

    void element(const hwtab::Field& field, const std::string& path, std::uint32_t offset) {
        const hwtab::Layout* inner = field.layout;
        if (inner == nullptr && !field.alternatives.empty() && options_.choose)
            inner = options_.choose(field);
        if (inner != nullptr)
            structure(*inner, path, offset);
        else if (field.alternatives.empty())
            visit_({path, &field, offset, field.width});
    }

    std::uint32_t end_; ///< bits
    const WalkOptions& options_;
    const FieldVisitor& visit_;
};

std::string print_value(const hwtab::Field& field, std::uint64_t value) {
    if (field.values != nullptr && !field.values->is_mask) {
        if (const auto name = hwtab::name_of(*field.values, value); !name.empty())
            return std::string(name);
    }
    return value < 10 ? fmt::format("{}", value) : fmt::format("{:#x}", value);
}

/// Text of a byte array with printable characters up to its first zero; else empty.
std::string printable_text(std::span<const std::byte> bytes) {
    std::string text;
    for (const std::byte byte : bytes) {
        const char character = static_cast<char>(byte);
        if (character == '\0')
            break;
        if (character < ' ' || character > '~')
            return {};
        text.push_back(character);
    }
    return text;
}

} // namespace

void walk_layout(const hwtab::Layout& layout, std::size_t size, const WalkOptions& options,
                 const FieldVisitor& visit) {
    Walk(size, options, visit).structure(layout, {}, 0);
}

void find_reserved_bits(
    const hwtab::Layout& layout, std::span<const std::byte> bytes, const Chooser& choose,
    const std::function<void(std::string_view where, std::uint64_t value)>& complain) {
    const WalkOptions options{.choose = choose};
    walk_layout(layout, bytes.size(), options, [&](const FoundField& found) {
        if (!found.field->is_reserved() || found.width > 64)
            return;
        const std::uint64_t value = hwtab::read_bits(bytes.data(), found.offset, found.width);
        if (value == 0)
            return;
        const std::uint32_t in_word = found.offset % hwtab::bits_per_word;
        const std::uint32_t high = hwtab::bits_per_word - 1 - in_word;
        const std::uint32_t word = (found.offset - in_word) / hwtab::bits_per_byte;
        const std::string_view inside = found.path;
        complain(fmt::format("{}{}word {:#x} bits {}:{}", inside, inside.empty() ? "" : " ", word,
                             high, high + 1 - found.width),
                 value);
    });
}

std::string decode(const hwtab::Layout& layout, std::span<const std::byte> bytes,
                   const Chooser& choose) {
    std::string line;
    const WalkOptions options{.choose = choose, .max_elements = elements_printed};
    const auto add = [&line](std::string_view path, std::string_view value) {
        line += fmt::format("{}{}={}", line.empty() ? "" : " ", path, value);
    };
    walk_layout(layout, bytes.size(), options, [&](const FoundField& found) {
        const hwtab::Field& field = *found.field;
        if (field.is_reserved() || found.width > 64)
            return;
        if (field.width == hwtab::bits_per_byte && field.count > elements_printed) {
            // A byte array is visited element by element; its text is printed with the first.
            if (!found.path.ends_with("[0]"))
                return;
            const auto text = printable_text(
                bytes.subspan(found.offset / hwtab::bits_per_byte).first(field.count));
            if (!text.empty())
                add(found.path.substr(0, found.path.size() - 3), fmt::format("\"{}\"", text));
            return;
        }
        const std::uint64_t value = hwtab::read_bits(bytes.data(), found.offset, found.width);
        if (value != 0)
            add(found.path, print_value(field, value));
    });
    return line;
}

} // namespace cxemu::check
