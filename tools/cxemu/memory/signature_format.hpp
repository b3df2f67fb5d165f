// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The byte stream format (BSF) of a signature mkey, decoded.
///
/// Such an mkey has a memory and a wire domain. In each the data is divided into blocks, and a
/// signature may follow each block; block size and kind of signature may differ between the two.
/// The data without signatures is called raw.
#pragma once

#include "memory/guard.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string_view>

namespace cxemu::memory {

/// The bytes of a signature in stream order as a big-endian number, left-aligned if there are fewer
/// than 8. T10-DIF: guard, application tag, reference tag, from the most significant bit.
using Signature = std::uint64_t;

/// T10-DIF blocks that are not checked.
enum class TagEscape : std::uint8_t {
    none,
    application,               ///< those whose application tag is all ones
    application_and_reference, ///< those whose application and reference tag are all ones
};

/// Application and reference tag of T10-DIF.
struct DifTags {
    std::uint16_t application = 0;
    std::uint16_t application_mask = 0xffff; ///< bits of it that are checked
    std::uint32_t reference = 0;             ///< of the first block
    bool reference_increments = false;       ///< by 1 from block to block
    TagEscape escape = TagEscape::none;
};

/// Which part of a signature is wrong.
enum class SignaturePart : std::uint8_t { guard, application_tag, reference_tag };

/// Blocks and signatures of one domain.
struct SignatureDomain {
    std::uint32_t variable = 0;   ///< number of the PSV
    std::uint32_t block_size = 0; ///< raw bytes
    GuardKind guard = GuardKind::t10_crc;
    std::optional<DifTags> tags{}; ///< only with T10-DIF

    /// Bytes of a signature.
    [[nodiscard]] std::uint32_t signature_size() const;
    /// Bytes of a block with its signature.
    [[nodiscard]] std::uint64_t stride() const { return block_size + signature_size(); }

    /// A guard with the seed from the PSV.
    [[nodiscard]] Guard new_guard(std::uint64_t transient_signature) const;
    /// The signature of the block number \p block, counted from 0, whose checksum is \p guard.
    [[nodiscard]] Signature sign(std::uint64_t block, std::uint64_t checksum) const;
    /// The first part of \p found that differs from \p expected.
    /// \param mask bytes to compare, bit 7: the first byte of the signature
    [[nodiscard]] std::optional<SignaturePart> compare(Signature expected, Signature found,
                                                       std::uint8_t mask) const;

    /// Raw bytes in the first \p size bytes of this domain.
    [[nodiscard]] std::uint64_t raw_size(std::uint64_t size) const;
    /// Size of \p raw raw bytes in this domain; signatures follow complete blocks only.
    [[nodiscard]] std::uint64_t signed_size(std::uint64_t raw) const;
};

/// Both domains; empty without signatures.
struct Bsf {
    std::optional<SignatureDomain> wire;
    std::optional<SignatureDomain> memory;
    std::uint8_t check_mask = 0; ///< bytes of signatures to check, bit 7: the first one
    /// sbs: both domains have the same block structure. Bytes of signatures that copy_mask
    /// selects are copied to the other domain, all others are computed.
    bool same_structure = false;
    std::uint8_t copy_mask = 0;

    /// Wire size of \p memory_size bytes in memory.
    [[nodiscard]] std::uint64_t wire_size(std::uint64_t memory_size) const;
    /// Memory size of \p wire_size bytes on the wire.
    [[nodiscard]] std::uint64_t memory_size(std::uint64_t wire_size) const;
    /// Memory offset of a raw byte.
    [[nodiscard]] std::uint64_t memory_offset(std::uint64_t raw) const;
};

/// Expands \p mask, a bit for each byte of a signature (bit 7: the first), to a mask of bits.
Signature expand_mask(std::uint8_t mask);

/// Why a BSF is invalid.
enum class FormatFault : std::uint8_t {
    too_short,           ///< shorter than its first field says
    encrypted,           ///< encryption, not supported by the device
    transaction,         ///< transaction signatures, not supported by the device
    unknown_block_size,  ///< undefined block size selector
    unknown_kind,        ///< undefined kind of signature
    not_repeated,        ///< only the first block has a signature
    missing_inline_part, ///< T10-DIF without the inline part
    different_structure, ///< same block structure, but signatures of different sizes
};

/// "encryption, not supported by the device"
std::string_view describe(FormatFault fault);

/// \param bytes of the layout bsf, which may end after its basic or extended part
std::expected<Bsf, FormatFault> decode_bsf(std::span<const std::byte> bytes);

} // namespace cxemu::memory
