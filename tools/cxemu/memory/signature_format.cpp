// SPDX-License-Identifier: GPL-2.0-or-later
#include "memory/signature_format.hpp"

#include "hwtab/view.hpp"
#include "tables/work_queue.hpp"

#include <algorithm>
#include <array>

namespace cxemu::memory {

namespace {

using Inline = hwtab::ConstView<hwtab::bsf_inl>;
using Basic = hwtab::ConstView<hwtab::bsf_basic>;
template <typename T>
using Decoded = std::expected<T, FormatFault>;

constexpr unsigned signature_bits = 64;
constexpr unsigned application_shift = 32;
constexpr Signature guard_bits = 0xffff'0000'0000'0000;
constexpr Signature application_bits = 0x0000'ffff'0000'0000;
constexpr Signature reference_bits = 0x0000'0000'ffff'ffff;

struct BlockSize {
    std::uint64_t selector;
    std::uint32_t bytes;
};
constexpr std::array block_sizes{
    BlockSize{hwtab::value<hwtab::bsf_block_size, "block_512">, 512},
    BlockSize{hwtab::value<hwtab::bsf_block_size, "block_520">, 520},
    BlockSize{hwtab::value<hwtab::bsf_block_size, "block_4096">, 4096},
    BlockSize{hwtab::value<hwtab::bsf_block_size, "block_4160">, 4160},
    BlockSize{hwtab::value<hwtab::bsf_block_size, "block_1_gib">, 1U << 30U},
    BlockSize{hwtab::value<hwtab::bsf_block_size, "block_4048">, 4048},
};

struct CrcKind {
    std::uint64_t code;
    GuardKind guard;
};
constexpr std::array crc_kinds{
    CrcKind{hwtab::value<hwtab::bsf_block_format, "crc32">, GuardKind::crc32},
    CrcKind{hwtab::value<hwtab::bsf_block_format, "crc32c">, GuardKind::crc32c},
    CrcKind{hwtab::value<hwtab::bsf_block_format, "crc64_xp10">, GuardKind::crc64_xp10},
};
constexpr std::uint64_t crc_zero_seed = hwtab::value<hwtab::bsf_block_format, "crc32_seed_zero"> -
                                        hwtab::value<hwtab::bsf_block_format, "crc32">;
constexpr std::uint64_t crc_repeat = hwtab::value<hwtab::bsf_block_format, "crc32_repeat"> -
                                     hwtab::value<hwtab::bsf_block_format, "crc32">;

Decoded<GuardKind> crc_kind(std::uint64_t code) {
    const auto found =
        std::ranges::find(crc_kinds, code & ~(crc_zero_seed | crc_repeat), &CrcKind::code);
    if (found == crc_kinds.end())
        return std::unexpected(FormatFault::unknown_kind);
    if ((code & crc_repeat) == 0)
        return std::unexpected(FormatFault::not_repeated);
    return found->guard;
}

Decoded<TagEscape> tag_escape(std::uint64_t code) {
    switch (code) {
    case hwtab::value<hwtab::bsf_escape, "none">:
        return TagEscape::none;
    case hwtab::value<hwtab::bsf_escape, "apptag">:
        return TagEscape::application;
    case hwtab::value<hwtab::bsf_escape, "appref">:
        return TagEscape::application_and_reference;
    default:
        return std::unexpected(FormatFault::unknown_kind);
    }
}

/// \param part the inline part of the BSF, empty without one
Decoded<void> take_dif(std::span<const std::byte> part, SignatureDomain& domain) {
    if (part.empty() || Inline{part}.get<"valid">() == 0)
        return std::unexpected(FormatFault::missing_inline_part);
    const Inline fields{part};
    if (fields.get<"repeat_block">() == 0)
        return std::unexpected(FormatFault::not_repeated);
    const auto escape = tag_escape(fields.get<"escape">());
    if (!escape)
        return std::unexpected(escape.error());
    switch (fields.get<"sig_type">()) {
    case hwtab::value<hwtab::bsf_sig_type, "dif_crc">:
        domain.guard = GuardKind::t10_crc;
        break;
    case hwtab::value<hwtab::bsf_sig_type, "dif_ipcs">:
        domain.guard = GuardKind::ip_checksum;
        break;
    default:
        return std::unexpected(FormatFault::unknown_kind);
    }
    domain.tags = DifTags{.application = static_cast<std::uint16_t>(fields.get<"dif_apptag">()),
                          .application_mask =
                              static_cast<std::uint16_t>(fields.get<"dif_app_bitmask_check">()),
                          .reference = static_cast<std::uint32_t>(fields.get<"dif_reftag">()),
                          .reference_increments = fields.get<"inc_reftag">() != 0,
                          .escape = *escape};
    return {};
}

/// Fields of the basic part for one domain.
struct DomainFields {
    std::uint64_t block_size; ///< selector; 0: no signatures
    std::uint64_t format;
    std::uint64_t variable;
    std::span<const std::byte> inline_part;
};

Decoded<std::optional<SignatureDomain>> take_domain(const DomainFields& fields) {
    if (fields.block_size == 0)
        return std::nullopt;
    const auto size = std::ranges::find(block_sizes, fields.block_size, &BlockSize::selector);
    if (size == block_sizes.end())
        return std::unexpected(FormatFault::unknown_block_size);
    SignatureDomain domain{.variable = static_cast<std::uint32_t>(fields.variable),
                           .block_size = size->bytes};
    if (fields.format == hwtab::value<hwtab::bsf_block_format, "t10_dif">) {
        if (const auto taken = take_dif(fields.inline_part, domain); !taken)
            return std::unexpected(taken.error());
        return domain;
    }
    const auto guard = crc_kind(fields.format);
    if (!guard)
        return std::unexpected(guard.error());
    domain.guard = *guard;
    return domain;
}

Decoded<std::size_t> size_of(Basic basic) {
    switch (basic.get<"bsf_size">()) {
    case hwtab::value<hwtab::bsf_size, "basic">:
        return hwtab::bsf_basic.size;
    case hwtab::value<hwtab::bsf_size, "extended">:
        return hwtab::bsf_basic.size + hwtab::bsf_ext.size;
    case hwtab::value<hwtab::bsf_size, "with_inline">:
        return hwtab::bsf.size;
    default:
        return std::unexpected(FormatFault::encrypted);
    }
}

/// Splits the BSF into its parts.
struct Parts {
    std::span<const std::byte> basic;
    std::span<const std::byte> wire_inline;
    std::span<const std::byte> memory_inline;
};

Decoded<Parts> take_apart(std::span<const std::byte> bytes) {
    if (bytes.size() < hwtab::bsf_basic.size)
        return std::unexpected(FormatFault::too_short);
    const auto size = size_of(Basic{bytes});
    if (!size)
        return std::unexpected(size.error());
    if (bytes.size() < *size)
        return std::unexpected(FormatFault::too_short);
    Parts parts{
        .basic = bytes.first(hwtab::bsf_basic.size), .wire_inline = {}, .memory_inline = {}};
    const auto extended =
        bytes.first(*size)
            .subspan(hwtab::bsf_basic.size)
            .first(std::min<std::size_t>(hwtab::bsf_ext.size, *size - hwtab::bsf_basic.size));
    if (std::ranges::any_of(extended, [](std::byte byte) { return byte != std::byte{0}; }))
        return std::unexpected(FormatFault::transaction);
    if (*size == hwtab::bsf.size) {
        parts.memory_inline = bytes.first(*size).last(hwtab::bsf_inl.size);
        parts.wire_inline = bytes.first(*size - hwtab::bsf_inl.size).last(hwtab::bsf_inl.size);
    }
    return parts;
}

} // namespace

Signature expand_mask(std::uint8_t mask) {
    Signature expanded = 0;
    for (unsigned bit = 0; bit < hwtab::bits_per_byte; ++bit) {
        if ((mask >> bit & 1U) != 0)
            expanded |= Signature{0xff} << (bit * hwtab::bits_per_byte);
    }
    return expanded;
}

std::uint32_t SignatureDomain::signature_size() const {
    return (tags ? signature_bits : width_of(guard)) / hwtab::bits_per_byte;
}

Guard SignatureDomain::new_guard(std::uint64_t transient_signature) const {
    return {guard, transient_signature >> (signature_bits - width_of(guard))};
}

Signature SignatureDomain::sign(std::uint64_t block, std::uint64_t checksum) const {
    const Signature signature = checksum << (signature_bits - width_of(guard));
    if (!tags)
        return signature;
    const auto reference =
        static_cast<std::uint32_t>(tags->reference + (tags->reference_increments ? block : 0));
    return signature | Signature{tags->application} << application_shift | reference;
}

std::optional<SignaturePart> SignatureDomain::compare(Signature expected, Signature found,
                                                      std::uint8_t mask) const {
    const Signature different = (expected ^ found) & expand_mask(mask);
    if (!tags)
        return different != 0 ? std::optional(SignaturePart::guard) : std::nullopt;
    const bool application_escapes = (found & application_bits) == application_bits;
    const bool reference_escapes = (found & reference_bits) == reference_bits;
    if ((tags->escape == TagEscape::application && application_escapes) ||
        (tags->escape == TagEscape::application_and_reference && application_escapes &&
         reference_escapes))
        return std::nullopt;
    if ((different & guard_bits) != 0)
        return SignaturePart::guard;
    if ((different & (Signature{tags->application_mask} << application_shift)) != 0)
        return SignaturePart::application_tag;
    if ((different & reference_bits) != 0)
        return SignaturePart::reference_tag;
    return std::nullopt;
}

std::uint64_t SignatureDomain::raw_size(std::uint64_t size) const {
    return (size / stride() * block_size) + std::min<std::uint64_t>(size % stride(), block_size);
}

std::uint64_t SignatureDomain::signed_size(std::uint64_t raw) const {
    return raw + (raw / block_size * signature_size());
}

std::uint64_t Bsf::wire_size(std::uint64_t memory_size) const {
    const std::uint64_t raw = memory ? memory->raw_size(memory_size) : memory_size;
    return wire ? wire->signed_size(raw) : raw;
}

std::uint64_t Bsf::memory_size(std::uint64_t wire_size) const {
    const std::uint64_t raw = wire ? wire->raw_size(wire_size) : wire_size;
    return memory ? memory->signed_size(raw) : raw;
}

std::uint64_t Bsf::memory_offset(std::uint64_t raw) const {
    return memory ? memory->signed_size(raw) : raw;
}

std::string_view describe(FormatFault fault) {
    switch (fault) {
    case FormatFault::too_short:
        return "it is shorter than its first field says";
    case FormatFault::encrypted:
        return "it describes encryption, which the device doesn't have";
    case FormatFault::transaction:
        return "it describes signatures of transactions, which the device doesn't have";
    case FormatFault::unknown_block_size:
        return "a selector of block sizes has no meaning";
    case FormatFault::unknown_kind:
        return "a kind of signature has no meaning";
    case FormatFault::not_repeated:
        return "only the first block would have a signature";
    case FormatFault::missing_inline_part:
        return "T10-DIF needs the inline part";
    case FormatFault::different_structure:
        return "signatures of the same structure have different sizes";
    }
    return "unknown fault";
}

Decoded<Bsf> decode_bsf(std::span<const std::byte> bytes) {
    const auto parts = take_apart(bytes);
    if (!parts)
        return std::unexpected(parts.error());
    const Basic basic{parts->basic};
    const bool same = basic.get<"sbs">() != 0;
    const auto memory_size = basic.get<"mem_bs_selector">();
    const auto wire =
        take_domain({.block_size = same ? memory_size : basic.get<"wire_bs_selector">(),
                     .format = basic.get<"w_bfs">(),
                     .variable = basic.get<"w_psv">(),
                     .inline_part = parts->wire_inline});
    if (!wire)
        return std::unexpected(wire.error());
    const auto memory = take_domain({.block_size = memory_size,
                                     .format = basic.get<"m_bfs">(),
                                     .variable = basic.get<"m_psv">(),
                                     .inline_part = parts->memory_inline});
    if (!memory)
        return std::unexpected(memory.error());
    if (same && (!*wire || (*wire)->signature_size() != (*memory)->signature_size()))
        return std::unexpected(FormatFault::different_structure);
    return Bsf{.wire = *wire,
               .memory = *memory,
               .check_mask = static_cast<std::uint8_t>(basic.get<"check_byte_mask">()),
               .same_structure = same,
               .copy_mask = static_cast<std::uint8_t>(same ? basic.get<"wire_copy_byte_mask">()
                                                           : std::uint64_t{0})};
}

} // namespace cxemu::memory
