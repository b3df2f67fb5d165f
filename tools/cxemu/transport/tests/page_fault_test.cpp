// SPDX-License-Identifier: GPL-2.0-or-later
//
// On-demand paging: stalled packets, page fault events, and their resolution by software.
#include "base/byte_order.hpp"
#include "tables/events.hpp"
#include "transport/testing/peers.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cxemu::transport {
namespace {

using memory::MemoryKey;
using queues::CompletionError;
using queues::CompletionOpcode;
using queues::SendOpcode;
using queues::testing::Call;
using testing::ConnectionOptions;
using testing::Data;
using ::testing::ElementsAre;
using testing::failure;
using ::testing::IsEmpty;
using testing::mtu;
using testing::Peer;
using testing::Peers;
using testing::receive_failure;
using testing::received;
using testing::Result;
using testing::Send;
using testing::success;

constexpr std::uint32_t page_size = 4096;
constexpr std::uint64_t start = 0x4000'0000;

/// Memory whose pages are present or absent. All are absent at first.
class PagedMemory {
public:
    static constexpr std::uint32_t pages = 4;

    explicit PagedMemory(Peer& peer) : peer_(peer), real_(peer.fill(pages * page_size, 3)) {
        Call<hwtab::cmd_create_mkey> call;
        fill_context(call.in().nested<"memory_key_mkey_entry", hwtab::mkc>(),
                     memory::AccessMode::mtt, log_page, pages / 2);
        call.in().set<"pg_access">(1);
        EXPECT_TRUE(peer.bench.run(call));
        number_ = static_cast<std::uint32_t>(call.out().get<"mkey_index">());
    }

    [[nodiscard]] std::uint32_t key() const { return number_ << 8U; }

    /// Creates a region with this memory as its only range.
    std::uint32_t make_region() {
        Call<hwtab::cmd_create_mkey> call(MemoryKey::octoword);
        const auto fields = call.in().nested<"memory_key_mkey_entry", hwtab::mkc>();
        fill_context(fields, memory::AccessMode::ksm, log_region, 1);
        call.in().set<"translations_octword_actual_size">(1);
        const auto entry = part_of_region();
        std::ranges::copy(entry, call.in().bytes<"klm_pas_mtt">().begin());
        EXPECT_TRUE(peer_.bench.run(call));
        return static_cast<std::uint32_t>(call.out().get<"mkey_index">()) << 8U;
    }
    /// Makes a region refer to this memory.
    void enter_into(std::uint32_t region) {
        auto& keys = peer_.bench.hca().objects().of<MemoryKey>();
        keys.find(region >> 8U)->write_translation(0, part_of_region());
    }
    /// Address used by requests.
    [[nodiscard]] static Data at(std::uint64_t offset, std::uint32_t length) {
        return {.address = start + offset, .length = length};
    }
    /// Actual address.
    [[nodiscard]] Data real(std::uint64_t offset, std::uint32_t length) const {
        return {.address = real_.address + offset, .length = length};
    }

    void bring_in(std::uint32_t page, bool writable = true) {
        constexpr std::uint64_t readable_bit = 1;
        constexpr std::uint64_t writable_bit = 2;
        write_entry(page, (real_.address + page * page_size) | readable_bit |
                              (writable ? writable_bit : 0));
    }
    void bring_in_all() {
        for (std::uint32_t page = 0; page < pages; ++page)
            bring_in(page);
    }
    void take_away(std::uint32_t page) { write_entry(page, 0); }

private:
    static constexpr std::uint32_t log_page = 12;
    static constexpr std::uint32_t log_region = 14; ///< of its only entry

    void fill_context(hwtab::View<hwtab::mkc> fields, memory::AccessMode mode,
                      std::uint32_t log_entry, std::uint32_t xlt_octowords) const {
        fields.set<"access_mode_1_0">(static_cast<std::uint8_t>(mode));
        fields.set<"start_addr">(start);
        fields.set<"len">(pages * page_size);
        fields.set<"log_page_size">(log_entry);
        fields.set<"translations_octword_size">(xlt_octowords);
        fields.set<"lr">(1);
        fields.set<"lw">(1);
        fields.set<"rr">(1);
        fields.set<"rw">(1);
        fields.set<"a">(1);
        fields.set<"qpn">(MemoryKey::any_queue_pair);
        fields.set<"pd">(peer_.bench.domain());
    }

