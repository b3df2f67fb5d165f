// SPDX-License-Identifier: GPL-2.0-or-later
//
// Access through signature mkeys: addresses are offsets in the wire domain.
#include "memory/memory_keys.hpp"
#include "memory/signature_variable.hpp"

namespace cxemu::memory {

namespace {

/// Wire offset of an access, if it is within the wire size of the mkey.
std::expected<std::uint64_t, AccessFault> wire_offset(const MemoryKey& key, const Access& access) {
    const auto fields = key.context();
    const std::uint64_t start = fields.get<"start_addr">();
    const std::uint64_t size = key.signatures()->format.wire_size(fields.get<"len">());
    const std::uint64_t offset = access.address - start;
    if (fields.get<"length64">() != 0 || access.address < start || offset > size ||
        access.length > size - offset)
        return std::unexpected(AccessFault::out_of_range);
    return offset;
}

} // namespace

/// The memory of an mkey for one accessor. Memory whose write access was checked may also be read:
/// a signature that arrives in several packets is computed from the data before it.
class MemoryKeys::SignedMemory final : public KeyedMemory {
public:
    SignedMemory(MemoryKeys& keys, const MemoryKey& key, Accessor accessor, const Access& access)
        : keys_(keys), accessor_(accessor), access_(access),
          start_(key.context().get<"start_addr">()) {}

    AccessResult<void> read(std::uint64_t offset, std::span<std::byte> out) override {
        return keys_.copy_out(accessor_, piece(offset, out.size()), out);
    }
    AccessResult<void> write(std::uint64_t offset, std::span<const std::byte> data) override {
        return keys_.copy_in(accessor_, piece(offset, data.size()), data);
    }

private:
    [[nodiscard]] Access piece(std::uint64_t offset, std::uint64_t length) const {
        return {.key = access_.key,
                .address = start_ + offset,
                .length = length,
                .right = access_.right};
    }

    MemoryKeys& keys_;
    Accessor accessor_;
    Access access_;
    std::uint64_t start_;
};

MemoryKey* MemoryKeys::find_signed(std::uint32_t key) const {
    const auto found = find(key);
    return found && (*found)->signatures() != nullptr ? *found : nullptr;
}

/// All memory of the access, including the signature of the last block.
AccessResult<std::vector<BusRange>>
MemoryKeys::locate_signed(const MemoryKey& key, Accessor accessor, const Access& access) {
    const auto offset = wire_offset(key, access);
    if (!offset)
        return std::unexpected(offset.error());
    const Bsf& format = key.signatures()->format;
    const std::uint64_t first = format.memory_size(*offset);
    return locate(accessor, {.key = access.key,
                             .address = key.context().get<"start_addr">() + first,
                             .length = format.memory_size(*offset + access.length) - first,
                             .right = access.right});
}

/// State of the PSVs of both domains.
AccessResult<MemoryKeys::SignatureStates> MemoryKeys::signature_states(const MemoryKey& key) const {
    const auto state_of =
        [&](const std::optional<SignatureDomain>& domain) -> AccessResult<std::uint64_t> {
        if (!domain)
            return 0;
        const auto* variable = hca_.objects().of<Psv>().find(domain->variable);
        if (variable == nullptr || variable->protection_domain() != key.context().get<"pd">())
            return std::unexpected(AccessFault::no_signature_state);
        return variable->state().signature;
    };
    const auto wire = state_of(key.signatures()->format.wire);
    const auto memory = state_of(key.signatures()->format.memory);
    if (!wire || !memory)
        return std::unexpected(AccessFault::no_signature_state);
    return SignatureStates{.wire = *wire, .memory = *memory};
}

AccessResult<void> MemoryKeys::read_signed(MemoryKey& key, Accessor accessor, const Access& access,
                                           std::span<std::byte> out) {
    return transfer(key, accessor, access, key.signatures()->sending,
                    [&](SignatureTransfer& transfer, std::uint64_t position) {
                        return transfer.send(position, out);
                    });
}

AccessResult<void> MemoryKeys::write_signed(MemoryKey& key, Accessor accessor, const Access& access,
                                            std::span<const std::byte> data) {
    return transfer(key, accessor, access, key.signatures()->receiving,
                    [&](SignatureTransfer& transfer, std::uint64_t position) {
                        return transfer.receive(position, data);
                    });
}

/// \param action gets the offset of the access on the wire
AccessResult<void> MemoryKeys::transfer(
    MemoryKey& key, Accessor accessor, const Access& access, SignatureProgress& progress,
    const std::function<AccessResult<void>(SignatureTransfer&, std::uint64_t)>& action) {
    if (const auto checked = locate_signed(key, accessor, access); !checked)
        return std::unexpected(checked.error());
    const auto states = signature_states(key);
    if (!states)
        return std::unexpected(states.error());
    const auto report_failure = [&](const SignatureFailure& failure) {
        report(
            key,
            {.accessor = accessor, .right = access.right, .key = access.key, .failure = failure});
    };
    const SignatureProgress before = progress;
    SignedMemory memory(*this, key, accessor, access);
    SignatureTransfer transfer({.format = key.signatures()->format,
                                .wire_state = states->wire,
                                .memory_state = states->memory,
                                .memory = memory,
                                .report = report_failure},
                               progress);
    const auto done = action(transfer, access.address - key.context().get<"start_addr">());
    if (!done) // the access is repeated after the page fault
        progress = done.error() == AccessFault::page_absent ? before : SignatureProgress();
    return done;
}

void MemoryKeys::report(MemoryKey& key, const SignatureError& error) {
    ++statistics_.signature_errors;
    hca_.log()->debug("memory key {:#x}: signature {:#x} instead of {:#x} at byte {}", error.key,
                      error.failure.found, error.failure.expected, error.failure.offset);
    if (!key.reports_signature_errors())
        return;
    key.count_signature_error();
    if (signature_error_handler_)
        signature_error_handler_(error);
}

} // namespace cxemu::memory
