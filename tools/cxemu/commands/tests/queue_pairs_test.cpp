// SPDX-License-Identifier: GPL-2.0-or-later
//
// Rejected QP commands, and the references that QPs hold. States and transitions are tested in
// queues/.
#include "commands/tests/fixtures.hpp"
#include "hca/rules.hpp"

namespace cxemu::commands {
namespace {

using queues::QueuePair;
using queues::QueuePairState;
using queues::ReceiveSource;
using queues::ServiceType;
using testing::Bench;
using testing::Call;
using testing::CommandTest;
using testing::outcome;

template <hwtab::FixedString name>
constexpr std::uint64_t option = hwtab::value<hwtab::qp_optional_parameters, name>;

class QueuePairCommandsTest : public CommandTest {
protected:
    Call<hwtab::cmd_create_qp> good() {
        Call<hwtab::cmd_create_qp> call(sizeof(std::uint64_t));
        const auto fields = call.in().nested<"qpc", hwtab::qpc>();
        const auto completions = bench.make_completion_queue().number();
        fields.set<"st">(static_cast<std::uint8_t>(ServiceType::unreliable_datagram));
        fields.set<"pd">(bench.domain());
        fields.set<"log_sq_size">(4);
        fields.set<"log_rq_size">(2);
        fields.set<"log_rq_stride">(1);
        fields.set<"cqn_snd">(completions);
        fields.set<"cqn_rcv">(completions);
        fields.set<"uar_page">(bench.uar().number());
        fields.set<"dbr_addr">(bench.allocate(4096));
        call.in().set_at<"pas">(0, bench.allocate(4096));
        return call;
    }

