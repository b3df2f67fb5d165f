// SPDX-License-Identifier: GPL-2.0-or-later
#include "commands/tests/fixtures.hpp"
#include "hca/rules.hpp"

namespace cxemu::commands {
namespace {

using queues::CompletionQueue;
using testing::Bench;
using testing::Call;
using testing::CommandTest;
using testing::outcome;

class CompletionQueueCommandsTest : public CommandTest {
protected:
    Call<hwtab::cmd_create_cq> good() {
        Call<hwtab::cmd_create_cq> call(sizeof(std::uint64_t));
        call.in().set<"cq_context.log_cq_size">(4);
        call.in().set<"cq_context.uar_page">(bench.uar().number());
        call.in().set<"cq_context.c_eqn_or_apu_element">(bench.event_queue().number());
        call.in().set<"cq_context.dbr_addr">(bench.allocate(4096));
        call.in().set_at<"pas">(0, bench.allocate(4096));
        return call;
    }
    std::string destroy(std::uint32_t number, std::uint16_t uid = 0) {
        return run<hwtab::cmd_destroy_cq>([&](auto in) { in.template set<"cqn">(number); }, 0, uid);
    }
    std::string modify(std::uint32_t number, std::uint64_t selection, auto fill,
                       std::uint16_t op_mod = 0, std::uint16_t uid = 0) {
        return run<hwtab::cmd_modify_cq>(
            [&](auto in) {
                in.template set<"cqn">(number);
                in.template set<"modify_field_select_resize_field_select.modify_field_select."
                                "modify_field_select">(selection);
                fill(in.template nested<"cq_context", hwtab::cqc>());
            },
            op_mod, uid);
    }
    static void nothing(hwtab::View<hwtab::cqc> /*context*/) {}

