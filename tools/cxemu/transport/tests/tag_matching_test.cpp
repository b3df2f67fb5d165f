// SPDX-License-Identifier: GPL-2.0-or-later
//
// Tag matching: placement of messages, completions, and the rendezvous offload.
#include "base/byte_order.hpp"
#include "transport/tagged_message.hpp"
#include "transport/testing/peers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cxemu::transport {
namespace {

using queues::CompletionError;
using queues::CompletionOpcode;
using queues::QueuePairState;
using queues::TagReport;
using queues::testing::Bench;
using testing::ConnectionOptions;
using testing::Data;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::mtu;
using testing::Peers;
using testing::Result;

constexpr std::size_t headers = TagHeader::size + RendezvousHeader::size;
constexpr std::uint64_t all_bits = ~std::uint64_t{0};
constexpr std::uint32_t context_of_application = 0xabcd'1234;

/// A completion of an XRQ with tag matching.
struct Report {
    TagReport report{};
    std::uint16_t index = 0; ///< of a tag, or of a receive WQE
    std::uint32_t length = 0;
    std::uint64_t tag = 0;
    CompletionOpcode opcode = CompletionOpcode::send;

    bool operator==(const Report&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Report& report) {
    return out << "{" << hwtab::name_of(hwtab::cqe_app_op, static_cast<unsigned>(report.report))
               << ", index " << report.index << ", " << report.length << " bytes, tag "
               << report.tag << ", opcode " << static_cast<int>(report.opcode) << "}";
}

struct Operation {
    std::uint64_t kind = hwtab::value<hwtab::tag_operation, "nop">;
    std::uint16_t index = 0;
    std::uint64_t tag = 0;
    std::uint64_t mask = all_bits;
    Data data{};
    std::optional<std::uint16_t> handled{};
    bool reported = true;
};

struct Tagged : Peers {
    explicit Tagged(ConnectionOptions wanted = {}) : Peers(with_tags(wanted)) {
        connect();
        commands =
            &second.bench.make_queue_pair({.service = queues::ServiceType::reliable_connection,
                                           .receives = queues::ReceiveSource::shared_queue,
                                           .shared_receive = second.tag_queue().number(),
                                           .completions = &second.completions()});
        second.bench.bring_to(*commands, QueuePairState::ready_to_send);
    }
    static ConnectionOptions with_tags(ConnectionOptions options) {
        options.matches_tags = true;
        return options;
    }

    // --- The receiver ----------------------------------------------------------------------------

    /// Posts an operation on the tag list.
    void change(const Operation& operation) {
        std::vector<std::byte> bytes = Bench::nop(*commands, posted);
        bytes.resize(hwtab::wqe_ctrl_seg.size + hwtab::wqe_tm_seg.size + hwtab::wqe_data_seg.size);
        const hwtab::View<hwtab::wqe_ctrl_seg> control{bytes};
        control.set<"opcode">(hwtab::value<hwtab::wqe_opcode, "tag_matching">);
        control.set<"ds">(bytes.size() / 16);
        control.set<"ce">(static_cast<std::uint8_t>(queues::CompletionMode::only_error));
        const hwtab::View<hwtab::wqe_tm_seg> fields{
            std::span(bytes).subspan(hwtab::wqe_ctrl_seg.size)};
        fields.set<"opcode">(operation.kind);
        fields.set<"cqe_req">(operation.reported ? 1 : 0);
        fields.set<"sw_cnt_valid">(operation.handled ? 1 : 0);
        fields.set<"sw_cnt">(operation.handled.value_or(0));
        fields.set<"index">(operation.index);
        fields.set<"append_tag">(operation.tag);
        fields.set<"append_mask">(operation.mask);
        const hwtab::View<hwtab::wqe_data_seg> data{
            std::span(bytes).subspan(hwtab::wqe_ctrl_seg.size + hwtab::wqe_tm_seg.size)};
        data.set<"byte_count">(operation.data.length);
        data.set<"lkey">(operation.data.length != 0 ? second.key()
                                                    : memory::SpecialKeys::terminate_scatter_list);
        data.set<"addr">(operation.data.address);
        second.bench.write_send(*commands, posted++, bytes);
        second.bench.ring_sends(*commands, posted);
        settle();
    }
    /// Appends a tag without CQE. \return its memory
    Data expect(std::uint64_t tag, std::uint32_t size, std::uint64_t mask = all_bits) {
        const Data data = second.space(size);
        appended = static_cast<std::uint16_t>((appended + 1) % 8);
        change({.kind = hwtab::value<hwtab::tag_operation, "append">,
                .index = appended,
                .tag = tag,
                .mask = mask,
                .data = data,
                .reported = false});
        return data;
    }
    Data post_entry(std::uint32_t size = 1024) {
        const Data data = second.space(size);
        second.post_shared(second.tag_queue(), entries++, data);
        return data;
    }
    /// Completions of the receiver since the last call.
    std::vector<Report> reports() {
        std::vector<Report> found;
        auto& queue = second.completions();
        const auto produced =
            static_cast<std::uint32_t>(std::as_const(queue).context().get<"producer_counter">());
        for (; polled != produced; ++polled) {
            const auto entry = second.bench.completion(queue, polled);
            const auto report = static_cast<TagReport>(entry.get<"app_op">());
            const bool is_of_entry = report == TagReport::unexpected || report == TagReport::no_tag;
            found.push_back(
                {.report = report,
                 .index = static_cast<std::uint16_t>(is_of_entry ? entry.get<"wqe_counter">()
                                                                 : entry.get<"app_info">()),
                 .length = static_cast<std::uint32_t>(entry.get<"byte_cnt">()),
                 .tag = hwtab::ConstView<hwtab::tmh>{entry.memory()}.get<"tag">(),
                 .opcode = static_cast<CompletionOpcode>(entry.get<"opcode">())});
        }
        return found;
    }
    /// The last completion found by reports().
    hwtab::ConstView<hwtab::tm_cqe> last_operation() {
        return hwtab::ConstView<hwtab::tm_cqe>{
            second.bench.completion(second.completions(), polled - 1).memory()};
    }

