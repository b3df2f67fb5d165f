// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// UMR: work requests that change memory keys.
#pragma once

#include "memory/memory_keys.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string_view>

namespace cxemu::memory {

/// What the queue pair may do.
struct UmrRights {
    bool privileged = false;        ///< changes keys of every protection domain, and that domain
    bool fast_registration = false; ///< fre: changes keys that hold bus addresses
};

struct UmrRequest {
    Accessor accessor{};
    UmrRights rights{};
    std::uint32_t key = 0; ///< to change; its low byte doesn't count
    /// What follows the control segment: UMR control segment, memory key segment, then translation
    /// entries and description of signatures, or pointers to where these lie.
    std::span<const std::byte> body;
};

enum class UmrFault : std::uint8_t {
    malformed,            ///< a segment is missing, or a mask has unknown bits
    unknown_key,          ///< no memory key has this index
    unknown_domain,       ///< no protection domain has the new number
    not_changeable,       ///< the key was created without permission for UMR
    foreign_domain,       ///< the key belongs to another protection domain
    not_permitted,        ///< only privileged queue pairs may change this field
    not_supported,        ///< the device can't change this field by UMR
    no_fast_registration, ///< the key holds bus addresses, and the queue pair has no fre
    key_is_free,          ///< the request demands a key in use
    key_is_not_free,      ///< the request demands a free key
    foreign_queue_pair,   ///< the key is bound to another queue pair
    translation_too_long, ///< more entries than the key has room for
    unreachable,          ///< the entries could not be read
    bad_signature_format, ///< the description of signatures makes no sense
};

/// "the request demands a free key", for logs
std::string_view describe(UmrFault fault);

/// Executes a UMR: all of it or nothing.
std::expected<void, UmrFault> execute_umr(MemoryKeys& keys, const UmrRequest& request);

} // namespace cxemu::memory
