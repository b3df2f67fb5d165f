// SPDX-License-Identifier: GPL-2.0-or-later
#include "hca/command_queue.hpp"
#include "hca/rules.hpp"
#include "hca/testing/host.hpp"
#include "tables/commands_objects.hpp"
#include "tables/commands_queue_pairs.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <nlohmann/json.hpp>

namespace cxemu::hca {
namespace {

using testing::CommandCompletion;
using testing::Host;
using testing::make_input;

/// Arguments seen by the handlers below, and their results.
struct Seen {
    std::vector<std::byte> input;
    std::vector<std::shared_ptr<DeferredCommand>> deferred;
    int calls = 0;
    std::uint16_t uid = 0;
    bool output_is_false = false;
};
Seen seen;

CommandResult nop(CommandContext& context) {
    ++seen.calls;
    seen.input.assign(context.input.begin(), context.input.end());
    seen.uid = context.uid;
    seen.output_is_false = context.output_is_false;
    return CommandResult::ok();
}

/// Fills the output after the header with a count.
CommandResult count_bytes(CommandContext& context) {
    nop(context);
    std::uint8_t value = 0;
    for (std::byte& byte : context.output.subspan(16))
        byte = std::byte{++value};
    return CommandResult::ok();
}

CommandResult later(CommandContext& context) {
    seen.deferred.push_back(context.defer());
    return CommandResult::later();
}

constexpr std::array commands{
    CommandEntry{&hwtab::cmd_nop, nop, CommandScope::always},
    CommandEntry{&hwtab::cmd_manage_pages, count_bytes, CommandScope::always},
    CommandEntry{&hwtab::cmd_query_adapter, later, CommandScope::always},
    CommandEntry{&hwtab::cmd_alloc_pd, nop, CommandScope::initialized},
    CommandEntry{&hwtab::cmd_set_driver_version, nop, CommandScope::always},
    CommandEntry{&hwtab::cmd_rst2init_qp, nop, CommandScope::always},
};

class CommandQueueTest : public ::testing::Test {
protected:
    void SetUp() override {
        seen = {};
        host.start_queue();
    }
    void TearDown() override { seen = {}; }

    /// Sends a command of \p size bytes, after \p corrupt has changed what the driver wrote.
    CommandCompletion send_corrupted(std::size_t size, std::uint32_t output_length,
                                     auto corrupt_entry) {
        host.submit(0, make_input(hwtab::cmd_manage_pages.opcode, size), output_length);
        corrupt_entry();
        host.ring(1);
        return host.completion(0);
    }

