// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// What a fault makes of an entry of a completion or event queue.
#pragma once

#include "check/fault_rule.hpp"
#include "tables/events.hpp"

#include <array>
#include <cstddef>
#include <vector>

namespace cxemu::check {

/// 64 bytes; both kinds have their type and their owner bit at the same place in every entry.
using QueueEntry = std::array<std::byte, hwtab::eqe.size>;

/// \return the entries to write instead of \p entry; the queue sets their owner bits
std::vector<QueueEntry> corrupt_entry(EntryKind kind, const QueueEntry& entry, const EntryFault& fault);

} // namespace cxemu::check
