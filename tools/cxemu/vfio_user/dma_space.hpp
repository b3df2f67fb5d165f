// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// DMA access to guest memory.
///
/// The client (QEMU) announces ranges of I/O virtual addresses (iova), each with the file that
/// backs it. An address is looked up at every access, because maps change while the guest boots or
/// uses an IOMMU. An access that no map covers is a PCIe master abort: it returns an error and is
/// counted, and nothing is transferred.
#pragma once

#include "base/byte_order.hpp"
#include "base/log.hpp"
#include "base/unique_fd.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace cxemu::vfio_user {

class MappedFile;

/// Direction of a DMA transfer: the device reads or writes guest memory.
enum class DmaAccess : std::uint8_t { read, write };

enum class DmaFault : std::uint8_t {
    not_mapped,     ///< no map covers the whole range: master abort
    not_accessible, ///< the map has no file (ROM, another device's BAR): master abort
    not_permitted,  ///< write to a read-only map or read from a write-only one
    wraps_around,   ///< address + size exceeds 64 bits
    misaligned,     ///< a word access whose address is not a multiple of its size
    bus_master_off, ///< the guest has not set Bus Master Enable, or the function is not in D0
    memory_lost,    ///< the client has truncated the backing file under the map
};

struct DmaError {
    DmaFault fault;
    DmaAccess access;
    std::uint64_t iova; ///< of the whole access
    std::uint64_t size; ///< of the whole access, in bytes
};

/// One line of text: access, address and fault.
std::string to_string(const DmaError& error);

template <typename T>
using DmaResult = std::expected<T, DmaError>;

struct DmaStatistics {
    std::uint64_t reads = 0; ///< successful accesses, words included
    std::uint64_t writes = 0;
    std::uint64_t bytes_read = 0;
    std::uint64_t bytes_written = 0;
    std::uint64_t master_aborts = 0; ///< not_mapped, not_accessible, wraps_around
    std::uint64_t refused = 0;       ///< every other fault
    std::uint64_t maps = 0;          ///< accepted DMA_MAP messages
    std::uint64_t maps_without_file = 0;
    std::uint64_t unmaps = 0; ///< accepted DMA_UNMAP messages
};

/// A request to map, as in the DMA_MAP message.
struct DmaMapRequest {
    std::uint64_t iova = 0;        ///< multiple of 4096
    std::uint64_t size = 0;        ///< bytes, multiple of 4096, not zero
    std::uint64_t file_offset = 0; ///< where iova lies in the file; multiple of 4096
    bool readable = false;
    bool writable = false;
};

class DmaSpace {
public:
    /// Addresses, sizes and file offsets of maps are multiples of this.
    static constexpr std::uint64_t page_size = 4096;
    /// Maps beyond this number are refused.
    static constexpr std::size_t max_maps = 65535;

    explicit DmaSpace(Log log);
    ~DmaSpace();
    DmaSpace(const DmaSpace&) = delete;
    DmaSpace& operator=(const DmaSpace&) = delete;

    // --- For device models ---------------------------------------------------------------------

    /// Copies out.size() bytes at \p iova into \p out; the range may span maps. On error \p out is
    /// unchanged, except for memory_lost, where it is undefined.
    DmaResult<void> read(std::uint64_t iova, std::span<std::byte> out);

    /// Copies \p data to \p iova; the range may span maps. On error nothing has been written,
    /// except for memory_lost.
    DmaResult<void> write(std::uint64_t iova, std::span<const std::byte> data);

    /// Access to words that the driver of the guest reads or writes at the same time: ownership
    /// bits, doorbell records, valid bytes. A load is an acquire (later reads are at least as new),
    /// a store is a release (earlier writes are visible first). T is an unsigned integer of 1, 2, 4
    /// or 8 bytes; \p iova must be a multiple of its size. Values are in the processor's byte
    /// order, the guest's memory is big endian.
    template <std::unsigned_integral T>
    DmaResult<T> load_be(std::uint64_t iova);
    template <std::unsigned_integral T>
    DmaResult<void> store_be(std::uint64_t iova, T value);

    /// The parts of this process's memory behind [iova, iova + size), in order; mostly one. They
    /// are valid until control returns to the event loop. Not counted in the statistics' bytes. The
    /// guest may change them at any time: data that must not change between check and use is copied
    /// first (read()).
    DmaResult<std::vector<std::span<std::byte>>> spans(std::uint64_t iova, std::uint64_t size,
                                                       DmaAccess access);

