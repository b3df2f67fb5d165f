// SPDX-License-Identifier: GPL-2.0-or-later
#include "memory/memory_key.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

namespace cxemu::memory {

MemoryKey::MemoryKey(hca::ObjectIdentity identity, std::span<const std::byte> context,
                     bool entries_have_rights, hca::Reference<hca::ProtectionDomain> domain)
    : Object(identity), entries_have_rights_(entries_have_rights), domain_(std::move(domain)) {
    std::ranges::copy(context.first(context_.size()), context_.begin());
}

void MemoryKey::set_domain(hca::Reference<hca::ProtectionDomain> domain) {
    mutable_context().set<"pd">(domain->number());
    domain_ = std::move(domain);
}

AccessMode MemoryKey::mode() const {
    constexpr unsigned low_bits = 2;
    return static_cast<AccessMode>(context().get<"access_mode_4_2">() << low_bits |
                                   context().get<"access_mode_1_0">());
}

bool MemoryKey::allows(AccessRight right) const {
    const auto fields = context();
    switch (right) {
    case AccessRight::local_read:
        return fields.get<"lr">() != 0;
    case AccessRight::local_write:
        return fields.get<"lw">() != 0;
    case AccessRight::remote_read:
        return fields.get<"rr">() != 0;
    case AccessRight::remote_write:
        return fields.get<"rw">() != 0;
    case AccessRight::remote_atomic:
        return fields.get<"a">() != 0;
    }
    return false;
}

bool MemoryKey::contains(std::uint64_t address, std::uint64_t length) const {
    if (context().get<"length64">() != 0)
        return length <= std::numeric_limits<std::uint64_t>::max() - address;
    const std::uint64_t start =
        mode() == AccessMode::device_memory ? 0 : context().get<"start_addr">();
    const std::uint64_t size = context().get<"len">();
    return address >= start && address - start <= size && length <= size - (address - start);
}

void MemoryKey::set_signature_format(const Bsf& format) {
    signatures_ = std::make_unique<Signatures>(format);
}

void MemoryKey::forget_transfers() {
    if (signatures_)
        set_signature_format(Bsf(signatures_->format));
}

void MemoryKey::read_translation(std::uint64_t offset, std::span<std::byte> out) const {
    std::ranges::fill(out, std::byte{0});
    if (offset >= translation_.size())
        return;
    const auto written = std::span(translation_).subspan(offset);
    std::ranges::copy(written.first(std::min(written.size(), out.size())), out.begin());
}

void MemoryKey::write_translation(std::uint64_t offset, std::span<const std::byte> entries) {
    assert(offset + entries.size() <= translation_capacity());
    if (translation_.size() < offset + entries.size())
        translation_.resize(offset + entries.size());
    std::ranges::copy(entries, translation_.begin() + static_cast<std::ptrdiff_t>(offset));
}

} // namespace cxemu::memory
