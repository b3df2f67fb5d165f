// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The MSI-X vectors of a device. Each is an eventfd of the client; a write to it stands for the
/// MSI message.
#pragma once

#include "base/log.hpp"
#include "base/unique_fd.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <vector>

namespace cxemu::vfio_user {

struct InterruptStatistics {
    std::uint64_t raised = 0;         ///< calls of raise() with a valid vector
    std::uint64_t delivered = 0;      ///< eventfd writes
    std::uint64_t held_pending = 0;   ///< raise() found the vector masked or without eventfd
    std::uint64_t invalid_vector = 0; ///< raise() beyond the number of vectors
    std::uint64_t reconfigurations = 0;
};

class InterruptSet {
public:
    /// \param vectors number of MSI-X vectors, 1..2048
    InterruptSet(std::uint32_t vectors, Log log);

    [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(vectors_.size()); }

    // --- For device models ---------------------------------------------------------------------

    /// Signals \p vector. While it is masked, has no eventfd, or MSI-X is off, its pending bit is
    /// set instead and it fires when the cause is removed. A vector that does not exist is logged
    /// and counted. Signals that the guest has not handled yet are merged.
    void raise(std::uint32_t vector);

    [[nodiscard]] bool pending(std::uint32_t vector) const;
    [[nodiscard]] const InterruptStatistics& statistics() const { return statistics_; }

    // --- For the protocol (SET_IRQS) -----------------------------------------------------------
    // All return EINVAL when [first, first + count) exceeds the vectors.

    /// Assigns the eventfds \p fds to the vectors from \p first on, replacing the previous ones; an
    /// empty one disables the vector. Pending vectors fire.
    /// \return EINVAL also when one of them is not an eventfd; then nothing has changed
    std::expected<void, int> assign(std::uint32_t first, std::vector<UniqueFd> fds);

    /// Disables all vectors and clears their masks; pending bits stay.
    void release_all();

    std::expected<void, int> set_masked(std::uint32_t first, std::uint32_t count, bool masked);

    /// Signals vectors on behalf of the client (loopback test).
    std::expected<void, int> trigger(std::uint32_t first, std::uint32_t count);

    // --- For the PCI function ------------------------------------------------------------------

    /// Whether MSI messages may be sent: MSI-X enabled, function not masked, bus master on.
    /// Initially true. Enabling fires pending vectors.
    void set_enabled(bool enabled);

    void clear_pending();

    /// Copies from the pending bit array, \p offset in bytes; beyond its end it reads as zero.
    void read_pending_bits(std::uint64_t offset, std::span<std::byte> out) const;

private:
    struct Vector {
        UniqueFd eventfd;
        bool masked = false;
        bool pending = false;
    };

    [[nodiscard]] bool in_range(std::uint32_t first, std::uint64_t count) const;
    void deliver_if_possible(Vector& vector);

    std::vector<Vector> vectors_;
    Log log_;
    LogLimiter limiter_;
    InterruptStatistics statistics_;
    bool enabled_ = true;
};

} // namespace cxemu::vfio_user
