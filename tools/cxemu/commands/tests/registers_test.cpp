// SPDX-License-Identifier: GPL-2.0-or-later
//
// Port registers of ACCESS_REGISTER.
#include "commands/tests/fixtures.hpp"
#include "hca/rules.hpp"
#include "tables/registers.hpp"

namespace cxemu::commands {
namespace {

using testing::outcome;
using testing::PortCommandTest;

constexpr std::uint16_t write_access = 0;
constexpr std::uint16_t read_access = 1;

class RegistersTest : public PortCommandTest {
protected:
    /// Contents of a register after an access, and the outcome.
    template <const hwtab::Layout& layout>
    struct Access {
        std::string outcome;
        std::vector<std::byte> bytes = std::vector<std::byte>(layout.size);

        [[nodiscard]] hwtab::ConstView<layout> contents() const {
            return hwtab::ConstView<layout>{bytes};
        }
    };

    /// \param size register length in input and output
    std::string access(std::uint64_t id, std::uint16_t op_mod, std::span<std::byte> contents) {
        std::vector<std::byte> input(hwtab::access_register_in.size + contents.size());
        std::vector<std::byte> output(hwtab::access_register_out.size + contents.size());
        const hwtab::View<hwtab::access_register_in> in{std::span<std::byte>(input)};
        in.set<"register_id">(id);
        std::ranges::copy(contents, in.bytes<"register_data">().begin());
        hca::CommandContext context{.hca = bench.hca(),
                                    .input = input,
                                    .output = output,
                                    .op_mod = op_mod,
                                    .explanation = {},
                                    .defer_hook = {}};
        const auto handler = all_commands().find(hwtab::cmd_access_register.opcode)->handler;
        const std::string result = outcome(handler(context));
        std::ranges::copy(context.out<hwtab::access_register_out>().bytes<"register_data">(),
                          contents.begin());
        return result;
    }

