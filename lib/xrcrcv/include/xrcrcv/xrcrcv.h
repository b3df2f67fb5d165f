/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/**
 * @file
 * XRC receive QPs that belong to all processes that registered them.
 *
 * Processes identify such a QP by its number in an XRC domain. It exists as long as a process has
 * it registered (or opened by ibv_open_qp()), regardless of its creator. "Process" means an open
 * device here: two contexts of a process have two registrations, and a context inherited by fork()
 * shares one.
 *
 * A process that has an XRC domain open may modify all its QPs, and send through them to all its
 * SRQs, including those of other processes.
 *
 * All functions return 0 or a positive errno, which they also store in errno. Several threads may
 * call them at the same time. Common errors:
 *
 *  - EINVAL: an argument is NULL, the XRC domain is not one that this process has opened by
 *    ibv_open_xrcd(), or it has no receive QP with this number;
 *  - ENOSYS: the driver of the device does not support such QPs;
 *  - ENOTSUP: the kernel lacks what the driver needs for them, or this library does not know the
 *    structure of XRC domains in the installed libibverbs;
 *  - EBUSY: another thread is closing the XRC domain; the error may also be EINVAL;
 *  - EIO: the device is gone;
 *  - ENOMEM, EAGAIN: no memory, or the limit of the rdma cgroup is reached.
 */
#ifndef XRCRCV_XRCRCV_H
#define XRCRCV_XRCRCV_H

#include <infiniband/verbs.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Flag in the event_type of events of a registered QP. */
#define XRCRCV_EVENT_FLAG 0x80000000U

/**
 * Returns whether the driver of a device supports such QPs.
 *
 * @param context an open device
 * @return 1: it does; 0: it does not, the device is gone, or @p context is NULL. errno is not
 * changed.
 */
int xrcrcv_supported(struct ibv_context *context);

/**
 * Creates a QP in state RESET, and registers it for the context of @p xrcd.
 *
 * @param xrcd XRC domain, from ibv_open_xrcd()
 * @param qpn set to the number of the QP; not changed on errors
 */
int xrcrcv_create(struct ibv_xrcd *xrcd, uint32_t *qpn);

/**
 * Modifies a QP, as ibv_modify_qp() does. The QP needs no registration.
 *
 * A transition that another process has already made returns EINVAL as well.
 *
 * @param xrcd XRC domain of the QP
 * @param qpn number of the QP
 * @param attr new values of the attributes in @p attr_mask
 * @param attr_mask bits of enum ibv_qp_attr_mask. IBV_QP_RATE_LIMIT and other bits: EOPNOTSUPP
 */
int xrcrcv_modify(struct ibv_xrcd *xrcd, uint32_t qpn, const struct ibv_qp_attr *attr,
                  int attr_mask);

/**
 * Returns all attributes of a QP. The QP needs no registration.
 *
 * @param xrcd XRC domain of the QP
 * @param qpn number of the QP
 * @param attr set to the attributes
 * @param attr_mask those of interest; the others are set as well
 * @param init_attr set: type IBV_QPT_XRC_RECV, no CQ, no SRQ
 */
int xrcrcv_query(struct ibv_xrcd *xrcd, uint32_t qpn, struct ibv_qp_attr *attr, int attr_mask,
                 struct ibv_qp_init_attr *init_attr);

/**
 * Registers a QP for the context of @p xrcd, which gets its asynchronous events from now on.
 *
 * A context has one registration of a QP, which one xrcrcv_unregister() ends. A repeated call
 * delivers the events to the async_fd of the context of @p xrcd from now on.
 * The XRC domain that was used for a registration cannot be closed before the registration ends, at
 * the latest with the context.
 *
 * @param xrcd XRC domain of the QP
 * @param qpn number of the QP
 * @return also EBADF: the context's async_fd was closed or replaced
 */
int xrcrcv_register(struct ibv_xrcd *xrcd, uint32_t qpn);

/**
 * Ends the registration of a QP. The last unregistration destroys the QP, unless it is still open.
 *
 * Events that are already queued can still be read, when a new QP may have the number.
 *
 * @param xrcd XRC domain of the QP
 * @param qpn number of the QP. EINVAL: this context has not registered it
 */
int xrcrcv_unregister(struct ibv_xrcd *xrcd, uint32_t qpn);

/**
 * Returns whether an event belongs to a registered QP. ibv_ack_async_event() may acknowledge such
 * an event, but need not.
 *
 * @param event from ibv_get_async_event()
 * @param qpn set to the number of the QP, if the event belongs to a registered QP
 * @param type set to the type without the flag, if the event belongs to a registered QP
 * @return 1: it does; 0: it does not, and nothing was set
 */
static inline int xrcrcv_event(const struct ibv_async_event *event, uint32_t *qpn,
                               enum ibv_event_type *type) {
    uint32_t flagged;

    /*
     * libibverbs' enumeration lacks the flag, so in C++ reading it as an enumeration is undefined.
     */
    memcpy(&flagged, &event->event_type, sizeof(flagged));
    if (!(flagged & XRCRCV_EVENT_FLAG))
        return 0;
    *qpn = (uint32_t)event->element.port_num;
    *type = (enum ibv_event_type)(flagged & ~XRCRCV_EVENT_FLAG);
    return 1;
}

#ifdef __cplusplus
}
#endif

#endif
