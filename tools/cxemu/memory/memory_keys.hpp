// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Access to host memory through mkeys, with all checks of the interface.
#pragma once

#include "hca/hca.hpp"
#include "hca/part.hpp"
#include "memory/access.hpp"
#include "memory/memory_key.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace cxemu::memory {

/// Special mkeys, reported by QUERY_SPECIAL_CONTEXTS. No other mkey has their index.
struct SpecialKeys {
    static constexpr std::uint32_t terminate_scatter_list =
        hwtab::value<hwtab::special_lkey, "terminate_scatter_list">;
    /// null_mkey: stands for parts of an implicit ODP MR without child mkey; its pages are absent.
    static constexpr std::uint32_t absent_memory = 0x200;
    /// Addresses are bus addresses. Only for data segments of QPs with the resd_lkey right;
    /// indirect mkeys can't refer to it.
    static constexpr std::uint32_t resd_lkey = 0x300;
    /// Discards writes and reads as zeros, at any address. For data segments of all QPs; indirect
    /// mkeys can't refer to it.
    static constexpr std::uint32_t dump_fill = 0x400;
};

/// A range of an mkey and the kind of access.
struct Access {
    std::uint32_t key = 0;
    std::uint64_t address = 0; ///< in the key's address space
    std::uint64_t length = 0;  ///< bytes; 0 is checked like any other
    AccessRight right = AccessRight::local_read;
};

template <typename T>
using AccessResult = std::expected<T, AccessFault>;

/// A signature error during an access by \p accessor.
struct SignatureError {
    Accessor accessor{};
    AccessRight right = AccessRight::local_read;
    std::uint32_t key = 0;
    SignatureFailure failure{};
};

/// The absent part of an access, in the address space of one mkey.
struct AbsentMemory {
    std::uint32_t key = 0;
    std::uint64_t address = 0; ///< in that key's address space
    std::uint64_t length = 0;  ///< rest of the access, in bytes
};

struct AccessStatistics {
    std::uint64_t translations = 0;
    std::uint64_t faults = 0;
    std::uint64_t umr_executed = 0;
    std::uint64_t umr_refused = 0;
    std::uint64_t signature_errors = 0; ///< including errors that were not reported
};

class MemoryKeys final : public hca::Part {
public:
    explicit MemoryKeys(hca::Hca& hca) : hca_(hca) {}

    /// The bus addresses of a range, in order, adjacent ranges joined. An access of length 0 yields
    /// no range. With signatures, the ranges include whole blocks and their signatures.
    AccessResult<std::vector<BusRange>> translate(Accessor accessor, const Access& access);

    /// Copies the range into \p out. \pre out.size() == access.length
    AccessResult<void> read(Accessor accessor, const Access& access, std::span<std::byte> out);

    /// Copies \p data into the range. Nothing is written when any byte fails the checks.
    /// \pre data.size() == access.length
    AccessResult<void> write(Accessor accessor, const Access& access,
                             std::span<const std::byte> data);

    /// Reads bytes [offset, offset + out.size()) of \p list (local read).
    /// \pre the list is long enough
    AccessResult<void> gather(Accessor accessor, std::span<const DataSegment> list,
                              std::uint64_t offset, std::span<std::byte> out);

    /// Writes \p data to bytes [offset, offset + data.size()) of \p list (local write). On failure
    /// the segments before the faulty one have been written.
    /// \pre the list is long enough
    AccessResult<void> scatter(Accessor accessor, std::span<const DataSegment> list,
                               std::uint64_t offset, std::span<const std::byte> data);

    /// Replaces the 8 bytes at \p address with the result of \p change (remote atomic). The
    /// operation is also atomic for the CPUs of the host.
    /// \param change maps the old to the new value; little endian in memory
    /// \return the value before; bad_translation when \p address isn't a multiple of 8
    AccessResult<std::uint64_t> modify(Accessor accessor, std::uint32_t key, std::uint64_t address,
                                       const std::function<std::uint64_t(std::uint64_t)>& change);

