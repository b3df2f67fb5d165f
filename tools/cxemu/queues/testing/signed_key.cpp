// SPDX-License-Identifier: GPL-2.0-or-later
#include "queues/testing/signed_key.hpp"

#include "memory/signature_variable.hpp"

#include <algorithm>
#include <gtest/gtest.h>

namespace cxemu::queues::testing {

namespace {

constexpr std::uint64_t format_octwords = hwtab::bsf.size / memory::MemoryKey::octword;
template <hwtab::FixedString name>
constexpr std::uint64_t mask = hwtab::value<hwtab::mkey_mask, name>;

} // namespace

SignedKey::SignedKey(Bench& bench)
    : bench_(bench), whole_memory_(bench.make_physical_key()), wire_(make_variable()),
      memory_(make_variable()) {
    Call<hwtab::cmd_create_mkey> call;
    const auto fields = call.in().nested<"memory_key_mkey_entry", hwtab::mkc>();
    fields.set<"access_mode_1_0">(static_cast<std::uint8_t>(memory::AccessMode::ranges));
    fields.set<"free">(1);
    fields.set<"umr_en">(1);
    fields.set<"lr">(1);
    fields.set<"lw">(1);
    fields.set<"rr">(1);
    fields.set<"rw">(1);
    fields.set<"a">(1);
    fields.set<"qpn">(memory::MemoryKey::any_queue_pair);
    fields.set<"translations_octword_size">(4);
    fields.set<"bsf_en">(1);
    fields.set<"bsf_octword_size">(format_octwords);
    fields.set<"pd">(bench_.domain());
    EXPECT_TRUE(bench_.run(call));
    key_ = static_cast<std::uint32_t>(call.out().get<"mkey_index">()) << 8U;
}

std::uint32_t SignedKey::make_variable() {
    Call<hwtab::cmd_create_psv> call;
    call.in().set<"num_psv">(1);
    call.in().set<"pd">(bench_.domain());
    EXPECT_TRUE(bench_.run(call));
    const auto number = static_cast<std::uint32_t>(call.out().get<"psv0_index">());
    bench_.hca().objects().of<memory::SignatureVariable>().find(number)->set_state(
        {.signature = ~std::uint64_t{0}});
    return number;
}

std::expected<void, memory::UmrFault>
SignedKey::configure(std::uint64_t address, std::uint32_t length,
                     memory::testing::SignatureDescription& description) {
    constexpr std::size_t format_begin =
        hwtab::wqe_umr_ctrl_seg.size + hwtab::mkey_seg.size + (4 * memory::MemoryKey::octword);
    const auto format = description.bytes();
    std::vector<std::byte> body(format_begin + format.size());
    std::ranges::copy(format, std::span(body).subspan(format_begin).begin());
    const hwtab::View<hwtab::wqe_umr_ctrl_seg> control{body};
    control.set<"flags">(hwtab::value<hwtab::umr_flags, "inline">);
    control.set<"xlt_octowords">(4);
    control.set<"bsf_octowords">(format_octwords);
    control.set<"mkey_mask">(mask<"len"> | mask<"start_addr"> | mask<"free"> | mask<"bsf_en"> |
                             mask<"en_sigerr">);
    const hwtab::View<hwtab::mkey_seg> segment{
        std::span(body).subspan(hwtab::wqe_umr_ctrl_seg.size)};
    segment.set<"len">(length);
    segment.set<"bsf_en">(1);
    segment.set<"expected_sigerr_count">(errors_seen_ % 2);
    const hwtab::View<hwtab::klm> range{
        std::span(body).subspan(hwtab::wqe_umr_ctrl_seg.size + hwtab::mkey_seg.size)};
    range.set<"bcount">(length);
    range.set<"key">(whole_memory_);
    range.set<"va">(address);
    return memory::execute_umr(
        bench_.keys(),
        {.accessor = {.protection_domain = bench_.domain()}, .key = key_, .body = body});
}

} // namespace cxemu::queues::testing
