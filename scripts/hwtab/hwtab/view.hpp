// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/// @file
/// Reads and writes memory through a table: `View<cqc> cq{bytes}; cq.get<"log_cq_size">()`.
///
/// The compiler looks up the names, so a wrong name does not compile, and a right one costs a load,
/// a swap, a shift and a mask. A path descends into nested structures and alternatives:
/// `get<"qpc.primary_address_path.rlid">()`, `get<"capability.cmd_hca_cap.log_max_qp">()`.
#pragma once

#include "hwtab/fixed_string.hpp"
#include "hwtab/model.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace hwtab {

/// Target of a path: the field, and its offset from the start of the outermost structure.
struct Target {
    const Field* field = nullptr;
    std::uint32_t offset = 0; ///< bits
    std::uint32_t width = 0;  ///< bits, of one element
};

namespace detail {

/// The structure that the first name of `rest` selects below `field`, or nullptr.
constexpr const Layout* descend(const Field& field, std::string_view& rest) {
    if (field.layout != nullptr) {
        return field.layout;
    }
    const auto dot = rest.find('.');
    const std::string_view wanted = rest.substr(0, dot);
    for (const Layout* alternative : field.alternatives) {
        if (alternative->name == wanted && dot != std::string_view::npos) {
            rest.remove_prefix(dot + 1);
            return alternative;
        }
    }
    return nullptr;
}

constexpr std::uint64_t low_bits(std::uint32_t width) {
    return width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
}

} // namespace detail

/// Follows `path` (names joined by dots) through `layout`.
/// @return the field and its offset; Target::field is nullptr if a name doesn't exist.
constexpr Target locate(const Layout& layout, std::string_view path) {
    const Layout* current = &layout;
    std::uint32_t base = 0;
    while (current != nullptr) {
        const auto dot = path.find('.');
        const Field* field = current->find(path.substr(0, dot));
        if (field == nullptr) {
            return {};
        }
        base += field->offset;
        if (dot == std::string_view::npos) {
            return {field, base, field->width};
        }
        path.remove_prefix(dot + 1);
        current = detail::descend(*field, path);
    }
    return {};
}

/// Reads `width` (1 to 64) bits at bit `offset` of big-endian memory.
constexpr std::uint64_t read_bits(const std::byte* memory, std::uint32_t offset,
                                  std::uint32_t width) {
    const std::uint32_t first = offset / bits_per_byte;
    const std::uint32_t last = (offset + width - 1) / bits_per_byte;
    std::uint64_t value = std::to_integer<std::uint64_t>(memory[first]) &
                          detail::low_bits(bits_per_byte - (offset % bits_per_byte));
    for (std::uint32_t i = first + 1; i <= last; ++i) {
        value = (value << bits_per_byte) | std::to_integer<std::uint64_t>(memory[i]);
    }
    return value >> (((last + 1) * bits_per_byte) - (offset + width));
}

/// Writes `width` (1 to 64) bits at bit `offset`; neighbouring bits do not change.
constexpr void write_bits(std::byte* memory, std::uint32_t offset, std::uint32_t width,
                          std::uint64_t value) {
    const std::uint32_t end = offset + width;
    for (std::uint32_t done = 0; done < width;) {
        const std::uint32_t last_bit = end - done - 1;
        const std::uint32_t in_byte = last_bit % bits_per_byte;
        const std::uint32_t shift = bits_per_byte - 1 - in_byte;
        const std::uint32_t take = std::min(in_byte + 1, width - done);
        const auto mask = static_cast<std::byte>(detail::low_bits(take) << shift);
        std::byte& target = memory[last_bit / bits_per_byte];
        target = (target & ~mask) | (static_cast<std::byte>((value >> done) << shift) & mask);
        done += take;
    }
}

/// A structure in memory. `Byte` is `std::byte` or `const std::byte`; the caller owns the memory.
template <const Layout& layout, typename Byte = std::byte>
class View {
public:
    static constexpr std::size_t size = layout.size;

    /// @param memory at least `size` bytes; the list, if there is one, follows them.
    constexpr explicit View(std::span<Byte> memory) : memory_(memory) {
        assert(memory.size() >= size);
    }

