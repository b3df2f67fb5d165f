// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Faults of CQEs and EQEs.
#pragma once

#include "check/fault_rule.hpp"
#include "tables/events.hpp"

#include <array>
#include <cstddef>
#include <vector>

namespace cxemu::check {

/// 64 bytes; type and owner bit are at the same offset in every CQE, and in every EQE.
using QueueEntry = std::array<std::byte, hwtab::eqe.size>;

/// \return the entries to write instead of \p entry; the queue sets their owner bits
std::vector<QueueEntry> corrupt_entry(EntryKind kind, const QueueEntry& entry,
                                      const EntryFault& fault);

} // namespace cxemu::check