    template <const hwtab::Command& command>
    std::string simple(std::uint64_t number, std::uint16_t uid = 0) {
        return run<command>([&](auto in) { in.template set<"qpn">(number); }, 0, uid);
    }
    template <const hwtab::Command& command>
    std::string transit(const QueuePair& queue_pair, std::uint64_t mask, auto corrupt_entry) {
        Call<command> call;
        call.in().template set<"qpn">(queue_pair.number());
        call.in().template set<"opt_param_mask">(mask);
        const auto context = call.in().template nested<"qpc", hwtab::qpc>();
        Bench::fill_context(context);
        corrupt_entry(context);
        return outcome(bench.run(call));
    }
    QueuePair& ready_to_send() {
        QueuePair& queue_pair = bench.make_queue_pair();
        bench.bring_to(queue_pair, QueuePairState::ready_to_send);
        return queue_pair;
    }
};

// --- CREATE_QP -----------------------------------------------------------------------------------

TEST_F(QueuePairCommandsTest, DestroyedQpUnknown) {
    auto call = good();
    ASSERT_EQ(outcome(bench.run(call)), "OK");
    const auto number = call.out().get<"qpn">();
    EXPECT_EQ(simple<hwtab::cmd_destroy_qp>(number), "OK");
    EXPECT_EQ(simple<hwtab::cmd_destroy_qp>(number), "BAD_RESOURCE unknown_object");
    EXPECT_EQ(simple<hwtab::cmd_query_qp>(number), "BAD_RESOURCE unknown_object");
    EXPECT_EQ(simple<hwtab::cmd_qp_2err>(number), "BAD_RESOURCE unknown_object");
    EXPECT_EQ(simple<hwtab::cmd_qp_2rst>(number), "BAD_RESOURCE unknown_object");
    EXPECT_EQ(simple<hwtab::cmd_rst2init_qp>(number), "BAD_RESOURCE unknown_object");
    EXPECT_EQ(bench.violations(hca::rules::unknown_object), 5U);
}

/// Public drivers allocate counter sets with uid 0xffff only on devices with user contexts.
TEST_F(QueuePairCommandsTest, UserContextNeedsSharedCounters) {
    auto& sets = bench.hca().objects().of<queues::QueueCounterSet>();
    const auto own = (*sets.create(hca::kernel_uid))->number();
    const auto shared = (*sets.create(hca::shared_uid))->number();
    const auto uid = static_cast<std::uint16_t>(
        (*bench.hca().objects().of<hca::UserContext>().create(0, 0U))->number());
    auto made = good();
    ASSERT_EQ(outcome(bench.run(made, 0, uid)), "OK");
    const auto initialize = [&](std::uint32_t set) {
        Call<hwtab::cmd_rst2init_qp> call;
        call.in().set<"qpn">(made.out().get<"qpn">());
        const auto context = call.in().nested<"qpc", hwtab::qpc>();
        Bench::fill_context(context);
        context.set<"counter_set_id">(set);
        return outcome(bench.run(call, 0, uid));
    };
    EXPECT_EQ(initialize(own), "BAD_RESOURCE object_of_other_user_context");
    EXPECT_EQ(initialize(shared), "OK");
}

class OldFirmwareQueuePairTest : public CommandTest {
protected:
    OldFirmwareQueuePairTest() : CommandTest(Bench::with_capability("set_deth_sqpn", 0)) {}
};

TEST_F(OldFirmwareQueuePairTest, StandInForSourceRefused) {
    EXPECT_EQ(run<hwtab::cmd_create_qp>([](auto in) {
                  in.template set<"qpc.deth_sqpn">(1);
                  in.template set<"qpc.st">(
                      static_cast<std::uint8_t>(ServiceType::unreliable_datagram));
              }),
              "BAD_PARAMETER not_supported");
}

TEST_F(QueuePairCommandsTest, CreateUnsupportedValuesRefused) {
    EXPECT_EQ(corrupted(good(), [](auto in) { in.template set<"input_qpn">(5); }),
              "BAD_PARAMETER not_supported");
    EXPECT_EQ(corrupted(good(), [](auto in) { in.template set<"qpc.dbr_umem_valid">(1); }),
              "BAD_RESOURCE unknown_object");
    EXPECT_EQ(corrupted(good(), [](auto in) { in.template set<"qpc.rq_type">(2); }),
              "BAD_PARAMETER field_out_of_range");
    EXPECT_EQ(corrupted(good(), [](auto in) { in.template set<"qpc.st">(0xf); }),
              "BAD_PARAMETER bad_service_type");
}

TEST_F(QueuePairCommandsTest, CreateSizeBeyondCapabilityRefused) {
    const auto small = Bench::with_capability("log_max_qp_sz", 3);
    Bench limited(small);
    const auto create = [&](std::uint64_t log_sends, std::uint64_t log_receives) {
        Call<hwtab::cmd_create_qp> call;
        call.in().set<"qpc.st">(static_cast<std::uint8_t>(ServiceType::unreliable_datagram));
        call.in().set<"qpc.log_sq_size">(log_sends);
        call.in().set<"qpc.log_rq_size">(log_receives);
        return outcome(limited.run(call));
    };
    EXPECT_EQ(create(4, 3), "EXCEEDS_LIMIT exceeds_capability");
    EXPECT_EQ(create(3, 4), "EXCEEDS_LIMIT exceeds_capability");
    EXPECT_EQ(create(3, 3), "BAD_RESOURCE unknown_object") << "the next check: there is no domain";
}

TEST_F(QueuePairCommandsTest, CreateInvalidMemoryRefused) {
    EXPECT_EQ(corrupted(good(), [](auto in) { in.template set<"qpc.dbr_addr">(2); }),
              "BAD_PARAMETER bad_doorbell_record");
    EXPECT_EQ(corrupted(good(), [](auto in) { in.template set<"qpc.log_sq_size">(6); }),
              "BAD_PARAMETER page_list_too_short");
    EXPECT_EQ(corrupted(good(), [](auto in) { in.template set_at<"pas">(0, 8); }),
              "BAD_PARAMETER bad_page_address");
}

TEST_F(QueuePairCommandsTest, CreateUnknownObjectsRefused) {
    constexpr auto unknown = "BAD_RESOURCE unknown_object";
    EXPECT_EQ(corrupted(good(), [](auto in) { in.template set<"qpc.pd">(no_object); }), unknown);
    EXPECT_EQ(corrupted(good(), [](auto in) { in.template set<"qpc.cqn_snd">(no_object); }),
              unknown);
    EXPECT_EQ(corrupted(good(), [](auto in) { in.template set<"qpc.cqn_rcv">(no_object); }),
              unknown);
    EXPECT_EQ(corrupted(good(), [](auto in) { in.template set<"qpc.uar_page">(no_object); }),
              unknown);
    EXPECT_EQ(corrupted(good(),
                        [](auto in) {
                            in.template set<"qpc.rq_type">(1);
                            in.template set<"qpc.srqn_rmpn_xrqn">(no_object);
                        }),
              unknown);
    EXPECT_EQ(corrupted(good(),
                        [](auto in) {
                            in.template set<"qpc.st">(3); // xrc
                            in.template set<"qpc.xrcd">(no_object);
                        }),
              unknown);
    EXPECT_EQ(corrupted(good(),
                        [](auto in) {
                            in.template set<"wq_umem_valid">(1);
                            in.template set<"wq_umem_id">(no_object);
                        }),
              unknown);
    EXPECT_EQ(bench.hca().objects().count(hca::ObjectKind::queue_pair), 0U);
}

TEST_F(QueuePairCommandsTest, CreateUmemTooSmallRefused) {
    const auto number = make_umem(bench.allocate(4096), 1);
    const auto create = [&](std::uint64_t offset) {
        return corrupted(good(), [&](auto in) {
            in.template set<"wq_umem_valid">(1);
            in.template set<"wq_umem_id">(number);
            in.template set<"wq_umem_offset">(offset);
        });
    };
    EXPECT_EQ(create(4096), "BAD_PARAMETER umem_out_of_range");
    EXPECT_EQ(create(~0ULL), "BAD_PARAMETER umem_out_of_range");
    EXPECT_EQ(create(1024), "OK");
    EXPECT_EQ(destroy_umem(number), "RESOURCE_BUSY object_busy");
}

TEST_F(QueuePairCommandsTest, CreateWithoutFreeNumberFails) {
    Bench small(Bench::with_capability("log_max_qp", 6)); // numbers below 0x40 are reserved
    EXPECT_ANY_THROW(small.make_queue_pair());
}

// --- References ----------------------------------------------------------------------------------

TEST_F(QueuePairCommandsTest, QpHoldsObjectsUntilDestroyed) {
    const auto xrc_domain = bench.make_xrc_domain();
    auto& completions = bench.make_completion_queue();
    auto& pool = bench.make_receive_pool({});
    const auto& queue_pair =
        bench.make_queue_pair({.service = ServiceType::extended_reliable_connection,
                               .receives = ReceiveSource::shared_queue,
                               .shared_receive = pool.number(),
                               .xrc_domain = xrc_domain,
                               .completions = &completions});
    const auto release_all = [&] {
        return std::vector{
            run<hwtab::cmd_dealloc_xrcd>([&](auto in) { in.template set<"xrcd">(xrc_domain); }),
            run<hwtab::cmd_destroy_cq>(
                [&](auto in) { in.template set<"cqn">(completions.number()); }),
            run<hwtab::cmd_destroy_rmp>([&](auto in) { in.template set<"rmpn">(pool.number()); }),
        };
    };
    EXPECT_EQ(release_all(), std::vector<std::string>(3, "RESOURCE_BUSY object_busy"));
    EXPECT_EQ(simple<hwtab::cmd_destroy_qp>(queue_pair.number()), "OK");
    EXPECT_EQ(release_all(), std::vector<std::string>(3, "OK"));
}

TEST_F(QueuePairCommandsTest, ForeignUserContextRefused) {
    constexpr auto foreign = "BAD_RESOURCE object_of_other_user_context";
    const auto number = bench.make_queue_pair().number();
    EXPECT_EQ(simple<hwtab::cmd_qp_2err>(number, 7), foreign);
    EXPECT_EQ(simple<hwtab::cmd_rst2init_qp>(number, 7), foreign);
    EXPECT_EQ(simple<hwtab::cmd_destroy_qp>(number, 7), foreign);
    EXPECT_EQ(simple<hwtab::cmd_query_qp>(number, 7), "OK") << "the kernel's objects are visible";
}

// --- Transitions ---------------------------------------------------------------------------------

struct QueuePairsOfShortMessages : CommandTest {
    QueuePairsOfShortMessages() : CommandTest(Bench::with_capability("log_max_msg", 30)) {}
};

TEST_F(QueuePairsOfShortMessages, MessageLimitBeyondCapabilityRefused) {
    Call<hwtab::cmd_rst2init_qp> call;
    call.in().set<"qpn">(bench.make_queue_pair().number());
    const auto context = call.in().nested<"qpc", hwtab::qpc>();
    Bench::fill_context(context);
    context.set<"log_msg_max">(31);
    EXPECT_EQ(outcome(bench.run(call)), "EXCEEDS_LIMIT exceeds_capability");
    context.set<"log_msg_max">(30);
    EXPECT_EQ(outcome(bench.run(call)), "OK");
}

TEST_F(QueuePairCommandsTest, TransitionFromWrongStateRefused) {
    EXPECT_EQ(simple<hwtab::cmd_rtr2rts_qp>(bench.make_queue_pair().number()),
              "BAD_QP_STATE bad_transition");
}

TEST_F(QueuePairCommandsTest, TransitionInvalidContextValuesRefused) {
    QueuePair& queue_pair = bench.make_queue_pair({.service = ServiceType::reliable_connection});
    EXPECT_EQ(transit<hwtab::cmd_rst2init_qp>(
                  queue_pair, 0,
                  [](auto qpc) { qpc.template set<"primary_address_path.vhca_port_num">(0); }),
              "BAD_PARAMETER wrong_port");
    ASSERT_EQ(transit<hwtab::cmd_rst2init_qp>(queue_pair, 0, [](auto) {}), "OK");
    for (const std::uint64_t mtu : {0U, 6U}) {
        EXPECT_EQ(transit<hwtab::cmd_init2rtr_qp>(queue_pair, 0,
                                                  [&](auto qpc) { qpc.template set<"mtu">(mtu); }),
                  "BAD_PARAMETER field_out_of_range")
            << mtu;
    }
    EXPECT_EQ(queue_pair.state(), QueuePairState::init);
}

/// iPXE's golan sets none.
TEST_F(QueuePairCommandsTest, DatagramsWithoutMtuAccepted) {
    for (const ServiceType service :
         {ServiceType::unreliable_datagram, ServiceType::subnet_management,
          ServiceType::general_services}) {
        QueuePair& queue_pair = bench.make_queue_pair({.service = service});
        ASSERT_EQ(transit<hwtab::cmd_rst2init_qp>(queue_pair, 0, [](auto) {}), "OK");
        EXPECT_EQ(transit<hwtab::cmd_init2rtr_qp>(queue_pair, 0,
                                                  [](auto qpc) { qpc.template set<"mtu">(0); }),
                  "OK");
    }
}

TEST_F(QueuePairCommandsTest, ConnectionPathWithoutPortRefused) {
    const auto connect = [&](ServiceType service) {
        QueuePair& queue_pair = bench.make_queue_pair({.service = service});
        EXPECT_EQ(transit<hwtab::cmd_rst2init_qp>(queue_pair, 0, [](auto) {}), "OK");
        return transit<hwtab::cmd_init2rtr_qp>(queue_pair, 0, [](auto qpc) {
            qpc.template set<"primary_address_path.vhca_port_num">(0);
        });
    };
    EXPECT_EQ(connect(ServiceType::reliable_connection), "BAD_PARAMETER wrong_port");
    EXPECT_EQ(connect(ServiceType::unreliable_connection), "BAD_PARAMETER wrong_port");
    EXPECT_EQ(connect(ServiceType::unreliable_datagram), "OK") << "it has no path";
}

/// Outcome of retry_mode go-back-N with that capability.
std::string go_back_n(std::uint64_t capability) {
    Bench bench(Bench::with_capability("go_back_n", capability));
    Call<hwtab::cmd_create_qp> call;
    const auto fields = call.in().nested<"qpc", hwtab::qpc>();
    fields.set<"st">(static_cast<std::uint8_t>(ServiceType::reliable_connection));
    fields.set<"pd">(bench.domain());
    fields.set<"no_sq">(1);
    fields.set<"rq_type">(static_cast<std::uint8_t>(ReceiveSource::none));
    fields.set<"dbr_addr">(bench.allocate(4096));
    fields.set<"retry_mode">(hwtab::value<hwtab::qp_retry_mode, "go_back_n">);
    return outcome(bench.run(call));
}

TEST(QueuePairCapabilityTest, GoBackNRequiresCapability) {
    EXPECT_EQ(go_back_n(1), "OK");
    EXPECT_EQ(go_back_n(0), "BAD_PARAMETER not_supported");
}

TEST_F(QueuePairCommandsTest, OptionOutsideTransitionRefused) {
    EXPECT_EQ(transit<hwtab::cmd_rts2rts_qp>(ready_to_send(), option<"retry_count">, [](auto) {}),
              "BAD_PARAMETER bad_optional_mask");
}

TEST_F(QueuePairCommandsTest, DatagramQpMovedToOtherCq) {
    QueuePair& queue_pair = ready_to_send();
    const auto& other = bench.make_completion_queue();
    EXPECT_EQ(transit<hwtab::cmd_rts2rts_qp>(
                  queue_pair, option<"cqn_rcv">,
                  [&](auto qpc) { qpc.template set<"cqn_rcv">(other.number()); }),
              "OK");
    EXPECT_EQ(queue_pair.receive_completions(), &other);
    EXPECT_EQ(queue_pair.context().get<"cqn_rcv">(), other.number()) << "QUERY_QP returns it";
    EXPECT_EQ(other.references(), 1U);
}

TEST_F(QueuePairCommandsTest, TransitionUnknownObjectChangesNothing) {
    auto& pool = bench.make_receive_pool({});
    QueuePair& queue_pair = bench.make_queue_pair(
        {.receives = ReceiveSource::shared_queue, .shared_receive = pool.number()});
    bench.bring_to(queue_pair, QueuePairState::ready_to_send);
    const auto* before = queue_pair.receive_completions();
    const auto& other = bench.make_completion_queue();
    EXPECT_EQ(transit<hwtab::cmd_rts2rts_qp>(queue_pair, option<"cqn_rcv"> | option<"srqn">,
                                             [&](auto qpc) {
                                                 qpc.template set<"cqn_rcv">(other.number());
                                                 qpc.template set<"srqn_rmpn_xrqn">(no_object);
                                             }),
              "BAD_RESOURCE unknown_object");
    EXPECT_EQ(queue_pair.receive_completions(), before);
    EXPECT_EQ(other.references(), 0U);
}

TEST_F(QueuePairCommandsTest, SrqForQpWithOwnRqRefused) {
    auto& pool = bench.make_receive_pool({});
    EXPECT_EQ(transit<hwtab::cmd_rts2rts_qp>(
                  ready_to_send(), option<"srqn">,
                  [&](auto qpc) { qpc.template set<"srqn_rmpn_xrqn">(pool.number()); }),
              "BAD_PARAMETER wrong_object_type");
    EXPECT_EQ(pool.references(), 0U);
}

// --- QUERY_QP ------------------------------------------------------------------------------------

TEST_F(QueuePairCommandsTest, QueryQpExtendedReturnsPagesBehindExtension) {
    const auto& queue_pair = bench.make_queue_pair();
    const std::uint64_t first = queue_pair.buffer().pages().front();
    const auto rest = hwtab::locate(hwtab::query_qp_out, "qp_pas_or_qpc_ext_and_pas").offset / 8;
    for (const bool extended : {false, true}) {
        Call<hwtab::cmd_query_qp> call;
        call.in().set<"qpn">(queue_pair.number());
        call.in().set<"qpc_ext">(extended ? 1 : 0);
        std::vector<std::byte> output(hwtab::query_qp_out.size + sizeof(std::uint64_t));
        hca::CommandContext context{.hca = bench.hca(),
                                    .input = call.input(),
                                    .output = output,
                                    .explanation = {},
                                    .defer_hook = {}};
        const auto query = all_commands().find(hwtab::cmd_query_qp.opcode)->handler;
        ASSERT_EQ(outcome(query(context)), "OK");
        const auto where = rest + (extended ? hwtab::qp_context_extension.size : 0U);
        EXPECT_EQ(load_be<std::uint64_t>(std::span<const std::byte>(output).subspan(where)), first);
    }
}

} // namespace
} // namespace cxemu::commands
