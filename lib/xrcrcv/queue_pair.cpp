// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "queue_pair.hpp"

#include "ioctl_request.hpp"
#include "qp_attributes.hpp"

#include <pthread.h>

namespace xrcrcv {

namespace {

/**
 * The QP that events of these handles would name. The RDMA core delivers no events to an opened
 * handle, and a new QP has none. Should that change, acknowledging an event would use the mutex and
 * the counter of this QP.
 */
ibv_qp& qp_of_events() {
    static constinit ibv_qp qp = {
        .mutex = PTHREAD_MUTEX_INITIALIZER,
        .cond = PTHREAD_COND_INITIALIZER,
    };
    return qp;
}

std::uint64_t user_handle() {
    return reinterpret_cast<std::uintptr_t>(&qp_of_events());
}

} // namespace

int QueuePair::create() {
    const ib_uverbs_create_qp request{
        .user_handle = user_handle(),
        .pd_handle = domain_.handle,
        .qp_type = IB_UVERBS_QPT_XRC_TGT,
    };
    ib_uverbs_create_qp_resp response{};

    if (const int error = invoke_write(domain_.context, IB_USER_VERBS_CMD_CREATE_QP,
                                       bytes_of(request), writable_bytes_of(response)))
        return error;
    has_handle_ = true;
    handle_ = response.qp_handle;
    number_ = response.qpn;
    return 0;
}

int QueuePair::open(std::uint32_t qpn) {
    const ib_uverbs_open_qp request{
        .user_handle = user_handle(),
        .pd_handle = domain_.handle,
        .qpn = qpn,
        .qp_type = IB_UVERBS_QPT_XRC_TGT,
    };
    ib_uverbs_create_qp_resp response{};

    if (const int error = invoke_write(domain_.context, IB_USER_VERBS_CMD_OPEN_QP,
                                       bytes_of(request), writable_bytes_of(response)))
        return error;
    has_handle_ = true;
    handle_ = response.qp_handle;
    number_ = response.qpn;
    return 0;
}

int QueuePair::modify(const ibv_qp_attr& attr, int mask) const {
    ib_uverbs_modify_qp request = modify_request(attr, mask);

    request.qp_handle = handle_;
    return invoke_write(domain_.context, IB_USER_VERBS_CMD_MODIFY_QP, bytes_of(request), {});
}

int QueuePair::query(ibv_qp_attr& attr, ibv_qp_init_attr& init_attr) const {
    const ib_uverbs_query_qp request{
        .qp_handle = handle_,
        .attr_mask = all_attributes,
    };
    ib_uverbs_query_qp_resp response{};

    if (const int error = invoke_write(domain_.context, IB_USER_VERBS_CMD_QUERY_QP,
                                       bytes_of(request), writable_bytes_of(response)))
        return error;
    attr = attributes_of(response);
    init_attr = init_attributes_of(response);
    return 0;
}

int QueuePair::close() {
    if (!has_handle_)
        return 0;
    const ib_uverbs_destroy_qp request{.qp_handle = handle_};
    ib_uverbs_destroy_qp_resp response{};

    has_handle_ = false;
    return invoke_write(domain_.context, IB_USER_VERBS_CMD_DESTROY_QP, bytes_of(request),
                        writable_bytes_of(response));
}

} // namespace xrcrcv
