// SPDX-License-Identifier: GPL-2.0-or-later
#include "vfio_user/protocol.hpp"

#include <array>

namespace cxemu::vfio_user {

const char* name_of(Command command) {
    static constexpr std::array names{
        "unknown",        "VERSION",         "DMA_MAP",           "DMA_UNMAP",
        "GET_INFO",       "GET_REGION_INFO", "GET_REGION_IO_FDS", "GET_IRQ_INFO",
        "SET_IRQS",       "REGION_READ",     "REGION_WRITE",      "DMA_READ",
        "DMA_WRITE",      "DEVICE_RESET",    "DIRTY_PAGES",       "REGION_WRITE_MULTI",
        "DEVICE_FEATURE", "MIG_DATA_READ",   "MIG_DATA_WRITE"};
    const auto number = static_cast<std::size_t>(command);
    return number < names.size() ? names.at(number) : names.front();
}

} // namespace cxemu::vfio_user
