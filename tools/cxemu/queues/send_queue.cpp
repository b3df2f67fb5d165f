// SPDX-License-Identifier: GPL-2.0-or-later
#include "queues/send_queue.hpp"

#include "queues/data_pointer.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

namespace cxemu::queues {

namespace {

bool reads_remote_memory(std::uint8_t opcode) {
    const auto known = static_cast<SendOpcode>(opcode);
    return known == SendOpcode::rdma_read || is_atomic(known);
}

} // namespace

bool SendQueue::has_room_for(std::uint16_t counter) const {
    return static_cast<std::uint16_t>(counter - oldest()) <= blocks_;
}

bool SendQueue::post(std::uint16_t counter) {
    if (!has_room_for(counter))
        return false;
    posted_ = counter;
    return true;
}

/// A WQE may wrap around at the end of the ring.
vfio_user::DmaResult<void> SendQueue::read(vfio_user::DmaSpace& dma, std::uint16_t index,
                                           std::span<std::byte> out) const {
    const std::uint64_t size = std::uint64_t{blocks_} * block_size;
    std::uint64_t offset = std::uint64_t{index & (blocks_ - 1)} * block_size;
    while (!out.empty()) {
        const auto piece = std::min<std::uint64_t>(out.size(), size - offset);
        if (const auto result = buffer_->read(dma, start_ + offset, out.first(piece)); !result)
            return result;
        out = out.subspan(piece);
        offset = 0;
    }
    return {};
}

bool SendQueue::push(std::uint16_t index, std::span<const std::byte> bytes) {
    const CtrlSegment head = decode_head(bytes);
    const auto unknown = static_cast<std::uint16_t>(posted_ - index);
    if (head.index != index || head.ds == 0 || head.ds * ds_size > bytes.size() ||
        head.blocks() > unknown || unknown > waiting())
        return false;
    const auto entry = bytes.first(head.ds * ds_size);
    pushed_[index].assign(entry.begin(), entry.end());
    return true;
}

std::expected<std::vector<std::byte>, DecodeError> SendQueue::fetch(vfio_user::DmaSpace& dma,
                                                                    std::uint32_t max_size) const {
    assert(waiting() != 0);
    if (const auto pushed = pushed_.find(next_); pushed != pushed_.end()) {
        if (pushed->second.size() > max_size)
            return std::unexpected(DecodeError::too_long);
        return pushed->second;
    }
    std::vector<std::byte> bytes(hwtab::wqe_ctrl_seg.size);
    if (!read(dma, next_, bytes))
        return std::unexpected(DecodeError::unreachable);
    const CtrlSegment head = decode_head(bytes);
    if (head.ds == 0)
        return std::unexpected(DecodeError::empty);
    if (head.blocks() > waiting() || head.ds * ds_size > max_size)
        return std::unexpected(DecodeError::too_long);
    bytes.resize(head.ds * ds_size);
    if (!read(dma, next_, bytes))
        return std::unexpected(DecodeError::unreachable);
    // Software may write to the ring at any time: the length must still be the one that was
    // checked.
    if (decode_head(bytes).ds != head.ds)
        return std::unexpected(DecodeError::too_long);
    return bytes;
}

void SendQueue::start(const SendWqe& request) {
    outstanding_.push_back({.index = next_,
                            .opcode = static_cast<std::uint8_t>(request.opcode),
                            .mode = request.completion});
    pushed_.erase(next_);
    next_ += request.blocks;
}

void SendQueue::start_undecodable(vfio_user::DmaSpace& dma) {
    outstanding_.push_back(skip(dma));
}

/// Skips the WQE at next(). A WQE with an invalid length extends to the last posted WQEBB.
SendQueue::Outstanding SendQueue::skip(vfio_user::DmaSpace& dma) {
    std::array<std::byte, hwtab::wqe_ctrl_seg.size> control{};
    const bool readable = read(dma, next_, control).has_value();
    const CtrlSegment head = decode_head(control);
    const Outstanding entry{.index = next_, .opcode = head.opcode, .mode = head.completion};
    const bool sensible = readable && head.blocks() != 0 && head.blocks() <= waiting();
    pushed_.erase(next_);
    next_ = sensible ? next_ + head.blocks() : posted_;
    return entry;
}

void SendQueue::put_back(std::uint16_t index) {
    assert(!outstanding_.empty() && outstanding_.back().index == index);
    outstanding_.pop_back();
    next_ = index;
}

std::vector<Completion> SendQueue::finish(std::uint16_t index,
                                          std::optional<Completion> completion) {
    const auto found = std::ranges::find(outstanding_, index, &Outstanding::index);
    if (found == outstanding_.end())
        return {}; // already flushed
    found->done = true;
    found->completion = std::move(completion);
    std::vector<Completion> ready;
    while (!outstanding_.empty() && outstanding_.front().done) {
        if (outstanding_.front().completion)
            ready.push_back(*outstanding_.front().completion);
        outstanding_.pop_front();
    }
    return ready;
}

bool SendQueue::is_outstanding(std::uint16_t index) const {
    return std::ranges::find(outstanding_, index, &Outstanding::index) != outstanding_.end();
}

bool SendQueue::must_wait(Fence fence) const {
    switch (fence) {
    case Fence::none:
    case Fence::local_operations: // local operations complete at once
        return false;
    case Fence::reads_and_atomics:
    case Fence::local_reads_and_atomics:
        return std::ranges::any_of(outstanding_, [](const Outstanding& entry) {
            return !entry.done && reads_remote_memory(entry.opcode);
        });
    case Fence::everything:
        break;
    }
    return !outstanding_.empty();
}

std::vector<SendQueue::Flushed> SendQueue::flush(vfio_user::DmaSpace& dma) {
    std::vector<Flushed> flushed;
    for (const Outstanding& entry : outstanding_)
        flushed.push_back({.index = entry.index, .opcode = entry.opcode, .mode = entry.mode});
    outstanding_.clear();
    while (waiting() != 0) {
        const Outstanding entry = skip(dma);
        flushed.push_back({.index = entry.index, .opcode = entry.opcode, .mode = entry.mode});
    }
    return flushed;
}

void SendQueue::reset() {
    posted_ = 0;
    next_ = 0;
    outstanding_.clear();
    pushed_.clear();
    recorded_.clear();
    recorded_to_ = 0;
}

// --- Changed WQEs --------------------------------------------------------------------------------

std::uint16_t SendQueue::num_recorded() const {
    const auto count = static_cast<std::uint16_t>(recorded_to_ - next_);
    return recorded_.empty() || count > waiting() ? 0 : count; // started meanwhile
}

void SendQueue::record(vfio_user::DmaSpace& dma) {
    auto index = static_cast<std::uint16_t>(next_ + num_recorded());
    recorded_.resize(blocks_);
    for (; index != posted_; ++index) {
        Block block{};
        auto& place = recorded_[index & (blocks_ - 1)];
        place.reset();
        if (read(dma, index, block))
            place = block;
    }
    recorded_to_ = posted_;
}

/// A NOP may differ from the WQE that it replaces only in opcode and opmod.
bool SendQueue::is_same(std::uint16_t index, const CtrlSegment& head, bool may_cancel,
                        vfio_user::DmaSpace& dma) const {
    constexpr std::size_t modifier_at = 0;
    constexpr std::size_t opcode_at = 3;
    for (std::uint16_t i = 0; i < head.blocks(); ++i) {
        const auto at = static_cast<std::uint16_t>(index + i);
        Block block{};
        if (static_cast<std::uint16_t>(at - next_) >= num_recorded() || !recorded(at) ||
            !read(dma, at, block))
            return true; // not recorded, or reported when it is fetched
        Block expected = *recorded(at);
        if (i == 0 && may_cancel &&
            block[opcode_at] == std::byte{static_cast<std::uint8_t>(SendOpcode::nop)}) {
            expected[opcode_at] = block[opcode_at];
            expected[modifier_at] = block[modifier_at];
        }
        const std::size_t length =
            std::min<std::size_t>(block_size, (head.ds * ds_size) - (std::size_t{i} * block_size));
        if (!std::ranges::equal(std::span(block).first(length), std::span(expected).first(length)))
            return false;
    }
    return true;
}

std::optional<std::uint16_t> SendQueue::changed(vfio_user::DmaSpace& dma, bool may_cancel) {
    std::optional<std::uint16_t> found;
    const auto end = static_cast<std::uint16_t>(next_ + num_recorded());
    for (std::uint16_t index = next_; index != end && !found;) {
        if (!recorded(index))
            break;
        const CtrlSegment head = decode_head(*recorded(index));
        const bool sensible =
            head.blocks() != 0 && head.blocks() <= static_cast<std::uint16_t>(end - index);
        if (!is_same(index, head, may_cancel, dma))
            found = index;
        index = sensible ? static_cast<std::uint16_t>(index + head.blocks()) : end;
    }
    recorded_to_ = next_;
    record(dma);
    return found;
}

bool SendQueue::next_changed(vfio_user::DmaSpace& dma) const {
    return num_recorded() != 0 && recorded(next_) &&
           !is_same(next_, decode_head(*recorded(next_)), false, dma);
}

} // namespace cxemu::queues
