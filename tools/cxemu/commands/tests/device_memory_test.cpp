// SPDX-License-Identifier: GPL-2.0-or-later
//
// MEMIC commands and mkeys; the allocator is tested in hca/.
#include "commands/tests/fixtures.hpp"
#include "hca/rules.hpp"

#include <array>

namespace cxemu::commands {
namespace {

using testing::Bench;
using testing::Call;
using testing::CommandTest;
using testing::outcome;

constexpr std::uint64_t page_size = 4096;

class DeviceMemoryCommandsTest : public CommandTest {
protected:
    using CommandTest::CommandTest;

    std::uint64_t start() { return bench.hca().device_memory().start(); }

    /// Allocates page \p number of the MEMIC BAR range.
    std::uint64_t allocate(std::uint64_t number = 0) {
        Call<hwtab::cmd_alloc_memic> call;
        call.in().set<"range_start_addr">(start() + number * page_size);
        call.in().set<"range_size">(page_size);
        call.in().set<"memic_size">(page_size);
        EXPECT_EQ(outcome(bench.run(call)), "OK");
        return call.out().get<"memic_start_addr">();
    }
    std::string release(std::uint64_t address, std::uint64_t size = page_size) {
        return run<hwtab::cmd_dealloc_memic>([&](auto in) {
            in.template set<"memic_start_addr">(address);
            in.template set<"memic_size">(size);
        });
    }
    std::string operation(std::uint64_t address, std::uint64_t type, std::uint16_t op_mod) {
        return run<hwtab::cmd_modify_memic>(
            [&](auto in) {
                in.template set<"memic_start_addr">(address);
                in.template set<"memic_operation_type">(type);
            },
            op_mod);
    }
    /// \return the key, or 0
    std::uint32_t make_key(std::uint64_t address, std::uint64_t length) {
        Call<hwtab::cmd_create_mkey> call;
        const auto key = call.in().nested<"memory_key_mkey_entry", hwtab::mkc>();
        constexpr auto mode = hwtab::value<hwtab::mkey_access_mode, "memic">;
        key.set<"access_mode_1_0">(mode & 3U);
        key.set<"access_mode_4_2">(mode >> 2U);
        key.set<"lr">(1);
        key.set<"lw">(1);
        key.set<"rw">(1);
        key.set<"a">(1);
        key.set<"qpn">(0xffffff);
        key.set<"pd">(bench.domain());
        key.set<"start_addr">(address);
        key.set<"len">(length);
        last_outcome = outcome(bench.run(call));
        return static_cast<std::uint32_t>(call.out().get<"mkey_index">()) << 8U;
    }
    memory::Accessor accessor() { return {.protection_domain = bench.domain(), .queue_pair = 1}; }
    memory::MemoryKeys& keys() { return bench.hca().part<memory::MemoryKeys>(); }

