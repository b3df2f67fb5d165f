// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "registration.hpp"

#include "ioctl_request.hpp"

#include <cerrno>
#include <limits>
#include <rdma/cxib_user_ioctl_cmds.h>

namespace xrcrcv {

namespace {

IoctlRequest request_of(std::uint16_t method, const Domain& domain, const std::uint32_t& qpn) {
    IoctlRequest request(CXIB_OBJECT_XRC_REGISTRATION, method);

    request.add_handle(CXIB_ATTR_XRC_REGISTRATION_DOMAIN, domain.handle);
    request.add_input(CXIB_ATTR_XRC_REGISTRATION_QPN, bytes_of(qpn));
    return request;
}

/** An unused handle: the kernel counts handles from 0, and runs out of memory before this one. */
constexpr std::uint32_t no_handle = std::numeric_limits<std::uint32_t>::max();

int find(const Domain& domain, std::uint32_t qpn, std::uint32_t& registration) {
    IoctlRequest request = request_of(CXIB_METHOD_XRC_REGISTRATION_FIND, domain, qpn);

    request.add_output(CXIB_ATTR_XRC_REGISTRATION_RESP_HANDLE, writable_bytes_of(registration));
    return request.execute(domain.context);
}

/**
 * The error of a method. The kernel returns EPROTONOSUPPORT for a method that the driver lacks, and
 * EINVAL for all requests if the driver does not have mlx5_ib's user-space interface.
 */
int error_of_method(const ibv_context& context, int error) {
    switch (error) {
    case EPROTONOSUPPORT:
        return ENOSYS;
    case EINVAL:
        if (const int missing = check_methods(context))
            return missing;
        return EINVAL;
    default:
        return error;
    }
}

} // namespace

int check_methods(const ibv_context& context) {
    std::uint32_t registration = 0;

    // ENOENT means that the handle of the XRC domain does not exist.
    switch (const int error = find({context, no_handle}, 0, registration)) {
    case ENOENT:
        return 0;
    case EPROTONOSUPPORT:
    case EINVAL:
        return ENOSYS;
    default:
        return error;
    }
}

int find_registration(const Domain& domain, std::uint32_t qpn, std::uint32_t& registration) {
    return error_of_method(domain.context, find(domain, qpn, registration));
}

int create_registration(const Domain& domain, std::uint32_t qpn) {
    IoctlRequest request = request_of(CXIB_METHOD_XRC_REGISTRATION_REGISTER, domain, qpn);

    // The kernel returns the handle here, and find_registration() returns it later.
    request.add_handle(CXIB_ATTR_XRC_REGISTRATION_HANDLE, 0);
    request.add_fd(CXIB_ATTR_XRC_REGISTRATION_EVENTS, domain.context.async_fd);
    return error_of_method(domain.context, request.execute(domain.context));
}

int destroy_registration(const Domain& domain, std::uint32_t qpn, std::uint32_t registration) {
    IoctlRequest request = request_of(CXIB_METHOD_XRC_REGISTRATION_UNREGISTER, domain, qpn);

    request.add_handle(CXIB_ATTR_XRC_REGISTRATION_HANDLE, registration);
    return request.execute(domain.context);
}

} // namespace xrcrcv
