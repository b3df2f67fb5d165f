// SPDX-License-Identifier: GPL-2.0-or-later
#include "memory/guard.hpp"

#include <algorithm>
#include <bit>
#include <isa-l/crc.h>
#include <isa-l/crc64.h>

namespace cxemu::memory {

namespace {

constexpr std::uint64_t sum_mask = 0xffff;
constexpr unsigned sum_bits = 16;

std::uint64_t fold(std::uint64_t sum) {
    while (sum > sum_mask)
        sum = (sum & sum_mask) + (sum >> sum_bits);
    return sum;
}

std::uint32_t complement(std::uint64_t value) {
    return ~static_cast<std::uint32_t>(value);
}

} // namespace

Guard::Guard(GuardKind kind, std::uint64_t seed) : kind_(kind), state_(seed) {}

/// ISA-L complements seed and result of CRC-32 and CRC-64, but not of crc32_iscsi() and
/// crc16_t10dif().
void Guard::add(std::span<const std::byte> data) {
    const auto* first = reinterpret_cast<const unsigned char*>(data.data());
    switch (kind_) {
    case GuardKind::t10_crc:
        state_ = crc16_t10dif(static_cast<std::uint16_t>(state_), first, data.size());
        break;
    case GuardKind::ip_checksum:
        add_words(data);
        break;
    case GuardKind::crc32:
        state_ = complement(crc32_ieee(complement(state_), first, data.size()));
        break;
    case GuardKind::crc32c:
        while (!data.empty()) { // its length is an int
            const auto part = data.first(std::min<std::size_t>(data.size(), 1U << 30U));
            auto* bytes = const_cast<unsigned char*>( // it does not write, despite its type
                reinterpret_cast<const unsigned char*>(part.data()));
            state_ = crc32_iscsi(bytes, static_cast<int>(part.size()),
                                 static_cast<std::uint32_t>(state_));
            data = data.subspan(part.size());
        }
        break;
    case GuardKind::crc64_xp10:
        state_ = ~crc64_rocksoft_refl(~state_, first, data.size());
        break;
    }
}

/// Each two bytes are the high and the low half of a 16-bit word.
void Guard::add_words(std::span<const std::byte> data) {
    constexpr unsigned byte_bits = 8;
    for (const std::byte byte : data) {
        state_ += std::to_integer<std::uint64_t>(byte) << (odd_ ? 0U : byte_bits);
        odd_ = !odd_;
    }
    state_ = fold(state_);
}

/// The reflected CRCs, CRC-32C and CRC-64, are sent least significant byte first.
std::uint64_t Guard::value() const {
    switch (kind_) {
    case GuardKind::t10_crc:
        return state_;
    case GuardKind::ip_checksum:
        return fold(state_) ^ sum_mask;
    case GuardKind::crc32:
        return complement(state_);
    case GuardKind::crc32c:
        return std::byteswap(complement(state_));
    case GuardKind::crc64_xp10:
        break;
    }
    return std::byteswap(~state_);
}

} // namespace cxemu::memory
