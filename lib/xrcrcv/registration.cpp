// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "registration.hpp"

#include "ioctl_request.hpp"

#include <rdma/cxib_user_ioctl_cmds.h>

namespace xrcrcv {

namespace {

IoctlRequest request_of(std::uint16_t method, const Domain& domain, const std::uint32_t& qpn) {
    IoctlRequest request(CXIB_OBJECT_XRC_REGISTRATION, method);

    request.add_handle(CXIB_ATTR_XRC_REGISTRATION_DOMAIN, domain.handle);
    request.add_input(CXIB_ATTR_XRC_REGISTRATION_QPN, bytes_of(qpn));
    return request;
}

} // namespace

int find_registration(const Domain& domain, std::uint32_t qpn, std::uint32_t& registration) {
    IoctlRequest request = request_of(CXIB_METHOD_XRC_REGISTRATION_FIND, domain, qpn);

    request.add_output(CXIB_ATTR_XRC_REGISTRATION_RESP_HANDLE, writable_bytes_of(registration));
    return request.execute(domain.context);
}

int create_registration(const Domain& domain, std::uint32_t qpn) {
    IoctlRequest request = request_of(CXIB_METHOD_XRC_REGISTRATION_REGISTER, domain, qpn);

    // The kernel returns the handle here; find_registration() returns it to later callers.
    request.add_handle(CXIB_ATTR_XRC_REGISTRATION_HANDLE, 0);
    request.add_fd(CXIB_ATTR_XRC_REGISTRATION_EVENTS, domain.context.async_fd);
    return request.execute(domain.context);
}

int destroy_registration(const Domain& domain, std::uint32_t qpn, std::uint32_t registration) {
    IoctlRequest request = request_of(CXIB_METHOD_XRC_REGISTRATION_UNREGISTER, domain, qpn);

    request.add_handle(CXIB_ATTR_XRC_REGISTRATION_HANDLE, registration);
    return request.execute(domain.context);
}

} // namespace xrcrcv
