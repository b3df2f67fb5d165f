// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// A virtual machine with a driver: QEMU's messages, guest memory, commands.
#pragma once

#include "base/byte_order.hpp"
#include "hca/testing/command_driver.hpp"
#include "pci/config_space.hpp"
#include "vfio_user/device.hpp"
#include "vfio_user/testing/client.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <vector>

namespace cxemu::program::testing {

class VirtualMachine final : public hca::testing::CommandDriver {
public:
    static constexpr std::uint32_t vectors = 4; ///< that have an eventfd

    /// Connects, maps the memory, wires interrupts and enables the function.
    /// \param let_server_work see vfio_user::testing::Client
    explicit VirtualMachine(const std::filesystem::path& socket,
                            std::function<void()> let_server_work = {});

    /// Takes the function from reset to INIT_HCA.
    void bring_up();

    /// Numbers of the objects of make_objects().
    struct MadeObjects {
        std::uint32_t uar = 0;
        std::uint32_t domain = 0;
        std::uint32_t event_queue = 0;
        std::uint64_t event_ring = 0; ///< address
        std::uint32_t completion_queue = 0;
        std::uint32_t queue_pair = 0;
        std::uint32_t memory_key = 0;
        std::uint32_t counters = 0;
    };
    /// Creates objects of each kind that refer to one another: a QP in RTS that is attached to a
    /// multicast group, and its dependencies. Command completions are reported by EQEs from then
    /// on.
    MadeObjects make_objects();

    /// Destroys the objects of make_objects().
    void destroy_objects(const MadeObjects& objects);
    /// Undoes bring_up(). \pre no objects are left
    void tear_down();

    /// Consumes all EQEs and arms the EQ: the next one raises vector 1.
    void take_events(const MadeObjects& objects);

    /// Number of interrupts of \p vector since the last call.
    std::uint64_t take_interrupts(std::uint32_t vector) {
        return vfio_user::testing::drain(eventfds_.at(vector));
    }

    // --- Guest accesses --------------------------------------------------------------------------

    void write32(std::uint64_t offset, std::uint32_t value);
    [[nodiscard]] std::uint32_t read32(std::uint64_t offset);
    void write_config16(std::uint64_t offset, std::uint16_t value);
    /// Rings the doorbell and waits for the completions.
    void ring(std::uint32_t vector) override;

    // --- QEMU ------------------------------------------------------------------------------------

    [[nodiscard]] vfio_user::testing::Client& client() { return client_; }
    void map_memory();
    void unmap_memory();
    void reset();
    /// Disconnects without a message.
    void vanish() { client_.vanish(); }

private:
    void wire_interrupts();
    void enable_function();
    void give_pages(std::uint16_t kind);
    void make_event_queue(MadeObjects& made);
    std::uint32_t make_completion_queue(const MadeObjects& made);
    std::uint32_t make_queue_pair(const MadeObjects& made);
    std::uint32_t make_memory_key(const MadeObjects& made);
    void attach_to_group(std::uint32_t queue_pair);
    std::uint64_t allocate();
    /// Runs a command that must succeed.
    template <const hwtab::Command& command>
    hca::testing::CommandCompletion must(auto fill, std::size_t list_bytes = 0,
                                         std::uint16_t op_mod = 0);

    vfio_user::testing::Client client_;
    std::vector<UniqueFd> eventfds_;
    std::uint64_t next_page_ = free_memory;
    std::uint32_t events_taken_ = 0;
};

/// Bytes that are allocated in this process.
std::size_t allocated_bytes();
/// Descriptors that are open in this process.
std::size_t open_descriptors();

} // namespace cxemu::program::testing
