// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Integers in byte buffers, in a given byte order, at any alignment.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <span>

namespace cxemu {

/// Converts between the processor's byte order and big endian (its own inverse).
template <std::unsigned_integral T>
constexpr T swap_if_little(T value) {
    if constexpr (sizeof(T) > 1 && std::endian::native == std::endian::little)
        return std::byteswap(value);
    return value;
}

/// Converts between the processor's byte order and little endian (its own inverse).
template <std::unsigned_integral T>
constexpr T swap_if_big(T value) {
    if constexpr (sizeof(T) > 1 && std::endian::native == std::endian::big)
        return std::byteswap(value);
    return value;
}

/// \pre data holds at least sizeof(T) bytes
template <std::unsigned_integral T>
T load_be(std::span<const std::byte> data) {
    T value{};
    std::memcpy(&value, data.first(sizeof(T)).data(), sizeof(T));
    return swap_if_little(value);
}

/// \pre data holds at least sizeof(T) bytes
template <std::unsigned_integral T>
void store_be(std::span<std::byte> data, T value) {
    value = swap_if_little(value);
    std::memcpy(data.first(sizeof(T)).data(), &value, sizeof(T));
}

/// \pre data holds at least sizeof(T) bytes
template <std::unsigned_integral T>
T load_le(std::span<const std::byte> data) {
    T value{};
    std::memcpy(&value, data.first(sizeof(T)).data(), sizeof(T));
    return swap_if_big(value);
}

/// \pre data holds at least sizeof(T) bytes
template <std::unsigned_integral T>
void store_le(std::span<std::byte> data, T value) {
    value = swap_if_big(value);
    std::memcpy(data.first(sizeof(T)).data(), &value, sizeof(T));
}

} // namespace cxemu
