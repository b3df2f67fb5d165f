// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// BSFs as drivers write them.
#pragma once

#include "hwtab/view.hpp"
#include "memory/signature_transfer.hpp"
#include "tables/work_queue.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace cxemu::memory::testing {

class SignatureDescription {
public:
    static constexpr std::uint64_t blocks_of_512 = hwtab::value<hwtab::bsf_block_size, "block_512">;

    SignatureDescription() {
        basic().set<"bsf_size">(hwtab::value<hwtab::bsf_size, "with_inline">);
        basic().set<"check_byte_mask">(0xff);
    }

    [[nodiscard]] std::span<std::byte> bytes() { return bytes_; }
    hwtab::View<hwtab::bsf> all() { return hwtab::View<hwtab::bsf>{bytes_}; }
    hwtab::View<hwtab::bsf_basic> basic() { return hwtab::View<hwtab::bsf_basic>{bytes_}; }
    hwtab::View<hwtab::bsf_inl> inline_part(SignaturePlace place) {
        return place == SignaturePlace::wire ? all().nested<"w_inl", hwtab::bsf_inl>()
                                             : all().nested<"m_inl", hwtab::bsf_inl>();
    }

    /// \param kind of the enumeration bsf_block_format
    void set_crc(SignaturePlace place, std::uint64_t kind, std::uint32_t variable) {
        set_blocks(place, variable);
        if (place == SignaturePlace::wire)
            basic().set<"w_bfs">(kind);
        else
            basic().set<"m_bfs">(kind);
    }

    /// T10-DIF of type 1, guarded by a CRC.
    void set_dif(SignaturePlace place, std::uint16_t application_tag, std::uint32_t reference_tag,
                 std::uint32_t variable) {
        set_blocks(place, variable);
        const auto part = inline_part(place);
        part.set<"valid">(1);
        part.set<"repeat_block">(1);
        part.set<"sig_type">(hwtab::value<hwtab::bsf_sig_type, "dif_crc">);
        part.set<"dif_apptag">(application_tag);
        part.set<"dif_reftag">(reference_tag);
        part.set<"inc_reftag">(1);
        part.set<"dif_app_bitmask_check">(0xffff);
    }

private:
    void set_blocks(SignaturePlace place, std::uint32_t variable) {
        if (place == SignaturePlace::wire) {
            basic().set<"wire_bs_selector">(blocks_of_512);
            basic().set<"w_psv">(variable);
        } else {
            basic().set<"mem_bs_selector">(blocks_of_512);
            basic().set<"m_psv">(variable);
        }
    }

    std::array<std::byte, hwtab::bsf.size> bytes_{};
};

} // namespace cxemu::memory::testing
