// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// An mkey: context and translation.
#pragma once

#include "hca/objects.hpp"
#include "hwtab/view.hpp"
#include "memory/access.hpp"
#include "memory/signature_format.hpp"
#include "memory/signature_transfer.hpp"
#include "tables/contexts.hpp"
#include "tables/object_values.hpp"
#include "tables/work_queue.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace cxemu::memory {

/// Translation of an mkey.
enum class AccessMode : std::uint8_t {
    pa = hwtab::value<hwtab::mkey_access_mode, "pa">,
    mtt = hwtab::value<hwtab::mkey_access_mode, "mtt">,
    klm = hwtab::value<hwtab::mkey_access_mode, "klms">, ///< ranges of other keys
    ksm = hwtab::value<hwtab::mkey_access_mode, "ksm">,  ///< the same, of equal length
    device_memory = hwtab::value<hwtab::mkey_access_mode, "memic">,
};

/// Context and translation entries are stored as the bytes that software wrote, so that QUERY_MKEY
/// can return them, and decoded at use. Entries that were never written read as zero and take no
/// memory.
class MemoryKey final : public hca::Object {
public:
    static constexpr hca::ObjectKind kind = hca::ObjectKind::memory_key;
    static constexpr std::size_t octoword = 16; ///< bytes; unit of translation lists
    static constexpr std::uint32_t any_queue_pair = 0xffffff;
    static constexpr unsigned variant_bits = 8; ///< low byte of an mkey, chosen by software

    /// \param context of the layout mkc
    /// \param entries_have_rights MTTs have read and write permission bits
    MemoryKey(hca::ObjectIdentity identity, std::span<const std::byte> context,
              bool entries_have_rights, hca::Reference<hca::ProtectionDomain> domain);

    [[nodiscard]] hwtab::ConstView<hwtab::mkc> context() const {
        return hwtab::ConstView<hwtab::mkc>{context_};
    }
    /// For UMR. The PD changes through set_domain() only.
    [[nodiscard]] hwtab::View<hwtab::mkc> mutable_context() {
        return hwtab::View<hwtab::mkc>{context_};
    }
    void set_domain(hca::Reference<hca::ProtectionDomain> domain);

    /// L_Key or R_Key: index and low byte.
    [[nodiscard]] std::uint32_t key() const {
        return number() << variant_bits | static_cast<std::uint32_t>(context().get<"mkey_7_0">());
    }
    [[nodiscard]] AccessMode mode() const;
    /// If set, a page without the right that an access needs is absent, so that software can fault
    /// it in.
    [[nodiscard]] bool entries_have_rights() const { return entries_have_rights_; }
    /// MTTs have permission bits from now on.
    void give_entries_rights() { entries_have_rights_ = true; }
    [[nodiscard]] bool allows(AccessRight right) const;

    /// True when [address, address + length) is within the mkey. A MEMIC mkey begins at 0: its
    /// start_addr is the address of the memory.
    [[nodiscard]] bool contains(std::uint64_t address, std::uint64_t length) const;

    /// Size of the translation list, in bytes.
    [[nodiscard]] std::uint64_t translation_capacity() const {
        return context().get<"translations_octword_size">() * octoword;
    }
    /// The \p size bytes of the translation at byte \p offset; what was never written is zero.
    template <std::size_t size>
    [[nodiscard]] std::array<std::byte, size> translation(std::uint64_t offset) const {
        std::array<std::byte, size> bytes{};
        read_translation(offset, bytes);
        return bytes;
    }
    void read_translation(std::uint64_t offset, std::span<std::byte> out) const;
    /// \pre offset + entries.size() <= translation_capacity()
    void write_translation(std::uint64_t offset, std::span<const std::byte> entries);

    // --- Signatures ------------------------------------------------------------------------------

    /// The BSF, and the progress of transfers in both directions.
    struct Signatures {
        Bsf format;
        SignatureProgress sending{};
        SignatureProgress receiving{};
    };
    /// nullptr without bsf_en.
    [[nodiscard]] Signatures* signatures() const {
        return context().get<"bsf_en">() != 0 ? signatures_.get() : nullptr;
    }
    void set_signature_format(const Bsf& format);
    /// Drops the progress of transfers.
    void forget_transfers();

    /// A signature error may be reported. Software must acknowledge each report by a UMR whose
    /// expected_sigerr_count (one bit) is the number of errors that software has seen.
    [[nodiscard]] bool reports_signature_errors() const {
        return context().get<"expected_sigerr_count">() != signature_errors_ % 2;
    }
    void count_signature_error() { ++signature_errors_; }

private:
    std::array<std::byte, hwtab::mkc.size> context_{};
    bool entries_have_rights_;
    hca::Reference<hca::ProtectionDomain> domain_;
    std::vector<std::byte> translation_;
    std::unique_ptr<Signatures> signatures_;
    std::uint64_t signature_errors_ = 0; ///< reported so far
};

} // namespace cxemu::memory
