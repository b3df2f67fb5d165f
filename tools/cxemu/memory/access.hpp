// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Access to memory through an mkey: accessor, right and fault.
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

/// True for remote rights.
constexpr bool is_remote(AccessRight right) {
    return right != AccessRight::local_read && right != AccessRight::local_write;
}

/// PD and QP of an access. An mkey that is bound to another PD or QP refuses it.
struct Accessor {
    std::uint32_t protection_domain = 0;
    std::uint32_t queue_pair = 0;
    bool any_domain = false; ///< for QPs that register memory of all PDs
    bool responds = false;   ///< accesses memory for the responder
    bool resd_lkey = false;  ///< may use resd_lkey, whose addresses are bus addresses

    [[nodiscard]] bool is_in(std::uint64_t domain) const {
        return any_domain || domain == protection_domain;
    }
};

enum class AccessFault : std::uint8_t {
    unknown_key,        ///< no mkey has this index
    stale_key,          ///< the low byte isn't that of the key
    free_key,           ///< the key is free (invalidated, or not registered yet)
    foreign_domain,     ///< the mkey is in another PD
    foreign_queue_pair, ///< only another QP may use the key
    no_right,           ///< the key doesn't allow this kind of access
    out_of_range,       ///< the access begins before or ends behind the key's range
    bad_translation,    ///< the translation has no valid entry for part of the range
    nested_too_deep,    ///< more levels of indirect mkeys than the device supports
    no_signature_state, ///< the BSF names a PSV that does not exist
    signed_data,        ///< not supported with a signature mkey
    dma_failed,         ///< host memory refused the access
    page_absent,        ///< a page has not been faulted in, or was invalidated
};

/// "the key is free", for logs
std::string_view describe(AccessFault fault);

/// A data segment of a WQE.
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
