// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/**
 * @file
 * The names of 2008, implemented with libxrcrcv. The prototypes are those of the header that
 * make_2008_header.py generates.
 */
#include "xrcrcv/xrcrcv.h"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <infiniband/verbs.h>

// Programs compiled with the header of 2008 and other libraries must have the same structures,
// except for a last member of a structure that libraries only read.
static_assert(sizeof(ibv_qp_init_attr) == 64 + sizeof(void*));
static_assert(offsetof(ibv_qp_init_attr, xrc_domain) == 64);
static_assert(offsetof(ibv_srq, xrc_srq_num) == 28);
static_assert(offsetof(ibv_srq, mutex) == 32);
static_assert(sizeof(ibv_async_event) == 16);
static_assert(offsetof(ibv_async_event, element.xrc_qp_num) == 0);
static_assert(offsetof(ibv_send_wr, xrc_remote_srq_num) == offsetof(ibv_send_wr, qp_type));
static_assert(sizeof(ibv_send_wr) == 128);
static_assert(std::uint32_t{IBV_XRC_QP_EVENT_FLAG} == XRCRCV_EVENT_FLAG);

namespace {

int failed(int error) {
    errno = error;
    return error;
}

/**
 * Checks that the driver has registered QPs.
 *
 * @return 0; ENOSYS: the driver has none; another errno: the query has failed
 */
int check_registrations(ibv_xrcd* domain) {
    // No receive QP has the number of QP0, so only EINVAL shows that the driver has looked for it.
    const int error = xrcrcv_unregister(domain, 0);

    return error == EINVAL ? 0 : error;
}

} // namespace

extern "C" {

[[gnu::visibility("default")]] ibv_xrcd* ibv_open_xrc_domain(ibv_context* context, int fd,
                                                             int oflag) {
    // Without a file the kernel would create the XRC domain whatever the flags are.
    if (!context || (fd == -1 && !(oflag & O_CREAT))) {
        errno = EINVAL;
        return nullptr;
    }
    ibv_xrcd_init_attr attr{
        .comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
        .fd = fd,
        .oflags = oflag,
    };
    ibv_xrcd* const domain = ibv_open_xrcd(context, &attr);

    // Such programs open an XRC domain for registered QPs, so the call fails without support for
    // them.
    if (!domain)
        return nullptr;
    if (const int error = check_registrations(domain)) {
        (void)ibv_close_xrcd(domain);
        errno = error;
        return nullptr;
    }
    return domain;
}

[[gnu::visibility("default")]] int ibv_close_xrc_domain(ibv_xrcd* d) {
    if (!d)
        return failed(EINVAL);
    const int error = ibv_close_xrcd(d);
    return error ? failed(error) : 0;
}

[[gnu::visibility("default")]] ibv_srq* ibv_create_xrc_srq(ibv_pd* pd, ibv_xrcd* xrc_domain,
                                                           ibv_cq* xrc_cq,
                                                           ibv_srq_init_attr* srq_init_attr) {
    if (!pd || !xrc_domain || !xrc_cq || !srq_init_attr) {
        errno = EINVAL;
        return nullptr;
    }
    ibv_srq_init_attr_ex attr{
        .srq_context = srq_init_attr->srq_context,
        .attr = srq_init_attr->attr,
        .comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD |
                     IBV_SRQ_INIT_ATTR_CQ,
        .srq_type = IBV_SRQT_XRC,
        .pd = pd,
        .xrcd = xrc_domain,
        .cq = xrc_cq,
    };
    ibv_srq* const srq = ibv_create_srq_ex(pd->context, &attr);
    if (!srq)
        return nullptr;
    if (const int error = ibv_get_srq_num(srq, &srq->xrc_srq_num)) {
        (void)ibv_destroy_srq(srq);
        errno = error;
        return nullptr;
    }
    srq_init_attr->attr = attr.attr;
    return srq;
}

[[gnu::visibility("default")]] int ibv_create_xrc_rcv_qp(ibv_qp_init_attr* init_attr,
                                                         std::uint32_t* xrc_rcv_qpn) {
    // Programs set only the XRC domain; the rest is uninitialized.
    return init_attr ? xrcrcv_create(init_attr->xrc_domain, xrc_rcv_qpn) : failed(EINVAL);
}

[[gnu::visibility("default")]] int ibv_modify_xrc_rcv_qp(ibv_xrcd* xrc_domain,
                                                         std::uint32_t xrc_qp_num,
                                                         ibv_qp_attr* attr, int attr_mask) {
    return xrcrcv_modify(xrc_domain, xrc_qp_num, attr, attr_mask);
}

[[gnu::visibility("default")]] int ibv_query_xrc_rcv_qp(ibv_xrcd* xrc_domain,
                                                        std::uint32_t xrc_qp_num, ibv_qp_attr* attr,
                                                        int attr_mask,
                                                        ibv_qp_init_attr* init_attr) {
    const int error = xrcrcv_query(xrc_domain, xrc_qp_num, attr, attr_mask, init_attr);

    // libxrcrcv was compiled without the last member of the structure.
    if (!error)
        init_attr->xrc_domain = xrc_domain;
    return error;
}

[[gnu::visibility("default")]] int ibv_reg_xrc_rcv_qp(ibv_xrcd* xrc_domain,
                                                      std::uint32_t xrc_qp_num) {
    return xrcrcv_register(xrc_domain, xrc_qp_num);
}

[[gnu::visibility("default")]] int ibv_unreg_xrc_rcv_qp(ibv_xrcd* xrc_domain,
                                                        std::uint32_t xrc_qp_num) {
    return xrcrcv_unregister(xrc_domain, xrc_qp_num);
}

} // extern "C"
