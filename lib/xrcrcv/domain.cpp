// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "domain.hpp"

#include "ioctl_request.hpp"
#include "registration.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <span>

namespace xrcrcv {

namespace {

/** What libibverbs allocates for an ibv_xrcd: the same from rdma-core 44 to 65. */
struct XrcdOfLibibverbs {
    ibv_xrcd xrcd;
    std::uint32_t comp_mask;
    std::uint32_t handle;
};
static_assert(offsetof(XrcdOfLibibverbs, xrcd) == 0);
static_assert(offsetof(XrcdOfLibibverbs, handle) == sizeof(ibv_xrcd) + sizeof(std::uint32_t));

/** Bit of comp_mask: libibverbs has stored the handle, VERBS_XRCD_HANDLE in its sources. */
constexpr std::uint32_t has_handle = 1;

/** A handle of no object: the kernel counts them up from 0, and runs out of memory before this. */
constexpr std::uint32_t no_handle = std::numeric_limits<std::uint32_t>::max();

/** The first handles of XRC domains that fit; @p count is what the kernel wrote. */
int list_domains(const ibv_context& context, std::span<std::uint32_t> handles,
                 std::uint32_t& count) {
    IoctlRequest request(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INFO_HANDLES);

    request.add_constant(UVERBS_ATTR_INFO_OBJECT_ID, UVERBS_OBJECT_XRCD);
    request.add_output(UVERBS_ATTR_INFO_TOTAL_HANDLES, writable_bytes_of(count));
    request.add_output(UVERBS_ATTR_INFO_HANDLES_LIST, std::as_writable_bytes(handles));
    return request.execute(context);
}

} // namespace

int read_handle(const ibv_xrcd& xrcd, std::uint32_t& handle) {
    const auto& [_, comp_mask, candidate] = reinterpret_cast<const XrcdOfLibibverbs&>(xrcd);

    if (!(comp_mask & has_handle))
        return ENOTSUP;
    // A list that is full may be one that was cut off. An attribute is shorter than 64 KiB.
    for (const std::size_t capacity : {64, 256, 1024, 4096, 16383}) {
        const std::unique_ptr<std::uint32_t[]> memory(new (std::nothrow) std::uint32_t[capacity]);
        std::uint32_t count = 0;

        if (!memory)
            return ENOMEM;
        if (const int error = list_domains(*xrcd.context, {memory.get(), capacity}, count))
            return error;
        const std::span handles(memory.get(), std::min<std::size_t>(count, capacity));
        if (std::ranges::find(handles, candidate) != handles.end()) {
            handle = candidate;
            return 0;
        }
        if (count < capacity)
            break;
    }
    return EINVAL;
}

int check_registrations(const ibv_context& context) {
    std::uint32_t registration = 0;

    // ENOENT concerns the handle of the XRC domain. Drivers without the method fail with
    // EPROTONOSUPPORT, others than those with the user space interface of mlx5_ib with EINVAL.
    switch (const int error = find_registration({context, no_handle}, 0, registration)) {
    case ENOENT:
        return 0;
    case EPROTONOSUPPORT:
    case EINVAL:
        return ENOSYS;
    default:
        return error;
    }
}

} // namespace xrcrcv
