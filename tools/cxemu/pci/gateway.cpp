// SPDX-License-Identifier: GPL-2.0-or-later
#include "pci/gateway.hpp"

#include "base/byte_order.hpp"
#include "pci/config_space.hpp"

#include <algorithm>
#include <optional>

namespace cxemu::pci {

namespace {

constexpr std::size_t control = 0x04;
constexpr std::size_t space_size = 2; // bytes of the control register that software writes
constexpr std::size_t counter = 0x08;
constexpr std::size_t semaphore = 0x0c;
constexpr std::size_t address_register = 0x10;
constexpr std::size_t data_register = 0x14;
constexpr std::size_t word_size = 4;

constexpr std::uint32_t space_is_there = 1U << 29U;
constexpr std::uint32_t flag = 1U << 31U;
constexpr std::uint32_t syndrome = 1U << 30U;
constexpr std::uint32_t address_mask = syndrome - 1;

/// The part of a configuration access that lies in bytes [first, first + length) of the capability.
struct Overlap {
    Overlap(std::size_t offset, std::size_t count, std::size_t first, std::size_t length)
        : begin(std::max(offset, reg::vendor_specific + first)),
          end(std::min(offset + count, reg::vendor_specific + first + length)) {}

    explicit operator bool() const { return begin < end; }

    std::size_t begin;
    std::size_t end;
};

} // namespace

Gateway::Bytes Gateway::initial() {
    Bytes bytes{};
    store_le<std::uint32_t>(std::span(bytes).subspan(counter), 1);
    return bytes;
}

void Gateway::reset() {
    bytes_ = initial();
}

std::uint32_t Gateway::word(std::size_t at) const {
    return load_le<std::uint32_t>(std::span(bytes_).subspan(at));
}

void Gateway::set_word(std::size_t at, std::uint32_t value) {
    store_le(std::span(bytes_).subspan(at), value);
}

void Gateway::read(std::size_t offset, std::span<std::byte> out) {
    const Overlap registers(offset, out.size(), control, size - control);
    if (!registers)
        return;
    std::ranges::copy(std::span(bytes_).subspan(registers.begin - reg::vendor_specific,
                                                registers.end - registers.begin),
                      out.subspan(registers.begin - offset).begin());
    if (Overlap(offset, out.size(), counter, word_size))
        set_word(counter, std::max(word(counter) + 1, 1U)); // 0 is no ticket
}

void Gateway::write(std::size_t offset, std::span<const std::byte> data, DeviceModel* model) {
    const Overlap registers(offset, data.size(), control, size - control);
    if (!registers)
        return;
    const auto touched = [&](std::size_t first, std::size_t length) {
        return static_cast<bool>(Overlap(offset, data.size(), first, length));
    };
    Bytes wanted = bytes_;
    std::ranges::copy(data.subspan(registers.begin - offset, registers.end - registers.begin),
                      std::span(wanted).subspan(registers.begin - reg::vendor_specific).begin());
    const auto wanted_word = [&wanted](std::size_t at) {
        return load_le<std::uint32_t>(std::span(wanted).subspan(at));
    };
    if (touched(control, space_size))
        select_space(static_cast<std::uint16_t>(wanted_word(control)), model);
    if (touched(semaphore, word_size))
        take_semaphore(wanted_word(semaphore));
    if (touched(data_register, word_size))
        set_word(data_register, wanted_word(data_register));
    if (touched(address_register, word_size))
        set_word(address_register, wanted_word(address_register));
    // The last byte of the address has the flag, which starts the access.
    if (touched(address_register + word_size - 1, 1))
        access(wanted_word(address_register), model);
}

void Gateway::select_space(std::uint16_t space, const DeviceModel* model) {
    const bool is_there = model != nullptr && model->has_space(space);
    set_word(control, space | (is_there ? space_is_there : 0U));
}

void Gateway::take_semaphore(std::uint32_t ticket) {
    if (ticket == 0 || word(semaphore) == 0)
        set_word(semaphore, ticket);
}

void Gateway::access(std::uint32_t address, DeviceModel* model) {
    const bool is_write = (address & flag) != 0;
    const auto space = static_cast<std::uint16_t>(word(control));
    const bool is_there = model != nullptr && (word(control) & space_is_there) != 0;
    const std::uint32_t place = address & address_mask;
    bool done = false;
    if (is_there && is_write) {
        done = model->space_write(space, place, word(data_register));
    } else if (is_there) {
        const std::optional<std::uint32_t> read = model->space_read(space, place);
        done = read.has_value();
        set_word(data_register, read.value_or(0));
    }
    set_word(address_register, place | (done ? 0 : syndrome) | (is_write ? 0 : flag));
}

} // namespace cxemu::pci
