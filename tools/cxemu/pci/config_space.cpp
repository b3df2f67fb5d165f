// SPDX-License-Identifier: GPL-2.0-or-later
#include "pci/config_space.hpp"

#include "base/byte_order.hpp"
#include "pci/gateway.hpp"

#include <algorithm>

namespace cxemu::pci {
namespace {

constexpr std::uint8_t capability_power_management = 0x01;
constexpr std::uint8_t capability_vendor_specific = 0x09;
constexpr std::uint8_t capability_express = 0x10;
constexpr std::uint8_t capability_msix = 0x11;
constexpr std::uint16_t extended_error_reporting = 0x0001;
constexpr std::uint16_t extended_serial_number = 0x0003;

constexpr std::uint16_t command_memory = 0x0002;
constexpr std::uint16_t command_bus_master = 0x0004;
constexpr std::uint16_t command_writable = 0x0546; // also parity, SERR#, INTx disable
constexpr std::uint16_t status_capability_list = 0x0010;
constexpr std::uint16_t status_errors = 0xf900;
constexpr std::uint16_t status_master_abort = 0x2000; // received
constexpr std::uint16_t device_status_unsupported = 0x0008;
constexpr std::uint32_t uncorrectable_unsupported = 0x00100000;

constexpr std::uint16_t msix_enable = 0x8000;
constexpr std::uint16_t msix_function_mask = 0x4000;
constexpr std::uint16_t power_state_mask = 0x0003;
constexpr std::uint16_t power_state_d3hot = 0x0003;
constexpr std::uint16_t power_no_soft_reset = 0x0008;
constexpr std::byte initiate_flr{0x80}; // in the upper byte of Device Control

constexpr std::uint32_t bar_64_bit_prefetchable = 0x0c;

} // namespace

class ConfigSpace::Layout {
public:
    explicit Layout(ConfigSpace& space) : space_(space) {}

    void header(const FunctionConfig& config);
    void power_management(std::uint8_t next);
    void express(const FunctionConfig& config, std::uint8_t next);
    void msix(const FunctionConfig& config, std::uint8_t next);
    void vendor_specific(std::uint8_t next);
    void error_reporting(std::uint16_t next);
    void serial_number(const FunctionConfig& config, std::uint16_t next);

private:
    template <std::unsigned_integral T>
    static void store(Bytes& bytes, std::size_t offset, T value) {
        store_le<T>(std::span(bytes).subspan(offset), value);
    }
    template <std::unsigned_integral T>
    void read_only(std::size_t offset, T value) {
        store<T>(space_.initial_, offset, value);
    }
    template <std::unsigned_integral T>
    void read_write(std::size_t offset, T mask, T value = 0) {
        store<T>(space_.initial_, offset, value);
        store<T>(space_.writable_, offset, mask);
    }
    template <std::unsigned_integral T>
    void clear_by_one(std::size_t offset, T mask, T value = 0) {
        store<T>(space_.initial_, offset, value);
        store<T>(space_.write_1_clear_, offset, mask);
    }
    void sticky32(std::size_t offset) { store<std::uint32_t>(space_.sticky_, offset, 0xffffffff); }
    void capability(std::size_t offset, std::uint8_t id, std::uint8_t next) {
        read_only<std::uint8_t>(offset, id);
        read_only<std::uint8_t>(offset + 1, next);
    }
    void extended_capability(std::size_t offset, std::uint16_t id, std::uint32_t version,
                             std::uint32_t next) {
        read_only<std::uint32_t>(offset, id | version << 16U | next << 20U);
    }

