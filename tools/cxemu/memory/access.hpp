// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Who wants to do what with memory behind a memory key, and why it is refused.
#pragma once

#include <cstdint>
#include <string_view>

namespace cxemu::memory {

/// The right that an access needs.
enum class AccessRight : std::uint8_t {
    local_read,    ///< gather the data of a send
    local_write,   ///< scatter received data, or the response of a read or atomic
    remote_read,   ///< RDMA read by the peer
    remote_write,  ///< RDMA write by the peer
    remote_atomic, ///< atomic operation by the peer
};

/// True for rights whose use changes memory.
constexpr bool writes(AccessRight right) {
    return right != AccessRight::local_read && right != AccessRight::remote_read;
}

/// True for rights that the peer's requests need.
constexpr bool is_remote(AccessRight right) {
    return right != AccessRight::local_read && right != AccessRight::local_write;
}

/// On whose behalf memory is accessed. A key that is bound to another protection domain or another
/// queue pair refuses it.
struct Accessor {
    std::uint32_t protection_domain = 0;
    std::uint32_t queue_pair = 0;
    bool any_domain = false;   ///< for queue pairs that register memory of all domains
    bool responds = false;     ///< to what the peer has sent: scatters what it received
    bool reserved_key = false; ///< may name memory by its bus address, with the reserved key

    [[nodiscard]] bool is_in(std::uint64_t domain) const {
        return any_domain || domain == protection_domain;
    }
};

enum class AccessFault : std::uint8_t {
    unknown_key,        ///< no memory key has this index
    stale_key,          ///< the low byte isn't that of the key
    free_key,           ///< the key is free (invalidated, or not registered yet)
    foreign_domain,     ///< the key belongs to another protection domain
    foreign_queue_pair, ///< only another queue pair may use the key
    no_right,           ///< the key doesn't allow this kind of access
    out_of_range,       ///< the access begins before or ends behind the key's range
    bad_translation,    ///< the translation has no valid entry for part of the range
    nested_too_deep,    ///< keys refer to keys more often than the device follows
    no_signature_state, ///< the key's signatures need a PSV that isn't there
    signed_data,        ///< not possible with a key that has signatures
    dma_failed,         ///< host memory refused the access
    page_absent,        ///< software has not brought in a page yet, or has taken it away
};

/// "the key is free", for logs
std::string_view describe(AccessFault fault);

/// One piece of local memory in a work request: a data pointer.
struct DataSegment {
    std::uint32_t length = 0; ///< bytes, at most 2^31
    std::uint32_t key = 0;
    std::uint64_t address = 0;
};

/// A range of bus addresses.
struct BusRange {
    std::uint64_t address = 0;
    std::uint64_t length = 0; ///< bytes

    bool operator==(const BusRange&) const = default;
};

} // namespace cxemu::memory
