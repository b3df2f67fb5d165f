// SPDX-License-Identifier: GPL-2.0-or-later
//
// Port attributes and MAD_IFC.
#include "commands/tests/fixtures.hpp"
#include "fabric/tests/fixtures.hpp"
#include "tables/datagrams.hpp"

namespace cxemu::commands {
namespace {

using fabric::Mad;
using fabric::MadMethod;
using fabric::testing::attribute;
using fabric::testing::data_of;
using fabric::testing::make_mad;
using fabric::testing::make_smp;
using testing::Call;
using testing::outcome;
using testing::PortCommandTest;

class PortCommandsTest : public PortCommandTest {
protected:
    /// QUERY_HCA_VPORT_CONTEXT of port 1.
    hwtab::View<hwtab::hca_vport_context> context() {
        query = Call<hwtab::cmd_query_hca_vport_context>();
        query.in().set<"port_num">(1);
        EXPECT_EQ(outcome(bench.run(query)), "OK");
        return query.out().nested<"hca_vport_context", hwtab::hca_vport_context>();
    }
    std::string modify(auto fill) {
        return run<hwtab::cmd_modify_hca_vport_context>([&](auto in) {
            in.template set<"port_num">(1);
            fill(in.template nested<"hca_vport_context", hwtab::hca_vport_context>());
        });
    }

    /// The response of the port's agents to a MAD sent by MAD_IFC.
    Mad ask(const Mad& request, std::uint16_t op_mod = 0) {
        Call<hwtab::cmd_mad_ifc> call;
        call.in().set<"port">(1);
        std::ranges::copy(request, call.in().bytes<"mad">().begin());
        last = outcome(bench.run(call, op_mod));
        Mad response{};
        std::ranges::copy(call.out().bytes<"response_mad_packet">(), response.begin());
        return response;
    }

    /// Sets PortInfo to its present value with \p change applied.
    void set_port_info(auto change) {
        Mad request = ask(make_smp(MadMethod::get, attribute<"port_info">, 1), ignore_key);
        fabric::Smp(request).set<"method">(static_cast<std::uint64_t>(MadMethod::set));
        const auto info = data_of<hwtab::port_info>(request);
        info.set<"port_state">(0);
        info.set<"port_physical_state">(0);
        change(info);
        ask(request, ignore_key);
        ASSERT_EQ(last, "OK");
    }

    static constexpr auto ignore_key =
        static_cast<std::uint16_t>(hwtab::value<hwtab::mad_ifc_op_mod, "ignore_mkey">);

