// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// UMR: WQEs that change mkeys.
#pragma once

#include "memory/memory_keys.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string_view>

namespace cxemu::memory {

/// Rights of the QP.
struct UmrRights {
    bool privileged = false;        ///< may change mkeys of all PDs, and their PD
    bool fast_registration = false; ///< fre: may change mkeys that hold bus addresses
};

struct UmrRequest {
    Accessor accessor{};
    UmrRights rights{};
    std::uint32_t key = 0; ///< mkey to change; its low byte is ignored
    /// The WQE behind the control segment: UMR control segment, mkey segment, then translation
    /// entries and BSF, or data segments that refer to them.
    std::span<const std::byte> body;
};

enum class UmrFault : std::uint8_t {
    malformed,            ///< a segment is missing, or a mask has unknown bits
    unknown_key,          ///< no mkey has this index
    unknown_domain,       ///< no PD has the new number
    not_changeable,       ///< the mkey was created without umr_en
    foreign_domain,       ///< the mkey is in another PD
    not_permitted,        ///< only privileged QPs may change this field
    not_supported,        ///< the device can't change this field by UMR
    no_fast_registration, ///< the key holds bus addresses, and the QP has no fre
    key_is_free,          ///< the UMR requires an mkey in use
    key_is_not_free,      ///< the UMR requires a free mkey
    foreign_queue_pair,   ///< the key is bound to another QP
    translation_too_long, ///< more entries than translations_octword_size
    unreachable,          ///< the entries could not be read
    bad_signature_format, ///< the BSF is invalid
};

/// "the UMR requires a free mkey", for logs
std::string_view describe(UmrFault fault);

/// Executes a UMR: all of it or nothing.
std::expected<void, UmrFault> execute_umr(MemoryKeys& keys, const UmrRequest& request);

} // namespace cxemu::memory
