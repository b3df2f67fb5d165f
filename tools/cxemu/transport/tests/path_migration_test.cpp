// SPDX-License-Identifier: GPL-2.0-or-later
//
// Automatic path migration. The primary path has no GRH, the alternate one has.
#include "transport/testing/peers.hpp"

#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cxemu::transport {
namespace {

using queues::CompletionError;
using queues::SendOpcode;
using testing::ConnectionOptions;
using testing::Data;
using testing::Peer;
using testing::Peers;
using testing::Send;
using ::testing::SizeIs;

enum class State : std::uint8_t { armed = 0, rearm = 1, migrated = 3 };

constexpr std::uint64_t alternate_path =
    hwtab::value<hwtab::qp_optional_parameters, "alt_addr_path">;
constexpr std::uint64_t migration_state = hwtab::value<hwtab::qp_optional_parameters, "pm_state">;

struct Migration : Peers {
    explicit Migration(const ConnectionOptions& wanted = {}) : Peers(wanted) {
        connect();
        for (Peer* peer : {&first, &second})
            set_state(*peer, State::migrated);
    }

    static void modify(Peer& peer, std::uint64_t mask, auto fill) {
        queues::testing::Call<hwtab::cmd_rts2rts_qp> call;
        call.in().set<"qpn">(peer.queue_pair().number());
        call.in().set<"opt_param_mask">(mask);
        fill(call.in().nested<"qpc", hwtab::qpc>());
        EXPECT_TRUE(peer.bench.run(call));
    }
    static void set_state(Peer& peer, State state) {
        modify(peer, migration_state,
               [state](auto context) { context.template set<"pm_state">(int(state)); });
    }
    /// Gives \p peer an alternate path to \p lid and rearms migration.
    static void load_alternate(Peer& peer, fabric::Lid lid) {
        modify(peer, alternate_path | migration_state, [&peer, lid](auto context) {
            const auto path = context.template nested<"secondary_address_path", hwtab::ads>();
            path.template set<"vhca_port_num">(1);
            path.template set<"rlid">(lid);
            path.template set<"ack_timeout">(14);
            path.template set<"grh">(1);
            path.template set<"hop_limit">(1);
            std::ranges::copy(peer.other->port.gid(0).bytes,
                              path.template bytes<"rgid_rip">().begin());
            context.template set<"pm_state">(int(State::rearm));
        });
    }
    void arm() {
        load_alternate(first, second.port.lid());
        load_alternate(second, first.port.lid());
        write();
    }
    /// Writes from the first peer. \return whether the data has arrived
    bool write() {
        const Data source = first.fill(600, 5);
        const Data target = second.space(600);
        first.post(Send{.opcode = SendOpcode::rdma_write, .data = {source}, .remote = target});
        run();
        return first.contents(source) == second.contents(target);
    }
    void break_primary() {
        set_fate([](std::size_t, const auto& packet) { return packet.headers.global ? 1 : 0; });
    }
    [[nodiscard]] static State state(const Peer& peer) {
        return static_cast<State>(peer.queue_pair().context().get<"pm_state">());
    }
    static std::size_t migrations(Peer& peer) { return peer.events(hca::EventType::path_migrated); }
};

TEST(PathMigration, RearmedPeersBecomeArmed) {
    Migration peers;
    peers.load_alternate(peers.first, 2);
    EXPECT_TRUE(peers.write());
    EXPECT_EQ(peers.state(peers.first), State::rearm) << "the other side has no alternate path";
    peers.load_alternate(peers.second, 1);
    EXPECT_TRUE(peers.write());
    EXPECT_EQ(peers.state(peers.first), State::armed);
    EXPECT_EQ(peers.state(peers.second), State::armed);
    EXPECT_EQ(peers.migrations(peers.first), 0U);
}

TEST(PathMigration, SentPacketsCarryMigReq) {
    Migration peers;
    peers.take_packets();
    peers.write();
    for (const auto& headers : peers.take_packets())
        EXPECT_TRUE(headers.transport.migrated);
    peers.arm();
    peers.take_packets();
    peers.write();
    for (const auto& headers : peers.take_packets())
        EXPECT_FALSE(headers.transport.migrated);
}

TEST(PathMigration, PrimaryRetriesExhaustedMigrates) {
    Migration peers({.retries = 2});
    peers.arm();
    peers.first.poll();
    peers.break_primary();
    EXPECT_TRUE(peers.write());
    const auto results = peers.first.poll();
    ASSERT_THAT(results, SizeIs(1));
    EXPECT_FALSE(results[0].error);
    for (Peer* peer : {&peers.first, &peers.second}) {
        EXPECT_EQ(peers.state(*peer), State::migrated);
        EXPECT_EQ(peers.migrations(*peer), 1U) << "software is notified";
    }
    EXPECT_TRUE(peers.write()) << "it stays there";
}

TEST(PathMigration, ZeroRetriesMigrate) {
    Migration peers({.retries = 0});
    peers.arm();
    peers.break_primary();
    EXPECT_TRUE(peers.write());
    EXPECT_EQ(peers.migrations(peers.first), 1U);
}

TEST(PathMigration, MigrationHappensOnceUntilRearmed) {
    Migration peers({.retries = 1});
    peers.arm();
    peers.first.poll();
    peers.set_fate([](std::size_t, const auto&) { return 0; });
    peers.write();
    const auto results = peers.first.poll();
    ASSERT_THAT(results, SizeIs(1));
    EXPECT_EQ(results[0].error, CompletionError::transport_retries);
    EXPECT_EQ(peers.migrations(peers.first), 1U);
}

TEST(PathMigration, SoftwareRequestMigrates) {
    Migration peers;
    peers.arm();
    peers.set_state(peers.first, State::migrated);
    EXPECT_EQ(peers.migrations(peers.first), 1U);
    peers.take_packets();
    EXPECT_TRUE(peers.write());
    for (const auto& headers : peers.take_packets())
        EXPECT_TRUE(headers.global) << "both sides send on the alternate path";
    EXPECT_EQ(peers.migrations(peers.second), 1U);
}

TEST(PathMigration, ForeignPathRefused) {
    Migration peers({.retries = 1});
    peers.load_alternate(peers.first, 2);
    peers.load_alternate(peers.second, 9); // not the LID of the first peer
    peers.write();
    peers.set_state(peers.first, State::migrated);
    EXPECT_FALSE(peers.write());
    EXPECT_GT(peers.second.events(hca::EventType::path_migration_failed), 0U);
    EXPECT_EQ(peers.migrations(peers.second), 0U);
}

} // namespace
} // namespace cxemu::transport
