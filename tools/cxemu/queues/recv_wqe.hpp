// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Decoded receive WQEs and the contents of their CQEs.
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
    /// wqe_counter of the CQE: the slot in an SRQ; in an RQ, the WQEs taken before, modulo 2^16.
    std::uint16_t index = 0;
    std::vector<memory::DataSegment> segments;
    std::uint64_t length = 0; ///< of the scatter list, in bytes
    /// SRQ of the WQE; nullptr: the RQ. Valid as long as the QP or the caller holds a reference.
    SharedReceiveQueue* shared = nullptr;
};

enum class ReceiveFault : std::uint8_t {
    empty,       ///< nothing is posted: RNR
    no_queue,    ///< the QP has no RQ
    stopped,     ///< the queue is in error
    unreachable, ///< host memory can't be read; the queue is in error now
    corrupt,     ///< invalid chain or counter; the queue is in error now
};

/// "nothing is posted"
std::string_view describe(ReceiveFault fault);

/// Tag matching fields of a CQE.
struct TagResult {
    TagReport report = TagReport::no_tag;
    std::uint16_t index = 0;             ///< of the tag list entry
    std::span<const std::byte> header{}; ///< tag matching header, if this CQE reports the match
};

/// Fields of the CQE of a received message.
struct ReceiveCompletion {
    CompletionOpcode opcode = CompletionOpcode::send;
    std::uint32_t byte_count = 0; ///< includes the 40 bytes of a GRH in the buffer
    std::uint32_t immediate = 0;  ///< or the invalidated R_Key
    bool solicited = false;
    std::uint32_t source_qp = 0;
    std::uint16_t source_lid = 0;
    std::uint8_t path_bits = 0; ///< of the DLID of the packet
    bool multicast = false;     ///< the DLID is a multicast LID
    std::uint8_t service_level = 0;
    std::optional<std::uint16_t> partition_key{}; ///< reported on QP1, without immediate
    GrhLocation grh = GrhLocation::none;
    std::optional<TagResult> tag{}; ///< with tag matching
    /// Data to be scattered to the CQE; see QueuePair::fits_scatter_to_cqe().
    std::span<const std::byte> data{};
};

} // namespace cxemu::queues
