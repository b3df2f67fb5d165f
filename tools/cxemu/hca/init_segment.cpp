// SPDX-License-Identifier: GPL-2.0-or-later
#include "hca/init_segment.hpp"

#include "base/byte_order.hpp"
#include "hwtab/view.hpp"
#include "tables/command_interface.hpp"

#include <array>
#include <span>

namespace cxemu::hca {

namespace {

using hwtab::initial_seg;

/// Byte offset of the word that holds a field of the segment.
template <hwtab::FixedString path>
constexpr std::uint64_t word_of =
    hwtab::locate(initial_seg, path.view()).offset / hwtab::bits_per_word * 4;

constexpr std::uint64_t revision = word_of<"fw_rev_minor">;
constexpr std::uint64_t interface_revision = word_of<"cmd_interface_rev">;
constexpr std::uint64_t queue_address_high = word_of<"cmdq_phy_addr_63_32">;
constexpr std::uint64_t queue_address_low = word_of<"cmdq_phy_addr_31_12">;
constexpr std::uint64_t doorbell_vector = word_of<"command_doorbell_vector">;
constexpr std::uint64_t initializing_word = word_of<"initializing">;
constexpr std::uint64_t health_begin = word_of<"health_buffer">;
constexpr std::uint64_t health_end = health_begin + hwtab::health_buffer.size;
constexpr std::uint64_t clear_interrupt = word_of<"clear_int">;
constexpr std::uint64_t health_counter = word_of<"health_counter">;

// Registers that the table doesn't name.
constexpr std::uint64_t timer_high = hwtab::value<hwtab::timer_offset, "internal_h">;
constexpr std::uint64_t timer_low = hwtab::value<hwtab::timer_offset, "internal_l">;
constexpr std::uint64_t real_time_high =
    hwtab::value<hwtab::timer_offset, "real_time_h">; ///< seconds
constexpr std::uint64_t real_time_low =
    hwtab::value<hwtab::timer_offset, "real_time_l">; ///< nanoseconds
constexpr std::uint64_t clear_intx = 0x200c;

constexpr std::uint32_t command_interface_revision = 5;
constexpr std::uint32_t address_mask = 0xffff'f000;
constexpr std::uint32_t interface_mask = 0x700; ///< one bit wider than the table's field
constexpr std::uint32_t interface_shift = 8;
constexpr std::uint32_t interfaces_supported = 0x3; ///< full driver, disabled
constexpr std::uint32_t software_reset_supported = 1U << 30;

} // namespace

InitSegment::InitSegment(const DeviceClock& clock, const HcaSettings& settings,
                         const Health& health)
    : clock_(clock), settings_(settings), health_(health) {}

void InitSegment::read(std::uint64_t offset, std::span<std::byte> out) const {
    std::array<std::byte, 4> bytes{};
    std::uint64_t loaded = size; // the word held by `bytes`; none yet
    for (std::size_t i = 0; i < out.size(); ++i) {
        const std::uint64_t at = offset + i;
        const std::uint64_t base = at & ~std::uint64_t{3};
        if (base != loaded) {
            store_be(std::span(bytes), word(base));
            loaded = base;
        }
        out[i] = bytes[at - base];
    }
}

std::uint32_t InitSegment::word(std::uint64_t offset) const {
    if (offset >= health_begin && offset < health_end)
        return health_word(offset - health_begin);
    const DeviceProfile& profile = *settings_.profile;
    switch (offset) {
    case revision:
        return (std::uint32_t{profile.firmware_minor} << 16) | profile.firmware_major;
    case interface_revision:
        return (command_interface_revision << 16) | profile.firmware_subminor;
    case queue_address_high:
        return address_high_;
    case queue_address_low:
        return address_low_ | (static_cast<std::uint32_t>(interface_) << interface_shift) |
               (log_queue_size << 4) | log_queue_stride;
    case initializing_word:
        return (initializing_ ? 1U << 31 : 0) | (interfaces_supported << 24) |
               software_reset_supported;
    case timer_high:
        return static_cast<std::uint32_t>(clock_.cycles() >> 32);
    case timer_low:
        return static_cast<std::uint32_t>(clock_.cycles());
    case health_counter:
        return (std::uint32_t{health_.miss_syndrome()} << 24) | health_.counter();
    case real_time_high:
        return static_cast<std::uint32_t>(clock_.nanoseconds() / 1'000'000'000);
    case real_time_low:
        return static_cast<std::uint32_t>(clock_.nanoseconds() % 1'000'000'000);
    default:
        return 0;
    }
}

std::uint32_t InitSegment::health_word(std::uint64_t offset) const {
    std::array<std::byte, hwtab::health_buffer.size> bytes{};
    const hwtab::View<hwtab::health_buffer> buffer{bytes};
    const DeviceProfile& profile = *settings_.profile;
    const HealthReport& report = health_.report();
    buffer.set<"fw_version">((std::uint32_t{profile.firmware_major} << 24) |
                             (std::uint32_t{profile.firmware_minor} << 16) |
                             profile.firmware_subminor);
    buffer.set<"hw_id">(profile.hardware_id);
    buffer.set<"time">(static_cast<std::uint32_t>(clock_.nanoseconds() / 1'000'000'000));
    if (report.syndrome != HealthSyndrome::none) {
        buffer.set<"rfr">(report.reset_required ? 1 : 0);
        buffer.set<"valid">(1);
        buffer.set<"severity">(static_cast<std::uint8_t>(report.severity));
        buffer.set<"irisc_index">(report.processor);
        buffer.set<"synd">(static_cast<std::uint8_t>(report.syndrome));
        buffer.set<"ext_synd">(report.extended_syndrome);
    }
    return load_be<std::uint32_t>(std::span(bytes).subspan(offset));
}

InitSegmentRequest InitSegment::write(std::uint64_t offset, std::span<const std::byte> data) {
    InitSegmentRequest request;
    if (data.size() < sizeof(std::uint32_t)) {
        request.unexpected = true;
        return request;
    }
    for (std::size_t at = 0; at < data.size(); at += sizeof(std::uint32_t))
        write_word(offset + at, load_be<std::uint32_t>(data.subspan(at)), request);
    return request;
}

void InitSegment::write_word(std::uint64_t offset, std::uint32_t value,
                             InitSegmentRequest& request) {
    switch (offset) {
    case queue_address_high:
        address_high_ = value;
        break;
    case queue_address_low:
        write_queue_address(value, request);
        break;
    case doorbell_vector:
        request.doorbells |= value;
        break;
    case clear_interrupt:
    case clear_intx:
        break;
    default:
        request.unexpected = true;
    }
}

/// The word has two uses: to set the queue address, and to leave the full driver mode. To leave the
/// mode, software writes back the address that it has read.
void InitSegment::write_queue_address(std::uint32_t value, InitSegmentRequest& request) {
    const auto mode = static_cast<NicInterface>((value & interface_mask) >> interface_shift);
    if (mode != NicInterface::full_driver) {
        request.interface = mode;
        return;
    }
    address_low_ = value & address_mask;
    request.queue_address = (std::uint64_t{address_high_} << 32) | address_low_;
}

void InitSegment::reset() {
    address_high_ = 0;
    address_low_ = 0;
    interface_ = NicInterface::disabled;
    initializing_ = false;
}

} // namespace cxemu::hca
