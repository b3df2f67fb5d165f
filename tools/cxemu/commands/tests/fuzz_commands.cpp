// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// libFuzzer target: commands, corrupted command queue entries and mailboxes, BAR 0 accesses and
/// resets of an HCA with all its parts.
///
/// The input is a sequence of steps: a byte that selects the step, then the step's parameters.
/// Command fields are filled by the hardware tables (see Fuzzer::field_value()), so most of them
/// reach their handlers with valid numbers.
#include "base/testing/fuzz_input.hpp"
#include "check/layout_walk.hpp"
#include "commands/table.hpp"
#include "fabric/fabric.hpp"
#include "hca/testing/host.hpp"
#include "memory/memory_keys.hpp"
#include "queues/event_queues.hpp"
#include "queues/work_queues.hpp"
#include "tables/all.hpp"
#include "transport/packet_transport.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <span>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace {

using namespace cxemu;
using hca::testing::Host;

std::vector<const hwtab::Command*> known_commands() {
    std::vector<const hwtab::Command*> commands;
    const auto table = commands::all_commands();
    for (const hwtab::Group* group : hwtab::all_groups) {
        for (const hwtab::Command* command : group->commands) {
            if (table.find(command->opcode) != nullptr)
                commands.push_back(command);
        }
    }
    std::ranges::sort(commands, {}, &hwtab::Command::opcode);
    return commands;
}

/// An HCA with all parts. It is created once and reset between inputs.
struct Machine {
    Machine() : fabric(host.loop, fabric::SwitchSettings{}) {
        fabric::HcaPortSettings port;
        port.node_guid = 1;
        port.port_guid = 2;
        host.hca.add_port(**fabric.add(port));
        host.hca.add<memory::MemoryKeys>();
        host.hca.add<queues::EventQueues>();
        host.hca.add<queues::WorkQueues>();
        host.hca.add<transport::PacketTransport>();
    }

    ~Machine() {
        host.hca.part<transport::PacketTransport>().release_ports();
    } // ports are destroyed before the part
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;

    void start_anew() {
        host.hca.reset(pci::ResetCause::function_level);
        const UniqueFd file = host.memory.file();
        if (::fallocate(file.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
                        static_cast<off_t>(Host::memory_size)) != 0)
            std::abort();
        host.start_queue();
        host.hca.initialize_function();
    }

    Host host{commands::all_commands()};
    fabric::Fabric fabric;
};

class Fuzzer {
public:
    Fuzzer(Machine& machine, std::span<const std::uint8_t> input)
        : host_(machine.host), source_(input) {}

    void run() {
        for (int steps = 0; !source_.empty() && steps < 64; ++steps)
            step();
    }

private:
    void step() {
        switch (source_.byte() % 8) {
        case 0:
        case 1:
        case 2:
            return command();
        case 3:
            return damaged_entry();
        case 4:
            return damaged_mailbox();
        case 5:
            return bar_access();
        case 6:
            return host_.advance(std::chrono::milliseconds(source_.byte()));
        default:
            return rare();
        }
    }

    void rare() {
        switch (source_.byte() % 4) {
        case 0:
            host_.hca.reset(pci::ResetCause::bus);
            return host_.start_queue();
        case 1:
            return host_.hca.initialize_function();
        case 2:
            (void)host_.hca.pages().request(static_cast<std::int8_t>(source_.byte()));
            return;
        default:
            return host_.hca.vectors_changed(0, host_.interrupts.size());
        }
    }

    /// One byte selects a value: mostly itself, or a number of another kind.
    std::uint64_t field_value(const hwtab::Field& field) {
        const std::uint8_t choice = source_.byte();
        if (field.width == 64)
            return Host::free_memory + (std::uint64_t{choice} * 4096);
        switch (choice) {
        case 0xff:
            return source_.number(8);
        case 0xfe:
            return 0x800U + source_.byte(); // an mkey
        case 0xfd:
            return ~std::uint64_t{0};
        default:
            return choice;
        }
    }

    std::vector<std::byte> make_command(const hwtab::Command& command) {
        const std::size_t list = source_.byte() % 64 * std::size_t{8};
        auto input = hca::testing::make_input(command.opcode, command.input->size + list,
                                              source_.byte() % 8, source_.byte() % 3);
        check::walk_layout(*command.input, input.size(), {}, [&](const check::FoundField& found) {
            const bool header = found.offset < 8 * hwtab::bits_per_byte;
            if (header || found.field->is_reserved() || found.width > 64)
                return;
            const std::uint64_t mask = found.width == 64 ? ~0ULL : (1ULL << found.width) - 1;
            hwtab::write_bits(input.data(), found.offset, found.width,
                              field_value(*found.field) & mask);
        });
        return input;
    }

    void command() {
        static const auto commands = known_commands();
        const auto& command = *commands[source_.byte() % commands.size()];
        const auto input = make_command(command);
        const auto room = static_cast<std::uint32_t>(source_.byte() % 32 * 8);
        host_.submit(slot_, input, command.output->size + room);
        host_.ring(1U << slot_);
        slot_ = (slot_ + 1) % hca::CommandQueue::slots;
    }

    void damaged_entry() {
        host_.submit(slot_, hca::testing::make_input(hwtab::cmd_nop.opcode, source_.number(1) * 8),
                     static_cast<std::uint32_t>(source_.number(1) * 8));
        const auto entry = host_.entry(slot_).memory();
        for (std::uint8_t count = source_.byte() % 8; count > 0; --count)
            entry[source_.byte() % 64] = static_cast<std::byte>(source_.byte());
        host_.ring(1U << slot_);
    }

    void damaged_mailbox() {
        const auto boxes = source_.byte() % 4;
        host_.submit(slot_,
                     hca::testing::make_input(hwtab::cmd_manage_pages.opcode,
                                              16 + (boxes * hca::mailbox_data_size)),
                     16 + (boxes * hca::mailbox_data_size));
        const std::size_t number =
            source_.byte() % 4 + (source_.byte() % 2 == 0 ? 0 : Host::output_mailboxes);
        const auto box = host_.mailbox(slot_, number).memory();
        box[0x230 + (source_.byte() % 16)] = static_cast<std::byte>(source_.byte());
        host_.ring(1U << slot_);
    }

    /// Registers of the first pages, and doorbells of the first UARs.
    void bar_access() {
        const std::uint8_t choice = source_.byte();
        const std::size_t size = std::size_t{1} << (choice % 4);
        const std::uint64_t page = choice < 0x80 ? source_.byte() % 4 : 0x10 + (source_.byte() % 4);
        const std::uint64_t offset = (page * 4096) + (source_.number(2) % 4096 & ~(size - 1));
        std::vector<std::byte> data(size);
        for (std::byte& byte : data)
            byte = static_cast<std::byte>(source_.byte());
        if ((choice & 0x40U) != 0)
            host_.hca.bar_read(offset, data);
        else
            host_.hca.bar_write(offset, data);
        host_.loop.turn({});
    }

    Host& host_;
    cxemu::testing::FuzzInput source_;
    std::uint32_t slot_ = 0;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const auto machine = std::make_unique<Machine>();
    machine->start_anew();
    Fuzzer(*machine, {data, size}).run();
    machine->host.advance(std::chrono::milliseconds(100));
    return 0;
}