    /// The value of a field of at most 64 bits.
    template <FixedString path>
    [[nodiscard]] constexpr std::uint64_t get() const {
        constexpr Target target = scalar<path>();
        return read_bits(memory_.data(), target.offset, target.width);
    }

    /// Sets a field of at most 64 bits. @param value must fit the field.
    template <FixedString path>
    constexpr void set(std::uint64_t value) const {
        constexpr Target target = scalar<path>();
        assert(value <= detail::low_bits(target.width));
        write_bits(memory_.data(), target.offset, target.width, value);
    }

    /// Element `index` of an array or list. @param index below the count, inside the memory.
    template <FixedString path>
    [[nodiscard]] constexpr std::uint64_t get_at(std::size_t index) const {
        return read_bits(memory_.data(), element<path>(index), sequence<path>().width);
    }

    template <FixedString path>
    constexpr void set_at(std::size_t index, std::uint64_t value) const {
        assert(value <= detail::low_bits(sequence<path>().width));
        write_bits(memory_.data(), element<path>(index), sequence<path>().width, value);
    }

    /// The bytes of a nested structure, an array or a list (all that the memory holds of it).
    template <FixedString path>
    [[nodiscard]] constexpr std::span<Byte> bytes() const {
        constexpr Target target = existing<path>();
        constexpr std::uint32_t offset = target.offset / bits_per_byte;
        if constexpr (target.field->is_list()) { // NOLINT(clang-analyzer-core.*): it is not null
            return memory_.subspan(offset);
        } else {
            return memory_.subspan(offset, target.width * target.field->count / bits_per_byte);
        }
    }

    /// A View of structure `inner` at `path` (element `index` of an array or list of them).
    template <FixedString path, const Layout& inner>
    [[nodiscard]] constexpr View<inner, Byte> nested(std::size_t index = 0) const {
        static_assert(existing<path>().field->is_structured(), "the field has no inner structure");
        return View<inner, Byte>{bytes<path>().subspan(index * inner.size, inner.size)};
    }

    [[nodiscard]] constexpr std::span<Byte> memory() const { return memory_; }

private:
    template <FixedString path>
    static consteval Target existing() {
        constexpr Target target = locate(layout, path.view());
        static_assert(target.field != nullptr, "the structure has no field of this name");
        return target;
    }

    template <FixedString path>
    static consteval Target scalar() {
        constexpr Target target = existing<path>();
        static_assert(target.field->count == 1 && target.width <= 64,
                      "the field is an array or a structure: use get_at, bytes or nested");
        return target;
    }

    template <FixedString path>
    static consteval Target sequence() {
        constexpr Target target = existing<path>();
        static_assert(target.field->count != 1 && target.width <= 64,
                      "the field is no array and no list of numbers");
        return target;
    }

    template <FixedString path>
    [[nodiscard]] constexpr std::uint32_t element(std::size_t index) const {
        constexpr Target target = sequence<path>();
        const auto offset = static_cast<std::uint32_t>(target.offset + (index * target.width));
        assert(target.field->is_list() || index < target.field->count);
        assert((offset + target.width) / bits_per_byte <= memory_.size());
        return offset;
    }

    std::span<Byte> memory_;
};

template <const Layout& layout>
using ConstView = View<layout, const std::byte>;

/// @return the name of `value` in `enumeration`, or an empty string.
constexpr std::string_view name_of(const Enumeration& enumeration, std::uint64_t value) {
    for (const Value& candidate : enumeration.values) {
        if (candidate.value == value) {
            return candidate.name;
        }
    }
    return {};
}

namespace detail {

template <const Enumeration& enumeration, FixedString name>
consteval std::uint64_t value_of() {
    constexpr const Value* found = [] {
        for (const Value& candidate : enumeration.values) {
            if (candidate.name == name.view()) {
                return &candidate;
            }
        }
        return static_cast<const Value*>(nullptr);
    }();
    static_assert(found != nullptr, "the enumeration has no value of this name");
    return found->value;
}

} // namespace detail

/// The number behind a name: `value<qp_state, "rts">`.
template <const Enumeration& enumeration, FixedString name>
inline constexpr std::uint64_t value = detail::value_of<enumeration, name>();

} // namespace hwtab
