// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Numbers and layouts of the vfio-user protocol. All fields are little endian.
#pragma once

#include "base/byte_order.hpp"
#include "base/unique_fd.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cxemu::vfio_user {

enum class Command : std::uint16_t { // NOLINT(performance-enum-size): as wide as on the wire
    version = 1,
    dma_map = 2,
    dma_unmap = 3,
    device_get_info = 4,
    device_get_region_info = 5,
    device_get_region_io_fds = 6,
    device_get_irq_info = 7,
    device_set_irqs = 8,
    region_read = 9,
    region_write = 10,
    dma_read = 11,
    dma_write = 12,
    device_reset = 13,
    dirty_pages = 14,
    region_write_multi = 15,
    device_feature = 16,
    mig_data_read = 17,
    mig_data_write = 18,
};

/// A name for log lines; "unknown" for other numbers.
const char* name_of(Command command);

namespace limit {
/// Data bytes in one REGION_READ or REGION_WRITE.
inline constexpr std::uint32_t data_transfer = 1U << 20;
/// Descriptors in one message. Reported to QEMU, which sends up to as many.
inline constexpr std::size_t message_fds = 8;
/// Longer messages are malformed.
inline constexpr std::uint32_t message_size = data_transfer + 4096;
} // namespace limit

namespace header_flag {
inline constexpr std::uint32_t type_mask = 0xf;
inline constexpr std::uint32_t type_command = 0;
inline constexpr std::uint32_t type_reply = 1;
inline constexpr std::uint32_t no_reply = 1U << 4;
inline constexpr std::uint32_t error = 1U << 5;
} // namespace header_flag

struct Header {
    static constexpr std::size_t wire_size = 16;

    std::uint16_t id = 0;
    Command command{};
    std::uint32_t size = wire_size; ///< of the whole message
    std::uint32_t flags = 0;
    std::uint32_t error = 0; ///< errno of a reply with the error flag

    [[nodiscard]] std::uint32_t type() const { return flags & header_flag::type_mask; }
    [[nodiscard]] bool wants_reply() const { return (flags & header_flag::no_reply) == 0; }
};

/// One received message. The body is in the reader's buffer, valid until the next receive().
struct Message {
    Header header;
    std::span<const std::byte> body;
    std::vector<UniqueFd> fds;
};

namespace info_flag {
inline constexpr std::uint32_t device_reset = 1;
inline constexpr std::uint32_t device_pci = 2;
inline constexpr std::uint32_t region_read = 1;
inline constexpr std::uint32_t region_write = 2;
inline constexpr std::uint32_t irq_eventfd = 1;
} // namespace info_flag

namespace dma_flag {
inline constexpr std::uint32_t readable = 1;
inline constexpr std::uint32_t writable = 2;
inline constexpr std::uint32_t unmap_dirty_bitmap = 1;
inline constexpr std::uint32_t unmap_all = 2;
} // namespace dma_flag

namespace irq_flag {
inline constexpr std::uint32_t data_none = 1;
inline constexpr std::uint32_t data_bool = 2;
inline constexpr std::uint32_t data_eventfd = 4;
inline constexpr std::uint32_t data_mask = 7;
inline constexpr std::uint32_t action_mask_vectors = 8;
inline constexpr std::uint32_t action_unmask_vectors = 0x10;
inline constexpr std::uint32_t action_trigger = 0x20;
inline constexpr std::uint32_t actions = 0x38;
} // namespace irq_flag

/// Reads integers from a message in order. After an underrun it returns zeros and complete() is
/// false.
class WireReader {
public:
    explicit WireReader(std::span<const std::byte> bytes) : rest_(bytes) {}

    template <std::unsigned_integral T>
    T take() {
        const auto bytes = take_bytes(sizeof(T));
        return bytes.empty() ? T{0} : load_le<T>(bytes);
    }

    /// \return \p count bytes, or none when there are fewer
    std::span<const std::byte> take_bytes(std::size_t count) {
        if (count > rest_.size()) {
            complete_ = false;
            rest_ = {};
            return {};
        }
        const auto bytes = rest_.first(count);
        rest_ = rest_.subspan(count);
        return bytes;
    }

    [[nodiscard]] std::span<const std::byte> rest() const { return rest_; }
    [[nodiscard]] bool complete() const { return complete_; }

private:
    std::span<const std::byte> rest_;
    bool complete_ = true;
};

/// Composes a message.
class WireWriter {
public:
    template <std::unsigned_integral T>
    WireWriter& put(T value) {
        store_le<T>(put_zeros(sizeof(T)), value);
        return *this;
    }

    WireWriter& put_bytes(std::span<const std::byte> bytes) {
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
        return *this;
    }

    /// Appends \p count zero bytes. \return the place, valid until the next call
    std::span<std::byte> put_zeros(std::size_t count) {
        bytes_.resize(bytes_.size() + count);
        return std::span(bytes_).last(count);
    }

    WireWriter& put_header(const Header& header) {
        return put(header.id)
            .put(static_cast<std::uint16_t>(header.command))
            .put(header.size)
            .put(header.flags)
            .put(header.error);
    }

    [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

private:
    std::vector<std::byte> bytes_;
};

} // namespace cxemu::vfio_user