    // --- The sender ------------------------------------------------------------------------------

    Data message(TaggedMessage kind, std::uint64_t tag, std::size_t size) {
        const Data data = first.fill(TagHeader::size + size, 9);
        const hwtab::View<hwtab::tmh> fields{first.bench.at(data.address, TagHeader::size)};
        fields.set<"opcode">(static_cast<std::uint8_t>(kind));
        fields.set<"app_ctx">(context_of_application);
        fields.set<"tag">(tag);
        return data;
    }
    /// Sends \p size bytes of data after the header. \return the complete message
    Data send(std::uint64_t tag, std::size_t size, TaggedMessage kind = TaggedMessage::eager) {
        const Data data = message(kind, tag, size);
        first.post({.data = {data}});
        settle();
        return data;
    }
    /// Sends a rendezvous request for \p source, with \p more bytes of application data.
    void send_rendezvous(std::uint64_t tag, const Data& source, std::size_t more = 0,
                         std::optional<std::uint32_t> key = {}) {
        const Data data = message(TaggedMessage::rendezvous, tag, RendezvousHeader::size + more);
        const hwtab::View<hwtab::rvh> fields{
            first.bench.at(data.address + TagHeader::size, RendezvousHeader::size)};
        fields.set<"va">(source.address);
        fields.set<"rkey">(key.value_or(first.key()));
        fields.set<"len">(source.length);
        first.post({.data = {data}});
        settle();
    }
    std::vector<std::byte> data_of(const Data& message) {
        auto bytes = first.contents(message);
        bytes.erase(bytes.begin(), bytes.begin() + TagHeader::size);
        return bytes;
    }