    /// Device memory (MEMIC), which DMA reaches at local_start and beyond, not by the bus. Must not
    /// move; empty: none. Initially empty.
    static constexpr std::uint64_t local_start = 0xffff'ff00'0000'0000;
    void set_local_memory(std::span<std::byte> memory) { local_memory_ = memory; }

    /// True when samples of the file that backs \p iova are all zero. A running guest has written
    /// to its memory, so this means that its writes go to private copies that the device cannot see
    /// (a memory backend with share=off). Call it if the first command reads as all zeros; it takes
    /// one or two milliseconds.
    [[nodiscard]] bool looks_private(std::uint64_t iova) const;

    [[nodiscard]] const DmaStatistics& statistics() const { return statistics_; }

    /// Whether the guest has bus mastering on.
    [[nodiscard]] bool bus_master() const { return bus_master_; }

    // --- For the protocol ----------------------------------------------------------------------

    /// Adds a map. \p file may be empty: the range is then mapped but not accessible.
    /// \return an errno: EINVAL (alignment, size, wraparound, range beyond the end of the file, not
    ///         a regular file), EEXIST (overlap), ENOSPC (too many maps), ENOMEM (mmap failed)
    std::expected<void, int> map(const DmaMapRequest& request, UniqueFd file);

    /// Removes every map inside [iova, iova + size); there may be none.
    /// \return bytes unmapped, or EINVAL when the range wraps around or would split a map
    std::expected<std::uint64_t, int> unmap(std::uint64_t iova, std::uint64_t size);

    /// Removes all maps. Statistics stay.
    void clear();

    [[nodiscard]] std::size_t map_count() const { return maps_.size(); }

    // --- For the PCI function ------------------------------------------------------------------

    /// While off, every access fails with bus_master_off. Initially on.
    void set_bus_master(bool enabled) { bus_master_ = enabled; }

private:
    struct Map;

    [[nodiscard]] const Map* find(std::uint64_t iova) const;
    [[nodiscard]] bool overlaps(std::uint64_t iova, std::uint64_t size) const;
    [[nodiscard]] std::expected<std::span<std::byte>, DmaFault>
    piece_at(std::uint64_t iova, std::uint64_t size, DmaAccess access) const;
    template <typename Visit>
    std::expected<void, DmaFault> for_each_piece(std::uint64_t iova, std::uint64_t size,
                                                 DmaAccess access, Visit visit) const;
    template <typename Copy>
    DmaResult<void> transfer(std::uint64_t iova, std::uint64_t size, DmaAccess access, Copy copy);
    DmaResult<std::byte*> word(std::uint64_t iova, std::size_t size, DmaAccess access);
    DmaResult<void> finish_word(std::uint64_t iova, std::size_t size, DmaAccess access);
    std::unexpected<DmaError> fail(DmaFault fault, std::uint64_t iova, std::uint64_t size,
                                   DmaAccess access);
    void count(std::uint64_t size, DmaAccess access);
    std::expected<std::shared_ptr<MappedFile>, int> mapped_file(UniqueFd file, std::uint64_t end);

    Log log_;
    LogLimiter limiter_;
    std::span<std::byte> local_memory_;
    std::map<std::uint64_t, Map> maps_; ///< by first iova; no two overlap
    std::vector<std::weak_ptr<MappedFile>> files_;
    DmaStatistics statistics_;
    std::uint64_t losses_seen_ = 0; ///< MappedFile::losses() before the present access
    bool bus_master_ = true;
};

struct DmaSpace::Map {
    std::uint64_t size;
    std::uint64_t file_offset;
    bool readable;
    bool writable;
    std::shared_ptr<MappedFile> file; ///< empty: not accessible
};

template <std::unsigned_integral T>
DmaResult<T> DmaSpace::load_be(std::uint64_t iova) {
    const auto address = word(iova, sizeof(T), DmaAccess::read);
    if (!address)
        return std::unexpected(address.error());
    const std::atomic_ref<T> guest(*reinterpret_cast<T*>(*address));
    const T value = swap_if_little(guest.load(std::memory_order_acquire));
    if (const auto finished = finish_word(iova, sizeof(T), DmaAccess::read); !finished)
        return std::unexpected(finished.error());
    return value;
}

template <std::unsigned_integral T>
DmaResult<void> DmaSpace::store_be(std::uint64_t iova, T value) {
    const auto address = word(iova, sizeof(T), DmaAccess::write);
    if (!address)
        return std::unexpected(address.error());
    const std::atomic_ref<T> guest(*reinterpret_cast<T*>(*address));
    guest.store(swap_if_little(value), std::memory_order_release);
    return finish_word(iova, sizeof(T), DmaAccess::write);
}

} // namespace cxemu::vfio_user
