/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/**
 * @file
 * XRC receive QPs that belong to all processes that registered them.
 *
 * Such a QP is known by its number in an XRC domain. It exists as long as a process has it
 * registered (or opened by ibv_open_qp()), regardless of its creator. "Process" is an open device
 * here: two contexts of a process have two registrations, a context that is inherited by fork()
 * shares one.
 *
 * A process that has an XRC domain open may change all its QPs, and send through them into all its
 * SRQs, those of other processes included.
 *
 * All functions return 0 or a positive errno, and then set errno, too. They may be called by several
 * threads at a time. Common errors:
 *
 *  - EINVAL: an argument is NULL, the XRC domain is not one that this process has opened by
 *    ibv_open_xrcd(), or it has no receive QP of that number;
 *  - ENOSYS: the driver of the device has no such QPs;
 *  - ENOTSUP: the kernel lacks what the driver needs for them, or libibverbs is one whose XRC domains
 *    this library does not know;
 *  - EBUSY: another thread is closing the XRC domain. Depending on the moment it is EINVAL;
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

/** Set in the event_type of events that concern a registered QP. */
#define XRCRCV_EVENT_FLAG 0x80000000U

/**
 * Returns whether the driver of a device has such QPs.
 *
 * @param context an open device
 * @return 1: it has; 0: it has not, the device is gone, or @p context is NULL. errno is not changed.
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
 * Changes attributes of a QP, as ibv_modify_qp() does. The QP needs no registration.
 *
 * EINVAL is also the result of a transition that another process has already made.
 *
 * @param xrcd XRC domain of the QP
 * @param qpn number of the QP
 * @param attr new values of those that @p attr_mask names
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
 * Registering a QP that the context has registered has no effect: one xrcrcv_unregister() ends the
 * registration. The XRC domain by which a registration was made cannot be closed before it ends, at
 * the latest with the context.
 *
 * @param xrcd XRC domain of the QP
 * @param qpn number of the QP
 * @return also EBADF: the context's async_fd was closed or replaced
 */
int xrcrcv_register(struct ibv_xrcd *xrcd, uint32_t qpn);

/**
 * Ends the registration of a QP. The last one takes the QP with it, unless it is still open.
 *
 * Events that are queued already can be read afterwards, when the number may be that of a new QP.
 *
 * @param xrcd XRC domain of the QP
 * @param qpn number of the QP. EINVAL: this context has not registered it
 */
int xrcrcv_unregister(struct ibv_xrcd *xrcd, uint32_t qpn);

/**
 * Returns whether an event is one of a registered QP. Such an event can be acknowledged like any
 * other by ibv_ack_async_event(), and need not be.
 *
 * @param event from ibv_get_async_event()
 * @param qpn set to the number of the QP, if it is one
 * @param type set to the type without the flag, if it is one
 * @return 1: it is; 0: it is not, and nothing was set
 */
static inline int xrcrcv_event(const struct ibv_async_event *event, uint32_t *qpn,
                               enum ibv_event_type *type) {
    uint32_t flagged;

    /* The enumeration of libibverbs does not have the flag, so loading it as such is undefined in C++. */
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
