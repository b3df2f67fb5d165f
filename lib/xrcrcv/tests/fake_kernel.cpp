// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "fake_kernel.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <rdma/cxib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <span>
#include <sys/ioctl.h>

namespace xrcrcv::tests {

namespace {

FakeKernel* kernel = nullptr;

const char* name_of(std::uint64_t command) {
    switch (command) {
    case IB_USER_VERBS_CMD_CREATE_QP:
        return "create";
    case IB_USER_VERBS_CMD_OPEN_QP:
        return "open";
    case IB_USER_VERBS_CMD_MODIFY_QP:
        return "modify";
    case IB_USER_VERBS_CMD_QUERY_QP:
        return "query";
    case IB_USER_VERBS_CMD_DESTROY_QP:
        return "destroy";
    default:
        return "unknown";
    }
}

} // namespace

/** The attributes of a message. */
struct FakeKernel::Call {
    ib_uverbs_ioctl_hdr& header;

    [[nodiscard]] ib_uverbs_attr* find(std::uint16_t id) const {
        const std::span attributes(header.attrs, header.num_attrs);
        const auto found = std::ranges::find(attributes, id, &ib_uverbs_attr::attr_id);

        return found == attributes.end() ? nullptr : &*found;
    }

    [[nodiscard]] std::uint64_t value(std::uint16_t id) const { return find(id)->data; }

    /** Address of an attribute's bytes. */
    [[nodiscard]] void* memory(std::uint16_t id) const {
        return reinterpret_cast<void*>(static_cast<std::uintptr_t>(find(id)->data));
    }

    /** A request, which must have the kernel's length. */
    template <typename T>
    bool read(T& request) const {
        const ib_uverbs_attr* attribute = find(UVERBS_ATTR_CORE_IN);

        if (!attribute || attribute->len != sizeof(T))
            return false;
        if (sizeof(T) <= sizeof(attribute->data))
            std::memcpy(&request, &attribute->data, sizeof(T));
        else
            std::memcpy(&request, memory(UVERBS_ATTR_CORE_IN), sizeof(T));
        return true;
    }