    [[nodiscard]] std::array<std::byte, hwtab::ksm.size> part_of_region() const {
        std::array<std::byte, hwtab::ksm.size> bytes{};
        const hwtab::View<hwtab::ksm> entry{std::span(bytes)};
        entry.set<"key">(key());
        entry.set<"va">(start);
        return bytes;
    }

    void write_entry(std::uint32_t page, std::uint64_t entry) {
        std::array<std::byte, hwtab::mtt.size> bytes{};
        store_be(std::span(bytes), entry);
        peer_.bench.hca().objects().of<MemoryKey>().find(number_)->write_translation(
            page * hwtab::mtt.size, bytes);
    }

    Peer& peer_;
    Data real_;
    std::uint32_t number_ = 0;
};

using RequestEvent = hwtab::ConstView<hwtab::wqe_associated_page_fault_event>;
using RemoteEvent = hwtab::ConstView<hwtab::rdma_page_fault_event>;

/// A page fault event and its resolution.
struct Fault {
    std::uint8_t form = 0;
    std::uint32_t type = 0;
    std::uint32_t token = 0;
    std::uint32_t work_queue = 0;
    hwtab::ConstView<hwtab::eqe> event;

    explicit Fault(Peer& peer) : event(peer.last_event()) {
        form = static_cast<std::uint8_t>(event.get<"event_sub_type">());
        const auto last = load_be<std::uint32_t>(data().subspan(0x18));
        type = last >> 24U;
        work_queue = last & 0xff'ffff;
        token = form == 0 ? load_be<std::uint32_t>(data().subspan(0xc)) : work_queue;
    }
    [[nodiscard]] std::span<const std::byte> data() const { return event.bytes<"event_data">(); }
    [[nodiscard]] RequestEvent request() const { return RequestEvent{data()}; }
    [[nodiscard]] RemoteEvent remote() const { return RemoteEvent{data()}; }

    hca::CommandResult resume(Peer& peer, bool resolved = true) const {
        Call<hwtab::cmd_page_fault_resume> call;
        const auto fields = call.in().nested<"page_fault_info", hwtab::trans_page_fault_info>();
        fields.set<"error">(resolved ? 0 : 1);
        fields.set<"page_fault_type">(type);
        fields.set<"wq_number">(work_queue);
        fields.set<"fault_token">(token);
        return peer.bench.run(call);
    }
};

struct Paged : Peers {
    explicit Paged(const ConnectionOptions& wanted = {}) : Peers(wanted) { connect(); }

    /// Number of page fault events of a side.
    static std::size_t faults(Peer& peer) { return peer.events(hca::EventType::page_fault); }
    void send(std::uint32_t offset, std::uint32_t length, const Data& target) {
        second.post_receive({target});
        first.post({.data = {PagedMemory::at(offset, length)}, .local_key = here.key()});
        settle();
    }
    /// \return the data of the first side
    Data transfer(SendOpcode opcode, std::uint32_t offset, std::uint32_t length) {
        const Data data = first.fill(length, 9);
        first.post({.opcode = opcode,
                    .data = {data},
                    .remote = PagedMemory::at(offset, length),
                    .remote_key = there.key()});
        settle();
        return data;
    }

