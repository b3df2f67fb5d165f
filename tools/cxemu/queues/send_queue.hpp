// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The ring of send WQEs, and the outstanding ones.
#pragma once

#include "memory/host_buffer.hpp"
#include "queues/completion.hpp"
#include "queues/send_wqe.hpp"
#include "vfio_user/dma_space.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace cxemu::queues {

/// All positions are in WQEBBs modulo 2^16.
class SendQueue {
public:
    static constexpr std::uint32_t block_size = 64; ///< bytes

    SendQueue() = default;
    /// \param buffer of the QP; \param start of the SQ in it, bytes
    /// \param blocks number of WQEBBs: power of two, at most 2^15; 0: no SQ
    SendQueue(const memory::HostBuffer& buffer, std::uint64_t start, std::uint32_t blocks)
        : buffer_(&buffer), start_(start), blocks_(blocks) {}

    [[nodiscard]] std::uint32_t blocks() const { return blocks_; }
    [[nodiscard]] bool exists() const { return blocks_ != 0; }

    /// First WQEBB that is not posted.
    [[nodiscard]] std::uint16_t posted() const { return posted_; }
    /// First WQEBB of the next WQE to execute.
    [[nodiscard]] std::uint16_t next() const { return next_; }
    [[nodiscard]] std::uint16_t waiting() const { return posted_ - next_; }
    /// WQEBBs from the oldest incomplete WQE to the last posted one.
    [[nodiscard]] std::uint16_t outstanding() const { return posted_ - oldest(); }

    /// Whether the ring has all WQEBBs from the oldest outstanding one to \p counter.
    [[nodiscard]] bool has_room_for(std::uint16_t counter) const;
    /// Sets the counter of posted WQEBBs.
    /// \return false without any effect if more WQEBBs would be outstanding than the ring has
    bool post(std::uint16_t counter);

    /// Keeps a WQE from a BlueFlame write: it is not read from the ring.
    /// \param index of the first newly posted WQE; \param bytes the WQE, possibly with trailing
    /// bytes
    /// \return false without any effect if the WQE has another index, or is not posted
    bool push(std::uint16_t index, std::span<const std::byte> bytes);

    /// Drops the WQEs of BlueFlame writes: software may have changed them in the ring in SQD.
    void drop_pushed() { pushed_.clear(); }

    /// Copies the WQEBBs that were posted after the last call, for changed(). Each WQEBB is read
    /// once here and once before it starts, so the cost does not depend on the number of waiting
    /// WQEs.
    void record(vfio_user::DmaSpace& dma);
    /// Compares the waiting WQEs that record() has copied with the ring, and copies them again.
    /// \param may_cancel software may replace a WQE with a NOP of the same length
    /// \return index of the first WQE that software has changed without permission
    std::optional<std::uint16_t> changed(vfio_user::DmaSpace& dma, bool may_cancel);
    /// Compares the WQE at next() alone. \return true if software has changed it
    [[nodiscard]] bool next_changed(vfio_user::DmaSpace& dma) const;

    /// The bytes of the WQE at next(), contiguous. \pre waiting() != 0
    std::expected<std::vector<std::byte>, DecodeError> fetch(vfio_user::DmaSpace& dma,
                                                             std::uint32_t max_size) const;

    /// The WQE at next() becomes outstanding.
    void start(const SendWqe& request);
    /// The same for a malformed WQE.
    void start_undecodable(vfio_user::DmaSpace& dma);

    /// Undoes the last start(): the WQE is the next to execute again.
    void put_back(std::uint16_t index);

    /// Completes an outstanding WQE.
    /// \param completion its CQE, if any
    /// \return CQEs that can be written now, in WQE order
    std::vector<Completion> finish(std::uint16_t index, std::optional<Completion> completion);

    /// Index of the WQE that was started last. \pre !idle()
    [[nodiscard]] std::uint16_t last_started() const { return outstanding_.back().index; }
    [[nodiscard]] bool is_outstanding(std::uint16_t index) const;
    /// No WQE is outstanding.
    [[nodiscard]] bool idle() const { return outstanding_.empty(); }
    /// Whether a WQE with \p fence must wait for outstanding ones.
    [[nodiscard]] bool must_wait(Fence fence) const;

    /// A flushed WQE.
    struct Flushed {
        std::uint16_t index;
        std::uint8_t opcode;
        CompletionMode mode;
    };
    /// Drops all posted WQEs: first outstanding ones, then waiting ones. CQEs that waited for the
    /// completion of earlier WQEs are lost.
    std::vector<Flushed> flush(vfio_user::DmaSpace& dma);

    /// Returns to position 0 without CQEs.
    void reset();

private:
    struct Outstanding {
        std::uint16_t index;
        std::uint8_t opcode;
        CompletionMode mode;
        bool done = false;
        std::optional<Completion> completion{};
    };

    [[nodiscard]] std::uint16_t oldest() const {
        return outstanding_.empty() ? next_ : outstanding_.front().index;
    }
    Outstanding skip(vfio_user::DmaSpace& dma);
    vfio_user::DmaResult<void> read(vfio_user::DmaSpace& dma, std::uint16_t index,
                                    std::span<std::byte> out) const;

    using Block = std::array<std::byte, block_size>;
    [[nodiscard]] const std::optional<Block>& recorded(std::uint16_t index) const {
        return recorded_[index & (blocks_ - 1)];
    }
    /// WQEBBs from next_ that are recorded.
    [[nodiscard]] std::uint16_t num_recorded() const;
    [[nodiscard]] bool is_same(std::uint16_t index, const CtrlSegment& head, bool may_cancel,
                               vfio_user::DmaSpace& dma) const;

    const memory::HostBuffer* buffer_ = nullptr;
    std::uint64_t start_ = 0;
    std::uint32_t blocks_ = 0;
    std::uint16_t posted_ = 0;
    std::uint16_t next_ = 0;
    std::deque<Outstanding> outstanding_; ///< in ring order
    /// WQEs from BlueFlame writes that are not fetched, by index.
    std::map<std::uint16_t, std::vector<std::byte>> pushed_;
    /// WQEBBs as they were posted, by position in the ring; none if the ring was unreadable.
    std::vector<std::optional<Block>> recorded_;
    std::uint16_t recorded_to_ = 0; ///< those from next_ to here are recorded
};

} // namespace cxemu::queues