    queues::QueuePair* commands = nullptr;
    std::uint16_t posted = 0;
    std::uint16_t appended = 0;
    std::uint16_t entries = 0;
    std::uint32_t polled = 0;
};

Report matched(std::uint16_t index, std::uint64_t tag) {
    return {.report = TagReport::matched,
            .index = index,
            .tag = tag,
            .opcode = CompletionOpcode::no_packet};
}
Report canceled(std::uint16_t index) {
    return {.report = TagReport::canceled, .index = index, .opcode = CompletionOpcode::no_packet};
}

// --- Messages ------------------------------------------------------------------------------------

TEST(TagMatching, MatchedMessageScatteredToTagMemory) {
    Tagged peers;
    const Data other = peers.expect(1, 100);
    const Data wanted = peers.expect(2, 100);
    const Data sent = peers.send(2, 100);
    EXPECT_THAT(peers.reports(),
                ElementsAre(Report{
                    .report = TagReport::matched_with_data, .index = 1, .length = 100, .tag = 2}));
    EXPECT_EQ(peers.second.contents(wanted), peers.data_of(sent));
    EXPECT_EQ(peers.second.contents(other), std::vector<std::byte>(100));
}

TEST(TagMatching, LongMessageReportedTwice) {
    Tagged peers;
    const Data wanted = peers.expect(5, 3 * mtu);
    const Data sent = peers.send(5, 3 * mtu);
    EXPECT_THAT(
        peers.reports(),
        ElementsAre(matched(0, 5), Report{.report = TagReport::data_complete, .length = 3 * mtu}));
    EXPECT_EQ(peers.second.contents(wanted), peers.data_of(sent));
}

TEST(TagMatching, EmptyMessageMatched) {
    Tagged peers;
    peers.expect(5, 0);
    peers.send(5, 0);
    EXPECT_THAT(peers.reports(),
                ElementsAre(Report{.report = TagReport::matched_with_data, .tag = 5}));
}

TEST(TagMatching, UnexpectedMessageKeptInQueue) {
    Tagged peers;
    peers.expect(1, 100);
    const Data entry = peers.post_entry(TagHeader::size + 100);
    const Data sent = peers.send(2, 100);
    EXPECT_THAT(peers.reports(),
                ElementsAre(Report{.report = TagReport::unexpected, .length = entry.length}));
    EXPECT_EQ(peers.second.contents(entry), peers.first.contents(sent));
}

TEST(TagMatching, MessageWithoutTagKeptInQueue) {
    Tagged peers;
    peers.expect(2, 100);
    for (const auto kind : {TaggedMessage::no_tag, TaggedMessage::finished}) {
        const Data entry = peers.post_entry(TagHeader::size + 100);
        const Data sent = peers.send(2, 100, kind);
        EXPECT_THAT(peers.reports(),
                    ElementsAre(Report{.report = TagReport::no_tag,
                                       .index = static_cast<std::uint16_t>(peers.entries - 1),
                                       .length = entry.length}));
        EXPECT_EQ(peers.second.contents(entry), peers.first.contents(sent));
    }
    EXPECT_EQ(peers.second.tag_queue().tags()->unexpected(), 0);
}

TEST(TagMatching, MessageShorterThanHeaderAccepted) {
    Tagged peers;
    peers.post_entry();
    peers.first.post({.data = {peers.first.fill(TagHeader::size - 1, 3)}});
    peers.settle();
    EXPECT_THAT(peers.reports(),
                ElementsAre(Report{.report = TagReport::no_tag, .length = TagHeader::size - 1}));
}

TEST(TagMatching, UnexpectedMessageWaitsForWqe) {
    Tagged peers;
    peers.send(2, 100);
    EXPECT_THAT(peers.reports(), IsEmpty());
    EXPECT_EQ(peers.second.tag_queue().tags()->unexpected(), 0);
    peers.post_entry();
    peers.run();
    EXPECT_THAT(peers.reports(), ElementsAre(Report{.report = TagReport::unexpected,
                                                    .length = TagHeader::size + 100}));
    EXPECT_EQ(peers.second.tag_queue().tags()->unexpected(), 1);
}

TEST(TagMatching, ImmediateDataDelivered) {
    Tagged peers;
    peers.expect(2, 100);
    const Data data = peers.message(TaggedMessage::eager, 2, 100);
    peers.first.post(
        {.opcode = queues::SendOpcode::send_immediate, .data = {data}, .immediate = 0x77});
    peers.settle();
    EXPECT_THAT(peers.reports(), ElementsAre(Report{.report = TagReport::matched_with_data,
                                                    .length = 100,
                                                    .tag = 2,
                                                    .opcode = CompletionOpcode::send_immediate}));
    EXPECT_EQ(peers.second.bench.completion(peers.second.completions(), 0).get<"immediate">(),
              0x77U);
}

TEST(TagMatching, MessageLongerThanTagMemoryRefused) {
    Tagged peers;
    peers.expect(2, 99);
    peers.send(2, 100);
    EXPECT_THAT(peers.first.poll(),
                ElementsAre(Result{.opcode = CompletionOpcode::requester_error,
                                   .error = CompletionError::remote_invalid_request}));
    EXPECT_EQ(peers.second.queue_pair().state(), QueuePairState::error);
    EXPECT_EQ(peers.second.tag_queue().tags()->size(), 1U);
    EXPECT_THAT(peers.reports(), IsEmpty());
}

TEST(TagMatching, IncompleteMessageReported) {
    Tagged peers;
    peers.expect(2, 3 * mtu);
    peers.set_fate([](std::size_t number, const auto& /*packet*/) { return number == 0 ? 1 : 0; });
    peers.send(2, 3 * mtu);
    EXPECT_THAT(peers.reports(), ElementsAre(matched(0, 2)));
    peers.second.queue_pair().enter_error();
    EXPECT_THAT(peers.reports(), ElementsAre(canceled(0)));
}

// --- Operations ----------------------------------------------------------------------------------

TEST(TagMatching, SignaledOperationRaisesCompletion) {
    Tagged peers;
    peers.change({.kind = hwtab::value<hwtab::tag_operation, "append">, .index = 4, .tag = 1});
    EXPECT_THAT(peers.reports(), ElementsAre(Report{.report = TagReport::appended,
                                                    .opcode = CompletionOpcode::no_packet}));
    EXPECT_EQ(peers.last_operation().get<"success">(), 1U);
    peers.change({.kind = hwtab::value<hwtab::tag_operation, "remove">, .index = 0});
    EXPECT_THAT(peers.reports(), ElementsAre(Report{.report = TagReport::removed,
                                                    .opcode = CompletionOpcode::no_packet}));
    EXPECT_EQ(peers.last_operation().get<"success">(), 1U);
    peers.change({.handled = 0});
    EXPECT_THAT(peers.reports(), ElementsAre(Report{.report = TagReport::synchronized,
                                                    .opcode = CompletionOpcode::no_packet}));
    peers.change({.handled = 0, .reported = false});
    EXPECT_THAT(peers.reports(), IsEmpty());
}

TEST(TagMatching, RemoveMatchedTagFails) {
    Tagged peers;
    peers.expect(1, 100);
    peers.send(1, 100);
    peers.reports();
    peers.change({.kind = hwtab::value<hwtab::tag_operation, "remove">, .index = 0});
    peers.reports();
    EXPECT_EQ(peers.last_operation().get<"success">(), 0U);
}

TEST(TagMatching, NewTagMatchedAfterUnexpectedHandled) {
    Tagged peers;
    peers.post_entry();
    peers.post_entry();
    peers.send(1, 10);
    peers.reports();
    peers.change({.kind = hwtab::value<hwtab::tag_operation, "append">, .index = 1, .tag = 1});
    peers.reports();
    EXPECT_EQ(peers.last_operation().get<"hw_phase_cnt">(), 1U);
    peers.send(1, 0);
    EXPECT_THAT(peers.reports(),
                ElementsAre(Report{
                    .report = TagReport::unexpected, .index = 1, .length = TagHeader::size}));
    peers.change({.handled = 2, .reported = false});
    peers.send(1, 0);
    EXPECT_THAT(peers.reports(),
                ElementsAre(Report{.report = TagReport::matched_with_data, .tag = 1}));
}

TEST(TagMatching, InvalidOperationRefused) {
    for (const Operation& operation :
         {Operation{.kind = 7},
          Operation{.kind = hwtab::value<hwtab::tag_operation, "append">, .index = 8}}) {
        Tagged peers;
        peers.change(operation);
        EXPECT_THAT(peers.second.poll(),
                    ElementsAre(Result{.opcode = CompletionOpcode::requester_error,
                                       .error = CompletionError::local_operation}));
        EXPECT_EQ(peers.commands->state(), QueuePairState::error);
        EXPECT_EQ(peers.second.queue_pair().state(), QueuePairState::ready_to_send);
    }
}

TEST(TagMatching, OperationWithoutTagListRefused) {
    Tagged peers;
    peers.commands =
        &peers.second.bench.make_queue_pair({.service = queues::ServiceType::reliable_connection,
                                             .completions = &peers.second.completions()});
    peers.second.bench.bring_to(*peers.commands, QueuePairState::ready_to_send);
    peers.change({});
    EXPECT_THAT(peers.second.poll(),
                ElementsAre(Result{.opcode = CompletionOpcode::requester_error,
                                   .error = CompletionError::local_operation}));
}

// --- Rendezvous ----------------------------------------------------------------------------------

TEST(TagMatching, RendezvousReadsDataAndSendsFin) {
    for (const std::uint32_t size : {0U, 1U, mtu, 5 * mtu + 3}) {
        Tagged peers;
        const Data wanted = peers.expect(3, size);
        const Data source = peers.first.fill(size, 40);
        const Data finished = peers.first.space(TagHeader::size);
        peers.first.post_receive({finished});
        peers.send_rendezvous(3, source, 32);
        EXPECT_THAT(
            peers.reports(),
            ElementsAre(matched(0, 3), Report{.report = TagReport::data_complete, .length = size}));
        EXPECT_EQ(peers.second.contents(wanted), peers.first.contents(source));
        EXPECT_THAT(peers.first.poll(),
                    ElementsAre(Result{}, Result{.opcode = CompletionOpcode::send,
                                                 .byte_count = TagHeader::size}));
        const hwtab::ConstView<hwtab::tmh> fin{
            peers.first.bench.at(finished.address, finished.length)};
        EXPECT_EQ(fin.get<"opcode">(), (hwtab::value<hwtab::tag_header_opcode, "fin">));
        EXPECT_EQ(fin.get<"app_ctx">(), context_of_application);
    }
}

TEST(TagMatching, UnexpectedRendezvousLeftToSoftware) {
    Tagged peers;
    peers.post_entry();
    peers.send_rendezvous(3, peers.first.fill(100, 1));
    EXPECT_THAT(peers.reports(),
                ElementsAre(Report{.report = TagReport::unexpected, .length = headers}));
}

TEST(TagMatching, RendezvousTooLongLeftToSoftware) {
    Tagged peers;
    const Data wanted = peers.expect(3, 99);
    const Data source = peers.first.fill(100, 1);
    peers.send_rendezvous(3, source);
    EXPECT_THAT(peers.reports(), ElementsAre(Report{.report = TagReport::matched_for_software,
                                                    .length = RendezvousHeader::size,
                                                    .tag = 3}));
    const hwtab::ConstView<hwtab::rvh> header{
        peers.second.bench.at(wanted.address, RendezvousHeader::size)};
    EXPECT_EQ(header.get<"va">(), source.address);
    EXPECT_EQ(header.get<"len">(), 100U);
}

TEST(TagMatching, RendezvousWithoutOffloadLeftToSoftware) {
    Tagged peers({.fetches_rendezvous = false});
    peers.expect(3, 100);
    peers.send_rendezvous(3, peers.first.fill(100, 1));
    EXPECT_THAT(peers.reports(), ElementsAre(Report{.report = TagReport::matched_for_software,
                                                    .length = RendezvousHeader::size,
                                                    .tag = 3}));
}

TEST(TagMatching, RendezvousReadFailureReported) {
    Tagged peers;
    peers.expect(3, 100);
    peers.send_rendezvous(3, peers.first.fill(100, 1), 0, 0x12'3400);
    EXPECT_THAT(peers.reports(), ElementsAre(matched(0, 3), canceled(0)));
    EXPECT_EQ(peers.second.queue_pair().state(), QueuePairState::error);
    EXPECT_EQ(peers.second.events(hca::EventType::work_queue_invalid_request), 1U);
}

TEST(TagMatching, LossDuplicationReorderingSurvived) {
    constexpr int rounds = 40;
    Tagged peers;
    peers.make_unreliable(0.1, 11);
    for (int round = 0; round < rounds; ++round) {
        const Data eager = peers.expect(2, 3 * mtu);
        const Data fetched = peers.expect(3, 10 * mtu);
        const Data source = peers.first.fill(10 * mtu, static_cast<unsigned>(round));
        peers.first.post_receive({peers.first.space(TagHeader::size)});
        peers.send_rendezvous(3, source);
        const Data sent = peers.send(2, 2 * mtu + 7);
        peers.run(std::chrono::milliseconds(20), 60);
        EXPECT_EQ(peers.reports().size(), 4U);
        peers.first.poll();
        EXPECT_EQ(peers.second.contents(fetched), peers.first.contents(source));
        auto arrived = peers.second.contents(eager);
        arrived.resize(2 * mtu + 7);
        EXPECT_EQ(arrived, peers.data_of(sent));
    }
}

} // namespace
} // namespace cxemu::transport
