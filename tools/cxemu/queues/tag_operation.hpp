// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Send WQEs that change the tag list of an XRQ.
#pragma once

#include "memory/access.hpp"
#include "queues/send_wqe.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace cxemu::queues {

struct TagOperation {
    enum class Kind : std::uint8_t {
        none = hwtab::value<hwtab::tag_operation, "nop">,
        append = hwtab::value<hwtab::tag_operation, "append">,
        remove = hwtab::value<hwtab::tag_operation, "remove">,
    };

    Kind kind = Kind::none;
    bool reported = false;                ///< a CQE is requested
    std::optional<std::uint16_t> handled; ///< unexpected messages that software has handled
    std::uint16_t index = 0; ///< append: entry for the tag after this one; remove: the entry
    std::uint64_t tag = 0;
    std::uint64_t mask = 0;
    std::vector<memory::DataSegment> memory; ///< append: buffer of the message, may be empty
};

/// \return empty if the WQE is too short or has an undefined operation
/// \pre request.opcode is SendOpcode::tag_matching
std::optional<TagOperation> decode_tag_operation(const SendWqe& request);

} // namespace cxemu::queues
