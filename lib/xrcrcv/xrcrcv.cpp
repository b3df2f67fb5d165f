// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "xrcrcv/xrcrcv.h"

#include "domain.hpp"
#include "queue_pair.hpp"
#include "registration.hpp"

#include <cerrno>
#include <rdma/cxib_user_ioctl_cmds.h>

static_assert(XRCRCV_EVENT_FLAG == CXIB_XRC_QP_EVENT_FLAG);

namespace xrcrcv {

namespace {

/** Sets errno to an error, which becomes the result; 0 leaves errno as it is. */
int result_of(int error) {
    // The XRC domain was closed after its handle was read.
    if (error == ENOENT)
        error = EINVAL;
    if (error != 0)
        errno = error;
    return error;
}

/** Calls @p function with the XRC domain in the kernel, if the device has registrations. */
template <typename Function>
int with_domain(const ibv_xrcd* xrcd, Function function) {
    std::uint32_t handle = 0;

    if (!xrcd || !xrcd->context)
        return result_of(EINVAL);
    if (const int error = check_registrations(*xrcd->context))
        return result_of(error);
    if (const int error = read_handle(*xrcd, handle))
        return result_of(error);
    return result_of(function(Domain{*xrcd->context, handle}));
}

int register_qp(const Domain& domain, std::uint32_t qpn) {
    const int error = create_registration(domain, qpn);

    return error == EEXIST ? 0 : error;
}

int unregister_qp(const Domain& domain, std::uint32_t qpn) {
    std::uint32_t registration = 0;

    if (const int error = find_registration(domain, qpn, registration))
        return error;
    const int error = destroy_registration(domain, qpn, registration);
    // Another thread is unregistering it.
    return error == EBUSY ? EINVAL : error;
}

int create_qp(const Domain& domain, std::uint32_t& qpn) {
    QueuePair qp(domain);

    if (const int error = qp.create())
        return error;
    if (const int error = create_registration(domain, qp.number()))
        return error;
    // From here on the registration alone keeps the QP. An open handle would repeat its events.
    if (const int error = qp.close()) {
        (void)unregister_qp(domain, qp.number());
        return error;
    }
    qpn = qp.number();
    return 0;
}

} // namespace

} // namespace xrcrcv

extern "C" {

[[gnu::visibility("default")]] int xrcrcv_supported(ibv_context* context) {
    return context && xrcrcv::check_registrations(*context) == 0 ? 1 : 0;
}

[[gnu::visibility("default")]] int xrcrcv_create(ibv_xrcd* xrcd, std::uint32_t* qpn) {
    if (!qpn)
        return xrcrcv::result_of(EINVAL);
    return xrcrcv::with_domain(
        xrcd, [&](const xrcrcv::Domain& domain) { return xrcrcv::create_qp(domain, *qpn); });
}

[[gnu::visibility("default")]] int xrcrcv_modify(ibv_xrcd* xrcd, std::uint32_t qpn,
                                                 const ibv_qp_attr* attr, int attr_mask) {
    if (!attr)
        return xrcrcv::result_of(EINVAL);
    return xrcrcv::with_domain(xrcd, [&](const xrcrcv::Domain& domain) {
        xrcrcv::QueuePair qp(domain);
        const int error = qp.open(qpn);

        return error ? error : qp.modify(*attr, attr_mask);
    });
}

[[gnu::visibility("default")]] int xrcrcv_query(ibv_xrcd* xrcd, std::uint32_t qpn,
                                                ibv_qp_attr* attr, int /*attr_mask*/,
                                                ibv_qp_init_attr* init_attr) {
    if (!attr || !init_attr)
        return xrcrcv::result_of(EINVAL);
    return xrcrcv::with_domain(xrcd, [&](const xrcrcv::Domain& domain) {
        xrcrcv::QueuePair qp(domain);
        const int error = qp.open(qpn);

        return error ? error : qp.query(*attr, *init_attr);
    });
}

[[gnu::visibility("default")]] int xrcrcv_register(ibv_xrcd* xrcd, std::uint32_t qpn) {
    return xrcrcv::with_domain(
        xrcd, [&](const xrcrcv::Domain& domain) { return xrcrcv::register_qp(domain, qpn); });
}

[[gnu::visibility("default")]] int xrcrcv_unregister(ibv_xrcd* xrcd, std::uint32_t qpn) {
    return xrcrcv::with_domain(
        xrcd, [&](const xrcrcv::Domain& domain) { return xrcrcv::unregister_qp(domain, qpn); });
}

} // extern "C"
