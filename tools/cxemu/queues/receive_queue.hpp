// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The RQ of a QP: a ring whose WQEs are taken in order.
#pragma once

#include "memory/host_buffer.hpp"
#include "queues/recv_wqe.hpp"
#include "vfio_user/dma_space.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <vector>

namespace cxemu::check {
class Envelope;
}

namespace cxemu::queues {

/// The data segments of a receive WQE before the one that terminates the list.
/// \param entry without a leading segment
std::vector<memory::DataSegment> decode_scatter_list(std::span<const std::byte> entry);

/// Sum of the lengths, in bytes.
std::uint64_t total_length(std::span<const memory::DataSegment> list);

/// Geometry of a receive ring.
struct ReceiveRing {
    const memory::HostBuffer* buffer = nullptr;
    std::uint64_t start = 0;      ///< offset in the buffer, bytes
    std::uint32_t log_stride = 4; ///< bytes from one entry to the next, log2
    std::uint32_t entries = 0;    ///< power of two; 0: no RQ
    std::uint32_t prefix = 0;     ///< bytes of each WQE before its data segments

    /// \pre slot < entries
    vfio_user::DmaResult<std::vector<std::byte>> read(vfio_user::DmaSpace& dma,
                                                      std::uint32_t slot) const;
};

class ReceiveQueue {
public:
    ReceiveQueue() = default;
    /// \param doorbell_record bus address of the receive counter
    ReceiveQueue(const ReceiveRing& ring, std::uint64_t doorbell_record)
        : ring_(ring), doorbell_record_(doorbell_record) {}

    [[nodiscard]] bool exists() const { return ring_.entries != 0; }
    [[nodiscard]] std::uint32_t entries() const { return ring_.entries; }
    /// WQEs taken so far.
    [[nodiscard]] std::uint16_t taken() const { return taken_; }
    /// WQEs posted so far, as of the last read of the doorbell record.
    [[nodiscard]] std::uint16_t posted() const { return posted_; }

    /// Takes the next WQE; reads the doorbell record. \param envelope records the WQE, if there is
    /// one
    std::expected<RecvWqe, ReceiveFault> take(vfio_user::DmaSpace& dma, check::Envelope* envelope);

    /// Takes the next WQE without reading it. \return its index
    std::expected<std::uint16_t, ReceiveFault> skip(vfio_user::DmaSpace& dma);

    /// Number of posted WQEs that are not taken; reads the doorbell record.
    std::uint16_t available(vfio_user::DmaSpace& dma);

    void reset() { taken_ = posted_ = 0; }

private:
    std::expected<void, ReceiveFault> poll(vfio_user::DmaSpace& dma);

    ReceiveRing ring_;
    std::uint64_t doorbell_record_ = 0;
    std::uint16_t taken_ = 0;
    std::uint16_t posted_ = 0;
};

} // namespace cxemu::queues
