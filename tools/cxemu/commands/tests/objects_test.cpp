// SPDX-License-Identifier: GPL-2.0-or-later
#include "commands/table.hpp"
#include "hca/rules.hpp"
#include "hca/testing/host.hpp"
#include "tables/commands_objects.hpp"

#include <gtest/gtest.h>

namespace cxemu::commands {
namespace {

using namespace hca;
using hca::testing::CommandCompletion;
using hca::testing::Host;

class ObjectCommandsTest : public ::testing::Test {
protected:
    void SetUp() override {
        host.start_queue();
        host.hca.initialize_function();
    }

    std::uint64_t alloc_pd(std::uint16_t uid = 0) {
        const CommandCompletion completion = host.execute<hwtab::cmd_alloc_pd>(0, uid);
        EXPECT_EQ(completion.status, CommandStatus::ok);
        return completion.view<hwtab::alloc_pd_out>().get<"pd">();
    }
    CommandCompletion dealloc_pd(std::uint64_t pd, std::uint16_t uid = 0) {
        return host.execute<hwtab::cmd_dealloc_pd>(
            [pd](const hwtab::View<hwtab::dealloc_pd_in>& in) { in.set<"pd">(pd); }, 0, uid);
    }
    std::uint32_t alloc_uar(std::uint16_t uid) {
        const CommandCompletion completion = host.execute<hwtab::cmd_alloc_uar>(0, uid);
        EXPECT_EQ(completion.status, CommandStatus::ok);
        return static_cast<std::uint32_t>(completion.view<hwtab::alloc_uar_out>().get<"uar">());
    }
    CommandCompletion dealloc_uar(std::uint32_t number, std::uint16_t uid) {
        return host.execute<hwtab::cmd_dealloc_uar>(
            [number](const hwtab::View<hwtab::dealloc_uar_in>& in) { in.set<"uar">(number); }, 0,
            uid);
    }
    std::uint16_t create_uctx() {
        const CommandCompletion completion = host.execute<hwtab::cmd_create_uctx>();
        EXPECT_EQ(completion.status, CommandStatus::ok);
        return static_cast<std::uint16_t>(completion.view<hwtab::create_uctx_out>().get<"uid">());
    }
    CommandCompletion destroy_uctx(std::uint16_t uid) {
        return host.execute<hwtab::cmd_destroy_uctx>(
            [uid](const hwtab::View<hwtab::destroy_uctx_in>& in) { in.set<"uid">(uid); });
    }
    /// \param room number of entries in the input
    CommandCompletion create_umem(std::uint64_t count, std::size_t room, std::uint64_t address,
                                  std::uint64_t log_page_size = 0, std::uint64_t offset = 0) {
        return host.execute<hwtab::cmd_create_umem>(
            [=](const hwtab::View<hwtab::create_umem_in>& in) {
                in.set<"umem.num_of_mtt">(count);
                in.set<"umem.log_page_size">(log_page_size);
                in.set<"umem.page_offset">(offset);
                const auto list = in.memory().subspan(hwtab::create_umem_in.size);
                for (std::size_t i = 0; i < room; ++i)
                    store_be(list.subspan(i * 8), (address + (i << (12 + log_page_size))) | 3U);
            },
            0, 0, room * 8);
    }

