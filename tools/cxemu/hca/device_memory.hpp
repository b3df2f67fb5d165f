// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Device memory (MEMIC): software allocates it, maps it from BAR 0, and creates mkeys for it.
/// Operations on it can have their own BAR addresses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
#include <span>
#include <vector>

namespace cxemu::hca {

/// Operations with a BAR address; the numbers are those of MODIFY_MEMIC.
enum class MemoryOperation : std::uint8_t {
    increment,    ///< a write adds its data
    test_and_set, ///< a read returns the memory and sets it to one
};

enum class DeviceMemoryError : std::uint8_t {
    bad_size,          ///< 0, or no multiple of the granularity
    bad_alignment,     ///< exceeds the capability
    bad_range,         ///< not within the MEMIC part of the BAR
    no_room,           ///< no free range that is large enough
    unknown,           ///< nothing is allocated there
    unknown_operation, ///< the device doesn't have it
    has_address,       ///< the operation has an address already
    has_no_address,
};

/// The MEMIC at the end of BAR 0, followed by one window of the same size for each operation.
/// Addresses are offsets in the BAR.
class DeviceMemory {
public:
    /// Bytes, as ibv_devinfo shows them (devinfo-16.31, devinfo-20.37: see origin.hpp).
    static constexpr std::uint64_t size = 128ULL * 1024;
    static constexpr std::uint64_t granularity = 64;      ///< granularity of allocations, bytes
    static constexpr std::uint64_t log_max_alignment = 6; ///< log2 of units of 64 bytes
    static constexpr std::uint64_t operations = 2;
    /// BAR size of all windows, bytes.
    static constexpr std::uint64_t window = size * (1 + operations);

    /// \param bar_size bytes; \param present whether the device has MEMIC
    DeviceMemory(std::uint64_t bar_size, bool present);

    /// Offset of the MEMIC in a BAR of \p bar_size bytes.
    static constexpr std::uint64_t start_in(std::uint64_t bar_size) { return bar_size - window; }

    [[nodiscard]] bool present() const { return !bytes_.empty(); }
    [[nodiscard]] std::uint64_t start() const { return start_; }
    /// The whole MEMIC, whether allocated or not; its address is constant.
    [[nodiscard]] std::span<std::byte> bytes() { return bytes_; }

    /// Allocates \p length bytes somewhere in [range, range + range_size).
    /// \param log_alignment in units of 64 bytes, log2
    std::expected<std::uint64_t, DeviceMemoryError> allocate(std::uint64_t range,
                                                             std::uint64_t range_size,
                                                             std::uint64_t length,
                                                             std::uint64_t log_alignment);
    /// Frees an allocation of allocate() and the addresses of its operations.
    std::expected<void, DeviceMemoryError> release(std::uint64_t address, std::uint64_t length);

    /// True when [address, address + length) is within one allocation.
    [[nodiscard]] bool holds(std::uint64_t address, std::uint64_t length) const;

    /// \return the BAR address for \p operation on the allocation at \p address
    std::expected<std::uint64_t, DeviceMemoryError> give_address(std::uint64_t address,
                                                                 std::uint8_t operation);
    std::expected<void, DeviceMemoryError> take_address(std::uint64_t address,
                                                        std::uint8_t operation);

    [[nodiscard]] std::size_t allocations() const { return allocations_.size(); }
    /// Frees all allocations and clears the memory.
    void reset();

    // --- BAR 0

    /// True when \p offset is in one of the windows.
    [[nodiscard]] bool decodes(std::uint64_t offset) const;
    /// \pre decodes(offset). \return false when nothing is allocated there, or the operation
    /// doesn't support the access size; reads return zeros then
    bool read(std::uint64_t offset, std::span<std::byte> out);
    bool write(std::uint64_t offset, std::span<const std::byte> data);

private:
    struct Allocation {
        std::uint64_t size = 0;
        std::array<bool, operations> has_address{};
    };
    /// Decoded BAR offset.
    struct Place {
        std::uint64_t window;  ///< 0: the memory, 1 + n: operation n
        std::uint64_t address; ///< of the memory
    };

    [[nodiscard]] Place place_of(std::uint64_t offset) const;
    /// The allocation that contains the range, or nullptr.
    [[nodiscard]] const Allocation* find(std::uint64_t address, std::uint64_t length) const;
    [[nodiscard]] bool is_free(std::uint64_t address, std::uint64_t length) const;
    [[nodiscard]] bool takes(const Place& place, std::size_t length) const;
    std::expected<bool*, DeviceMemoryError> address_flag(std::uint64_t address,
                                                         std::uint8_t operation);

    std::uint64_t start_;
    std::vector<std::byte> bytes_;
    std::map<std::uint64_t, Allocation> allocations_; ///< by address; no two overlap
};

} // namespace cxemu::hca
