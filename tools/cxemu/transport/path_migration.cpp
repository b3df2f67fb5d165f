// SPDX-License-Identifier: GPL-2.0-or-later
#include "transport/path_migration.hpp"

#include "hca/events.hpp"
#include "hwtab/view.hpp"
#include "tables/contexts.hpp"
#include "tables/object_values.hpp"

#include <algorithm>
#include <utility>

namespace cxemu::transport {

enum class PathMigration::State : std::uint8_t {
    armed = hwtab::value<hwtab::qp_migration_state, "armed">,
    rearm = hwtab::value<hwtab::qp_migration_state, "rearm">,
    migrated = hwtab::value<hwtab::qp_migration_state, "migrated">,
};

namespace {

/// A path without destination is invalid.
bool has_alternate(const queues::QueuePair& queue_pair) {
    return queue_pair.context().get<"secondary_address_path.rlid">() != 0;
}

} // namespace

PathMigration::State PathMigration::state() const {
    return static_cast<State>(std::as_const(queue_pair_).context().get<"pm_state">());
}

void PathMigration::set_state(State state) {
    queue_pair_.context().set<"pm_state">(static_cast<std::uint8_t>(state));
    armed_ = state == State::armed;
}

void PathMigration::start() {
    armed_ = state() == State::armed;
}

void PathMigration::attributes_changed() {
    const bool was_armed = std::exchange(armed_, state() == State::armed);
    if (was_armed && migrated() && has_alternate(queue_pair_))
        migrate();
}

bool PathMigration::migrated() const {
    return state() == State::migrated;
}

bool PathMigration::leave_primary() {
    if (state() != State::armed || !has_alternate(queue_pair_))
        return false;
    migrate();
    return true;
}

void PathMigration::arrived_on_primary(const fabric::ParsedPacket& packet) {
    if (state() == State::rearm && !packet.headers.transport.migrated)
        set_state(State::armed);
}

bool PathMigration::expects_alternate(const fabric::ParsedPacket& packet) const {
    return state() == State::armed && packet.headers.transport.migrated &&
           has_alternate(queue_pair_);
}

void PathMigration::refuse() {
    queue_pair_.post_event(hca::EventType::path_migration_failed);
}

void PathMigration::migrate() {
    const auto context = queue_pair_.context();
    const auto alternate = context.nested<"secondary_address_path", hwtab::ads>().memory();
    std::ranges::copy(alternate.first(hwtab::ads.size),
                      context.nested<"primary_address_path", hwtab::ads>().memory().begin());
    set_state(State::migrated);
    queue_pair_.post_event(hca::EventType::path_migrated);
}

} // namespace cxemu::transport
