// SPDX-License-Identifier: GPL-2.0-or-later
//
// Bring-up, teardown and firmware pages, as a driver sees them.
#include "commands/table.hpp"
#include "hca/rules.hpp"
#include "hca/testing/host.hpp"
#include "tables/commands_objects.hpp"
#include "tables/commands_port.hpp"
#include "tables/events.hpp"
#include "tables/registers.hpp"

#include <gtest/gtest.h>

namespace cxemu::commands {
namespace {

using namespace hca;
using hca::testing::CommandCompletion;
using hca::testing::Host;
using hca::testing::make_input;

CommandTable table() {
    CommandTable table(device_commands());
    table.add(object_commands());
    return table;
}

constexpr std::uint16_t boot = 1;
constexpr std::uint16_t init = 2;
constexpr std::uint16_t regular = 3;
constexpr std::uint16_t cannot_give = 0;
constexpr std::uint16_t give = 1;
constexpr std::uint16_t take = 2;

class DeviceCommandsTest : public ::testing::Test {
protected:
    void SetUp() override { host.start_queue(); }

    std::int32_t wanted(std::uint16_t kind) {
        const CommandCompletion completion = host.execute<hwtab::cmd_query_pages>(kind);
        return static_cast<std::int32_t>(
            completion.view<hwtab::query_pages_out>().get<"num_pages">());
    }

    CommandCompletion give_pages(const std::vector<std::uint64_t>& pages) {
        return host.execute<hwtab::cmd_manage_pages>(
            [&](const hwtab::View<hwtab::manage_pages_in>& in) {
                in.set<"input_num_entries">(pages.size());
                for (std::size_t i = 0; i < pages.size(); ++i)
                    in.set_at<"pas">(i, pages[i]);
            },
            give, 0, pages.size() * 8);
    }

    /// Gives \p count newly allocated pages.
    CommandCompletion give_pages(std::int32_t count) {
        std::vector<std::uint64_t> pages;
        for (std::int32_t i = 0; i < count; ++i, next_page += 4096)
            pages.push_back(next_page);
        return give_pages(pages);
    }

    std::vector<std::uint64_t> take_pages(std::uint32_t max) {
        auto input = make_input(hwtab::cmd_manage_pages.opcode, 16, take);
        hwtab::View<hwtab::manage_pages_in>{std::span<std::byte>(input)}.set<"input_num_entries">(
            max);
        const CommandCompletion completion = host.execute(input, 16 + (max * 8));
        const auto out = completion.view<hwtab::manage_pages_out>();
        std::vector<std::uint64_t> pages;
        for (std::size_t i = 0; i < out.get<"output_num_entries">(); ++i)
            pages.push_back(out.get_at<"pas">(i));
        return pages;
    }

    void bring_up() {
        ASSERT_EQ(host.execute<hwtab::cmd_enable_hca>().status, CommandStatus::ok);
        ASSERT_EQ(give_pages(wanted(init)).status, CommandStatus::ok);
        ASSERT_EQ(host.execute<hwtab::cmd_init_hca>().status, CommandStatus::ok);
    }

    /// SET_HCA_CAP with the current capabilities and one changed field.
    CommandCompletion set_capability(std::string_view field, std::uint64_t value) {
        const CommandCompletion current = host.execute<hwtab::cmd_query_hca_cap>(1);
        return host.execute<hwtab::cmd_set_hca_cap>(
            [&](const hwtab::View<hwtab::set_hca_cap_in>& in) {
                const auto block = in.bytes<"capability">();
                std::ranges::copy(current.view<hwtab::query_hca_cap_out>().bytes<"capability">(),
                                  block.begin());
                const hwtab::Field* found = hwtab::cmd_hca_cap.find(field);
                hwtab::write_bits(block.data(), found->offset, found->width, value);
            });
    }

