// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Helpers for queue commands: look up buffers and references in their inputs.
#pragma once

#include "hca/command.hpp"
#include "memory/host_buffer.hpp"
#include "queues/shared_receive_queue.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace cxemu::commands {

/// A reference to object \p number, or the result of the failed command.
template <hca::NumberedObject T>
std::expected<hca::Reference<T>, hca::CommandResult> refer_to(hca::CommandContext& context,
                                                              std::uint64_t number) {
    const auto found = context.find<T>(static_cast<std::uint32_t>(number));
    if (!found)
        return std::unexpected(found.error());
    return hca::Reference<T>(**found);
}

/// A reference to an object that the kernel must share with user contexts. Public drivers create
/// EQs and counter sets with uid 0xffff on devices that have user contexts.
template <hca::NumberedObject T>
std::expected<hca::Reference<T>, hca::CommandResult> refer_to_shared(hca::CommandContext& context,
                                                                     std::uint64_t number) {
    const auto found = context.find_shared<T>(static_cast<std::uint32_t>(number));
    if (!found)
        return std::unexpected(found.error());
    return hca::Reference<T>(**found);
}

/// Stores \p found in \p place. \return its failure, or ok
template <class T>
hca::CommandResult store(std::expected<hca::Reference<T>, hca::CommandResult> found,
                         hca::Reference<T>& where) {
    if (!found)
        return found.error();
    where = *std::move(found);
    return hca::CommandResult::ok();
}

/// An SRQ of any of the three kinds, which share one number space.
std::expected<hca::Reference<queues::SharedReceiveQueue>, hca::CommandResult>
refer_to_shared_receive(hca::CommandContext& context, std::uint64_t number);

/// Buffer fields of a queue context.
struct BufferFields {
    std::uint64_t log_page_size = 0; ///< log2 of 4 KiB units
    std::uint64_t page_offset = 0;   ///< in 1/64 of a page
    std::uint64_t size = 0;          ///< bytes
};

/// The buffer in the pages that the input lists.
/// \param pages the list, as it lies in the input
std::expected<memory::HostBuffer, hca::CommandResult>
listed_buffer(hca::CommandContext& context, const BufferFields& fields,
              std::span<const std::byte> pages);

/// The buffer at byte \p offset of a umem.
std::expected<memory::HostBuffer, hca::CommandResult>
registered_buffer(hca::CommandContext& context, const hca::UserMemory& memory, std::uint64_t offset,
                  std::uint64_t size);

/// Checks the address of a doorbell record.
hca::CommandResult check_doorbell_record(hca::CommandContext& context, std::uint64_t address);

/// Doorbell record fields of a queue context.
struct RecordFields {
    bool registered = false;   ///< in a umem
    std::uint64_t memory = 0;  ///< umem number
    std::uint64_t address = 0; ///< bus address, or offset in that umem
};

struct DoorbellRecord {
    std::uint64_t address = 0;              ///< bus address
    hca::Reference<hca::UserMemory> memory; ///< empty unless the record is in a umem
};

/// The doorbell record that \p fields describe, checked.
std::expected<DoorbellRecord, hca::CommandResult> find_record(hca::CommandContext& context,
                                                              const RecordFields& fields);

/// Fails unless \p value is at most \p limit, a capability.
hca::CommandResult check_limit(hca::CommandContext& context, std::string_view field,
                               std::uint64_t value, std::uint64_t limit);

/// Copies page addresses to the pas list at the end of an output, as many as fit.
void list_pages(std::span<std::byte> list, const memory::HostBuffer& buffer);

} // namespace cxemu::commands