    Host host{CommandTable(object_commands())};
};

TEST(Umem, KernelNeedsCapability) {
    auto settings = hca::testing::default_settings();
    settings.overrides = {{"umem_uid_0", 0}};
    Host host{CommandTable(object_commands()), settings};
    host.start_queue();
    host.hca.initialize_function();
    const auto create = [&](std::uint16_t uid) {
        return host.execute<hwtab::cmd_create_umem>(
            [](const hwtab::View<hwtab::create_umem_in>& in) { in.set<"umem.num_of_mtt">(1); }, 0,
            uid, sizeof(std::uint64_t));
    };
    EXPECT_EQ(create(kernel_uid).syndrome, Syndrome::not_supported);
    const auto context = host.execute<hwtab::cmd_create_uctx>();
    const auto uid = context.view<hwtab::create_uctx_out>().get<"uid">();
    EXPECT_EQ(create(static_cast<std::uint16_t>(uid)).status, CommandStatus::ok);
}

TEST_F(ObjectCommandsTest, DeallocatedPdUnknown) {
    const auto first = alloc_pd();
    const auto second = alloc_pd();
    EXPECT_NE(first, second);
    EXPECT_EQ(dealloc_pd(first).status, CommandStatus::ok);
    EXPECT_EQ(dealloc_pd(first).status, CommandStatus::bad_resource);
    EXPECT_EQ(host.checker.counted(rules::unknown_object), 1U);
    EXPECT_NE(alloc_pd(), first) << "a number comes back late";
}

TEST_F(ObjectCommandsTest, DeallocReferencedPdRefused) {
    const auto pd = alloc_pd();
    auto* domain = host.hca.objects().of<ProtectionDomain>().find(static_cast<std::uint32_t>(pd));
    Reference<ProtectionDomain> reference(*domain);
    const CommandCompletion completion = dealloc_pd(pd);
    EXPECT_EQ(completion.status, CommandStatus::resource_busy);
    EXPECT_EQ(host.checker.counted(rules::destroyed_while_referenced), 1U);
    reference.reset();
    EXPECT_EQ(dealloc_pd(pd).status, CommandStatus::ok);
}

TEST_F(ObjectCommandsTest, AllocatedUarBehindFixedPages) {
    const CommandCompletion completion = host.execute<hwtab::cmd_alloc_uar>();
    EXPECT_GE(completion.view<hwtab::alloc_uar_out>().get<"uar">(), 0x10U);
}

TEST_F(ObjectCommandsTest, DeallocUarInUseByUserContextSucceeds) {
    const auto uid = create_uctx();
    const auto number = alloc_uar(uid);
    const Reference<Uar> queue_refers(*host.hca.objects().of<Uar>().find(number));
    EXPECT_EQ(dealloc_uar(number, uid).status, CommandStatus::ok);
    EXPECT_EQ(destroy_uctx(uid).status, CommandStatus::ok) << "nothing of it is left";
    EXPECT_EQ(dealloc_uar(number, 0).syndrome, Syndrome::unknown_object);
    EXPECT_EQ(host.checker.counted(rules::destroyed_while_referenced), 0U);
}

TEST_F(ObjectCommandsTest, DeallocReferencedKernelUarRefused) {
    const auto number = alloc_uar(0);
    const Reference<Uar> queue_refers(*host.hca.objects().of<Uar>().find(number));
    EXPECT_EQ(dealloc_uar(number, 0).status, CommandStatus::resource_busy);
    EXPECT_EQ(host.checker.counted(rules::destroyed_while_referenced), 1U);
}

TEST_F(ObjectCommandsTest, UarsLimitedByBarSize) {
    HcaSettings settings = hca::testing::default_settings();
    settings.bar_size = 128 * 1024;
    Host small(CommandTable(object_commands()), settings);
    small.start_queue();
    small.hca.initialize_function();
    for (int i = 0; i < 16; ++i)
        ASSERT_EQ(small.execute<hwtab::cmd_alloc_uar>().status, CommandStatus::ok);
    EXPECT_EQ(small.execute<hwtab::cmd_alloc_uar>().status, CommandStatus::no_resources);
}

/// mlx5_core uses all UAR pages of its host page: alloc_uars_page() in Linux.
TEST_F(ObjectCommandsTest, UarsOfHostPageAllocatedTogether) {
    const auto current = host.hca.capabilities().bytes(CapabilityPage::general, false);
    std::vector<std::byte> block(current.begin(), current.end());
    const hwtab::View<hwtab::cmd_hca_cap> wanted{block};
    wanted.set<"uar_4k">(1);
    wanted.set<"log_uar_page_sz">(2); // 16 KiB
    ASSERT_TRUE(host.hca.capabilities().set(CapabilityPage::general, block));
    EXPECT_EQ(host.hca.capabilities().current<"num_of_uars_per_page">(), 4U);
    const auto first = alloc_uar(0);
    const auto second = alloc_uar(0);
    EXPECT_EQ(first % 4, 0U);
    EXPECT_EQ(second - first, 4U);
    EXPECT_EQ(host.hca.objects().of<Uar>().find(first + 3),
              host.hca.objects().of<Uar>().find(first));
    EXPECT_EQ(dealloc_uar(first + 3, 0).syndrome, Syndrome::unknown_object);
    EXPECT_EQ(dealloc_uar(first, 0).status, CommandStatus::ok);
}

TEST_F(ObjectCommandsTest, ForeignPdDeallocRefused) {
    const auto alice = create_uctx();
    const auto bob = create_uctx();
    const auto pd = alloc_pd(alice);
    EXPECT_EQ(dealloc_pd(pd, bob).syndrome, Syndrome::object_of_other_user_context);
    EXPECT_EQ(dealloc_pd(pd, 0).syndrome, Syndrome::object_of_other_user_context);
    EXPECT_EQ(host.checker.counted(rules::foreign_object), 2U);
    EXPECT_EQ(dealloc_pd(pd, alice).status, CommandStatus::ok);
}

TEST_F(ObjectCommandsTest, DestroyUctxWithObjectsRefused) {
    const auto uid = create_uctx();
    const auto pd = alloc_pd(uid);
    EXPECT_EQ(destroy_uctx(uid).syndrome, Syndrome::user_context_busy);
    dealloc_pd(pd, uid);
    EXPECT_EQ(destroy_uctx(uid).status, CommandStatus::ok);
    EXPECT_EQ(host.execute<hwtab::cmd_alloc_pd>(0, uid).syndrome, Syndrome::unknown_user_context);
}

TEST_F(ObjectCommandsTest, CreateUctxUnsupportedCapRefused) {
    const CommandCompletion completion = host.execute<hwtab::cmd_create_uctx>(
        [](const hwtab::View<hwtab::create_uctx_in>& in) { in.set<"uctx.cap">(1); });
    EXPECT_EQ(completion.syndrome, Syndrome::exceeds_capability);
}

TEST_F(ObjectCommandsTest, CreatedUmemHasPages) {
    const CommandCompletion completion = create_umem(3, 3, 0x4000'0000, 4, 0x123);
    ASSERT_EQ(completion.status, CommandStatus::ok);
    const auto* umem = host.hca.objects().of<UserMemory>().find(
        static_cast<std::uint32_t>(completion.view<hwtab::create_umem_out>().get<"umem_id">()));
    ASSERT_NE(umem, nullptr);
    EXPECT_EQ(umem->log_page_size(), 16U);
    EXPECT_EQ(umem->pages(), (std::vector<std::uint64_t>{0x4000'0000, 0x4001'0000, 0x4002'0000}));
    EXPECT_EQ(umem->size(), (3U << 16U) - 0x123);
}

TEST_F(ObjectCommandsTest, CreateUmemInvalidRefused) {
    EXPECT_EQ(create_umem(0, 1, 0x4000'0000).syndrome, Syndrome::page_list_too_short);
    EXPECT_EQ(create_umem(3, 2, 0x4000'0000).syndrome, Syndrome::page_list_too_short);
    EXPECT_EQ(create_umem(~0ULL, 2, 0x4000'0000).syndrome, Syndrome::page_list_too_short);
    EXPECT_EQ(create_umem(1, 1, 0x4000'1000, 4).syndrome, Syndrome::bad_page_address);
    EXPECT_EQ(create_umem(1, 1, 0x4000'0000, 0, 4096).syndrome, Syndrome::field_out_of_range);
}

TEST_F(ObjectCommandsTest, GeneralObjectUnsupportedRefused) {
    EXPECT_EQ(host.execute<hwtab::cmd_create_general_object>().syndrome, Syndrome::not_supported);
}

/// Object types of ConnectX-7.
class GeneralObjectsTest : public ObjectCommandsTest {
protected:
    static constexpr std::uint64_t reserved_numbers = 0x2c;

    void SetUp() override {
        seven.start_queue();
        seven.hca.initialize_function();
    }
    CommandCompletion create(std::uint64_t type, std::uint64_t log_range = 0,
                             std::uint16_t uid = 0) {
        return seven.execute<hwtab::cmd_create_general_object>(
            [=](const hwtab::View<hwtab::general_obj_in_cmd_hdr>& in) {
                in.set<"obj_type">(type);
                in.nested<"op_param", hwtab::general_obj_create_param>().set<"log_obj_range">(
                    log_range);
            },
            0, uid);
    }
    CommandCompletion destroy(std::uint64_t type, std::uint64_t number, std::uint16_t uid = 0) {
        return seven.execute<hwtab::cmd_destroy_general_object>(
            [=](const hwtab::View<hwtab::general_obj_in_cmd_hdr>& in) {
                in.set<"obj_type">(type);
                in.set<"obj_id">(number);
            },
            0, uid);
    }
    static std::uint64_t number_in(const CommandCompletion& completion) {
        return completion.view<hwtab::general_obj_out_cmd_hdr>().get<"obj_id">();
    }
    static HcaSettings settings_of_seven() {
        HcaSettings settings = hca::testing::default_settings();
        settings.profile = find_profile("connectx7");
        return settings;
    }

    Host seven{CommandTable(object_commands()), settings_of_seven()};
};

TEST_F(GeneralObjectsTest, ReservedQpnRangeBehindQpNumbers) {
    const auto first = create(reserved_numbers, ReservedNumberRange::log_size);
    const auto second = create(reserved_numbers, ReservedNumberRange::log_size);
    ASSERT_EQ(first.status, CommandStatus::ok);
    EXPECT_GE(number_in(first), 1U << seven.hca.capabilities().maximum<"log_max_qp">());
    EXPECT_EQ(number_in(second) - number_in(first), 1U << ReservedNumberRange::log_size);
    EXPECT_EQ(destroy(reserved_numbers, number_in(first) + 1).syndrome, Syndrome::unknown_object)
        << "a range is known by its first number";
    EXPECT_EQ(destroy(reserved_numbers, number_in(first)).status, CommandStatus::ok);
    EXPECT_EQ(destroy(reserved_numbers, number_in(first)).syndrome, Syndrome::unknown_object);
}

TEST_F(GeneralObjectsTest, CapabilitiesReportReservedQpnRanges) {
    const auto page = seven.hca.capabilities().bytes(CapabilityPage::general_2, false);
    EXPECT_EQ(hwtab::read_bits(page.data(), 0x8b, 5), ReservedNumberRange::log_total);
    EXPECT_EQ(hwtab::read_bits(page.data(), 0x93, 5), ReservedNumberRange::log_size);
    EXPECT_EQ(hwtab::read_bits(page.data(), 0x9b, 5), ReservedNumberRange::log_size);
}

TEST_F(GeneralObjectsTest, ReservedQpnRangeOtherSizeRefused) {
    EXPECT_EQ(create(reserved_numbers, ReservedNumberRange::log_size - 1).syndrome,
              Syndrome::field_out_of_range);
    EXPECT_EQ(create(reserved_numbers, ReservedNumberRange::log_size + 1).syndrome,
              Syndrome::field_out_of_range);
}

TEST_F(GeneralObjectsTest, ForeignReservedQpnRangeRefused) {
    const auto context = seven.execute<hwtab::cmd_create_uctx>();
    const auto uid =
        static_cast<std::uint16_t>(context.view<hwtab::create_uctx_out>().get<"uid">());
    const auto range = create(reserved_numbers, ReservedNumberRange::log_size, uid);
    EXPECT_EQ(destroy(reserved_numbers, number_in(range)).syndrome,
              Syndrome::object_of_other_user_context);
    EXPECT_EQ(destroy(reserved_numbers, number_in(range), uid).status, CommandStatus::ok);
}

TEST_F(GeneralObjectsTest, UnknownObjectTypeRefused) {
    for (const std::uint64_t type : {0x0, 0x25, 0x3f, 0xffff})
        EXPECT_EQ(create(type).syndrome, Syndrome::not_supported) << type;
}

} // namespace
} // namespace cxemu::commands
