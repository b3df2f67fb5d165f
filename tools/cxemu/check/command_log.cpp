// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/command_log.hpp"

#include "check/layout_walk.hpp"
#include "hwtab/view.hpp"
#include "tables/capabilities.hpp"
#include "tables/commands_device.hpp"

#include <cctype>
#include <cerrno>
#include <cstring>
#include <spdlog/fmt/fmt.h>

namespace cxemu::check {

namespace {

std::string upper_case(std::string_view name) {
    std::string result(name);
    for (char& character : result)
        character = static_cast<char>(std::toupper(static_cast<unsigned char>(character)));
    return result;
}

std::uint16_t op_mod_of(std::span<const std::byte> input) {
    if (input.size() < hwtab::nop_in.size)
        return 0;
    return static_cast<std::uint16_t>(hwtab::ConstView<hwtab::nop_in>{input}.get<"op_mod">());
}

} // namespace

std::expected<std::unique_ptr<CommandLog>, std::string>
CommandLog::open(const std::filesystem::path& file) {
    std::ofstream stream(file, std::ios::trunc);
    if (!stream)
        return std::unexpected(
            fmt::format("cannot open the command log {}: {}", file.string(), std::strerror(errno)));
    return std::unique_ptr<CommandLog>(new CommandLog(std::move(stream)));
}

const hwtab::Layout* choose_by_op_mod(const hwtab::Field& field, std::uint16_t opcode,
                                      std::uint16_t op_mod) {
    const bool capability =
        opcode == hwtab::cmd_query_hca_cap.opcode || opcode == hwtab::cmd_set_hca_cap.opcode;
    if (!capability)
        return field.alternatives.size() == 1 ? field.alternatives.front() : nullptr;
    switch (op_mod >> 1) {
    case 0x00:
        return &hwtab::cmd_hca_cap;
    case 0x02:
        return &hwtab::odp_cap;
    case 0x03:
        return &hwtab::atomic_caps;
    case 0x20:
        return &hwtab::cmd_hca_cap_2;
    default:
        return nullptr;
    }
}

std::string format_command(const LoggedCommand& logged) {
    if (logged.command == nullptr)
        return fmt::format("{} opcode {:#x}: {} ({:#x}) {}", logged.device, logged.opcode,
                           logged.status, logged.syndrome, logged.explanation);
    const std::uint16_t op_mod = op_mod_of(logged.input);
    const Chooser choose = [&](const hwtab::Field& field) {
        return choose_by_op_mod(field, logged.opcode, op_mod);
    };
    std::string line = fmt::format("{} {}: {}", logged.device, upper_case(logged.command->name),
                                   decode(*logged.command->input, logged.input, choose));
    line += fmt::format(" -> {}", decode(*logged.command->output, logged.output, choose));
    if (logged.syndrome != 0 || !logged.explanation.empty())
        line += fmt::format(" [{}: {}]", logged.status, logged.explanation);
    return line;
}

void CommandLog::write(const LoggedCommand& logged) {
    note(format_command(logged));
}

void CommandLog::note(std::string_view text) {
    stream_ << fmt::format("{:6} {}\n", ++lines_, text);
    stream_.flush();
}

} // namespace cxemu::check