    /// \return the number of an EQ that user contexts may name
    std::uint32_t make_shared_event_queue() {
        Call<hwtab::cmd_create_eq> call(sizeof(std::uint64_t));
        call.in().set<"eq_context_entry.log_eq_size">(4);
        call.in().set<"eq_context_entry.uar_page">(bench.uar().number());
        call.in().set_at<"pas">(0, bench.allocate(4096));
        EXPECT_EQ(outcome(bench.run(call, 0, hca::shared_uid)), "OK");
        return static_cast<std::uint32_t>(call.out().get<"eq_number">());
    }
};

TEST_F(CompletionQueueCommandsTest, DestroyedCqUnknown) {
    auto call = good();
    ASSERT_EQ(outcome(bench.run(call)), "OK");
    const auto number = static_cast<std::uint32_t>(call.out().get<"cqn">());
    EXPECT_EQ(destroy(number), "OK");
    EXPECT_EQ(destroy(number), "BAD_RESOURCE unknown_object");
    EXPECT_EQ(run<hwtab::cmd_query_cq>([&](auto in) { in.template set<"cqn">(number); }),
              "BAD_RESOURCE unknown_object");
    EXPECT_EQ(modify(number, 0, nothing), "BAD_RESOURCE unknown_object");
}

TEST_F(CompletionQueueCommandsTest, CreateUnsupportedValuesRefused) {
    EXPECT_EQ(corrupted(good(), [](auto in) { in.template set<"cq_context.log_cq_size">(23); }),
              "EXCEEDS_LIMIT exceeds_capability");
    EXPECT_EQ(corrupted(good(), [](auto in) { in.template set<"cq_context.cqe_sz">(3); }),
              "BAD_PARAMETER field_out_of_range");
    EXPECT_EQ(corrupted(good(), [](auto in) { in.template set<"cq_context.apu_cq">(1); }),
              "BAD_PARAMETER not_supported");
}

TEST_F(CompletionQueueCommandsTest, CompressionSupportedFormatsAccepted) {
    const auto compressing = [this](std::uint64_t format) {
        auto call = good();
        call.in().set<"cq_context.cqe_comp_en">(1);
        call.in().set<"cq_context.mini_cqe_res_format">(format);
        return call;
    };
    for (const std::uint64_t format : {0, 1, 3}) {
        auto call = compressing(format);
        EXPECT_EQ(outcome(bench.run(call)), "OK") << format;
    }
    auto without_name = compressing(2);
    EXPECT_EQ(outcome(bench.run(without_name)), "BAD_PARAMETER not_supported");
    EXPECT_EQ(corrupted(compressing(0),
                        [](auto in) { in.template set<"cq_context.cqe_compression_layout">(1); }),
              "BAD_PARAMETER not_supported");
}

TEST_F(CompletionQueueCommandsTest, CompressionUnsupportedRefused) {
    Bench without(Bench::with_capability("cqe_compression", 0));
    Call<hwtab::cmd_create_cq> call(sizeof(std::uint64_t));
    call.in().set<"cq_context.cqe_comp_en">(1);
    EXPECT_EQ(outcome(without.run(call)), "BAD_PARAMETER not_supported");
}

TEST_F(CompletionQueueCommandsTest, UmemHoldsRingAndDoorbellRecord) {
    const std::uint64_t memory = bench.allocate(std::size_t{2} * 4096);
    const auto number = make_umem(memory, 2);
    auto call = good();
    call.in().set<"cq_umem_valid">(1);
    call.in().set<"cq_umem_id">(number);
    call.in().set<"cq_umem_offset">(4096);
    call.in().set<"cq_context.dbr_umem_valid">(1);
    call.in().set<"cq_context.dbr_umem_id">(number);
    call.in().set<"cq_context.dbr_addr">(64);
    ASSERT_EQ(outcome(bench.run(call)), "OK");
    auto& queue = *bench.hca().objects().of<queues::CompletionQueue>().find(
        static_cast<std::uint32_t>(call.out().get<"cqn">()));
    EXPECT_EQ(queue.buffer().address(0), memory + 4096);
    queue.post({});
    EXPECT_EQ(queue.outstanding(), 1U);
    bench.store32(memory + 64, 1);
    EXPECT_EQ(queue.outstanding(), 0U);
    EXPECT_EQ(destroy_umem(number), "RESOURCE_BUSY object_busy");
}

TEST_F(CompletionQueueCommandsTest, CreateUnknownUmemRefused) {
    EXPECT_EQ(corrupted(good(), [](auto in) { in.template set<"cq_umem_valid">(1); }),
              "BAD_RESOURCE unknown_object");
    EXPECT_EQ(corrupted(good(), [](auto in) { in.template set<"cq_context.dbr_umem_valid">(1); }),
              "BAD_RESOURCE unknown_object");
}

TEST_F(CompletionQueueCommandsTest, CreateInvalidMemoryRefused) {
    EXPECT_EQ(corrupted(good(), [](auto in) { in.template set<"cq_context.dbr_addr">(0x1002); }),
              "BAD_PARAMETER bad_doorbell_record");
    EXPECT_EQ(corrupted(good(), [](auto in) { in.template set<"cq_context.log_cq_size">(7); }),
              "BAD_PARAMETER page_list_too_short");
    EXPECT_EQ(corrupted(good(), [](auto in) { in.template set_at<"pas">(0, 0x1008); }),
              "BAD_PARAMETER bad_page_address");
    EXPECT_EQ(corrupted(good(), [](auto in) { in.template set_at<"pas">(0, ~0xfffULL); }),
              "BAD_PARAMETER bad_page_address")
        << "the end of the page is beyond 64 bits";
}

TEST_F(CompletionQueueCommandsTest, CreateUnknownObjectsRefused) {
    EXPECT_EQ(corrupted(good(), [](auto in) { in.template set<"cq_context.uar_page">(no_object); }),
              "BAD_RESOURCE unknown_object");
    EXPECT_EQ(
        corrupted(good(),
                  [](auto in) { in.template set<"cq_context.c_eqn_or_apu_element">(no_object); }),
        "BAD_RESOURCE unknown_object");
}

/// Public drivers create completion EQs with uid 0xffff only on devices with user contexts.
TEST_F(CompletionQueueCommandsTest, UserContextNeedsSharedEq) {
    const auto uid = static_cast<std::uint16_t>(
        (*bench.hca().objects().of<hca::UserContext>().create(0, 0U))->number());
    const auto create = [&](std::uint32_t eqn) {
        auto call = good();
        call.in().set<"cq_context.c_eqn_or_apu_element">(eqn);
        return outcome(bench.run(call, 0, uid));
    };
    const auto& own = bench.event_queue();
    ASSERT_EQ(own.uid(), hca::kernel_uid);
    EXPECT_EQ(create(own.number()), "BAD_RESOURCE object_of_other_user_context");
    EXPECT_EQ(create(make_shared_event_queue()), "OK");
}

TEST_F(CompletionQueueCommandsTest, CqHoldsEqUntilDestroyed) {
    const auto& queue = bench.make_completion_queue();
    const auto destroy_events = [&] {
        return run<hwtab::cmd_destroy_eq>(
            [&](auto in) { in.template set<"eq_number">(bench.event_queue().number()); });
    };
    EXPECT_EQ(destroy_events(), "RESOURCE_BUSY object_busy");
    EXPECT_EQ(destroy(queue.number()), "OK");
    EXPECT_EQ(destroy_events(), "OK");
}

TEST_F(CompletionQueueCommandsTest, ModifyEqReleasesFormerEq) {
    const auto& former = bench.event_queue();
    const auto& queue = bench.make_completion_queue();
    const auto& other = bench.make_event_queue();
    constexpr auto event_queue = hwtab::value<hwtab::cq_modify_field_select, "c_eqn">;
    EXPECT_EQ(modify(queue.number(), event_queue,
                     [](auto in) { in.template set<"c_eqn_or_apu_element">(no_object); }),
              "BAD_RESOURCE unknown_object");
    EXPECT_EQ(former.references(), 1U);
    EXPECT_EQ(modify(queue.number(), event_queue,
                     [&](auto in) { in.template set<"c_eqn_or_apu_element">(other.number()); }),
              "OK");
    EXPECT_EQ(former.references(), 0U);
    EXPECT_EQ(other.references(), 1U);
}

TEST_F(CompletionQueueCommandsTest, ModifyUnknownSelectionRefused) {
    const auto number = bench.make_completion_queue().number();
    EXPECT_EQ(modify(number, 0x20, nothing), "BAD_PARAMETER bad_optional_mask");
    EXPECT_EQ(modify(number, 0, nothing, 2), "BAD_OPERATION unknown_op_mod");
}

TEST_F(CompletionQueueCommandsTest, ForeignUserContextRefused) {
    const auto number = bench.make_completion_queue().number();
    EXPECT_EQ(modify(number, 0, nothing, 0, 7), "BAD_RESOURCE object_of_other_user_context");
    EXPECT_EQ(destroy(number, 7), "BAD_RESOURCE object_of_other_user_context");
    EXPECT_EQ(bench.violations(hca::rules::foreign_object), 2U);
}

// --- Resize --------------------------------------------------------------------------------------

class ResizeCommandTest : public CompletionQueueCommandsTest {
protected:
    static constexpr std::uint64_t every_field =
        hwtab::value<hwtab::cq_resize_field_select, "log_cq_size"> |
        hwtab::value<hwtab::cq_resize_field_select, "page_offset"> |
        hwtab::value<hwtab::cq_resize_field_select, "log_page_size">;

