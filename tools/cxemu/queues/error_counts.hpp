// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Q counters that error completions increment.
#pragma once

#include "queues/completion.hpp"
#include "queues/queue_counters.hpp"

namespace cxemu::queues {

/// Counts a send WQE that has failed with \p error. Exceeded retries are counted by the transport.
void count_send_error(QueueCounts& counts, CompletionError error);

/// Counts a receive WQE that has failed with \p error. NAKs are counted by the transport.
void count_receive_error(QueueCounts& counts, CompletionError error);

} // namespace cxemu::queues
