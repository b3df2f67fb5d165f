// SPDX-License-Identifier: GPL-2.0-or-later
#include "transport/testing/peers.hpp"

#include "base/byte_order.hpp"
#include "tables/work_queue.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <random>
#include <stdexcept>
#include <utility>

namespace cxemu::transport::testing {

namespace {

using queues::CompletionOpcode;
using queues::SendOpcode;
using queues::ServiceType;
using queues::testing::Bench;
using queues::testing::Call;
using Context = hwtab::View<hwtab::qpc>;

constexpr std::size_t octoword = 16;
constexpr std::uint32_t receive_stride = 32; ///< bytes, as created by the bench
constexpr std::uint32_t shared_stride = 64;  ///< bytes, as created by the bench

void expect_ok(const hca::CommandResult& result) {
    if (!result)
        throw std::runtime_error("a command of the peer failed");
}

void append(std::vector<std::byte>& bytes, auto view) {
    bytes.insert(bytes.end(), view.memory().begin(), view.memory().end());
}

template <const hwtab::Layout& layout>
struct Segment {
    std::array<std::byte, layout.size> bytes{};
    hwtab::View<layout> view{bytes};
};

/// A length of 0 means 2 GiB.
void append_data(std::vector<std::byte>& bytes, const Data& data, std::uint32_t key) {
    if (data.length == 0)
        return;
    Segment<hwtab::wqe_data_seg> segment;
    segment.view.set<"byte_count">(data.length);
    segment.view.set<"lkey">(key);
    segment.view.set<"addr">(data.address);
    append(bytes, segment.view);
}

void append_terminator(std::vector<std::byte>& bytes) {
    Segment<hwtab::wqe_data_seg> segment;
    segment.view.set<"lkey">(memory::SpecialKeys::terminate_scatter_list);
    append(bytes, segment.view);
}

bool is_rdma(SendOpcode opcode) {
    return opcode == SendOpcode::rdma_write || opcode == SendOpcode::rdma_write_immediate ||
           opcode == SendOpcode::rdma_read || queues::is_atomic(opcode);
}

std::uint64_t operand(const queues::AtomicOperands& word, SendOpcode opcode, unsigned index) {
    if (index == 0)
        return word.swap_or_add;
    if (opcode == SendOpcode::masked_fetch_add || index == 2)
        return word.swap_or_add_mask;
    return index == 1 ? word.compare : word.compare_mask;
}

/// A flag, and log2 of the size in units of 4 bytes.
std::uint8_t masked_op_mod(std::uint32_t operand_size) {
    return static_cast<std::uint8_t>(0x8U | (std::bit_width(operand_size) - 3U));
}

void append_masked(std::vector<std::byte>& bytes, const Send& send) {
    std::vector<queues::AtomicOperands> words{send.atomic};
    words.insert(words.end(), send.more_words.begin(), send.more_words.end());
    const std::size_t width = std::min<std::size_t>(send.operand_size, sizeof(std::uint64_t));
    const unsigned operands = send.opcode == SendOpcode::masked_compare_swap ? 4 : 2;
    for (unsigned index = 0; index < operands; ++index) {
        for (const auto& word : words) {
            std::array<std::byte, sizeof(std::uint64_t)> number{};
            store_be(std::span(number), operand(word, send.opcode, index));
            bytes.insert(bytes.end(), number.end() - static_cast<std::ptrdiff_t>(width),
                         number.end());
        }
    }
    bytes.resize((bytes.size() + octoword - 1) / octoword * octoword);
}

void append_operands(std::vector<std::byte>& bytes, const Send& send) {
    if (queues::has_masks(send.opcode))
        return append_masked(bytes, send);
    Segment<hwtab::wqe_atomic_seg> segment;
    segment.view.set<"swap_add">(send.atomic.swap_or_add);
    segment.view.set<"compare">(send.atomic.compare);
    append(bytes, segment.view);
}

void fill_context(Context context, const ConnectionOptions& options, const Peer& other) {
    context.set<"mtu">(options.mtu_code);
    context.set<"log_msg_max">(30);
    context.set<"primary_address_path.vhca_port_num">(1);
    context.set<"primary_address_path.rlid">(other.port.lid());
    context.set<"primary_address_path.ack_timeout">(options.timeout_code);
    context.set<"remote_qpn">(other.queue_pair().number());
    context.set<"next_send_psn">(options.first_psn);
    context.set<"next_rcv_psn">(options.first_psn);
    context.set<"retry_count">(options.retries);
    context.set<"rnr_retry">(options.not_ready_retries);
    context.set<"min_rnr_nak">(options.not_ready_timer);
    context.set<"log_sra_max">(options.log_reads);
    context.set<"log_rra_max">(options.log_reads);
    context.set<"q_key">(queue_key);
    context.set<"rre">(options.may_read ? 1 : 0);
    context.set<"rwe">(options.may_write ? 1 : 0);
    context.set<"rae">(options.may_atomic ? 1 : 0);
    context.set<"atomic_mode">(options.atomic_mode);
}

template <const hwtab::Command& command>
void transit(Peer& peer, const ConnectionOptions& options) {
    Call<command> call;
    call.in().template set<"qpn">(peer.queue_pair().number());
    fill_context(call.in().template nested<"qpc", hwtab::qpc>(), options, *peer.other);
    expect_ok(peer.bench.run(call));
}

hca::HcaSettings settings_for(const ConnectionOptions& options) {
    hca::HcaSettings settings = queues::testing::Bench::default_settings();
    if (options.memory_faults)
        settings.profile = hca::find_profile("connectx7");
    settings.signature_stop = options.signature_stop;
    settings.signature_report = options.signature_report;
    return settings;
}

} // namespace

std::ostream& operator<<(std::ostream& out, const Result& result) {
    out << "{opcode " << static_cast<int>(result.opcode) << ", index " << result.index << ", "
        << result.byte_count << " bytes, immediate " << result.immediate;
    if (result.error)
        out << ", error "
            << hwtab::name_of(hwtab::cqe_syndrome, static_cast<std::uint8_t>(*result.error));
    return out << "}";
}

// --- One side ------------------------------------------------------------------------------------

Peer::Peer(EventLoop& loop, unsigned number, const ConnectionOptions& options)
    : port(loop, fabric::testing::port_settings(number)), bench(settings_for(options), loop) {
    if (options.memory_faults)
        bench.have_faults_name_memory();
    bench.hca().add_port(port);
    transport_ = &bench.hca().add<PacketTransport>();
    events_ = &bench.make_event_queue({.log_size = 10, .events = 0x301f'ffff});
    completions_ = &bench.make_completion_queue({.log_size = log_completions});
    key_ = bench.make_physical_key();
}

Peer::~Peer() {
    transport_->release_ports();
}

void Peer::make_queue_pair(const ConnectionOptions& options, Role role) {
    constexpr std::uint8_t rendezvous = hwtab::value<hwtab::qp_offload_type, "rndv">;
    const std::uint8_t offload = options.matches_tags ? rendezvous : std::uint8_t{0};
    auto receives = queues::ReceiveSource::own_queue;
    std::uint32_t shared = 0;
    if (options.shares_receives) {
        pool_ = &bench.make_receive_pool({.log_entries = 6});
        receives = queues::ReceiveSource::shared_queue;
        shared = pool_->number();
    }
    if (options.matches_tags) {
        tag_queue_ = &bench.make_extended_receive_queue(
            {.fetches_rendezvous = options.fetches_rendezvous, .completions = completions_});
        receives = queues::ReceiveSource::shared_queue;
        shared = tag_queue_->number();
    }
    if (role != Role::both && !queues::is_dynamic(options.service)) {
        receives = queues::ReceiveSource::none;
        xrc_domain_ = bench.make_xrc_domain();
    }
    if (role == Role::target)
        xrc_queue_ = &bench.make_xrc_receive_queue(xrc_domain_, *completions_,
                                                   queues::SharedReceiveQueue::no_user_index);
    queue_pair_ =
        &bench.make_queue_pair({.service = options.service,
                                .log_sends = options.log_sends,
                                .log_receives = options.log_receives,
                                .has_sends = role != Role::target && !options.matches_tags,
                                .receives = receives,
                                .shared_receive = shared,
                                .xrc_domain = xrc_domain_,
                                .completions = completions_,
                                .log_streams = options.log_streams,
                                .log_failed = options.log_failed,
                                .offload = offload,
                                .fast_registration = true});
}

queues::QueuePair& Peer::make_target(const ConnectionOptions& options) {
    if (pool_ == nullptr)
        pool_ = &bench.make_receive_pool({.log_entries = 6});
    Call<hwtab::cmd_create_dct> call;
    const auto fields = call.in().nested<"dct_context_entry", hwtab::dctc>();
    fields.set<"pd">(bench.domain());
    fields.set<"cqn">(completions_->number());
    fields.set<"srqn_xrqn">(pool_->number());
    fields.set<"user_index">(queues::SharedReceiveQueue::no_user_index);
    fields.set<"dc_access_key">(dynamic_access_key);
    fields.set<"mtu">(options.mtu_code);
    fields.set<"port">(1);
    fields.set<"min_rnr_nak">(options.not_ready_timer);
    fields.set<"rre">(options.may_read ? 1 : 0);
    fields.set<"rwe">(options.may_write ? 1 : 0);
    fields.set<"rae">(options.may_atomic ? 1 : 0);
    expect_ok(bench.run(call));
    auto& made = *bench.hca().objects().of<queues::QueuePair>().find(
        static_cast<std::uint32_t>(call.out().get<"dctn">()));
    if (queue_pair_ == nullptr)
        queue_pair_ = &made;
    return made;
}

void Peer::connect(const ConnectionOptions& options, const Peer& peer) {
    other = &peer;
    transit<hwtab::cmd_rst2init_qp>(*this, options);
    transit<hwtab::cmd_init2rtr_qp>(*this, options);
}

void Peer::to_rts(const ConnectionOptions& options) {
    transit<hwtab::cmd_rtr2rts_qp>(*this, options);
}

void Peer::resume_sends(const ConnectionOptions& options) {
    transit<hwtab::cmd_sqd2rts_qp>(*this, options);
}

void Peer::reset_queue_pair() {
    Call<hwtab::cmd_qp_2rst> call;
    call.in().set<"qpn">(queue_pair_->number());
    expect_ok(bench.run(call));
    sent_ = 0;
    received_ = 0;
    bench.ring_sends(*queue_pair_, 0);
}

Data Peer::fill(std::size_t size, unsigned seed) {
    const Data data = space(size);
    for (std::byte& byte : bench.at(data.address, size))
        byte = static_cast<std::byte>(seed++ * 7);
    return data;
}

Data Peer::space(std::size_t size) {
    return {.address = bench.allocate(std::max<std::size_t>(size, 1)),
            .length = static_cast<std::uint32_t>(size)};
}

std::vector<std::byte> Peer::contents(const Data& data) {
    if (data.length == 0) // possibly empty
        return {};
    const auto bytes = bench.at(data.address, data.length);
    return {bytes.begin(), bytes.end()};
}

/// The segments after the control segment, for operations that send packets.
void Peer::append_operation(std::vector<std::byte>& bytes, const Send& send) const {
    if (queue_pair_->service() == ServiceType::extended_reliable_connection) {
        Segment<hwtab::wqe_xrc_seg> segment;
        segment.view.set<"xrc_srqn">(send.xrc_srq);
        append(bytes, segment.view);
    }
    const ServiceType service = queue_pair_->service();
    if (service == ServiceType::dci || service == ServiceType::unreliable_datagram) {
        Segment<hwtab::av> segment;
        if (service == ServiceType::dci)
            segment.view.set<"dc_key">(send.access_key);
        else
            segment.view.set<"qkey">(queue_key);
        segment.view.set<"extended">(1);
        const auto& target = send.target != nullptr ? *send.target : other->queue_pair();
        segment.view.set<"dqp_dct">(target.number());
        segment.view.set<"rlid">(destination_lid.value_or(other->port.lid()));
        append(bytes, segment.view);
        constexpr std::size_t stream = 9; // in the control segment
        store_be(std::span(bytes).subspan(stream), send.stream);
    }
    if (is_rdma(send.opcode)) {
        Segment<hwtab::wqe_raddr_seg> segment;
        segment.view.set<"raddr">(send.remote.address);
        segment.view.set<"rkey">(send.remote_key.value_or(other->key_));
        append(bytes, segment.view);
    }
    if (queues::is_atomic(send.opcode))
        append_operands(bytes, send);
    for (const Data& data : send.data)
        append_data(bytes, data, send.local_key.value_or(key_));
}

std::vector<std::byte> Peer::encode(const Send& send) const {
    std::vector<std::byte> bytes = Bench::nop(*queue_pair_, sent_);
    if (queues::is_local(send.opcode))
        bytes.insert(bytes.end(), send.body.begin(), send.body.end());
    else
        append_operation(bytes, send);
    const hwtab::View<hwtab::wqe_ctrl_seg> control{bytes};
    control.set<"opcode">(static_cast<std::uint8_t>(send.opcode));
    if (queues::has_masks(send.opcode))
        control.set<"opmod">(send.op_mod.value_or(masked_op_mod(send.operand_size)));
    control.set<"ds">(bytes.size() / octoword);
    control.set<"fm">(static_cast<std::uint8_t>(send.fence));
    control.set<"ce">(static_cast<std::uint8_t>(
        send.signaled ? queues::CompletionMode::always : queues::CompletionMode::only_error));
    control.set<"se">(send.solicited ? 1 : 0);
    control.set<"imm">(send.immediate);
    return bytes;
}

void Peer::post(std::span<const Send> sends) {
    for (const Send& send : sends) {
        const auto bytes = encode(send);
        bench.write_send(*queue_pair_, sent_, bytes);
        sent_ =
            static_cast<std::uint16_t>(sent_ + (bytes.size() + queues::SendQueue::block_size - 1) /
                                                   queues::SendQueue::block_size);
    }
    bench.ring_sends(*queue_pair_, sent_);
}

void Peer::post_receive(const std::vector<Data>& data, std::optional<std::uint32_t> key) {
    std::vector<std::byte> bytes;
    for (const Data& piece : data)
        append_data(bytes, piece, key.value_or(key_));
    if (bytes.size() < receive_stride)
        append_terminator(bytes);
    bytes.resize(receive_stride);
    const std::uint32_t slot = received_ & (queue_pair_->receive_queue().entries() - 1);
    const std::uint64_t offset = std::uint64_t{slot} * receive_stride;
    std::ranges::copy(bytes,
                      bench.at(queue_pair_->buffer().address(offset), receive_stride).begin());
    bench.post_receives(*queue_pair_, ++received_);
}

/// The WQEs of the pool are linked in their order.
void Peer::post_shared(queues::SharedReceiveQueue& queue, std::uint16_t slot, const Data& data,
                       std::optional<std::uint32_t> key) {
    Segment<hwtab::wqe_srq_next_seg> link;
    link.view.set<"next_wqe_index">(slot + 1U);
    std::vector<std::byte> bytes;
    append(bytes, link.view);
    append_data(bytes, data, key.value_or(key_));
    append_terminator(bytes);
    const std::uint64_t offset = std::uint64_t{slot} * shared_stride;
    std::ranges::copy(bytes, bench.at(queue.buffer().address(offset), bytes.size()).begin());
    bench.store32(queue.doorbell_record(), slot + 1U);
}

std::vector<Result> Peer::poll() {
    std::vector<Result> results;
    const auto produced = static_cast<std::uint32_t>(
        std::as_const(*completions_).context().get<"producer_counter">());
    for (; polled_ != produced; ++polled_) {
        const auto entry = bench.completion(*completions_, polled_);
        Result result{.opcode = static_cast<CompletionOpcode>(entry.get<"opcode">()),
                      .index = static_cast<std::uint16_t>(entry.get<"wqe_counter">())};
        if (result.opcode == CompletionOpcode::requester_error ||
            result.opcode == CompletionOpcode::responder_error) {
            result.error = static_cast<queues::CompletionError>(
                bench.error(*completions_, polled_).get<"syndrome">());
        } else {
            result.byte_count = static_cast<std::uint32_t>(entry.get<"byte_cnt">());
            result.immediate = static_cast<std::uint32_t>(entry.get<"immediate">());
            result.solicited = entry.get<"se">() != 0;
        }
        results.push_back(result);
    }
    bench.store32(std::as_const(*completions_).context().get<"dbr_addr">(), polled_);
    return results;
}

std::size_t Peer::events(hca::EventType type) {
    std::size_t count = 0;
    const auto produced = static_cast<std::uint32_t>(events_->context().get<"producer_counter">());
    for (std::uint32_t i = 0; i < produced; ++i)
        count +=
            bench.event(*events_, i).get<"event_type">() == static_cast<unsigned>(type) ? 1 : 0;
    return count;
}

hwtab::ConstView<hwtab::eqe> Peer::last_event() {
    const auto produced = static_cast<std::uint32_t>(events_->context().get<"producer_counter">());
    return bench.event(*events_, produced - 1);
}

// --- Both ----------------------------------------------------------------------------------------

Peers::Peers(const ConnectionOptions& wanted)
    : options(wanted), first(time.loop, 1, wanted), second(time.loop, 2, wanted),
      link_(time.loop, "first - second", first.port.port(), second.port.port()) {
    first.port.port().connect(&link_);
    second.port.port().connect(&link_);
    link_.add_tap([this](const fabric::Link& /*link*/, fabric::LinkDirection /*direction*/,
                         const fabric::Packet& packet) {
        ++activity_;
        if (const auto parsed = fabric::parse(packet))
            packets_.push_back(parsed->headers);
    });
    time.settle();
    activate(first, 1);
    activate(second, 2);
    const bool is_xrc = options.service == ServiceType::extended_reliable_connection;
    ConnectionOptions of_first = options;
    of_first.matches_tags = false;
    first.make_queue_pair(of_first, is_xrc ? Role::initiator : Role::both);
    const bool is_dynamic = options.service == ServiceType::dci;
    if (is_dynamic)
        second.make_target(options);
    else
        second.make_queue_pair(options, is_xrc ? Role::target : Role::both);
    first.connect(options, second);
    if (!is_dynamic)
        second.connect(options, first);
    packets_.clear();
}

void Peers::connect() {
    first.to_rts(options);
    if (options.service != ServiceType::dci)
        second.to_rts(options);
}

void Peers::activate(Peer& peer, fabric::Lid lid) {
    using namespace fabric::testing;
    const auto id = attribute<"port_info">;
    const auto before = peer.port.process(make_smp(fabric::MadMethod::get, id), {}, 0);
    for (const auto state : {fabric::PortState::armed, fabric::PortState::active}) {
        fabric::Mad request = make_smp(fabric::MadMethod::set, id);
        std::ranges::copy(fabric::ConstSmp(**before).bytes<"data">(),
                          fabric::Smp(request).bytes<"data">().begin());
        const auto info = data_of<hwtab::port_info>(request);
        info.set<"lid">(lid);
        info.set<"neighbor_mtu">(5);
        info.set<"master_sm_lid">(1);
        info.set<"port_state">(static_cast<std::uint64_t>(state));
        info.set<"port_physical_state">(0);
        const auto response = peer.port.process(request, {}, 0);
        if (!response || !*response || status_of(**response) != 0)
            throw std::runtime_error("the port can't be activated");
    }
}

void Peers::settle() {
    constexpr int idle_turns = 12;
    for (int idle = 0; idle < idle_turns; ++idle) {
        const std::size_t before = activity_;
        time.loop.turn(EventLoop::Duration::zero());
        if (activity_ != before)
            idle = 0;
    }
}

void Peers::advance(EventLoop::Duration duration) {
    time.advance(duration);
    settle();
}

void Peers::run(EventLoop::Duration step, int idle_steps) {
    for (int idle = 0; idle < idle_steps; ++idle) {
        const std::size_t before = activity_;
        advance(step);
        if (activity_ != before)
            idle = 0;
    }
}

void Peers::set_fate(Fate fate) {
    packet_count_ = 0;
    link_.set_filter([this, fate = std::move(fate)](fabric::Link& link,
                                                    fabric::LinkDirection direction,
                                                    const fabric::Packet& packet) {
        ++activity_;
        const auto parsed = fabric::parse(packet);
        for (int left = fate(packet_count_++, *parsed); left > 0; --left)
            link.deliver(direction, packet);
    });
}

void Peers::make_unreliable(double chance, unsigned seed) {
    struct Lottery {
        std::mt19937 random;
        std::uniform_real_distribution<> draw{0.0, 1.0};
        std::map<fabric::LinkDirection, fabric::Packet> late;
    };
    auto lottery = std::make_shared<Lottery>();
    lottery->random.seed(seed);
    link_.set_filter([this, chance, lottery](fabric::Link& link, fabric::LinkDirection direction,
                                             const fabric::Packet& packet) {
        ++activity_;
        const auto hits = [&] { return lottery->draw(lottery->random) < chance; };
        if (hits())
            return; // lost
        if (hits() && !lottery->late.contains(direction)) {
            lottery->late.emplace(direction, packet);
            return;
        }
        link.deliver(direction, packet);
        if (hits())
            link.deliver(direction, packet);
        if (auto late = lottery->late.extract(direction))
            link.deliver(direction, std::move(late.mapped()));
    });
}

void Peers::set_filter(fabric::Link::Filter filter) {
    link_.set_filter([this, filter = std::move(filter)](fabric::Link& link,
                                                        fabric::LinkDirection direction,
                                                        fabric::Packet packet) {
        ++activity_;
        filter(link, direction, std::move(packet));
    });
}

std::vector<fabric::PacketHeaders> Peers::take_packets() {
    return std::exchange(packets_, {});
}

} // namespace cxemu::transport::testing
