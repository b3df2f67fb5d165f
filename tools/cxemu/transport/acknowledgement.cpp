// SPDX-License-Identifier: GPL-2.0-or-later
#include "transport/acknowledgement.hpp"

#include "hwtab/view.hpp"
#include "tables/packet_headers.hpp"

#include <algorithm>
#include <array>

namespace cxemu::transport {

namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

constexpr unsigned value_bits = 5;
constexpr std::uint8_t value_mask = 0x1f;

template <hwtab::FixedString name>
constexpr auto syndrome = static_cast<std::uint8_t>(hwtab::value<hwtab::aeth_syndrome, name>);

/// Credits by their code (IBA volume 1, table 46); the code after the last one means "no credit
/// count".
constexpr std::array<std::uint32_t, 31> credit_codes{
    0,   1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,  192,
    256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768};

/// Microseconds by timer code (IBA volume 1, table 45).
constexpr std::array<std::uint32_t, 32> not_ready_microseconds{
    655'360, 10,     20,     30,     40,     60,      80,      120,     160,     240,    320,
    480,     640,    960,    1280,   1920,   2560,    3840,    5120,    7680,    10'240, 15'360,
    20'480,  30'720, 40'960, 61'440, 81'920, 122'880, 163'840, 245'760, 327'680, 491'520};

} // namespace

Syndrome decode_syndrome(std::uint8_t byte) {
    constexpr std::uint8_t kind_mask = 0x3;
    return {.kind = static_cast<Syndrome::Kind>((byte >> value_bits) & kind_mask),
            .value = static_cast<std::uint8_t>(byte & value_mask)};
}

std::uint8_t ack_syndrome(std::optional<std::uint32_t> credits) {
    if (!credits)
        return syndrome<"ack_without_credits">;
    const auto* const above = std::ranges::upper_bound(credit_codes, *credits);
    return static_cast<std::uint8_t>(above - credit_codes.begin() - 1);
}

std::uint8_t rnr_nak_syndrome(std::uint8_t timer) {
    return syndrome<"rnr_nak"> | (timer & value_mask);
}

std::uint8_t nak_syndrome(NakCode code) {
    return syndrome<"nak_psn_sequence_error"> | static_cast<std::uint8_t>(code);
}

std::optional<std::uint32_t> credits_of(std::uint8_t code) {
    if (code >= credit_codes.size())
        return std::nullopt;
    return credit_codes[code];
}

EventLoop::Duration not_ready_delay(std::uint8_t code) {
    return microseconds(not_ready_microseconds[code & value_mask]);
}

std::optional<EventLoop::Duration> acknowledge_timeout(std::uint8_t code) {
    constexpr nanoseconds unit{4096};
    if (code == 0)
        return std::nullopt;
    return unit * (std::uint64_t{1} << (code & value_mask));
}

} // namespace cxemu::transport
