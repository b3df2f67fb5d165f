// SPDX-License-Identifier: GPL-2.0-or-later
#include "program/testing/virtual_machine.hpp"

#include "hca/events.hpp"
#include "hwtab/view.hpp"
#include "tables/command_interface.hpp"
#include "tables/commands_events.hpp"
#include "tables/commands_memory.hpp"
#include "tables/commands_objects.hpp"
#include "tables/commands_port.hpp"
#include "tables/commands_queue_pairs.hpp"
#include "tables/events.hpp"
#include "tables/work_queue.hpp"

#include <algorithm>
#include <iterator>
#include <malloc.h>
#include <stdexcept>
#include <utility>

// A function of AddressSanitizer. GCC does not have the header that declares it,
// <sanitizer/allocator_interface.h>.
extern "C" [[gnu::weak]] std::size_t __sanitizer_get_current_allocated_bytes();

namespace cxemu::program::testing {

namespace {

using vfio_user::Command;
using vfio_user::testing::Bytes;
using vfio_user::testing::dma_map_body;
using vfio_user::testing::dma_unmap_body;
using vfio_user::testing::irq_body;
using vfio_user::testing::region_body;
using vfio_user::testing::Reply;
using vfio_user::testing::version_body;

constexpr std::uint64_t page = 4096;
/// Offset of the word that holds a field of the init segment.
template <hwtab::FixedString path>
constexpr std::uint64_t word_of =
    hwtab::locate(hwtab::initial_seg, path.view()).offset / hwtab::bits_per_word * 4;

constexpr std::uint64_t initializing = word_of<"initializing">;
constexpr std::uint64_t queue_high = word_of<"cmdq_phy_addr_63_32">;
constexpr std::uint64_t queue_low = word_of<"cmdq_phy_addr_31_12">;
constexpr std::uint64_t doorbell = word_of<"command_doorbell_vector">;
constexpr std::uint64_t arm_event_queue = hwtab::value<hwtab::uar_offset, "eq_doorbell_arm">;
constexpr std::uint32_t log_events = 6;
constexpr int patience = 10'000; ///< attempts

void expect_ok(const Reply& reply) {
    if (reply.header.error != 0)
        throw std::runtime_error("a message was refused");
}

} // namespace

VirtualMachine::VirtualMachine(const std::filesystem::path& socket,
                               std::function<void()> let_server_work)
    : client_(vfio_user::testing::connect_to(socket), std::move(let_server_work)) {
    expect_ok(client_.call(Command::version, version_body()));
    map_memory();
    // The BIOS of the machine: without descriptor, read-only.
    expect_ok(client_.call(Command::dma_map, dma_map_body(0xfffc'0000, 0x4'0000, 0, 1)));
    wire_interrupts();
    enable_function();
}

// --- QEMU ----------------------------------------------------------------------------------------

void VirtualMachine::map_memory() {
    const UniqueFd file = memory.file();
    expect_ok(client_.call(Command::dma_map, dma_map_body(base, memory_size), {file.get()}));
}

void VirtualMachine::unmap_memory() {
    expect_ok(client_.call(Command::dma_unmap, dma_unmap_body(base, memory_size)));
}

void VirtualMachine::reset() {
    expect_ok(client_.call(Command::device_reset, {}));
    next_page_ = free_memory;
    enable_function();
}

void VirtualMachine::wire_interrupts() {
    using namespace vfio_user::irq_flag;
    for (std::uint32_t vector = 0; vector < vectors; ++vector) {
        eventfds_.push_back(vfio_user::testing::make_eventfd());
        expect_ok(client_.call(Command::device_set_irqs,
                               irq_body(data_eventfd | action_trigger, vector, 1),
                               {eventfds_.back().get()}));
    }
}

void VirtualMachine::enable_function() {
    constexpr std::uint16_t memory_and_bus_master = 0x6;
    constexpr std::uint16_t msix_enable = 0x8000;
    write_config16(pci::reg::command, memory_and_bus_master);
    write_config16(pci::reg::msix_control, msix_enable);
}

// --- Guest accesses ------------------------------------------------------------------------------

void VirtualMachine::write32(std::uint64_t offset, std::uint32_t value) {
    Bytes data(sizeof(value));
    store_be(std::span<std::byte>(data), value);
    client_.post(Command::region_write,
                 region_body(offset, vfio_user::region::bar0, sizeof(value), data));
}

std::uint32_t VirtualMachine::read32(std::uint64_t offset) {
    const Reply reply =
        client_.call(Command::region_read, region_body(offset, vfio_user::region::bar0, 4));
    expect_ok(reply);
    return load_be<std::uint32_t>(std::span<const std::byte>(reply.body).last(4));
}

void VirtualMachine::write_config16(std::uint64_t offset, std::uint16_t value) {
    Bytes data(sizeof(value));
    store_le(std::span<std::byte>(data), value);
    client_.post(Command::region_write,
                 region_body(offset, vfio_user::region::config, sizeof(value), data));
}

void VirtualMachine::ring(std::uint32_t vector) {
    write32(doorbell, vector);
    for (std::uint32_t slot = 0; slot < hca::CommandQueue::slots; ++slot) {
        for (int attempt = 0; (vector >> slot & 1U) != 0 && !completion(slot).completed;
             ++attempt) {
            if (attempt == patience)
                throw std::runtime_error("a command does not complete");
            (void)read32(initializing); // lets the server run
        }
    }
}

// --- The driver ----------------------------------------------------------------------------------

template <const hwtab::Command& command>
hca::testing::CommandCompletion VirtualMachine::must(auto fill, std::size_t list_bytes,
                                                     std::uint16_t op_mod) {
    auto completion = execute<command>(fill, op_mod, 0, list_bytes);
    if (completion.delivery != hca::DeliveryStatus::ok ||
        completion.status != hca::CommandStatus::ok)
        throw std::runtime_error(std::string(command.name) + " has failed");
    return completion;
}

std::uint64_t VirtualMachine::allocate() {
    return std::exchange(next_page_, next_page_ + page);
}

void VirtualMachine::bring_up() {
    for (int attempt = 0; read32(initializing) >> 31U != 0; ++attempt) {
        if (attempt == patience)
            throw std::runtime_error("the firmware doesn't come up");
    }
    write32(queue_high, 0);
    write32(queue_low, static_cast<std::uint32_t>(queue));
    must<hwtab::cmd_enable_hca>([](auto) {});
    give_pages(hwtab::value<hwtab::query_pages_op_mod, "boot_pages">);
    give_pages(hwtab::value<hwtab::query_pages_op_mod, "init_pages">);
    must<hwtab::cmd_init_hca>([](auto) {});
}

void VirtualMachine::give_pages(std::uint16_t kind) {
    constexpr std::uint16_t give = hwtab::value<hwtab::manage_pages_op_mod, "allocation_success">;
    const auto wanted = must<hwtab::cmd_query_pages>([](auto) {}, 0, kind)
                            .view<hwtab::query_pages_out>()
                            .get<"num_pages">();
    must<hwtab::cmd_manage_pages>(
        [&](auto in) {
            in.template set<"input_num_entries">(wanted);
            for (std::size_t i = 0; i < wanted; ++i)
                in.template set_at<"pas">(i, allocate());
        },
        wanted * sizeof(std::uint64_t), give);
}

VirtualMachine::MadeObjects VirtualMachine::make_objects() {
    MadeObjects made;
    made.uar = static_cast<std::uint32_t>(
        must<hwtab::cmd_alloc_uar>([](auto) {}).view<hwtab::alloc_uar_out>().get<"uar">());
    made.domain = static_cast<std::uint32_t>(
        must<hwtab::cmd_alloc_pd>([](auto) {}).view<hwtab::alloc_pd_out>().get<"pd">());
    make_event_queue(made);
    made.completion_queue = make_completion_queue(made);
    made.queue_pair = make_queue_pair(made);
    made.memory_key = make_memory_key(made);
    made.counters = static_cast<std::uint32_t>(must<hwtab::cmd_alloc_q_counter>([](auto) {})
                                                   .view<hwtab::alloc_q_counter_out>()
                                                   .get<"counter_set_id">());
    attach_to_group(made.queue_pair);
    return made;
}

std::uint32_t VirtualMachine::make_memory_key(const MadeObjects& made) {
    const auto completion = must<hwtab::cmd_create_mkey>([&](auto in) {
        in.template set<"memory_key_mkey_entry.length64">(1);
        in.template set<"memory_key_mkey_entry.pd">(made.domain);
    });
    return static_cast<std::uint32_t>(
        completion.template view<hwtab::create_mkey_out>().template get<"mkey_index">());
}

void VirtualMachine::destroy_objects(const MadeObjects& objects) {
    must<hwtab::cmd_detach_from_mcg>([&](auto in) {
        in.template set<"qpn">(objects.queue_pair);
        in.template bytes<"multicast_gid">().front() = std::byte{0xff};
    });
    must<hwtab::cmd_dealloc_q_counter>(
        [&](auto in) { in.template set<"counter_set_id">(objects.counters); });
    must<hwtab::cmd_destroy_mkey>(
        [&](auto in) { in.template set<"mkey_index">(objects.memory_key); });
    must<hwtab::cmd_destroy_qp>([&](auto in) { in.template set<"qpn">(objects.queue_pair); });
    must<hwtab::cmd_destroy_cq>([&](auto in) { in.template set<"cqn">(objects.completion_queue); });
    must<hwtab::cmd_destroy_eq>(
        [&](auto in) { in.template set<"eq_number">(objects.event_queue); });
    must<hwtab::cmd_dealloc_pd>([&](auto in) { in.template set<"pd">(objects.domain); });
    must<hwtab::cmd_dealloc_uar>([&](auto in) { in.template set<"uar">(objects.uar); });
}

void VirtualMachine::tear_down() {
    constexpr std::uint16_t take = hwtab::value<hwtab::manage_pages_op_mod, "hca_return_pages">;
    must<hwtab::cmd_teardown_hca>([](auto) {});
    for (std::uint64_t taken = 1; taken != 0;) {
        constexpr std::uint32_t at_once = 100;
        auto input = hca::testing::make_input(hwtab::cmd_manage_pages.opcode,
                                              hwtab::manage_pages_in.size, take);
        hwtab::View<hwtab::manage_pages_in>{std::span<std::byte>(input)}.set<"input_num_entries">(
            at_once);
        taken = execute(input, hwtab::manage_pages_out.size + (at_once * sizeof(std::uint64_t)))
                    .view<hwtab::manage_pages_out>()
                    .get<"output_num_entries">();
    }
    must<hwtab::cmd_disable_hca>([](auto) {});
    next_page_ = free_memory;
}

void VirtualMachine::make_event_queue(MadeObjects& made) {
    made.event_ring = allocate();
    // The owner bit of the first pass is 0, so with all ones hardware owns the entries.
    std::ranges::fill(at(made.event_ring).first(page), std::byte{0xff});
    const auto completion = must<hwtab::cmd_create_eq>(
        [&](auto in) {
            in.template set<"eq_context_entry.log_eq_size">(log_events);
            in.template set<"eq_context_entry.uar_page">(made.uar);
            in.template set<"eq_context_entry.intr">(1);
            in.template set_at<"event_bitmask">(
                0, 1ULL << static_cast<unsigned>(hca::EventType::command_completion));
            in.template set_at<"pas">(0, made.event_ring);
        },
        sizeof(std::uint64_t));
    made.event_queue = static_cast<std::uint32_t>(
        completion.template view<hwtab::create_eq_out>().template get<"eq_number">());
    events_taken_ = 0;
}

void VirtualMachine::take_events(const MadeObjects& objects) {
    const auto is_new = [&] {
        const auto slot = events_taken_ % (1U << log_events);
        const hwtab::ConstView<hwtab::eqe> entry{
            at(objects.event_ring + (slot * std::uint64_t{hwtab::eqe.size}))
                .first(hwtab::eqe.size)};
        return entry.get<"owner">() == (events_taken_ >> log_events & 1U);
    };
    while (is_new())
        ++events_taken_;
    write32((std::uint64_t{objects.uar} * page) + arm_event_queue,
            objects.event_queue << 24U | events_taken_);
}

std::uint32_t VirtualMachine::make_completion_queue(const MadeObjects& made) {
    const auto completion = must<hwtab::cmd_create_cq>(
        [&](auto in) {
            in.template set<"cq_context.log_cq_size">(6);
            in.template set<"cq_context.uar_page">(made.uar);
            in.template set<"cq_context.c_eqn_or_apu_element">(made.event_queue);
            in.template set<"cq_context.dbr_addr">(allocate());
            in.template set_at<"pas">(0, allocate());
        },
        sizeof(std::uint64_t));
    return static_cast<std::uint32_t>(
        completion.template view<hwtab::create_cq_out>().template get<"cqn">());
}

std::uint32_t VirtualMachine::make_queue_pair(const MadeObjects& made) {
    constexpr auto datagrams = hwtab::value<hwtab::qp_service_type, "ud">;
    const auto completion = must<hwtab::cmd_create_qp>(
        [&](auto in) {
            in.template set<"qpc.st">(datagrams);
            in.template set<"qpc.pd">(made.domain);
            in.template set<"qpc.uar_page">(made.uar);
            in.template set<"qpc.log_sq_size">(2);
            in.template set<"qpc.log_rq_size">(2);
            in.template set<"qpc.log_rq_stride">(1);
            in.template set<"qpc.cqn_snd">(made.completion_queue);
            in.template set<"qpc.cqn_rcv">(made.completion_queue);
            in.template set<"qpc.dbr_addr">(allocate());
            in.template set_at<"pas">(0, allocate());
        },
        sizeof(std::uint64_t));
    const auto number = completion.template view<hwtab::create_qp_out>().template get<"qpn">();
    const auto transit = [&](auto in) {
        in.template set<"qpn">(number);
        in.template set<"qpc.mtu">(hwtab::value<hwtab::qp_mtu, "4k_bytes">);
        in.template set<"qpc.primary_address_path.vhca_port_num">(1);
    };
    must<hwtab::cmd_rst2init_qp>(transit);
    must<hwtab::cmd_init2rtr_qp>(transit);
    must<hwtab::cmd_rtr2rts_qp>(transit);
    return static_cast<std::uint32_t>(number);
}

void VirtualMachine::attach_to_group(std::uint32_t queue_pair) {
    must<hwtab::cmd_attach_to_mcg>([&](auto in) {
        in.template set<"qpn">(queue_pair);
        in.template bytes<"multicast_gid">().front() = std::byte{0xff};
    });
}

// --- This process --------------------------------------------------------------------------------

std::size_t allocated_bytes() {
    if (__sanitizer_get_current_allocated_bytes != nullptr)
        return __sanitizer_get_current_allocated_bytes();
    return ::mallinfo2().uordblks;
}

std::size_t open_descriptors() {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

} // namespace cxemu::program::testing
