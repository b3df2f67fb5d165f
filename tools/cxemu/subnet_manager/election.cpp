// SPDX-License-Identifier: GPL-2.0-or-later
//
// The election of the master (InfiniBand specification, 14.4.1).
#include "subnet_manager/subnet_manager.hpp"

#include <algorithm>

namespace cxemu::subnet_manager {
namespace {

using fabric::Mad;
using fabric::MadMethod;

constexpr std::uint64_t sm_info_id = hwtab::value<hwtab::smp_attribute, "sm_info">;

template <hwtab::FixedString name>
constexpr std::uint64_t modifier_of = hwtab::value<hwtab::sm_info_modifier, name>;

bool is_in(const RemoteManager& manager, ManagerState state) {
    return manager.state == static_cast<std::uint8_t>(state);
}

} // namespace

/// The higher priority wins, then the lower GUID.
bool SubnetManager::is_higher(const RemoteManager& other) const {
    if (other.priority != settings_.priority)
        return other.priority > settings_.priority;
    return other.guid < settings_.guid;
}

/// \return true if the sweep has ended because another manager is or becomes the master, or may
/// become it
bool SubnetManager::defers_to_another() {
    std::vector<RemoteManager> others = subnet_.managers;
    std::erase_if(others, [this](const RemoteManager& other) {
        if (is_in(other, ManagerState::not_active))
            return true;
        if (other.sm_key != settings_.sm_key)
            log_->error("manager {:#018x} is ignored: SM_Key {:#x} (own {:#x})", other.guid,
                        other.sm_key, settings_.sm_key);
        return other.sm_key != settings_.sm_key;
    });
    const auto master = std::ranges::find_if(
        others, [](const auto& other) { return is_in(other, ManagerState::master); });
    const auto highest = std::ranges::find_if(others, [this, &others](const auto& other) {
        return is_higher(other) && std::ranges::all_of(others, [&other](const auto& third) {
                   return third.guid == other.guid || third.priority < other.priority ||
                          (third.priority == other.priority && third.guid > other.guid);
               });
    });
    if (state_ == ManagerState::discovering) {
        if (master == others.end() && highest == others.end())
            return false;
        stand_by(master != others.end() ? *master : *highest);
        return true;
    }
    if (master != others.end() && !is_higher(*master)) {
        // The other manager also finds this manager, and hands over to it.
        stop_work();
        schedule(true, settings_.retry_interval);
        return true;
    }
    if (highest == others.end())
        return false;
    hand_over(*highest);
    return true;
}

void SubnetManager::stand_by(const RemoteManager& master) {
    stop_work();
    become(ManagerState::standby);
    log_->info("manager {:#018x} is master", master.guid);
    master_ = master;
    silent_polls_ = 0;
    sweep_timer_.start(settings_.polling_interval);
    ask_for_handover();
}

/// A master with lower priority must learn that there is a manager with higher priority.
void SubnetManager::ask_for_handover() {
    if (master_ && is_in(*master_, ManagerState::master) && !is_higher(*master_))
        host_.report_manager_priority();
}

/// The other manager becomes master when it has received the request.
void SubnetManager::hand_over(const RemoteManager& other) {
    stop_work();
    const auto info = own_info();
    exchange_.request(
        directed_smp(MadMethod::set, sm_info_id, other.path, modifier_of<"handover">, info),
        [this, other](const Mad* response) {
            if (response != nullptr && status_of(*response) == 0)
                return stand_by(other);
            schedule(true, settings_.retry_interval);
        });
}

void SubnetManager::poll_master() {
    if (!master_)
        return;
    sweep_timer_.start(settings_.polling_interval);
    exchange_.request(directed_smp(MadMethod::get, sm_info_id, master_->path),
                      [this](const Mad* response) {
                          if (state_ != ManagerState::standby || !master_)
                              return;
                          const bool is_there = response != nullptr && status_of(*response) == 0;
                          silent_polls_ = is_there ? 0 : silent_polls_ + 1;
                          if (silent_polls_ > settings_.polling_attempts)
                              return discover_again();
                          if (!is_there)
                              return;
                          const hwtab::ConstView<hwtab::sm_info> info(data_of(*response));
                          master_->state = static_cast<std::uint8_t>(info.get<"sm_state">());
                          master_->priority = static_cast<std::uint8_t>(info.get<"priority">());
                          if (!is_in(*master_, ManagerState::master) && !is_higher(*master_))
                              return discover_again();
                          ask_for_handover();
                      });
}

void SubnetManager::discover_again() {
    stop_work();
    become(ManagerState::discovering);
    request_sweep();
}

// --- SMInfo --------------------------------------------------------------------------------------

std::array<std::byte, fabric::smp_data_size> SubnetManager::own_info() const {
    std::array<std::byte, fabric::smp_data_size> bytes{};
    const hwtab::View<hwtab::sm_info> info(bytes);
    info.set<"guid">(settings_.guid);
    info.set<"sm_key">(settings_.sm_key);
    info.set<"act_count">(exchange_.sent() & 0xffff'ffffU);
    info.set<"priority">(settings_.priority);
    info.set<"sm_state">(static_cast<std::uint64_t>(state_));
    return bytes;
}

void SubnetManager::take_manager_info(const Mad& request, const fabric::MadOrigin& origin) {
    const fabric::ConstMadHeader header(request);
    const hwtab::ConstView<hwtab::sm_info> other(data_of(request));
    const bool accepted =
        fabric::method_of(request) == MadMethod::get ||
        take_control(static_cast<std::uint32_t>(header.get<"attribute_modifier">()),
                     static_cast<std::uint8_t>(other.get<"sm_state">()));
    Mad reply = request;
    std::ranges::copy(own_info(), fabric::Smp(reply).bytes<"data">().begin());
    fabric::make_response(reply,
                          accepted ? fabric::MadStatus::ok : fabric::MadStatus::invalid_field);
    host_.respond_to_smp(reply, origin);
}

/// Set(SMInfo) of another manager. \return false when the states don't allow it
bool SubnetManager::take_control(std::uint32_t modifier, std::uint8_t remote_state) {
    if (modifier == modifier_of<"acknowledge">)
        return remote_state == static_cast<std::uint8_t>(ManagerState::standby) &&
               state_ != ManagerState::not_active;
    if (remote_state != static_cast<std::uint8_t>(ManagerState::master))
        return false;
    const bool is_standby = state_ == ManagerState::standby;
    switch (modifier) {
    case modifier_of<"handover">:
        if (state_ == ManagerState::not_active)
            return false;
        if (is_standby)
            become(ManagerState::master);
        request_sweep();
        return true;
    case modifier_of<"disable">:
        if (!is_standby)
            return false;
        stop_work();
        become(ManagerState::not_active);
        return true;
    case modifier_of<"standby">:
        if (state_ != ManagerState::not_active || !master_)
            return false;
        stand_by(RemoteManager(*master_));
        return true;
    case modifier_of<"discover">:
        if (!is_standby && state_ != ManagerState::master)
            return false;
        discover_again();
        return true;
    default:
        return false;
    }
}

} // namespace cxemu::subnet_manager
