// SPDX-License-Identifier: GPL-2.0-or-later
#include "vfio_user/dma_space.hpp"
#include "vfio_user/testing/guest_memory.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <dirent.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <vector>

namespace cxemu::vfio_user {
namespace {

using testing::GuestMemory;

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t last_page = std::numeric_limits<std::uint64_t>::max() - page + 1;

std::vector<std::byte> pattern(std::size_t size, unsigned seed = 1) {
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; ++i)
        bytes[i] = static_cast<std::byte>(seed + i * 7);
    return bytes;
}

std::size_t open_descriptors() {
    std::size_t count = 0;
    DIR* directory = ::opendir("/proc/self/fd");
    while (::readdir(directory) != nullptr)
        ++count;
    ::closedir(directory);
    return count;
}

class DmaMap : public ::testing::Test {
protected:
    DmaFault read_fault(std::uint64_t iova, std::size_t size) {
        std::vector<std::byte> out(size);
        const auto result = dma_.read(iova, out);
        EXPECT_FALSE(result);
        return result ? DmaFault{} : result.error().fault;
    }
    DmaFault write_fault(std::uint64_t iova, std::size_t size) {
        const auto result = dma_.write(iova, std::vector<std::byte>(size));
        EXPECT_FALSE(result);
        return result ? DmaFault{} : result.error().fault;
    }
    int map_error(const DmaMapRequest& request, UniqueFd file = {}) {
        const auto result = dma_.map(request, std::move(file));
        return result ? 0 : result.error();
    }
    static DmaMapRequest request(std::uint64_t iova, std::uint64_t size, std::uint64_t offset = 0) {
        return {
            .iova = iova, .size = size, .file_offset = offset, .readable = true, .writable = true};
    }

