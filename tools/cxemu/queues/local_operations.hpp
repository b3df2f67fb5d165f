// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Local send operations: NOP, UMR, SET_PSV.
#pragma once

#include "memory/memory_keys.hpp"
#include "memory/umr.hpp"
#include "queues/completion.hpp"
#include "queues/send_wqe.hpp"

#include <expected>

namespace cxemu::queues {

/// Executes \p request. \return the syndrome of its error CQE, if it fails
/// \pre is_local(request.opcode)
std::expected<void, CompletionError> execute_local(memory::MemoryKeys& memory,
                                                   memory::Accessor accessor,
                                                   memory::UmrRights rights,
                                                   const SendWqe& request);

} // namespace cxemu::queues
