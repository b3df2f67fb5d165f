// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// A memory key: context and translation.
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

/// How a key finds the memory.
enum class AccessMode : std::uint8_t {
    physical = hwtab::value<hwtab::mkey_access_mode, "pa">,
    pages = hwtab::value<hwtab::mkey_access_mode, "mtt">,
    ranges = hwtab::value<hwtab::mkey_access_mode, "klms">,      ///< pieces of other keys
    ksm = hwtab::value<hwtab::mkey_access_mode, "ksm">, ///< pieces of equal length
    device_memory = hwtab::value<hwtab::mkey_access_mode, "memic">,
};

/// The context is kept as the bytes that software wrote, so that it can be queried. Translation
/// entries are kept as bytes, too, and decoded when they are used; entries that nobody has written
/// are all zero and take no memory.
class MemoryKey final : public hca::Object {
public:
    static constexpr hca::ObjectKind kind = hca::ObjectKind::memory_key;
    static constexpr std::size_t octword = 16; ///< bytes; unit of translation lists
    static constexpr std::uint32_t any_queue_pair = 0xffffff;
    static constexpr unsigned variant_bits = 8; ///< low byte of a key, which software chooses

    /// \param context of the layout mkc
    /// \param entries_have_rights translation entries of pages say what the page allows
    MemoryKey(hca::ObjectIdentity identity, std::span<const std::byte> context,
              bool entries_have_rights, hca::Reference<hca::ProtectionDomain> domain);

    [[nodiscard]] hwtab::ConstView<hwtab::mkc> context() const {
        return hwtab::ConstView<hwtab::mkc>{context_};
    }
    /// For UMR. The protection domain changes through set_domain() only.
    [[nodiscard]] hwtab::View<hwtab::mkc> mutable_context() {
        return hwtab::View<hwtab::mkc>{context_};
    }
    void set_domain(hca::Reference<hca::ProtectionDomain> domain);

    /// What a work request calls the key: index and low byte.
    [[nodiscard]] std::uint32_t key() const {
        return number() << variant_bits | static_cast<std::uint32_t>(context().get<"mkey_7_0">());
    }
    [[nodiscard]] AccessMode mode() const;
    /// A page without the right that an access needs is absent then: software can bring it in.
    [[nodiscard]] bool entries_have_rights() const { return entries_have_rights_; }
    /// From now on entries say what their page allows.
    void give_entries_rights() { entries_have_rights_ = true; }
    [[nodiscard]] bool allows(AccessRight right) const;

    /// True when [address, address + length) lies within the key. A key of memory on the device
    /// begins at 0: its start address is where the memory lies.
    [[nodiscard]] bool contains(std::uint64_t address, std::uint64_t length) const;

    /// Room for translation entries, in bytes.
    [[nodiscard]] std::uint64_t translation_capacity() const {
        return context().get<"translations_octword_size">() * octword;
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

    /// How the data is signed, and where transfers from and to the memory stand.
    struct Signatures {
        Bsf format;
        SignatureProgress sending{};
        SignatureProgress receiving{};
    };
    /// nullptr when the data isn't signed.
    [[nodiscard]] Signatures* signatures() const {
        return context().get<"bsf_en">() != 0 ? signatures_.get() : nullptr;
    }
    void set_signature_format(const Bsf& format);
    /// The next transfer is as if there had been none.
    void forget_transfers();

    /// A wrong signature is to be reported. Each report needs a UMR before the next one: it tells
    /// the device, in a field of one bit, how many errors software has seen.
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
