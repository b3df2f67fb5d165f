// SPDX-License-Identifier: GPL-2.0-or-later
#include "queues/queue_pair.hpp"
#include "queues/rules.hpp"
#include "queues/testing/bench.hpp"

#include <gtest/gtest.h>
#include <map>
#include <set>

namespace cxemu::queues {
namespace {

using hca::CommandStatus;
using testing::Bench;
using testing::bit;
using testing::Call;

/// Records WQEs; the test completes them.
class RecordingTransport final : public Transport {
public:
    void sends_posted(QueuePair& queue_pair) override {
        while (auto request = queue_pair.next_send())
            requests.push_back(*std::move(request));
    }
    void state_changed(QueuePair& queue_pair, QueuePairState from) override {
        changes.emplace_back(from, queue_pair.state());
    }
    void attributes_changed(QueuePair& /*queue_pair*/) override { ++modifications; }
    void destroyed(QueuePair& /*queue_pair*/) override { ++destructions; }

    std::vector<SendWqe> requests;
    std::vector<std::pair<QueuePairState, QueuePairState>> changes;
    int modifications = 0;
    int destructions = 0;
};

class QueuePairTest : public ::testing::Test {
protected:
    QueuePairTest() { bench_.queues().set_transport(&transport_); }
    ~QueuePairTest() override { bench_.queues().set_transport(nullptr); }

    /// Creates a QP in any state.
    QueuePair& queue_pair_in(QueuePairState state,
                             ServiceType service = ServiceType::unreliable_datagram) {
        QueuePair& queue_pair = bench_.make_queue_pair({.service = service});
        switch (state) {
        case QueuePairState::reset:
            break;
        case QueuePairState::error:
            queue_pair.change_state(QueuePairState::error);
            break;
        case QueuePairState::send_queue_drained:
            bench_.bring_to(queue_pair, QueuePairState::ready_to_send);
            queue_pair.drain_sends();
            break;
        case QueuePairState::send_queue_error:
            bench_.bring_to(queue_pair, QueuePairState::ready_to_send);
            queue_pair.fail_send({}, CompletionError::local_operation);
            break;
        default:
            bench_.bring_to(queue_pair, state);
        }
        return queue_pair;
    }

    /// Creates a QP in state SQD with a posted WQE, which the device has not read yet.
    QueuePair& post_in_sqd() {
        QueuePair& queue_pair = queue_pair_in(QueuePairState::send_queue_drained);
        bench_.ring_sends(queue_pair, 1);
        return queue_pair;
    }

    CommandStatus run_by_name(std::string_view command, const QueuePair& queue_pair) {
        if (command == "rst2init")
            return bench_.transit<hwtab::cmd_rst2init_qp>(queue_pair).status;
        if (command == "init2init")
            return bench_.transit<hwtab::cmd_init2init_qp>(queue_pair).status;
        if (command == "init2rtr")
            return bench_.transit<hwtab::cmd_init2rtr_qp>(queue_pair).status;
        if (command == "rtr2rts")
            return bench_.transit<hwtab::cmd_rtr2rts_qp>(queue_pair).status;
        if (command == "rts2rts")
            return bench_.transit<hwtab::cmd_rts2rts_qp>(queue_pair).status;
        if (command == "sqerr2rts")
            return bench_.transit<hwtab::cmd_sqerr2rts_qp>(queue_pair).status;
        if (command == "sqd2rts")
            return bench_.transit<hwtab::cmd_sqd2rts_qp>(queue_pair).status;
        if (command == "2err")
            return simple<hwtab::cmd_qp_2err>(queue_pair);
        return simple<hwtab::cmd_qp_2rst>(queue_pair);
    }

    template <const hwtab::Command& command>
    CommandStatus simple(const QueuePair& queue_pair) {
        Call<command> call;
        call.in().template set<"qpn">(queue_pair.number());
        return bench_.run(call).status;
    }

    /// Posts \p count NOPs from block \p first on.
    void post_nops(QueuePair& queue_pair, std::uint16_t first, std::uint16_t count) {
        for (std::uint16_t i = 0; i < count; ++i) {
            const auto index = static_cast<std::uint16_t>(first + i);
            bench_.write_send(queue_pair, index, Bench::nop(queue_pair, index));
        }
        bench_.ring_sends(queue_pair, static_cast<std::uint16_t>(first + count));
    }

    /// An RC send of no data at block \p index.
    static std::vector<std::byte> send(const QueuePair& queue_pair, std::uint16_t index,
                                       SendOpcode opcode = SendOpcode::send,
                                       Fence fence = Fence::none) {
        auto bytes = Bench::nop(queue_pair, index);
        const hwtab::View<hwtab::wqe_ctrl_seg> control{bytes};
        control.set<"opcode">(static_cast<std::uint8_t>(opcode));
        control.set<"fm">(static_cast<std::uint8_t>(fence));
        if (opcode == SendOpcode::rdma_read) {
            bytes.resize(bytes.size() + hwtab::wqe_raddr_seg.size);
            hwtab::View<hwtab::wqe_ctrl_seg>{bytes}.set<"ds">(2);
        }
        return bytes;
    }

    std::uint64_t completions(const QueuePair& queue_pair) {
        return queue_pair.send_completions()->context().get<"producer_counter">();
    }