    template <typename T>
    bool write(const T& response) const {
        const ib_uverbs_attr* attribute = find(UVERBS_ATTR_CORE_OUT);

        if (!attribute || attribute->len < sizeof(T))
            return false;
        std::memcpy(memory(UVERBS_ATTR_CORE_OUT), &response, sizeof(T));
        return true;
    }
};

FakeKernel::FakeKernel() {
    kernel = this;
}

FakeKernel::~FakeKernel() {
    kernel = nullptr;
}

int FakeKernel::execute(void* message) {
    Call call{*static_cast<ib_uverbs_ioctl_hdr*>(message)};
    const ib_uverbs_ioctl_hdr& header = call.header;

    if (header.length != sizeof(header) + header.num_attrs * sizeof(ib_uverbs_attr) ||
        header.reserved1 || header.reserved2 || header.driver_id != driver_id)
        return EINVAL;
    return dispatch(call);
}

int FakeKernel::dispatch(Call& call) {
    if (is_gone)
        return EIO;
    if (call.header.object_id == UVERBS_OBJECT_DEVICE)
        return device(call);
    if (call.header.object_id == CXIB_OBJECT_XRC_REGISTRATION && has_registrations)
        return registration(call);
    return EPROTONOSUPPORT;
}

int FakeKernel::device(Call& call) {
    if (call.header.method_id != UVERBS_METHOD_INVOKE_WRITE)
        return EPROTONOSUPPORT;
    if (call.find(UVERBS_ATTR_WRITE_CMD)->len != sizeof(std::uint64_t))
        return EINVAL;
    const int error = failure(name_of(call.value(UVERBS_ATTR_WRITE_CMD)));

    return error ? error : write_command(call);
}

/** The errno with which a request of this name fails. */
int FakeKernel::failure(const std::string& name) {
    requests.push_back(name);
    if (const auto first = first_failures.extract(name)) {
        on_failure();
        return first.mapped();
    }
    return failures.contains(name) ? failures[name] : 0;
}

/** Looks up the attribute of a method as the RDMA core does. */
int FakeKernel::check_domain(std::uint64_t handle) const {
    if (handle >> 32)
        return ENOENT;
    const auto number = static_cast<std::uint32_t>(handle);
    if (other_handles.contains(number))
        return EINVAL;
    return domains.contains(number) ? 0 : ENOENT;
}

int FakeKernel::write_command(Call& call) {
    switch (call.value(UVERBS_ATTR_WRITE_CMD)) {
    case IB_USER_VERBS_CMD_CREATE_QP:
        return create_qp(call);
    case IB_USER_VERBS_CMD_OPEN_QP:
        return open_qp(call);
    case IB_USER_VERBS_CMD_DESTROY_QP:
        return destroy_qp(call);
    case IB_USER_VERBS_CMD_MODIFY_QP:
        return call.read(modify) && open_handles.contains(modify.qp_handle) ? 0 : EINVAL;
    case IB_USER_VERBS_CMD_QUERY_QP:
        return call.read(query) && open_handles.contains(query.qp_handle) &&
                       call.write(query_response)
                   ? 0
                   : EINVAL;
    default:
        return EOPNOTSUPP;
    }
}

int FakeKernel::add_handle(Call& call, std::uint32_t qpn) {
    const ib_uverbs_create_qp_resp response{.qp_handle = next_++, .qpn = qpn};

    open_handles[response.qp_handle] = qpn;
    return call.write(response) ? 0 : EINVAL;
}

int FakeKernel::create_qp(Call& call) {
    ib_uverbs_create_qp request{};

    if (!call.read(request) || request.qp_type != IB_UVERBS_QPT_XRC_TGT ||
        check_domain(request.pd_handle))
        return EINVAL;
    user_handle = request.user_handle;
    const std::uint32_t qpn = 0x100 + next_++;
    qps[qpn] = request.pd_handle;
    return add_handle(call, qpn);
}

int FakeKernel::open_qp(Call& call) {
    ib_uverbs_open_qp request{};

    if (!call.read(request) || request.qp_type != IB_UVERBS_QPT_XRC_TGT ||
        check_domain(request.pd_handle) || !qps.contains(request.qpn) ||
        qps[request.qpn] != request.pd_handle)
        return EINVAL;
    user_handle = request.user_handle;
    return add_handle(call, request.qpn);
}

int FakeKernel::destroy_qp(Call& call) {
    ib_uverbs_destroy_qp request{};

    if (!call.read(request) || open_handles.erase(request.qp_handle) == 0)
        return EINVAL;
    return call.write(ib_uverbs_destroy_qp_resp{}) ? 0 : EINVAL;
}

int FakeKernel::registration(Call& call) {
    const auto qpn = static_cast<std::uint32_t>(call.value(CXIB_ATTR_XRC_REGISTRATION_QPN));
    const std::uint64_t domain = call.value(CXIB_ATTR_XRC_REGISTRATION_DOMAIN);

    if (call.find(CXIB_ATTR_XRC_REGISTRATION_QPN)->len != sizeof(qpn))
        return EINVAL;
    if (const int error = check_domain(domain))
        return error;
    switch (call.header.method_id) {
    case CXIB_METHOD_XRC_REGISTRATION_REGISTER:
        return register_qp(call, qpn);
    case CXIB_METHOD_XRC_REGISTRATION_UNREGISTER:
        return unregister_qp(call, qpn);
    case CXIB_METHOD_XRC_REGISTRATION_FIND:
        break;
    default:
        return EPROTONOSUPPORT;
    }
    if (const int error = failure("find"))
        return error;
    for (const auto& [handle, number] : registrations) {
        if (number == qpn) {
            std::memcpy(call.memory(CXIB_ATTR_XRC_REGISTRATION_RESP_HANDLE), &handle,
                        sizeof(handle));
            return 0;
        }
    }
    return ENOENT;
}

int FakeKernel::register_qp(Call& call, std::uint32_t qpn) {
    if (const int error = failure("register"))
        return error;
    if (!qps.contains(qpn))
        return EINVAL;
    for (const auto& [handle, number] : registrations) {
        if (number == qpn)
            return EEXIST;
    }
    registered_events_fd = static_cast<int>(call.find(CXIB_ATTR_XRC_REGISTRATION_EVENTS)->data_s64);
    call.find(CXIB_ATTR_XRC_REGISTRATION_HANDLE)->data = next_;
    registrations[next_++] = qpn;
    return 0;
}

int FakeKernel::unregister_qp(Call& call, std::uint32_t qpn) {
    const auto handle = static_cast<std::uint32_t>(call.value(CXIB_ATTR_XRC_REGISTRATION_HANDLE));

    if (const int error = failure("unregister"))
        return error;
    if (!registrations.contains(handle))
        return ENOENT;
    if (registrations[handle] != qpn)
        return EINVAL;
    registrations.erase(handle);
    return 0;
}

FakeDomain::FakeDomain(FakeKernel& device, std::uint32_t handle) {
    context_.cmd_fd = FakeKernel::command_fd;
    context_.async_fd = FakeKernel::events_fd;
    memory_.xrcd.context = &context_;
    memory_.comp_mask = 1; // VERBS_XRCD_HANDLE of libibverbs
    memory_.handle = handle;
    device.domains.insert(handle);
}

} // namespace xrcrcv::tests

extern "C" int ioctl(int fd, unsigned long request, ...) {
    std::va_list arguments;
    va_start(arguments, request);
    void* const message = va_arg(arguments, void*);
    va_end(arguments);

    if (fd != xrcrcv::tests::FakeKernel::command_fd || request != RDMA_VERBS_IOCTL ||
        !xrcrcv::tests::kernel) {
        errno = ENOTTY;
        return -1;
    }
    if (const int error = xrcrcv::tests::kernel->execute(message)) {
        errno = error;
        return -1;
    }
    return 0;
}
