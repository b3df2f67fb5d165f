// SPDX-License-Identifier: GPL-2.0-or-later
#include "commands/tests/fixtures.hpp"
#include "hca/rules.hpp"

namespace cxemu::commands {
namespace {

using testing::Bench;
using testing::PortCommandTest;

class MulticastCommandsTest : public PortCommandTest {
protected:
    explicit MulticastCommandsTest(const hca::HcaSettings& settings = Bench::default_settings())
        : PortCommandTest(settings) {}

    /// \param last lowest byte of the GID
    template <const hwtab::Command& command>
    std::string with_group(std::uint32_t qpn, std::uint8_t last, std::uint16_t uid = 0,
                           std::uint8_t first = 0xff) {
        return run<command>(
            [&](auto in) {
                in.template set<"qpn">(qpn);
                const auto gid = in.template bytes<"multicast_gid">();
                gid.front() = std::byte{first};
                gid.back() = std::byte{last};
            },
            0, uid);
    }
    std::string attach(std::uint32_t qpn, std::uint8_t last = 1, std::uint16_t uid = 0) {
        return with_group<hwtab::cmd_attach_to_mcg>(qpn, last, uid);
    }
    std::string detach(std::uint32_t qpn, std::uint8_t last = 1, std::uint16_t uid = 0) {
        return with_group<hwtab::cmd_detach_from_mcg>(qpn, last, uid);
    }
    transport::MulticastGroups& groups() {
        return bench.hca().part<transport::PacketTransport>().groups();
    }

    std::uint32_t queue_pair = bench.make_queue_pair().number();
};

TEST_F(MulticastCommandsTest, DetachedQpNotMember) {
    EXPECT_EQ(attach(queue_pair), "OK");
    EXPECT_EQ(attach(queue_pair), "OK") << "twice is once";
    EXPECT_EQ(groups().size(), 1U);
    EXPECT_EQ(detach(queue_pair), "OK");
    EXPECT_EQ(groups().size(), 0U);
    EXPECT_EQ(detach(queue_pair), "BAD_PARAMETER not_a_member");
}

TEST_F(MulticastCommandsTest, AttachUnsuitableQpRefused) {
    const auto connected =
        bench.make_queue_pair({.service = queues::ServiceType::reliable_connection}).number();
    EXPECT_EQ(attach(connected), "BAD_PARAMETER wrong_object_type");
    EXPECT_EQ(detach(connected), "BAD_PARAMETER wrong_object_type");
    EXPECT_EQ(attach(no_object), "BAD_RESOURCE unknown_object");
    EXPECT_EQ(attach(queue_pair, 1, 7), "BAD_RESOURCE object_of_other_user_context");
}

TEST_F(MulticastCommandsTest, UnicastGidRefused) {
    EXPECT_EQ(with_group<hwtab::cmd_attach_to_mcg>(queue_pair, 1, 0, 0xfe),
              "BAD_PARAMETER field_out_of_range");
}

TEST_F(MulticastCommandsTest, DestroyedQpDetached) {
    attach(queue_pair, 1);
    attach(queue_pair, 2);
    EXPECT_EQ(run<hwtab::cmd_destroy_qp>([&](auto in) { in.template set<"qpn">(queue_pair); }),
              "OK");
    EXPECT_EQ(groups().size(), 0U);
}

TEST_F(MulticastCommandsTest, FullGroupRefusesMember) {
    auto& completions = bench.make_completion_queue();
    for (std::size_t i = 0; i < groups().limits().members; ++i)
        EXPECT_EQ(attach(bench.make_queue_pair({.completions = &completions}).number()), "OK");
    EXPECT_EQ(attach(queue_pair), "EXCEEDS_LIMIT exceeds_capability");
    EXPECT_EQ(attach(queue_pair, 2), "OK") << "another group";
}

/// A device that supports two groups.
class FewGroupsTest : public MulticastCommandsTest {
protected:
    FewGroupsTest() : MulticastCommandsTest(Bench::with_capability("log_max_mcg", 1)) {}
};

TEST_F(FewGroupsTest, AttachWithoutFreeGroupRefused) {
    EXPECT_EQ(attach(queue_pair, 1), "OK");
    EXPECT_EQ(attach(queue_pair, 2), "OK");
    EXPECT_EQ(attach(queue_pair, 3), "NO_RESOURCES no_number_left");
    EXPECT_EQ(detach(queue_pair, 1), "OK");
    EXPECT_EQ(attach(queue_pair, 3), "OK");
}

} // namespace
} // namespace cxemu::commands