    Call<hwtab::cmd_query_hca_vport_context> query;
    std::string last; ///< outcome of the last MAD_IFC
};

// --- Attributes ----------------------------------------------------------------------------------

TEST_F(PortCommandsTest, QueryHcaVportReturnsStateAndGuids) {
    EXPECT_EQ(context().get<"port_state">(), 1U) << "the link is not trained yet";
    bring_link_up();
    const auto port_context = context();
    EXPECT_EQ(port_context.get<"port_state">(), 2U);
    EXPECT_EQ(port_context.get<"vport_state">(), 2U);
    EXPECT_EQ(port_context.get<"port_physical_state">(), 5U);
    EXPECT_EQ(port_context.get<"node_guid">(), node_guid);
    EXPECT_EQ(port_context.get<"port_guid">(), port_guid);
    EXPECT_EQ(port_context.get<"has_smi">(), 1U);
}

TEST_F(PortCommandsTest, UnknownPortRefused) {
    const auto refused = [&]<const hwtab::Command & command>() {
        return run<command>([](auto in) { in.template set<"port_num">(2); });
    };
    constexpr auto wrong_port = "BAD_PARAMETER wrong_port";
    EXPECT_EQ(refused.operator()<hwtab::cmd_query_hca_vport_context>(), wrong_port);
    EXPECT_EQ(refused.operator()<hwtab::cmd_modify_hca_vport_context>(), wrong_port);
    EXPECT_EQ(refused.operator()<hwtab::cmd_query_hca_vport_gid>(), wrong_port);
    EXPECT_EQ(refused.operator()<hwtab::cmd_query_hca_vport_pkey>(), wrong_port);
    for (const std::uint64_t number : {0U, 2U}) {
        EXPECT_EQ(run<hwtab::cmd_mad_ifc>([&](auto in) { in.template set<"port">(number); }),
                  wrong_port)
            << number;
    }
}

TEST_F(PortCommandsTest, OtherFunctionPortRefused) {
    const auto refused = [&]<const hwtab::Command & command>() {
        return run<command>([](auto in) { in.template set<"other_vport">(1); });
    };
    constexpr auto not_supported = "BAD_PARAMETER not_supported";
    EXPECT_EQ(refused.operator()<hwtab::cmd_query_hca_vport_context>(), not_supported);
    EXPECT_EQ(refused.operator()<hwtab::cmd_modify_hca_vport_context>(), not_supported);
    EXPECT_EQ(refused.operator()<hwtab::cmd_query_hca_vport_gid>(), not_supported);
    EXPECT_EQ(refused.operator()<hwtab::cmd_query_hca_vport_pkey>(), not_supported);
    EXPECT_EQ(refused.operator()<hwtab::cmd_query_vport_state>(), not_supported);
}

TEST_F(PortCommandsTest, ModifiedGuidsVisibleEverywhere) {
    EXPECT_EQ(modify([](auto wanted) {
                  wanted.template set<"field_select">(3);
                  wanted.template set<"node_guid">(0x1111);
                  wanted.template set<"port_guid">(0x2222);
              }),
              "OK");
    EXPECT_EQ(context().get<"node_guid">(), 0x1111U);
    EXPECT_EQ(context().get<"port_guid">(), 0x2222U);
    const Mad node_info = ask(make_smp(MadMethod::get, attribute<"node_info">));
    EXPECT_EQ(data_of<hwtab::node_info>(node_info).get<"node_guid">(), 0x1111U);
    EXPECT_EQ(data_of<hwtab::node_info>(node_info).get<"port_guid">(), 0x2222U);
    EXPECT_EQ(port->gid(0).guid(), 0x2222U);
}

TEST_F(PortCommandsTest, ModifyUnselectedFieldsUnchanged) {
    EXPECT_EQ(modify([](auto wanted) { wanted.template set<"node_guid">(0x1111); }), "OK");
    EXPECT_EQ(context().get<"node_guid">(), node_guid);
}

TEST_F(PortCommandsTest, ModifyCapabilityMaskChangesBit) {
    const auto changeable = context().get<"cap_mask1_field_select">();
    const auto bit = changeable & ~(changeable - 1);
    const auto set_bit = [&](std::uint64_t value) {
        return modify([&](auto wanted) {
            wanted.template set<"cap_mask1_field_select">(bit);
            wanted.template set<"cap_mask1">(value);
        });
    };
    EXPECT_EQ(set_bit(bit), "OK");
    EXPECT_EQ(context().get<"cap_mask1">() & bit, bit);
    EXPECT_EQ(set_bit(0), "OK");
    EXPECT_EQ(context().get<"cap_mask1">() & bit, 0U);
}

TEST_F(PortCommandsTest, ModifyUnsupportedFieldsRefused) {
    EXPECT_EQ(modify([](auto wanted) { wanted.template set<"field_select">(8); }),
              "BAD_PARAMETER field_out_of_range");
    EXPECT_EQ(modify([](auto wanted) {
                  wanted.template set<"field_select">(4);
                  wanted.template set<"vport_state_policy">(0);
              }),
              "BAD_PARAMETER not_supported");
    EXPECT_EQ(modify([](auto wanted) {
                  wanted.template set<"field_select">(4);
                  wanted.template set<"vport_state_policy">(2);
              }),
              "OK");
    EXPECT_EQ(
        modify([](auto wanted) { wanted.template set<"cap_mask1_field_select">(0xffff'ffff); }),
        "BAD_PARAMETER field_out_of_range");
    EXPECT_EQ(modify([](auto wanted) { wanted.template set<"cap_mask2_field_select">(1); }),
              "BAD_PARAMETER field_out_of_range");
}

TEST_F(PortCommandsTest, QueryVportStateReturnsPortState) {
    const auto state = [&](std::uint16_t op_mod) {
        Call<hwtab::cmd_query_vport_state> call;
        EXPECT_EQ(outcome(bench.run(call, op_mod)), "OK");
        return call.out().get<"state">();
    };
    bring_link_up();
    EXPECT_EQ(state(0), 0U) << "not active";
    set_port_info([](auto info) { info.template set<"lid">(17); });
    for (const std::uint64_t wanted : {3U, 4U})
        set_port_info([&](auto info) { info.template set<"port_state">(wanted); });
    EXPECT_EQ(state(0), 1U);
    EXPECT_EQ(state(2), 1U);
    EXPECT_EQ(run<hwtab::cmd_query_vport_state>([](auto) {}, 3), "BAD_OPERATION unknown_op_mod");
}

// --- Tables --------------------------------------------------------------------------------------

class PortTablesTest : public PortCommandsTest {
protected:
    /// \param room output length behind the header, bytes
    template <const hwtab::Command& command, hwtab::FixedString index_name>
    std::vector<std::byte> table(std::uint64_t index, std::size_t room) {
        Call<command> call;
        call.in().template set<index_name>(index);
        std::vector<std::byte> output(command.output->size + room);
        hca::CommandContext command_context{.hca = bench.hca(),
                                            .input = call.input(),
                                            .output = output,
                                            .explanation = {},
                                            .defer_hook = {}};
        last = outcome(all_commands().find(command.opcode)->handler(command_context));
        return output;
    }
    auto gids(std::uint64_t index, std::size_t room) {
        return table<hwtab::cmd_query_hca_vport_gid, "gid_index">(index, room);
    }
    auto p_keys(std::uint64_t index, std::size_t room) {
        return table<hwtab::cmd_query_hca_vport_pkey, "pkey_index">(index, room);
    }
    static constexpr std::uint64_t all = 0xffff;
};

TEST_F(PortTablesTest, GidEndsWithPortGuid) {
    const auto output = gids(0, 16);
    ASSERT_EQ(last, "OK");
    const std::span<const std::byte> bytes(output);
    EXPECT_EQ(load_be<std::uint64_t>(bytes.subspan(16)), 0xfe80'0000'0000'0000U);
    EXPECT_EQ(load_be<std::uint64_t>(bytes.subspan(24)), port_guid);
    EXPECT_EQ(hwtab::ConstView<hwtab::query_hca_vport_gid_out>{bytes}.get<"gids_num">(), 1U);
}

TEST_F(PortTablesTest, QueryWholeTableReturnsAllEntries) {
    const auto output = gids(all, port->gid_count() * 16);
    ASSERT_EQ(last, "OK");
    EXPECT_EQ(hwtab::ConstView<hwtab::query_hca_vport_gid_out>{std::span(output)}.get<"gids_num">(),
              8U);
    p_keys(all, 128 * 4);
    EXPECT_EQ(last, "OK");
    gids(all, port->gid_count() * 16 - 1);
    EXPECT_EQ(last, "BAD_OUTPUT_LENGTH output_too_short");
    p_keys(all, 127 * 4);
    EXPECT_EQ(last, "BAD_OUTPUT_LENGTH output_too_short");
    gids(0, 0);
    EXPECT_EQ(last, "BAD_OUTPUT_LENGTH output_too_short");
}

TEST_F(PortTablesTest, PKeyTableHasDefaultPartition) {
    const auto output = p_keys(0, 4);
    ASSERT_EQ(last, "OK");
    EXPECT_EQ(load_be<std::uint32_t>(std::span<const std::byte>(output).subspan(16)), 0xffffU);
}

TEST_F(PortTablesTest, IndexBeyondTableRefused) {
    gids(7, 16);
    EXPECT_EQ(last, "OK");
    gids(8, 16);
    EXPECT_EQ(last, "BAD_PARAMETER bad_gid_index");
    p_keys(127, 4);
    EXPECT_EQ(last, "OK");
    p_keys(128, 4);
    EXPECT_EQ(last, "BAD_PARAMETER bad_pkey_index");
    EXPECT_EQ(bench.hca().capabilities().current<"gid_table_size">(), 0U) << "code for 8";
    EXPECT_EQ(bench.hca().capabilities().current<"pkey_table_size">(), 0U) << "code for 128";
}

TEST_F(PortCommandsTest, QueryLagSaysPortsAreNotAggregated) {
    Call<hwtab::cmd_query_lag> call;
    EXPECT_EQ(outcome(bench.run(call)), "OK");
    const auto lag = call.out().nested<"ctx", hwtab::lagc>();
    EXPECT_EQ(lag.get<"lag_state">(), 0U);
    EXPECT_EQ(lag.get<"port_select_mode">(), 0U);
}

// --- MAD_IFC -------------------------------------------------------------------------------------

TEST_F(PortCommandsTest, MadIfcReturnsAgentResponse) {
    const Mad response = ask(make_smp(MadMethod::get, attribute<"node_info">));
    EXPECT_EQ(last, "OK");
    EXPECT_EQ(fabric::method_of(response), MadMethod::get_response);
    EXPECT_EQ(data_of<hwtab::node_info>(response).get<"node_guid">(), node_guid);
}

TEST_F(PortCommandsTest, LidSetByMadReturned) {
    set_port_info([](auto info) {
        info.template set<"lid">(17);
        info.template set<"master_sm_lid">(3);
    });
    EXPECT_EQ(context().get<"lid">(), 17U);
    EXPECT_EQ(context().get<"sm_lid">(), 3U);
}

TEST_F(PortCommandsTest, MadIfcUnhandledMadRefused) {
    constexpr std::uint8_t unknown_class = 0x30;
    const Mad response = ask(make_mad(unknown_class, MadMethod::get, 1));
    EXPECT_EQ(last, "OK");
    EXPECT_EQ(fabric::testing::status_of(response),
              fabric::testing::code(fabric::MadStatus::bad_version));
    ask(make_mad(unknown_class, MadMethod::trap, 1));
    EXPECT_EQ(last, "BAD_PACKET bad_datagram");
}

TEST_F(PortCommandsTest, MadIfcChecksMKeyUnlessDisabled) {
    set_port_info([](auto info) {
        info.template set<"m_key">(0x1234);
        info.template set<"m_key_protect_bits">(2);
    });
    const Mad get = make_smp(MadMethod::get, attribute<"port_info">, 1);
    ask(get);
    EXPECT_EQ(last, "BAD_PACKET bad_datagram");
    ask(get, ignore_key);
    EXPECT_EQ(last, "OK");
    ask(make_smp(MadMethod::get, attribute<"port_info">, 1, 0x1234));
    EXPECT_EQ(last, "OK");
}

TEST_F(PortCommandsTest, MadIfcTrapRepressHasNoResponse) {
    const Mad response = ask(make_smp(MadMethod::trap_repress, attribute<"notice">));
    EXPECT_EQ(last, "OK");
    EXPECT_EQ(response, Mad{});
}

} // namespace
} // namespace cxemu::commands
