// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Registers of ACCESS_REGISTER. Each subject exports the list of its registers; registers.cpp
/// joins them.
#pragma once

#include "hca/command.hpp"
#include "hwtab/model.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace cxemu::commands {

/// One access. Read and write both return the register's contents after the access.
struct RegisterAccess {
    hca::CommandContext& command; ///< for fail()
    bool write = false;
    std::uint32_t argument = 0;
    std::span<const std::byte> in; ///< input; at least as long as the layout
    std::span<std::byte> out;      ///< zeroed, as long as the layout
};

using RegisterHandler = hca::CommandResult (*)(RegisterAccess&);

struct RegisterEntry {
    const hwtab::Register* definition;
    RegisterHandler handler;
};

std::span<const RegisterEntry> device_registers();
std::span<const RegisterEntry> port_registers();

/// The handler of ACCESS_REGISTER.
hca::CommandResult access_register(hca::CommandContext& context);

} // namespace cxemu::commands
