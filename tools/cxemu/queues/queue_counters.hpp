// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Q counter sets, which QPs share by counter_set_id.
#pragma once

#include "hca/object_table.hpp"

#include <cstdint>

namespace cxemu::queues {

/// Names are those of QUERY_Q_COUNTER.
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

/// The set with the counter_set_id of a QP; 0 is no set. Software may deallocate a set that QPs
/// use, because Linux releases the set of a QP before the QP. These QPs keep the old counters,
/// which no command can read, even if the number is reused.
class QueueCounterSet final : public hca::Object {
public:
    static constexpr hca::ObjectKind kind = hca::ObjectKind::queue_counter_set;
    using Object::Object;

    QueueCounts counts;
};

} // namespace cxemu::queues
