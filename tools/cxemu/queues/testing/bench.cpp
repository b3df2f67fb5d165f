// SPDX-License-Identifier: GPL-2.0-or-later
#include "queues/testing/bench.hpp"

#include "base/byte_order.hpp"
#include "queues/data_pointer.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <stdexcept>

namespace cxemu::queues::testing {

namespace {

constexpr std::uint64_t page = 4096;

std::uint64_t pages_for(std::uint64_t size) {
    return (size + page - 1) / page;
}

void expect_ok(const hca::CommandResult& result) {
    if (!result)
        throw std::runtime_error("a command of the bench failed");
}

} // namespace

hca::HcaSettings Bench::default_settings() {
    hca::HcaSettings settings;
    settings.name = "bench";
    settings.profile = hca::find_profile("connectx5");
    for (const char* const field : {"log_max_dci_stream_channels", "log_max_dci_errored_streams"})
        settings.overrides.emplace_back(field, 4);
    settings.overrides.emplace_back("dct", 1); // as after a SET_HCA_CAP
    return settings;
}

hca::HcaSettings Bench::with_capability(std::string_view name, std::uint64_t value) {
    hca::HcaSettings settings = default_settings();
    settings.overrides.emplace_back(name, value);
    return settings;
}

Bench::Bench(const hca::HcaSettings& settings, EventLoop* loop)
    : own_loop_([this] { return now_; }), loop_(loop != nullptr ? *loop : own_loop_),
      memory_(memory_size), dma_(make_silent_log()), interrupts_(vectors, make_silent_log()),
      checker_(make_silent_log()), table_(commands::all_commands()),
      hca_({.loop = loop_,
            .dma = dma_,
            .interrupts = interrupts_,
            .checker = checker_,
            .faults = &faults_},
           settings, table_, make_silent_log()) {
    memory_.map_into(dma_, memory_start);
    hca_.add<memory::MemoryKeys>();
    hca_.add<EventQueues>();
    hca_.add<WorkQueues>();
    hca_.initialize_function();
}

void Bench::settle() {
    constexpr int enough_turns = 8;
    for (int i = 0; i < enough_turns; ++i)
        loop_.turn(EventLoop::Duration::zero());
}

void Bench::advance(EventLoop::Duration time) {
    now_ += time;
    settle();
}

std::uint64_t Bench::take_interrupts() {
    const std::uint64_t raised = interrupts_.statistics().raised;
    return raised - std::exchange(interrupts_seen_, raised);
}

void Bench::map_memory(std::size_t size) {
    if (!dma_.map({.iova = memory_start, .size = size, .readable = true, .writable = true},
                  memory_.file()))
        throw std::runtime_error("the DMA space refuses the map");
}

std::uint64_t Bench::allocate(std::size_t size) {
    const std::uint64_t address = next_address_;
    next_address_ += pages_for(size) * page;
    if (next_address_ > memory_start + memory_size)
        throw std::runtime_error("the bench has run out of memory");
    return address;
}

std::span<std::byte> Bench::at(std::uint64_t address, std::size_t size) {
    return memory_.bytes().subspan(address - memory_start, size);
}

void Bench::store32(std::uint64_t address, std::uint32_t value) {
    store_be<std::uint32_t>(at(address, sizeof(value)), value);
}

std::uint32_t Bench::load32(std::uint64_t address) {
    return load_be<std::uint32_t>(at(address, sizeof(std::uint32_t)));
}

void Bench::list_pages(std::span<std::byte> list, std::uint64_t first) {
    for (std::size_t i = 0; i < list.size() / sizeof(std::uint64_t); ++i)
        store_be<std::uint64_t>(list.subspan(i * sizeof(std::uint64_t)), first + (i * page));
}

void Bench::have_faults_name_memory() {
    constexpr auto page_of_paging = hca::CapabilityPage::on_demand_paging;
    const auto present = hca_.capabilities().bytes(page_of_paging, false);
    std::vector<std::byte> wanted(present.begin(), present.end());
    hwtab::View<hwtab::odp_cap>{std::span(wanted)}.set<"mem_page_fault">(1);
    EXPECT_TRUE(hca_.capabilities().set(page_of_paging, wanted));
}

std::uint32_t Bench::make_domain() {
    Call<hwtab::cmd_alloc_pd> call;
    expect_ok(run(call));
    return static_cast<std::uint32_t>(call.out().get<"pd">());
}

std::uint32_t Bench::make_uar() {
    Call<hwtab::cmd_alloc_uar> call;
    expect_ok(run(call));
    return static_cast<std::uint32_t>(call.out().get<"uar">());
}

std::uint32_t Bench::make_xrc_domain() {
    Call<hwtab::cmd_alloc_xrcd> call;
    expect_ok(run(call));
    return static_cast<std::uint32_t>(call.out().get<"xrcd">());
}

std::uint32_t Bench::domain() {
    if (domain_ == 0)
        domain_ = make_domain();
    return domain_;
}

hca::Uar& Bench::uar() {
    if (uar_ == nullptr)
        uar_ = hca_.objects().of<hca::Uar>().find(make_uar());
    return *uar_;
}

EventQueue& Bench::event_queue() {
    if (event_queue_ == nullptr)
        event_queue_ = &make_event_queue({.log_size = 6});
    return *event_queue_;
}

EventQueue& Bench::make_event_queue(const EventQueueOptions& options) {
    const std::uint64_t size = hwtab::eqe.size << options.log_size;
    const std::uint64_t pages = pages_for(size + page);
    Call<hwtab::cmd_create_eq> call(pages * sizeof(std::uint64_t));
    call.in().set<"eq_context_entry.log_eq_size">(options.log_size);
    call.in().set<"eq_context_entry.intr">(options.vector);
    call.in().set<"eq_context_entry.oi">(options.overrun_ignored ? 1 : 0);
    call.in().set<"eq_context_entry.page_offset">(options.page_offset);
    call.in().set<"eq_context_entry.uar_page">(uar().number());
    call.in().set_at<"event_bitmask">(0, options.events);
    list_pages(call.in().bytes<"pas">(), allocate(pages * page));
    expect_ok(run(call));
    return *hca_.objects().of<EventQueue>().find(
        static_cast<std::uint32_t>(call.out().get<"eq_number">()));
}

CompletionQueue& Bench::make_completion_queue(const CompletionQueueOptions& options) {
    const std::uint64_t entry =
        options.entry_size_code == 0 ? hwtab::cqe64.size : hwtab::cqe128.size;
    const std::uint64_t pages = pages_for(entry << options.log_size);
    Call<hwtab::cmd_create_cq> call(pages * sizeof(std::uint64_t));
    call.in().set<"cq_context.log_cq_size">(options.log_size);
    call.in().set<"cq_context.cqe_sz">(options.entry_size_code);
    call.in().set<"cq_context.cq_period">(options.period);
    call.in().set<"cq_context.cq_max_count">(options.max_count);
    call.in().set<"cq_context.cq_period_mode">(options.period_mode);
    call.in().set<"cq_context.oi">(options.overrun_ignored ? 1 : 0);
    if (options.mini_format) {
        call.in().set<"cq_context.cqe_comp_en">(1);
        call.in().set<"cq_context.mini_cqe_res_format">(
            static_cast<std::uint8_t>(*options.mini_format));
    }
    call.in().set<"cq_context.uar_page">(uar().number());
    call.in().set<"cq_context.c_eqn_or_apu_element">(event_queue().number());
    call.in().set<"cq_context.dbr_addr">(allocate(page));
    list_pages(call.in().bytes<"pas">(), allocate(pages * page));
    expect_ok(run(call));
    return *hca_.objects().of<CompletionQueue>().find(
        static_cast<std::uint32_t>(call.out().get<"cqn">()));
}

QueuePair& Bench::make_queue_pair(const QueuePairOptions& options) {
    constexpr std::uint64_t log_stride_code = 1; // 32 bytes
    CompletionQueue& completions = options.completions != nullptr
                                       ? *options.completions
                                       : make_completion_queue({.log_size = 6});
    const std::uint64_t size = (std::uint64_t{32} << options.log_receives) +
                               (std::uint64_t{SendQueue::block_size} << options.log_sends);
    const std::uint64_t pages = pages_for(size);
    Call<hwtab::cmd_create_qp> call(pages * sizeof(std::uint64_t));
    const auto fields = call.in().nested<"qpc", hwtab::qpc>();
    fields.set<"st">(static_cast<std::uint8_t>(options.service));
    fields.set<"pd">(domain());
    fields.set<"log_sq_size">(options.log_sends);
    fields.set<"no_sq">(options.has_sends ? 0 : 1);
    fields.set<"log_rq_size">(options.log_receives);
    fields.set<"log_rq_stride">(log_stride_code);
    fields.set<"rq_type">(static_cast<std::uint8_t>(options.receives));
    fields.set<"srqn_rmpn_xrqn">(options.shared_receive);
    fields.set<"xrcd">(options.xrc_domain);
    fields.set<"cqn_snd">(completions.number());
    fields.set<"cqn_rcv">(completions.number());
    fields.set<"uar_page">(uar().number());
    fields.set<"user_index">(options.user_index);
    fields.set<"send_dbr_mode">(options.send_record_mode);
    fields.set<"log_num_dci_stream_channels">(options.log_streams);
    fields.set<"log_num_dci_errored_streams">(options.log_failed);
    fields.set<"offload_type">(options.offload);
    fields.set<"fre">(options.fast_registration ? 1 : 0);
    fields.set<"dbr_addr">(allocate(page));
    list_pages(call.in().bytes<"pas">(), allocate(pages * page));
    expect_ok(run(call));
    return *hca_.objects().of<QueuePair>().find(
        static_cast<std::uint32_t>(call.out().get<"qpn">()));
}

void Bench::fill_context(hwtab::View<hwtab::qpc> context) {
    context.set<"mtu">(hwtab::value<hwtab::qp_mtu, "4k_bytes">);
    context.set<"log_msg_max">(20);
    context.set<"primary_address_path.vhca_port_num">(1);
    context.set<"primary_address_path.rlid">(7);
    context.set<"primary_address_path.ack_timeout">(14);
    context.set<"remote_qpn">(0x77);
    context.set<"next_send_psn">(0x1000);
    context.set<"next_rcv_psn">(0x2000);
    context.set<"retry_count">(5);
    context.set<"min_rnr_nak">(9);
    context.set<"q_key">(0x8001'0000);
    context.set<"rre">(1);
}

void Bench::bring_to(QueuePair& queue_pair, QueuePairState state) {
    expect_ok(transit<hwtab::cmd_rst2init_qp>(queue_pair));
    if (state == QueuePairState::init)
        return;
    expect_ok(transit<hwtab::cmd_init2rtr_qp>(queue_pair));
    if (state == QueuePairState::ready_to_receive)
        return;
    expect_ok(transit<hwtab::cmd_rtr2rts_qp>(queue_pair));
}

ReceiveMemoryPool& Bench::make_receive_pool(const SharedReceiveOptions& options) {
    const std::uint64_t pages = pages_for(1ULL << (options.log_entries + options.log_stride));
    Call<hwtab::cmd_create_rmp> call(pages * sizeof(std::uint64_t));
    const hwtab::View<hwtab::rmpc> fields{call.in().bytes<"ctx">()};
    fields.set<"wq.wq_type">(options.linked_list ? 0 : 1);
    fields.set<"basic_cyclic_rcv_wqe">(options.has_next_segments ? 0 : 1);
    fields.set<"wq.log_wq_sz">(options.log_entries);
    fields.set<"wq.log_wq_stride">(options.log_stride);
    fields.set<"wq.lwm">(options.limit);
    fields.set<"wq.pd">(domain());
    fields.set<"wq.dbr_addr">(allocate(page));
    list_pages(call.input().subspan(hwtab::create_rmp_in.size), allocate(pages * page));
    expect_ok(run(call));
    return *hca_.objects().of<ReceiveMemoryPool>().find(
        static_cast<std::uint32_t>(call.out().get<"rmpn">()));
}

XrcSharedReceiveQueue& Bench::make_xrc_receive_queue(std::uint32_t xrc_domain,
                                                     CompletionQueue& completions,
                                                     std::uint32_t user_index) {
    constexpr std::uint32_t low_bits = 2;
    const std::uint64_t record = allocate(page);
    Call<hwtab::cmd_create_xrc_srq> call(sizeof(std::uint64_t));
    const auto fields = call.in().nested<"xrc_srq_context_entry", hwtab::xrc_srqc>();
    fields.set<"log_xrc_srq_size">(6);
    fields.set<"log_rq_stride">(2); // 64 bytes
    fields.set<"xrcd">(xrc_domain);
    fields.set<"cqn">(completions.number());
    fields.set<"pd">(domain());
    fields.set<"user_index">(user_index);
    fields.set<"db_record_addr_h">(record >> 32U);
    fields.set<"db_record_addr_l">((record & 0xffffffffU) >> low_bits);
    list_pages(call.in().bytes<"pas">(), allocate(page));
    expect_ok(run(call));
    return *hca_.objects().of<XrcSharedReceiveQueue>().find(
        static_cast<std::uint32_t>(call.out().get<"xrc_srqn">()));
}

ExtendedReceiveQueue& Bench::make_extended_receive_queue(const ExtendedReceiveOptions& options) {
    constexpr std::uint32_t log_stride = 6;
    CompletionQueue& completions = options.completions != nullptr
                                       ? *options.completions
                                       : make_completion_queue({.log_size = 6});
    const std::uint64_t pages = pages_for(1ULL << (options.log_entries + log_stride));
    Call<hwtab::cmd_create_xrq> call(pages * sizeof(std::uint64_t));
    const hwtab::View<hwtab::xrqc> fields{call.in().bytes<"xrq_context">()};
    fields.set<"topology">(hwtab::value<hwtab::xrq_topology, "tag_matching">);
    fields.set<"offload">(options.fetches_rendezvous ? hwtab::value<hwtab::xrq_offload, "rndv">
                                                     : 0);
    fields.set<"tag_matching_topology_context.log_matching_list_sz">(options.log_tags);
    fields.set<"user_index">(options.user_index);
    fields.set<"cqn">(completions.number());
    fields.set<"wq.log_wq_sz">(options.log_entries);
    fields.set<"wq.log_wq_stride">(log_stride);
    fields.set<"wq.pd">(domain());
    fields.set<"wq.dbr_addr">(allocate(page));
    list_pages(call.input().subspan(hwtab::create_xrq_in.size), allocate(pages * page));
    expect_ok(run(call));
    return *hca_.objects().of<ExtendedReceiveQueue>().find(
        static_cast<std::uint32_t>(call.out().get<"xrqn">()));
}

void Bench::write_send(QueuePair& queue_pair, std::uint16_t index,
                       std::span<const std::byte> bytes) {
    const std::uint64_t blocks = queue_pair.send_queue().blocks();
    const std::uint64_t start = queue_pair.buffer().size() - (blocks * SendQueue::block_size);
    for (std::size_t done = 0; done < bytes.size(); done += ds_size) {
        const std::uint64_t position = ((index * std::uint64_t{SendQueue::block_size}) + done) %
                                       (blocks * SendQueue::block_size);
        const auto where = at(queue_pair.buffer().address(start + position), ds_size);
        std::ranges::copy(bytes.subspan(done, ds_size), where.begin());
    }
}

std::vector<std::byte> Bench::nop(const QueuePair& queue_pair, std::uint16_t index) {
    std::vector<std::byte> bytes(hwtab::wqe_ctrl_seg.size);
    const hwtab::View<hwtab::wqe_ctrl_seg> control{bytes};
    control.set<"wqe_index">(index);
    control.set<"qpn">(queue_pair.number());
    control.set<"ds">(1);
    control.set<"ce">(static_cast<std::uint8_t>(CompletionMode::always));
    return bytes;
}

void Bench::ring_sends(QueuePair& queue_pair, std::uint16_t counter,
                       std::optional<std::uint16_t> record) {
    record_sends(queue_pair, record.value_or(counter));
    std::array<std::byte, hwtab::send_doorbell.size> bytes{};
    const hwtab::View<hwtab::send_doorbell> doorbell{bytes};
    doorbell.set<"qpn">(queue_pair.number());
    doorbell.set<"wqe_index">(static_cast<std::uint16_t>(counter - 1));
    doorbell.set<"ds">(1);
    queues().send_doorbell(uar(), bytes);
    settle();
}

void Bench::record_sends(const QueuePair& queue_pair, std::uint16_t counter) {
    store32(queue_pair.context().get<"dbr_addr">() + sizeof(std::uint32_t), counter);
}

void Bench::post_receives(QueuePair& queue_pair, std::uint16_t counter) {
    store32(queue_pair.context().get<"dbr_addr">(), counter);
}

std::uint32_t Bench::make_changeable_key(std::uint64_t xlt_octowords) {
    Call<hwtab::cmd_create_mkey> call;
    const auto fields = call.in().nested<"memory_key_mkey_entry", hwtab::mkc>();
    fields.set<"access_mode_1_0">(hwtab::value<hwtab::mkey_access_mode, "mtt">);
    fields.set<"translations_octword_size">(xlt_octowords);
    fields.set<"umr_en">(1);
    fields.set<"qpn">(memory::MemoryKey::any_queue_pair);
    fields.set<"pd">(domain());
    expect_ok(run(call));
    return static_cast<std::uint32_t>(call.out().get<"mkey_index">()) << 8U;
}

std::uint32_t Bench::make_physical_key() {
    Call<hwtab::cmd_create_mkey> call;
    const auto fields = call.in().nested<"memory_key_mkey_entry", hwtab::mkc>();
    fields.set<"access_mode_1_0">(hwtab::value<hwtab::mkey_access_mode, "pa">);
    fields.set<"length64">(1);
    fields.set<"lr">(1);
    fields.set<"lw">(1);
    fields.set<"rr">(1);
    fields.set<"rw">(1);
    fields.set<"a">(1);
    fields.set<"qpn">(memory::MemoryKey::any_queue_pair);
    fields.set<"pd">(domain());
    expect_ok(run(call));
    return static_cast<std::uint32_t>(call.out().get<"mkey_index">()) << 8U;
}

hwtab::ConstView<hwtab::eqe> Bench::event(const EventQueue& queue, std::uint32_t index) {
    const std::uint64_t offset = std::uint64_t{index & (queue.size() - 1)} * hwtab::eqe.size;
    return hwtab::ConstView<hwtab::eqe>{at(queue.buffer().address(offset), hwtab::eqe.size)};
}

hwtab::ConstView<hwtab::cqe64> Bench::completion(const CompletionQueue& queue,
                                                 std::uint32_t index) {
    const std::uint64_t offset = std::uint64_t{index & (queue.size() - 1)} * queue.entry_size() +
                                 (queue.entry_size() - hwtab::cqe64.size);
    return hwtab::ConstView<hwtab::cqe64>{at(queue.buffer().address(offset), hwtab::cqe64.size)};
}

hwtab::ConstView<hwtab::err_cqe> Bench::error(const CompletionQueue& queue, std::uint32_t index) {
    return hwtab::ConstView<hwtab::err_cqe>{completion(queue, index).memory()};
}

} // namespace cxemu::queues::testing
