// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/byte_order.hpp"
#include "memory/memory_keys.hpp"
#include "memory/umr.hpp"
#include "queues/testing/bench.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <optional>
#include <string_view>
#include <vector>

namespace cxemu::memory {
namespace {

using queues::testing::Bench;
using queues::testing::Call;

constexpr std::uint32_t queue_pair = 0x50;

/// Attributes of a new mkey.
struct KeyOptions {
    AccessMode mode = AccessMode::mtt;
    std::uint64_t start = 0;
    std::uint64_t length = 0;
    std::uint32_t log_page = 12;
    std::uint32_t xlt_octowords = 4;
    bool free = false;
    bool changeable = false;
    bool rights_in_entries = false;
    bool peer_may_invalidate = false;
    std::string_view rights = "lLrRa"; ///< local read, local write, remote read, write, atomic
    std::uint32_t queue_pair = MemoryKey::any_queue_pair;
    std::uint32_t variant = 0;
};

class MemoryKeysTest : public ::testing::Test {
protected:
    using Entry = std::array<std::byte, 16>;

    MemoryKey& make(const KeyOptions& options, std::span<const Entry> entries = {}) {
        Call<hwtab::cmd_create_mkey> call(entries.size_bytes());
        const auto fields = call.in().nested<"memory_key_mkey_entry", hwtab::mkc>();
        const auto has = [&](char right) {
            return options.rights.find(right) != std::string_view::npos ? 1U : 0U;
        };
        fields.set<"access_mode_1_0">(static_cast<std::uint8_t>(options.mode));
        fields.set<"start_addr">(options.start);
        fields.set<"len">(options.length);
        fields.set<"log_page_size">(options.log_page);
        fields.set<"translations_octword_size">(options.xlt_octowords);
        fields.set<"free">(options.free ? 1 : 0);
        fields.set<"umr_en">(options.changeable ? 1 : 0);
        fields.set<"en_rinval">(options.peer_may_invalidate ? 1 : 0);
        fields.set<"lr">(has('l'));
        fields.set<"lw">(has('L'));
        fields.set<"rr">(has('r'));
        fields.set<"rw">(has('R'));
        fields.set<"a">(has('a'));
        fields.set<"qpn">(options.queue_pair);
        fields.set<"mkey_7_0">(options.variant);
        fields.set<"pd">(bench_.domain());
        call.in().set<"pg_access">(options.rights_in_entries ? 1 : 0);
        call.in().set<"translations_octword_actual_size">(entries.size());
        const auto list = call.in().bytes<"klm_pas_mtt">();
        for (std::size_t i = 0; i < entries.size(); ++i)
            std::ranges::copy(entries[i],
                              list.begin() + static_cast<std::ptrdiff_t>(i * sizeof(Entry)));
        EXPECT_TRUE(bench_.run(call));
        return *bench_.hca().objects().of<MemoryKey>().find(
            static_cast<std::uint32_t>(call.out().get<"mkey_index">()));
    }

    static Entry pages(std::uint64_t first, std::uint64_t second) {
        Entry entry{};
        store_be<std::uint64_t>(entry, first);
        store_be<std::uint64_t>(std::span(entry).last<8>(), second);
        return entry;
    }
    static Entry range(std::uint32_t length, std::uint32_t key, std::uint64_t address) {
        Entry entry{};
        const hwtab::View<hwtab::klm> fields{entry};
        fields.set<"bcount">(length);
        fields.set<"key">(key);
        fields.set<"va">(address);
        return entry;
    }

    [[nodiscard]] Accessor accessor() {
        return {.protection_domain = bench_.domain(), .queue_pair = queue_pair};
    }
    AccessResult<std::vector<BusRange>> translate(const MemoryKey& key, std::uint64_t address,
                                                  std::uint64_t length,
                                                  AccessRight right = AccessRight::local_read) {
        return bench_.keys().translate(
            accessor(), {.key = key.key(), .address = address, .length = length, .right = right});
    }
    using Ranges = std::vector<BusRange>;

