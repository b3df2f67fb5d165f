// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Fixtures for tests of command handlers.
#pragma once

#include "commands/table.hpp"
#include "fabric/fabric.hpp"
#include "queues/testing/bench.hpp"
#include "tables/commands_port.hpp"
#include "transport/packet_transport.hpp"

#include <cstdint>
#include <gtest/gtest.h>
#include <spdlog/fmt/fmt.h>
#include <string>

namespace cxemu::commands::testing {

using queues::testing::Bench;
using queues::testing::Call;

/// Status and syndrome by name: "OK", "BAD_PARAMETER bad_vector".
inline std::string outcome(const hca::CommandResult& result) {
    if (result)
        return "OK";
    return fmt::format("{} {}", hca::name_of(result.status), hca::describe(result.syndrome).name);
}

/// An HCA on the bench, and commands to it.
class CommandTest : public ::testing::Test {
protected:
    explicit CommandTest(const hca::HcaSettings& settings = Bench::default_settings())
        : bench(settings) {}

    /// A number that no object has.
    static constexpr std::uint32_t no_object = 0x3ff;

    /// Runs a command whose input \p fill writes. \return outcome()
    template <const hwtab::Command& command>
    std::string run(auto fill, std::uint16_t op_mod = 0, std::uint16_t uid = 0) {
        Call<command> call;
        fill(call.in());
        return outcome(bench.run(call, op_mod, uid));
    }

    /// Runs a command that would succeed, had \p spoil not changed its input.
    template <const hwtab::Command& command>
    std::string corrupted(Call<command> good, auto corrupt_entry) {
        corrupt_entry(good.in());
        return outcome(bench.run(good));
    }

    /// Registers \p count pages at \p memory. \return the number of the umem
    std::uint64_t make_umem(std::uint64_t memory, std::size_t count) {
        Call<hwtab::cmd_create_umem> call(count * sizeof(std::uint64_t));
        call.in().template set<"umem.num_of_mtt">(count);
        Bench::list_pages(call.input().subspan(hwtab::create_umem_in.size), memory);
        EXPECT_EQ(outcome(bench.run(call)), "OK");
        return call.out().template get<"umem_id">();
    }
    std::string destroy_umem(std::uint64_t number) {
        return run<hwtab::cmd_destroy_umem>([&](auto in) { in.template set<"umem_id">(number); });
    }

    Bench bench;
};

/// The same with a port, a switch behind it, and the transport.
class PortCommandTest : public CommandTest {
protected:
    explicit PortCommandTest(const hca::HcaSettings& settings = Bench::default_settings())
        : CommandTest(settings), fabric(bench.hca().loop(), fabric::SwitchSettings{}) {
        fabric::HcaPortSettings of_port;
        of_port.node_guid = node_guid;
        of_port.port_guid = port_guid;
        port = *fabric.add(of_port);
        bench.hca().add_port(*port);
        bench.hca().add<transport::PacketTransport>();
    }
    ~PortCommandTest() override {
        bench.hca()
            .part<transport::PacketTransport>()
            .release_ports(); // ports are destroyed before the part
    }
    /// Brings the link up.
    void bring_link_up() {
        bench.settle();
        ASSERT_EQ(port->state(), fabric::PortState::init);
    }

    static constexpr fabric::Guid node_guid = 0x0002'c903'00ce'1000;
    static constexpr fabric::Guid port_guid = 0x0002'c903'00ce'1001;

    fabric::Fabric fabric;
    fabric::HcaPort* port = nullptr;
};

} // namespace cxemu::commands::testing
