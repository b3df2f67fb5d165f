// SPDX-License-Identifier: GPL-2.0-or-later
#include "commands/table.hpp"

namespace cxemu::commands {

hca::CommandTable all_commands() {
    hca::CommandTable table;
    table.add(device_commands());
    table.add(object_commands());
    table.add(event_commands());
    table.add(completion_queue_commands());
    table.add(memory_commands());
    table.add(device_memory_commands());
    table.add(queue_pair_commands());
    table.add(dynamic_target_commands());
    table.add(receive_queue_commands());
    table.add(multicast_commands());
    table.add(port_commands());
    table.add(counter_commands());
    return table;
}

} // namespace cxemu::commands