    Bench bench_;
};

// --- Rights and ranges ---------------------------------------------------------------------------

TEST_F(MemoryKeysTest, RightsOfKeyAllowSameAccessOnly) {
    constexpr std::array rights{
        std::pair{'l', AccessRight::local_read}, std::pair{'L', AccessRight::local_write},
        std::pair{'r', AccessRight::remote_read}, std::pair{'R', AccessRight::remote_write},
        std::pair{'a', AccessRight::remote_atomic}};
    for (const auto& [letter, granted] : rights) {
        const MemoryKey& key =
            make({.mode = AccessMode::pa, .length = 100, .rights = std::string_view(&letter, 1)});
        for (const auto& [other_letter, right] : rights) {
            const auto result = translate(key, 0, 10, right);
            EXPECT_EQ(result.has_value(), letter == other_letter)
                << "granted " << letter << ", asked for " << other_letter;
            if (!result) {
                EXPECT_EQ(result.error(), AccessFault::no_right);
            }
        }
    }
}

TEST_F(MemoryKeysTest, KeyVariantMismatchRefused) {
    const MemoryKey& key = make({.mode = AccessMode::pa, .length = 8, .variant = 0x21});
    EXPECT_TRUE(translate(key, 0, 8));
    const auto with = [&](std::uint32_t number) {
        return bench_.keys().translate(accessor(), {.key = number, .length = 8}).error();
    };
    EXPECT_EQ(with(key.key() ^ 1U), AccessFault::stale_key);
    EXPECT_EQ(with(0x123456'00), AccessFault::unknown_key);
}

TEST_F(MemoryKeysTest, FreeOrForeignKeyRefused) {
    EXPECT_EQ(translate(make({.length = 8, .free = true}), 0, 8).error(), AccessFault::free_key);
    EXPECT_EQ(translate(make({.length = 8, .queue_pair = 0x51}), 0, 8).error(),
              AccessFault::foreign_queue_pair);
    EXPECT_TRUE(
        translate(make({.mode = AccessMode::pa, .length = 8, .queue_pair = queue_pair}), 0, 8));
    const MemoryKey& key = make({.length = 8});
    const auto foreign = bench_.keys().translate({.protection_domain = bench_.make_domain()},
                                                 {.key = key.key(), .length = 8});
    EXPECT_EQ(foreign.error(), AccessFault::foreign_domain);
}

TEST_F(MemoryKeysTest, RangeBeyondKeyRefused) {
    const MemoryKey& key = make({.mode = AccessMode::pa, .start = 0x1000, .length = 0x100});
    EXPECT_TRUE(translate(key, 0x1000, 0x100));
    EXPECT_TRUE(translate(key, 0x1100, 0)) << "nothing, right behind the end";
    EXPECT_EQ(translate(key, 0xfff, 1).error(), AccessFault::out_of_range);
    EXPECT_EQ(translate(key, 0x1000, 0x101).error(), AccessFault::out_of_range);
    EXPECT_EQ(translate(key, 0x1101, 0).error(), AccessFault::out_of_range);
    EXPECT_EQ(translate(key, 0x1001, ~0ULL).error(), AccessFault::out_of_range);
    EXPECT_EQ(translate(key, ~0ULL, 2).error(), AccessFault::out_of_range);
}

TEST_F(MemoryKeysTest, Length64CoversAddressSpace) {
    const std::uint32_t key = bench_.make_physical_key();
    const auto whole = [&](std::uint64_t address, std::uint64_t length) {
        return bench_.keys().translate(accessor(),
                                       {.key = key, .address = address, .length = length});
    };
    EXPECT_EQ(whole(0xfff0'0000'0000, 16).value(), (Ranges{{0xfff0'0000'0000, 16}}));
    EXPECT_EQ(whole(~0ULL, 2).error(), AccessFault::out_of_range);
}

// --- Pages ---------------------------------------------------------------------------------------

TEST_F(MemoryKeysTest, RangeSplitAtPageBoundaries) {
    const std::vector<Entry> entries{pages(0x10'0000, 0x30'0000), pages(0x20'0000, 0)};
    const MemoryKey& key = make({.start = 0x7000'0800, .length = 0x2000}, entries);
    EXPECT_EQ(translate(key, 0x7000'0800, 0x2000).value(),
              (Ranges{{0x10'0800, 0x800}, {0x30'0000, 0x1000}, {0x20'0000, 0x800}}));
    EXPECT_EQ(translate(key, 0x7000'0fff, 2).value(), (Ranges{{0x10'0fff, 1}, {0x30'0000, 1}}));
}

TEST_F(MemoryKeysTest, TranslateAdjacentPagesJoinsRanges) {
    const std::vector<Entry> entries{pages(0x10'0000, 0x10'1000)};
    const MemoryKey& key = make({.length = 0x2000}, entries);
    EXPECT_EQ(translate(key, 0, 0x2000).value(), (Ranges{{0x10'0000, 0x2000}}));
}

TEST_F(MemoryKeysTest, PageSizeOfKeyUsed) {
    const std::vector<Entry> entries{pages(0x20'0000, 0x80'0000)};
    const MemoryKey& key = make({.length = 0x40'0000, .log_page = 21}, entries);
    EXPECT_EQ(translate(key, 0x1f'ffff, 2).value(), (Ranges{{0x3f'ffff, 1}, {0x80'0000, 1}}));
}

TEST_F(MemoryKeysTest, PageWithoutTranslationRefused) {
    const std::vector<Entry> entries{pages(0x10'0000, 0)};
    const MemoryKey& key = make({.length = 0x10000, .xlt_octowords = 1}, entries);
    EXPECT_TRUE(translate(key, 0, 0x1000));
    EXPECT_EQ(translate(key, 0, 0x1001).error(), AccessFault::bad_translation) << "empty entry";
    EXPECT_EQ(translate(key, 0x2000, 1).error(), AccessFault::bad_translation) << "no entry";
}

TEST_F(MemoryKeysTest, PageRightsRequireRightsInEntries) {
    constexpr std::uint64_t readable = 1;
    const std::vector<Entry> entries{pages(0x10'0000 | readable, 0x20'0000)};
    const MemoryKey& strict = make({.length = 0x2000, .rights_in_entries = true}, entries);
    EXPECT_TRUE(translate(strict, 0, 1));
    EXPECT_EQ(translate(strict, 0, 1, AccessRight::local_write).error(), AccessFault::page_absent);
    EXPECT_EQ(translate(strict, 0x1000, 1).error(), AccessFault::page_absent);
    const MemoryKey& lenient = make({.length = 0x2000}, entries);
    EXPECT_TRUE(translate(lenient, 0x1000, 1, AccessRight::local_write));
}

// --- Indirect mkeys ------------------------------------------------------------------------------

TEST_F(MemoryKeysTest, KlmRangesFollowed) {
    const MemoryKey& first = make({.mode = AccessMode::pa, .length = 0x10'0000});
    const MemoryKey& second = make({.mode = AccessMode::pa, .start = 0x20'0000, .length = 0x1000});
    const std::vector<Entry> entries{range(0x10, first.key(), 0x5000),
                                     range(0x20, second.key(), 0x20'0100)};
    const MemoryKey& key = make({.mode = AccessMode::klm, .start = 0x100, .length = 0x30}, entries);
    EXPECT_EQ(translate(key, 0x108, 0x20).value(), (Ranges{{0x5008, 8}, {0x20'0100, 0x18}}));
}

TEST_F(MemoryKeysTest, IndirectKeyRequiresLocalRights) {
    const MemoryKey& inner = make({.mode = AccessMode::pa, .length = 0x1000, .rights = "l"});
    const std::vector<Entry> entries{range(0x100, inner.key(), 0)};
    const MemoryKey& key = make({.mode = AccessMode::klm, .length = 0x100}, entries);
    EXPECT_TRUE(translate(key, 0, 1, AccessRight::remote_read));
    EXPECT_EQ(translate(key, 0, 1, AccessRight::remote_write).error(), AccessFault::no_right);
}

TEST_F(MemoryKeysTest, NestingBeyondMaxIndirectionRefused) {
    const auto max = bench_.hca().capabilities().current<"max_indirection">();
    std::uint32_t innermost = make({.mode = AccessMode::pa, .length = 0x100}).key();
    for (std::uint64_t depth = 1; depth <= max + 1; ++depth) {
        const std::vector<Entry> entries{range(0x100, innermost, 0)};
        const MemoryKey& key = make({.mode = AccessMode::klm, .length = 0x100}, entries);
        const auto result = translate(key, 0, 1);
        EXPECT_EQ(result.has_value(), depth <= max) << "depth " << depth;
        if (!result) {
            EXPECT_EQ(result.error(), AccessFault::nested_too_deep);
        }
        innermost = key.key();
    }
}

TEST_F(MemoryKeysTest, SelfReferringKeyRefused) {
    MemoryKey& key = make({.mode = AccessMode::klm, .length = 0x100, .changeable = true});
    key.write_translation(0, range(0x100, key.key(), 0));
    EXPECT_EQ(translate(key, 0, 1).error(), AccessFault::nested_too_deep);
}

TEST_F(MemoryKeysTest, KsmRangesFollowed) {
    const MemoryKey& inner = make({.mode = AccessMode::pa, .length = 0x10'0000});
    const std::vector<Entry> entries{range(0, inner.key(), 0x5000), range(0, inner.key(), 0x9000)};
    const MemoryKey& key =
        make({.mode = AccessMode::ksm, .length = 0x2000, .log_page = 12}, entries);
    EXPECT_EQ(translate(key, 0xff0, 0x20).value(), (Ranges{{0x5ff0, 0x10}, {0x9000, 0x10}}));
}

TEST_F(MemoryKeysTest, KsmRangesCountFromStartAddress) {
    const MemoryKey& inner = make({.mode = AccessMode::pa, .length = 0x10'0000});
    const std::vector<Entry> entries{range(0, inner.key(), 0x5000), range(0, inner.key(), 0x9000)};
    const MemoryKey& key =
        make({.mode = AccessMode::ksm, .start = 0x7010, .length = 0x2000, .log_page = 12}, entries);
    EXPECT_EQ(translate(key, 0x7010, 8).value(), (Ranges{{0x5000, 8}}));
    EXPECT_EQ(translate(key, 0x8000, 0x20).value(), (Ranges{{0x5ff0, 0x10}, {0x9000, 0x10}}));
}

TEST_F(MemoryKeysTest, StridedBlockInterleavesEntries) {
    const MemoryKey& inner = make({.mode = AccessMode::pa, .length = 0x10'0000});
    Entry header{};
    const hwtab::View<hwtab::stride_block_ctrl_seg> block{header};
    block.set<"bcount_per_cycle">(520);
    block.set<"op">(hwtab::value<hwtab::stride_block_op, "repeat">);
    block.set<"repeat_count">(3);
    block.set<"num_entries">(2);
    const auto strided = [&](std::uint64_t bytes, std::uint64_t address) {
        Entry entry{};
        const hwtab::View<hwtab::stride_block_entry> fields{entry};
        fields.set<"stride">(bytes);
        fields.set<"bcount">(bytes);
        fields.set<"key">(inner.key());
        fields.set<"va">(address);
        return entry;
    };
    const std::vector<Entry> entries{header, strided(512, 0x1000), strided(8, 0x8000)};
    const MemoryKey& key = make({.mode = AccessMode::klm, .length = 3 * 520}, entries);
    EXPECT_EQ(translate(key, 510, 12).value(), (Ranges{{0x11fe, 2}, {0x8000, 8}, {0x1200, 2}}));
    EXPECT_EQ(translate(key, 2 * 520 + 512, 8).value(), (Ranges{{0x8010, 8}}));
    EXPECT_EQ(translate(key, 3 * 520, 1).error(), AccessFault::out_of_range);
}

// --- Data ----------------------------------------------------------------------------------------

TEST_F(MemoryKeysTest, ResdLkeyNeedsRightAndIsLocalOnly) {
    Accessor who = accessor();
    Access access{.key = SpecialKeys::resd_lkey, .address = 0x1234, .length = 0x5000};
    EXPECT_EQ(bench_.keys().translate(who, access).error(), AccessFault::no_right);
    who.resd_lkey = true;
    for (const AccessRight right : {AccessRight::local_read, AccessRight::local_write}) {
        access.right = right;
        EXPECT_EQ(bench_.keys().translate(who, access).value(), (Ranges{{0x1234, 0x5000}}));
    }
    for (const AccessRight right :
         {AccessRight::remote_read, AccessRight::remote_write, AccessRight::remote_atomic}) {
        access.right = right;
        EXPECT_EQ(bench_.keys().translate(who, access).error(), AccessFault::no_right)
            << "the peer";
    }
}

TEST_F(MemoryKeysTest, DumpFillKeyDropsWritesReadsZeros) {
    const std::vector<DataSegment> list{
        {.length = 8, .key = SpecialKeys::dump_fill, .address = 0xdead'0000}};
    std::array<std::byte, 8> data{};
    data.fill(std::byte{0x5a});
    EXPECT_TRUE(bench_.keys().scatter(accessor(), list, 0, data));
    EXPECT_TRUE(bench_.keys().gather(accessor(), list, 0, data));
    EXPECT_EQ(data, (std::array<std::byte, 8>{}));
    const Access access{.key = SpecialKeys::dump_fill,
                        .address = 0,
                        .length = data.size(),
                        .right = AccessRight::remote_read};
    EXPECT_EQ(bench_.keys().read(accessor(), access, data).error(), AccessFault::unknown_key)
        << "the peer";
}

TEST_F(MemoryKeysTest, ResdLkeyDoesNotReachMemic) {
    Accessor who = accessor();
    who.resd_lkey = true;
    Access access{.key = SpecialKeys::resd_lkey,
                  .address = vfio_user::DmaSpace::local_start - 8,
                  .length = 9};
    EXPECT_EQ(bench_.keys().translate(who, access).error(), AccessFault::dma_failed);
    access.address = ~0ULL;
    EXPECT_EQ(bench_.keys().translate(who, access).error(), AccessFault::dma_failed);
    access.length = ~0ULL;
    EXPECT_EQ(bench_.keys().translate(who, access).error(), AccessFault::dma_failed);
}

TEST_F(MemoryKeysTest, IndirectMkeyWithResdLkeyFails) {
    const std::vector<Entry> entries{range(0x1000, SpecialKeys::resd_lkey, 0x1000)};
    const MemoryKey& key =
        make({.mode = AccessMode::klm, .length = 0x1000, .xlt_octowords = 4}, entries);
    Accessor who = accessor();
    who.resd_lkey = true;
    const Access access{.key = key.key(), .address = 0, .length = 1};
    EXPECT_EQ(bench_.keys().translate(who, access).error(), AccessFault::unknown_key);
}

TEST_F(MemoryKeysTest, ListGatheredAndScattered) {
    const std::uint32_t key = bench_.make_physical_key();
    const std::uint64_t memory = bench_.allocate(4096);
    const std::array list{DataSegment{.length = 4, .key = key, .address = memory},
                          DataSegment{.length = 8, .key = key, .address = memory + 0x100}};
    std::array<std::byte, 6> data{};
    for (std::size_t i = 0; i < data.size(); ++i)
        data[i] = static_cast<std::byte>(i + 1);
    ASSERT_TRUE(bench_.keys().scatter(accessor(), list, 2, data));
    EXPECT_EQ(bench_.load32(memory), 0x0000'0102U);
    EXPECT_EQ(bench_.load32(memory + 0x100), 0x0304'0506U);
    std::array<std::byte, 6> back{};
    ASSERT_TRUE(bench_.keys().gather(accessor(), list, 2, back));
    EXPECT_EQ(back, data);
}

TEST_F(MemoryKeysTest, UnmappedHostMemoryFailsAccess) {
    const std::uint32_t key = bench_.make_physical_key();
    std::array<std::byte, 4> data{};
    EXPECT_EQ(bench_.keys().read(accessor(), {.key = key, .address = 8, .length = 4}, data).error(),
              AccessFault::dma_failed);
}

TEST_F(MemoryKeysTest, AtomicModifiesAlignedEightBytes) {
    const std::uint32_t key = bench_.make_physical_key();
    const std::uint64_t memory = bench_.allocate(4096);
    const auto number = bench_.at(memory, sizeof(std::uint64_t));
    store_le<std::uint64_t>(number, 41);
    const auto add_one = [](std::uint64_t value) { return value + 1; };
    EXPECT_EQ(bench_.keys().modify(accessor(), key, memory, add_one).value(), 41U);
    EXPECT_EQ(load_le<std::uint64_t>(number), 42U);
    EXPECT_EQ(bench_.keys().modify(accessor(), key, memory + 4, add_one).error(),
              AccessFault::bad_translation);
}

TEST_F(MemoryKeysTest, PeerInvalidateRequiresKeyRight) {
    const MemoryKey& open =
        make({.mode = AccessMode::pa, .length = 8, .peer_may_invalidate = true});
    ASSERT_TRUE(bench_.keys().invalidate(accessor(), open.key()));
    EXPECT_EQ(translate(open, 0, 1).error(), AccessFault::free_key);
    const MemoryKey& closed = make({.mode = AccessMode::pa, .length = 8});
    EXPECT_EQ(bench_.keys().invalidate(accessor(), closed.key()).error(), AccessFault::no_right);
}

// --- Commands ------------------------------------------------------------------------------------

TEST_F(MemoryKeysTest, QueryMkeyReturnsContextAndFirstEntries) {
    const std::vector<Entry> entries{pages(0x10'0000, 0x20'0000), pages(0x30'0000, 0)};
    const MemoryKey& key = make({.start = 0x4000, .length = 0x3000}, entries);
    Call<hwtab::cmd_query_mkey> call;
    call.in().set<"mkey_index">(key.number());
    ASSERT_TRUE(bench_.run(call));
    EXPECT_EQ(call.out().get<"memory_key_mkey_entry.len">(), 0x3000U);
    EXPECT_EQ(load_be<std::uint64_t>(call.out().bytes<"bsf1_klm1_pas_mtt2_3">()), 0x30'0000U);
}

TEST_F(MemoryKeysTest, CreateMkeyTooManyEntriesFails) {
    Call<hwtab::cmd_create_mkey> call(32);
    call.in().set<"memory_key_mkey_entry.access_mode_1_0">(1);
    call.in().set<"memory_key_mkey_entry.translations_octword_size">(1);
    call.in().set<"translations_octword_actual_size">(2);
    EXPECT_EQ(bench_.run(call).syndrome, hca::Syndrome::bad_translation_list);
    call.in().set<"translations_octword_actual_size">(3);
    call.in().set<"memory_key_mkey_entry.translations_octword_size">(3);
    EXPECT_EQ(bench_.run(call).syndrome, hca::Syndrome::bad_translation_list) << "input too short";
}

TEST_F(MemoryKeysTest, UnsupportedAccessModeRefused) {
    Call<hwtab::cmd_create_mkey> call;
    call.in().set<"memory_key_mkey_entry.access_mode_4_2">(1);
    EXPECT_EQ(bench_.run(call).syndrome, hca::Syndrome::bad_access_mode);
}

// --- UMR -----------------------------------------------------------------------------------------

/// Composes the segments behind the control segment of a UMR.
class Umr {
public:
    Umr() : bytes_(hwtab::wqe_umr_ctrl_seg.size + hwtab::mkey_seg.size) {}

    hwtab::View<hwtab::wqe_umr_ctrl_seg> control() {
        return hwtab::View<hwtab::wqe_umr_ctrl_seg>{bytes_};
    }
    hwtab::View<hwtab::mkey_seg> key() {
        return hwtab::View<hwtab::mkey_seg>{
            std::span(bytes_).subspan(hwtab::wqe_umr_ctrl_seg.size)};
    }
    void add(std::span<const std::byte> more) {
        bytes_.insert(bytes_.end(), more.begin(), more.end());
    }
    void set_flags(std::uint64_t flags) { control().set<"flags">(flags); }
    void set_mask(std::uint64_t mask) { control().set<"mkey_mask">(mask); }
    [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

private:
    std::vector<std::byte> bytes_;
};

template <hwtab::FixedString name>
inline constexpr std::uint64_t flag = hwtab::value<hwtab::umr_flags, name>;
template <hwtab::FixedString name>
inline constexpr std::uint64_t mask = hwtab::value<hwtab::mkey_mask, name>;

class UmrTest : public MemoryKeysTest {
protected:
    std::expected<void, UmrFault> execute(const MemoryKey& key, const Umr& umr,
                                          UmrRights rights = {.fast_registration = true}) {
        return execute_umr(
            bench_.keys(),
            {.accessor = accessor(), .rights = rights, .key = key.key(), .body = umr.bytes()});
    }
};

/// Permission bits of MTTs written by UMR: read and write.
constexpr std::uint64_t present = 3;

TEST_F(UmrTest, FreeKeyRegistersPages) {
    const MemoryKey& key = make({.free = true, .changeable = true, .rights = ""});
    Umr umr;
    umr.set_flags(flag<"inline"> | flag<"check_not_free">);
    umr.set_mask(mask<"len"> | mask<"start_addr"> | mask<"page_size"> | mask<"key"> | mask<"lr"> |
                 mask<"free">);
    umr.control().set<"xlt_octowords">(1);
    umr.key().set<"len">(0x1800);
    umr.key().set<"start_addr">(0x9000);
    umr.key().set<"log_page_size">(12);
    umr.key().set<"mkey_7_0">(0x42);
    umr.key().set<"lr">(1);
    umr.key().set<"lw">(1);
    umr.add(pages(0x10'0000 | present, 0x20'0000 | present));
    ASSERT_TRUE(execute(key, umr));
    EXPECT_EQ(key.key() & 0xffU, 0x42U);
    EXPECT_EQ(translate(key, 0x9000, 0x1800).value(),
              (Ranges{{0x10'0000, 0x1000}, {0x20'0000, 0x800}}));
    EXPECT_EQ(translate(key, 0x9000, 1, AccessRight::local_write).error(), AccessFault::no_right)
        << "the mask left lw out";
}

TEST_F(UmrTest, FreeMaskInvalidatesKey) {
    const MemoryKey& key = make({.mode = AccessMode::pa, .length = 8, .changeable = true});
    Umr umr;
    umr.set_flags(flag<"inline">);
    umr.set_mask(mask<"free">);
    umr.key().set<"free">(1);
    ASSERT_TRUE(execute(key, umr));
    EXPECT_EQ(translate(key, 0, 1).error(), AccessFault::free_key);
}

TEST_F(UmrTest, FreeStateChecked) {
    const MemoryKey& in_use = make({.changeable = true});
    const MemoryKey& free = make({.free = true, .changeable = true});
    Umr needs_free;
    needs_free.set_flags(flag<"inline"> | flag<"check_not_free">);
    Umr needs_use;
    needs_use.set_flags(flag<"inline"> | flag<"check_free">);
    EXPECT_EQ(execute(in_use, needs_free).error(), UmrFault::key_is_not_free);
    EXPECT_TRUE(execute(free, needs_free));
    EXPECT_EQ(execute(free, needs_use).error(), UmrFault::key_is_free);
    EXPECT_TRUE(execute(in_use, needs_use));
}

TEST_F(UmrTest, BoundQpChecked) {
    Umr umr;
    umr.set_flags(flag<"inline"> | flag<"check_qpn">);
    EXPECT_TRUE(execute(make({.changeable = true, .queue_pair = queue_pair}), umr));
    EXPECT_TRUE(execute(make({.changeable = true}), umr)) << "it is for every queue pair";
    EXPECT_EQ(execute(make({.changeable = true, .queue_pair = 0x99}), umr).error(),
              UmrFault::foreign_queue_pair);
}

TEST_F(UmrTest, KeyWithoutUmrEnabledRefused) {
    Umr umr;
    umr.set_flags(flag<"inline">);
    EXPECT_EQ(execute(make({}), umr).error(), UmrFault::not_changeable);
}

/// QPs of user space have no fre, but may change memory windows and indirect mkeys.
TEST_F(UmrTest, PhysicalKeyRequiresFastRegistration) {
    Umr umr;
    umr.set_flags(flag<"inline">);
    umr.set_mask(mask<"free">);
    umr.key().set<"free">(1);
    for (const AccessMode mode : {AccessMode::mtt, AccessMode::pa}) {
        const MemoryKey& key = make({.mode = mode, .changeable = true});
        EXPECT_EQ(execute(key, umr, UmrRights{}).error(), UmrFault::no_fast_registration);
        EXPECT_EQ(key.context().get<"free">(), 0U);
        EXPECT_TRUE(execute(key, umr));
    }
    for (const AccessMode mode : {AccessMode::klm, AccessMode::ksm})
        EXPECT_TRUE(execute(make({.mode = mode, .changeable = true}), umr, UmrRights{}));
}

TEST_F(UmrTest, PdChangeRequiresPrivilegedQp) {
    MemoryKey& key = make({.changeable = true});
    const std::uint32_t other = bench_.make_domain();
    Umr umr;
    umr.set_flags(flag<"inline">);
    umr.set_mask(mask<"pd">);
    umr.key().set<"pd">(other);
    EXPECT_EQ(execute(key, umr).error(), UmrFault::not_permitted);
    ASSERT_TRUE(execute(key, umr, {.privileged = true, .fast_registration = true}));
    EXPECT_EQ(key.context().get<"pd">(), other);
    Call<hwtab::cmd_dealloc_pd> call;
    call.in().set<"pd">(other);
    EXPECT_EQ(bench_.run(call).status, hca::CommandStatus::resource_busy) << "the key holds it";
    umr.set_mask(mask<"free">);
    EXPECT_EQ(execute(key, umr).error(), UmrFault::foreign_domain);
}

TEST_F(UmrTest, TranslationsReadThroughPointerAtOffset) {
    const std::uint32_t data_key = bench_.make_physical_key();
    const std::uint64_t list = bench_.allocate(4096);
    store_be<std::uint64_t>(bench_.at(list, 8), 0x70'0000 | present);
    const std::vector<Entry> entries{pages(0x10'0000 | present, 0x20'0000 | present)};
    const MemoryKey& key =
        make({.length = 0x6000, .xlt_octowords = 8, .changeable = true}, entries);
    Umr umr;
    umr.set_flags(flag<"check_free"> | flag<"translation_offset_en">);
    umr.control().set<"xlt_octowords">(4);
    umr.control().set<"xlt_offset">(2); // entry 4
    std::array<std::byte, hwtab::wqe_data_seg.size> pointer{};
    const hwtab::View<hwtab::wqe_data_seg> segment{pointer};
    segment.set<"byte_count">(64);
    segment.set<"lkey">(data_key);
    segment.set<"addr">(list);
    umr.add(pointer);
    ASSERT_TRUE(execute(key, umr));
    EXPECT_EQ(translate(key, 0x4000, 1).value(), (Ranges{{0x70'0000, 1}}));
    EXPECT_EQ(translate(key, 0x1000, 1).value(), (Ranges{{0x20'0000, 1}})) << "stays";
}

/// Result of a UMR that changes the page size and has a translation offset of more than 16 bits, on
/// a device with \p capability.
std::optional<UmrFault> fault_with(std::string_view capability, std::uint64_t value,
                                   std::uint64_t changed, std::uint64_t upper_offset) {
    Bench bench(Bench::with_capability(capability, value));
    const std::uint32_t key = bench.make_changeable_key(1U << 17U);
    Umr umr;
    umr.set_flags(flag<"inline"> | flag<"translation_offset_en">);
    umr.set_mask(changed);
    umr.control().set<"xlt_offset_47_16">(upper_offset);
    const auto done = execute_umr(
        bench.keys(), {.accessor = {.protection_domain = bench.domain(), .queue_pair = queue_pair},
                       .rights = {.fast_registration = true},
                       .key = key,
                       .body = umr.bytes()});
    return done ? std::nullopt : std::optional(done.error());
}

TEST(UmrCapabilityTest, ExtendedOffsetRequiresCapability) {
    EXPECT_EQ(fault_with("umr_extended_translation_offset", 1, 0, 1), std::nullopt);
    EXPECT_EQ(fault_with("umr_extended_translation_offset", 0, 0, 1), UmrFault::malformed);
    EXPECT_EQ(fault_with("umr_extended_translation_offset", 0, 0, 0), std::nullopt);
}

TEST(UmrCapabilityTest, PageSizeChangeRequiresCapability) {
    constexpr auto size = hwtab::value<hwtab::mkey_mask, "page_size">;
    EXPECT_EQ(fault_with("umr_modify_entity_size_disabled", 0, size, 0), std::nullopt);
    EXPECT_EQ(fault_with("umr_modify_entity_size_disabled", 1, size, 0), UmrFault::not_supported);
    EXPECT_EQ(fault_with("umr_modify_entity_size_disabled", 1, 0, 0), std::nullopt);
}

/// Whether a UMR list can be read with resd_lkey, on a device with or without that capability.
bool reads_list_with_resd_lkey(std::uint64_t capability) {
    Bench bench(Bench::with_capability("umr_ptr_rlky", capability));
    const std::uint32_t key = bench.make_changeable_key();
    std::array<std::byte, hwtab::wqe_data_seg.size> pointer{};
    const hwtab::View<hwtab::wqe_data_seg> segment{pointer};
    segment.set<"byte_count">(64);
    segment.set<"lkey">(SpecialKeys::resd_lkey);
    segment.set<"addr">(bench.allocate(64));
    Umr umr;
    umr.control().set<"xlt_octowords">(4);
    umr.add(pointer);
    const auto done = execute_umr(bench.keys(), {.accessor = {.protection_domain = bench.domain(),
                                                              .queue_pair = queue_pair,
                                                              .resd_lkey = true},
                                                 .rights = {.fast_registration = true},
                                                 .key = key,
                                                 .body = umr.bytes()});
    EXPECT_TRUE(done || done.error() == UmrFault::unreachable);
    return done.has_value();
}

TEST(UmrCapabilityTest, ListWithResdLkeyNeedsCapability) {
    EXPECT_TRUE(reads_list_with_resd_lkey(1));
    EXPECT_FALSE(reads_list_with_resd_lkey(0));
}

/// Whether UMR sets a flag of a key, on a device with a capability of some value.
template <hwtab::FixedString field>
std::expected<void, UmrFault> set_flag_by_umr(std::string_view capability, std::uint64_t value) {
    Bench bench(Bench::with_capability(capability, value));
    const std::uint32_t key = bench.make_changeable_key();
    Umr umr;
    umr.set_flags(flag<"inline">);
    umr.set_mask(mask<field>);
    umr.key().set<field>(1);
    return execute_umr(bench.keys(), {.accessor = {.protection_domain = bench.domain()},
                                      .rights = {.fast_registration = true},
                                      .key = key,
                                      .body = umr.bytes()});
}

TEST(UmrCapabilityTest, AtomicRightChangeRequiresCapability) {
    constexpr std::string_view disabled = "umr_modify_atomic_disabled";
    EXPECT_TRUE(set_flag_by_umr<"a">(disabled, 0));
    EXPECT_EQ(set_flag_by_umr<"a">(disabled, 1).error(), UmrFault::not_supported);
}

TEST(UmrCapabilityTest, ChangeOfRelaxedOrderingRequiresCapability) {
    constexpr std::string_view writes = "relaxed_ordering_write_umr";
    constexpr std::string_view reads = "relaxed_ordering_read_umr";
    EXPECT_TRUE(set_flag_by_umr<"relaxed_ordering_write">(writes, 1));
    EXPECT_EQ(set_flag_by_umr<"relaxed_ordering_write">(writes, 0).error(),
              UmrFault::not_supported);
    EXPECT_TRUE(set_flag_by_umr<"relaxed_ordering_read">(reads, 1));
    EXPECT_EQ(set_flag_by_umr<"relaxed_ordering_read">(reads, 0).error(), UmrFault::not_supported);
}

TEST_F(UmrTest, UnreadableTranslationRefused) {
    const MemoryKey& key = make({.changeable = true});
    Umr umr;
    umr.control().set<"xlt_octowords">(1);
    EXPECT_EQ(execute(key, umr).error(), UmrFault::malformed) << "no pointer";
    std::array<std::byte, hwtab::wqe_data_seg.size> pointer{};
    hwtab::View<hwtab::wqe_data_seg>{pointer}.set<"byte_count">(64);
    umr.add(pointer);
    EXPECT_EQ(execute(key, umr).error(), UmrFault::unreachable);
}

TEST_F(UmrTest, BsfWithoutSpaceBehindTranslationRefused) {
    const MemoryKey& key = make({.changeable = true});
    const std::uint32_t data_key = bench_.make_physical_key();
    Umr umr;
    umr.control().set<"xlt_octowords">(1);
    umr.control().set<"bsf_octowords">(4);
    std::array<std::byte, hwtab::wqe_data_seg.size> pointer{};
    const hwtab::View<hwtab::wqe_data_seg> segment{pointer};
    segment.set<"byte_count">(16); // the translation
    segment.set<"lkey">(data_key);
    segment.set<"addr">(bench_.allocate(4096));
    umr.add(pointer);
    EXPECT_EQ(execute(key, umr).error(), UmrFault::malformed);
}

TEST_F(UmrTest, TranslationTooLongChangesNothing) {
    const MemoryKey& key = make({.length = 5, .xlt_octowords = 1, .changeable = true});
    Umr umr;
    umr.set_flags(flag<"inline">);
    umr.set_mask(mask<"len">);
    umr.key().set<"len">(0x1000);
    umr.control().set<"xlt_octowords">(2);
    umr.add(pages(0x10'0000, 0));
    umr.add(pages(0x20'0000, 0));
    EXPECT_EQ(execute(key, umr).error(), UmrFault::translation_too_long);
    EXPECT_EQ(key.context().get<"len">(), 5U);
}

TEST_F(UmrTest, PaddingOfListIsNotCounted) {
    const MemoryKey& key = make({.length = 0x1000, .xlt_octowords = 1, .changeable = true});
    Umr umr;
    umr.set_flags(flag<"inline">);
    umr.control().set<"xlt_octowords">(4);
    umr.add(pages(0x10'0000 | present, 0));
    for (int i = 0; i < 3; ++i)
        umr.add(pages(0, 0));
    ASSERT_TRUE(execute(key, umr));
    EXPECT_EQ(translate(key, 0, 1).value(), (Ranges{{0x10'0000, 1}}));
}

TEST_F(UmrTest, AbsentPagesFaultUntilRestored) {
    const std::vector<Entry> entries{pages(0x10'0000 | present, 0x20'0000 | present)};
    const MemoryKey& key =
        make({.length = 0x2000, .changeable = true, .rights_in_entries = true}, entries);
    const auto update = [&](std::uint64_t first, std::uint64_t second) {
        Umr umr;
        umr.set_flags(flag<"inline"> | flag<"check_free">);
        umr.control().set<"xlt_octowords">(1);
        umr.add(pages(first, second));
        ASSERT_TRUE(execute(key, umr));
    };
    update(0x10'0000 | present, 0);
    EXPECT_EQ(translate(key, 0x800, 0x1000).error(), AccessFault::page_absent);
    ASSERT_EQ(bench_.keys().absent_memory().size(), 1);
    const AbsentMemory& absent = bench_.keys().absent_memory().front();
    EXPECT_EQ(absent.key, key.key());
    EXPECT_EQ(absent.address, 0x1000);
    EXPECT_EQ(absent.length, 0x800);
    update(0x10'0000 | present, 0x30'0000 | present);
    EXPECT_EQ(translate(key, 0x1000, 1).value(), (Ranges{{0x30'0000, 1}}));
}

TEST_F(UmrTest, Length64CoversAddressSpace) {
    const MemoryKey& key = make({.length = 0x1000, .changeable = true});
    Umr umr;
    umr.set_flags(flag<"inline">);
    umr.set_mask(mask<"len">);
    umr.key().set<"length64">(1);
    ASSERT_TRUE(execute(key, umr));
    EXPECT_TRUE(key.contains(0x7fff'0000'0000, 0x1000));
}

TEST_F(UmrTest, TruncatedBodyRefused) {
    const MemoryKey& key = make({.changeable = true});
    const Umr umr;
    EXPECT_EQ(execute_umr(bench_.keys(),
                          {.key = key.key(), .body = umr.bytes().first(umr.bytes().size() - 1)})
                  .error(),
              UmrFault::malformed);
}

} // namespace
} // namespace cxemu::memory
