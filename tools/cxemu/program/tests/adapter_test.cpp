// SPDX-License-Identifier: GPL-2.0-or-later
//
// Adapters and the virtual machines that connect and disconnect.
#include "program/tests/adapter_fixture.hpp"
#include "tables/commands_objects.hpp"

#include <algorithm>
#include <csignal>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <random>
#include <sys/wait.h>
#include <unistd.h>

namespace cxemu::program {
namespace {

using hca::FunctionState;
using testing::AdapterTest;
using testing::VirtualMachine;

TEST_F(AdapterTest, BringUpSucceedsWithoutViolations) {
    VirtualMachine machine = start();
    machine.bring_up();
    const auto objects = machine.make_objects();
    EXPECT_EQ(adapters[0]->hca().state(), FunctionState::initialized);
    machine.take_events(objects);
    machine.execute<hwtab::cmd_nop>();
    EXPECT_EQ(machine.take_interrupts(1), 1U) << "the completion of the command";
    EXPECT_EQ(machine.take_interrupts(0), 0U);
    EXPECT_EQ(checker.to_text(), "");
}

TEST_F(AdapterTest, SeveralVirtualMachinesIndependent) {
    VirtualMachine first = start("hca0");
    VirtualMachine second = start("hca1");
    first.bring_up();
    second.bring_up();
    first.make_objects();
    EXPECT_EQ(adapters[1]->hca().objects().count(), 0U);
    first.vanish();
    wait_for_end(*adapters[0]);
    expect_cold(*adapters[0]);
    second.make_objects();
    EXPECT_EQ(adapters[1]->hca().state(), FunctionState::initialized);
}

TEST_F(AdapterTest, SeveralAdaptersOfOneVirtualMachineIndependent) {
    VirtualMachine first = start("hca0");
    VirtualMachine second = start("hca1");
    first.bring_up();
    second.bring_up();
    const auto mine = first.make_objects();
    const auto other = second.make_objects();
    EXPECT_EQ(mine.queue_pair, other.queue_pair) << "each has numbers of its own";
}

TEST_F(AdapterTest, DriverReloadBringsUpAgain) {
    VirtualMachine machine = start();
    for (int i = 0; i < 50; ++i) {
        machine.bring_up();
        machine.destroy_objects(machine.make_objects());
        EXPECT_EQ(adapters[0]->hca().objects().count(), 0U);
        machine.tear_down();
        EXPECT_EQ(adapters[0]->hca().pages().held(), 0U);
    }
    EXPECT_EQ(checker.to_text(), "");
}

TEST_F(AdapterTest, SessionMessagesCounted) {
    VirtualMachine machine = start();
    machine.bring_up();
    const nlohmann::json session = adapters[0]->statistics()["session"];
    EXPECT_EQ(session["connections"], 1);
    EXPECT_EQ(session["messages"]["DMA_MAP"], 2);
    EXPECT_EQ(session["messages"]["SET_IRQS"], VirtualMachine::vectors);
    EXPECT_EQ(session["errors_with_reply"], 0);
    EXPECT_GT(session["bytes_received"], 0);
}

// --- Resets --------------------------------------------------------------------------------------

TEST_F(AdapterTest, BusResetBringsUpAgain) {
    VirtualMachine machine = start();
    for (int i = 0; i < 50; ++i) {
        machine.bring_up();
        machine.make_objects();
        machine.reset();
        EXPECT_EQ(adapters[0]->hca().objects().count(), 0U);
    }
    EXPECT_EQ(checker.to_text(), "");
}

TEST_F(AdapterTest, FlrBringsUpAgain) {
    VirtualMachine machine = start();
    machine.bring_up();
    const auto objects = machine.make_objects();
    machine.take_events(objects);
    constexpr std::uint16_t initiate = 0x8000;
    machine.write_config16(pci::reg::device_control, initiate);
    machine.write_config16(pci::reg::command, 2);
    EXPECT_NE(machine.read32(0x1fc) >> 31U, 0U) << "it is initializing";
    EXPECT_EQ(adapters[0]->hca().objects().count(), 0U);
    machine.write_config16(pci::reg::command, 6);
    machine.bring_up();
    EXPECT_EQ(machine.take_interrupts(1), 0U);
}

// --- Memory --------------------------------------------------------------------------------------

TEST_F(AdapterTest, RemappedMemoryUsed) {
    VirtualMachine machine = start();
    for (int i = 0; i < 6; ++i) { // as often as the BIOS at boot
        machine.unmap_memory();
        machine.map_memory();
    }
    machine.bring_up();
    machine.unmap_memory();
    machine.map_memory();
    machine.make_objects();
    EXPECT_EQ(maps(*adapters[0]), 9U);
}

TEST_F(AdapterTest, UnmappedCommandQueueReportsFatal) {
    VirtualMachine machine = start();
    machine.bring_up();
    const auto objects = machine.make_objects();
    machine.unmap_memory();
    machine.write32(0x18, 1);
    machine.take_events(objects);
    work();
    EXPECT_NE(machine.read32(0x23c) >> 16U & 0xffU, 0U) << "health syndrome";
    EXPECT_GE(adapters[0]->statistics()["dma"]["master_aborts"].get<std::uint64_t>(), 1U);
    machine.map_memory();
    machine.reset();
    machine.bring_up();
}

// --- Disconnect ----------------------------------------------------------------------------------

TEST_F(AdapterTest, VanishedVirtualMachineLeavesNoState) {
    VirtualMachine machine = start();
    machine.bring_up();
    const auto objects = machine.make_objects();
    machine.take_events(objects);
    machine.vanish();
    wait_for_end(*adapters[0]);
    expect_cold(*adapters[0]);
    adapters[0]->hca().interrupts().raise(1);
    EXPECT_EQ(machine.take_interrupts(1), 0U) << "its eventfd is no longer used";
}

TEST_F(AdapterTest, VirtualMachineVanishedMidMessageLeavesNoState) {
    for (const std::size_t size : {1U, 15U, 16U, 20U}) {
        VirtualMachine machine = start();
        machine.bring_up();
        machine.make_objects();
        machine.client().send_part(vfio_user::Command::region_write, vfio_user::testing::Bytes(24),
                                   size);
        machine.vanish();
        wait_for_end(*adapters[0]);
        expect_cold(*adapters[0]);
    }
}

TEST_F(AdapterTest, ManyVirtualMachinesLeakNothing) {
    constexpr int warm_up = 20;
    constexpr int machines = 25; // between two measurements
    constexpr int measurements = 4;
    std::optional<std::size_t> descriptors;
    std::optional<std::size_t> bytes;
    std::vector<std::ptrdiff_t> growth;
    for (int i = 0; i <= warm_up + (measurements * machines); ++i) {
        if (i >= warm_up && (i - warm_up) % machines == 0) {
            const std::size_t allocated = testing::allocated_bytes();
            if (bytes)
                growth.push_back(static_cast<std::ptrdiff_t>(allocated - *bytes));
            bytes = allocated;
            descriptors = descriptors.value_or(testing::open_descriptors());
        }
        VirtualMachine machine = start();
        machine.bring_up();
        machine.make_objects();
        if (i % 2 == 0)
            machine.client().send_part(vfio_user::Command::dma_map,
                                       vfio_user::testing::dma_map_body(0, 4096), 17);
        machine.vanish();
        wait_for_end(*adapters[0]);
    }
    EXPECT_EQ(testing::open_descriptors(), *descriptors);
    // If each machine leaks memory, every difference has at least as many bytes as there were
    // machines. Without sanitizers the C library also counts the contents of its caches, so single
    // differences vary.
    ASSERT_EQ(growth.size(), static_cast<std::size_t>(measurements));
    EXPECT_LT(std::ranges::min(growth), machines) << ::testing::PrintToString(growth);
    expect_cold(*adapters[0]);
}

/// A virtual machine in its own process; creates and destroys objects until it is killed.
[[noreturn]] void run_machine(const std::filesystem::path& socket) {
    try {
        VirtualMachine machine(socket);
        machine.bring_up();
        const auto objects = machine.make_objects();
        while (true) {
            machine.take_events(objects);
            machine.execute<hwtab::cmd_alloc_pd>();
            machine.execute<hwtab::cmd_query_hca_cap>(1);
        }
    } catch (const std::exception&) {
        ::_exit(EXIT_FAILURE);
    }
}

TEST_F(AdapterTest, KilledVirtualMachineLeavesColdAdapter) {
    std::mt19937 random(20261121);
    std::uniform_int_distribution<int> turns(0, 120);
    for (int i = 0; i < 40; ++i) {
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0)
            run_machine(socket_of("hca0"));
        for (int life = turns(random); life > 0; --life) {
            now += std::chrono::milliseconds(1);
            loop.turn(std::chrono::milliseconds(1));
        }
        ::kill(child, SIGKILL);
        ASSERT_EQ(::waitpid(child, nullptr, 0), child);
        for (int turn = 0; turn < 10; ++turn)
            work(); // the connection may not have been accepted yet
        wait_for_end(*adapters[0]);
        expect_cold(*adapters[0]);
    }
    VirtualMachine machine = start();
    machine.bring_up();
    machine.make_objects();
}

} // namespace
} // namespace cxemu::program