    PagedMemory here{first};
    PagedMemory there{second};
};

// --- Memory of the requester ---------------------------------------------------------------------

TEST(PageFault, SendStalledUntilPageResolved) {
    Paged peers;
    const Data target = peers.second.space(1000);
    peers.send(100, 1000, target);
    peers.advance(std::chrono::seconds(10));
    ASSERT_EQ(Paged::faults(peers.first), 1);
    EXPECT_THAT(peers.first.poll(), IsEmpty());
    const Fault fault(peers.first);
    EXPECT_EQ(fault.form, 0);
    EXPECT_EQ(fault.type, 1) << "the requester, reading";
    EXPECT_EQ(fault.work_queue, peers.first.queue_pair().number());
    EXPECT_EQ(fault.request().get<"wqe_index">(), 0);
    EXPECT_EQ(fault.request().get<"bytes_committed">(), 0);
    peers.here.bring_in(0);
    EXPECT_TRUE(fault.resume(peers.first));
    peers.settle();
    EXPECT_THAT(peers.first.poll(), ElementsAre(success(0)));
    EXPECT_THAT(peers.second.poll(), ElementsAre(received(1000)));
    EXPECT_EQ(peers.second.contents(target), peers.first.contents(peers.here.real(100, 1000)));
}

TEST(PageFault, FaultReportsBytesCommitted) {
    Paged peers;
    peers.here.bring_in(0);
    const Data target = peers.second.space(2 * page_size);
    peers.send(0, 2 * page_size, target);
    const Fault fault(peers.first);
    EXPECT_EQ(fault.request().get<"bytes_committed">(), page_size);
    peers.here.bring_in(1);
    peers.advance(std::chrono::seconds(10)); // sent packets stay acknowledged
    EXPECT_TRUE(fault.resume(peers.first));
    peers.settle();
    EXPECT_THAT(peers.first.poll(), ElementsAre(success(0)));
    EXPECT_EQ(peers.second.contents(target),
              peers.first.contents(peers.here.real(0, 2 * page_size)));
}

TEST(PageFault, InvalidatedPageFaultsAgain) {
    Paged peers;
    peers.send(0, 10, peers.second.space(10));
    const Fault fault(peers.first);
    peers.here.bring_in(0);
    peers.here.take_away(0);
    EXPECT_TRUE(fault.resume(peers.first));
    peers.settle();
    EXPECT_EQ(Paged::faults(peers.first), 2);
    const Fault again(peers.first);
    EXPECT_NE(again.token, fault.token);
    peers.here.bring_in(0);
    EXPECT_TRUE(again.resume(peers.first));
    peers.settle();
    EXPECT_THAT(peers.first.poll(), ElementsAre(success(0)));
}

TEST(PageFault, UnstoredResponseRetried) {
    for (const SendOpcode opcode : {SendOpcode::rdma_read, SendOpcode::fetch_add}) {
        Paged peers;
        const std::uint32_t length = opcode == SendOpcode::rdma_read ? 3 * mtu : 8;
        const Data source = peers.second.fill(length, 5);
        auto before = peers.second.contents(source);
        if (opcode == SendOpcode::fetch_add)
            std::ranges::reverse(before); // the response is big-endian
        peers.here.bring_in(0, false);    // read-only
        peers.first.post({.opcode = opcode,
                          .data = {PagedMemory::at(0, length)},
                          .remote = source,
                          .local_key = peers.here.key(),
                          .atomic = {.swap_or_add = 1}});
        peers.advance(std::chrono::seconds(10));
        EXPECT_THAT(peers.first.poll(), IsEmpty());
        ASSERT_EQ(Paged::faults(peers.first), 1);
        const Fault fault(peers.first);
        EXPECT_EQ(fault.type, 3) << "the requester, writing";
        peers.here.bring_in(0);
        EXPECT_TRUE(fault.resume(peers.first));
        peers.run();
        EXPECT_THAT(peers.first.poll(), ElementsAre(success(0, length)));
        EXPECT_EQ(peers.first.contents(peers.here.real(0, length)), before);
    }
}

TEST(PageFault, UnresolvedPageFailsRequest) {
    for (const SendOpcode opcode : {SendOpcode::send, SendOpcode::rdma_read}) {
        Paged peers;
        peers.second.post_receive({peers.second.space(100)});
        peers.first.post({.opcode = opcode,
                          .data = {PagedMemory::at(0, 100)},
                          .remote = peers.second.space(100),
                          .local_key = peers.here.key()});
        peers.settle();
        EXPECT_TRUE(Fault(peers.first).resume(peers.first, false));
        peers.settle();
        EXPECT_THAT(peers.first.poll(), ElementsAre(failure(0, CompletionError::local_protection)));
        EXPECT_EQ(peers.first.queue_pair().state(), queues::QueuePairState::error);
    }
}

// --- Memory of the responder ---------------------------------------------------------------------

TEST(PageFault, StalledReceiveSendsRnr) {
    Paged peers;
    const Data source = peers.first.fill(1000, 1);
    peers.second.post_receive({PagedMemory::at(0, 1000)}, peers.there.key());
    peers.first.post({.data = {source}});
    peers.advance(std::chrono::seconds(1));
    ASSERT_EQ(Paged::faults(peers.second), 1) << "however often the sender tries";
    const Fault fault(peers.second);
    EXPECT_EQ(fault.form, 0);
    EXPECT_EQ(fault.type, 2) << "the responder, writing";
    EXPECT_EQ(fault.work_queue, peers.second.queue_pair().number());
    EXPECT_EQ(fault.request().get<"wqe_index">(), 0);
    peers.there.bring_in(0);
    EXPECT_TRUE(fault.resume(peers.second));
    peers.run();
    EXPECT_THAT(peers.first.poll(), ElementsAre(success(0)));
    EXPECT_THAT(peers.second.poll(), ElementsAre(received(1000)));
    EXPECT_EQ(peers.second.contents(peers.there.real(0, 1000)), peers.first.contents(source));
}

TEST(PageFault, RnrTimerGrowsForFewRetries) {
    Paged peers({.not_ready_retries = 3});
    peers.second.post_receive({PagedMemory::at(0, 10)}, peers.there.key());
    peers.first.post({.data = {peers.first.fill(10, 1)}});
    peers.advance(std::chrono::milliseconds(40));
    peers.there.bring_in(0);
    EXPECT_TRUE(Fault(peers.second).resume(peers.second));
    peers.run();
    EXPECT_THAT(peers.first.poll(), ElementsAre(success(0)));
}

TEST(PageFault, SharedReceiveFaultNamesSrq) {
    Paged peers({.shares_receives = true});
    queues::SharedReceiveQueue& queue = *peers.second.queue_pair().shared_receive();
    peers.second.post_shared(queue, 0, PagedMemory::at(0, 10), peers.there.key());
    peers.first.post({.data = {peers.first.fill(10, 1)}});
    peers.settle();
    ASSERT_EQ(Paged::faults(peers.second), 1);
    const Fault fault(peers.second);
    EXPECT_EQ(fault.type, 0) << "a shared queue";
    EXPECT_EQ(fault.work_queue, queue.number());
    peers.there.bring_in(0);
    EXPECT_TRUE(fault.resume(peers.second));
    peers.run();
    EXPECT_THAT(peers.second.poll(), ElementsAre(received(10)));
}

TEST(PageFault, AbsentRemoteMemorySendsRnr) {
    struct Case {
        SendOpcode opcode;
        std::uint32_t length;
        std::uint32_t type;
    };
    for (const Case& each :
         {Case{SendOpcode::rdma_write, 1000, 6}, Case{SendOpcode::rdma_read, 1000, 4},
          Case{SendOpcode::fetch_add, 8, 6}}) {
        Paged peers;
        peers.there.bring_in(0);
        const std::uint32_t offset = page_size - 2 * mtu;
        const std::uint32_t where = each.length == 8 ? page_size : offset;
        const Data data = peers.transfer(each.opcode, where, each.length);
        EXPECT_THAT(peers.first.poll(), IsEmpty());
        ASSERT_EQ(Paged::faults(peers.second), 1);
        const Fault fault(peers.second);
        EXPECT_EQ(fault.form, 1);
        EXPECT_EQ(fault.type, each.type);
        EXPECT_EQ(fault.remote().get<"r_key">(), peers.there.key());
        EXPECT_EQ(fault.remote().get<"rdma_va">(), start + where);
        EXPECT_EQ(fault.remote().get<"rdma_op_len">(), each.length);
        EXPECT_EQ(fault.remote().get<"bytes_committed">(),
                  each.opcode == SendOpcode::rdma_write ? 2 * mtu : 0);
        peers.there.bring_in(1);
        EXPECT_TRUE(fault.resume(peers.second));
        peers.run();
        ASSERT_THAT(
            peers.first.poll(),
            ElementsAre(success(0, each.opcode == SendOpcode::rdma_write ? 0 : each.length)));
        if (each.opcode != SendOpcode::fetch_add) {
            EXPECT_EQ(peers.first.contents(data),
                      peers.second.contents(peers.there.real(where, each.length)));
        }
    }
}

TEST(PageFault, UnresolvedRemotePageRefused) {
    Paged send;
    send.second.post_receive({PagedMemory::at(0, 10)}, send.there.key());
    send.first.post({.data = {send.first.fill(10, 1)}});
    send.settle();
    EXPECT_TRUE(Fault(send.second).resume(send.second, false));
    send.run();
    EXPECT_THAT(send.first.poll(), ElementsAre(failure(0, CompletionError::remote_operation)));
    EXPECT_THAT(send.second.poll(),
                ElementsAre(receive_failure(0, CompletionError::local_protection)));

    Paged write;
    write.transfer(SendOpcode::rdma_write, 0, 10);
    EXPECT_TRUE(Fault(write.second).resume(write.second, false));
    write.run();
    EXPECT_THAT(write.first.poll(), ElementsAre(failure(0, CompletionError::remote_access)));
    EXPECT_EQ(write.second.queue_pair().state(), queues::QueuePairState::error);
}

TEST(PageFault, ReadOfInvalidatedPageStallsResponses) {
    Paged peers({.mtu_code = 5, .timeout_code = 0});
    peers.there.bring_in_all();
    const Data target = peers.first.space(4 * page_size);
    peers.first.post({.opcode = SendOpcode::rdma_read,
                      .data = {target},
                      .remote = PagedMemory::at(0, 4 * page_size),
                      .remote_key = peers.there.key()});
    std::size_t responses = 0;
    peers.set_fate([&](std::size_t, const fabric::ParsedPacket& packet) {
        const auto operation = operation_of(packet.headers.transport.opcode);
        if (operation->verb == PacketOp::read)
            peers.time.loop.defer([&] { peers.there.take_away(2); });
        responses += operation->verb == PacketOp::read_response ? 1 : 0;
        return 1;
    });
    peers.settle();
    if (Paged::faults(peers.second) == 1) {
        EXPECT_LT(responses, 4);
        const Fault fault(peers.second);
        EXPECT_EQ(fault.type, 4);
        peers.there.bring_in(2);
        EXPECT_TRUE(fault.resume(peers.second));
        peers.run();
    }
    EXPECT_THAT(peers.first.poll(), ElementsAre(success(0, 4 * page_size)));
}

// --- Page faults by memory -----------------------------------------------------------------------

/// A page fault event that names the memory, and its resolution.
struct MemoryFault {
    std::uint32_t token = 0;
    std::uint32_t key = 0;
    std::uint64_t address = 0;

