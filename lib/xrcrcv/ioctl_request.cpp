// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "ioctl_request.hpp"

#include <cerrno>
#include <cstring>
#include <rdma/ib_user_ioctl_verbs.h>
#include <sys/ioctl.h>

namespace xrcrcv {

IoctlRequest::IoctlRequest(std::uint16_t object, std::uint16_t method) {
    message_.header.object_id = object;
    message_.header.method_id = method;
    // cxib has mlx5_ib's user-space interface, and therefore its driver ID.
    message_.header.driver_id = RDMA_DRIVER_MLX5;
}

void IoctlRequest::add(std::uint16_t id, std::size_t length, std::uint64_t data) {
    // std::array::at() would need libstdc++.
    if (message_.header.num_attrs == max_attributes)
        __builtin_trap();
    ib_uverbs_attr& attribute = message_.attributes[message_.header.num_attrs++];

    attribute.attr_id = id;
    attribute.len = static_cast<std::uint16_t>(length);
    attribute.flags = UVERBS_ATTR_F_MANDATORY;
    attribute.data = data;
}

void IoctlRequest::add_fd(std::uint16_t id, int fd) {
    add(id, 0, static_cast<std::uint64_t>(std::int64_t{fd}));
}

void IoctlRequest::add_input(std::uint16_t id, std::span<const std::byte> bytes) {
    std::uint64_t data = 0;

    // A value of at most eight bytes is stored in place of its address.
    if (bytes.size() <= sizeof(data))
        std::memcpy(&data, bytes.data(), bytes.size());
    else
        data = reinterpret_cast<std::uintptr_t>(bytes.data());
    add(id, bytes.size(), data);
}

void IoctlRequest::add_output(std::uint16_t id, std::span<std::byte> bytes) {
    add(id, bytes.size(), reinterpret_cast<std::uintptr_t>(bytes.data()));
}

int IoctlRequest::execute(const ibv_context& context) {
    const int errno_of_caller = errno;
    int error = 0;

    message_.header.length = static_cast<std::uint16_t>(
        sizeof(Header) + message_.header.num_attrs * sizeof(ib_uverbs_attr));
    if (ioctl(context.cmd_fd, RDMA_VERBS_IOCTL, &message_) != 0)
        error = errno;
    errno = errno_of_caller;
    return error;
}

int invoke_write(const ibv_context& context, ib_uverbs_write_cmds command,
                 std::span<const std::byte> request, std::span<std::byte> response) {
    IoctlRequest ioctl_request(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);

    ioctl_request.add_constant(UVERBS_ATTR_WRITE_CMD, command);
    ioctl_request.add_input(UVERBS_ATTR_CORE_IN, request);
    if (!response.empty())
        ioctl_request.add_output(UVERBS_ATTR_CORE_OUT, response);
    return ioctl_request.execute(context);
}

} // namespace xrcrcv