    template <const hwtab::Register& definition, const hwtab::Layout& layout>
    Access<layout> access(std::uint16_t op_mod, auto fill) {
        Access<layout> result;
        fill(hwtab::View<layout>{std::span<std::byte>(result.bytes)});
        result.outcome = access(definition.id, op_mod, result.bytes);
        return result;
    }
    /// Reads a register of port 1.
    template <const hwtab::Register& definition, const hwtab::Layout& layout>
    Access<layout> read() {
        return access<definition, layout>(read_access,
                                          [](auto in) { in.template set<"local_port">(1); });
    }
    auto read_ptys() {
        return access<hwtab::access_ptys, hwtab::ptys_reg>(read_access, [](auto in) {
            in.template set<"local_port">(1);
            in.template set<"proto_mask">(hwtab::value<hwtab::ptys_proto_mask, "ib">);
        });
    }
};

TEST_F(RegistersTest, UnknownRegisterRefused) {
    std::vector<std::byte> contents(16);
    EXPECT_EQ(access(0x1234, read_access, contents), "BAD_PARAMETER bad_register");
    EXPECT_EQ(access(hwtab::access_pmtu.id, 2, contents), "BAD_OPERATION unknown_op_mod");
}

TEST_F(RegistersTest, InputTooShortRefused) {
    std::vector<std::byte> contents(12);
    EXPECT_EQ(access(hwtab::access_pmtu.id, read_access, contents),
              "BAD_INPUT_LENGTH input_too_short");
}

TEST_F(RegistersTest, UnknownPortRefused) {
    const auto of_port = [&]<const hwtab::Register & definition, const hwtab::Layout & layout>() {
        return access<definition, layout>(read_access,
                                          [](auto in) { in.template set<"local_port">(2); })
            .outcome;
    };
    constexpr auto wrong_port = "BAD_PARAMETER wrong_port";
    EXPECT_EQ((of_port.operator()<hwtab::access_ptys, hwtab::ptys_reg>()), wrong_port);
    EXPECT_EQ((of_port.operator()<hwtab::access_pmtu, hwtab::pmtu_reg>()), wrong_port);
    EXPECT_EQ((of_port.operator()<hwtab::access_pvlc, hwtab::pvlc_reg>()), wrong_port);
    EXPECT_EQ((of_port.operator()<hwtab::access_paos, hwtab::paos_reg>()), wrong_port);
    EXPECT_EQ((of_port.operator()<hwtab::access_pcap, hwtab::pcap_reg>()), wrong_port);
    EXPECT_EQ((of_port.operator()<hwtab::access_plib, hwtab::plib_reg>()), wrong_port);
    EXPECT_EQ((of_port.operator()<hwtab::access_ppcnt, hwtab::ppcnt_reg>()), wrong_port);
}

TEST_F(RegistersTest, WrittenReservedBitsReported) {
    access<hwtab::access_paos, hwtab::paos_reg>(write_access, [](auto in) {
        in.template set<"local_port">(1);
        in.memory()[2] = std::byte{0x80};
    });
    EXPECT_EQ(bench.violations(hca::rules::reserved_bits_set), 1U);
}

// --- PTYS ----------------------------------------------------------------------------------------

TEST_F(RegistersTest, PtysReturnsCapabilitiesAndOperValues) {
    EXPECT_EQ(read_ptys().contents().get<"data_rate_oper">(), 0U) << "the link is down";
    bring_link_up();
    const auto ptys = read_ptys();
    ASSERT_EQ(ptys.outcome, "OK");
    EXPECT_EQ(ptys.contents().get<"ib_link_width_oper">(), 4U) << "4x";
    EXPECT_EQ(ptys.contents().get<"ib_proto_oper">(), 0x20U) << "EDR";
    EXPECT_EQ(ptys.contents().get<"data_rate_oper">(), 1000U) << "100 Gb/s";
    EXPECT_EQ(ptys.contents().get<"ib_link_width_capability">(), 5U) << "1x and 4x";
}

TEST_F(RegistersTest, PtysWriteRetrainsLink) {
    bring_link_up();
    const auto enable = [&](std::uint64_t widths, std::uint64_t speeds) {
        const auto result = access<hwtab::access_ptys, hwtab::ptys_reg>(write_access, [&](auto in) {
            in.template set<"local_port">(1);
            in.template set<"proto_mask">(hwtab::value<hwtab::ptys_proto_mask, "ib">);
            in.template set<"ib_link_width_admin">(widths);
            in.template set<"ib_proto_admin">(speeds);
        });
        bench.settle();
        return result.outcome;
    };
    EXPECT_EQ(enable(1, 1), "OK");
    EXPECT_EQ(read_ptys().contents().get<"data_rate_oper">(), 20U) << "1x SDR";
    EXPECT_EQ(enable(16, 1), "BAD_PARAMETER bad_register_value") << "12x";
    EXPECT_EQ(enable(1, 0x80), "BAD_PARAMETER bad_register_value") << "NDR";
}

TEST_F(RegistersTest, PtysEthernetProtocolRefused) {
    const auto ethernet = access<hwtab::access_ptys, hwtab::ptys_reg>(read_access, [](auto in) {
        in.template set<"local_port">(1);
        in.template set<"proto_mask">(4);
    });
    EXPECT_EQ(ethernet.outcome, "BAD_PARAMETER bad_register_value");
}

// --- PMTU, PVLC, PAOS, PCAP, PLIB ----------------------------------------------------------------

TEST_F(RegistersTest, PmtuAndPvlcReturnMtuAndLanes) {
    const auto pmtu = read<hwtab::access_pmtu, hwtab::pmtu_reg>();
    EXPECT_EQ(pmtu.contents().get<"max_mtu">(), 4096U);
    const auto pvlc = read<hwtab::access_pvlc, hwtab::pvlc_reg>();
    EXPECT_NE(pvlc.contents().get<"vl_hw_cap">(), 0U);
    const auto plib = read<hwtab::access_plib, hwtab::plib_reg>();
    EXPECT_EQ(plib.contents().get<"ib_port">(), 1U);
}

TEST_F(RegistersTest, WriteMtuAndLanesRefused) {
    const auto write = [&]<const hwtab::Register & definition, const hwtab::Layout & layout>() {
        return access<definition, layout>(write_access,
                                          [](auto in) { in.template set<"local_port">(1); })
            .outcome;
    };
    constexpr auto refused = "BAD_PARAMETER bad_register_value";
    EXPECT_EQ((write.operator()<hwtab::access_pmtu, hwtab::pmtu_reg>()), refused);
    EXPECT_EQ((write.operator()<hwtab::access_pvlc, hwtab::pvlc_reg>()), refused);
    EXPECT_EQ((write.operator()<hwtab::access_plib, hwtab::plib_reg>()), refused);
}

TEST_F(RegistersTest, PaosSetsLinkDownAndUp) {
    bring_link_up();
    const auto set = [&](std::uint64_t status, bool enable) {
        const auto result = access<hwtab::access_paos, hwtab::paos_reg>(write_access, [&](auto in) {
            in.template set<"local_port">(1);
            in.template set<"admin_status">(status);
            in.template set<"ase">(enable ? 1 : 0);
        });
        bench.settle();
        return result.outcome;
    };
    const auto is_up = [&] {
        return read<hwtab::access_paos, hwtab::paos_reg>()
                   .contents()
                   .template get<"oper_status">() == 1;
    };
    EXPECT_TRUE(is_up());
    EXPECT_EQ(set(2, false), "OK");
    EXPECT_TRUE(is_up()) << "without ase nothing changes";
    EXPECT_EQ(set(2, true), "OK");
    EXPECT_FALSE(is_up());
    EXPECT_EQ(set(3, true), "BAD_PARAMETER bad_register_value");
    EXPECT_EQ(set(1, true), "OK");
    EXPECT_TRUE(is_up());
}

TEST_F(RegistersTest, PcapWriteChangesPortCapabilityMask) {
    const auto changeable = fabric::HcaPort::changeable_capabilities();
    const std::uint32_t fixed = port->capability_mask() & ~changeable;
    access<hwtab::access_pcap, hwtab::pcap_reg>(write_access, [&](auto in) {
        in.template set<"local_port">(1);
        in.template set_at<"port_capability_mask">(0, changeable);
    });
    EXPECT_EQ(port->capability_mask(), fixed | changeable);
    const auto pcap = read<hwtab::access_pcap, hwtab::pcap_reg>();
    EXPECT_EQ(pcap.contents().get_at<"port_capability_mask">(0), fixed | changeable);
}

// --- PPCNT ---------------------------------------------------------------------------------------

class CounterRegisterTest : public RegistersTest {
protected:
    auto read_group(std::uint64_t group, bool clear = false) {
        return access<hwtab::access_ppcnt, hwtab::ppcnt_reg>(read_access, [&](auto in) {
            in.template set<"local_port">(1);
            in.template set<"grp">(group);
            in.template set<"clr">(clear ? 1 : 0);
        });
    }
    static constexpr auto port_group = hwtab::value<hwtab::ppcnt_group, "infiniband_port">;
    static constexpr auto extended_group =
        hwtab::value<hwtab::ppcnt_group, "infiniband_extended_port">;
};

TEST_F(CounterRegisterTest, CounterBeyondFieldSaturates) {
    port->port().counters().symbol_errors = 0x12345;
    port->port().counters().link_downed = 3;
    const auto ppcnt = read_group(port_group);
    ASSERT_EQ(ppcnt.outcome, "OK");
    const hwtab::ConstView<hwtab::ib_port_cntrs_grp_data_layout> group{
        ppcnt.contents().bytes<"counter_set">()};
    EXPECT_EQ(group.get<"symbol_error_counter">(), 0xffffU);
    EXPECT_EQ(group.get<"link_downed_counter">(), 3U);
}

TEST_F(CounterRegisterTest, DataCountedInUnitsOfFourBytes) {
    port->port().counters().transmit_bytes = 0x5'0000'0008;
    port->port().counters().transmit_packets = 9;
    const auto ppcnt = read_group(extended_group);
    const hwtab::ConstView<hwtab::ib_ext_port_cntrs_grp_data_layout> group{
        ppcnt.contents().bytes<"counter_set">()};
    EXPECT_EQ(group.get<"port_xmit_data_high">(), 1U);
    EXPECT_EQ(group.get<"port_xmit_data_low">(), 0x4000'0002U);
    EXPECT_EQ(group.get<"port_xmit_pkts_low">(), 9U);
}

TEST_F(CounterRegisterTest, ReadWithClearResetsCounters) {
    port->port().counters().symbol_errors = 5;
    read_group(port_group, true);
    EXPECT_EQ(port->counters().symbol_errors, 0U);
}

TEST_F(CounterRegisterTest, EthernetGroupRefused) {
    EXPECT_EQ(read_group(0).outcome, "BAD_PARAMETER bad_register_value");
}

// --- NODE_DESC -----------------------------------------------------------------------------------

TEST_F(RegistersTest, NodeDescriptionReadBackAsWritten) {
    std::vector<std::byte> text(64);
    const std::string_view wanted = "a node";
    std::ranges::transform(wanted, text.begin(), [](char c) { return std::byte(c); });
    EXPECT_EQ(access(hwtab::access_node_desc.id, write_access, text), "OK");
    EXPECT_EQ(port->node_description(), wanted);
    std::ranges::fill(text, std::byte{0});
    EXPECT_EQ(access(hwtab::access_node_desc.id, read_access, text), "OK");
    EXPECT_EQ(text[5], std::byte{'e'});
    EXPECT_EQ(text[6], std::byte{0});
}

TEST_F(RegistersTest, NodeDescriptionOfFullLengthAccepted) {
    std::vector<std::byte> text(64, std::byte{'x'});
    EXPECT_EQ(access(hwtab::access_node_desc.id, write_access, text), "OK");
    EXPECT_EQ(port->node_description(), std::string(64, 'x'));
    EXPECT_EQ(access(hwtab::access_node_desc.id, read_access, text), "OK");
    EXPECT_EQ(text.back(), std::byte{'x'});
}

} // namespace
} // namespace cxemu::commands
