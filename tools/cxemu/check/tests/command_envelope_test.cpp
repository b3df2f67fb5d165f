// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/command_envelope.hpp"
#include "hwtab/view.hpp"
#include "tables/commands_device.hpp"
#include "tables/commands_memory.hpp"
#include "tables/commands_objects.hpp"
#include "tables/commands_port.hpp"
#include "tables/commands_queue_pairs.hpp"
#include "tables/registers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace cxemu::check {
namespace {

using ::testing::Contains;
using ::testing::Key;
using ::testing::Not;

/// A command of which the test sets the fields.
template <const hwtab::Command& command>
struct Sent {
    std::vector<std::byte> input = std::vector<std::byte>(command.input->size);
    std::vector<std::byte> output = std::vector<std::byte>(command.output->size);

    hwtab::View<*command.input> in() { return hwtab::View<*command.input>{std::span(input)}; }
    hwtab::View<*command.output> out() { return hwtab::View<*command.output>{std::span(output)}; }
    void set_op_mod(std::uint64_t value) {
        hwtab::write_bits(input.data(), hwtab::op_mod_field.offset, hwtab::op_mod_field.width,
                          value);
    }
};

class CommandEnvelopeTest : public ::testing::Test {
protected:
    template <const hwtab::Command& command>
    void record(const Sent<command>& sent) {
        commands_.record({.command = &command,
                          .input = sent.input,
                          .output = sent.output,
                          .output_length = static_cast<std::uint32_t>(sent.output.size())});
    }

    Envelope envelope_;
    CommandEnvelope commands_{envelope_};
};

TEST_F(CommandEnvelopeTest, VariantNamedInSubject) {
    Sent<hwtab::cmd_query_hca_cap> sent;
    sent.set_op_mod(1); // query_hca_cap_op_mod: general_current
    record(sent);
    EXPECT_THAT(envelope_.text(), Contains(Key("query_hca_cap general_current")));
}

TEST_F(CommandEnvelopeTest, TransitionNamedByServiceOfCreation) {
    Sent<hwtab::cmd_create_qp> create;
    create.in().set<"qpc.st">(hwtab::value<hwtab::qp_service_type, "ud">);
    create.out().set<"qpn">(0x123);
    record(create);
    Sent<hwtab::cmd_rst2init_qp> transition;
    transition.in().set<"qpn">(0x123);
    record(transition);
    transition.in().set<"qpn">(0x124);
    record(transition);
    EXPECT_THAT(envelope_.text(), Contains(Key("create_qp ud")));
    EXPECT_THAT(envelope_.text(), Contains(Key("rst2init_qp ud")));
    EXPECT_THAT(envelope_.text(), Contains(Key("rst2init_qp unknown"))) << "another number";
}

TEST_F(CommandEnvelopeTest, KeyNamedByAccessMode) {
    Sent<hwtab::cmd_create_mkey> sent;
    sent.in().set<"memory_key_mkey_entry.access_mode_4_2">(1); // mkey_access_mode: memic is 5
    sent.in().set<"memory_key_mkey_entry.access_mode_1_0">(1);
    record(sent);
    EXPECT_THAT(envelope_.text(), Contains(Key("create_mkey memic")));
}

TEST_F(CommandEnvelopeTest, RegisterContentsRecorded) {
    Sent<hwtab::cmd_access_register> sent;
    sent.in().set<"register_id">(hwtab::access_pmtu.id);
    sent.set_op_mod(1); // access_register_op_mod: read
    sent.input.resize(sent.input.size() + hwtab::pmtu_reg.size);
    hwtab::View<hwtab::pmtu_reg>{std::span(sent.input).subspan(hwtab::access_register_in.size)}
        .set<"local_port">(1);
    record(sent);
    const auto text = envelope_.text();
    ASSERT_THAT(text, Contains(Key("access_register pmtu read")));
    EXPECT_EQ(text.at("access_register pmtu read contents"),
              (EnvelopeFields{{"local_port", {"nonzero"}}}));
}

TEST_F(CommandEnvelopeTest, LengthsRecorded) {
    Sent<hwtab::cmd_alloc_pd> sent;
    record(sent);
    // alloc_pd_in and alloc_pd_out have 16 bytes in mlx5_ifc.h
    EXPECT_EQ(envelope_.text().at("alloc_pd"),
              (EnvelopeFields{{"input length", {"0x10"}}, {"output length", {"0x10"}}}));
}

TEST_F(CommandEnvelopeTest, LengthOfListNotRecorded) {
    Sent<hwtab::cmd_create_qp> sent;
    sent.input.resize(sent.input.size() + 8);
    record(sent);
    // create_qp_in has 0x110 bytes in mlx5_ifc.h
    EXPECT_EQ(envelope_.text().at("create_qp rc").at("input length"),
              (EnvelopeValues{"0x110 and list"}));
}

TEST_F(CommandEnvelopeTest, OrderEndsWithInitialization) {
    commands_.begin();
    record(Sent<hwtab::cmd_enable_hca>());
    record(Sent<hwtab::cmd_query_issi>());
    record(Sent<hwtab::cmd_enable_hca>());
    record(Sent<hwtab::cmd_init_hca>());
    record(Sent<hwtab::cmd_alloc_pd>());
    record(Sent<hwtab::cmd_init_hca>());
    EXPECT_EQ(envelope_.text().at("bring-up").at("order"),
              (EnvelopeValues{"enable_hca, query_issi, init_hca"}));
}

TEST_F(CommandEnvelopeTest, OrderMissingWithoutBegin) {
    record(Sent<hwtab::cmd_init_hca>());
    EXPECT_THAT(envelope_.text(), Not(Contains(Key("bring-up"))));
}

} // namespace
} // namespace cxemu::check