    std::string last_outcome;
};

TEST_F(DeviceMemoryCommandsTest, ReleasedMemoryUnknown) {
    const auto address = allocate(3);
    EXPECT_EQ(address, start() + 3 * page_size);
    EXPECT_EQ(release(address), "OK");
    EXPECT_EQ(release(address), "BAD_PARAMETER no_device_memory");
    EXPECT_EQ(bench.violations(hca::rules::unknown_object), 1U);
}

TEST_F(DeviceMemoryCommandsTest, AllocMemicOccupiedRangeReturnsNotReady) {
    allocate();
    EXPECT_EQ(run<hwtab::cmd_alloc_memic>([&](auto in) {
                  in.template set<"range_start_addr">(start());
                  in.template set<"range_size">(page_size);
                  in.template set<"memic_size">(64);
              }),
              "NOT_READY no_device_memory");
}

TEST_F(DeviceMemoryCommandsTest, OperationAddressMappedOnce) {
    constexpr std::uint16_t give = 0;
    constexpr std::uint16_t take = 1;
    const auto address = allocate();
    EXPECT_EQ(operation(address, 0, give), "OK");
    EXPECT_EQ(operation(address, 0, give), "BAD_PARAMETER no_memory_operation");
    EXPECT_EQ(operation(address, 0, take), "OK");
    EXPECT_EQ(operation(address, 0, take), "BAD_PARAMETER no_memory_operation");
    EXPECT_EQ(operation(address, 2, give), "BAD_PARAMETER no_memory_operation");
    EXPECT_EQ(operation(address, 0, 2), "BAD_OPERATION unknown_op_mod");
}

TEST_F(DeviceMemoryCommandsTest, KeyAccessesBarMemory) {
    const auto address = allocate();
    const auto key = make_key(address + 64, 128);
    ASSERT_EQ(last_outcome, "OK");
    const std::array data{std::byte{1}, std::byte{2}};
    const memory::Access access{.key = key,
                                .address = 8, // MEMIC mkeys begin at 0
                                .length = data.size(),
                                .right = memory::AccessRight::remote_write};
    ASSERT_TRUE(keys().write(accessor(), access, data));
    std::array<std::byte, 2> out{};
    bench.hca().bar_read(address + 64 + 8, out);
    EXPECT_EQ(out, data);
}

TEST_F(DeviceMemoryCommandsTest, KeyAtomicModifiesMemory) {
    const auto key = make_key(allocate(), page_size);
    ASSERT_EQ(last_outcome, "OK");
    const auto add = [](std::uint64_t value) { return value + 5; };
    EXPECT_EQ(keys().modify(accessor(), key, 16, add), 0U);
    EXPECT_EQ(keys().modify(accessor(), key, 16, add), 5U);
}

TEST_F(DeviceMemoryCommandsTest, KeyBeyondAllocationRefused) {
    const auto address = allocate();
    make_key(address, page_size + 64);
    EXPECT_EQ(last_outcome, "BAD_PARAMETER no_device_memory");
    const auto key = make_key(address, page_size);
    const memory::Access beyond{.key = key, .address = page_size - 1, .length = 2};
    EXPECT_EQ(keys().translate(accessor(), beyond).error(), memory::AccessFault::out_of_range);
    EXPECT_EQ(release(address), "OK");
    const memory::Access gone{.key = key, .address = 0, .length = 2};
    EXPECT_EQ(keys().translate(accessor(), gone).error(), memory::AccessFault::bad_translation);
}

TEST_F(DeviceMemoryCommandsTest, PhysicalKeyDoesNotReachMemory) {
    allocate();
    Call<hwtab::cmd_create_mkey> call;
    const auto key = call.in().nested<"memory_key_mkey_entry", hwtab::mkc>();
    key.set<"lr">(1);
    key.set<"length64">(1);
    key.set<"qpn">(0xffffff);
    key.set<"pd">(bench.domain());
    ASSERT_EQ(outcome(bench.run(call)), "OK");
    const memory::Access access{.key = static_cast<std::uint32_t>(call.out().get<"mkey_index">())
                                       << 8U,
                                .address = vfio_user::DmaSpace::local_start,
                                .length = 8};
    EXPECT_EQ(keys().translate(accessor(), access).error(), memory::AccessFault::dma_failed);
}

TEST_F(DeviceMemoryCommandsTest, TeardownReportsAllocations) {
    allocate();
    bench.hca().tear_down_function(true);
    EXPECT_GE(bench.violations(hca::rules::objects_left_at_teardown), 1U);
    EXPECT_EQ(bench.hca().device_memory().allocations(), 0U);
}

class WithoutDeviceMemory : public DeviceMemoryCommandsTest {
protected:
    WithoutDeviceMemory() : DeviceMemoryCommandsTest(Bench::with_capability("device_memory", 0)) {}
};

TEST_F(WithoutDeviceMemory, CommandsRefused) {
    EXPECT_EQ(run<hwtab::cmd_alloc_memic>([](auto) {}), "BAD_OPERATION not_supported");
    EXPECT_EQ(release(0), "BAD_OPERATION not_supported");
    EXPECT_EQ(operation(0, 0, 0), "BAD_OPERATION not_supported");
    make_key(0, 64);
    EXPECT_EQ(last_outcome, "BAD_PARAMETER no_device_memory");
}

} // namespace
} // namespace cxemu::commands
