// SPDX-License-Identifier: GPL-2.0-or-later
#include "queues/error_counts.hpp"

namespace cxemu::queues {

void count_send_error(QueueCounts& counts, CompletionError error) {
    ++counts.req_cqe_error;
    switch (error) {
    case CompletionError::local_length:
        ++counts.req_local_length_error;
        break;
    case CompletionError::local_operation:
        ++counts.local_operation_error;
        break;
    case CompletionError::local_protection:
        ++counts.req_local_protection;
        break;
    case CompletionError::flushed:
        ++counts.req_cqe_flush_error;
        break;
    case CompletionError::window_bind:
        ++counts.req_mw_binding;
        break;
    case CompletionError::bad_response:
        ++counts.req_bad_response;
        break;
    case CompletionError::remote_invalid_request:
        ++counts.req_remote_invalid_request;
        break;
    case CompletionError::remote_access:
        ++counts.req_remote_access_errors;
        break;
    case CompletionError::remote_operation:
        ++counts.req_remote_operation_errors;
        break;
    default:
        break;
    }
}

void count_receive_error(QueueCounts& counts, CompletionError error) {
    ++counts.resp_cqe_error;
    switch (error) {
    case CompletionError::local_length:
        ++counts.resp_local_length_error;
        break;
    case CompletionError::local_operation:
        ++counts.resp_local_qp_error;
        break;
    case CompletionError::local_protection:
        ++counts.resp_local_protection;
        break;
    case CompletionError::flushed:
        ++counts.resp_cqe_flush_error;
        break;
    default:
        break;
    }
}

} // namespace cxemu::queues
