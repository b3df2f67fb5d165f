// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The driver side of the command queue for tests: guest memory with entries and mailboxes.
#pragma once

#include "hca/command.hpp"
#include "hca/command_queue.hpp"
#include "hwtab/view.hpp"
#include "tables/command_header.hpp"
#include "tables/command_interface.hpp"
#include "tables/commands_device.hpp"
#include "vfio_user/testing/guest_memory.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cxemu::hca::testing {

/// Contents of a completed slot.
struct CommandCompletion {
    bool completed = false; ///< the slot is owned by software
    DeliveryStatus delivery = DeliveryStatus::ok;
    CommandStatus status = CommandStatus::ok;
    Syndrome syndrome = Syndrome::none;
    std::vector<std::byte> output; ///< of the requested length

    template <const hwtab::Layout& layout>
    [[nodiscard]] hwtab::ConstView<layout> view() const {
        return hwtab::ConstView<layout>{output};
    }
};

/// An input with its header filled in.
inline std::vector<std::byte> make_input(std::uint16_t opcode, std::size_t size,
                                         std::uint16_t op_mod = 0, std::uint16_t uid = 0) {
    std::vector<std::byte> input(std::max<std::size_t>(size, hwtab::nop_in.size));
    hwtab::write_bits(input.data(), hwtab::opcode_field.offset, hwtab::opcode_field.width, opcode);
    hwtab::write_bits(input.data(), hwtab::uid_field.offset, hwtab::uid_field.width, uid);
    hwtab::write_bits(input.data(), hwtab::op_mod_field.offset, hwtab::op_mod_field.width, op_mod);
    return input;
}

/// A command queue at the beginning of its memory.
class CommandDriver {
public:
    CommandDriver() = default;
    virtual ~CommandDriver() = default;
    CommandDriver(const CommandDriver&) = delete;
    CommandDriver& operator=(const CommandDriver&) = delete;

    static constexpr std::uint64_t base = 0x10'0000; ///< I/O virtual address of the memory
    static constexpr std::size_t memory_size = 16 * 1024 * 1024;
    static constexpr std::uint64_t queue = base;
    /// Memory not used by the command queue, to the end.
    static constexpr std::uint64_t free_memory = base + (12 * 1024 * 1024);
    static constexpr std::uint8_t token = 0x5a;

    /// Fills a slot and its mailboxes, without doorbell.
    void submit(std::uint32_t slot, std::span<const std::byte> input, std::uint32_t output_length) {
        const hwtab::View<hwtab::cmd_queue_entry> entry = this->entry(slot);
        std::ranges::fill(entry.memory().first(hwtab::cmd_queue_entry.size), std::byte{0});
        const auto head = input.first(std::min<std::size_t>(input.size(), inline_size));
        const auto rest = input.subspan(head.size());
        entry.set<"type">(7);
        entry.set<"input_length">(input.size());
        std::ranges::copy(head, entry.bytes<"command_input_inline_data">().begin());
        entry.set<"output_length">(output_length);
        entry.set<"token">(token);
        if (!rest.empty())
            set_input_pointer(slot, mailbox_address(slot, 0));
        const std::size_t room = output_length > inline_size ? output_length - inline_size : 0;
        if (room != 0)
            set_output_pointer(slot, mailbox_address(slot, output_mailboxes));
        chain(slot, 0, rest, rest.size());
        chain(slot, output_mailboxes, {}, room);
        entry.set<"ownership">(1);
        lengths_[slot] = output_length;
    }

    /// Rings the doorbell, and runs the device.
    virtual void ring(std::uint32_t vector) = 0;

    [[nodiscard]] CommandCompletion completion(std::uint32_t slot) {
        const auto entry = this->entry(slot);
        CommandCompletion result;
        result.completed = entry.get<"ownership">() == 0;
        result.delivery = static_cast<DeliveryStatus>(entry.get<"status">());
        const auto head = entry.bytes<"command_output_inline_data">();
        result.output.assign(head.begin(), head.end());
        for (std::size_t i = 0; result.output.size() < lengths_[slot]; ++i) {
            const auto box = mailbox(slot, output_mailboxes + i);
            const auto data = box.bytes<"mailbox_data">();
            result.output.insert(result.output.end(), data.begin(), data.end());
        }
        result.output.resize(std::max<std::size_t>(lengths_[slot], inline_size));
        result.status = static_cast<CommandStatus>(
            hwtab::ConstView<hwtab::nop_out>{result.output}.get<"status">());
        result.syndrome = static_cast<Syndrome>(
            hwtab::ConstView<hwtab::nop_out>{result.output}.get<"syndrome">());
        return result;
    }

