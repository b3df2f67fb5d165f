// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The command lists of all subjects. Each subject is one file of this directory and defines its
/// function declared here; table.cpp joins them.
#pragma once

#include "hca/command_dispatcher.hpp"

#include <span>

namespace cxemu::commands {

std::span<const hca::CommandEntry> device_commands();
std::span<const hca::CommandEntry> object_commands();
std::span<const hca::CommandEntry> event_commands();
std::span<const hca::CommandEntry> completion_queue_commands();
std::span<const hca::CommandEntry> memory_commands();
std::span<const hca::CommandEntry> device_memory_commands();
std::span<const hca::CommandEntry> receive_queue_commands();
std::span<const hca::CommandEntry> queue_pair_commands();
std::span<const hca::CommandEntry> dynamic_target_commands();
std::span<const hca::CommandEntry> multicast_commands();
std::span<const hca::CommandEntry> port_commands();
std::span<const hca::CommandEntry> counter_commands();

/// Every command that cxemu knows.
hca::CommandTable all_commands();

} // namespace cxemu::commands
