// SPDX-License-Identifier: GPL-2.0-or-later
#include "hca/internal_spaces.hpp"

#include "base/byte_order.hpp"
#include "hca/command_dispatcher.hpp"
#include "hca/hca.hpp"
#include "tables/commands_port.hpp"

#include <algorithm>
#include <span>
#include <vector>

namespace cxemu::hca {

namespace {

constexpr std::size_t word_size = 4;

// Addresses in the space of internal commands.
constexpr std::uint32_t control_address = 0x0;
constexpr std::uint32_t mailbox_size_address = 0x1000;
constexpr std::uint32_t mailbox_address = 0x10'0000;

constexpr std::uint32_t busy = 1;
constexpr unsigned opcode_shift = 16;
constexpr unsigned status_shift = 8;
constexpr std::uint32_t opcode_mask = 0xffff'0000;
constexpr std::uint32_t access_register_opcode = 0x9001;

// Status of an internal command.
constexpr std::uint8_t command_ok = 0;
constexpr std::uint8_t invalid_opcode = 1;
constexpr std::uint8_t bad_parameter = 4;

// TLVs: the first word has type (31:27) and length in words (26:16).
constexpr unsigned type_shift = 27;
constexpr unsigned length_shift = 16;
constexpr std::uint32_t length_mask = 0x7ff;
constexpr std::uint32_t operation_type = 1;
constexpr std::uint32_t register_type = 3;
constexpr std::size_t operation_words = 4;
constexpr std::size_t register_at = operation_words + 1; ///< after the header of its TLV
// The second word of the operation TLV.
constexpr unsigned id_shift = 16;
constexpr unsigned method_shift = 8;
constexpr std::uint32_t method_mask = 0x7f;
constexpr std::uint32_t method_query = 1;
constexpr std::uint32_t method_write = 2;
// Status in bits 14 to 8 of the first word.
constexpr std::uint32_t operation_status_mask = 0x7f00;
constexpr std::uint8_t register_not_supported = 4;
constexpr std::uint8_t method_not_supported = 6;
constexpr std::uint8_t register_bad_parameter = 7;
constexpr std::uint8_t not_available = 8;

constexpr std::uint16_t op_mod_write = 0;
constexpr std::uint16_t op_mod_read = 1;

std::uint8_t status_of(const CommandResult& result) {
    if (result)
        return 0;
    return result.syndrome == Syndrome::bad_register ? register_not_supported
                                                     : register_bad_parameter;
}

} // namespace

InternalSpaces::InternalSpaces(Hca& hca, CommandDispatcher& dispatcher)
    : hca_(hca), dispatcher_(dispatcher) {}

void InternalSpaces::reset() {
    control_ = 0;
    mailbox_.fill(0);
    semaphores_.fill(0);
}

std::optional<std::uint32_t> InternalSpaces::read(std::uint16_t space,
                                                  std::uint32_t address) const {
    if (space == commands)
        return read_command(address);
    const std::size_t number = address / word_size;
    if (space != semaphores || number >= semaphore_count)
        return {};
    return semaphores_.at(number);
}

bool InternalSpaces::write(std::uint16_t space, std::uint32_t address, std::uint32_t value) {
    if (space == commands)
        return write_command(address, value);
    return space == semaphores && take_semaphore(address, value);
}

/// The semaphore ignores a second owner, which finds the first one when it reads.
bool InternalSpaces::take_semaphore(std::uint32_t address, std::uint32_t owner) {
    const std::size_t number = address / word_size;
    if (number >= semaphore_count)
        return false;
    std::uint32_t& semaphore = semaphores_.at(number);
    if (owner == 0 || semaphore == 0)
        semaphore = owner;
    return true;
}

std::optional<std::uint32_t> InternalSpaces::read_command(std::uint32_t address) const {
    if (address == control_address)
        return control_;
    if (address == mailbox_size_address)
        return mailbox_words * word_size;
    const std::size_t number = (address - mailbox_address) / word_size;
    if (address < mailbox_address || number >= mailbox_words)
        return {};
    return mailbox_.at(number);
}

bool InternalSpaces::write_command(std::uint32_t address, std::uint32_t value) {
    if (address == control_address) {
        control_ = value & (opcode_mask | busy);
        if ((value & busy) != 0)
            control_ = (value & opcode_mask) | std::uint32_t{execute()} << status_shift;
        return true;
    }
    const std::size_t number = (address - mailbox_address) / word_size;
    if (address < mailbox_address || number >= mailbox_words)
        return false;
    mailbox_.at(number) = value;
    return true;
}

std::uint8_t InternalSpaces::execute() {
    return control_ >> opcode_shift == access_register_opcode ? access_register() : invalid_opcode;
}

/// The result of the access is in the operation TLV.
std::uint8_t InternalSpaces::access_register() {
    const auto type = [this](std::size_t at) { return mailbox_.at(at) >> type_shift; };
    const auto length = [this](std::size_t at) {
        return mailbox_.at(at) >> length_shift & length_mask;
    };
    // The length of the register's TLV counts its header.
    const std::size_t words = std::max<std::size_t>(length(operation_words), 1) - 1;
    if (type(0) != operation_type || length(0) != operation_words ||
        type(operation_words) != register_type || register_at + words > mailbox_words)
        return bad_parameter;
    const std::uint32_t method = mailbox_[1] >> method_shift & method_mask;
    const auto id = static_cast<std::uint16_t>(mailbox_[1] >> id_shift);
    const std::uint8_t status = method == method_query || method == method_write
                                    ? run_access(id, method == method_write, words)
                                    : method_not_supported;
    mailbox_[0] = (mailbox_[0] & ~operation_status_mask) | std::uint32_t{status} << status_shift;
    return command_ok;
}

/// Runs ACCESS_REGISTER, which has the same registers.
std::uint8_t InternalSpaces::run_access(std::uint16_t id, bool is_write, std::size_t words) {
    if (hca_.state() < FunctionState::enabled)
        return not_available;
    const auto place = std::span(mailbox_).subspan(register_at, words);
    std::vector<std::byte> input(hwtab::access_register_in.size + (words * word_size));
    const hwtab::View<hwtab::access_register_in> in{std::span(input)};
    in.set<"opcode">(hwtab::cmd_access_register.opcode);
    in.set<"op_mod">(is_write ? op_mod_write : op_mod_read);
    in.set<"register_id">(id);
    for (std::size_t i = 0; i < words; ++i)
        store_be(in.bytes<"register_data">().subspan(i * word_size), place[i]);

    const auto asked = static_cast<std::uint32_t>(input.size());
    std::vector<std::byte> output(dispatcher_.output_size(input, asked));
    CommandContext context{.hca = hca_,
                           .input = input,
                           .output = output,
                           .output_length = asked,
                           .explanation = {},
                           .defer_hook = {}};
    const CommandResult result = dispatcher_.run(context);
    dispatcher_.finished(input, output, asked, result, context.explanation);
    if (result) {
        const auto data = context.out<hwtab::access_register_out>().bytes<"register_data">();
        for (std::size_t i = 0; i < words; ++i)
            place[i] = load_be<std::uint32_t>(data.subspan(i * word_size));
    }
    return status_of(result);
}

} // namespace cxemu::hca
