// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/**
 * @file
 * uverbs ioctls of a context, for which libibverbs exports no functions.
 */
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <infiniband/verbs.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <span>

namespace xrcrcv {

/** An ioctl of a method of a uverbs object: built attribute by attribute, then executed once. */
class IoctlRequest {
public:
    IoctlRequest(std::uint16_t object, std::uint16_t method);

    /** Adds the handle of an object. */
    void add_handle(std::uint16_t id, std::uint32_t handle) { add(id, 0, handle); }

    /** Adds a file descriptor. */
    void add_fd(std::uint16_t id, int fd);

    /** Adds a constant; the kernel's definition of the attribute gives its width. */
    void add_constant(std::uint16_t id, std::uint64_t value) { add(id, sizeof(value), value); }

    /** Adds bytes to read. More than eight bytes must stay unchanged until execute(). */
    void add_input(std::uint16_t id, std::span<const std::byte> bytes);

    /** Adds bytes that execute() writes. */
    void add_output(std::uint16_t id, std::span<std::byte> bytes);

    /** Executes the method in the kernel. Returns 0 or a positive errno; errno is not changed. */
    [[nodiscard]] int execute(const ibv_context& context);

private:
    /** struct ib_uverbs_ioctl_hdr without its flexible array, which C++ does not have. */
    struct Header {
        std::uint16_t length;
        std::uint16_t object_id;
        std::uint16_t method_id;
        std::uint16_t num_attrs;
        std::uint64_t reserved1;
        std::uint32_t driver_id;
        std::uint32_t reserved2;
    };
    static_assert(sizeof(Header) == sizeof(ib_uverbs_ioctl_hdr));
    static_assert(offsetof(Header, method_id) == offsetof(ib_uverbs_ioctl_hdr, method_id));
    static_assert(offsetof(Header, driver_id) == offsetof(ib_uverbs_ioctl_hdr, driver_id));

    /** The REGISTER method needs four attributes, the maximum. */
    static constexpr std::size_t max_attributes = 4;

    struct Message {
        Header header;
        std::array<ib_uverbs_attr, max_attributes> attributes;
    };
    static_assert(offsetof(Message, attributes) == offsetof(ib_uverbs_ioctl_hdr, attrs));

    void add(std::uint16_t id, std::size_t length, std::uint64_t data);

    Message message_{};
};

/** The bytes of a structure of the kernel's interface. */
template <typename T>
std::span<const std::byte> bytes_of(const T& value) {
    return std::as_bytes(std::span(&value, 1));
}

template <typename T>
std::span<std::byte> writable_bytes_of(T& value) {
    return std::as_writable_bytes(std::span(&value, 1));
}

/** Executes a write() command of the RDMA core through its ioctl. Returns 0 or a positive errno. */
[[nodiscard]] int invoke_write(const ibv_context& context, ib_uverbs_write_cmds command,
                               std::span<const std::byte> request, std::span<std::byte> response);

} // namespace xrcrcv
