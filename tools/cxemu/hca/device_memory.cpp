// SPDX-License-Identifier: GPL-2.0-or-later
#include "hca/device_memory.hpp"

#include <algorithm>
#include <iterator>

namespace cxemu::hca {

namespace {

std::unexpected<DeviceMemoryError> fail(DeviceMemoryError error) {
    return std::unexpected(error);
}

std::uint64_t window_of(MemoryOperation operation) {
    return 1 + static_cast<std::uint64_t>(operation);
}

} // namespace

DeviceMemory::DeviceMemory(std::uint64_t bar_size, bool present)
    : start_(present ? start_in(bar_size) : bar_size), bytes_(present ? size : 0) {}

std::expected<std::uint64_t, DeviceMemoryError>
DeviceMemory::allocate(std::uint64_t range, std::uint64_t range_size, std::uint64_t length,
                       std::uint64_t log_alignment) {
    if (length == 0 || length % granularity != 0)
        return fail(DeviceMemoryError::bad_size);
    if (log_alignment > log_max_alignment)
        return fail(DeviceMemoryError::bad_alignment);
    const std::uint64_t end = start_ + bytes_.size();
    if (range < start_ || range > end || range_size > end - range)
        return fail(DeviceMemoryError::bad_range);
    const std::uint64_t alignment = granularity << log_alignment;
    for (std::uint64_t address = (range + alignment - 1) / alignment * alignment;
         address + length <= range + range_size; address += alignment) {
        if (!is_free(address, length))
            continue;
        allocations_[address] = {.size = length, .has_address = {}};
        return address;
    }
    return fail(DeviceMemoryError::no_room);
}

std::expected<void, DeviceMemoryError> DeviceMemory::release(std::uint64_t address,
                                                             std::uint64_t length) {
    const auto found = allocations_.find(address);
    if (found == allocations_.end())
        return fail(DeviceMemoryError::unknown);
    if (found->second.size != length)
        return fail(DeviceMemoryError::bad_size);
    allocations_.erase(found);
    return {};
}

const DeviceMemory::Allocation* DeviceMemory::find(std::uint64_t address,
                                                   std::uint64_t length) const {
    const auto next = allocations_.upper_bound(address);
    if (next == allocations_.begin())
        return nullptr;
    const auto& [start, allocation] = *std::prev(next);
    const std::uint64_t offset = address - start;
    const bool inside = offset <= allocation.size && length <= allocation.size - offset;
    return inside ? &allocation : nullptr;
}

bool DeviceMemory::is_free(std::uint64_t address, std::uint64_t length) const {
    const auto next = allocations_.lower_bound(address);
    if (next != allocations_.end() && next->first - address < length)
        return false;
    if (next == allocations_.begin())
        return true;
    const auto& [start, allocation] = *std::prev(next);
    return start + allocation.size <= address;
}

bool DeviceMemory::holds(std::uint64_t address, std::uint64_t length) const {
    return find(address, length) != nullptr;
}

std::expected<bool*, DeviceMemoryError> DeviceMemory::address_flag(std::uint64_t address,
                                                                   std::uint8_t operation) {
    if (operation >= operations)
        return fail(DeviceMemoryError::unknown_operation);
    const auto found = allocations_.find(address);
    if (found == allocations_.end())
        return fail(DeviceMemoryError::unknown);
    return &found->second.has_address.at(operation);
}

std::expected<std::uint64_t, DeviceMemoryError> DeviceMemory::give_address(std::uint64_t address,
                                                                           std::uint8_t operation) {
    const auto flag = address_flag(address, operation);
    if (!flag)
        return std::unexpected(flag.error());
    if (**flag)
        return fail(DeviceMemoryError::has_address);
    **flag = true;
    return address + size * window_of(static_cast<MemoryOperation>(operation));
}

std::expected<void, DeviceMemoryError> DeviceMemory::take_address(std::uint64_t address,
                                                                  std::uint8_t operation) {
    const auto flag = address_flag(address, operation);
    if (!flag)
        return std::unexpected(flag.error());
    if (!**flag)
        return fail(DeviceMemoryError::has_no_address);
    **flag = false;
    return {};
}

void DeviceMemory::reset() {
    allocations_.clear();
    std::ranges::fill(bytes_, std::byte{0});
}

// --- BAR 0 ---------------------------------------------------------------------------------------

bool DeviceMemory::decodes(std::uint64_t offset) const {
    return present() && offset >= start_ && offset - start_ < window;
}

DeviceMemory::Place DeviceMemory::place_of(std::uint64_t offset) const {
    const std::uint64_t distance = offset - start_;
    return {.window = distance / size, .address = start_ + distance % size};
}

bool DeviceMemory::takes(const Place& place, std::size_t length) const {
    const Allocation* allocation = find(place.address, length);
    if (allocation == nullptr)
        return false;
    return place.window == 0 || (length == 1 && allocation->has_address.at(place.window - 1));
}

bool DeviceMemory::read(std::uint64_t offset, std::span<std::byte> out) {
    std::ranges::fill(out, std::byte{0});
    const Place place = place_of(offset);
    if (!takes(place, out.size()))
        return false;
    const auto memory = std::span(bytes_).subspan(place.address - start_, out.size());
    if (place.window == window_of(MemoryOperation::increment))
        return false;
    std::ranges::copy(memory, out.begin());
    if (place.window == window_of(MemoryOperation::test_and_set))
        memory.front() = std::byte{1};
    return true;
}

bool DeviceMemory::write(std::uint64_t offset, std::span<const std::byte> data) {
    const Place place = place_of(offset);
    if (!takes(place, data.size()))
        return false;
    const auto memory = std::span(bytes_).subspan(place.address - start_, data.size());
    if (place.window == window_of(MemoryOperation::test_and_set))
        return false;
    if (place.window == 0)
        std::ranges::copy(data, memory.begin());
    else
        memory.front() = static_cast<std::byte>(std::to_integer<unsigned>(memory.front()) +
                                                std::to_integer<unsigned>(data.front()));
    return true;
}

} // namespace cxemu::hca
