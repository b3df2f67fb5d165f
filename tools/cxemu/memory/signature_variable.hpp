// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// PSV: protection signature value, the running state of a signature.
#pragma once

#include "hca/objects.hpp"

#include <cstdint>
#include <utility>

namespace cxemu::memory {

/// State set by SET_PSV.
struct PsvState {
    std::uint16_t syndrome = 0; ///< error found so far
    std::uint16_t status = 0;
    std::uint64_t signature = 0; ///< transient signature and reference tag

    bool operator==(const PsvState&) const = default;
};

class Psv final : public hca::Object {
public:
    static constexpr hca::ObjectKind kind = hca::ObjectKind::signature_variable;

    Psv(hca::ObjectIdentity identity, hca::Reference<hca::ProtectionDomain> domain)
        : Object(identity), domain_(std::move(domain)) {}

    [[nodiscard]] std::uint32_t protection_domain() const { return domain_->number(); }
    [[nodiscard]] const PsvState& state() const { return state_; }
    void set_state(const PsvState& state) { state_ = state; }

private:
    hca::Reference<hca::ProtectionDomain> domain_;
    PsvState state_;
};

} // namespace cxemu::memory
