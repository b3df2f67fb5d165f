// SPDX-License-Identifier: GPL-2.0-or-later
#include "commands/tests/fixtures.hpp"
#include "hca/rules.hpp"

namespace cxemu::commands {
namespace {

using testing::Bench;
using testing::Call;
using testing::CommandTest;
using testing::outcome;

class EventCommandsTest : public CommandTest {
protected:
    Call<hwtab::cmd_create_eq> good() {
        Call<hwtab::cmd_create_eq> call(sizeof(std::uint64_t));
        call.in().set<"eq_context_entry.log_eq_size">(4);
        call.in().set<"eq_context_entry.uar_page">(bench.uar().number());
        call.in().set_at<"pas">(0, bench.allocate(4096));
        return call;
    }
    std::string destroy(std::uint64_t number) {
        return run<hwtab::cmd_destroy_eq>([&](auto in) { in.template set<"eq_number">(number); });
    }
};

TEST_F(EventCommandsTest, CreatedEqDestroyed) {
    auto call = good();
    EXPECT_EQ(outcome(bench.run(call)), "OK");
    EXPECT_EQ(destroy(call.out().get<"eq_number">()), "OK");
}

TEST_F(EventCommandsTest, CreateEqForgedOutputSetsEqnForged) {
    auto call = good();
    auto false_call = good();
    false_call.output_is_false = true;
    ASSERT_EQ(outcome(bench.run(call)), "OK");
    ASSERT_EQ(outcome(bench.run(false_call)), "OK");
    const auto eqn_forged = [&](auto& made) {
        const auto number = static_cast<std::uint32_t>(made.out().template get<"eq_number">());
        return bench.hca().objects().of<queues::EventQueue>().find(number)->eqn_forged();
    };
    EXPECT_FALSE(eqn_forged(call));
    EXPECT_TRUE(eqn_forged(false_call));
}

TEST_F(EventCommandsTest, CreateBeyondCapabilityRefused) {
    EXPECT_EQ(
        corrupted(good(), [](auto in) { in.template set<"eq_context_entry.log_eq_size">(23); }),
        "EXCEEDS_LIMIT exceeds_capability");
    EXPECT_EQ(corrupted(good(), [](auto in) { in.template set<"eq_context_entry.intr">(8); }),
              "BAD_PARAMETER bad_vector");
}

TEST_F(EventCommandsTest, CreateInvalidBufferRefused) {
    EXPECT_EQ(
        corrupted(good(), [](auto in) { in.template set<"eq_context_entry.log_eq_size">(7); }),
        "BAD_PARAMETER page_list_too_short");
    EXPECT_EQ(corrupted(good(), [](auto in) { in.template set_at<"pas">(0, 0x1008); }),
              "BAD_PARAMETER bad_page_address");
}

TEST_F(EventCommandsTest, CreateUnknownUarRefused) {
    EXPECT_EQ(
        corrupted(good(), [](auto in) { in.template set<"eq_context_entry.uar_page">(no_object); }),
        "BAD_RESOURCE unknown_object");
    EXPECT_EQ(bench.violations(hca::rules::unknown_object), 1U);
}

TEST_F(EventCommandsTest, CreateEventMappedTwiceRefused) {
    bench.make_event_queue({.events = 1U << 9U});
    EXPECT_EQ(corrupted(good(), [](auto in) { in.template set_at<"event_bitmask">(0, 1U << 9U); }),
              "BAD_PARAMETER event_already_mapped");
}

TEST_F(EventCommandsTest, EqHoldsUarUntilDestroyed) {
    const auto& queue = bench.make_event_queue();
    const auto release = [&] {
        return run<hwtab::cmd_dealloc_uar>(
            [&](auto in) { in.template set<"uar">(bench.uar().number()); });
    };
    EXPECT_EQ(release(), "RESOURCE_BUSY object_busy");
    EXPECT_EQ(bench.violations(hca::rules::destroyed_while_referenced), 1U);
    EXPECT_EQ(destroy(queue.number()), "OK");
    EXPECT_EQ(release(), "OK");
}

TEST_F(EventCommandsTest, DestroyedEqUnknown) {
    const auto number = bench.make_event_queue().number();
    EXPECT_EQ(destroy(number), "OK");
    EXPECT_EQ(destroy(number), "BAD_RESOURCE unknown_object");
    EXPECT_EQ(run<hwtab::cmd_query_eq>([&](auto in) { in.template set<"eq_number">(number); }),
              "BAD_RESOURCE unknown_object");
    EXPECT_EQ(run<hwtab::cmd_gen_eqe>([&](auto in) { in.template set<"eq_number">(number); }),
              "BAD_RESOURCE unknown_object");
}

TEST_F(EventCommandsTest, QueryEqReturnsEventMaskAndPages) {
    const auto& queue = bench.make_event_queue({.events = 0xa00, .page_offset = 2});
    Call<hwtab::cmd_query_eq> query;
    query.in().set<"eq_number">(queue.number());
    ASSERT_EQ(outcome(bench.run(query)), "OK");
    EXPECT_EQ(query.out().get<"event_bitmask">(), 0xa00U);
    EXPECT_EQ(query.out().get<"eq_context_entry.page_offset">(), 2U);
}

TEST_F(EventCommandsTest, SubscribedEqGetsRegularPageRequest) {
    auto settings = Bench::default_settings();
    settings.pages = {.boot = 0, .init = 0, .regular = 5};
    Bench hungry(settings);
    hungry.make_event_queue({.events = 1U << 9U});
    const auto& queue = hungry.make_event_queue({.events = 1U << 0xbU});
    ASSERT_EQ(queue.context().get<"producer_counter">(), 1U);
    EXPECT_EQ(hungry.event(queue, 0).get<"event_type">(), 0xbU);
    EXPECT_EQ(hungry.event(queue, 0).get<"event_data.pages_req_event.num_pages">(), 5U);
    EXPECT_EQ(bench.make_event_queue({.events = 1U << 0xbU}).context().get<"producer_counter">(),
              0U)
        << "it needs none";
}

TEST_F(EventCommandsTest, GenEqeOverrunEqRefused) {
    auto& queue = bench.make_event_queue({.log_size = 1});
    const auto generate = [&] {
        return run<hwtab::cmd_gen_eqe>(
            [&](auto in) { in.template set<"eq_number">(queue.number()); });
    };
    EXPECT_EQ(generate(), "OK");
    EXPECT_EQ(generate(), "OK");
    EXPECT_EQ(generate(), "BAD_RESOURCE_STATE wrong_object_state") << "the EQ has overrun";
}

/// Numbers begin with 16, of 32.
TEST_F(EventCommandsTest, CreateWithoutFreeNumberRefused) {
    Bench small(Bench::with_capability("log_max_eq", 5));
    for (int i = 0; i < 16; ++i)
        small.make_event_queue();
    Call<hwtab::cmd_create_eq> call(sizeof(std::uint64_t));
    call.in().set<"eq_context_entry.uar_page">(small.uar().number());
    call.in().set_at<"pas">(0, small.allocate(4096));
    EXPECT_EQ(outcome(small.run(call)), "NO_RESOURCES no_number_left");
}

TEST_F(EventCommandsTest, CreateBeyondFunctionLimitRefused) {
    Bench small(Bench::with_capability("max_num_eqs", 2));
    for (int i = 0; i < 2; ++i)
        small.make_event_queue();
    Call<hwtab::cmd_create_eq> call(sizeof(std::uint64_t));
    call.in().set<"eq_context_entry.uar_page">(small.uar().number());
    call.in().set_at<"pas">(0, small.allocate(4096));
    EXPECT_EQ(outcome(small.run(call)), "NO_RESOURCES no_number_left");
}

TEST_F(EventCommandsTest, EqLimitTakenFromSecondPage) {
    auto settings = Bench::with_capability("max_num_eqs", 1);
    settings.overrides.emplace_back("max_num_eqs_24b", 2);
    Bench small(settings);
    for (int i = 0; i < 2; ++i)
        small.make_event_queue();
    Call<hwtab::cmd_create_eq> call(sizeof(std::uint64_t));
    call.in().set<"eq_context_entry.uar_page">(small.uar().number());
    call.in().set_at<"pas">(0, small.allocate(4096));
    EXPECT_EQ(outcome(small.run(call)), "NO_RESOURCES no_number_left");
}

} // namespace
} // namespace cxemu::commands
