// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The ring of send queue entries, and what has been taken from it and not completed yet.
#pragma once

#include "memory/host_buffer.hpp"
#include "queues/completion.hpp"
#include "queues/send_request.hpp"
#include "vfio_user/dma_space.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace cxemu::queues {

/// All positions count 64-byte blocks modulo 2^16.
class SendQueue {
public:
    static constexpr std::uint32_t block_size = 64; ///< bytes

    SendQueue() = default;
    /// \param buffer of the queue pair; \param start of the send queue in it, bytes
    /// \param blocks power of two, at most 2^15; 0: the queue pair has no send queue
    SendQueue(const memory::HostBuffer& buffer, std::uint64_t start, std::uint32_t blocks)
        : buffer_(&buffer), start_(start), blocks_(blocks) {}

    [[nodiscard]] std::uint32_t blocks() const { return blocks_; }
    [[nodiscard]] bool exists() const { return blocks_ != 0; }

    /// First block that software hasn't posted.
    [[nodiscard]] std::uint16_t posted() const { return posted_; }
    /// First block of the next entry to execute.
    [[nodiscard]] std::uint16_t next() const { return next_; }
    [[nodiscard]] std::uint16_t waiting() const { return posted_ - next_; }
    /// Blocks from the oldest entry that isn't complete to the last one posted.
    [[nodiscard]] std::uint16_t outstanding() const { return posted_ - oldest(); }

    /// Takes over the counter of the doorbell record.
    /// \return false, and nothing changes, if more blocks were outstanding than the ring has
    bool post(std::uint16_t counter);

    /// Keeps an entry that has come to a doorbell register: it is not read from the ring.
    /// \param index of the first entry that was not known to be posted; \param bytes the entry, and
    /// perhaps more
    /// \return false, and nothing is kept, if it is another one, or not posted
    bool push(std::uint16_t index, std::span<const std::byte> bytes);

    /// The bytes of the entry at next(), unwrapped. \pre waiting() != 0
    std::expected<std::vector<std::byte>, DecodeError> fetch(vfio_user::DmaSpace& dma,
                                                             std::uint32_t max_size) const;

    /// The entry at next() is under way now.
    void start(const SendWqe& request);
    /// The same for an entry that can't be decoded.
    void start_undecodable(vfio_user::DmaSpace& dma);

    /// The entry that was started last is not under way any more, but the next to execute.
    void put_back(std::uint16_t index);

    /// An entry under way is done; \p completion is what shall be reported, if anything.
    /// \return what can be reported now, in the order of the entries
    std::vector<Completion> finish(std::uint16_t index, std::optional<Completion> completion);

    /// No entry is under way.
    [[nodiscard]] bool idle() const { return outstanding_.empty(); }
    /// Whether a request with \p fence must wait for entries that are under way.
    [[nodiscard]] bool must_wait(Fence fence) const;

    /// One entry that is flushed.
    struct Flushed {
        std::uint16_t index;
        std::uint8_t opcode;
        CompletionMode mode;
    };
    /// Drops everything that is posted: entries under way first, then those that wait.
    /// Completions of entries that were done behind others that weren't are lost.
    std::vector<Flushed> flush(vfio_user::DmaSpace& dma);

    /// Back to position 0, silently.
    void reset();

private:
    struct UnderWay {
        std::uint16_t index;
        std::uint8_t opcode;
        CompletionMode mode;
        bool done = false;
        std::optional<Completion> completion{};
    };

    [[nodiscard]] std::uint16_t oldest() const {
        return outstanding_.empty() ? next_ : outstanding_.front().index;
    }
    UnderWay skip(vfio_user::DmaSpace& dma);
    vfio_user::DmaResult<void> read(vfio_user::DmaSpace& dma, std::uint16_t index,
                                    std::span<std::byte> out) const;

    const memory::HostBuffer* buffer_ = nullptr;
    std::uint64_t start_ = 0;
    std::uint32_t blocks_ = 0;
    std::uint16_t posted_ = 0;
    std::uint16_t next_ = 0;
    std::deque<UnderWay> outstanding_;                         ///< in the order of the ring
    std::map<std::uint16_t, std::vector<std::byte>> pushed_; ///< entries that wait, by index
};

} // namespace cxemu::queues