    Call<hwtab::cmd_modify_cq> resize(const CompletionQueue& queue, std::uint32_t log_size) {
        Call<hwtab::cmd_modify_cq> call(sizeof(std::uint64_t));
        call.in().set<"cqn">(queue.number());
        call.in()
            .set<"modify_field_select_resize_field_select.resize_field_select.resize_field_select">(
                every_field);
        call.in().set<"cq_context.log_cq_size">(log_size);
        call.in().set_at<"pas">(0, bench.allocate(4096));
        return call;
    }
    std::string outcome_of(Call<hwtab::cmd_modify_cq> call) { return outcome(bench.run(call, 1)); }
};

TEST_F(ResizeCommandTest, BeyondCapabilityOrPagesRefused) {
    const auto& queue = bench.make_completion_queue();
    EXPECT_EQ(outcome_of(resize(queue, 23)), "EXCEEDS_LIMIT exceeds_capability");
    EXPECT_EQ(outcome_of(resize(queue, 7)), "BAD_PARAMETER page_list_too_short");
    auto call = resize(queue, 4);
    call.in().set<"cq_umem_valid">(1);
    EXPECT_EQ(outcome_of(call), "BAD_RESOURCE unknown_object");
    EXPECT_EQ(outcome_of(resize(queue, 5)), "OK");
    EXPECT_EQ(queue.size(), 32U);
}

TEST_F(ResizeCommandTest, StoppedCqRefused) {
    auto& queue = bench.make_completion_queue({.log_size = 0});
    queue.post({});
    queue.post({});
    ASSERT_TRUE(queue.stopped());
    EXPECT_EQ(outcome_of(resize(queue, 5)), "BAD_RESOURCE_STATE wrong_object_state");
}

TEST_F(ResizeCommandTest, UnselectedFieldsUnchanged) {
    const auto& queue = bench.make_completion_queue();
    auto call = resize(queue, 5);
    call.in()
        .set<"modify_field_select_resize_field_select.resize_field_select.resize_field_select">(
            hwtab::value<hwtab::cq_resize_field_select, "page_offset">);
    call.in().set<"cq_context.page_offset">(1);
    ASSERT_EQ(outcome_of(call), "OK");
    EXPECT_EQ(queue.size(), 16U);
    EXPECT_EQ(queue.context().get<"page_offset">(), 1U);
    EXPECT_EQ(queue.buffer().address(0) % 4096, 64U);
}

TEST_F(ResizeCommandTest, UnknownSelectionRefused) {
    auto call = resize(bench.make_completion_queue(), 5);
    call.in()
        .set<"modify_field_select_resize_field_select.resize_field_select.resize_field_select">(8);
    EXPECT_EQ(outcome_of(call), "BAD_PARAMETER bad_optional_mask");
}

TEST_F(CompletionQueueCommandsTest, CreateWithoutFreeNumberFails) {
    Bench small(Bench::with_capability("log_max_cq", 1));
    small.make_completion_queue();
    EXPECT_ANY_THROW(small.make_completion_queue());
}

} // namespace
} // namespace cxemu::commands