    explicit MemoryFault(Peer& peer) {
        const auto event = peer.last_event();
        EXPECT_EQ(event.get<"event_sub_type">(), 2) << "names the memory";
        const auto data = event.bytes<"event_data">();
        token = load_be<std::uint32_t>(data.subspan(0x8));
        key = load_be<std::uint32_t>(data.subspan(0x10));
        address = load_be<std::uint64_t>(data.subspan(0x14));
    }

    hca::CommandResult resume(Peer& peer, bool resolved = true) const {
        Call<hwtab::cmd_page_fault_resume> call;
        const auto fields = call.in().nested<"page_fault_info", hwtab::mem_page_fault_info>();
        fields.set<"error">(resolved ? 0 : 1);
        fields.set<"fault_token_31_0">(token);
        return peer.bench.run(call);
    }
};

/// Writes to a region of the second side that contains its absent memory.
struct WritesToRegion : Paged {
    WritesToRegion() : Paged({.memory_faults = true}), region(there.make_region()) {
        source = first.fill(100, 9);
        first.post({.opcode = SendOpcode::rdma_write,
                    .data = {source},
                    .remote = PagedMemory::at(0x1000, 100),
                    .remote_key = region});
        settle();
    }

    std::uint32_t region;
    Data source;
};

TEST(PageFaultOfMemory, SendStalledUntilPageResolved) {
    Paged peers({.memory_faults = true});
    const Data target = peers.second.space(100);
    peers.send(0x1000, 100, target);
    const MemoryFault fault(peers.first);
    EXPECT_EQ(fault.key, peers.here.key());
    EXPECT_EQ(fault.address, start + 0x1000);
    peers.here.bring_in(1);
    EXPECT_TRUE(fault.resume(peers.first));
    peers.settle();
    EXPECT_THAT(peers.first.poll(), ElementsAre(success(0)));
    EXPECT_EQ(peers.second.contents(target), peers.first.contents(peers.here.real(0x1000, 100)));
}

TEST(PageFaultOfMemory, UnresolvedPageFailsRequest) {
    Paged peers({.memory_faults = true});
    peers.send(0, 10, peers.second.space(10));
    EXPECT_TRUE(MemoryFault(peers.first).resume(peers.first, false));
    peers.settle();
    EXPECT_THAT(peers.first.poll(), ElementsAre(failure(0, CompletionError::local_protection)));
    EXPECT_EQ(Paged::faults(peers.first), 1);
}

TEST(PageFaultOfMemory, FaultNamesRegionOfForgottenRange) {
    WritesToRegion peers;
    const MemoryFault of_part(peers.second);
    EXPECT_EQ(of_part.key, peers.there.key());
    EXPECT_TRUE(of_part.resume(peers.second, false));
    peers.advance(std::chrono::seconds(1));
    EXPECT_THAT(peers.first.poll(), IsEmpty());
    const MemoryFault of_region(peers.second);
    EXPECT_EQ(of_region.token, of_part.token);
    EXPECT_EQ(of_region.key, peers.region);
    EXPECT_EQ(of_region.address, start + 0x1000);
    PagedMemory other(peers.second);
    other.bring_in(1);
    other.enter_into(peers.region);
    EXPECT_TRUE(of_region.resume(peers.second));
    peers.run();
    EXPECT_THAT(peers.first.poll(), ElementsAre(success(0)));
    EXPECT_EQ(peers.second.contents(other.real(0x1000, 100)), peers.first.contents(peers.source));
}

TEST(PageFaultOfMemory, UnresolvedRegionPageRefused) {
    WritesToRegion peers;
    EXPECT_TRUE(MemoryFault(peers.second).resume(peers.second, false));
    EXPECT_TRUE(MemoryFault(peers.second).resume(peers.second, false));
    peers.run();
    EXPECT_THAT(peers.first.poll(), ElementsAre(failure(0, CompletionError::remote_access)));
    EXPECT_EQ(Paged::faults(peers.second), 2);
}

// --- Invalid resolutions -------------------------------------------------------------------------

TEST(PageFault, ResumeRequiresPendingToken) {
    Paged peers;
    peers.send(0, 10, peers.second.space(10));
    const Fault fault(peers.first);
    Fault other = fault;
    other.token = fault.token + 1;
    EXPECT_EQ(other.resume(peers.first).syndrome, hca::Syndrome::unknown_object);
    other = fault;
    other.work_queue = fault.work_queue + 1;
    EXPECT_EQ(other.resume(peers.first).syndrome, hca::Syndrome::unknown_object);
    EXPECT_TRUE(fault.resume(peers.first));
    peers.here.bring_in(0);
    EXPECT_FALSE(fault.resume(peers.first)) << "again";
}

TEST(PageFault, QpStopDropsFault) {
    Paged peers;
    peers.send(0, 10, peers.second.space(10));
    const Fault fault(peers.first);
    peers.first.queue_pair().change_state(queues::QueuePairState::error);
    EXPECT_THAT(peers.first.poll(), ElementsAre(failure(0, CompletionError::flushed)));
    EXPECT_TRUE(fault.resume(peers.first, false)) << "software resumes in any case";
    peers.settle();
    EXPECT_THAT(peers.first.poll(), IsEmpty());
}

TEST(PageFault, DestroyedQpTokenIsUnknown) {
    Paged peers;
    peers.send(0, 10, peers.second.space(10));
    const Fault fault(peers.first);
    auto& bench = peers.first.bench;
    Call<hwtab::cmd_destroy_qp> call;
    peers.first.queue_pair().change_state(queues::QueuePairState::reset);
    call.in().set<"qpn">(peers.first.queue_pair().number());
    EXPECT_TRUE(bench.run(call));
    EXPECT_EQ(fault.resume(peers.first).syndrome, hca::Syndrome::unknown_object);
}

TEST(PageFault, FaultWithoutEventQueueFailsAccess) {
    Paged peers;
    peers.first.bench.hca().objects().of<queues::EventQueue>().erase(
        peers.first.event_queue().number(), 0);
    peers.send(0, 10, peers.second.space(10));
    EXPECT_THAT(peers.first.poll(), ElementsAre(failure(0, CompletionError::local_protection)));
}

TEST(PageFault, FaultWithFullEventQueueIsFatal) {
    Paged peers;
    hca::Hca& hca = peers.first.bench.hca();
    for (std::uint32_t i = 0; i < peers.first.event_queue().size(); ++i)
        hca.post_event(hca::EventType::path_migrated, 0, {});
    peers.send(0, 10, peers.second.space(10));
    EXPECT_EQ(peers.first.bench.queues().page_faults().raised(), 0);
    EXPECT_EQ(hca.state(), hca::FunctionState::disabled) << "an overrun is fatal";
}

} // namespace
} // namespace cxemu::transport