    Bench bench_;
    RecordingTransport transport_;
};

// --- State machine -------------------------------------------------------------------------------

TEST_F(QueuePairTest, TransitionFromWrongStateRefused) {
    using enum QueuePairState;
    const std::map<std::string_view, std::pair<std::set<QueuePairState>, QueuePairState>> rules{
        {"rst2init", {{reset}, init}},
        {"init2init", {{init}, init}},
        {"init2rtr", {{init}, ready_to_receive}},
        {"rtr2rts", {{ready_to_receive}, ready_to_send}},
        {"rts2rts", {{ready_to_send}, ready_to_send}},
        {"sqerr2rts", {{send_queue_error}, ready_to_send}},
        {"sqd2rts", {{send_queue_drained}, ready_to_send}},
        {"2err",
         {{reset, init, ready_to_receive, ready_to_send, send_queue_error, send_queue_drained,
           error},
          error}},
        {"2rst",
         {{reset, init, ready_to_receive, ready_to_send, send_queue_error, send_queue_drained,
           error},
          reset}},
    };
    const auto& every_state = rules.at("2rst").first;
    for (const auto& [command, rule] : rules) {
        for (const QueuePairState from : every_state) {
            QueuePair& queue_pair = queue_pair_in(from);
            ASSERT_EQ(queue_pair.state(), from);
            const CommandStatus status = run_by_name(command, queue_pair);
            const bool allowed = rule.first.contains(from);
            EXPECT_EQ(status, allowed ? CommandStatus::ok : CommandStatus::bad_qp_state)
                << command << " from " << name_of(from);
            EXPECT_EQ(queue_pair.state(), allowed ? rule.second : from)
                << command << " from " << name_of(from);
            ASSERT_EQ(simple<hwtab::cmd_destroy_qp>(queue_pair), CommandStatus::ok);
        }
    }
}

TEST_F(QueuePairTest, TransitionSetsItsFields) {
    QueuePair& queue_pair = bench_.make_queue_pair({.service = ServiceType::reliable_connection});
    bench_.bring_to(queue_pair, QueuePairState::init);
    EXPECT_EQ(queue_pair.context().get<"rre">(), 1U);
    EXPECT_EQ(queue_pair.context().get<"remote_qpn">(), 0U) << "comes with INIT2RTR";
    ASSERT_TRUE(bench_.transit<hwtab::cmd_init2rtr_qp>(queue_pair));
    EXPECT_EQ(queue_pair.context().get<"remote_qpn">(), 0x77U);
    EXPECT_EQ(queue_pair.context().get<"primary_address_path.rlid">(), 7U);
    EXPECT_EQ(queue_pair.context().get<"primary_address_path.ack_timeout">(), 0U);
    ASSERT_TRUE(bench_.transit<hwtab::cmd_rtr2rts_qp>(queue_pair));
    EXPECT_EQ(queue_pair.context().get<"primary_address_path.ack_timeout">(), 14U);
    EXPECT_EQ(queue_pair.context().get<"next_send_psn">(), 0x1000U);
}

TEST_F(QueuePairTest, OptionalFieldRequiresMask) {
    constexpr auto q_key = hwtab::value<hwtab::qp_optional_parameters, "q_key">;
    QueuePair& queue_pair = queue_pair_in(QueuePairState::ready_to_send);
    const auto modify = [&](std::uint64_t mask) {
        Call<hwtab::cmd_rts2rts_qp> call;
        call.in().set<"qpn">(queue_pair.number());
        call.in().set<"opt_param_mask">(mask);
        call.in().set<"qpc.q_key">(0x1234);
        return bench_.run(call).status;
    };
    EXPECT_EQ(modify(0), CommandStatus::ok);
    EXPECT_EQ(queue_pair.context().get<"q_key">(), 0x8001'0000U);
    EXPECT_EQ(modify(q_key), CommandStatus::ok);
    EXPECT_EQ(queue_pair.context().get<"q_key">(), 0x1234U);
    EXPECT_EQ(transport_.modifications, 2);
}

TEST_F(QueuePairTest, OptionOfOtherServiceRefused) {
    constexpr auto rre = hwtab::value<hwtab::qp_optional_parameters, "rre">;
    QueuePair& datagrams = queue_pair_in(QueuePairState::ready_to_send);
    EXPECT_EQ(bench_.transit<hwtab::cmd_rts2rts_qp>(datagrams, rre).status,
              CommandStatus::bad_parameter);
    QueuePair& connected =
        queue_pair_in(QueuePairState::ready_to_send, ServiceType::reliable_connection);
    EXPECT_EQ(bench_.transit<hwtab::cmd_rts2rts_qp>(connected, rre).status, CommandStatus::ok);
}

TEST_F(QueuePairTest, UnknownPortRefused) {
    QueuePair& queue_pair = bench_.make_queue_pair();
    Call<hwtab::cmd_rst2init_qp> call;
    call.in().set<"qpn">(queue_pair.number());
    call.in().set<"qpc.primary_address_path.vhca_port_num">(2);
    EXPECT_EQ(bench_.run(call).status, CommandStatus::bad_parameter);
    EXPECT_EQ(queue_pair.state(), QueuePairState::reset);
}

TEST_F(QueuePairTest, UnsupportedServicesRefused) {
    for (const std::uint64_t service : {4U, 6U, 9U, 0xfU}) {
        Call<hwtab::cmd_create_qp> call;
        call.in().set<"qpc.st">(service);
        EXPECT_EQ(bench_.run(call).syndrome, hca::Syndrome::bad_service_type) << service;
    }
}

TEST_F(QueuePairTest, QpHoldsCqAndPdUntilDestroyed) {
    QueuePair& queue_pair = bench_.make_queue_pair();
    Call<hwtab::cmd_destroy_cq> queue;
    queue.in().set<"cqn">(queue_pair.send_completions()->number());
    EXPECT_EQ(bench_.run(queue).status, CommandStatus::resource_busy);
    Call<hwtab::cmd_dealloc_pd> domain;
    domain.in().set<"pd">(bench_.domain());
    EXPECT_EQ(bench_.run(domain).status, CommandStatus::resource_busy);
    ASSERT_EQ(simple<hwtab::cmd_destroy_qp>(queue_pair), CommandStatus::ok);
    EXPECT_EQ(bench_.run(queue).status, CommandStatus::ok);
    EXPECT_EQ(transport_.destructions, 1);
}

TEST_F(QueuePairTest, QueryQpReturnsStateCountersAndPages) {
    QueuePair& queue_pair = queue_pair_in(QueuePairState::ready_to_send);
    post_nops(queue_pair, 0, 3);
    Call<hwtab::cmd_query_qp> call;
    call.in().set<"qpn">(queue_pair.number());
    ASSERT_TRUE(bench_.run(call));
    EXPECT_EQ(call.out().get<"qpc.state">(), 3U);
    EXPECT_EQ(call.out().get<"qpc.hw_sq_wqebb_counter">(), 3U);
    EXPECT_EQ(call.out().get<"qpc.sw_sq_wqebb_counter">(), 3U);
    EXPECT_EQ(call.out().get<"qpc.next_send_psn">(), 0x1000U);
}

// --- Sends ---------------------------------------------------------------------------------------

TEST_F(QueuePairTest, DoorbellRecordLimitsExecutedWqes) {
    QueuePair& queue_pair = queue_pair_in(QueuePairState::ready_to_send);
    for (std::uint16_t i = 0; i < 3; ++i)
        bench_.write_send(queue_pair, i, Bench::nop(queue_pair, i));
    bench_.ring_sends(queue_pair, 2);
    EXPECT_EQ(completions(queue_pair), 2U);
    const auto last = bench_.completion(*queue_pair.send_completions(), 1);
    EXPECT_EQ(last.get<"wqe_counter">(), 1U);
    EXPECT_EQ(last.get<"qpn">(), queue_pair.number());
    EXPECT_EQ(last.get<"opcode">(), 0U);
    bench_.ring_sends(queue_pair, 3);
    EXPECT_EQ(completions(queue_pair), 3U);
}

class RecordlessSendTest : public ::testing::Test {
protected:
    static hca::HcaSettings newest_model() {
        hca::HcaSettings settings = Bench::default_settings();
        settings.profile = hca::find_profile("connectx7");
        return settings;
    }
    RecordlessSendTest() {
        bench_.queues().set_transport(&transport_);
        bench_.bring_to(queue_pair_, QueuePairState::ready_to_send);
    }
    ~RecordlessSendTest() override { bench_.queues().set_transport(nullptr); }

    /// Rings the doorbell of the entry at block \p index.
    void ring(std::uint16_t index) {
        const auto entry = Bench::nop(queue_pair_, index);
        bench_.write_send(queue_pair_, index, entry);
        bench_.hca().bar_write((std::uint64_t{bench_.uar().number()} * 4096) + 0x600,
                               std::span(entry).first<8>());
        bench_.settle();
    }
    std::uint64_t completions() {
        return queue_pair_.send_completions()->context().get<"producer_counter">();
    }

    Bench bench_{newest_model()};
    RecordingTransport transport_;
    QueuePair& queue_pair_ = bench_.make_queue_pair({.send_record_mode = 1});
};

/// Otherwise a WQE would start before its payload in device memory, which the processor writes to
/// the BAR before it rings, has arrived.
TEST_F(QueuePairTest, WqeBeyondRungOneWaitsForItsDoorbell) {
    QueuePair& queue_pair = queue_pair_in(QueuePairState::ready_to_send);
    for (std::uint16_t i = 0; i < 2; ++i)
        bench_.write_send(queue_pair, i, Bench::nop(queue_pair, i));
    bench_.ring_sends(queue_pair, 1, 2);
    EXPECT_EQ(queue_pair.send_queue().next(), 1);
    bench_.ring_sends(queue_pair, 2);
    EXPECT_EQ(queue_pair.send_queue().next(), 2);
}

/// The record may announce a WQE whose payload, in device memory, is still under way.
TEST_F(QueuePairTest, DoorbellOfPostedWqePostsNothing) {
    QueuePair& queue_pair = queue_pair_in(QueuePairState::ready_to_send);
    for (std::uint16_t i = 0; i < 3; ++i)
        bench_.write_send(queue_pair, i, Bench::nop(queue_pair, i));
    bench_.ring_sends(queue_pair, 2);
    for (const std::uint16_t end : {1, 2}) {
        bench_.ring_sends(queue_pair, end, 3);
        EXPECT_EQ(queue_pair.send_queue().next(), 2);
    }
    bench_.ring_sends(queue_pair, 3);
    EXPECT_EQ(queue_pair.send_queue().next(), 3);
}

/// Software that rings with the first WQE of a batch stalls behind it until its next doorbell.
TEST_F(QueuePairTest, BatchRungByItsFirstWqeEndsBehindIt) {
    constexpr std::uint16_t batch = 4;
    QueuePair& queue_pair = queue_pair_in(QueuePairState::ready_to_send);
    for (std::uint16_t i = 0; i < 2 * batch; ++i)
        bench_.write_send(queue_pair, i, Bench::nop(queue_pair, i));
    for (std::uint16_t start = 0; start < 2 * batch; start += batch) {
        const auto first = static_cast<std::uint16_t>(start + 1);
        for (int repetition = 0; repetition < 3; ++repetition) {
            bench_.ring_sends(queue_pair, first, start + batch);
            EXPECT_EQ(completions(queue_pair), first);
            EXPECT_EQ(queue_pair.send_queue().posted(), first);
        }
    }
}

/// As DOCA GPUNetIO rings: no control segment, but a QPN and the index after the last WQE.
TEST_F(QueuePairTest, DoorbellWithoutLengthPostsUpToItsIndex) {
    QueuePair& queue_pair = queue_pair_in(QueuePairState::ready_to_send);
    for (std::uint16_t i = 0; i < 3; ++i)
        bench_.write_send(queue_pair, i, Bench::nop(queue_pair, i));
    bench_.record_sends(queue_pair, 3);
    std::array<std::byte, hwtab::send_doorbell.size> bytes{};
    const hwtab::View<hwtab::send_doorbell> doorbell{bytes};
    doorbell.set<"qpn">(queue_pair.number());
    doorbell.set<"wqe_index">(2);
    bench_.queues().send_doorbell(bench_.uar(), bytes);
    bench_.settle();
    EXPECT_EQ(completions(queue_pair), 2U);
}

TEST_F(QueuePairTest, DoorbellBeforeItsRecordPostsWhenRepeated) {
    QueuePair& queue_pair = queue_pair_in(QueuePairState::ready_to_send);
    bench_.write_send(queue_pair, 0, Bench::nop(queue_pair, 0));
    bench_.ring_sends(queue_pair, 1, 0);
    EXPECT_EQ(queue_pair.send_queue().next(), 0);
    bench_.ring_sends(queue_pair, 1);
    EXPECT_EQ(queue_pair.send_queue().next(), 1);
}

TEST_F(QueuePairTest, DoorbellWithoutRecordPostsNothing) {
    QueuePair& queue_pair = queue_pair_in(QueuePairState::ready_to_send);
    bench_.write_send(queue_pair, 0, Bench::nop(queue_pair, 0));
    bench_.ring_sends(queue_pair, 1, 0);
    EXPECT_EQ(queue_pair.send_queue().next(), 0);
}

/// Software may reuse a doorbell record of a destroyed QP, as UCX does.
TEST_F(QueuePairTest, DoorbellRecordIsNotReadBeforeFirstDoorbell) {
    QueuePair& queue_pair = queue_pair_in(QueuePairState::ready_to_receive);
    bench_.record_sends(queue_pair, 0x277);
    ASSERT_EQ(bench_.transit<hwtab::cmd_rtr2rts_qp>(queue_pair).status, CommandStatus::ok);
    bench_.settle();
    EXPECT_EQ(bench_.violations(rules::send_doorbell_beyond_ring), 0U);
    EXPECT_EQ(queue_pair.state(), QueuePairState::ready_to_send);
}

TEST_F(RecordlessSendTest, DoorbellCounterLimitsExecutedWqes) {
    bench_.store32(queue_pair_.context().get<"dbr_addr">() + 4, 7);
    ring(0);
    EXPECT_EQ(completions(), 1U);
    ring(1);
    EXPECT_EQ(completions(), 2U);
}

TEST_F(RecordlessSendTest, DoorbellBeyondRingSetsError) {
    ring(0x20);
    EXPECT_EQ(queue_pair_.state(), QueuePairState::error);
    EXPECT_EQ(bench_.violations(rules::send_doorbell_beyond_ring), 1U);
}

TEST_F(QueuePairTest, SendsCompletedInRingOrder) {
    QueuePair& queue_pair =
        queue_pair_in(QueuePairState::ready_to_send, ServiceType::reliable_connection);
    for (std::uint16_t i = 0; i < 3; ++i)
        bench_.write_send(queue_pair, i, send(queue_pair, i));
    bench_.ring_sends(queue_pair, 3);
    ASSERT_EQ(transport_.requests.size(), 3U);
    queue_pair.complete_send(transport_.requests[2]);
    queue_pair.complete_send(transport_.requests[1]);
    EXPECT_EQ(completions(queue_pair), 0U) << "the first one isn't done";
    queue_pair.complete_send(transport_.requests[0]);
    ASSERT_EQ(completions(queue_pair), 3U);
    EXPECT_EQ(bench_.completion(*queue_pair.send_completions(), 0).get<"wqe_counter">(), 0U);
    EXPECT_EQ(bench_.completion(*queue_pair.send_completions(), 2).get<"wqe_counter">(), 2U);
}

TEST_F(QueuePairTest, CompletionOfUnsignaledWqeIsNotReported) {
    QueuePair& queue_pair = queue_pair_in(QueuePairState::ready_to_send);
    auto silent = Bench::nop(queue_pair, 0);
    hwtab::View<hwtab::wqe_ctrl_seg>{silent}.set<"ce">(0);
    bench_.write_send(queue_pair, 0, silent);
    bench_.write_send(queue_pair, 1, Bench::nop(queue_pair, 1));
    bench_.ring_sends(queue_pair, 2);
    EXPECT_EQ(completions(queue_pair), 1U);
}

/// Completion mode "only first error", for outstanding and waiting WQEs.
TEST_F(QueuePairTest, OnlyFirstErrorModeReportsOneCqe) {
    QueuePair& queue_pair =
        queue_pair_in(QueuePairState::ready_to_send, ServiceType::reliable_connection);
    const auto write = [&](std::uint16_t index, CompletionMode mode) {
        auto entry = send(queue_pair, index);
        hwtab::View<hwtab::wqe_ctrl_seg>{entry}.set<"ce">(static_cast<std::uint8_t>(mode));
        bench_.write_send(queue_pair, index, entry);
    };
    for (const std::uint16_t index : {0, 1})
        write(index, CompletionMode::only_first_error);
    write(2, CompletionMode::only_error);
    bench_.ring_sends(queue_pair, 3);
    queue_pair.complete_send(transport_.requests[0]);
    bench_.settle();
    EXPECT_EQ(completions(queue_pair), 0U) << "success";
    queue_pair.fail_send(transport_.requests[1], CompletionError::transport_retries);
    write(3, CompletionMode::only_first_error);
    bench_.ring_sends(queue_pair, 4);
    const CompletionQueue& queue = *queue_pair.send_completions();
    ASSERT_EQ(completions(queue_pair), 2U);
    EXPECT_EQ(bench_.error(queue, 0).get<"wqe_counter">(), 1U);
    EXPECT_EQ(bench_.error(queue, 1).get<"wqe_counter">(), 2U) << "flushed";
}

TEST_F(QueuePairTest, FencedWqeWaitsForReads) {
    QueuePair& queue_pair =
        queue_pair_in(QueuePairState::ready_to_send, ServiceType::reliable_connection);
    bench_.write_send(queue_pair, 0, send(queue_pair, 0, SendOpcode::rdma_read));
    bench_.write_send(queue_pair, 1,
                      send(queue_pair, 1, SendOpcode::send, Fence::local_reads_and_atomics));
    bench_.ring_sends(queue_pair, 2);
    ASSERT_EQ(transport_.requests.size(), 1U);
    queue_pair.complete_send(transport_.requests[0]);
    bench_.settle();
    EXPECT_EQ(transport_.requests.size(), 2U);
}

TEST_F(QueuePairTest, FenceModeSelectsAwaitedWqes) {
    const auto is_held_back = [&](SendOpcode before, Fence fence) {
        transport_.requests.clear();
        QueuePair& queue_pair =
            queue_pair_in(QueuePairState::ready_to_send, ServiceType::reliable_connection);
        bench_.write_send(queue_pair, 0, send(queue_pair, 0, before));
        bench_.write_send(queue_pair, 1, send(queue_pair, 1, SendOpcode::send, fence));
        bench_.ring_sends(queue_pair, 2);
        const std::size_t started = transport_.requests.size();
        queue_pair.complete_send(transport_.requests[0]);
        bench_.settle();
        EXPECT_EQ(transport_.requests.size(), 2U);
        return started == 1;
    };
    for (const SendOpcode before : {SendOpcode::send, SendOpcode::rdma_read}) {
        const bool reads = before == SendOpcode::rdma_read;
        EXPECT_FALSE(is_held_back(before, Fence::none));
        EXPECT_FALSE(is_held_back(before, Fence::local_operations));
        EXPECT_EQ(is_held_back(before, Fence::reads_and_atomics), reads);
        EXPECT_EQ(is_held_back(before, Fence::local_reads_and_atomics), reads);
        EXPECT_TRUE(is_held_back(before, Fence::everything));
    }
}

TEST_F(QueuePairTest, FailedLocalOperationReportsReason) {
    const auto error_of = [&](SendOpcode opcode, std::size_t size, std::uint32_t number) {
        QueuePair& queue_pair =
            queue_pair_in(QueuePairState::ready_to_send, ServiceType::reliable_connection);
        auto bytes = Bench::nop(queue_pair, 0);
        bytes.resize(size);
        const hwtab::View<hwtab::wqe_ctrl_seg> control{bytes};
        control.set<"opcode">(static_cast<std::uint8_t>(opcode));
        control.set<"ds">(size / 16);
        control.set<"imm">(number);
        if (opcode == SendOpcode::set_psv && size > hwtab::wqe_ctrl_seg.size)
            hwtab::View<hwtab::seg_set_psv>{std::span(bytes).subspan(hwtab::wqe_ctrl_seg.size)}
                .set<"psv_num">(number);
        bench_.write_send(queue_pair, 0, bytes);
        bench_.ring_sends(queue_pair, static_cast<std::uint16_t>((size + 63) / 64));
        EXPECT_EQ(queue_pair.state(), QueuePairState::error);
        return static_cast<CompletionError>(
            bench_.error(*queue_pair.send_completions(), 0).get<"syndrome">());
    };
    constexpr std::size_t whole_umr = 16 + 48 + 64;
    constexpr std::uint32_t nothing = 0x12'3456;
    EXPECT_EQ(error_of(SendOpcode::reg_umr, 16, 0), CompletionError::local_operation);
    EXPECT_EQ(error_of(SendOpcode::reg_umr, whole_umr, nothing << 8U),
              CompletionError::window_bind);
    EXPECT_EQ(error_of(SendOpcode::set_psv, 16, 0), CompletionError::local_operation);
    EXPECT_EQ(error_of(SendOpcode::set_psv, 32, nothing), CompletionError::local_protection);
}

TEST_F(QueuePairTest, UmrOfMttKeyRequiresFastRegistration) {
    constexpr std::size_t size =
        hwtab::wqe_ctrl_seg.size + hwtab::wqe_umr_ctrl_seg.size + hwtab::mkey_seg.size;
    const std::uint32_t key = bench_.make_changeable_key();
    for (const bool fast_registration : {true, false}) {
        QueuePair& queue_pair = bench_.make_queue_pair(
            {.service = ServiceType::reliable_connection, .fast_registration = fast_registration});
        bench_.bring_to(queue_pair, QueuePairState::ready_to_send);
        auto bytes = Bench::nop(queue_pair, 0);
        bytes.resize(size);
        const hwtab::View<hwtab::wqe_ctrl_seg> control{bytes};
        control.set<"opcode">(static_cast<std::uint8_t>(SendOpcode::reg_umr));
        control.set<"ds">(size / 16);
        control.set<"imm">(key);
        hwtab::View<hwtab::wqe_umr_ctrl_seg>{std::span(bytes).subspan(hwtab::wqe_ctrl_seg.size)}
            .set<"flags">(hwtab::value<hwtab::umr_flags, "inline">);
        bench_.write_send(queue_pair, 0, bytes);
        bench_.ring_sends(queue_pair, 2);
        EXPECT_EQ(queue_pair.state(),
                  fast_registration ? QueuePairState::ready_to_send : QueuePairState::error);
        if (!fast_registration) {
            const auto error = bench_.error(*queue_pair.send_completions(), 0);
            EXPECT_EQ(static_cast<CompletionError>(error.get<"syndrome">()),
                      CompletionError::window_bind);
        }
    }
}

TEST_F(QueuePairTest, LocalOperationFollowsEarlierWqes) {
    QueuePair& queue_pair =
        queue_pair_in(QueuePairState::ready_to_send, ServiceType::reliable_connection);
    bench_.write_send(queue_pair, 0, send(queue_pair, 0));
    bench_.write_send(queue_pair, 1, Bench::nop(queue_pair, 1));
    bench_.ring_sends(queue_pair, 2);
    EXPECT_EQ(completions(queue_pair), 0U);
    queue_pair.complete_send(transport_.requests[0]);
    bench_.settle();
    EXPECT_EQ(completions(queue_pair), 2U);
}

TEST_F(QueuePairTest, ReturnedSendGivenAgain) {
    QueuePair& queue_pair =
        queue_pair_in(QueuePairState::ready_to_send, ServiceType::reliable_connection);
    bench_.write_send(queue_pair, 0, send(queue_pair, 0));
    bench_.ring_sends(queue_pair, 1);
    ASSERT_EQ(transport_.requests.size(), 1U);
    queue_pair.return_send(transport_.requests[0]);
    const auto again = queue_pair.next_send();
    ASSERT_TRUE(again);
    EXPECT_EQ(again->index, 0U);
}

TEST_F(QueuePairTest, MalformedWqeFailsAndFlushesRest) {
    QueuePair& queue_pair =
        queue_pair_in(QueuePairState::ready_to_send, ServiceType::reliable_connection);
    auto bad = Bench::nop(queue_pair, 0);
    hwtab::View<hwtab::wqe_ctrl_seg>{bad}.set<"opcode">(0x7f);
    bench_.write_send(queue_pair, 0, bad);
    bench_.write_send(queue_pair, 1, Bench::nop(queue_pair, 1));
    bench_.ring_sends(queue_pair, 2);
    const CompletionQueue& queue = *queue_pair.send_completions();
    ASSERT_EQ(completions(queue_pair), 2U);
    EXPECT_EQ(bench_.error(queue, 0).get<"opcode">(), 13U);
    EXPECT_EQ(bench_.error(queue, 0).get<"syndrome">(), 2U);
    EXPECT_EQ(bench_.error(queue, 1).get<"syndrome">(), 5U);
    EXPECT_EQ(bench_.error(queue, 1).get<"wqe_counter">(), 1U);
    EXPECT_EQ(queue_pair.state(), QueuePairState::error);
    EXPECT_EQ(bench_.violations(rules::send_entry_malformed), 1U);
}

TEST_F(QueuePairTest, UnreachableWqeIsMalformed) {
    QueuePair& queue_pair = post_in_sqd();
    ASSERT_TRUE(bench_.dma().unmap(Bench::memory_start, Bench::memory_size));
    ASSERT_EQ(bench_.transit<hwtab::cmd_sqd2rts_qp>(queue_pair).status, CommandStatus::ok);
    bench_.settle();
    EXPECT_EQ(queue_pair.state(), QueuePairState::error);
    EXPECT_EQ(bench_.violations(rules::send_entry_malformed), 1U);
}

TEST_F(QueuePairTest, UnreachableWqeIsNotMalformedWithoutBusMastering) {
    QueuePair& queue_pair = post_in_sqd();
    bench_.dma().set_bus_master(false);
    ASSERT_EQ(bench_.transit<hwtab::cmd_sqd2rts_qp>(queue_pair).status, CommandStatus::ok);
    bench_.settle();
    EXPECT_EQ(queue_pair.state(), QueuePairState::error);
    EXPECT_EQ(bench_.violations(rules::send_entry_malformed), 0U);
}

TEST_F(QueuePairTest, FailedSendKeepsDatagramReceives) {
    QueuePair& queue_pair = queue_pair_in(QueuePairState::ready_to_send);
    bench_.post_receives(queue_pair, 1);
    auto bad = Bench::nop(queue_pair, 0);
    hwtab::View<hwtab::wqe_ctrl_seg>{bad}.set<"opcode">(0x7f);
    bench_.write_send(queue_pair, 0, bad);
    bench_.ring_sends(queue_pair, 1);
    EXPECT_EQ(queue_pair.state(), QueuePairState::send_queue_error);
    EXPECT_TRUE(queue_pair.take_receive());
    EXPECT_EQ(bench_.transit<hwtab::cmd_sqerr2rts_qp>(queue_pair).status, CommandStatus::ok);
}

TEST_F(QueuePairTest, PostedSendsBeyondRingSetError) {
    EventQueue& errors =
        bench_.make_event_queue({.events = bit(hca::EventType::work_queue_catastrophic_error)});
    QueuePair& queue_pair = queue_pair_in(QueuePairState::ready_to_send);
    bench_.ring_sends(queue_pair, 17); // of 16
    EXPECT_EQ(bench_.violations(rules::send_doorbell_beyond_ring), 1U);
    EXPECT_EQ(queue_pair.state(), QueuePairState::error);
    EXPECT_EQ(bench_.event(errors, 0).get<"event_data.qp_events.qpn_rqn_sqn">(),
              queue_pair.number());
}

TEST_F(QueuePairTest, SendDoorbellBeforeRtsReported) {
    QueuePair& queue_pair = queue_pair_in(QueuePairState::ready_to_receive);
    post_nops(queue_pair, 0, 1);
    EXPECT_EQ(bench_.violations(rules::send_doorbell_in_wrong_state), 1U);
    EXPECT_EQ(completions(queue_pair), 0U);
}

TEST_F(QueuePairTest, DoorbellThroughForeignUarIsIgnored) {
    QueuePair& queue_pair = queue_pair_in(QueuePairState::ready_to_send);
    bench_.settle();
    bench_.write_send(queue_pair, 0, Bench::nop(queue_pair, 0));
    bench_.store32(queue_pair.context().get<"dbr_addr">() + 4, 1);
    hca::Uar& other = *bench_.hca().objects().of<hca::Uar>().find(bench_.make_uar());
    std::array<std::byte, hwtab::send_doorbell.size> bytes{};
    hwtab::View<hwtab::send_doorbell>{bytes}.set<"qpn">(queue_pair.number());
    bench_.queues().send_doorbell(other, bytes);
    bench_.settle();
    EXPECT_EQ(bench_.violations(rules::send_doorbell_unknown), 1U);
    EXPECT_EQ(completions(queue_pair), 0U);
}

// --- Errors and flushing -------------------------------------------------------------------------

TEST_F(QueuePairTest, ErrorTransitionFlushesSendsAndReceives) {
    QueuePair& queue_pair =
        queue_pair_in(QueuePairState::ready_to_send, ServiceType::reliable_connection);
    for (std::uint16_t i = 0; i < 2; ++i)
        bench_.write_send(queue_pair, i, send(queue_pair, i));
    bench_.ring_sends(queue_pair, 2);
    bench_.post_receives(queue_pair, 3);
    ASSERT_EQ(simple<hwtab::cmd_qp_2err>(queue_pair), CommandStatus::ok);
    const CompletionQueue& queue = *queue_pair.send_completions();
    ASSERT_EQ(completions(queue_pair), 5U);
    for (std::uint32_t i = 0; i < 5; ++i) {
        EXPECT_EQ(bench_.error(queue, i).get<"opcode">(), i < 2 ? 13U : 14U);
        EXPECT_EQ(bench_.error(queue, i).get<"syndrome">(), 5U);
        EXPECT_EQ(bench_.error(queue, i).get<"wqe_counter">(), i < 2 ? i : i - 2);
    }
}

TEST_F(QueuePairTest, PostInErrorStateFlushed) {
    QueuePair& queue_pair =
        queue_pair_in(QueuePairState::ready_to_send, ServiceType::reliable_connection);
    ASSERT_EQ(simple<hwtab::cmd_qp_2err>(queue_pair), CommandStatus::ok);
    bench_.post_receives(queue_pair, 1); // receives have no doorbell
    bench_.advance(WorkQueues::flush_period);
    EXPECT_EQ(completions(queue_pair), 1U);
    post_nops(queue_pair, 0, 1);
    EXPECT_EQ(completions(queue_pair), 2U);
}

/// UCX's ud_mlx5 finds the buffer of a receive by its own counter modulo 2^16, and aborts if the
/// CQE has another wqe_counter.
TEST_F(QueuePairTest, ReceiveCounterPassesEndOfRing) {
    QueuePair& queue_pair =
        queue_pair_in(QueuePairState::ready_to_send, ServiceType::reliable_connection);
    const std::uint32_t entries = queue_pair.receive_queue().entries();
    for (std::uint32_t i = 0; i < entries; ++i) {
        bench_.post_receives(queue_pair, static_cast<std::uint16_t>(i + 1));
        ASSERT_TRUE(queue_pair.take_receive());
    }
    bench_.post_receives(queue_pair, static_cast<std::uint16_t>(entries + 2));
    const auto taken = queue_pair.take_receive();
    ASSERT_TRUE(taken);
    EXPECT_EQ(taken->index, entries);
    ASSERT_EQ(simple<hwtab::cmd_qp_2err>(queue_pair), CommandStatus::ok);
    const CompletionQueue& queue = *queue_pair.receive_completions();
    EXPECT_EQ(bench_.error(queue, 0).get<"wqe_counter">(), entries + 1);
}

TEST_F(QueuePairTest, ResetPostsNoCqe) {
    QueuePair& queue_pair =
        queue_pair_in(QueuePairState::ready_to_send, ServiceType::reliable_connection);
    bench_.write_send(queue_pair, 0, send(queue_pair, 0));
    bench_.ring_sends(queue_pair, 1);
    bench_.post_receives(queue_pair, 2);
    ASSERT_EQ(simple<hwtab::cmd_qp_2rst>(queue_pair), CommandStatus::ok);
    bench_.advance(std::chrono::seconds(1));
    EXPECT_EQ(completions(queue_pair), 0U);
    queue_pair.complete_send(transport_.requests[0]);
    EXPECT_EQ(completions(queue_pair), 0U) << "the request is forgotten";
    EXPECT_EQ(queue_pair.send_queue().next(), 0U);
}

TEST_F(QueuePairTest, DestroyedQpWritesNothing) {
    CompletionQueue& queue = bench_.make_completion_queue({.log_size = 6});
    QueuePair& queue_pair = bench_.make_queue_pair(
        {.service = ServiceType::reliable_connection, .completions = &queue});
    queue_pair.change_state(QueuePairState::error);
    bench_.post_receives(queue_pair, 2);
    ASSERT_EQ(simple<hwtab::cmd_destroy_qp>(queue_pair), CommandStatus::ok);
    bench_.advance(std::chrono::seconds(1));
    EXPECT_EQ(queue.context().get<"producer_counter">(), 0U);
}

TEST_F(QueuePairTest, CqOverrunSetsQpError) {
    EventQueue& errors =
        bench_.make_event_queue({.events = bit(hca::EventType::work_queue_catastrophic_error)});
    CompletionQueue& queue = bench_.make_completion_queue({.log_size = 1});
    QueuePair& queue_pair = bench_.make_queue_pair({.completions = &queue});
    bench_.bring_to(queue_pair, QueuePairState::ready_to_send);
    post_nops(queue_pair, 0, 3);
    EXPECT_TRUE(queue.stopped());
    EXPECT_EQ(queue_pair.state(), QueuePairState::error);
    EXPECT_EQ(errors.context().get<"producer_counter">(), 1U);
}

TEST_F(QueuePairTest, DrainedEventFollowsOutstandingSends) {
    EventQueue& drained =
        bench_.make_event_queue({.events = bit(hca::EventType::send_queue_drained)});
    QueuePair& queue_pair =
        queue_pair_in(QueuePairState::ready_to_send, ServiceType::reliable_connection);
    bench_.write_send(queue_pair, 0, send(queue_pair, 0));
    bench_.ring_sends(queue_pair, 1);
    queue_pair.drain_sends();
    EXPECT_EQ(queue_pair.state(), QueuePairState::send_queue_draining);
    queue_pair.complete_send(transport_.requests[0]);
    EXPECT_EQ(queue_pair.state(), QueuePairState::send_queue_drained);
    EXPECT_EQ(drained.context().get<"producer_counter">(), 1U);
    post_nops(queue_pair, 1, 1);
    EXPECT_EQ(completions(queue_pair), 1U) << "no WQE is started in SQD";
    ASSERT_EQ(bench_.transit<hwtab::cmd_sqd2rts_qp>(queue_pair).status, CommandStatus::ok);
    bench_.settle();
    EXPECT_EQ(completions(queue_pair), 2U) << "continues with the next WQE";
}

// --- Receives ------------------------------------------------------------------------------------

TEST_F(QueuePairTest, ReceivesTakenUpToDoorbellRecord) {
    QueuePair& queue_pair = queue_pair_in(QueuePairState::ready_to_receive);
    EXPECT_EQ(queue_pair.take_receive().error(), ReceiveFault::empty);
    bench_.post_receives(queue_pair, 1);
    EXPECT_TRUE(queue_pair.take_receive());
    EXPECT_EQ(queue_pair.take_receive().error(), ReceiveFault::empty);
}

TEST_F(QueuePairTest, ScatterListEndsAtTerminatorKey) {
    QueuePair& queue_pair = queue_pair_in(QueuePairState::ready_to_receive);
    const auto entry = bench_.at(queue_pair.buffer().address(0), 32);
    const hwtab::View<hwtab::wqe_data_seg> first{entry};
    first.set<"byte_count">(100);
    first.set<"lkey">(0xabc00);
    const hwtab::View<hwtab::wqe_data_seg> second{entry.subspan(16)};
    second.set<"lkey">(0x100);
    bench_.post_receives(queue_pair, 1);
    const auto request = queue_pair.take_receive();
    ASSERT_TRUE(request);
    ASSERT_EQ(request->segments.size(), 1U);
    EXPECT_EQ(request->length, 100U);
    EXPECT_EQ(request->segments[0].key, 0xabc00U);
}

TEST_F(QueuePairTest, ResdLkeyRightComesFromContextAndNotForSrq) {
    QueuePair& queue_pair = bench_.make_queue_pair();
    const std::uint64_t where = bench_.allocate(8);
    const std::array<std::byte, 8> data{std::byte{1}};
    RecvWqe request{
        .segments = {{.length = 8, .key = memory::SpecialKeys::resd_lkey, .address = where}}};
    EXPECT_EQ(queue_pair.scatter(request, 0, data).error(), memory::AccessFault::no_right);

    Call<hwtab::cmd_rst2init_qp> call;
    call.in().set<"qpn">(queue_pair.number());
    Bench::fill_context(call.in().nested<"qpc", hwtab::qpc>());
    call.in().nested<"qpc", hwtab::qpc>().set<"rlky">(1);
    ASSERT_TRUE(bench_.run(call));
    EXPECT_TRUE(queue_pair.scatter(request, 0, data));
    EXPECT_TRUE(std::ranges::equal(bench_.at(where, 8), data));
    request.shared = &bench_.make_receive_pool({});
    EXPECT_EQ(queue_pair.scatter(request, 0, data).error(), memory::AccessFault::no_right);
}

TEST_F(QueuePairTest, PostedReceivesBeyondRingSetError) {
    QueuePair& queue_pair = queue_pair_in(QueuePairState::ready_to_receive);
    bench_.post_receives(queue_pair, 5); // of 4
    EXPECT_EQ(queue_pair.take_receive().error(), ReceiveFault::corrupt);
    EXPECT_EQ(queue_pair.state(), QueuePairState::error);
    EXPECT_EQ(bench_.violations(rules::receive_doorbell_beyond_ring), 1U);
}

TEST_F(QueuePairTest, ReceiveCqeHasTransportFields) {
    QueuePair& queue_pair = queue_pair_in(QueuePairState::ready_to_receive);
    bench_.post_receives(queue_pair, 1);
    const auto request = queue_pair.take_receive();
    ASSERT_TRUE(request);
    queue_pair.complete_receive(*request, {.opcode = CompletionOpcode::send_immediate,
                                           .byte_count = 296,
                                           .immediate = 0xdeadbeef,
                                           .source_qp = 0x11,
                                           .source_lid = 5,
                                           .service_level = 3,
                                           .grh = GrhLocation::buffer});
    const auto entry = bench_.completion(*queue_pair.receive_completions(), 0);
    EXPECT_EQ(entry.get<"opcode">(), 3U);
    EXPECT_EQ(entry.get<"byte_cnt">(), 296U);
    EXPECT_EQ(entry.get<"immediate">(), 0xdeadbeefU);
    EXPECT_EQ(entry.get<"rqpn">(), 0x11U);
    EXPECT_EQ(entry.get<"slid">(), 5U);
    EXPECT_EQ(entry.get<"sl">(), 3U);
    EXPECT_EQ(entry.get<"grh">(), 1U);
}

TEST_F(QueuePairTest, CqeHasUserIndexIfSet) {
    QueuePair& with_index = bench_.make_queue_pair({.user_index = 0x55});
    QueuePair& without = bench_.make_queue_pair();
    for (QueuePair* queue_pair : {&with_index, &without}) {
        bench_.bring_to(*queue_pair, QueuePairState::ready_to_send);
        post_nops(*queue_pair, 0, 1);
    }
    EXPECT_EQ(bench_.completion(*with_index.send_completions(), 0).get<"user_index">(), 0x55U);
    EXPECT_EQ(bench_.completion(*without.send_completions(), 0).get<"user_index">(), 0U);
}

TEST_F(QueuePairTest, ErrorTransitionPostsLastWqeReached) {
    EventQueue& events =
        bench_.make_event_queue({.events = bit(hca::EventType::srq_last_wqe_reached)});
    const ReceiveMemoryPool& pool = bench_.make_receive_pool({});
    QueuePair& queue_pair = bench_.make_queue_pair({.service = ServiceType::reliable_connection,
                                                    .receives = ReceiveSource::shared_queue,
                                                    .shared_receive = pool.number()});
    queue_pair.change_state(QueuePairState::error);
    EXPECT_EQ(bench_.event(events, 0).get<"event_data.qp_events.qpn_rqn_sqn">(),
              queue_pair.number());
}

} // namespace
} // namespace cxemu::queues
