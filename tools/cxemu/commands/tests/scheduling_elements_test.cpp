// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/byte_order.hpp"
#include "commands/scheduling_elements.hpp"
#include "commands/tests/fixtures.hpp"

namespace cxemu::commands {
namespace {

using hca::SchedulingElement;
using queues::QueuePair;
using testing::Bench;
using testing::Call;
using testing::CommandTest;
using testing::outcome;

hca::HcaSettings settings_of_seven() {
    hca::HcaSettings settings = Bench::default_settings();
    settings.profile = hca::find_profile(std::string_view("connectx7"));
    return settings;
}

struct Element {
    std::uint8_t type = 0;
    std::uint32_t parent = 0;
    std::uint64_t selection = 0;
    std::uint32_t share = 0;
    std::uint32_t limit = 0;
    std::uint8_t hierarchy = 3;
    std::uint8_t policy = 0;
};

constexpr std::uint8_t node = 0;
constexpr std::uint8_t tsar_group = 4;

class SchedulingElementsTest : public CommandTest {
protected:
    SchedulingElementsTest() : CommandTest(settings_of_seven()) {}

    static void fill(std::span<std::byte> input, const Element& element) {
        store_be(input.subspan(0x10), element.selection);
        input[0x18] = std::byte{element.hierarchy};
        input[0x30] = std::byte{element.type};
        input[0x35] = std::byte{element.policy};
        store_be(input.subspan(0x38), element.parent);
        store_be(input.subspan(0x44), element.share);
        store_be(input.subspan(0x48), element.limit);
    }
    template <const hwtab::Command& command>
    static Call<command> call_for(const Element& element, std::uint32_t number = 0) {
        constexpr std::size_t behind_header = 0x80;
        Call<command> call(behind_header);
        call.in().template set<"obj_type">(scheduling_element_type);
        call.in().template set<"obj_id">(number);
        fill(call.input(), element);
        return call;
    }
    std::uint32_t create(const Element& element) {
        auto call = call_for<hwtab::cmd_create_general_object>(element);
        EXPECT_EQ(outcome(bench.run(call)), "OK");
        return static_cast<std::uint32_t>(call.out().get<"obj_id">());
    }
    std::string refusal(const Element& element) {
        auto call = call_for<hwtab::cmd_create_general_object>(element);
        return outcome(bench.run(call));
    }
    std::string modify(std::uint32_t number, const Element& element) {
        auto call = call_for<hwtab::cmd_modify_general_object>(element, number);
        return outcome(bench.run(call));
    }
    std::string destroy(std::uint32_t number) {
        return run<hwtab::cmd_destroy_general_object>([number](auto in) {
            in.template set<"obj_type">(scheduling_element_type);
            in.template set<"obj_id">(number);
        });
    }
    SchedulingElement& element(std::uint32_t number) {
        return *bench.hca().objects().of<SchedulingElement>().find(number);
    }
    /// RTS2RTS with an extension that names groups.
    std::string schedule(QueuePair& pair, std::uint32_t requester, std::uint32_t responder) {
        constexpr std::size_t extension = 0x110;
        constexpr std::uint64_t groups = 2;
        Call<hwtab::cmd_rts2rts_qp> call(extension + 0xc0 - hwtab::rts2rts_qp_in.size);
        call.in().set<"qpn">(pair.number());
        call.input()[0x8] |= std::byte{0x80};
        store_be(call.input().subspan(0x108), groups);
        store_be(call.input().subspan(extension + 4), requester);
        store_be(call.input().subspan(extension + 8), responder);
        return outcome(bench.run(call));
    }
    QueuePair& sender(queues::ServiceType service) {
        QueuePair& pair = bench.make_queue_pair({.service = service});
        pair.context().set<"primary_address_path.vhca_port_num">(1);
        pair.change_state(queues::QueuePairState::ready_to_send);
        return pair;
    }
};

TEST_F(SchedulingElementsTest, DestroyParentBeforeChildRefused) {
    const auto root = create({});
    const auto inner = create({.type = node, .parent = root, .selection = 1, .share = 10});
    const auto leaf = create({.type = tsar_group, .parent = inner, .selection = 2, .limit = 40});
    EXPECT_EQ(element(inner).share(), 10U);
    EXPECT_EQ(element(leaf).limit(), 40U);
    EXPECT_EQ(destroy(root), "RESOURCE_BUSY object_busy");
    EXPECT_EQ(destroy(leaf), "OK");
    EXPECT_EQ(destroy(inner), "OK");
    EXPECT_EQ(destroy(root), "OK");
    EXPECT_EQ(destroy(root), "BAD_RESOURCE unknown_object");
}

TEST_F(SchedulingElementsTest, ModifyUnselectedFieldsUnchanged) {
    const auto root = create({});
    const auto inner =
        create({.type = node, .parent = root, .selection = 3, .share = 2, .limit = 10});
    EXPECT_EQ(modify(inner, {.type = node, .selection = 1, .share = 7, .limit = 99}), "OK");
    EXPECT_EQ(element(inner).share(), 7U);
    EXPECT_EQ(element(inner).limit(), 10U);
    EXPECT_EQ(modify(inner, {.type = tsar_group, .selection = 1, .share = 7}),
              "BAD_PARAMETER wrong_object_type");
    EXPECT_EQ(modify(inner + 7, {.type = node}), "BAD_RESOURCE unknown_object");
}

TEST_F(SchedulingElementsTest, InvalidElementsRefused) {
    const auto root = create({});
    const auto leaf = create({.type = tsar_group, .parent = root});
    EXPECT_EQ(refusal({.type = tsar_group}), "BAD_RESOURCE unknown_object") << "without a node";
    EXPECT_EQ(refusal({.type = node, .parent = leaf}), "BAD_PARAMETER wrong_object_type");
    EXPECT_EQ(refusal({.type = 1, .parent = root}), "BAD_PARAMETER not_supported");
    EXPECT_EQ(refusal({.type = node, .policy = 2}), "BAD_PARAMETER not_supported");
    EXPECT_EQ(refusal({.type = node, .hierarchy = 2}), "BAD_PARAMETER not_supported");
    EXPECT_EQ(refusal({.type = node, .parent = root, .selection = 4}),
              "BAD_PARAMETER bad_optional_mask");
    EXPECT_EQ(refusal({.type = node,
                       .parent = root,
                       .selection = 1,
                       .share = SchedulingElement::largest_share + 1}),
              "EXCEEDS_LIMIT exceeds_capability");
    Call<hwtab::cmd_create_general_object> header_only;
    header_only.in().set<"obj_type">(scheduling_element_type);
    EXPECT_EQ(outcome(bench.run(header_only)), "BAD_INPUT_LENGTH input_too_short");
}

TEST_F(SchedulingElementsTest, DestroyElementOfQpSucceeds) {
    const auto root = create({});
    const auto leaf = create({.type = tsar_group, .parent = root});
    QueuePair& pair = sender(queues::ServiceType::reliable_connection);
    EXPECT_EQ(schedule(pair, leaf, leaf), "OK");
    EXPECT_EQ(destroy(leaf), "OK");
    EXPECT_EQ(destroy(root), "OK");
    EXPECT_EQ(schedule(pair, leaf, 0), "BAD_RESOURCE unknown_object");
    EXPECT_EQ(schedule(pair, 0, 0), "OK");
}

TEST_F(SchedulingElementsTest, QpRequiresTsarGroup) {
    const auto root = create({});
    const auto leaf = create({.type = tsar_group, .parent = root});
    QueuePair& pair = sender(queues::ServiceType::reliable_connection);
    EXPECT_EQ(schedule(pair, root, 0), "BAD_PARAMETER wrong_object_type");
    EXPECT_EQ(schedule(pair, leaf + 9, 0), "BAD_RESOURCE unknown_object");
    QueuePair& datagrams = sender(queues::ServiceType::unreliable_datagram);
    EXPECT_EQ(schedule(datagrams, leaf, 0), "OK");
    EXPECT_EQ(schedule(datagrams, 0, leaf), "BAD_PARAMETER field_out_of_range")
        << "it sends no responses";
}

TEST_F(SchedulingElementsTest, QpResetReleasesElement) {
    const auto leaf = create({.type = tsar_group, .parent = create({})});
    QueuePair& pair = sender(queues::ServiceType::reliable_connection);
    ASSERT_EQ(schedule(pair, leaf, 0), "OK");
    EXPECT_EQ(element(leaf).references(), 1U);
    pair.change_state(queues::QueuePairState::reset);
    EXPECT_EQ(element(leaf).references(), 0U);
}

TEST_F(SchedulingElementsTest, QosPageReportsScheduling) {
    const auto page =
        bench.hca().capabilities().bytes(hca::CapabilityPage::quality_of_service, false);
    EXPECT_EQ(hwtab::read_bits(page.data(), 0x21, 1), 1U) << "nic_qp_scheduling";
    EXPECT_EQ(hwtab::read_bits(page.data(), 0xe0, 32), SchedulingElement::largest_share);
    EXPECT_EQ(hwtab::read_bits(page.data(), 0x100, 16), 1U << node | 1U << tsar_group);
    Bench five;
    const auto nothing =
        five.hca().capabilities().bytes(hca::CapabilityPage::quality_of_service, true);
    EXPECT_EQ(hwtab::read_bits(nothing.data(), 0x21, 1), 0U);
}

} // namespace
} // namespace cxemu::commands
