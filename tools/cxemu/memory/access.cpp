// SPDX-License-Identifier: GPL-2.0-or-later
#include "memory/access.hpp"

namespace cxemu::memory {

std::string_view describe(AccessFault fault) {
    switch (fault) {
    case AccessFault::unknown_key:
        return "no memory key has this index";
    case AccessFault::stale_key:
        return "the low byte isn't that of the key";
    case AccessFault::free_key:
        return "the key is free";
    case AccessFault::foreign_domain:
        return "the key is in another PD";
    case AccessFault::foreign_queue_pair:
        return "only another queue pair may use the key";
    case AccessFault::no_right:
        return "the key doesn't allow this kind of access";
    case AccessFault::out_of_range:
        return "the range isn't within that of the key";
    case AccessFault::bad_translation:
        return "the translation has no valid entry for part of the range";
    case AccessFault::nested_too_deep:
        return "too many levels of indirect keys";
    case AccessFault::no_signature_state:
        return "the PSV of the key does not exist";
    case AccessFault::signed_data:
        return "not supported with a signature key";
    case AccessFault::dma_failed:
        return "host memory refused the access";
    case AccessFault::page_absent:
        return "a page is not present";
    }
    return "unknown fault";
}

} // namespace cxemu::memory
