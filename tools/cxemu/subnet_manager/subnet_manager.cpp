// SPDX-License-Identifier: GPL-2.0-or-later
#include "subnet_manager/subnet_manager.hpp"

#include "subnet_manager/port_settings.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ranges>

namespace cxemu::subnet_manager {
namespace {

using fabric::Mad;
using fabric::MadMethod;
using fabric::PortState;

template <hwtab::FixedString name>
constexpr std::uint64_t attribute_id = hwtab::value<hwtab::smp_attribute, name>;

/// The response to a trap, which stops its repetition. It has the data and the transaction id of
/// the trap.
Mad repress_of(const Mad& trap) {
    Mad mad = trap;
    fabric::MadHeader(mad).set<"method">(static_cast<std::uint64_t>(MadMethod::trap_repress));
    return mad;
}

bool changes_subnet(std::uint64_t trap) {
    return trap == hwtab::value<hwtab::trap_number, "link_state_change"> ||
           trap == hwtab::value<hwtab::trap_number, "local_change"> ||
           trap == hwtab::value<hwtab::trap_number, "system_image_guid_change">;
}

} // namespace

std::string_view name_of(ManagerState state) {
    const auto name = hwtab::name_of(hwtab::sm_state, static_cast<std::uint64_t>(state));
    return name.empty() ? "unknown" : name;
}

SubnetManager::SubnetManager(EventLoop& loop, fabric::Switch& host, ManagerSettings settings,
                             Log log)
    : loop_(loop), host_(host), settings_(settings), log_(std::move(log)),
      exchange_(loop, [this](const Mad& smp) { host_.send_smp(smp); }),
      writer_(exchange_, settings_.packet_life_time),
      administration_(
          loop, settings_, subnet_, lids_, log_,
          {.send = [this](fabric::Packet packet) { host_.send_from_port0(std::move(packet)); },
           .groups_changed =
               [this](std::function<void()> done) { update_multicast(std::move(done)); }}),
      sweep_timer_(loop, [this] {
          if (state_ == ManagerState::standby)
              poll_master();
          else if (next_is_heavy_)
              sweep();
          else
              sweep_lightly();
      }) {
    settings_.guid = host.settings().node_guid;
    host_.set_manager(this);
}

SubnetManager::~SubnetManager() {
    host_.set_manager(nullptr);
}

void SubnetManager::start() {
    request_sweep();
}

void SubnetManager::become(ManagerState state) {
    if (state == state_)
        return;
    log_->info("{} -> {}", name_of(state_), name_of(state));
    state_ = state;
    first_as_master_ = state == ManagerState::master;
    administration_.set_running(false); // until the first sweep as master has ended
}

// --- Arrivals ------------------------------------------------------------------------------------

void SubnetManager::smp_arrived(const Mad& smp, const fabric::MadOrigin& origin) {
    const fabric::ConstMadHeader header(smp);
    switch (fabric::method_of(smp)) {
    case MadMethod::get_response:
        exchange_.take_response(smp);
        return;
    case MadMethod::trap:
        return take_trap(smp, origin.remote_lid);
    case MadMethod::get:
    case MadMethod::set:
        if (header.get<"attribute_id">() == attribute_id<"sm_info">)
            take_manager_info(smp, origin);
        return;
    default:
        return;
    }
}

void SubnetManager::administration_arrived(const fabric::ParsedPacket& packet, const Mad& mad) {
    administration_.arrived(packet, mad);
}

void SubnetManager::take_trap(const Mad& trap, Lid source) {
    if (state_ != ManagerState::master)
        return;
    ++traps_;
    host_.send_smp(repress_of(trap), source);
    const hwtab::ConstView<hwtab::notice> notice(data_of(trap));
    const auto number = notice.get<"trap_number">();
    log_->debug("LID {}: trap {}", source, number);
    administration_.report(data_of(trap), source);
    if (notice.get<"is_generic">() != 1 || !changes_subnet(number))
        return;
    const bool is_link_change = number == hwtab::value<hwtab::trap_number, "link_state_change">;
    request_sweep(is_link_change ? EventLoop::Duration::zero() : settings_.trap_delay);
}

// --- Sweeps --------------------------------------------------------------------------------------

/// Schedules a heavy sweep: not before the present sweep has ended, and not later than a sweep that
/// is already due.
void SubnetManager::request_sweep(EventLoop::Duration delay) {
    if (sweeping_) {
        sweep_again_ = std::min(delay, sweep_again_.value_or(delay));
        return;
    }
    const bool is_due_before =
        next_is_heavy_ && sweep_timer_.active() && next_sweep_ <= loop_.now() + delay;
    if (!is_due_before)
        schedule(true, delay);
}

void SubnetManager::schedule(bool heavy, EventLoop::Duration delay) {
    next_is_heavy_ = heavy;
    next_sweep_ = loop_.now() + delay;
    sweep_timer_.start(delay);
}

void SubnetManager::sweep() {
    if (sweeping_ || state_ == ManagerState::not_active)
        return;
    sweeping_ = true;
    complete_ = true;
    ++sweeps_;
    discovery_ =
        std::make_unique<Discovery>(exchange_, subnet_, [this](Subnet found, bool complete) {
            discovered(std::move(found), complete);
        });
    discovery_->start();
}

void SubnetManager::discovered(Subnet found, bool complete) {
    complete_ = complete;
    subnet_ = std::move(found);
    // The discovery calls this function, so it is destroyed later.
    loop_.defer([discovery = std::shared_ptr<Discovery>(std::move(discovery_))] {});
    if (defers_to_another())
        return;
    become(ManagerState::master);
    configure();
}

/// Ends all activities, because another manager is the master now.
void SubnetManager::stop_work() {
    exchange_.cancel();
    discovery_.reset();
    writer_.reset();
    sweeping_ = false;
    sweep_again_.reset();
    pending_ = 0;
    next_step_ = nullptr;
    sweep_timer_.stop();
}

void SubnetManager::configure() {
    if (first_as_master_) {
        lids_.clear(); // the LIDs that another manager has given stay
        known_ports_.clear();
        writer_.reset();
    }
    lids_.assign(subnet_, settings_.guid);
    ++pending_;
    configure_ports();
    then(&SubnetManager::write_tables);
    step_finished(true);
}

void SubnetManager::configure_ports() {
    for (const auto& [guid, key] : subnet_.end_ports()) {
        const SubnetPort& port = *subnet_.find(key);
        const bool is_new = !known_ports_.contains(guid);
        const Lid present = static_cast<Lid>(port.view().get<"lid">());
        const bool was_reset = present != lids_.lid_of(guid);
        if (lids_.lid_of(guid) == fabric::unassigned_lid) {
            log_->error("port {:#018x}: no LID is free", guid);
            continue;
        }
        if (was_reset)
            writer_.forget(key.node);
        if (is_new || was_reset)
            set_partitions(key);
        if (const auto data =
                end_port_settings(subnet_, key, lids_, settings_, is_new || was_reset))
            set_port_info(key, *data);
    }
    for (const auto& [guid, node] : subnet_.nodes) {
        for (const auto& [number, port] : node.ports) {
            const bool is_fresh = port.state() == PortState::init || first_as_master_;
            if (is_fresh && port.peer)
                set_service_levels({guid, number});
            if (is_fresh && is_at_host(subnet_, {guid, number}))
                set_partitions({guid, number});
            if (!node.is_switch() || number == 0)
                continue;
            if (const auto data = link_settings(subnet_, {guid, number}, settings_))
                set_port_info({guid, number}, *data);
        }
    }
}

void SubnetManager::write_tables() {
    ++pending_;
    then(&SubnetManager::arm_ports);
    writer_.write(wanted_tables(), [this](bool complete) { step_finished(complete); });
}

void SubnetManager::arm_ports() {
    then(&SubnetManager::activate_ports);
    change_states(PortState::init, PortState::armed);
}

void SubnetManager::activate_ports() {
    then(&SubnetManager::finish_sweep);
    change_states(PortState::armed, PortState::active);
}

/// Sets up all ports with a neighbor, except for end ports without a LID, which may still have the
/// LID of another port.
void SubnetManager::change_states(PortState from, PortState to) {
    ++pending_;
    const auto can_change = [&](const SubnetPort& port) {
        const bool has_lid = port.guid == 0 || lids_.lid_of(port.guid) != fabric::unassigned_lid;
        return port.peer && port.state() == from && has_lid;
    };
    for (const auto& [guid, node] : subnet_.nodes)
        for (const auto& [number, port] : node.ports)
            if (can_change(port))
                set_port_info({guid, number}, state_change(port, to));
    step_finished(true);
}

void SubnetManager::finish_sweep() {
    sweeping_ = false;
    const bool was_first = std::exchange(first_as_master_, false);
    std::set<Guid> ports;
    for (const Guid guid : subnet_.end_ports() | std::views::keys)
        ports.insert(guid);
    administration_.subnet_changed(known_ports_, ports);
    known_ports_ = std::move(ports);
    administration_.set_running(true);
    if (was_first || !complete_)
        log_->info("{} ports with a LID{}", known_ports_.size(),
                   complete_ ? "" : ", a request had no response or was refused");
    if (const auto delay = std::exchange(sweep_again_, std::nullopt))
        return request_sweep(*delay);
    // Detects now, not only after the interval, what has changed while the states were read.
    schedule(!complete_, complete_ ? EventLoop::Duration::zero() : settings_.retry_interval);
}

/// Asks the switches whether a port has changed, and the other managers for their states.
void SubnetManager::sweep_lightly() {
    schedule(false, settings_.sweep_interval);
    for (const auto& [guid, node] : subnet_.nodes)
        if (node.is_switch())
            check_switch(node);
    for (const RemoteManager& manager : subnet_.managers)
        check_manager(manager);
}

void SubnetManager::check_switch(const SubnetNode& node) {
    exchange_.request(directed_smp(MadMethod::get, attribute_id<"switch_info">, node.path),
                      [this](const Mad* response) {
                          const bool changed =
                              response == nullptr ||
                              hwtab::ConstView<hwtab::switch_info>(data_of(*response))
                                      .get<"port_state_change">() != 0;
                          if (changed)
                              request_sweep();
                      });
}

/// Another manager has changed its state, so it may have to become the master now.
void SubnetManager::check_manager(const RemoteManager& known) {
    exchange_.request(directed_smp(MadMethod::get, attribute_id<"sm_info">, known.path),
                      [this, state = known.state](const Mad* response) {
                          if (response == nullptr)
                              return;
                          const hwtab::ConstView<hwtab::sm_info> info(data_of(*response));
                          if (info.get<"sm_state">() != state)
                              request_sweep();
                      });
}

// --- Steps ---------------------------------------------------------------------------------------

void SubnetManager::set_attribute(const Path& path, std::uint64_t attribute, std::uint32_t modifier,
                                  std::span<const std::byte> data,
                                  std::function<void(const Mad&)> take) {
    ++pending_;
    exchange_.request(
        directed_smp(MadMethod::set, attribute, path, modifier, data),
        [this, attribute, modifier, path, take = std::move(take)](const Mad* response) {
            const bool succeeded = response != nullptr && status_of(*response) == 0;
            if (succeeded)
                take(*response);
            else
                log_->warn("path {}: Set({}) modifier {:#x}: {}", fmt::join(path, ","),
                           hwtab::name_of(hwtab::smp_attribute, attribute), modifier,
                           response == nullptr
                               ? "no response"
                               : fmt::format("status {:#06x}", status_of(*response)));
            step_finished(succeeded);
        });
}

void SubnetManager::set_port_info(PortKey key, const fabric::PortInfoBytes& data) {
    set_attribute(subnet_.find(key)->path, attribute_id<"port_info">, key.port, data,
                  [this, key](const Mad& response) {
                      if (SubnetPort* port = subnet_.find(key))
                          std::ranges::copy(data_of(response), port->info.begin());
                  });
}

/// The default partition, as full member, and no other.
void SubnetManager::set_partitions(PortKey key) {
    const SubnetNode& node = subnet_.nodes.at(key.node);
    constexpr std::size_t per_block = hwtab::p_key_table.fields[0].count;
    constexpr unsigned port_shift = 16;
    const bool is_external = node.is_switch() && key.port != 0;
    const auto entries = is_external ? node.switch_view().get<"partition_enforcement_cap">()
                                     : node.view().get<"partition_cap">();
    const std::uint32_t port = node.is_switch() ? std::uint32_t{key.port} << port_shift : 0;
    for (std::size_t first = 0; first < entries; first += per_block) {
        std::array<std::byte, hwtab::p_key_table.size> block{};
        if (first == 0)
            hwtab::View<hwtab::p_key_table>(block).set_at<"p_key_block">(0, fabric::default_p_key);
        set_attribute(node.ports.at(key.port).path, attribute_id<"pkey_table">,
                      port | static_cast<std::uint32_t>(first / per_block), block,
                      [](const Mad&) {});
    }
}

/// All service levels use VL 0.
void SubnetManager::set_service_levels(PortKey key) {
    constexpr unsigned input_shift = 8;
    const SubnetNode& node = subnet_.nodes.at(key.node);
    const std::array<std::byte, hwtab::sl_to_vl_mapping_table.size> table{};
    const auto inputs = node.is_switch() ? node.view().get<"num_ports">() + 1 : 1;
    const std::uint32_t output = node.is_switch() ? key.port : 0;
    for (std::uint32_t input = 0; input < inputs; ++input)
        set_attribute(node.ports.at(key.port).path, attribute_id<"sl_to_vl_table">,
                      output | (input << input_shift), table, [](const Mad&) {});
}

void SubnetManager::then(void (SubnetManager::*step)()) {
    next_step_ = step;
}

void SubnetManager::step_finished(bool succeeded) {
    complete_ = complete_ && succeeded;
    if (--pending_ != 0)
        return;
    (this->*std::exchange(next_step_, nullptr))();
}

// --- Forwarding tables ---------------------------------------------------------------------------

ForwardingWriter::Tables SubnetManager::wanted_tables() const {
    ForwardingWriter::Tables tables;
    auto linear = linear_tables(subnet_, lids_);
    for (auto& [guid, table] : linear)
        tables[guid] = {
            .node = subnet_.nodes.at(guid), .linear = std::move(table), .multicast = {}};
    for (const GroupMembers& group : administration_.group_members())
        for (const auto& [guid, ports] : multicast_ports(subnet_, group))
            tables[guid].multicast[group.lid] = ports;
    return tables;
}

void SubnetManager::update_multicast(std::function<void()> done) {
    if (state_ != ManagerState::master)
        return;
    writer_.write(wanted_tables(), [this, done = std::move(done)](bool complete) {
        if (!complete)
            request_sweep();
        done();
    });
}

// --- Statistics ----------------------------------------------------------------------------------

nlohmann::json SubnetManager::statistics() const {
    nlohmann::json result = administration_.statistics();
    result["state"] = name_of(state_);
    result["sweeps"] = sweeps_;
    result["smps_sent"] = exchange_.sent();
    result["smps_repeated"] = exchange_.repeated();
    result["traps"] = traps_;
    result["end_ports"] = known_ports_.size();
    return result;
}

} // namespace cxemu::subnet_manager
