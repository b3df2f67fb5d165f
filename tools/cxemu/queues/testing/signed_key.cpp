// SPDX-License-Identifier: GPL-2.0-or-later
#include "queues/testing/signed_key.hpp"

#include "memory/signature_variable.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <span>
#include <utility>
#include <vector>

namespace cxemu::queues::testing {

namespace {

constexpr std::uint64_t bsf_octowords = hwtab::bsf.size / memory::MemoryKey::octoword;
template <hwtab::FixedString name>
constexpr std::uint64_t mask = hwtab::value<hwtab::mkey_mask, name>;

} // namespace

SignedKey::SignedKey(Bench& bench)
    : bench_(bench), whole_memory_(bench.make_physical_key()), wire_(make_variable()),
      memory_(make_variable()) {
    Call<hwtab::cmd_create_mkey> call;
    const auto fields = call.in().nested<"memory_key_mkey_entry", hwtab::mkc>();
    fields.set<"access_mode_1_0">(static_cast<std::uint8_t>(memory::AccessMode::klm));
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
    fields.set<"bsf_octword_size">(bsf_octowords);
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
    bench_.hca().objects().of<memory::Psv>().find(number)->set_state(
        {.signature = ~std::uint64_t{0}});
    return number;
}

/// \return the end of a UMR WQE with \p lists: inline, or a data segment
std::vector<std::byte> SignedKey::place(std::vector<std::byte> lists, UmrLists where) {
    if (where == UmrLists::in_request)
        return lists;
    const std::uint64_t address = bench_.allocate(lists.size());
    std::ranges::copy(lists, bench_.at(address, lists.size()).begin());
    std::vector<std::byte> pointer(hwtab::wqe_data_seg.size);
    const hwtab::View<hwtab::wqe_data_seg> segment{pointer};
    segment.set<"byte_count">(lists.size());
    segment.set<"lkey">(whole_memory_);
    segment.set<"addr">(address);
    return pointer;
}

std::expected<void, memory::UmrFault>
SignedKey::configure(std::uint64_t address, std::uint32_t length,
                     memory::testing::SignatureDescription& description, UmrLists lists) {
    constexpr std::size_t entries = 4;
    constexpr std::size_t size_of_entries = entries * memory::MemoryKey::octoword;
    const auto format = description.bytes();
    std::vector<std::byte> list(size_of_entries + format.size());
    const hwtab::View<hwtab::klm> range{list};
    range.set<"bcount">(length);
    range.set<"key">(whole_memory_);
    range.set<"va">(address);
    std::ranges::copy(format, std::span(list).subspan(size_of_entries).begin());
    constexpr std::size_t size_of_segments = hwtab::wqe_umr_ctrl_seg.size + hwtab::mkey_seg.size;
    const auto end = place(std::move(list), lists);
    std::vector<std::byte> body(size_of_segments + end.size());
    std::ranges::copy(end, std::span(body).subspan(size_of_segments).begin());
    const hwtab::View<hwtab::wqe_umr_ctrl_seg> control{body};
    control.set<"flags">(lists == UmrLists::in_request ? hwtab::value<hwtab::umr_flags, "inline">
                                                       : 0);
    control.set<"xlt_octowords">(entries);
    control.set<"bsf_octowords">(bsf_octowords);
    control.set<"mkey_mask">(mask<"len"> | mask<"start_addr"> | mask<"free"> | mask<"bsf_en"> |
                             mask<"en_sigerr">);
    const hwtab::View<hwtab::mkey_seg> segment{
        std::span(body).subspan(hwtab::wqe_umr_ctrl_seg.size)};
    segment.set<"len">(length);
    segment.set<"bsf_en">(1);
    segment.set<"expected_sigerr_count">(errors_seen_ % 2);
    return memory::execute_umr(
        bench_.keys(),
        {.accessor = {.protection_domain = bench_.domain()}, .key = key_, .body = body});
}

} // namespace cxemu::queues::testing