    Host host{table()};
    std::uint64_t next_page = Host::free_memory;
};

// --- Bring-up ------------------------------------------------------------------------------------

TEST_F(DeviceCommandsTest, BringUpRequiresInterfaceOrder) {
    EXPECT_EQ(host.execute<hwtab::cmd_init_hca>().status, CommandStatus::bad_system_state);
    EXPECT_EQ(host.execute<hwtab::cmd_enable_hca>().status, CommandStatus::ok);
    EXPECT_EQ(host.execute<hwtab::cmd_alloc_pd>().status, CommandStatus::bad_system_state);
    give_pages(wanted(init));
    EXPECT_EQ(host.execute<hwtab::cmd_init_hca>().status, CommandStatus::ok);
    EXPECT_EQ(host.execute<hwtab::cmd_alloc_pd>().status, CommandStatus::ok);
    EXPECT_EQ(host.execute<hwtab::cmd_init_hca>().status, CommandStatus::bad_system_state);
}

/// The mask is that of the trace of 2016 (hca/origin.hpp). ISSI 0 is in effect at first, and cannot
/// be set.
TEST_F(DeviceCommandsTest, IssiOneOffered) {
    host.execute<hwtab::cmd_enable_hca>();
    CommandCompletion completion = host.execute<hwtab::cmd_query_issi>();
    EXPECT_EQ(completion.view<hwtab::query_issi_out>().get<"supported_issi_dw0">(), 2U);
    const auto set = [this](std::uint64_t issi) {
        return host
            .execute<hwtab::cmd_set_issi>(
                [issi](const hwtab::View<hwtab::set_issi_in>& in) { in.set<"current_issi">(issi); })
            .status;
    };
    for (const std::uint64_t issi : {0, 2, 64, 0xffff})
        EXPECT_EQ(set(issi), CommandStatus::bad_parameter) << issi;
    EXPECT_EQ(set(1), CommandStatus::ok);
    completion = host.execute<hwtab::cmd_query_issi>();
    EXPECT_EQ(completion.view<hwtab::query_issi_out>().get<"current_issi">(), 1U);
}

TEST_F(DeviceCommandsTest, QueryHcaCapReturnsCurrentAndMaximum) {
    host.execute<hwtab::cmd_enable_hca>();
    const auto log_max_qp = [this](std::uint16_t op_mod) {
        const CommandCompletion completion = host.execute<hwtab::cmd_query_hca_cap>(op_mod);
        return completion.view<hwtab::query_hca_cap_out>()
            .get<"capability.cmd_hca_cap.log_max_qp">();
    };
    EXPECT_EQ(log_max_qp(0), 17U);
    EXPECT_EQ(log_max_qp(1), 14U);
    EXPECT_EQ(set_capability("log_max_qp", 16).status, CommandStatus::ok);
    EXPECT_EQ(log_max_qp(1), 16U);
    EXPECT_EQ(host.execute<hwtab::cmd_query_hca_cap>(0x15).status, CommandStatus::bad_parameter)
        << "an InfiniBand port has no RoCE page";
}

TEST_F(DeviceCommandsTest, SetHcaCapAfterInitRefused) {
    bring_up();
    EXPECT_EQ(host.execute<hwtab::cmd_set_hca_cap>().status, CommandStatus::bad_system_state);
}

TEST_F(DeviceCommandsTest, SetHcaCapInvalidValuesRefused) {
    host.execute<hwtab::cmd_enable_hca>();
    EXPECT_EQ(set_capability("log_max_qp", 18).syndrome, Syndrome::capability_above_maximum);
    EXPECT_EQ(host.execute<hwtab::cmd_set_hca_cap>(1).syndrome, Syndrome::unknown_op_mod);
    constexpr std::uint16_t device_memory = 0xf;
    EXPECT_EQ(host.execute<hwtab::cmd_set_hca_cap>(device_memory << 1U).syndrome,
              Syndrome::capability_read_only);
    const auto of_other = [](const auto& in) { in.template set<"other_function">(1); };
    EXPECT_EQ(host.execute<hwtab::cmd_set_hca_cap>(of_other).syndrome, Syndrome::wrong_function);
    EXPECT_EQ(host.execute<hwtab::cmd_query_hca_cap>(of_other).syndrome, Syndrome::wrong_function);
}

/// iPXE's golan ends the input after the last capability, where each page ends.
TEST_F(DeviceCommandsTest, SetHcaCapWithoutReservedEndSetsPage) {
    host.execute<hwtab::cmd_enable_hca>();
    const CommandCompletion before = host.execute<hwtab::cmd_query_hca_cap>(1);
    const auto page = before.view<hwtab::query_hca_cap_out>().bytes<"capability">();
    auto input = make_input(hwtab::cmd_set_hca_cap.opcode, 0x10 + 0x100);
    std::ranges::copy(page.first(0x100), input.begin() + 0x10);
    const hwtab::Field* field = hwtab::cmd_hca_cap.find("log_max_qp");
    hwtab::write_bits(input.data(), (0x10 * 8) + field->offset, field->width, 16);
    EXPECT_EQ(host.execute(input, 16).status, CommandStatus::ok);
    const CommandCompletion after = host.execute<hwtab::cmd_query_hca_cap>(1);
    const auto now = after.view<hwtab::query_hca_cap_out>().bytes<"capability">();
    EXPECT_TRUE(std::ranges::equal(std::span(input).subspan(0x10), now.first(0x100)));
    EXPECT_TRUE(std::ranges::all_of(now.subspan(0x100), [](auto b) { return b == std::byte{}; }));
    input.resize(0x10 + 0xfc);
    EXPECT_EQ(host.execute(input, 16).status, CommandStatus::bad_input_length);
}

TEST_F(DeviceCommandsTest, ReservedBitsOfFirstCapabilitiesReported) {
    host.execute<hwtab::cmd_enable_hca>();
    const CommandCompletion current = host.execute<hwtab::cmd_query_hca_cap>(1);
    auto input = make_input(hwtab::cmd_set_hca_cap.opcode, 0x10 + 0x100);
    const std::span page = std::span(input).subspan(0x10);
    std::ranges::copy(
        current.view<hwtab::query_hca_cap_out>().bytes<"capability">().first(page.size()),
        page.begin());
    EXPECT_EQ(host.execute(input, 16).status, CommandStatus::ok);
    EXPECT_EQ(host.checker.counted(rules::reserved_bits_set), 0U);
    const auto reserved =
        std::ranges::find_if(hwtab::cmd_hca_cap.fields, &hwtab::Field::is_reserved);
    ASSERT_LT(reserved->offset, page.size_bytes() * 8);
    hwtab::write_bits(page.data(), reserved->offset, 1, 1);
    host.execute(input, 16);
    EXPECT_EQ(host.checker.counted(rules::reserved_bits_set), 1U);
}

TEST_F(DeviceCommandsTest, SetHcaCapLimitsNumbers) {
    host.execute<hwtab::cmd_enable_hca>();
    ASSERT_EQ(set_capability("log_max_pd", 2).status, CommandStatus::ok);
    give_pages(wanted(init));
    ASSERT_EQ(host.execute<hwtab::cmd_init_hca>().status, CommandStatus::ok);
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(host.execute<hwtab::cmd_alloc_pd>().status, CommandStatus::ok);
    EXPECT_EQ(host.execute<hwtab::cmd_alloc_pd>().syndrome, Syndrome::no_number_left);
    host.hca.reset(pci::ResetCause::function_level);
    host.start_queue();
    bring_up();
    for (int i = 0; i < 4; ++i)
        EXPECT_EQ(host.execute<hwtab::cmd_alloc_pd>().status, CommandStatus::ok) << "after reset";
}

TEST_F(DeviceCommandsTest, ChecksumEnabledChecksSignature) {
    host.execute<hwtab::cmd_enable_hca>();
    ASSERT_EQ(set_capability("cmdif_checksum", 3).status, CommandStatus::ok);
    EXPECT_EQ(host.execute<hwtab::cmd_nop>().delivery, DeliveryStatus::signature_error);
}

TEST_F(DeviceCommandsTest, QueryAdapterReturnsPsid) {
    host.execute<hwtab::cmd_enable_hca>();
    const CommandCompletion completion = host.execute<hwtab::cmd_query_adapter>();
    const auto psid =
        completion.view<hwtab::query_adapter_out>().bytes<"query_adapter_struct.vsd_contd_psid">();
    EXPECT_EQ(psid[0], std::byte{'C'});
}

TEST_F(DeviceCommandsTest, HostEndiannessRegisterAccepted) {
    host.execute<hwtab::cmd_enable_hca>();
    auto input = make_input(hwtab::cmd_access_register.opcode, 32);
    const hwtab::View<hwtab::access_register_in> in{std::span<std::byte>(input)};
    in.set<"register_id">(hwtab::access_host_endianness.id);
    EXPECT_EQ(host.execute(input, 32).status, CommandStatus::ok);
    in.set<"register_id">(0x1234);
    EXPECT_EQ(host.execute(input, 32).syndrome, Syndrome::bad_register);
}

TEST_F(DeviceCommandsTest, OtherFunctionRefused) {
    const CommandCompletion completion = host.execute<hwtab::cmd_enable_hca>(
        [](const hwtab::View<hwtab::enable_hca_in>& in) { in.set<"function_id">(1); });
    EXPECT_EQ(completion.syndrome, Syndrome::wrong_function);
}

TEST_F(DeviceCommandsTest, UnknownOpModOrProfileRefused) {
    bring_up();
    EXPECT_EQ(host.execute<hwtab::cmd_query_pages>(4).syndrome, Syndrome::unknown_op_mod);
    EXPECT_EQ(host.execute<hwtab::cmd_manage_pages>(3).syndrome, Syndrome::unknown_op_mod);
    const auto unknown_profile = [](const hwtab::View<hwtab::teardown_hca_in>& in) {
        in.set<"profile">(3);
    };
    EXPECT_EQ(host.execute<hwtab::cmd_teardown_hca>(unknown_profile).syndrome,
              Syndrome::field_out_of_range);
    EXPECT_EQ(host.hca.state(), FunctionState::initialized);
}

// --- Teardown ------------------------------------------------------------------------------------

TEST_F(DeviceCommandsTest, TeardownRequiresInterfaceOrder) {
    bring_up();
    EXPECT_EQ(host.execute<hwtab::cmd_disable_hca>().status, CommandStatus::bad_system_state);
    EXPECT_EQ(host.execute<hwtab::cmd_teardown_hca>().status, CommandStatus::ok);
    EXPECT_EQ(take_pages(100).size(), 6U);
    EXPECT_EQ(host.execute<hwtab::cmd_disable_hca>().status, CommandStatus::ok);
    EXPECT_EQ(host.checker.counted(), 0U);
}

TEST_F(DeviceCommandsTest, TeardownReportsRemainingObjects) {
    bring_up();
    host.execute<hwtab::cmd_alloc_pd>();
    host.execute<hwtab::cmd_teardown_hca>();
    EXPECT_EQ(host.checker.counted(rules::objects_left_at_teardown), 1U);
    EXPECT_EQ(host.hca.objects().count(), 0U);
}

TEST_F(DeviceCommandsTest, ForcedTeardownAllowsRemainingObjects) {
    bring_up();
    host.execute<hwtab::cmd_alloc_pd>();
    const CommandCompletion completion = host.execute<hwtab::cmd_teardown_hca>(
        [](const hwtab::View<hwtab::teardown_hca_in>& in) { in.set<"profile">(1); });
    EXPECT_EQ(completion.status, CommandStatus::ok);
    EXPECT_EQ(host.checker.counted(), 0U);
    EXPECT_EQ(host.hca.objects().count(), 0U);
}

/// Old firmware has only one kind of teardown, and no command for the version of the driver.
TEST(OldFirmware, CommandsWithoutCapabilityRefused) {
    auto settings = hca::testing::default_settings();
    settings.overrides = {{"force_teardown", 0}, {"fast_teardown", 0}, {"driver_version", 0}};
    Host host{table(), settings};
    host.start_queue();
    host.hca.initialize_function();
    for (const std::uint64_t profile : {1, 2}) {
        const CommandCompletion completion = host.execute<hwtab::cmd_teardown_hca>(
            [=](const hwtab::View<hwtab::teardown_hca_in>& in) { in.set<"profile">(profile); });
        EXPECT_EQ(completion.syndrome, Syndrome::not_supported) << profile;
    }
    EXPECT_EQ(host.execute<hwtab::cmd_set_driver_version>().syndrome, Syndrome::not_supported);
    EXPECT_EQ(host.execute<hwtab::cmd_teardown_hca>().status, CommandStatus::ok);
}

TEST_F(DeviceCommandsTest, FastTeardownFinishesAtDisable) {
    bring_up();
    host.execute<hwtab::cmd_alloc_pd>();
    host.execute<hwtab::cmd_teardown_hca>(
        [](const hwtab::View<hwtab::teardown_hca_in>& in) { in.set<"profile">(2); });
    host.write32(0x14, (1U << 8U) | static_cast<std::uint32_t>(Host::queue));
    EXPECT_EQ(host.hca.objects().count(), 0U);
    EXPECT_EQ(host.hca.pages().held(), 0U);
    EXPECT_EQ((host.read32(0x14) >> 8U) & 7U, 1U);
    EXPECT_EQ(host.checker.counted(), 0U);
}

TEST_F(DeviceCommandsTest, DmaAfterTeardownReported) {
    bring_up();
    (void)host.hca.dma();
    EXPECT_EQ(host.checker.counted(rules::dma_outside_service), 0U);
    host.execute<hwtab::cmd_teardown_hca>();
    (void)host.hca.dma();
    EXPECT_EQ(host.checker.counted(rules::dma_outside_service), 1U);
}

TEST_F(DeviceCommandsTest, ResetDropsAllState) {
    bring_up();
    host.execute<hwtab::cmd_alloc_pd>();
    host.hca.reset(pci::ResetCause::bus);
    EXPECT_EQ(host.hca.objects().count(), 0U);
    EXPECT_EQ(host.hca.pages().held(), 0U);
    EXPECT_EQ(host.hca.state(), FunctionState::disabled);
    host.start_queue();
    bring_up();
}

TEST_F(DeviceCommandsTest, HundredsOfResetsAllowBringUp) {
    for (int i = 0; i < 300; ++i) {
        next_page = Host::free_memory;
        bring_up();
        host.execute<hwtab::cmd_alloc_pd>();
        host.hca.reset(i % 2 == 0 ? pci::ResetCause::function_level : pci::ResetCause::client_gone);
        host.start_queue();
    }
    EXPECT_EQ(host.hca.objects().count(), 0U);
    EXPECT_EQ(host.checker.counted(), 0U);
}

// --- Firmware pages ------------------------------------------------------------------------------

TEST_F(DeviceCommandsTest, QueryPagesReturnsBootAndInitPages) {
    host.execute<hwtab::cmd_enable_hca>();
    EXPECT_EQ(wanted(boot), 2);
    give_pages(2);
    EXPECT_EQ(wanted(boot), 0);
    EXPECT_EQ(wanted(init), 4);
    EXPECT_EQ(host.execute<hwtab::cmd_init_hca>().syndrome, Syndrome::not_enough_pages);
    give_pages(4);
    EXPECT_EQ(wanted(init), 0);
}

TEST_F(DeviceCommandsTest, GivenPageIsWritten) {
    host.execute<hwtab::cmd_enable_hca>();
    give_pages(1);
    const auto page = host.at(Host::free_memory).first(4096);
    EXPECT_FALSE(std::ranges::all_of(page, [](std::byte byte) { return byte == std::byte{0}; }));
}

/// An IOMMU can map memory at I/O address 0, as it does for processes that drive a device by vfio.
TEST_F(DeviceCommandsTest, PageAtAddressZeroAccepted) {
    host.execute<hwtab::cmd_enable_hca>();
    EXPECT_EQ(give_pages(std::vector<std::uint64_t>{0}).syndrome, Syndrome::bad_page_address)
        << "nothing is mapped there";
    const vfio_user::testing::GuestMemory memory(4096);
    memory.map_into(host.dma, 0);
    EXPECT_EQ(give_pages(std::vector<std::uint64_t>{0}).status, CommandStatus::ok);
}

TEST_F(DeviceCommandsTest, InitWithoutOwnerAccepted) {
    host.execute<hwtab::cmd_enable_hca>();
    give_pages(wanted(init));
    // opcode, op_mod and sw_vhca_id: init_hca_in of mlx5_ifc.h up to sw_owner_id
    EXPECT_EQ(host.execute(make_input(hwtab::cmd_init_hca.opcode, 0x10), 0x10).status,
              CommandStatus::ok);
    EXPECT_EQ(host.checker.counted(), 0U);
}

TEST_F(DeviceCommandsTest, PageChangedByHostReported) {
    host.execute<hwtab::cmd_enable_hca>();
    give_pages(2);
    EXPECT_EQ(host.hca.pages().verify(), 0U);
    host.at(Host::free_memory)[4095] ^= std::byte{1};
    EXPECT_EQ(host.hca.pages().verify(), 1U);
    EXPECT_EQ(take_pages(10).size(), 2U);
    EXPECT_EQ(host.checker.counted(rules::page_changed_by_host), 2U);
}

TEST_F(DeviceCommandsTest, GivenBadPagesRefused) {
    host.execute<hwtab::cmd_enable_hca>();
    const std::uint64_t good = Host::free_memory;
    EXPECT_EQ(give_pages(std::vector<std::uint64_t>{good + 8}).syndrome,
              Syndrome::bad_page_address);
    EXPECT_EQ(give_pages(std::vector<std::uint64_t>{0xdead'0000'0000}).syndrome,
              Syndrome::bad_page_address);
    EXPECT_EQ(give_pages(std::vector<std::uint64_t>{good, good}).syndrome,
              Syndrome::page_given_twice);
    EXPECT_EQ(host.hca.pages().held(), 0U);
    EXPECT_EQ(give_pages(std::vector<std::uint64_t>{good}).status, CommandStatus::ok);
    EXPECT_EQ(give_pages(std::vector<std::uint64_t>{good}).syndrome, Syndrome::page_given_twice);
}

TEST_F(DeviceCommandsTest, PageListShorterThanCountRefused) {
    host.execute<hwtab::cmd_enable_hca>();
    const CommandCompletion completion = host.execute<hwtab::cmd_manage_pages>(
        [](const hwtab::View<hwtab::manage_pages_in>& in) { in.set<"input_num_entries">(2); }, give,
        0, 8);
    EXPECT_EQ(completion.status, CommandStatus::bad_input_length);
}

TEST_F(DeviceCommandsTest, PageRequestRaisesEvent) {
    bring_up();
    EXPECT_FALSE(host.hca.pages().request(3)) << "no EQ has subscribed";
    host.events.subscriptions.insert(EventType::page_request);
    ASSERT_TRUE(host.hca.pages().request(3));
    ASSERT_EQ(host.events.events.size(), 1U);
    const hwtab::ConstView<hwtab::pages_req_event> event{host.events.events[0].data};
    EXPECT_EQ(event.get<"num_pages">(), 3U);
    EXPECT_EQ(wanted(regular), 3);
    EXPECT_EQ(give_pages(3).status, CommandStatus::ok);
    EXPECT_EQ(wanted(regular), 0);
    EXPECT_EQ(host.checker.counted(), 0U);
}

TEST_F(DeviceCommandsTest, UnrequestedPagesReported) {
    bring_up();
    give_pages(1);
    EXPECT_EQ(host.checker.counted(rules::pages_not_asked_for), 1U);
}

TEST_F(DeviceCommandsTest, CannotGiveEndsPageRequest) {
    bring_up();
    host.events.subscriptions.insert(EventType::page_request);
    host.hca.pages().request(3);
    EXPECT_EQ(host.execute<hwtab::cmd_manage_pages>(cannot_give).status, CommandStatus::ok);
    EXPECT_EQ(wanted(regular), 0);
}

TEST_F(DeviceCommandsTest, RunningFunctionReturnsOnlyOfferedPages) {
    bring_up();
    host.events.subscriptions.insert(EventType::page_request);
    EXPECT_TRUE(take_pages(10).empty());
    host.hca.pages().request(-2);
    EXPECT_EQ(wanted(regular), -2);
    EXPECT_EQ(take_pages(10).size(), 2U);
    EXPECT_TRUE(take_pages(10).empty());
}

TEST_F(DeviceCommandsTest, PageRequestAfterCannotGiveWorks) {
    bring_up();
    host.events.subscriptions.insert(EventType::page_request);
    host.hca.pages().request(3);
    give_pages(3);
    host.hca.pages().request(2);
    host.execute<hwtab::cmd_manage_pages>(cannot_give);
    EXPECT_EQ(wanted(regular), 0);
    host.hca.pages().request(1);
    EXPECT_EQ(wanted(regular), 1);
    EXPECT_EQ(give_pages(1).status, CommandStatus::ok);
    EXPECT_EQ(host.checker.counted(), 0U);
}

TEST_F(DeviceCommandsTest, ReturnedPagesNotRequestedAgain) {
    bring_up();
    host.events.subscriptions.insert(EventType::page_request);
    host.hca.pages().request(-2);
    EXPECT_EQ(take_pages(10).size(), 2U);
    EXPECT_EQ(wanted(regular), 0);
}

TEST_F(DeviceCommandsTest, OfferedPagesLimitedToHeld) {
    bring_up();
    host.events.subscriptions.insert(EventType::page_request);
    host.hca.pages().request(-4);
    host.hca.pages().request(-4);
    EXPECT_EQ(wanted(regular), -6);
    EXPECT_EQ(take_pages(10).size(), 6U);
    EXPECT_EQ(wanted(regular), 0);
    const std::size_t events = host.events.events.size();
    host.hca.pages().request(-1);
    EXPECT_EQ(host.events.events.size(), events) << "there is nothing to offer";
}

TEST_F(DeviceCommandsTest, TeardownDropsPageRequests) {
    bring_up();
    host.events.subscriptions.insert(EventType::page_request);
    host.hca.pages().request(3);
    host.execute<hwtab::cmd_teardown_hca>();
    EXPECT_EQ(take_pages(10).size(), 6U);
    EXPECT_EQ(wanted(init), 6);
    EXPECT_EQ(wanted(regular), 6);
}

TEST_F(DeviceCommandsTest, RegularPagesOfSettingsRequested) {
    HcaSettings settings = hca::testing::default_settings();
    settings.pages.regular = 5;
    Host other(table(), settings);
    other.start_queue();
    other.execute<hwtab::cmd_enable_hca>();
    const CommandCompletion completion = other.execute<hwtab::cmd_query_pages>(regular);
    EXPECT_EQ(completion.view<hwtab::query_pages_out>().get<"num_pages">(), 11U)
        << "those for boot and init are missing, too";
}

TEST_F(DeviceCommandsTest, ReturnedPagesLimitedByOutput) {
    bring_up();
    host.execute<hwtab::cmd_teardown_hca>();
    EXPECT_EQ(take_pages(4).size(), 4U);
    EXPECT_EQ(take_pages(4).size(), 2U);
    EXPECT_EQ(take_pages(4).size(), 0U);
}

TEST_F(DeviceCommandsTest, DisableReportsRemainingPages) {
    bring_up();
    host.execute<hwtab::cmd_teardown_hca>();
    host.execute<hwtab::cmd_disable_hca>();
    EXPECT_EQ(host.checker.counted(rules::pages_left_at_disable), 1U);
}

} // namespace
} // namespace cxemu::commands
