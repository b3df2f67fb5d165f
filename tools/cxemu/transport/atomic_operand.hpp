// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Atomic operations: arithmetic, operands in packets, order of bytes in memory.
///
/// InfiniBand has no packets for the masked kinds, nor for operands of other lengths than 8 bytes.
/// They travel as the plain ones do, with a payload, which a plain request never has: the masks (4
/// or 8 bytes each, as long as the operand), and operands and masks of each word behind the first.
/// An answer has the words behind the first as payload.
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
    std::uint64_t swap_or_add = 0; ///< bits to swap; for additions the upper end of each field
    std::uint64_t compare = 0;     ///< bits to compare

    bool operator==(const AtomicMasks&) const = default;
};

/// What an operation does to one word.
struct AtomicRequest {
    PacketOp verb = PacketOp::fetch_add;
    std::uint64_t swap_or_add = 0;
    std::uint64_t compare = 0;
    AtomicMasks masks;

    bool operator==(const AtomicRequest&) const = default;
};

inline constexpr std::size_t atomic_word_size = 8; ///< bytes
inline constexpr std::size_t most_atomic_words = 4;

/// Numbers of 8 bytes, or one of 4 bytes.
using AtomicWords = std::array<std::uint64_t, most_atomic_words>;

struct AtomicOperation {
    std::size_t size = atomic_word_size; ///< bytes: 4, 8, 16, 32
    std::array<AtomicRequest, most_atomic_words> words{};

    bool operator==(const AtomicOperation&) const = default;
};

/// Words that an operand of \p size bytes has.
constexpr std::size_t words_in(std::size_t size) {
    return size < atomic_word_size ? 1 : size / atomic_word_size;
}

/// The payload of a request that isn't a plain one.
std::vector<std::byte> encode_payload(const AtomicOperation& operation);

/// \return nothing when the payload has a length that encode_payload() never yields
std::optional<AtomicOperation> decode_operation(PacketOp verb, const fabric::AtomicEth& header,
                                                std::span<const std::byte> payload);

/// What the memory that holds \p value holds after the operation. Additions don't carry from one
/// field to the next.
std::uint64_t apply(const AtomicRequest& request, std::uint64_t value);

/// The same for all words: a swap needs all of them to compare; each is added to on its own.
AtomicWords apply(const AtomicOperation& operation, AtomicWords values);

/// Words in memory, where the host has the least significant byte of each first.
AtomicWords load_words(std::span<const std::byte> memory);
void store_words(std::span<std::byte> memory, const AtomicWords& words);

/// The payload of an answer. \param size of the operand, bytes
std::vector<std::byte> encode_answer(const AtomicWords& words, std::size_t size);

/// What the requester stores of an answer: numbers that begin with their most significant byte,
/// unless software has chosen the order of the host for those of 8 bytes. The memory that the
/// operation has changed holds numbers of the host in any case.
/// \param first word; \param others payload of the answer; \param size of the operand, bytes
std::vector<std::byte> value_for_memory(hca::Hca& hca, std::uint64_t first,
                                        std::span<const std::byte> others, std::size_t size);

} // namespace cxemu::transport
