// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/// @file
/// The vocabulary in which the hardware tables are written.
///
/// A table is plain constexpr data: a Layout is a list of Fields, a Command ties an opcode to an
/// input and an output Layout, an Enumeration names the values of a Field. hwtab/verify.hpp
/// refuses a wrong table at compile time, hwtab/view.hpp reads and writes memory through one, and
/// the emitters turn all of them into C headers, name tables, tests and reference pages.
///
/// Everything that the device shares with software is big endian and is described in 32-bit words:
/// a position is the byte offset of a word and the bits of that word, bit 31 first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace hwtab {

/// Who may change a field while the structure is in use.
enum class Access : std::uint8_t {
    read_write, ///< software writes, device and software read
    read_only,  ///< the device writes, software reads
    reserved,   ///< zero, for both sides
};

/// What a structure is for; decides which emitters take it and what they add.
enum class Kind : std::uint8_t {
    context,         ///< object context, or a part of one, inside commands
    command_input,   ///< input of a command, header included
    command_output,  ///< output of a command, header included
    capability,      ///< capability page of QUERY_HCA_CAP
    access_register, ///< payload of ACCESS_REGISTER
    memory,          ///< shared memory or BAR structure: command queue, init segment, health
    work_queue,      ///< WQE segment or doorbell: the hot path, gets whole-word packers
    completion,      ///< CQE
    event,           ///< EQE or its data
    datagram,        ///< InfiniBand MAD
    packet_header,   ///< header of an InfiniBand packet
};

/// One named value of a field.
struct Value {
    std::string_view name; ///< lower case, as in the public interface
    std::uint64_t value;
    std::string_view meaning;
};

/// The named values of one or more fields.
struct Enumeration {
    std::string_view name;
    std::span<const Value> values;
    std::string_view meaning;
    /// The values are single bits that can be combined; `value` is the mask.
    bool is_mask = false;
    /// Messages of C code name its values, so there is a function hw_NAME_name().
    bool has_names = false;
};

struct Layout;

/// One field, or one declared gap, of a Layout.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): members in the order of reading
struct Field {
    std::string_view name;    ///< empty for a declared gap
    std::uint32_t offset = 0; ///< in bits from the start of the structure, bit 31 of word 0 is 0
    std::uint32_t width = 0;  ///< in bits, of one element
    std::uint32_t count = 1;  ///< number of elements; 0: a list as long as the message
    Access access = Access::read_write;
    std::string_view meaning;
    const Enumeration* values = nullptr;
    const Layout* layout = nullptr; ///< structure of each element, if it has one
    // NOLINTNEXTLINE(readability-redundant-member-init): GCC wants it in designated initializers
    std::span<const Layout* const> alternatives{}; ///< what may lie here, when it depends
    bool is_alias = false;                         ///< another name for bits that a field has

    [[nodiscard]] constexpr bool is_reserved() const { return access == Access::reserved; }
    [[nodiscard]] constexpr bool is_list() const { return count == 0; }
    [[nodiscard]] constexpr bool is_array() const { return count > 1; }
    [[nodiscard]] constexpr bool is_structured() const {
        return layout != nullptr || !alternatives.empty();
    }
    /// First bit after the field; for a list, its own offset.
    [[nodiscard]] constexpr std::uint32_t end() const { return offset + (width * count); }
};

/// A structure: `size` fixed bytes, followed by a list if the last field is one.
struct Layout {
    std::string_view name;
    Kind kind;
    std::uint32_t size; ///< bytes without a list at the end
    std::span<const Field> fields;
    std::string_view meaning;
    /// Software reads and writes single words of it in place, like registers or a doorbell record,
    /// so the C header has the offset of each word that has a field.
    bool in_place = false;

    /// @return the field of that name, or nullptr.
    [[nodiscard]] constexpr const Field* find(std::string_view wanted) const {
        for (const Field& field : fields) {
            if (!field.name.empty() && field.name == wanted) {
                return &field;
            }
        }
        return nullptr;
    }
};

/// A firmware command.
struct Command {
    std::string_view name; ///< lower case, as in the public interface
    std::uint16_t opcode;
    const Layout* input;
    const Layout* output;
    std::string_view meaning;
    const Enumeration* op_mods = nullptr; ///< what op_mod selects; none: it is zero
};

/// A register behind ACCESS_REGISTER.
struct Register {
    std::string_view name;
    std::uint16_t id;
    const Layout* layout;
    std::string_view meaning;
};