    /// Calls \p change to read and replace the \p size bytes at \p address (remote atomic). The
    /// operation is atomic only with respect to other operations of the device; the CPUs of the
    /// host may see a partial update.
    /// \param size a power of 2
    /// \return bad_translation when \p address isn't a multiple of the size
    AccessResult<void> modify(Accessor accessor, std::uint32_t key, std::uint64_t address,
                              std::size_t size,
                              const std::function<void(std::span<std::byte>)>& change);

    /// Invalidates \p key (remote invalidate), which becomes free.
    /// \return no_right when the mkey does not allow it; foreign_queue_pair for a memory window
    ///         that is bound to another QP
    AccessResult<void> invalidate(Accessor accessor, std::uint32_t key);

    /// Looks up \p key. \return unknown_key or stale_key
    [[nodiscard]] AccessResult<MemoryKey*> find(std::uint32_t key) const;

    /// The absent memory of the last access that failed with page_absent. The first element is for
    /// the mkey whose translation lacks the page, the next ones for the mkeys that refer to the
    /// previous element, and the last one for the mkey of the access.
    [[nodiscard]] const std::vector<AbsentMemory>& absent_memory() const { return absent_; }

    /// Sets the handler of signature errors, which is called at most once for each UMR of an mkey.
    /// The access continues after the call, so the handler must not complete the WQE.
    void set_signature_error_handler(std::function<void(const SignatureError&)> handler) {
        signature_error_handler_ = std::move(handler);
    }

    [[nodiscard]] hca::Hca& hca() const { return hca_; }
    AccessStatistics& counters() { return statistics_; }

    // --- hca::Part
    [[nodiscard]] std::string_view name() const override { return "memory_keys"; }
    [[nodiscard]] nlohmann::json statistics() const override;

private:
    class SignedMemory;
    struct SignatureStates {
        std::uint64_t wire = 0;
        std::uint64_t memory = 0;
    };

    AccessResult<std::span<std::byte>> locate_operand(Accessor accessor, std::uint32_t key,
                                                      std::uint64_t address, std::size_t size);
    AccessResult<void> resolve(Accessor accessor, const Access& access, std::uint32_t depth,
                               std::vector<BusRange>& ranges);
    AccessResult<void> walk(const MemoryKey& key, Accessor accessor, const Access& access,
                            std::uint32_t depth, std::vector<BusRange>& ranges);
    AccessResult<void> resolve_on_bus(Accessor accessor, const Access& access,
                                      std::vector<BusRange>& ranges);
    AccessResult<void> resolve_on_device(const MemoryKey& key, const Access& access,
                                         std::vector<BusRange>& ranges);
    AccessResult<std::vector<BusRange>> locate(Accessor accessor, const Access& access);
    [[nodiscard]] bool dumps_and_fills(const Access& access) const;
    AccessResult<void> copy_out(Accessor accessor, const Access& access, std::span<std::byte> out);
    AccessResult<void> copy_in(Accessor accessor, const Access& access,
                               std::span<const std::byte> data);

    [[nodiscard]] MemoryKey* find_signed(std::uint32_t key) const;
    AccessResult<std::vector<BusRange>> locate_signed(const MemoryKey& key, Accessor accessor,
                                                      const Access& access);
    AccessResult<void> read_signed(MemoryKey& key, Accessor accessor, const Access& access,
                                   std::span<std::byte> out);
    AccessResult<void> write_signed(MemoryKey& key, Accessor accessor, const Access& access,
                                    std::span<const std::byte> data);
    AccessResult<void>
    transfer(MemoryKey& key, Accessor accessor, const Access& access, SignatureProgress& progress,
             const std::function<AccessResult<void>(SignatureTransfer&, std::uint64_t)>& action);
    [[nodiscard]] AccessResult<SignatureStates> signature_states(const MemoryKey& key) const;
    void report(MemoryKey& key, const SignatureError& error);

    hca::Hca& hca_;
    std::function<void(const SignatureError&)> signature_error_handler_;
    std::vector<AbsentMemory> absent_;
    AccessStatistics statistics_;
};

} // namespace cxemu::memory
