// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Receive queue entries, decoded, and what their completions say.
#pragma once

#include "memory/access.hpp"
#include "queues/completion.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace cxemu::queues {

class SharedReceiveQueue;

struct RecvWqe {
    std::uint16_t index = 0; ///< slot in the queue, as the completion reports it
    std::vector<memory::DataSegment> segments;
    std::uint64_t length = 0; ///< of all segments, in bytes
    /// Queue that the entry was taken from; nullptr: the queue pair's own. Valid as long as the
    /// queue pair holds its reference, or the caller one.
    SharedReceiveQueue* shared = nullptr;
};

enum class ReceiveFault : std::uint8_t {
    empty,       ///< nothing is posted: the receiver isn't ready
    no_queue,    ///< the queue pair receives nothing
    stopped,     ///< the queue is in error
    unreachable, ///< host memory refused to be read; the queue is in error now
    corrupt,     ///< the chain or the counter makes no sense; the queue is in error now
};

/// "nothing is posted"
std::string_view describe(ReceiveFault fault);

/// What tag matching adds to the completion of a message.
struct TagResult {
    TagReport report = TagReport::no_tag;
    std::uint16_t index = 0;             ///< of the entry in the list of tags
    std::span<const std::byte> header{}; ///< of the message, if a tag has just been matched
};

/// What a completion reports about a received message.
struct ReceiveCompletion {
    CompletionOpcode opcode = CompletionOpcode::send;
    std::uint32_t byte_count = 0; ///< with the 40 bytes of a GRH that are in the buffer
    std::uint32_t immediate = 0;  ///< or the R_Key that was invalidated
    bool solicited = false;
    std::uint32_t source_qp = 0;
    std::uint16_t source_lid = 0;
    std::uint8_t path_bits = 0; ///< of the LID at which the packet arrived
    bool multicast = false;     ///< the packet was addressed to a multicast LID
    std::uint8_t service_level = 0;
    std::optional<std::uint16_t> partition_key{}; ///< reported on queue pair 1, without immediate
    GrhLocation grh = GrhLocation::none;
    std::optional<TagResult> tag{}; ///< with tag matching
    /// Data that goes into the completion; see QueuePair::fits_in_completion().
    std::span<const std::byte> data{};
};

} // namespace cxemu::queues
