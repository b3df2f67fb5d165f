// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The subnet manager embedded in a switch (InfiniBand specification, chapters 13 to 15): finds the
/// subnet, gives LIDs, writes forwarding tables, makes ports active, and runs subnet
/// administration.
///
/// It learns about the subnet only by SMPs over the links. It has the lowest priority: another
/// manager with a higher priority, or with the same priority and a lower GUID, becomes the master.
#pragma once

#include "base/event_loop.hpp"
#include "base/log.hpp"
#include "fabric/switch.hpp"
#include "subnet_manager/administration.hpp"
#include "subnet_manager/discovery.hpp"
#include "subnet_manager/forwarding_writer.hpp"
#include "subnet_manager/routing.hpp"
#include "subnet_manager/settings.hpp"
#include "subnet_manager/smp_exchange.hpp"
#include "subnet_manager/subnet.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace cxemu::subnet_manager {

enum class ManagerState : std::uint8_t {
    not_active = hwtab::value<hwtab::sm_state, "not_active">,
    discovering = hwtab::value<hwtab::sm_state, "discovering">,
    standby = hwtab::value<hwtab::sm_state, "standby">,
    master = hwtab::value<hwtab::sm_state, "master">,
};

std::string_view name_of(ManagerState state);

class SubnetManager final : private fabric::EmbeddedManager {
public:
    /// \param settings the GUID is taken from the switch
    /// \param host the switch; must outlive this
    SubnetManager(EventLoop& loop, fabric::Switch& host, ManagerSettings settings, Log log);
    ~SubnetManager() override;
    SubnetManager(const SubnetManager&) = delete;
    SubnetManager& operator=(const SubnetManager&) = delete;

    /// Begins with discovery, from the event loop.
    void start();

    [[nodiscard]] ManagerState state() const { return state_; }
    /// The subnet as the last sweep found it.
    [[nodiscard]] const Subnet& subnet() const { return subnet_; }
    [[nodiscard]] const LidTable& lids() const { return lids_; }

    [[nodiscard]] nlohmann::json statistics() const;

private:
    // EmbeddedManager
    void smp_arrived(const fabric::Mad& smp, const fabric::MadOrigin& origin) override;
    void administration_arrived(const fabric::ParsedPacket& packet,
                                const fabric::Mad& mad) override;

    void take_trap(const fabric::Mad& trap, Lid source);

    // Sweeps
    void request_sweep(EventLoop::Duration delay = EventLoop::Duration::zero());
    void schedule(bool heavy, EventLoop::Duration delay);
    void sweep();
    void discovered(Subnet found, bool complete);
    void configure();
    void configure_ports();
    void write_tables();
    void change_states(fabric::PortState from, fabric::PortState to);
    void finish_sweep();
    void sweep_lightly();
    void check_switch(const SubnetNode& node);
    void check_manager(const RemoteManager& known);
    void stop_work();

    // Requests of a step of the sweep; the next one follows when all have a response.
    void set_attribute(const Path& path, std::uint64_t attribute, std::uint32_t modifier,
                       std::span<const std::byte> data,
                       std::function<void(const fabric::Mad&)> take);
    void set_port_info(PortKey key, const fabric::PortInfoBytes& data);
    void set_partitions(PortKey key);
    void set_service_levels(PortKey key);
    void then(void (SubnetManager::*step)());
    void step_finished(bool succeeded);
    void arm_ports();
    void activate_ports();

    // Tables of the switches
    [[nodiscard]] ForwardingWriter::Tables wanted_tables() const;
    void update_multicast(std::function<void()> done);

    // Election
    [[nodiscard]] bool is_higher(const RemoteManager& other) const;
    [[nodiscard]] bool defers_to_another();
    void become(ManagerState state);
    void stand_by(const RemoteManager& master);
    void ask_for_handover();
    void hand_over(const RemoteManager& other);
    void poll_master();
    void discover_again();
    void take_manager_info(const fabric::Mad& request, const fabric::MadOrigin& origin);
    [[nodiscard]] bool take_control(std::uint32_t modifier, std::uint8_t remote_state);
    [[nodiscard]] std::array<std::byte, fabric::smp_data_size> own_info() const;

    EventLoop& loop_;
    fabric::Switch& host_;
    ManagerSettings settings_;
    Log log_;
    SmpExchange exchange_;
    ManagerState state_ = ManagerState::discovering;
    Subnet subnet_;
    LidTable lids_;
    ForwardingWriter writer_;
    Administration administration_;

    std::unique_ptr<Discovery> discovery_;
    bool sweeping_ = false;
    std::optional<EventLoop::Duration> sweep_again_; ///< delay of a sweep after the present one
    bool first_as_master_ = false; ///< all ports are configured and asked to register again
    bool complete_ = true;         ///< every request of the sweep had a response
    std::set<Guid> known_ports_;   ///< port GUIDs that the sweeps before have configured
    std::size_t pending_ = 0;
    void (SubnetManager::*next_step_)() = nullptr;
    Timer sweep_timer_; ///< the next look at the subnet, light or heavy
    bool next_is_heavy_ = true;
    EventLoop::TimePoint next_sweep_;

    std::optional<RemoteManager> master_; ///< in standby
    unsigned silent_polls_ = 0;
    std::uint64_t sweeps_ = 0;
    std::uint64_t traps_ = 0;
};

} // namespace cxemu::subnet_manager
