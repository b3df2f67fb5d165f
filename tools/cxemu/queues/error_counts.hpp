// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Which counters of a queue pair an error completion moves.
#pragma once

#include "queues/completion.hpp"
#include "queues/queue_counters.hpp"

namespace cxemu::queues {

/// A send request has ended with \p error. What the transport gives up after retries it counts
/// itself.
void count_send_error(QueueCounts& counts, CompletionError error);

/// A receive request has ended with \p error. What the peer is told of memory and requests that
/// are not right is counted where it is told.
void count_receive_error(QueueCounts& counts, CompletionError error);

} // namespace cxemu::queues
