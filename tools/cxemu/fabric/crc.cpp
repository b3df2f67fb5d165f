// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/crc.hpp"

#include "base/byte_order.hpp"
#include "hwtab/view.hpp"
#include "tables/packet_headers.hpp"

#include <algorithm>
#include <array>
#include <isa-l/crc.h>

namespace cxemu::fabric {
namespace {

/// 0x100B in bit-reversed order: the CRC processes the least significant bit first.
constexpr std::uint16_t reflected_polynomial = 0xd008;

/// Bytes that the variant CRC processes per step.
constexpr std::size_t stride = 8;

using CrcTable = std::array<std::array<std::uint16_t, 256>, stride>;

/// Entry [n][b]: contribution of byte b if n more bytes follow it in the same step.
consteval CrcTable make_table() {
    CrcTable table{};
    for (std::uint32_t value = 0; value < 256; ++value) {
        std::uint32_t crc = value;
        for (int bit = 0; bit < 8; ++bit)
            crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? reflected_polynomial : 0U);
        table[0][value] = static_cast<std::uint16_t>(crc);
    }
    for (std::size_t n = 1; n < stride; ++n) {
        for (std::size_t value = 0; value < 256; ++value) {
            const std::uint16_t before = table[n - 1][value];
            table[n][value] = static_cast<std::uint16_t>((before >> 8U) ^ table[0][before & 0xffU]);
        }
    }
    return table;
}

constexpr CrcTable crc_table = make_table();

constexpr std::uint8_t at(std::span<const std::byte> data, std::size_t index) {
    return std::to_integer<std::uint8_t>(data[index]);
}

std::uint16_t take_stride(std::uint16_t crc, std::span<const std::byte> data) {
    std::uint16_t next = crc_table[stride - 1][(crc & 0xffU) ^ at(data, 0)];
    next ^= crc_table[stride - 2][(crc >> 8U) ^ at(data, 1)];
    for (std::size_t i = 2; i < stride; ++i)
        next ^= crc_table[stride - 1 - i][at(data, i)];
    return next;
}

constexpr std::size_t lrh_bytes = hwtab::lrh.size;
constexpr std::size_t grh_bytes = hwtab::grh.size;
constexpr std::size_t bth_bytes = hwtab::bth.size;

/// Masks the reserved byte of the BTH in front of the destination QP.
void mask_bth(std::span<std::byte> bth) {
    constexpr std::size_t reserved_byte = 4;
    bth[reserved_byte] = std::byte{0xff};
}

void mask_grh(std::span<std::byte> bytes) {
    const hwtab::View<hwtab::grh> grh(bytes);
    grh.set<"tclass">(0xff);
    grh.set<"flow_label">(0xf'ffff);
    grh.set<"hop_lmt">(0xff);
}

} // namespace

std::uint32_t crc32(std::uint32_t seed, std::span<const std::byte> data) {
    const auto* first = reinterpret_cast<const unsigned char*>(data.data());
    return crc32_gzip_refl(seed, first, data.size());
}

std::uint16_t variant_crc(std::span<const std::byte> data) {
    std::uint16_t crc = 0xffff;
    for (; data.size() >= stride; data = data.subspan(stride))
        crc = take_stride(crc, data);
    for (const std::byte byte : data)
        crc = static_cast<std::uint16_t>(
            (crc >> 8U) ^ crc_table[0][(crc & 0xffU) ^ std::to_integer<std::uint8_t>(byte)]);
    return static_cast<std::uint16_t>(~crc);
}

std::uint32_t invariant_crc(std::span<const std::byte> data) {
    std::array<std::byte, lrh_bytes + grh_bytes + bth_bytes> masked{};
    const hwtab::ConstView<hwtab::lrh> lrh(data);
    const bool global = lrh.get<"lnh">() == hwtab::value<hwtab::link_next_header, "iba_global">;
    const std::size_t head = lrh_bytes + (global ? grh_bytes : 0) + bth_bytes;
    std::ranges::copy(data.first(head), masked.begin());
    const auto bytes = std::span(masked).first(head);
    if (global) {
        std::ranges::fill(bytes.first(lrh_bytes), std::byte{0xff}); // routers replace the LRH
        mask_grh(bytes.subspan(lrh_bytes, grh_bytes));
    } else {
        hwtab::View<hwtab::lrh>(bytes).set<"vl">(0xf);
    }
    mask_bth(bytes.last(bth_bytes));
    return crc32(crc32(0, bytes), data.subspan(head));
}

} // namespace cxemu::fabric