    ConfigSpace& space_;
};

void ConfigSpace::Layout::header(const FunctionConfig& config) {
    const std::uint64_t bar_mask = ~(config.bar0_size - 1);
    read_only<std::uint16_t>(reg::vendor_id, config.vendor_id);
    read_only<std::uint16_t>(reg::vendor_id + 2, config.device_id);
    read_write<std::uint16_t>(reg::command, command_writable);
    clear_by_one<std::uint16_t>(reg::status, status_errors, status_capability_list);
    read_only<std::uint32_t>(0x08, config.class_code << 8U | config.revision);
    read_write<std::uint8_t>(0x0c, 0xff); // cache line size
    read_write<std::uint32_t>(reg::bar0, static_cast<std::uint32_t>(bar_mask) & 0xfffffff0U,
                              bar_64_bit_prefetchable);
    read_write<std::uint32_t>(reg::bar0 + 4, static_cast<std::uint32_t>(bar_mask >> 32U));
    read_only<std::uint16_t>(0x2c, config.subsystem_vendor_id);
    read_only<std::uint16_t>(0x2e, config.subsystem_id);
    read_only<std::uint8_t>(reg::capabilities, reg::express);
    // The interrupt pin is 0, because there is no INTx; otherwise QEMU would set it up.
    read_write<std::uint8_t>(0x3c, 0xff); // interrupt line
}

void ConfigSpace::Layout::power_management(std::uint8_t next) {
    constexpr std::size_t at = reg::power_management;
    capability(at, capability_power_management, next);
    read_only<std::uint16_t>(at + 2, 0x0003); // version 3, neither D1, D2 nor PME#
    read_write<std::uint16_t>(reg::power_control, power_state_mask, power_no_soft_reset);
}

void ConfigSpace::Layout::express(const FunctionConfig& config, std::uint8_t next) {
    constexpr std::size_t at = reg::express;
    const std::uint16_t link = static_cast<std::uint16_t>(config.link_width << 4U) |
                               static_cast<std::uint16_t>(config.link_speed);
    capability(at, capability_express, next);
    read_only<std::uint16_t>(at + 0x02, 0x0002); // version 2, endpoint
    // FLR, role-based error reporting, extended tags, payload of 512 bytes
    read_only<std::uint32_t>(at + 0x04, 0x10008fe2);
    read_write<std::uint16_t>(reg::device_control, 0x7fff, 0x2810);
    clear_by_one<std::uint16_t>(reg::device_status, 0x000f);
    read_only<std::uint32_t>(at + 0x0c, 0x00400000U | link);
    read_write<std::uint16_t>(at + 0x10, 0x00cb);
    read_only<std::uint16_t>(at + 0x12, static_cast<std::uint16_t>(0x1000U | link));
    read_only<std::uint32_t>(at + 0x24, 0x0000001f); // completion timeouts, all ranges
    read_write<std::uint16_t>(at + 0x28, 0x005f);    // timeout value, AtomicOp requester
    const std::uint32_t speeds = (1U << config.link_speed) - 1;
    read_only<std::uint32_t>(at + 0x2c, speeds << 1U);
    read_write<std::uint16_t>(at + 0x30, 0x000f, config.link_speed);
}

void ConfigSpace::Layout::msix(const FunctionConfig& config, std::uint8_t next) {
    constexpr std::size_t at = reg::msix;
    capability(at, capability_msix, next);
    read_write<std::uint16_t>(reg::msix_control, msix_enable | msix_function_mask,
                              static_cast<std::uint16_t>(config.msix_vectors - 1));
    read_only<std::uint32_t>(at + 4, msix_table_offset); // the low three bits name BAR 0
    read_only<std::uint32_t>(at + 8, msix_pending_offset);
}

/// The class Gateway implements the registers after the header.
void ConfigSpace::Layout::vendor_specific(std::uint8_t next) {
    constexpr std::size_t at = reg::vendor_specific;
    capability(at, capability_vendor_specific, next);
    read_only<std::uint8_t>(at + 2, Gateway::size);
}

void ConfigSpace::Layout::error_reporting(std::uint16_t next) {
    constexpr std::size_t at = reg::error_reporting;
    constexpr std::uint32_t uncorrectable = 0x001ff010;
    constexpr std::uint32_t correctable = 0x000031c1;
    extended_capability(at, extended_error_reporting, 2, next);
    clear_by_one<std::uint32_t>(at + 0x04, uncorrectable);
    read_write<std::uint32_t>(at + 0x08, uncorrectable);
    read_write<std::uint32_t>(at + 0x0c, uncorrectable, 0x00062010);
    clear_by_one<std::uint32_t>(at + 0x10, correctable);
    read_write<std::uint32_t>(at + 0x14, correctable, 0x00002000);
    for (std::size_t offset = 0x04; offset <= 0x14; offset += 4)
        sticky32(at + offset);
}

void ConfigSpace::Layout::serial_number(const FunctionConfig& config, std::uint16_t next) {
    constexpr std::size_t at = reg::serial_number;
    extended_capability(at, extended_serial_number, 1, next);
    read_only<std::uint64_t>(at + 4, config.serial_number);
}

ConfigSpace::ConfigSpace(const FunctionConfig& config) {
    Layout layout(*this);
    layout.header(config);
    layout.express(config, reg::msix);
    layout.msix(config, reg::vendor_specific);
    layout.vendor_specific(reg::power_management);
    layout.power_management(0);
    layout.error_reporting(reg::serial_number);
    layout.serial_number(config, 0);
    value_ = initial_;
}

void ConfigSpace::read(std::size_t offset, std::span<std::byte> out) const {
    std::ranges::copy(std::span(value_).subspan(offset, out.size()), out.begin());
}

bool ConfigSpace::write(std::size_t offset, std::span<const std::byte> data) {
    const std::uint16_t power_before = read16(reg::power_control);
    bool reset_wanted = false;
    for (std::size_t i = 0; i < data.size(); ++i) {
        const std::size_t at = offset + i;
        const std::byte writable = writable_.at(at);
        std::byte& value = value_.at(at);
        value = (value & ~writable) | (data[i] & writable);
        value &= ~(data[i] & write_1_clear_.at(at));
        if (at == reg::device_control + 1U && (data[i] & initiate_flr) != std::byte{0})
            reset_wanted = true;
    }
    const auto power_state = read16(reg::power_control) & power_state_mask;
    if (power_state != 0 && power_state != power_state_d3hot) // D1 and D2 do not exist
        store_le(std::span(value_).subspan(reg::power_control), power_before);
    return reset_wanted;
}

void ConfigSpace::reset(ResetScope scope) {
    for (std::size_t i = 0; i < size; ++i) {
        const std::byte kept = scope == ResetScope::keep_sticky ? sticky_.at(i) : std::byte{0};
        value_.at(i) = (value_.at(i) & kept) | (initial_.at(i) & ~kept);
    }
}

void ConfigSpace::set_bits32(std::size_t offset, std::uint32_t bits) {
    store_le(std::span(value_).subspan(offset), read32(offset) | bits);
}

void ConfigSpace::note_master_abort() {
    set_bits32(reg::command, std::uint32_t{status_master_abort} << 16U); // Status is its upper half
}

void ConfigSpace::note_unsupported_request() {
    set_bits32(reg::device_control, std::uint32_t{device_status_unsupported} << 16U);
    set_bits32(reg::error_reporting + 4, uncorrectable_unsupported);
}

bool ConfigSpace::memory_enabled() const {
    return (read16(reg::command) & command_memory) != 0;
}

bool ConfigSpace::bus_master_enabled() const {
    return (read16(reg::command) & command_bus_master) != 0;
}

bool ConfigSpace::msix_enabled() const {
    return (read16(reg::msix_control) & msix_enable) != 0;
}

bool ConfigSpace::msix_function_masked() const {
    return (read16(reg::msix_control) & msix_function_mask) != 0;
}

bool ConfigSpace::powered() const {
    return (read16(reg::power_control) & power_state_mask) != power_state_d3hot;
}

std::uint16_t ConfigSpace::read16(std::size_t offset) const {
    return load_le<std::uint16_t>(std::span(value_).subspan(offset));
}

std::uint32_t ConfigSpace::read32(std::size_t offset) const {
    return load_le<std::uint32_t>(std::span(value_).subspan(offset));
}

} // namespace cxemu::pci