/// The tables of one subject: one C header, one reference page.
struct Group {
    std::string_view name;  ///< file name without suffix
    std::string_view title; ///< heading of the reference page
    std::string_view meaning;
    std::span<const Layout* const> layouts;
    // NOLINTBEGIN(readability-redundant-member-init): GCC wants it in designated initializers
    std::span<const Enumeration* const> enumerations{};
    std::span<const Command* const> commands{};
    std::span<const Register* const> registers{};
    /// Source of the layouts that are not in the interface headers of Linux.
    std::string_view source{};
    /// No C program uses it: it has no C header.
    bool is_for_device_only = false;
    // NOLINTEND(readability-redundant-member-init)
};

inline constexpr std::uint32_t bits_per_byte = 8;
inline constexpr std::uint32_t bits_per_word = 32;

/// Position of bit `bit` of the 32-bit word at byte `word`, counted from the start of the
/// structure.
consteval std::uint32_t position(std::uint32_t word, std::uint32_t bit) {
    return (word * bits_per_byte) + (bits_per_word - 1 - bit);
}

/// A field inside one 32-bit word: bits `high` to `low` of the word at byte offset `word`.
consteval Field bits(std::string_view name, std::uint32_t word, std::uint32_t high,
                     std::uint32_t low, std::string_view meaning,
                     const Enumeration* values = nullptr) {
    return {.name = name,
            .offset = position(word, high),
            .width = high - low + 1,
            .meaning = meaning,
            .values = values};
}

/// A single bit.
consteval Field flag(std::string_view name, std::uint32_t word, std::uint32_t bit,
                     std::string_view meaning) {
    return bits(name, word, bit, bit, meaning);
}

/// A whole 32-bit word.
consteval Field word32(std::string_view name, std::uint32_t word, std::string_view meaning,
                       const Enumeration* values = nullptr) {
    return bits(name, word, bits_per_word - 1, 0, meaning, values);
}

/// Two 32-bit words that make one 64-bit number, the high word first.
consteval Field word64(std::string_view name, std::uint32_t word, std::string_view meaning,
                       const Enumeration* values = nullptr) {
    return {.name = name,
            .offset = word * bits_per_byte,
            .width = 2 * bits_per_word,
            .meaning = meaning,
            .values = values};
}

/// `count` elements of `element_bits` bits from byte `offset` on; 8, 16, 32 and 64 bits are
/// allowed.
consteval Field array(std::string_view name, std::uint32_t offset, std::uint32_t element_bits,
                      std::uint32_t count, std::string_view meaning) {
    return {.name = name,
            .offset = offset * bits_per_byte,
            .width = element_bits,
            .count = count,
            .meaning = meaning};
}

/// Bytes without an inner structure.
consteval Field bytes(std::string_view name, std::uint32_t offset, std::uint32_t count,
                      std::string_view meaning) {
    return array(name, offset, bits_per_byte, count, meaning);
}

/// Elements of `element_bits` bits that follow the fixed part, as many as the message holds.
consteval Field list(std::string_view name, std::uint32_t offset, std::uint32_t element_bits,
                     std::string_view meaning) {
    return array(name, offset, element_bits, 0, meaning);
}

/// `count` structures in place.
consteval Field nested(std::string_view name, std::uint32_t offset, const Layout& layout,
                       std::string_view meaning, std::uint32_t count = 1) {
    return {.name = name,
            .offset = offset * bits_per_byte,
            .width = layout.size * bits_per_byte,
            .count = count,
            .meaning = meaning,
            .layout = &layout};
}

/// Structures that follow the fixed part, as many as the message holds.
consteval Field nested_list(std::string_view name, std::uint32_t offset, const Layout& layout,
                            std::string_view meaning) {
    return nested(name, offset, layout, meaning, 0);
}

/// `size` bytes that hold one of several structures.
consteval Field choice(std::string_view name, std::uint32_t offset, std::uint32_t size,
                       std::span<const Layout* const> alternatives, std::string_view meaning) {
    return {.name = name,
            .offset = offset * bits_per_byte,
            .width = size * bits_per_byte,
            .meaning = meaning,
            .alternatives = alternatives};
}

/// Bits `high` to `low` of the word at byte `word` that must be zero.
consteval Field reserved(std::uint32_t word, std::uint32_t high, std::uint32_t low) {
    return {.name = {},
            .offset = position(word, high),
            .width = high - low + 1,
            .access = Access::reserved,
            .meaning = {}};
}

/// `count` bytes from byte `offset` on that must be zero.
consteval Field reserved_bytes(std::uint32_t offset, std::uint32_t count) {
    return {.name = {},
            .offset = offset * bits_per_byte,
            .width = bits_per_byte,
            .count = count,
            .access = Access::reserved,
            .meaning = {}};
}

/// The same field, written by the device only.
consteval Field read_only(Field field) {
    field.access = Access::read_only;
    return field;
}

/// Another name for bits that a field of the structure already has.
consteval Field alias(Field field) {
    field.is_alias = true;
    return field;
}

} // namespace hwtab