    DmaSpace dma_{make_silent_log()};
    GuestMemory memory_{8 * page};
};

using DmaMapRequests = DmaMap;
using DmaUnmap = DmaMap;
using DmaWord = DmaMap;

TEST_F(DmaMap, DeviceReadReturnsGuestData) {
    memory_.map_into(dma_, 0x10000);
    const auto data = pattern(100);
    std::ranges::copy(data, memory_.bytes().subspan(50).begin());
    std::vector<std::byte> out(100);
    ASSERT_TRUE(dma_.read(0x10000 + 50, out));
    EXPECT_EQ(out, data);
}

TEST_F(DmaMap, DeviceWriteReachesGuest) {
    memory_.map_into(dma_, 0x10000);
    const auto data = pattern(5000);
    ASSERT_TRUE(dma_.write(0x10000 + 3000, data));
    EXPECT_TRUE(std::ranges::equal(memory_.bytes().subspan(3000, 5000), data));
}

TEST_F(DmaMap, FileOffsetUsed) {
    ASSERT_EQ(map_error(request(0x80000000, page, 2 * page), memory_.file()), 0);
    ASSERT_TRUE(dma_.write(0x80000000, pattern(16)));
    EXPECT_TRUE(std::ranges::equal(memory_.bytes().subspan(2 * page, 16), pattern(16)));
}

TEST_F(DmaMap, UnmappedAccessCountsMasterAbort) {
    memory_.map_into(dma_, 0x10000);
    EXPECT_EQ(read_fault(0x1000, 4), DmaFault::not_mapped);
    EXPECT_EQ(write_fault(0x10000 + 8 * page, 1), DmaFault::not_mapped);
    EXPECT_EQ(dma_.statistics().master_aborts, 2U);
}

TEST_F(DmaMap, AccessBeyondMapTransfersNothing) {
    memory_.map_into(dma_, 0x10000);
    EXPECT_EQ(write_fault(0x10000 + 8 * page - 8, 9), DmaFault::not_mapped);
    const auto data = pattern(9);
    ASSERT_FALSE(dma_.write(0x10000 + 8 * page - 8, data));
    EXPECT_EQ(memory_.bytes().back(), std::byte{0});
    std::array<std::byte, 16> out{};
    out.fill(std::byte{0x55});
    ASSERT_FALSE(dma_.read(0x10000 + 8 * page - 8, out));
    EXPECT_THAT(out, ::testing::Each(std::byte{0x55}));
}

TEST_F(DmaMap, AccessBeforeMapRefused) {
    memory_.map_into(dma_, 0x10000);
    EXPECT_EQ(read_fault(0xffff, 2), DmaFault::not_mapped);
}

TEST_F(DmaMap, RangeBeyond64BitsRefused) {
    ASSERT_EQ(map_error(request(last_page, page), memory_.file()), 0);
    EXPECT_EQ(read_fault(last_page + 1, page), DmaFault::wraps_around);
    EXPECT_EQ(dma_.statistics().master_aborts, 1U);
}

TEST_F(DmaMap, LastByteOf64BitsAccessible) {
    ASSERT_EQ(map_error(request(last_page, page), memory_.file()), 0);
    ASSERT_TRUE(dma_.write(std::numeric_limits<std::uint64_t>::max(), pattern(1)));
    EXPECT_EQ(memory_.bytes()[page - 1], pattern(1).front());
}

TEST_F(DmaMap, AccessCrossesAdjacentMaps) {
    ASSERT_EQ(map_error(request(0x10000, page, page), memory_.file()), 0);
    ASSERT_EQ(map_error(request(0x11000, page, 5 * page), memory_.file()), 0);
    const auto data = pattern(200);
    ASSERT_TRUE(dma_.write(0x11000 - 100, data));
    EXPECT_TRUE(std::ranges::equal(memory_.bytes().subspan(2 * page - 100, 100),
                                   std::span(data).first(100)));
    EXPECT_TRUE(
        std::ranges::equal(memory_.bytes().subspan(5 * page, 100), std::span(data).last(100)));
    std::vector<std::byte> out(200);
    ASSERT_TRUE(dma_.read(0x11000 - 100, out));
    EXPECT_EQ(out, data);
}

TEST_F(DmaMap, SpansReturnedInOrder) {
    ASSERT_EQ(map_error(request(0x10000, page, page), memory_.file()), 0);
    ASSERT_EQ(map_error(request(0x11000, page, 5 * page), memory_.file()), 0);
    const auto spans = dma_.spans(0x10800, page, DmaAccess::write);
    ASSERT_TRUE(spans);
    ASSERT_EQ(spans->size(), 2U);
    EXPECT_EQ((*spans)[0].size(), 0x800U);
    EXPECT_EQ((*spans)[1].size(), 0x800U);
    (*spans)[1].front() = std::byte{0x5a};
    EXPECT_EQ(memory_.bytes()[5 * page], std::byte{0x5a});
}

TEST_F(DmaMap, PartlyUnmappedRangeHasNoSpans) {
    memory_.map_into(dma_, 0x10000);
    const auto spans = dma_.spans(0x10000, 9 * page, DmaAccess::read);
    ASSERT_FALSE(spans);
    EXPECT_EQ(spans.error().fault, DmaFault::not_mapped);
    EXPECT_EQ(spans.error().size, 9 * page);
}

TEST_F(DmaMap, EmptyAccessAccepted) {
    EXPECT_TRUE(dma_.read(0xdead0000, {}));
    EXPECT_TRUE(dma_.write(0xdead0000, {}));
    EXPECT_EQ(dma_.statistics().master_aborts, 0U);
}

TEST_F(DmaMap, ReadOnlyMapRefusesWrite) {
    memory_.map_into(dma_, 0x10000, false);
    EXPECT_EQ(write_fault(0x10000, 4), DmaFault::not_permitted);
    std::array<std::byte, 4> out{};
    EXPECT_TRUE(dma_.read(0x10000, out));
    EXPECT_EQ(dma_.statistics().refused, 1U);
}

TEST_F(DmaMap, ReadOnlyFileRefusesWrite) {
    const auto path = "/proc/self/fd/" + std::to_string(memory_.file().release());
    UniqueFd read_only(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_TRUE(read_only);
    ASSERT_EQ(map_error(request(0x10000, page), std::move(read_only)), 0);
    EXPECT_EQ(write_fault(0x10000, 4), DmaFault::not_permitted);
    std::array<std::byte, 4> out{};
    EXPECT_TRUE(dma_.read(0x10000, out));
    ::close(std::stoi(path.substr(path.rfind('/') + 1)));
}

TEST_F(DmaMap, MapWithoutFileRefusesAccess) {
    ASSERT_EQ(map_error(request(0xfffc0000, 0x40000)), 0);
    EXPECT_EQ(read_fault(0xfffc0000, 4), DmaFault::not_accessible);
    EXPECT_EQ(dma_.statistics().maps_without_file, 1U);
    EXPECT_EQ(dma_.statistics().master_aborts, 1U);
}

TEST_F(DmaMap, BusMasterOffRefusesAccess) {
    memory_.map_into(dma_, 0x10000);
    dma_.set_bus_master(false);
    EXPECT_EQ(read_fault(0x10000, 4), DmaFault::bus_master_off);
    EXPECT_EQ(write_fault(0x10000, 4), DmaFault::bus_master_off);
    EXPECT_EQ(dma_.store_be<std::uint32_t>(0x10000, 1).error().fault, DmaFault::bus_master_off);
    EXPECT_FALSE(dma_.spans(0x10000, 4, DmaAccess::read));
    dma_.set_bus_master(true);
    std::array<std::byte, 4> out{};
    EXPECT_TRUE(dma_.read(0x10000, out));
}

TEST_F(DmaMap, TruncatedFileReportsMemoryLost) {
    memory_.map_into(dma_, 0x10000);
    const UniqueFd file = memory_.file();
    ASSERT_EQ(::ftruncate(file.get(), 0), 0);
    EXPECT_EQ(read_fault(0x10000, 4), DmaFault::memory_lost);
    EXPECT_EQ(write_fault(0x10000 + 5 * page, 4), DmaFault::memory_lost);
    EXPECT_EQ(dma_.load_be<std::uint32_t>(0x10000).error().fault, DmaFault::memory_lost);
}

TEST_F(DmaMap, TruncatedFileFailsWordStore) {
    memory_.map_into(dma_, 0x10000);
    const UniqueFd file = memory_.file();
    ASSERT_EQ(::ftruncate(file.get(), 0), 0);
    EXPECT_EQ(dma_.store_be<std::uint64_t>(0x10000, 1).error().fault, DmaFault::memory_lost);
}

TEST_F(DmaMap, RemappedMemoryWorksAfterTruncation) {
    memory_.map_into(dma_, 0x10000);
    const UniqueFd file = memory_.file();
    ASSERT_EQ(::ftruncate(file.get(), 0), 0);
    ASSERT_EQ(read_fault(0x10000, 4), DmaFault::memory_lost);
    ASSERT_EQ(::ftruncate(file.get(), 8 * page), 0);
    ASSERT_TRUE(dma_.unmap(0x10000, 8 * page));
    memory_.map_into(dma_, 0x10000);
    std::array<std::byte, 4> out{};
    EXPECT_TRUE(dma_.read(0x10000, out));
}

TEST_F(DmaMap, FailedAccessNamed) {
    const auto result = dma_.write(0xabc000, pattern(12));
    ASSERT_FALSE(result);
    EXPECT_EQ(to_string(result.error()),
              "DMA write of 12 bytes at 0xabc000 failed: no DMA map covers it");
}

TEST_F(DmaMap, AccessesAndBytesCounted) {
    memory_.map_into(dma_, 0);
    ASSERT_TRUE(dma_.write(0, pattern(100)));
    ASSERT_TRUE(dma_.load_be<std::uint64_t>(0));
    EXPECT_EQ(dma_.statistics().writes, 1U);
    EXPECT_EQ(dma_.statistics().bytes_written, 100U);
    EXPECT_EQ(dma_.statistics().reads, 1U);
    EXPECT_EQ(dma_.statistics().bytes_read, 8U);
}

TEST_F(DmaMap, LooksPrivateUnwrittenMemoryReturnsTrue) {
    GuestMemory other(8 * page);
    memory_.map_into(dma_, 0);
    other.map_into(dma_, 0x100000);
    other.bytes()[5 * page + 17] = std::byte{1};
    std::array<std::byte, 64> command{};
    ASSERT_TRUE(dma_.read(0, command));
    EXPECT_TRUE(dma_.looks_private(0));
    EXPECT_FALSE(dma_.looks_private(0x100000));
    EXPECT_FALSE(dma_.looks_private(0x200000)); // not mapped
}

TEST_F(DmaMap, SparseLargeMemoryDoesNotLookPrivate) {
    GuestMemory large(1U << 30);
    large.map_into(dma_, 0);
    EXPECT_TRUE(dma_.looks_private(0));
    for (std::size_t at = 512U << 20; at < 514U << 20; at += page)
        large.bytes()[at] = std::byte{1};
    EXPECT_FALSE(dma_.looks_private(0));
}

TEST_F(DmaMapRequests, PartialPagesRefused) {
    EXPECT_EQ(map_error(request(0x10010, page), memory_.file()), EINVAL);
    EXPECT_EQ(map_error(request(0x10000, page + 1), memory_.file()), EINVAL);
    EXPECT_EQ(map_error(request(0x10000, page, 512), memory_.file()), EINVAL);
    EXPECT_EQ(map_error(request(0x10000, 0), memory_.file()), EINVAL);
    EXPECT_EQ(dma_.map_count(), 0U);
}

TEST_F(DmaMapRequests, AddressOverflowRefused) {
    EXPECT_EQ(map_error(request(last_page, 2 * page), memory_.file()), EINVAL);
    EXPECT_EQ(map_error(request(page, last_page), UniqueFd()), 0); // ends with the last byte
}

TEST_F(DmaMapRequests, FileOffsetOverflowRefused) {
    EXPECT_EQ(map_error(request(0, 2 * page, last_page), memory_.file()), EINVAL);
}

TEST_F(DmaMapRequests, FileRangeEndingAt64BitsRefused) {
    // A file that is mapped already serves all ranges that end within it.
    ASSERT_TRUE(dma_.map(request(0, page), memory_.file()));
    EXPECT_EQ(map_error(request(0x10000, page, last_page), memory_.file()), EINVAL);
}

TEST_F(DmaMapRequests, RangeBeyondFileRefused) {
    EXPECT_EQ(map_error(request(0, 9 * page), memory_.file()), EINVAL);
    EXPECT_EQ(map_error(request(0, 2 * page, 7 * page), memory_.file()), EINVAL);
    EXPECT_EQ(map_error(request(0, page, 7 * page), memory_.file()), 0);
}

TEST_F(DmaMapRequests, OverlappingMapRefused) {
    ASSERT_EQ(map_error(request(0x10000, 4 * page), memory_.file()), 0);
    EXPECT_EQ(map_error(request(0x10000, 4 * page), memory_.file()), EEXIST);
    EXPECT_EQ(map_error(request(0xf000, 2 * page), memory_.file()), EEXIST);
    EXPECT_EQ(map_error(request(0x13000, 2 * page), memory_.file()), EEXIST);
    EXPECT_EQ(map_error(request(0x11000, page), memory_.file()), EEXIST);
    EXPECT_EQ(map_error(request(0xf000, 8 * page), memory_.file()), EEXIST);
    EXPECT_EQ(map_error(request(0xf000, page), memory_.file()), 0);
    EXPECT_EQ(map_error(request(0x14000, page), memory_.file()), 0);
}

TEST_F(DmaMapRequests, IrregularFileRefused) {
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
    const UniqueFd other_end(pipe[1]);
    EXPECT_EQ(map_error(request(0, page), UniqueFd(pipe[0])), EINVAL);
    EXPECT_EQ(map_error(request(0, page), UniqueFd(::open("/dev/zero", O_RDWR | O_CLOEXEC))),
              EINVAL);
    EXPECT_EQ(map_error(request(0, page), UniqueFd(::open("/proc/self", O_RDONLY | O_CLOEXEC))),
              EINVAL);
}

TEST_F(DmaMapRequests, UnneededDescriptorsClosed) {
    const auto before = open_descriptors();
    for (std::uint64_t i = 0; i < 8; ++i)
        ASSERT_EQ(map_error(request(i * page, page, i * page), memory_.file()), 0);
    EXPECT_EQ(map_error(request(0, page), memory_.file()), EEXIST);
    EXPECT_EQ(open_descriptors(), before + 1); // one for the file that all share
    dma_.clear();
    EXPECT_EQ(open_descriptors(), before);
}

TEST_F(DmaMapRequests, GrownFileMapped) {
    ASSERT_EQ(map_error(request(0, page), memory_.file()), 0);
    ASSERT_EQ(::ftruncate(memory_.file().get(), 16 * page), 0);
    ASSERT_EQ(map_error(request(page, page, 15 * page), memory_.file()), 0);
    EXPECT_TRUE(dma_.write(page, pattern(page)));
}

TEST_F(DmaMapRequests, MapsBeyondLimitRefused) {
    for (std::uint64_t i = 0; i < DmaSpace::max_maps; ++i)
        ASSERT_EQ(map_error(request(i * page, page)), 0);
    EXPECT_EQ(map_error(request(DmaSpace::max_maps * page, page)), ENOSPC);
}

TEST_F(DmaUnmap, AllMapsWithinRangeRemoved) {
    for (std::uint64_t i = 0; i < 4; ++i)
        ASSERT_EQ(map_error(request(i * 0x10000, page), memory_.file()), 0);
    const auto unmapped = dma_.unmap(0x10000, 0x20000);
    ASSERT_TRUE(unmapped);
    EXPECT_EQ(*unmapped, 2 * page);
    EXPECT_EQ(dma_.map_count(), 2U);
    EXPECT_EQ(read_fault(0x10000, 1), DmaFault::not_mapped);
    std::array<std::byte, 1> out{};
    EXPECT_TRUE(dma_.read(0x30000, out));
}

TEST_F(DmaUnmap, PartOfMapRefused) {
    memory_.map_into(dma_, 0x10000);
    EXPECT_EQ(dma_.unmap(0x10000, page).error(), EINVAL);
    EXPECT_EQ(dma_.unmap(0x11000, 7 * page).error(), EINVAL);
    EXPECT_EQ(dma_.unmap(0x11000, page).error(), EINVAL);
    EXPECT_EQ(dma_.unmap(0xf000, 2 * page).error(), EINVAL);
    EXPECT_EQ(dma_.map_count(), 1U);
}

TEST_F(DmaUnmap, UnmappedRangeIsIgnored) {
    memory_.map_into(dma_, 0x10000);
    EXPECT_EQ(dma_.unmap(0x100000, page), 0U);
    EXPECT_EQ(dma_.map_count(), 1U);
}

TEST_F(DmaUnmap, EmptyOrOverflowingRangeRefused) {
    EXPECT_EQ(dma_.unmap(0x10000, 0).error(), EINVAL);
    EXPECT_EQ(dma_.unmap(last_page, 2 * page).error(), EINVAL);
}

TEST_F(DmaUnmap, LastByteOf64BitsUnmapped) {
    ASSERT_EQ(map_error(request(last_page, page), memory_.file()), 0);
    EXPECT_EQ(dma_.unmap(last_page, page), page);
    EXPECT_EQ(dma_.map_count(), 0U);
}

TEST_F(DmaUnmap, AdjacentMapsKept) {
    ASSERT_EQ(map_error(request(0x10000, page), memory_.file()), 0);
    ASSERT_EQ(map_error(request(0x11000, page), memory_.file()), 0);
    ASSERT_EQ(map_error(request(0x12000, page), memory_.file()), 0);
    EXPECT_EQ(dma_.unmap(0x11000, page), page);
    EXPECT_EQ(dma_.map_count(), 2U);
}

TEST_F(DmaWord, WordIsBigEndianInGuestMemory) {
    memory_.map_into(dma_, 0);
    ASSERT_TRUE(dma_.store_be<std::uint32_t>(8, 0x11223344));
    EXPECT_EQ(memory_.bytes()[8], std::byte{0x11});
    EXPECT_EQ(memory_.bytes()[11], std::byte{0x44});
    EXPECT_EQ(dma_.load_be<std::uint16_t>(8), 0x1122);
    EXPECT_EQ(dma_.load_be<std::uint8_t>(9), 0x22);
    ASSERT_TRUE(dma_.store_be<std::uint64_t>(16, 0x0102030405060708));
    EXPECT_EQ(memory_.bytes()[16], std::byte{0x01});
    EXPECT_EQ(dma_.load_be<std::uint64_t>(16), 0x0102030405060708U);
}

TEST_F(DmaWord, MisalignedAccessRefused) {
    memory_.map_into(dma_, 0);
    EXPECT_EQ(dma_.load_be<std::uint32_t>(2).error().fault, DmaFault::misaligned);
    EXPECT_EQ(dma_.store_be<std::uint64_t>(4, 0).error().fault, DmaFault::misaligned);
    EXPECT_EQ(dma_.statistics().refused, 2U);
}

TEST_F(DmaWord, UnwritableMemoryRefused) {
    memory_.map_into(dma_, 0, false);
    EXPECT_EQ(dma_.store_be<std::uint32_t>(0, 1).error().fault, DmaFault::not_permitted);
    EXPECT_EQ(dma_.load_be<std::uint32_t>(page * 8).error().fault, DmaFault::not_mapped);
}

} // namespace
} // namespace cxemu::vfio_user