    /// Executes a command in slot 0.
    CommandCompletion execute(std::span<const std::byte> input, std::uint32_t output_length) {
        submit(0, input, output_length);
        ring(1);
        return completion(0);
    }

    /// A command without arguments, or with those that \p fill writes through a View of the input.
    template <const hwtab::Command& command>
    CommandCompletion execute(auto fill, std::uint16_t op_mod = 0, std::uint16_t uid = 0,
                              std::size_t list_bytes = 0)
        requires std::invocable<decltype(fill)&, hwtab::View<*command.input>>
    {
        auto input = make_input(command.opcode, command.input->size + list_bytes, op_mod, uid);
        fill(hwtab::View<*command.input>{std::span<std::byte>(input)});
        return execute(input, command.output->size);
    }
    template <const hwtab::Command& command>
    CommandCompletion execute(std::uint16_t op_mod = 0, std::uint16_t uid = 0) {
        return execute<command>([](const auto&) {}, op_mod, uid);
    }

    [[nodiscard]] hwtab::View<hwtab::cmd_queue_entry> entry(std::uint32_t slot) {
        return hwtab::View<hwtab::cmd_queue_entry>{
            at(queue + (std::uint64_t{slot} * CommandQueue::entry_size))};
    }
    /// Input mailboxes are numbered from 0, output mailboxes from output_mailboxes.
    static constexpr std::size_t output_mailboxes = 128;
    [[nodiscard]] hwtab::View<hwtab::cmd_if_box> mailbox(std::uint32_t slot, std::size_t number) {
        return hwtab::View<hwtab::cmd_if_box>{at(mailbox_address(slot, number))};
    }
    [[nodiscard]] static std::uint64_t mailbox_address(std::uint32_t slot, std::size_t number) {
        return base + 0x10000 + (slot * 0x40000ULL) + (number * 1024);
    }
    void set_input_pointer(std::uint32_t slot, std::uint64_t address) {
        entry(slot).set<"input_mailbox_pointer_63_32">(address >> 32U);
        entry(slot).set<"input_mailbox_pointer_31_9">((address & 0xffff'ffff) >> 9U);
    }
    void set_output_pointer(std::uint32_t slot, std::uint64_t address) {
        entry(slot).set<"output_mailbox_pointer_63_32">(address >> 32U);
        entry(slot).set<"output_mailbox_pointer_31_9">((address & 0xffff'ffff) >> 9U);
    }

    /// Guest memory from an I/O virtual address on.
    [[nodiscard]] std::span<std::byte> at(std::uint64_t iova) {
        return memory.bytes().subspan(iova - base);
    }

    vfio_user::testing::GuestMemory memory{memory_size};

private:
    static constexpr std::uint32_t inline_size = 16;

    void chain(std::uint32_t slot, std::size_t first, std::span<const std::byte> data,
               std::size_t length) {
        const std::size_t count = (length + mailbox_data_size - 1) / mailbox_data_size;
        for (std::size_t i = 0; i < count; ++i) {
            const auto box = mailbox(slot, first + i);
            std::ranges::fill(box.memory().first(hwtab::cmd_if_box.size), std::byte{0});
            const auto here = data.first(std::min<std::size_t>(data.size(), mailbox_data_size));
            std::ranges::copy(here, box.bytes<"mailbox_data">().begin());
            data = data.subspan(here.size());
            box.set<"block_number">(i);
            box.set<"token">(token);
            const std::uint64_t next = i + 1 < count ? mailbox_address(slot, first + i + 1) : 0;
            box.set<"next_pointer_63_32">(next >> 32U);
            box.set<"next_pointer_31_10">((next & 0xffff'ffff) >> 10U);
        }
    }

    std::array<std::uint32_t, CommandQueue::slots> lengths_{};
};

} // namespace cxemu::hca::testing
