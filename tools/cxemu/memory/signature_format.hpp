// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// How the data behind a memory key is signed: the byte stream format (BSF), decoded.
///
/// The data of such a key comes in two forms. In memory and on the wire it is cut into blocks, each
/// of which may be followed by a signature; size and kind of the two can differ. What both have in
/// common, the data without any signature, is called raw here.
#pragma once

#include "memory/guard.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string_view>

namespace cxemu::memory {

/// The bytes of a signature in the order of the stream, as a big-endian number, at the high end if
/// there are fewer than 8. T10-DIF: guard, application tag, reference tag from the high end on.
using Signature = std::uint64_t;

/// Blocks of T10-DIF that aren't checked.
enum class TagEscape : std::uint8_t {
    none,
    application,               ///< those whose application tag is all ones
    application_and_reference, ///< those whose application and reference tag are all ones
};

/// What T10-DIF has beside the guard.
struct DifTags {
    std::uint16_t application = 0;
    std::uint16_t application_mask = 0xffff; ///< bits of it that are checked
    std::uint32_t reference = 0;             ///< of the first block
    bool reference_increments = false;       ///< by 1 from block to block
    TagEscape escape = TagEscape::none;
};

/// Which part of a signature is wrong.
enum class SignaturePart : std::uint8_t { guard, application_tag, reference_tag };

/// Blocks and signatures of one form of the data.
struct SignatureDomain {
    std::uint32_t variable = 0;   ///< number of the PSV
    std::uint32_t block_size = 0; ///< raw bytes
    GuardKind guard = GuardKind::t10_crc;
    std::optional<DifTags> tags{}; ///< only with T10-DIF

    /// Bytes of a signature.
    [[nodiscard]] std::uint32_t signature_size() const;
    /// Bytes of a block with its signature.
    [[nodiscard]] std::uint64_t stride() const { return block_size + signature_size(); }

    /// What the guard starts with, taken from the state of the PSV.
    [[nodiscard]] Guard new_guard(std::uint64_t transient_signature) const;
    /// The signature of the block number \p block, counted from 0, whose checksum is \p guard.
    [[nodiscard]] Signature sign(std::uint64_t block, std::uint64_t checksum) const;
    /// The first part of \p found that differs from \p expected.
    /// \param mask bytes to compare, bit 7: the first byte of the signature
    [[nodiscard]] std::optional<SignaturePart> compare(Signature expected, Signature found,
                                                       std::uint8_t mask) const;

    /// Raw bytes in the first \p size bytes of this form.
    [[nodiscard]] std::uint64_t raw_size(std::uint64_t size) const;
    /// Bytes of this form that \p raw raw bytes take; signatures follow complete blocks only.
    [[nodiscard]] std::uint64_t signed_size(std::uint64_t raw) const;
};

/// Both forms; nothing where the data has no signatures.
struct Bsf {
    std::optional<SignatureDomain> wire;
    std::optional<SignatureDomain> memory;
    std::uint8_t check_mask = 0; ///< bytes of signatures to check, bit 7: the first one
    /// Both forms have the same blocks: a signature goes over to the other one, as far as copy_mask
    /// says so. Otherwise signatures are made anew.
    bool same_structure = false;
    std::uint8_t copy_mask = 0;

    /// Bytes on the wire that \p memory_size bytes in memory become.
    [[nodiscard]] std::uint64_t wire_size(std::uint64_t memory_size) const;
    /// Bytes in memory from the first one to the last that belongs to \p size bytes on the wire.
    [[nodiscard]] std::uint64_t memory_size(std::uint64_t wire_size) const;
    /// Where a raw byte is in memory.
    [[nodiscard]] std::uint64_t memory_offset(std::uint64_t raw) const;
};

/// Bits of a signature that \p mask selects by bytes, bit 7: the first one.
Signature expand_mask(std::uint8_t mask);

/// Why a format can't be used.
enum class FormatFault : std::uint8_t {
    too_short,           ///< shorter than its first field says
    encrypted,           ///< it describes encryption, which the device doesn't have
    transaction,         ///< it describes signatures of transactions, which the device doesn't have
    unknown_block_size,  ///< a selector of block sizes without a meaning
    unknown_kind,        ///< a kind of signature without a meaning
    not_repeated,        ///< only the first block would have a signature
    missing_inline_part, ///< T10-DIF without its description
    different_structure, ///< called the same structure, but kinds differ in size
};

/// "it describes encryption, which the device doesn't have"
std::string_view describe(FormatFault fault);

/// \param bytes of the layout bsf, perhaps cut off behind its basic or extended part
std::expected<Bsf, FormatFault>
decode_bsf(std::span<const std::byte> bytes);

} // namespace cxemu::memory