    Host host{CommandTable(commands)};
};

TEST_F(CommandQueueTest, InlineCommandExecuted) {
    const CommandCompletion completion = host.execute<hwtab::cmd_nop>();
    EXPECT_TRUE(completion.completed);
    EXPECT_EQ(completion.delivery, DeliveryStatus::ok);
    EXPECT_EQ(completion.status, CommandStatus::ok);
    EXPECT_EQ(seen.calls, 1);
}

TEST_F(CommandQueueTest, InputMailboxesJoined) {
    auto input = make_input(hwtab::cmd_manage_pages.opcode, 16 + (100 * mailbox_data_size) + 40);
    for (std::size_t i = 16; i < input.size(); ++i)
        input[i] = static_cast<std::byte>(i % 251);
    const CommandCompletion completion = host.execute(input, 16);
    EXPECT_EQ(completion.status, CommandStatus::ok);
    EXPECT_EQ(seen.input, input);
}

TEST_F(CommandQueueTest, OutputWrittenToEntryAndMailboxes) {
    const CommandCompletion completion =
        host.execute(make_input(hwtab::cmd_manage_pages.opcode, 16), 16 + 512 + 88);
    ASSERT_EQ(completion.output.size(), 16U + 512 + 88);
    EXPECT_EQ(completion.output[16], std::byte{1});
    EXPECT_EQ(completion.output[16 + 512], std::byte{1}) << "512 bytes later the count is the same";
    EXPECT_EQ(completion.output.back(), static_cast<std::byte>((512 + 88) % 256));
    EXPECT_EQ(host.mailbox(0, Host::output_mailboxes).get<"token">(), Host::token);
}

TEST_F(CommandQueueTest, OutputShorterThanHeaderAccepted) {
    const CommandCompletion completion = host.execute(make_input(hwtab::cmd_nop.opcode, 16), 12);
    EXPECT_EQ(completion.delivery, DeliveryStatus::ok);
    EXPECT_EQ(completion.status, CommandStatus::ok);
}

TEST_F(CommandQueueTest, UnknownOpcodeRefused) {
    const CommandCompletion completion = host.execute(make_input(0x7ff, 16), 16);
    EXPECT_EQ(completion.status, CommandStatus::bad_operation);
    EXPECT_EQ(completion.syndrome, Syndrome::unknown_opcode);
    EXPECT_EQ(host.checker.counted(rules::unknown_opcode), 1U);
}

TEST_F(CommandQueueTest, CommandBeforeRequiredStateRefused) {
    const CommandCompletion completion = host.execute<hwtab::cmd_alloc_pd>();
    EXPECT_EQ(completion.status, CommandStatus::bad_system_state);
    EXPECT_EQ(host.checker.counted(rules::command_in_wrong_state), 1U);
    EXPECT_EQ(seen.calls, 0);
}

TEST_F(CommandQueueTest, CommandOfUnknownUserContextRefused) {
    host.hca.set_state(FunctionState::initialized);
    const CommandCompletion completion = host.execute<hwtab::cmd_alloc_pd>(0, 7);
    EXPECT_EQ(completion.status, CommandStatus::bad_resource);
    EXPECT_EQ(completion.syndrome, Syndrome::unknown_user_context);
}

TEST_F(CommandQueueTest, SlotsCompleteOutOfOrder) {
    host.hca.set_state(FunctionState::initialized);
    host.submit(0, make_input(hwtab::cmd_query_adapter.opcode, 16), 272);
    host.submit(1, make_input(hwtab::cmd_query_adapter.opcode, 16), 272);
    host.submit(2, make_input(hwtab::cmd_nop.opcode, 16), 16);
    host.ring(0b111);
    EXPECT_FALSE(host.completion(0).completed);
    EXPECT_FALSE(host.completion(1).completed);
    EXPECT_TRUE(host.completion(2).completed);
    EXPECT_EQ(host.hca.command_queue().outstanding(), 2U);

    ASSERT_EQ(seen.deferred.size(), 2U);
    seen.deferred[1]->output()[16] = std::byte{0x42};
    seen.deferred[1]->complete(CommandResult::ok());
    EXPECT_FALSE(host.completion(0).completed);
    EXPECT_TRUE(host.completion(1).completed);
    EXPECT_EQ(host.completion(1).output[16], std::byte{0x42});

    seen.deferred[0]->complete(
        CommandResult::fail(CommandStatus::internal_error, Syndrome::dma_failed));
    EXPECT_EQ(host.completion(0).status, CommandStatus::internal_error);
}

TEST_F(CommandQueueTest, DeferredCommandCompletesOnce) {
    host.submit(0, make_input(hwtab::cmd_query_adapter.opcode, 16), 272);
    host.ring(1);
    seen.deferred[0]->complete(CommandResult::ok());
    host.submit(0, make_input(hwtab::cmd_query_adapter.opcode, 16), 272);
    seen.deferred[0]->complete(CommandResult::ok());
    EXPECT_FALSE(host.completion(0).completed) << "the slot holds another command by now";
}

TEST_F(CommandQueueTest, ResetDropsDeferredCommand) {
    host.submit(0, make_input(hwtab::cmd_query_adapter.opcode, 16), 272);
    host.ring(1);
    host.hca.reset(pci::ResetCause::function_level);
    EXPECT_TRUE(seen.deferred[0]->output().empty());
    seen.deferred[0]->complete(CommandResult::ok());
    EXPECT_FALSE(host.completion(0).completed);
}

TEST_F(CommandQueueTest, SeveralSlotsReportedInOneEvent) {
    host.events.subscriptions.insert(EventType::command_completion);
    host.submit(3, make_input(hwtab::cmd_nop.opcode, 16), 16);
    host.submit(31, make_input(hwtab::cmd_nop.opcode, 16), 16);
    host.ring((1U << 3U) | (1U << 31U));
    ASSERT_EQ(host.events.events.size(), 1U);
    EXPECT_EQ(load_be<std::uint32_t>(std::span<const std::byte>(host.events.events[0].data)),
              (1U << 3U) | (1U << 31U));
}

TEST_F(CommandQueueTest, PolledCommandPostsNoEvent) {
    host.submit(0, make_input(hwtab::cmd_query_adapter.opcode, 16), 272);
    host.ring(1);
    // An EQ is created while the command runs, as CREATE_EQ does.
    host.events.subscriptions.insert(EventType::command_completion);
    seen.deferred[0]->complete(CommandResult::ok());
    EXPECT_TRUE(host.completion(0).completed);
    EXPECT_TRUE(host.events.events.empty());
}

TEST_F(CommandQueueTest, DoorbellWithoutQueueIgnored) {
    host.hca.reset(pci::ResetCause::function_level);
    host.submit(0, make_input(hwtab::cmd_nop.opcode, 16), 16);
    host.ring(1);
    EXPECT_FALSE(host.completion(0).completed);
    EXPECT_EQ(host.hca.command_queue().statistics().doorbells_ignored, 1U);
}

TEST_F(CommandQueueTest, EntryOwnedBySoftwareIgnored) {
    host.submit(0, make_input(hwtab::cmd_nop.opcode, 16), 16);
    host.entry(0).set<"ownership">(0);
    host.ring(1);
    EXPECT_EQ(seen.calls, 0);
    EXPECT_EQ(host.checker.counted(rules::doorbell_without_ownership), 1U);
}

TEST_F(CommandQueueTest, DoorbellOfBusySlotReported) {
    host.submit(0, make_input(hwtab::cmd_query_adapter.opcode, 16), 272);
    host.ring(1);
    host.ring(1);
    EXPECT_EQ(host.checker.counted(rules::doorbell_of_busy_slot), 1U);
    EXPECT_EQ(seen.deferred.size(), 1U);
}

TEST_F(CommandQueueTest, ZeroEntryDropped) {
    std::ranges::fill(host.entry(0).memory().first(64), std::byte{0});
    host.ring(1);
    EXPECT_EQ(seen.calls, 0);
    EXPECT_EQ(host.hca.command_queue().statistics().delivery_errors, 1U);
}

// --- Delivery status -----------------------------------------------------------------------------

TEST_F(CommandQueueTest, UnknownTransportRefused) {
    const CommandCompletion completion =
        send_corrupted(16, 16, [this] { host.entry(0).set<"type">(3); });
    EXPECT_TRUE(completion.completed);
    EXPECT_EQ(completion.delivery, DeliveryStatus::bad_command_type);
    EXPECT_EQ(host.checker.counted(rules::command_delivery), 1U);
    EXPECT_EQ(seen.calls, 0);
}

TEST_F(CommandQueueTest, EntryReservedBitsRefused) {
    const CommandCompletion completion =
        send_corrupted(16, 16, [this] { host.entry(0).memory()[1] = std::byte{1}; });
    EXPECT_EQ(completion.delivery, DeliveryStatus::reserved_not_zero);
}

TEST_F(CommandQueueTest, InputMailboxTokenMismatchRefused) {
    const CommandCompletion completion =
        send_corrupted(16 + 1024, 16, [this] { host.mailbox(0, 1).set<"token">(1); });
    EXPECT_EQ(completion.delivery, DeliveryStatus::token_error);
}

TEST_F(CommandQueueTest, OutputMailboxTokenMismatchRefused) {
    const CommandCompletion completion = send_corrupted(
        16, 16 + 1024, [this] { host.mailbox(0, Host::output_mailboxes + 1).set<"token">(1); });
    EXPECT_EQ(completion.delivery, DeliveryStatus::token_error);
    EXPECT_EQ(seen.calls, 0) << "the command has run although its output has no place";
}

TEST_F(CommandQueueTest, CircularMailboxChainRefused) {
    const CommandCompletion completion = send_corrupted(16 + (4 * 512), 16, [this] {
        const std::uint64_t first = Host::mailbox_address(0, 0);
        host.mailbox(0, 1).set<"next_pointer_31_10">(first >> 10U);
    });
    EXPECT_EQ(completion.delivery, DeliveryStatus::bad_block_number);
}

TEST_F(CommandQueueTest, MisalignedPointersRefused) {
    const CommandCompletion input =
        send_corrupted(16 + 512, 16, [this] { host.set_input_pointer(0, 0); });
    EXPECT_EQ(input.delivery, DeliveryStatus::bad_input_pointer);
    const CommandCompletion output =
        send_corrupted(16, 16 + 512, [this] { host.set_output_pointer(0, 0); });
    EXPECT_EQ(output.delivery, DeliveryStatus::bad_output_pointer);
}

TEST_F(CommandQueueTest, LengthBeyondChainRefused) {
    const CommandCompletion input =
        send_corrupted(16 + 512, 16, [this] { host.entry(0).set<"input_length">(16 + 513); });
    EXPECT_EQ(input.delivery, DeliveryStatus::input_length_error);
    const CommandCompletion output =
        send_corrupted(16, 16 + 512, [this] { host.entry(0).set<"output_length">(16 + 513); });
    EXPECT_EQ(output.delivery, DeliveryStatus::output_length_error);
}

TEST_F(CommandQueueTest, LengthBeyondLimitRefused) {
    EXPECT_EQ(send_corrupted(16, 16, [this] { host.entry(0).set<"input_length">(15); }).delivery,
              DeliveryStatus::input_length_error);
    EXPECT_EQ(
        send_corrupted(16, 16, [this] { host.entry(0).set<"input_length">(0xffff'ffff); }).delivery,
        DeliveryStatus::input_length_error);
    EXPECT_EQ(send_corrupted(16, 16, [this] { host.entry(0).set<"output_length">(0xffff'ffff); })
                  .delivery,
              DeliveryStatus::output_length_error);
}

TEST_F(CommandQueueTest, UnmappedMailboxReported) {
    const CommandCompletion completion =
        send_corrupted(16 + 512, 16, [this] { host.set_input_pointer(0, 0xdead'0000'0000); });
    EXPECT_EQ(completion.delivery, DeliveryStatus::internal_error);
    EXPECT_EQ(host.dma.statistics().master_aborts, 1U);
}

TEST_F(CommandQueueTest, UnreadableQueueFatal) {
    ASSERT_TRUE(host.dma.unmap(Host::base, Host::memory_size));
    host.ring(1);
    EXPECT_TRUE(host.hca.health().fatal());
    EXPECT_EQ(host.read32(0x23c) >> 16U & 0xffU, 0x0aU);
    EXPECT_FALSE(host.hca.command_queue().running());
}

TEST_F(CommandQueueTest, UnwritableOutputIsCounted) {
    host.submit(0, make_input(hwtab::cmd_query_adapter.opcode, 16), 272);
    host.ring(1);
    ASSERT_TRUE(host.dma.unmap(Host::base, Host::memory_size));
    seen.deferred[0]->complete(CommandResult::ok());
    EXPECT_EQ(host.hca.command_queue().statistics().outputs_lost, 1U);
}

// --- Signatures ----------------------------------------------------------------------------------

class SignedCommandQueueTest : public ::testing::Test {
protected:
    static HcaSettings settings() {
        HcaSettings settings = testing::default_settings();
        settings.command_checksums = true;
        return settings;
    }
    void SetUp() override {
        seen = {};
        host.start_queue();
    }

    void sign_entry() {
        host.entry(0).set<"signature">(0);
        host.entry(0).set<"signature">(0xffU ^ xor_of(host.entry(0).memory().first(64)));
    }
    void sign_mailbox(std::size_t number) {
        const auto box = host.mailbox(0, number);
        const auto bytes = box.memory().first(hwtab::cmd_if_box.size);
        box.set<"ctrl_signature">(0);
        box.set<"signature">(0);
        box.set<"ctrl_signature">(0xffU ^ xor_of(bytes.subspan(512, 63)));
        box.set<"signature">(0xffU ^ xor_of(bytes));
    }

    Host host{CommandTable(commands), settings()};
};

TEST_F(SignedCommandQueueTest, SignedCommandGetsSignedOutput) {
    host.submit(0, make_input(hwtab::cmd_manage_pages.opcode, 16 + 600), 16 + 600);
    sign_mailbox(0);
    sign_mailbox(1);
    sign_entry();
    host.ring(1);
    const CommandCompletion completion = host.completion(0);
    EXPECT_EQ(completion.delivery, DeliveryStatus::ok);
    EXPECT_EQ(xor_of(host.entry(0).memory().first(64)), 0xff);
    for (const std::size_t number : {0U, 1U}) {
        const auto bytes =
            host.mailbox(0, Host::output_mailboxes + number).memory().first(hwtab::cmd_if_box.size);
        EXPECT_EQ(xor_of(bytes), 0xff) << "mailbox " << number;
        EXPECT_EQ(xor_of(bytes.subspan(512, 63)), 0xff) << "mailbox " << number;
    }
}

TEST_F(SignedCommandQueueTest, UnsignedEntryRefused) {
    host.submit(0, make_input(hwtab::cmd_nop.opcode, 16), 16);
    host.ring(1);
    EXPECT_EQ(host.completion(0).delivery, DeliveryStatus::signature_error);
    EXPECT_EQ(xor_of(host.entry(0).memory().first(64)), 0xff)
        << "the output is signed all the same";
}

TEST_F(SignedCommandQueueTest, DamagedMailboxRefused) {
    host.submit(0, make_input(hwtab::cmd_manage_pages.opcode, 16 + 512), 16);
    sign_mailbox(0);
    sign_entry();
    host.mailbox(0, 0).memory()[5] ^= std::byte{0x10};
    host.ring(1);
    EXPECT_EQ(host.completion(0).delivery, DeliveryStatus::signature_error);
}

// --- Checks against the tables -------------------------------------------------------------------

TEST_F(CommandQueueTest, InputReservedBitsReported) {
    auto input = make_input(hwtab::cmd_nop.opcode, 16);
    input[12] = std::byte{0x80};
    EXPECT_EQ(host.execute(input, 16).status, CommandStatus::ok)
        << "the device itself doesn't mind";
    EXPECT_EQ(host.checker.counted(rules::reserved_bits_set), 1U);
}

TEST_F(CommandQueueTest, UserContextNotReportedAsReservedBits) {
    host.hca.set_state(FunctionState::initialized);
    const auto uid = (*host.hca.objects().of<UserContext>().create(0, 0U))->number();
    host.execute<hwtab::cmd_alloc_pd>(0, static_cast<std::uint16_t>(uid));
    EXPECT_EQ(seen.calls, 1);
    host.execute<hwtab::cmd_nop>(0, static_cast<std::uint16_t>(uid));
    EXPECT_EQ(host.checker.counted(), 0U);
}

/// Public drivers create EQs and counter sets with this uid, which is not the number of a user
/// context.
TEST_F(CommandQueueTest, SharedUserContextKept) {
    host.hca.set_state(FunctionState::initialized);
    EXPECT_EQ(host.execute<hwtab::cmd_alloc_pd>(0, shared_uid).status, CommandStatus::ok);
    EXPECT_EQ(seen.uid, shared_uid);
    EXPECT_EQ(host.execute<hwtab::cmd_alloc_pd>(0, shared_uid - 1).status,
              CommandStatus::bad_resource);
}

TEST_F(CommandQueueTest, InputShorterThanTableRefused) {
    host.hca.set_state(FunctionState::initialized);
    const CommandCompletion completion =
        host.execute(make_input(hwtab::cmd_set_driver_version.opcode, 16), 16);
    EXPECT_EQ(completion.status, CommandStatus::bad_input_length);
    EXPECT_EQ(completion.syndrome, Syndrome::input_too_short);
    EXPECT_EQ(host.checker.counted(rules::input_too_short), 1U);
    EXPECT_EQ(seen.calls, 0);
}

/// iPXE's golan ends the input of a transition after the context, at 0x100.
TEST_F(CommandQueueTest, TransitionWithoutReservedEndCompleted) {
    auto input = make_input(hwtab::cmd_rst2init_qp.opcode, 0x100);
    input.back() = std::byte{0x11};
    EXPECT_EQ(host.execute(input, 16).status, CommandStatus::ok);
    input.resize(hwtab::rst2init_qp_in.size);
    EXPECT_EQ(seen.input, input);
    EXPECT_EQ(host.execute(make_input(hwtab::cmd_rst2init_qp.opcode, 0xfc), 16).status,
              CommandStatus::bad_input_length);
    EXPECT_EQ(seen.calls, 1);
    EXPECT_EQ(host.checker.counted(rules::input_too_short), 1U);
}

TEST_F(CommandQueueTest, CommandsAndFailuresCountedByOpcode) {
    host.execute<hwtab::cmd_nop>();
    host.execute<hwtab::cmd_nop>();
    host.execute<hwtab::cmd_alloc_pd>(); // not in this state
    const auto counts = host.hca.statistics()["commands"];
    EXPECT_EQ(counts["0x80d nop"]["count"], 2);
    EXPECT_EQ(counts["0x80d nop"]["failed"], 0);
    EXPECT_EQ(counts["0x800 alloc_pd"]["failed"], 1);
}

TEST_F(CommandQueueTest, InputLongerThanTableReported) {
    host.execute(make_input(hwtab::cmd_nop.opcode, 32), 16);
    EXPECT_EQ(host.checker.counted(rules::input_longer_than_table), 1U);
}

// --- Fault plans ---------------------------------------------------------------------------------

class FaultyCommandQueueTest : public CommandQueueTest {
protected:
    /// One command, with the fault of \p line.
    CommandCompletion execute_faulted(std::string_view line) {
        const auto added = host.faults.add(line);
        EXPECT_TRUE(added) << added.error();
        return host.execute(make_input(hwtab::cmd_manage_pages.opcode, 16), 16 + 512);
    }
};

TEST_F(FaultyCommandQueueTest, StatusFaultFailsUnexecutedCommand) {
    const CommandCompletion completion =
        execute_faulted("command MANAGE_PAGES status=NO_RESOURCES syndrome=0x77");
    EXPECT_EQ(completion.status, CommandStatus::no_resources);
    EXPECT_EQ(completion.syndrome, static_cast<Syndrome>(0x77));
    EXPECT_EQ(completion.output[16], std::byte{0});
    EXPECT_EQ(seen.calls, 0);
}

TEST_F(FaultyCommandQueueTest, HangFaultLeavesOtherSlotsRunning) {
    EXPECT_FALSE(execute_faulted("command MANAGE_PAGES hang").completed);
    EXPECT_EQ(seen.calls, 0);
    EXPECT_EQ(host.hca.command_queue().outstanding(), 1U);
    host.submit(1, make_input(hwtab::cmd_nop.opcode, 16), 16);
    host.ring(0b10);
    EXPECT_TRUE(host.completion(1).completed);
}

TEST_F(FaultyCommandQueueTest, DropCompletionFaultExecutesCommand) {
    EXPECT_FALSE(execute_faulted("command MANAGE_PAGES drop-completion").completed);
    EXPECT_EQ(seen.calls, 1);
}

TEST_F(FaultyCommandQueueTest, DroppedCompletionDeliveredWhenAskedFor) {
    execute_faulted("command * drop-completion times=1");
    host.submit(1, make_input(hwtab::cmd_nop.opcode, 16), 16);
    host.ring(0b10);
    EXPECT_EQ(host.hca.command_queue().complete_dropped(), 1U);
    const CommandCompletion completion = host.completion(0);
    EXPECT_TRUE(completion.completed);
    EXPECT_EQ(completion.output[16], std::byte{1});
    EXPECT_EQ(host.hca.command_queue().outstanding(), 0U);
    EXPECT_EQ(host.hca.command_queue().complete_dropped(), 0U);
}

TEST_F(FaultyCommandQueueTest, HangFaultNotCompletedWithDroppedCompletions) {
    execute_faulted("command * hang");
    EXPECT_EQ(host.hca.command_queue().complete_dropped(), 0U);
    EXPECT_FALSE(host.completion(0).completed);
}

TEST_F(FaultyCommandQueueTest, DelayFaultDelaysCompletion) {
    EXPECT_FALSE(execute_faulted("command * delay=500ms").completed);
    host.advance(std::chrono::milliseconds(499));
    EXPECT_FALSE(host.completion(0).completed);
    host.advance(std::chrono::milliseconds(1));
    const CommandCompletion completion = host.completion(0);
    EXPECT_TRUE(completion.completed);
    EXPECT_EQ(completion.output[16], std::byte{1});
}

TEST_F(FaultyCommandQueueTest, ResetDropsDelayedCompletion) {
    execute_faulted("command * delay=500ms");
    host.hca.reset(pci::ResetCause::function_level);
    host.advance(std::chrono::seconds(1));
    EXPECT_FALSE(host.completion(0).completed);
}

TEST_F(FaultyCommandQueueTest, EntryFaultsChangeQueueEntry) {
    execute_faulted("command * bad-length=7 token=0x11 signature=0x22 delivery=token_error");
    EXPECT_EQ(host.entry(0).get<"output_length">(), 7U);
    EXPECT_EQ(host.entry(0).get<"token">(), 0x11U);
    EXPECT_EQ(host.entry(0).get<"signature">(), 0x22U);
    EXPECT_EQ(host.entry(0).get<"status">(), 2U);
    EXPECT_EQ(host.entry(0).get<"ownership">(), 0U);
}

TEST_F(FaultyCommandQueueTest, MailboxTokenFaultChangesToken) {
    execute_faulted("command * mailbox-token=0x33");
    EXPECT_EQ(host.entry(0).get<"token">(), Host::token);
    EXPECT_EQ(host.mailbox(0, Host::output_mailboxes).get<"token">(), 0x33U);
}

TEST_F(FaultyCommandQueueTest, GarbageFaultFillsOutputBehindHeader) {
    const CommandCompletion completion = execute_faulted("command * garbage");
    EXPECT_EQ(completion.status, CommandStatus::ok);
    EXPECT_EQ(completion.syndrome, Syndrome::none);
    EXPECT_NE(completion.output[16], std::byte{1});
}

TEST_F(FaultyCommandQueueTest, CorruptedOutputFlaggedToHandler) {
    execute_faulted("command * delay=1ms token=0x11");
    EXPECT_FALSE(seen.output_is_false);
    host.advance(std::chrono::milliseconds(1));
    execute_faulted("command * garbage");
    EXPECT_TRUE(seen.output_is_false);
}

TEST_F(FaultyCommandQueueTest, WordFaultChangesOutput) {
    const CommandCompletion completion =
        execute_faulted("command * word=0x10:0xdeadbeef word=0x1000:1");
    EXPECT_EQ(load_be<std::uint32_t>(std::span(completion.output).subspan(16)), 0xdeadbeefU);
    EXPECT_EQ(completion.output[20], std::byte{5});
}

TEST_F(FaultyCommandQueueTest, DropEqeFaultCompletesWithoutEvent) {
    host.events.subscriptions.insert(EventType::command_completion);
    EXPECT_TRUE(execute_faulted("command MANAGE_PAGES drop-eqe").completed);
    EXPECT_TRUE(host.events.events.empty());
    host.execute<hwtab::cmd_nop>();
    EXPECT_EQ(host.events.events.size(), 1U);
}

} // namespace
} // namespace cxemu::hca
