// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Sets of counters that queue pairs share by naming the set in their context.
#pragma once

#include "hca/object_table.hpp"

#include <cstdint>

namespace cxemu::queues {

/// Named as in QUERY_Q_COUNTER.
struct QueueCounts {
    std::uint32_t rx_write_requests = 0;
    std::uint32_t rx_read_requests = 0;
    std::uint32_t rx_atomic_requests = 0;
    std::uint32_t rx_dct_connect = 0;
    std::uint32_t out_of_buffer = 0;
    std::uint32_t out_of_sequence = 0;
    std::uint32_t duplicate_request = 0;
    std::uint32_t rnr_nak_retry_err = 0;
    std::uint32_t packet_seq_err = 0;
    std::uint32_t implied_nak_seq_err = 0;
    std::uint32_t local_ack_timeout_err = 0;
    std::uint32_t req_rnr_retries_exceeded = 0;
    std::uint32_t resp_local_length_error = 0;
    std::uint32_t req_local_length_error = 0;
    std::uint32_t resp_local_qp_error = 0;
    std::uint32_t local_operation_error = 0;
    std::uint32_t resp_local_protection = 0;
    std::uint32_t req_local_protection = 0;
    std::uint32_t resp_cqe_error = 0;
    std::uint32_t req_cqe_error = 0;
    std::uint32_t req_mw_binding = 0;
    std::uint32_t req_bad_response = 0;
    std::uint32_t req_remote_invalid_request = 0;
    std::uint32_t resp_remote_invalid_request = 0;
    std::uint32_t req_remote_access_errors = 0;
    std::uint32_t resp_remote_access_errors = 0;
    std::uint32_t req_remote_operation_errors = 0;
    std::uint32_t req_transport_retries_exceeded = 0;
    std::uint32_t cq_overflow = 0;
    std::uint32_t resp_cqe_flush_error = 0;
    std::uint32_t req_cqe_flush_error = 0;
};

/// The set that the context of a queue pair names by counter_set_id; 0 is no set. A set may end
/// while queue pairs name it, for Linux releases the set of a queue pair before the queue pair:
/// they count on where nobody reads, also when the number belongs to a new set.
class QueueCounterSet final : public hca::Object {
public:
    static constexpr hca::ObjectKind kind = hca::ObjectKind::queue_counter_set;
    using Object::Object;

    QueueCounts counts;
};

} // namespace cxemu::queues
