// SPDX-License-Identifier: GPL-2.0-or-later
#include "transport/atomic_operation.hpp"

#include "base/byte_order.hpp"

#include <bit>

namespace cxemu::transport {

namespace {

/// Whether the compare of a compare-and-swap succeeds.
bool matches(const AtomicRequest& request, std::uint64_t value) {
    return ((value ^ request.compare) & request.masks.compare) == 0;
}

std::uint64_t swap(const AtomicRequest& request, std::uint64_t value) {
    if (!matches(request, value))
        return value;
    return (value & ~request.masks.swap_or_add) | (request.swap_or_add & request.masks.swap_or_add);
}

std::uint64_t add(const AtomicRequest& request, std::uint64_t value) {
    const std::uint64_t ends = request.masks.swap_or_add;
    // If the top bit of each field is cleared, no carry reaches the next field. XOR then adds the
    // top bits without a carry.
    const std::uint64_t low = (value & ~ends) + (request.swap_or_add & ~ends);
    return low ^ ((value ^ request.swap_or_add) & ends);
}

void append(std::vector<std::byte>& bytes, std::uint64_t value) {
    std::array<std::byte, atomic_word_size> number{};
    store_be(std::span(number), value);
    bytes.insert(bytes.end(), number.begin(), number.end());
}

AtomicMasks masks_of(PacketOp verb) {
    return verb == PacketOp::compare_swap
               ? AtomicMasks{.swap_or_add = ~std::uint64_t{0}, .compare = ~std::uint64_t{0}}
               : AtomicMasks{};
}

constexpr std::size_t short_masks_size = 2 * sizeof(std::uint32_t);
constexpr std::size_t masks_size = 2 * atomic_word_size;
constexpr std::size_t word_size = 4 * atomic_word_size; ///< operands and masks

std::uint64_t number_at(std::span<const std::byte> bytes, std::size_t index) {
    return load_be<std::uint64_t>(bytes.subspan(index * atomic_word_size));
}

} // namespace

std::vector<std::byte> encode_payload(const AtomicOperation& operation) {
    const AtomicRequest& first = operation.words[0];
    std::vector<std::byte> bytes;
    if (operation.size < atomic_word_size) {
        bytes.resize(short_masks_size);
        store_be(std::span(bytes), static_cast<std::uint32_t>(first.masks.swap_or_add));
        store_be(std::span(bytes).subspan(sizeof(std::uint32_t)),
                 static_cast<std::uint32_t>(first.masks.compare));
        return bytes;
    }
    append(bytes, first.masks.swap_or_add);
    append(bytes, first.masks.compare);
    for (std::size_t i = 1; i < words_in(operation.size); ++i) {
        const AtomicRequest& word = operation.words[i];
        for (const auto value :
             {word.swap_or_add, word.compare, word.masks.swap_or_add, word.masks.compare})
            append(bytes, value);
    }
    return bytes;
}

std::optional<AtomicOperation> decode_operation(PacketOp verb, const fabric::AtomicEth& header,
                                                std::span<const std::byte> payload) {
    AtomicOperation operation;
    operation.words[0] = {.verb = verb,
                          .swap_or_add = header.swap_or_add,
                          .compare = header.compare,
                          .masks = masks_of(verb)};
    if (payload.empty())
        return operation;
    AtomicMasks& masks = operation.words[0].masks;
    if (payload.size() == short_masks_size) {
        operation.size = sizeof(std::uint32_t);
        masks = {.swap_or_add = load_be<std::uint32_t>(payload),
                 .compare = load_be<std::uint32_t>(payload.subspan(sizeof(std::uint32_t)))};
        return operation;
    }
    if (payload.size() % word_size != masks_size)
        return std::nullopt;
    const std::size_t words = 1 + (payload.size() / word_size);
    if (!std::has_single_bit(words) || words > max_atomic_words)
        return std::nullopt;
    operation.size = words * atomic_word_size;
    masks = {.swap_or_add = number_at(payload, 0), .compare = number_at(payload, 1)};
    for (std::size_t i = 1; i < words; ++i) {
        const auto word = payload.subspan(masks_size + ((i - 1) * word_size));
        operation.words[i] = {
            .verb = verb,
            .swap_or_add = number_at(word, 0),
            .compare = number_at(word, 1),
            .masks = {.swap_or_add = number_at(word, 2), .compare = number_at(word, 3)}};
    }
    return operation;
}

std::uint64_t apply(const AtomicRequest& request, std::uint64_t value) {
    return request.verb == PacketOp::compare_swap ? swap(request, value) : add(request, value);
}

AtomicWords apply(const AtomicOperation& operation, AtomicWords values) {
    const std::size_t words = words_in(operation.size);
    const bool swaps = operation.words[0].verb == PacketOp::compare_swap;
    for (std::size_t i = 0; swaps && i < words; ++i) {
        if (!matches(operation.words[i], values[i]))
            return values;
    }
    for (std::size_t i = 0; i < words; ++i)
        values[i] = apply(operation.words[i], values[i]);
    return values;
}

AtomicWords load_words(std::span<const std::byte> memory) {
    AtomicWords words{};
    if (memory.size() < atomic_word_size)
        words[0] = load_le<std::uint32_t>(memory);
    for (std::size_t i = 0; i < memory.size() / atomic_word_size; ++i)
        words[i] = load_le<std::uint64_t>(memory.subspan(i * atomic_word_size));
    return words;
}

void store_words(std::span<std::byte> memory, const AtomicWords& words) {
    if (memory.size() < atomic_word_size)
        store_le(memory, static_cast<std::uint32_t>(words[0]));
    for (std::size_t i = 0; i < memory.size() / atomic_word_size; ++i)
        store_le(memory.subspan(i * atomic_word_size), words[i]);
}

std::vector<std::byte> encode_response(const AtomicWords& words, std::size_t size) {
    std::vector<std::byte> bytes;
    for (std::size_t i = 1; i < words_in(size); ++i)
        append(bytes, words[i]);
    return bytes;
}

std::vector<std::byte> value_for_memory(hca::Hca& hca, std::uint64_t first,
                                        std::span<const std::byte> others, std::size_t size) {
    std::vector<std::byte> value(size < atomic_word_size ? sizeof(std::uint32_t)
                                                         : atomic_word_size);
    if (size < atomic_word_size)
        store_be(std::span(value), static_cast<std::uint32_t>(first));
    else if (size == atomic_word_size &&
             hca.capabilities().atomic<"atomic_req_8B_endianness_mode">() != 0)
        store_le(std::span(value), first);
    else
        store_be(std::span(value), first);
    value.insert(value.end(), others.begin(), others.end());
    return value;
}

} // namespace cxemu::transport
