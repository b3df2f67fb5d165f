// SPDX-License-Identifier: GPL-2.0-or-later
//
// Device faults, observed by the virtual machine.
#include "program/device_faults.hpp"
#include "program/tests/adapter_fixture.hpp"
#include "tables/events.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <gtest/gtest.h>
#include <string_view>
#include <vector>

namespace cxemu::program {
namespace {

using testing::AdapterTest;
using testing::VirtualMachine;

constexpr std::uint64_t health_syndrome = 0x23c;
constexpr std::uint64_t health_counter = 0x1010;
constexpr std::uint64_t initializing = 0x1fc;
constexpr std::uint16_t memory_and_bus_master = 0x6;
using EventSlot = std::array<std::byte, hwtab::eqe.size>;
constexpr std::uint32_t all_ones = 0xffff'ffff;

class DeviceFaultsTest : public AdapterTest {
protected:
    DeviceFaultsTest() {
        faults.set_device_handler([this](std::string_view device, const auto& fault) {
            for (const auto& adapter : adapters) {
                if (device.empty() || adapter->name() == device)
                    inject(*adapter, fault);
            }
        });
        machine.bring_up();
        objects = machine.make_objects();
        machine.take_events(objects);
    }
    ~DeviceFaultsTest() override { faults.clear(); }

    void add(std::string_view line) {
        const auto added = faults.add(line);
        EXPECT_TRUE(added) << added.error();
    }
    /// \param time milliseconds
    void wait(int time) {
        for (int i = 0; i < time; ++i)
            work();
    }
    std::uint32_t syndrome() { return machine.read32(health_syndrome) >> 16U & 0xffU; }
    /// All slots of the EQ.
    std::vector<EventSlot> event_slots() {
        std::vector<EventSlot> slots(64);
        for (std::size_t slot = 0; slot < slots.size(); ++slot)
            std::ranges::copy(machine.at(objects.event_ring + (slot * sizeof(EventSlot)))
                                  .first(sizeof(EventSlot)),
                              slots[slot].begin());
        return slots;
    }

    VirtualMachine machine = start();
    VirtualMachine::MadeObjects objects;
};

TEST_F(DeviceFaultsTest, HealthFaultReportedInHealthBuffer) {
    add("health syndrome=8 after=50ms @hca0");
    wait(20);
    EXPECT_EQ(syndrome(), 0U);
    wait(60);
    EXPECT_EQ(syndrome(), 8U);
    EXPECT_TRUE(adapters[0]->hca().health().fatal());
    EXPECT_FALSE(adapters[1]->hca().health().fatal());
}

TEST_F(DeviceFaultsTest, WarningIsNotFatal) {
    add("health syndrome=16 warning after=1ms @hca0");
    wait(10);
    EXPECT_EQ(syndrome(), 16U);
    EXPECT_FALSE(adapters[0]->hca().health().fatal());
    machine.execute<hwtab::cmd_nop>();
}

TEST_F(DeviceFaultsTest, StuckFirmwareNoLongerCounts) {
    const std::uint32_t before = machine.read32(health_counter);
    wait(30);
    EXPECT_NE(machine.read32(health_counter), before);
    add("health stuck after=1ms @hca0");
    wait(10);
    const std::uint32_t stopped = machine.read32(health_counter);
    wait(30);
    EXPECT_EQ(machine.read32(health_counter), stopped);
}

TEST_F(DeviceFaultsTest, RemovedDeviceReadsAllOnes) {
    add("surprise-removal after=1ms @hca0");
    wait(10);
    EXPECT_EQ(machine.read32(health_syndrome), all_ones);
    wait(1000);
    EXPECT_EQ(machine.read32(health_syndrome), all_ones);
}

TEST_F(DeviceFaultsTest, ReinsertedDeviceIsCold) {
    add("surprise-removal for=200ms after=1ms @hca0");
    wait(100);
    EXPECT_EQ(machine.read32(initializing), all_ones);
    wait(200);
    machine.write_config16(pci::reg::command, memory_and_bus_master);
    EXPECT_EQ(syndrome(), 0U);
    EXPECT_EQ(adapters[0]->hca().objects().count(), 0U);
}

TEST_F(DeviceFaultsTest, InsertedDeviceIsCold) {
    EXPECT_NE(adapters[0]->hca().objects().count(), 0U);
    adapters[0]->remove(EventLoop::Duration::zero());
    EXPECT_EQ(machine.read32(initializing), all_ones);
    EXPECT_TRUE(adapters[0]->insert());
    machine.write_config16(pci::reg::command, memory_and_bus_master);
    EXPECT_EQ(syndrome(), 0U);
    EXPECT_EQ(adapters[0]->hca().objects().count(), 0U);
}

TEST_F(DeviceFaultsTest, TimeOfEndedRemovalDoesNotEndNextOne) {
    adapters[0]->remove(std::chrono::milliseconds(50));
    adapters[0]->insert();
    adapters[0]->remove(EventLoop::Duration::zero());
    wait(200);
    machine.write_config16(pci::reg::command, memory_and_bus_master);
    EXPECT_EQ(machine.read32(initializing), all_ones);
}

TEST_F(DeviceFaultsTest, UnrequestedResetDropsAllObjects) {
    EXPECT_NE(adapters[0]->hca().objects().count(), 0U);
    add("flr after=1ms @hca0");
    wait(10);
    EXPECT_EQ(adapters[0]->hca().objects().count(), 0U);
    EXPECT_EQ(adapters[0]->hca().state(), hca::FunctionState::disabled);
}

TEST_F(DeviceFaultsTest, EventFaultPostsEqeAndInterrupt) {
    const auto before = event_slots();
    machine.take_interrupts(1);
    add("event type=0x9 after=1ms @hca0");
    wait(10);
    EXPECT_EQ(machine.take_interrupts(1), 1U);
    const auto after = event_slots();
    std::vector<std::uint64_t> types;
    for (std::size_t slot = 0; slot < after.size(); ++slot) {
        if (after[slot] != before[slot])
            types.push_back(
                hwtab::ConstView<hwtab::eqe>{std::span(after[slot])}.get<"event_type">());
    }
    EXPECT_EQ(types, std::vector<std::uint64_t>{9});
}

} // namespace
} // namespace cxemu::program
