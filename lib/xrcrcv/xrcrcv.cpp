// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "xrcrcv/xrcrcv.h"

#include "domain.hpp"
#include "queue_pair.hpp"
#include "registration.hpp"

#include <cerrno>
#include <ctime>
#include <rdma/cxib_user_ioctl_cmds.h>

static_assert(XRCRCV_EVENT_FLAG == CXIB_XRC_QP_EVENT_FLAG);

namespace xrcrcv {

namespace {

/** The number of QP0, which no XRC receive QP has. */
constexpr std::uint32_t no_qpn = 0;

/** Stores an error in errno and returns it; 0 leaves errno unchanged. */
int result_of(int error) {
    // No registration or XRC domain has that handle.
    if (error == ENOENT)
        error = EINVAL;
    if (error != 0)
        errno = error;
    return error;
}

/** Calls @p function with the kernel's XRC domain. */
template <typename Function>
int with_domain(const ibv_xrcd* xrcd, Function function) {
    std::uint32_t handle = 0;

    if (!xrcd || !xrcd->context)
        return result_of(EINVAL);
    if (const int error = read_handle(*xrcd, handle))
        return result_of(error);
    return result_of(function(Domain{*xrcd->context, handle}));
}

/**
 * Calls @p function, which uses methods of the RDMA core, if the driver supports registrations and
 * the kernel has the XRC domain.
 */
template <typename Function>
int with_registrations(const Domain& domain, std::uint32_t qpn, Function function) {
    std::uint32_t registration = 0;
    const int error = find_registration(domain, qpn, registration);

    return error != 0 && error != ENOENT ? error : function();
}

int register_qp(const Domain& domain, std::uint32_t qpn) {
    const int error = create_registration(domain, qpn);

    return error == EEXIST ? 0 : error;
}

/** Lets other threads run, including those with a lower priority. */
void wait_for_other_thread() {
    const timespec shortly{.tv_nsec = 50000};

    (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &shortly, nullptr);
}

/**
 * A handle is invalid (ENOENT) while another thread's REGISTER has made the registration but not
 * returned. A handle is busy (EBUSY) while another thread destroys the registration, or compares it
 * with a QP whose former registration had the handle. So only FIND shows that there is no
 * registration.
 */
int unregister_qp(const Domain& domain, std::uint32_t qpn) {
    for (;; wait_for_other_thread()) {
        std::uint32_t registration = 0;

        if (const int error = find_registration(domain, qpn, registration))
            return error;
        const int error = destroy_registration(domain, qpn, registration);
        if (error != ENOENT && error != EBUSY)
            return error;
    }
}

int create_qp(const Domain& domain, std::uint32_t& qpn) {
    QueuePair qp(domain);

    if (const int error = qp.create())
        return error;
    // Another thread that knows the number of a former QP may already have registered this QP.
    if (const int error = register_qp(domain, qp.number()))
        return error;
    // From here on only the registration keeps the QP. An open handle would duplicate its events.
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
    return context && xrcrcv::check_methods(*context) == 0 ? 1 : 0;
}

[[gnu::visibility("default")]] int xrcrcv_create(ibv_xrcd* xrcd, std::uint32_t* qpn) {
    if (!qpn)
        return xrcrcv::result_of(EINVAL);
    return xrcrcv::with_domain(xrcd, [&](const xrcrcv::Domain& domain) {
        return xrcrcv::with_registrations(domain, xrcrcv::no_qpn,
                                          [&] { return xrcrcv::create_qp(domain, *qpn); });
    });
}

[[gnu::visibility("default")]] int xrcrcv_modify(ibv_xrcd* xrcd, std::uint32_t qpn,
                                                 const ibv_qp_attr* attr, int attr_mask) {
    if (!attr)
        return xrcrcv::result_of(EINVAL);
    return xrcrcv::with_domain(xrcd, [&](const xrcrcv::Domain& domain) {
        return xrcrcv::with_registrations(domain, qpn, [&] {
            xrcrcv::QueuePair qp(domain);
            const int error = qp.open(qpn);

            return error ? error : qp.modify(*attr, attr_mask);
        });
    });
}

[[gnu::visibility("default")]] int xrcrcv_query(ibv_xrcd* xrcd, std::uint32_t qpn,
                                                ibv_qp_attr* attr, int /*attr_mask*/,
                                                ibv_qp_init_attr* init_attr) {
    if (!attr || !init_attr)
        return xrcrcv::result_of(EINVAL);
    return xrcrcv::with_domain(xrcd, [&](const xrcrcv::Domain& domain) {
        return xrcrcv::with_registrations(domain, qpn, [&] {
            xrcrcv::QueuePair qp(domain);
            const int error = qp.open(qpn);

            return error ? error : qp.query(*attr, *init_attr);
        });
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
