// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/// @file
/// All hardware tables. Only emit/verified.cpp checks them, because the checks take a compiler
/// longer than most files.
#pragma once

#include "tables/capabilities.hpp"
#include "tables/command_interface.hpp"
#include "tables/commands_device.hpp"
#include "tables/commands_events.hpp"
#include "tables/commands_memory.hpp"
#include "tables/commands_objects.hpp"
#include "tables/commands_port.hpp"
#include "tables/commands_queue_pairs.hpp"
#include "tables/commands_receive_queues.hpp"
#include "tables/completion.hpp"
#include "tables/contexts.hpp"
#include "tables/datagrams.hpp"
#include "tables/events.hpp"
#include "tables/packet_headers.hpp"
#include "tables/registers.hpp"
#include "tables/work_queue.hpp"

#include <array>

namespace hwtab {

inline constexpr std::array all_groups{
    &command_interface_group,
    &capabilities_group,
    &contexts_group,
    &registers_group,
    &events_group,
    &commands_device_group,
    &commands_memory_group,
    &commands_events_group,
    &commands_queue_pairs_group,
    &commands_receive_queues_group,
    &commands_port_group,
    &commands_objects_group,
    &work_queue_group,
    &completion_group,
    &datagrams_group,
    &packet_headers_group,
};

} // namespace hwtab
