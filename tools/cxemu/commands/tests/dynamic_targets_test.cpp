// SPDX-License-Identifier: GPL-2.0-or-later
//
// DCT and DCI commands.
#include "commands/tests/fixtures.hpp"
#include "hca/rules.hpp"

namespace cxemu::commands {
namespace {

using queues::QueuePair;
using queues::ServiceType;
using testing::Bench;
using testing::Call;
using testing::CommandTest;
using testing::outcome;

class DynamicTargetCommandsTest : public CommandTest {
protected:
    using CommandTest::CommandTest;

    Call<hwtab::cmd_create_dct> good() {
        Call<hwtab::cmd_create_dct> call;
        const auto fields = call.in().nested<"dct_context_entry", hwtab::dctc>();
        fields.set<"pd">(bench.domain());
        fields.set<"cqn">(bench.make_completion_queue().number());
        fields.set<"srqn_xrqn">(bench.make_receive_pool({}).number());
        fields.set<"user_index">(0x1234);
        fields.set<"dc_access_key">(0x0123'4567'89ab'cdef);
        fields.set<"mtu">(3);
        fields.set<"port">(1);
        fields.set<"pkey_index">(5);
        fields.set<"rwe">(1);
        fields.set<"hop_limit">(63);
        fields.set<"min_rnr_nak">(7);
        return call;
    }
    std::uint32_t make() {
        auto call = good();
        EXPECT_EQ(outcome(bench.run(call)), "OK");
        return static_cast<std::uint32_t>(call.out().get<"dctn">());
    }
    template <const hwtab::Command& command>
    std::string of_target(std::uint32_t number, std::uint16_t uid = 0) {
        return run<command>([&](auto in) { in.template set<"dctn">(number); }, 0, uid);
    }
};

TEST_F(DynamicTargetCommandsTest, DestroyedDctUnknown) {
    const std::uint32_t number = make();
    Call<hwtab::cmd_query_dct> query;
    query.in().set<"dctn">(number);
    ASSERT_EQ(outcome(bench.run(query)), "OK");
    const auto context = query.out().nested<"dct_context_entry", hwtab::dctc>();
    EXPECT_EQ(context.get<"state">(), (hwtab::value<hwtab::dct_state, "active">));
    EXPECT_EQ(context.get<"user_index">(), 0x1234U);
    EXPECT_EQ(context.get<"dc_access_key">(), 0x0123'4567'89ab'cdefU);
    EXPECT_EQ(context.get<"mtu">(), 3U);
    EXPECT_EQ(context.get<"pkey_index">(), 5U);
    EXPECT_EQ(context.get<"rwe">(), 1U);
    EXPECT_EQ(context.get<"rre">(), 0U);
    EXPECT_EQ(context.get<"hop_limit">(), 63U);
    EXPECT_EQ(context.get<"min_rnr_nak">(), 7U);

    EXPECT_EQ(of_target<hwtab::cmd_drain_dct>(number), "OK");
    ASSERT_EQ(outcome(bench.run(query)), "OK");
    EXPECT_EQ(context.get<"state">(), (hwtab::value<hwtab::dct_state, "drained">));
    EXPECT_EQ(of_target<hwtab::cmd_destroy_dct>(number), "OK");
    EXPECT_EQ(of_target<hwtab::cmd_destroy_dct>(number), "BAD_RESOURCE unknown_object");
    EXPECT_EQ(of_target<hwtab::cmd_query_dct>(number), "BAD_RESOURCE unknown_object");
}

TEST_F(DynamicTargetCommandsTest, CreateInvalidContextValuesRefused) {
    const auto corrupt_entry = [this](auto change) {
        return corrupted(good(), [&](auto in) {
            change(in.template nested<"dct_context_entry", hwtab::dctc>());
        });
    };
    EXPECT_EQ(corrupt_entry([](auto dct) { dct.template set<"mtu">(0); }),
              "BAD_PARAMETER field_out_of_range");
    EXPECT_EQ(corrupt_entry([](auto dct) { dct.template set<"mtu">(6); }),
              "BAD_PARAMETER field_out_of_range");
    EXPECT_EQ(corrupt_entry([](auto dct) { dct.template set<"port">(0); }),
              "BAD_PARAMETER wrong_port");
    EXPECT_EQ(corrupt_entry([](auto dct) { dct.template set<"port">(2); }),
              "BAD_PARAMETER wrong_port");
    EXPECT_EQ(corrupt_entry([](auto dct) { dct.template set<"pd">(no_object); }),
              "BAD_RESOURCE unknown_object");
    EXPECT_EQ(corrupt_entry([](auto dct) { dct.template set<"cqn">(no_object); }),
              "BAD_RESOURCE unknown_object");
    EXPECT_EQ(corrupt_entry([](auto dct) { dct.template set<"srqn_xrqn">(no_object); }),
              "BAD_RESOURCE unknown_object");
    EXPECT_EQ(corrupt_entry([](auto dct) { dct.template set<"counter_set_id">(9); }),
              "BAD_RESOURCE unknown_object");
}

TEST_F(DynamicTargetCommandsTest, QpCommandOnDctRefused) {
    const std::uint32_t number = make();
    const auto of_pair = [&]<const hwtab::Command & command>() {
        return run<command>([&](auto in) { in.template set<"qpn">(number); });
    };
    const std::string refused = "BAD_RESOURCE wrong_object_type";
    EXPECT_EQ(of_pair.operator()<hwtab::cmd_destroy_qp>(), refused);
    EXPECT_EQ(of_pair.operator()<hwtab::cmd_query_qp>(), refused);
    EXPECT_EQ(of_pair.operator()<hwtab::cmd_qp_2err>(), refused);
    EXPECT_EQ(of_pair.operator()<hwtab::cmd_qp_2rst>(), refused);
    EXPECT_EQ(of_pair.operator()<hwtab::cmd_rst2init_qp>(), refused);
    const std::uint32_t other = bench.make_queue_pair().number();
    EXPECT_EQ(of_target<hwtab::cmd_destroy_dct>(other), refused);
    EXPECT_EQ(of_target<hwtab::cmd_drain_dct>(other), refused);
    EXPECT_EQ(of_target<hwtab::cmd_query_dct>(other), refused);
}

TEST_F(DynamicTargetCommandsTest, DctHoldsReceivePool) {
    auto call = good();
    const auto pool = call.in().nested<"dct_context_entry", hwtab::dctc>().get<"srqn_xrqn">();
    ASSERT_EQ(outcome(bench.run(call)), "OK");
    const auto destroy = [&] {
        return run<hwtab::cmd_destroy_rmp>([&](auto in) { in.template set<"rmpn">(pool); });
    };
    EXPECT_EQ(destroy(), "RESOURCE_BUSY object_busy");
    EXPECT_EQ(
        of_target<hwtab::cmd_destroy_dct>(static_cast<std::uint32_t>(call.out().get<"dctn">())),
        "OK");
    EXPECT_EQ(destroy(), "OK");
}

struct NoDynamicTransport : DynamicTargetCommandsTest {
    NoDynamicTransport() : DynamicTargetCommandsTest(Bench::with_capability("dct", 0)) {}
};

TEST_F(NoDynamicTransport, DctAndDciRefused) {
    auto call = good();
    EXPECT_EQ(outcome(bench.run(call)), "BAD_PARAMETER not_supported");
    Call<hwtab::cmd_create_qp> initiator;
    initiator.in().set<"qpc.st">(static_cast<std::uint8_t>(ServiceType::dci));
    EXPECT_EQ(outcome(bench.run(initiator)), "BAD_PARAMETER not_supported");
}

TEST_F(DynamicTargetCommandsTest, DciStreamsBeyondLimitRefused) {
    const auto create = [this](std::uint64_t streams, std::uint64_t failed) {
        Call<hwtab::cmd_create_qp> call;
        call.in().set<"qpc.st">(static_cast<std::uint8_t>(ServiceType::dci));
        call.in().set<"qpc.log_num_dci_stream_channels">(streams);
        call.in().set<"qpc.log_num_dci_errored_streams">(failed);
        return outcome(bench.run(call));
    };
    EXPECT_EQ(create(5, 0), "EXCEEDS_LIMIT exceeds_capability");
    EXPECT_EQ(create(4, 5), "EXCEEDS_LIMIT exceeds_capability");
    EXPECT_EQ(create(4, 4), "BAD_RESOURCE unknown_object") << "the next check: there is no domain";
}

// --- Address to QP mapping -----------------------------------------------------------------------

constexpr std::uint64_t address_mapping = 0x3a;

struct AddressMappings : CommandTest {
    AddressMappings()
        : CommandTest(
              Bench::with_capability("general_obj_types", std::uint64_t{1} << address_mapping)) {}

    template <const hwtab::Command& command>
    std::string of(std::uint64_t type, std::uint64_t number = 0) {
        return run<command>([&](auto in) {
            in.template set<"obj_type">(type);
            in.template set<"obj_id">(number);
        });
    }
};

TEST_F(AddressMappings, DestroyedMappingUnknown) {
    EXPECT_EQ(of<hwtab::cmd_create_general_object>(address_mapping), "OK");
    EXPECT_EQ(of<hwtab::cmd_destroy_general_object>(address_mapping, 1), "OK");
    EXPECT_EQ(of<hwtab::cmd_destroy_general_object>(address_mapping, 1),
              "BAD_RESOURCE unknown_object");
    EXPECT_EQ(of<hwtab::cmd_create_general_object>(address_mapping + 1),
              "BAD_PARAMETER not_supported");
    EXPECT_EQ(of<hwtab::cmd_query_general_object>(address_mapping), "BAD_PARAMETER not_supported");
}

} // namespace
} // namespace cxemu::commands
