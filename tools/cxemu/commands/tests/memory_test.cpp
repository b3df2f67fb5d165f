// SPDX-License-Identifier: GPL-2.0-or-later
//
// Mkey and PSV commands; access through mkeys is tested in memory/.
#include "commands/tests/fixtures.hpp"
#include "hca/rules.hpp"
#include "memory/signature_variable.hpp"

namespace cxemu::commands {
namespace {

using testing::Bench;
using testing::Call;
using testing::CommandTest;
using testing::outcome;

class MemoryKeyCommandsTest : public CommandTest {
protected:
    using CommandTest::CommandTest;

    /// An mkey of one page with translations_octword_size 2; the input lists four octowords.
    Call<hwtab::cmd_create_mkey> good() {
        Call<hwtab::cmd_create_mkey> call(64);
        const auto key = call.in().nested<"memory_key_mkey_entry", hwtab::mkc>();
        key.set<"access_mode_1_0">(hwtab::value<hwtab::mkey_access_mode, "mtt">);
        key.set<"translations_octword_size">(2);
        key.set<"qpn">(0xffffff);
        key.set<"pd">(bench.domain());
        return call;
    }
    std::string with_context(auto corrupt_entry) {
        return corrupted(good(), [&](auto in) {
            corrupt_entry(in.template nested<"memory_key_mkey_entry", hwtab::mkc>());
        });
    }
    std::string destroy(std::uint64_t index, std::uint16_t uid = 0) {
        return run<hwtab::cmd_destroy_mkey>([&](auto in) { in.template set<"mkey_index">(index); },
                                            0, uid);
    }
    std::string release_domain() {
        return run<hwtab::cmd_dealloc_pd>([&](auto in) { in.template set<"pd">(bench.domain()); });
    }
};

TEST_F(MemoryKeyCommandsTest, MkeyHoldsPdUntilDestroyed) {
    auto call = good();
    ASSERT_EQ(outcome(bench.run(call)), "OK");
    const auto index = call.out().get<"mkey_index">();
    EXPECT_EQ(release_domain(), "RESOURCE_BUSY object_busy");
    EXPECT_EQ(destroy(index, 7), "BAD_RESOURCE object_of_other_user_context");
    EXPECT_EQ(destroy(index), "OK");
    EXPECT_EQ(destroy(index), "BAD_RESOURCE unknown_object");
    EXPECT_EQ(run<hwtab::cmd_query_mkey>([&](auto in) { in.template set<"mkey_index">(index); }),
              "BAD_RESOURCE unknown_object");
    EXPECT_EQ(release_domain(), "OK");
}

TEST_F(MemoryKeyCommandsTest, CreateUnsupportedValuesRefused) {
    EXPECT_EQ(corrupted(good(), [](auto in) { in.template set<"mkey_umem_valid">(1); }),
              "BAD_PARAMETER not_supported");
    EXPECT_EQ(corrupted(good(), [](auto in) { in.template set<"data_direct">(1); }),
              "BAD_PARAMETER not_supported");
    constexpr auto other_function = hwtab::value<hwtab::mkey_access_mode, "crossing">;
    EXPECT_EQ(with_context([](auto key) {
                  key.template set<"access_mode_1_0">(other_function & 3U);
                  key.template set<"access_mode_4_2">(other_function >> 2U);
              }),
              "BAD_PARAMETER bad_access_mode");
}

TEST_F(MemoryKeyCommandsTest, CreateInvalidTranslationsRefused) {
    EXPECT_EQ(
        corrupted(good(), [](auto in) { in.template set<"translations_octword_actual_size">(3); }),
        "BAD_PARAMETER bad_translation_list")
        << "translations_octword_size is 2";
    EXPECT_EQ(corrupted(good(),
                        [](auto in) {
                            in.template set<"translations_octword_actual_size">(5);
                            in.template set<"memory_key_mkey_entry.translations_octword_size">(5);
                        }),
              "BAD_PARAMETER bad_translation_list")
        << "the input lists four";
    EXPECT_EQ(with_context([](auto key) {
                  key.template set<"access_mode_1_0">(
                      hwtab::value<hwtab::mkey_access_mode, "klms">);
                  key.template set<"translations_octword_size">((1U << 16U) + 1);
              }),
              "EXCEEDS_LIMIT exceeds_capability");
}

class RelaxedWritesTest : public MemoryKeyCommandsTest {
protected:
    RelaxedWritesTest()
        : MemoryKeyCommandsTest(Bench::with_capability("relaxed_ordering_write", 1)) {}
};

TEST_F(RelaxedWritesTest, CreateWithRelaxedOrderingRequiresItsCapability) {
    EXPECT_EQ(with_context([](auto key) { key.template set<"relaxed_ordering_write">(1); }), "OK");
    EXPECT_EQ(with_context([](auto key) { key.template set<"relaxed_ordering_read">(1); }),
              "BAD_PARAMETER not_supported");
}

/// As mlx5_ib's for an implicit ODP MR.
TEST_F(MemoryKeyCommandsTest, CreateListOfKsmsBeyondKlmListSizeAccepted) {
    EXPECT_EQ(with_context([](auto key) {
                  key.template set<"access_mode_1_0">(hwtab::value<hwtab::mkey_access_mode, "ksm">);
                  key.template set<"translations_octword_size">(1U << 17U);
              }),
              "OK");
}

TEST_F(MemoryKeyCommandsTest, CreateWithoutPdRefusedUnlessFree) {
    EXPECT_EQ(with_context([](auto key) { key.template set<"pd">(no_object); }),
              "BAD_RESOURCE unknown_object");
    EXPECT_EQ(with_context([](auto key) { key.template set<"pd">(0); }),
              "BAD_RESOURCE unknown_object");
    EXPECT_EQ(with_context([](auto key) {
                  key.template set<"pd">(0);
                  key.template set<"free">(1);
              }),
              "OK");
}

TEST_F(MemoryKeyCommandsTest, CreateWithoutFreeNumberFails) {
    Bench small(Bench::with_capability("log_max_mkey", 11)); // indices below 0x800 are reserved
    EXPECT_ANY_THROW(small.make_physical_key());
}

// --- PSVs ----------------------------------------------------------------------------------------

class SignatureVariableCommandsTest : public CommandTest {
protected:
    static Call<hwtab::cmd_create_psv> create(std::uint64_t count, std::uint64_t domain) {
        Call<hwtab::cmd_create_psv> call;
        call.in().set<"num_psv">(count);
        call.in().set<"pd">(domain);
        return call;
    }
    std::string destroy(std::uint64_t number) {
        return run<hwtab::cmd_destroy_psv>([&](auto in) { in.template set<"psvn">(number); });
    }
};

TEST_F(SignatureVariableCommandsTest, CreatePsvOneToFourAccepted) {
    auto call = create(2, bench.domain());
    ASSERT_EQ(outcome(bench.run(call)), "OK");
    EXPECT_NE(call.out().get<"psv0_index">(), call.out().get<"psv1_index">());
    EXPECT_EQ(call.out().get<"psv2_index">(), 0U);
    for (const std::uint64_t count : {0U, 5U}) {
        auto refused = create(count, bench.domain());
        EXPECT_EQ(outcome(bench.run(refused)), "BAD_PARAMETER field_out_of_range") << count;
    }
}

TEST_F(SignatureVariableCommandsTest, PsvHoldsPdUntilDestroyed) {
    auto call = create(1, bench.domain());
    ASSERT_EQ(outcome(bench.run(call)), "OK");
    const auto release = [&] {
        return run<hwtab::cmd_dealloc_pd>([&](auto in) { in.template set<"pd">(bench.domain()); });
    };
    EXPECT_EQ(release(), "RESOURCE_BUSY object_busy");
    const auto number = call.out().get<"psv0_index">();
    EXPECT_EQ(destroy(number), "OK");
    EXPECT_EQ(destroy(number), "BAD_RESOURCE unknown_object");
    EXPECT_EQ(release(), "OK");
    auto unknown = create(1, no_object);
    EXPECT_EQ(outcome(bench.run(unknown)), "BAD_RESOURCE unknown_object");
}

TEST_F(SignatureVariableCommandsTest, CreatePsvTooFewNumbersCreatesNone) {
    Bench small(Bench::with_capability("log_max_mkey", 2)); // three numbers
    auto call = create(4, small.domain());
    EXPECT_EQ(outcome(small.run(call)), "NO_RESOURCES no_number_left");
    EXPECT_EQ(small.hca().objects().count(hca::ObjectKind::signature_variable), 0U);
    auto fits = create(3, small.domain());
    EXPECT_EQ(outcome(small.run(fits)), "OK");
}

} // namespace
} // namespace cxemu::commands
