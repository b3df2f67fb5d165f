// SPDX-License-Identifier: GPL-2.0-or-later
#include "transport/atomic_operand.hpp"

#include "base/byte_order.hpp"

#include <bit>

namespace cxemu::transport {

namespace {

std::uint64_t swap(const AtomicRequest& request, std::uint64_t value) {
    if (((value ^ request.compare) & request.masks.compare) != 0)
        return value;
    return (value & ~request.masks.swap_or_add) | (request.swap_or_add & request.masks.swap_or_add);
}

std::uint64_t add(const AtomicRequest& request, std::uint64_t value) {
    const std::uint64_t ends = request.masks.swap_or_add;
    // The ends are added without what carries out of them; no carry comes from below them then.
    const std::uint64_t low = (value & ~ends) + (request.swap_or_add & ~ends);
    return low ^ ((value ^ request.swap_or_add) & ends);
}

} // namespace

std::array<std::byte, masks_size> encode_masks(const AtomicMasks& masks) {
    std::array<std::byte, masks_size> bytes{};
    store_be(std::span(bytes).first<sizeof(std::uint64_t)>(), masks.swap_or_add);
    store_be(std::span(bytes).last<sizeof(std::uint64_t)>(), masks.compare);
    return bytes;
}

std::optional<AtomicMasks> decode_masks(Verb verb, std::span<const std::byte> payload) {
    if (payload.empty())
        return verb == Verb::compare_swap
                   ? AtomicMasks{.swap_or_add = ~std::uint64_t{0}, .compare = ~std::uint64_t{0}}
                   : AtomicMasks{};
    if (payload.size() != masks_size)
        return std::nullopt;
    return AtomicMasks{.swap_or_add = load_be<std::uint64_t>(payload),
                       .compare = load_be<std::uint64_t>(payload.last<sizeof(std::uint64_t)>())};
}

std::uint64_t apply(const AtomicRequest& request, std::uint64_t value) {
    return request.verb == Verb::compare_swap ? swap(request, value) : add(request, value);
}

std::uint64_t reorder_for_memory(hca::Hca& hca, std::uint64_t big_endian) {
    // The hosts that there are keep the least significant byte first.
    const bool order_of_host = hca.capabilities().atomic<"atomic_req_8B_endianness_mode">() != 0;
    return order_of_host ? std::byteswap(big_endian) : big_endian;
}

} // namespace cxemu::transport
