// SPDX-License-Identifier: GPL-2.0-or-later
#include "queues/receive_queue.hpp"

#include "memory/memory_keys.hpp"
#include "queues/data_pointer.hpp"
#include "queues/wqe_envelope.hpp"

namespace cxemu::queues {

std::string_view describe(ReceiveFault fault) {
    switch (fault) {
    case ReceiveFault::empty:
        return "nothing is posted";
    case ReceiveFault::no_queue:
        return "there is no such receive queue";
    case ReceiveFault::stopped:
        return "the queue is in error";
    case ReceiveFault::unreachable:
        return "host memory refused to be read";
    case ReceiveFault::corrupt:
        return "invalid chain or counter";
    }
    return "unknown fault";
}

std::vector<memory::DataSegment> decode_scatter_list(std::span<const std::byte> entry) {
    std::vector<memory::DataSegment> list;
    for (; entry.size() >= hwtab::wqe_data_seg.size;
         entry = entry.subspan(hwtab::wqe_data_seg.size)) {
        const hwtab::ConstView<hwtab::wqe_data_seg> pointer{entry};
        const auto key = static_cast<std::uint32_t>(pointer.get<"lkey">());
        if (key == memory::SpecialKeys::terminate_scatter_list)
            break;
        list.push_back(
            {.length = length_of(pointer), .key = key, .address = pointer.get<"addr">()});
    }
    return list;
}

std::uint64_t total_length(std::span<const memory::DataSegment> list) {
    std::uint64_t sum = 0;
    for (const memory::DataSegment& segment : list)
        sum += segment.length;
    return sum;
}

vfio_user::DmaResult<std::vector<std::byte>> ReceiveRing::read(vfio_user::DmaSpace& dma,
                                                               std::uint32_t slot) const {
    std::vector<std::byte> entry(std::size_t{1} << log_stride);
    const auto result = buffer->read(dma, start + (std::uint64_t{slot} << log_stride), entry);
    if (!result)
        return std::unexpected(result.error());
    return entry;
}

std::expected<void, ReceiveFault> ReceiveQueue::poll(vfio_user::DmaSpace& dma) {
    if (!exists())
        return std::unexpected(ReceiveFault::no_queue);
    const auto record = dma.load_be<std::uint32_t>(doorbell_record_);
    if (!record)
        return std::unexpected(ReceiveFault::unreachable);
    const auto counter = static_cast<std::uint16_t>(*record);
    if (static_cast<std::uint16_t>(counter - taken_) > ring_.entries)
        return std::unexpected(ReceiveFault::corrupt);
    posted_ = counter;
    if (posted_ == taken_)
        return std::unexpected(ReceiveFault::empty);
    return {};
}

std::uint16_t ReceiveQueue::available(vfio_user::DmaSpace& dma) {
    return poll(dma) ? static_cast<std::uint16_t>(posted_ - taken_) : std::uint16_t{0};
}

std::expected<RecvWqe, ReceiveFault> ReceiveQueue::take(vfio_user::DmaSpace& dma,
                                                        check::Envelope* envelope) {
    if (const auto polled = poll(dma); !polled)
        return std::unexpected(polled.error());
    const auto slot = static_cast<std::uint16_t>(taken_ & (ring_.entries - 1));
    const auto entry = ring_.read(dma, slot);
    if (!entry)
        return std::unexpected(ReceiveFault::unreachable);
    const auto segments = std::span<const std::byte>(*entry).subspan(ring_.prefix);
    if (envelope != nullptr)
        record_receive(*envelope, "own", segments);
    RecvWqe request;
    request.index = taken_++;
    request.segments = decode_scatter_list(segments);
    request.length = total_length(request.segments);
    return request;
}

std::expected<std::uint16_t, ReceiveFault> ReceiveQueue::skip(vfio_user::DmaSpace& dma) {
    if (const auto polled = poll(dma); !polled)
        return std::unexpected(polled.error());
    return taken_++;
}

} // namespace cxemu::queues
