// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Atomic operations: arithmetic, operands in packets, byte order in memory.
///
/// InfiniBand has no packets for masked atomics, nor for operands that do not have 8 bytes. cxemu
/// sends them with the opcodes of plain atomics and a payload, which a plain request never has:
/// first the masks (each 4 or 8 bytes, the size of the operand), then operands and masks of each
/// word after the first. The payload of a response contains the words after the first.
#pragma once

#include "fabric/packet.hpp"
#include "hca/hca.hpp"
#include "transport/operation.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace cxemu::transport {

struct AtomicMasks {
    std::uint64_t swap_or_add = 0; ///< bits to swap; for additions the top bit of each field
    std::uint64_t compare = 0;     ///< bits to compare

    bool operator==(const AtomicMasks&) const = default;
};

/// An operation on one word.
struct AtomicRequest {
    PacketOp verb = PacketOp::fetch_add;
    std::uint64_t swap_or_add = 0;
    std::uint64_t compare = 0;
    AtomicMasks masks;

    bool operator==(const AtomicRequest&) const = default;
};

inline constexpr std::size_t atomic_word_size = 8; ///< bytes
inline constexpr std::size_t max_atomic_words = 4;

/// Words of 8 bytes, or one of 4 bytes.
using AtomicWords = std::array<std::uint64_t, max_atomic_words>;

struct AtomicOperation {
    std::size_t size = atomic_word_size; ///< bytes: 4, 8, 16, 32
    std::array<AtomicRequest, max_atomic_words> words{};

    bool operator==(const AtomicOperation&) const = default;
};

/// Number of words of an operand of \p size bytes.
constexpr std::size_t words_in(std::size_t size) {
    return size < atomic_word_size ? 1 : size / atomic_word_size;
}

/// The payload of a request for a masked operation.
std::vector<std::byte> encode_payload(const AtomicOperation& operation);

/// \return nothing when the payload has an invalid length
std::optional<AtomicOperation> decode_operation(PacketOp verb, const fabric::AtomicEth& header,
                                                std::span<const std::byte> payload);

/// The new value of a word that holds \p value. Additions don't carry from one field to the next.
std::uint64_t apply(const AtomicRequest& request, std::uint64_t value);

/// The new values of all words. A swap requires that all words compare equal; additions are
/// independent.
AtomicWords apply(const AtomicOperation& operation, AtomicWords values);

/// Words in memory, each in little-endian byte order.
AtomicWords load_words(std::span<const std::byte> memory);
void store_words(std::span<std::byte> memory, const AtomicWords& words);

/// The payload of a response. \param size of the operand, bytes
std::vector<std::byte> encode_response(const AtomicWords& words, std::size_t size);

/// The bytes that the requester stores for a response: big-endian words, unless software has chosen
/// host order for words of 8 bytes. The memory that the operation changes always contains words in
/// host order.
/// \param first word; \param others payload of the response; \param size of the operand, bytes
std::vector<std::byte> value_for_memory(hca::Hca& hca, std::uint64_t first,
                                        std::span<const std::byte> others, std::size_t size);

} // namespace cxemu::transport
