// SPDX-License-Identifier: GPL-2.0-or-later
#include "vfio_user/session.hpp"
#include "vfio_user/testing/fake_device.hpp"
#include "vfio_user/testing/guest_memory.hpp"
#include "vfio_user/testing/wire.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <spdlog/sinks/ostream_sink.h>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace cxemu::vfio_user {
namespace {

using testing::Bytes;
using testing::bytes_of;
using testing::dma_map_body;
using testing::dma_unmap_body;
using testing::drain;
using ::testing::ElementsAre;
using testing::FakeDevice;
using testing::GuestMemory;
using ::testing::HasSubstr;
using testing::irq_body;
using ::testing::IsEmpty;
using testing::make_eventfd;
using ::testing::Pair;
using testing::region_body;
using testing::Reply;
using testing::version_body;

constexpr std::uint32_t trigger_eventfd = irq_flag::data_eventfd | irq_flag::action_trigger;
constexpr std::uint32_t trigger_none = irq_flag::data_none | irq_flag::action_trigger;

/// A session whose VERSION has been exchanged already.
class SessionTest : public ::testing::Test {
protected:
    SessionTest() { session_.emplace(device_, make_silent_log(), statistics_); }

    void SetUp() override { ASSERT_EQ(error(Command::version, version_body()), 0); }

    Bytes handle(Command command, const Bytes& body, std::vector<UniqueFd> fds = {},
                 std::uint32_t flags = 0) {
        Header header{.id = 0x1234, .command = command};
        header.size = static_cast<std::uint32_t>(Header::wire_size + body.size());
        header.flags = flags;
        return session_->handle({.header = header, .body = body, .fds = std::move(fds)});
    }
    Reply call(Command command, const Bytes& body, std::vector<UniqueFd> fds = {}) {
        return Reply(handle(command, body, std::move(fds)));
    }
    int error(Command command, const Bytes& body, std::vector<UniqueFd> fds = {}) {
        const Reply reply = call(command, body, std::move(fds));
        EXPECT_EQ((reply.header.flags & header_flag::error) != 0, reply.header.error != 0);
        if (reply.header.error != 0) {
            EXPECT_THAT(reply.body, IsEmpty());
        }
        return static_cast<int>(reply.header.error);
    }
    static std::vector<UniqueFd> fds(UniqueFd fd) {
        std::vector<UniqueFd> list;
        list.push_back(std::move(fd));
        return list;
    }
    static std::vector<UniqueFd> eventfds(std::size_t count) {
        std::vector<UniqueFd> list(count);
        for (auto& fd : list)
            fd = make_eventfd();
        return list;
    }

    FakeDevice device_;
    SessionStatistics statistics_;
    std::optional<Session> session_;
};

using VersionMessage = SessionTest;
using InfoMessages = SessionTest;
using RegionMessages = SessionTest;
using WriteMulti = SessionTest;
using DmaMessages = SessionTest;
using SetIrqs = SessionTest;
using OtherMessages = SessionTest;

TEST_F(VersionMessage, CommandBeforeVersionRefused) {
    session_.emplace(device_, make_silent_log(), statistics_);
    EXPECT_EQ(error(Command::device_get_info, Bytes(16, std::byte{0xff})), EINVAL);
    EXPECT_EQ(error(Command::dma_map, dma_map_body(0, 4096)), EINVAL);
    EXPECT_EQ(device_.dma_space.map_count(), 0U);
}

TEST_F(VersionMessage, SecondVersionRefused) {
    EXPECT_EQ(error(Command::version, version_body()), EINVAL);
}

TEST_F(VersionMessage, ReplyIsNoLongerThanMessage) {
    session_.emplace(device_, make_silent_log(), statistics_);
    const Bytes body = version_body("{}");
    EXPECT_LE(call(Command::version, body).header.size, Header::wire_size + body.size());
}

TEST_F(VersionMessage, RefusedVersionMayBeRepeated) {
    session_.emplace(device_, make_silent_log(), statistics_);
    EXPECT_EQ(error(Command::version, version_body("garbage")), EINVAL);
    EXPECT_EQ(error(Command::version, version_body()), 0);
}

TEST_F(OtherMessages, ReplyHasRequestNumberAndCommand) {
    const Reply reply = call(Command::device_reset, {});
    EXPECT_EQ(reply.header.id, 0x1234);
    EXPECT_EQ(reply.header.command, Command::device_reset);
    EXPECT_EQ(reply.header.flags, header_flag::type_reply);
    EXPECT_EQ(device_.resets, 1);
}

TEST_F(OtherMessages, NoReplyFlagGetsNoReply) {
    EXPECT_THAT(handle(Command::device_reset, {}, {}, header_flag::no_reply), IsEmpty());
    EXPECT_THAT(handle(Command::device_feature, {}, {}, header_flag::no_reply), IsEmpty());
    EXPECT_EQ(statistics_.errors_without_reply, 1U);
}

TEST_F(OtherMessages, UnofferedCommandReturnsEnotsup) {
    for (const Command command : {Command::device_get_region_io_fds, Command::dma_read,
                                  Command::dma_write, Command::dirty_pages, Command::device_feature,
                                  Command::mig_data_read, Command::mig_data_write})
        EXPECT_EQ(error(command, {}), ENOTSUP) << name_of(command);
}

TEST_F(OtherMessages, UnknownCommandReturnsErrno) {
    EXPECT_EQ(error(static_cast<Command>(0), {}), ENOSYS);
    EXPECT_EQ(error(static_cast<Command>(19), {}), ENOSYS);
    EXPECT_EQ(error(static_cast<Command>(0xffff), {}), ENOSYS);
}

TEST_F(OtherMessages, RepliesIgnored) {
    EXPECT_THAT(handle(Command::dma_read, {}, {}, header_flag::type_reply), IsEmpty());
    EXPECT_EQ(statistics_.unexpected_replies, 1U);
}

TEST_F(OtherMessages, UnknownTypeRefused) {
    const Reply reply(handle(Command::device_reset, {}, {}, 5));
    EXPECT_EQ(reply.header.error, static_cast<std::uint32_t>(EINVAL));
    EXPECT_EQ(device_.resets, 0);
}

TEST_F(OtherMessages, UnexpectedDescriptorsRefused) {
    EXPECT_EQ(error(Command::device_reset, {}, eventfds(1)), EINVAL);
    EXPECT_EQ(error(Command::region_read, region_body(0, 0, 4), eventfds(1)), EINVAL);
    EXPECT_EQ(device_.resets, 0);
}

TEST_F(OtherMessages, MessagesCountedByCommand) {
    call(Command::device_reset, {});
    call(static_cast<Command>(999), {});
    EXPECT_EQ(statistics_.messages[13], 1U);
    EXPECT_EQ(statistics_.messages[0], 1U);
    EXPECT_EQ(statistics_.errors_with_reply, 1U);
}

TEST_F(InfoMessages, DeviceInfoReportsResettablePciDevice) {
    const Reply reply =
        call(Command::device_get_info, WireWriter().put(16U).put(0U).put(0U).put(0U).take());
    auto reader = reply.reader();
    EXPECT_EQ(reader.take<std::uint32_t>(), 16U);
    EXPECT_EQ(reader.take<std::uint32_t>(), 3U);
    EXPECT_EQ(reader.take<std::uint32_t>(), 9U);
    EXPECT_EQ(reader.take<std::uint32_t>(), 5U);
}

TEST_F(InfoMessages, TruncatedOrSmallReplySizeIsRefused) {
    EXPECT_EQ(error(Command::device_get_info, Bytes(12, std::byte{0x10})), EINVAL);
    EXPECT_EQ(error(Command::device_get_info, Bytes(16)), EINVAL);
    EXPECT_EQ(error(Command::device_get_region_info, Bytes(31, std::byte{0})), EINVAL);
    EXPECT_EQ(error(Command::device_get_region_info,
                    WireWriter().put(31U).put(0U).put(0U).put(0U).put_bytes(Bytes(16)).take()),
              EINVAL);
    EXPECT_EQ(error(Command::device_get_irq_info, {}), EINVAL);
}

TEST_F(InfoMessages, RegionInfoReportsSizeWithoutMmap) {
    for (const auto& [index, size, flags] :
         {std::tuple{0U, std::uint64_t{FakeDevice::bar_size}, 3U},
          std::tuple{1U, std::uint64_t{0}, 0U}, std::tuple{6U, std::uint64_t{0}, 0U},
          std::tuple{7U, std::uint64_t{4096}, 3U}}) {
        const Reply reply =
            call(Command::device_get_region_info,
                 WireWriter().put(32U).put(0U).put(index).put(0U).put_bytes(Bytes(16)).take());
        auto reader = reply.reader();
        EXPECT_EQ(reader.take<std::uint32_t>(), 32U);
        EXPECT_EQ(reader.take<std::uint32_t>(), flags);
        EXPECT_EQ(reader.take<std::uint32_t>(), index);
        EXPECT_EQ(reader.take<std::uint32_t>(), 0U);
        EXPECT_EQ(reader.take<std::uint64_t>(), size);
    }
}

TEST_F(InfoMessages, UnknownIndexRefused) {
    EXPECT_EQ(error(Command::device_get_region_info,
                    WireWriter().put(32U).put(0U).put(9U).put(0U).put_bytes(Bytes(16)).take()),
              EINVAL);
    EXPECT_EQ(error(Command::device_get_irq_info,
                    WireWriter().put(16U).put(0U).put(UINT32_MAX).put(0U).take()),
              EINVAL);
}

TEST_F(InfoMessages, IrqInfoReportsResizableMsix) {
    const Reply reply =
        call(Command::device_get_irq_info, WireWriter().put(16U).put(0U).put(2U).put(0U).take());
    auto reader = reply.reader();
    reader.take<std::uint32_t>();
    EXPECT_EQ(reader.take<std::uint32_t>(), 1U); // eventfd, and not the NORESIZE flag
    EXPECT_EQ(reader.take<std::uint32_t>(), 2U);
    EXPECT_EQ(reader.take<std::uint32_t>(), FakeDevice::vectors);
    const Reply intx =
        call(Command::device_get_irq_info, WireWriter().put(16U).put(0U).put(0U).put(0U).take());
    EXPECT_EQ(load_le<std::uint32_t>(std::span(intx.body).subspan(12)), 0U);
}

TEST_F(RegionMessages, ReadReturnsDeviceBytes) {
    device_.bar[100] = std::byte{0xab};
    const Reply reply = call(Command::region_read, region_body(100, 0, 4));
    auto reader = reply.reader();
    EXPECT_EQ(reader.take<std::uint64_t>(), 100U);
    EXPECT_EQ(reader.take<std::uint32_t>(), 0U);
    EXPECT_EQ(reader.take<std::uint32_t>(), 4U);
    EXPECT_THAT(reader.rest(),
                ElementsAre(std::byte{0xab}, std::byte{0}, std::byte{0}, std::byte{0}));
}

TEST_F(RegionMessages, WriteReachesDevice) {
    const Reply reply = call(Command::region_write, region_body(8, 0, 3, bytes_of("abc")));
    EXPECT_EQ(reply.body, region_body(8, 0, 3));
    EXPECT_EQ(device_.bar[10], std::byte{'c'});
}

TEST_F(RegionMessages, TransferBeyondMessageLimitRefused) {
    const Reply reply = call(Command::region_read, region_body(0, 0, limit::data_transfer));
    EXPECT_EQ(reply.body.size(), 16 + limit::data_transfer);
    EXPECT_EQ(error(Command::region_read, region_body(0, 0, limit::data_transfer + 1)), EINVAL);
    EXPECT_EQ(error(Command::region_read, region_body(0, 0, UINT32_MAX)), EINVAL);
}

TEST_F(RegionMessages, AccessBeyondRegionRefused) {
    EXPECT_EQ(error(Command::region_read, region_body(FakeDevice::bar_size - 4, 0, 4)), 0);
    EXPECT_EQ(error(Command::region_read, region_body(FakeDevice::bar_size - 4, 0, 5)), EINVAL);
    EXPECT_EQ(error(Command::region_read, region_body(FakeDevice::bar_size, 0, 1)), EINVAL);
    EXPECT_EQ(error(Command::region_read, region_body(UINT64_MAX, 0, 4)), EINVAL);
    EXPECT_EQ(error(Command::region_write, region_body(UINT64_MAX - 1, 0, 4, Bytes(4))), EINVAL);
    EXPECT_EQ(error(Command::region_write, region_body(4095, 7, 2, Bytes(2))), EINVAL);
}

TEST_F(RegionMessages, UnknownRegionRefused) {
    EXPECT_EQ(error(Command::region_read, region_body(0, 1, 4)), EINVAL);
    EXPECT_EQ(error(Command::region_read, region_body(0, 9, 4)), EINVAL);
    EXPECT_EQ(error(Command::region_write, region_body(0, UINT32_MAX, 4, Bytes(4))), EINVAL);
}

TEST_F(RegionMessages, ZeroCountRefused) {
    EXPECT_EQ(error(Command::region_read, region_body(0, 0, 0)), EINVAL);
    EXPECT_EQ(error(Command::region_write, region_body(0, 0, 0)), EINVAL);
}

TEST_F(RegionMessages, CountDifferentFromDataRefused) {
    EXPECT_EQ(error(Command::region_write, region_body(0, 0, 8, Bytes(4))), EINVAL);
    EXPECT_EQ(error(Command::region_write, region_body(0, 0, 2, Bytes(4))), EINVAL);
    EXPECT_EQ(device_.writes, 0);
}

TEST_F(RegionMessages, TruncatedMessageRefused) {
    EXPECT_EQ(error(Command::region_read, Bytes(15)), EINVAL);
    EXPECT_EQ(error(Command::region_write, Bytes(12)), EINVAL);
}

TEST_F(RegionMessages, DeviceErrorReturned) {
    device_.failure = EIO;
    EXPECT_EQ(error(Command::region_read, region_body(0, 0, 4)), EIO);
    EXPECT_EQ(error(Command::region_write, region_body(0, 0, 4, Bytes(4))), EIO);
}

Bytes multi_body(std::uint64_t claimed,
                 const std::vector<std::pair<std::uint64_t, std::uint32_t>>& writes) {
    WireWriter writer;
    writer.put(claimed);
    for (const auto& [offset, count] : writes)
        writer.put(offset).put(0U).put(count).put(std::uint64_t{0x0807060504030201});
    return writer.take();
}

TEST_F(WriteMulti, WritesExecutedInOrder) {
    EXPECT_EQ(error(Command::region_write_multi, multi_body(3, {{0, 8}, {16, 4}, {2, 1}})), 0);
    EXPECT_EQ(device_.writes, 3);
    EXPECT_EQ(device_.bar[7], std::byte{8});
    EXPECT_EQ(device_.bar[19], std::byte{4});
    EXPECT_EQ(device_.bar[20], std::byte{0});
    EXPECT_EQ(device_.bar[2], std::byte{1});
}

TEST_F(WriteMulti, WrongWriteCountIsRefused) {
    EXPECT_EQ(error(Command::region_write_multi, multi_body(2, {{0, 8}})), EINVAL);
    EXPECT_EQ(error(Command::region_write_multi, multi_body(0, {{0, 8}})), EINVAL);
    EXPECT_EQ(error(Command::region_write_multi, multi_body(UINT64_MAX, {{0, 8}})), EINVAL);
    EXPECT_EQ(error(Command::region_write_multi, Bytes(7)), EINVAL);
}

TEST_F(WriteMulti, InvalidWriteEndsMessage) {
    EXPECT_EQ(error(Command::region_write_multi, multi_body(2, {{0, 9}, {16, 4}})), EINVAL);
    EXPECT_EQ(device_.writes, 0);
    EXPECT_EQ(error(Command::region_write_multi, multi_body(2, {{0, 8}, {UINT64_MAX, 4}})), EINVAL);
    EXPECT_EQ(device_.writes, 1);
}

TEST_F(DmaMessages, MapAndUnmapSucceed) {
    const GuestMemory memory(8192);
    EXPECT_EQ(error(Command::dma_map, dma_map_body(0x10000, 8192), fds(memory.file())), 0);
    EXPECT_TRUE(device_.dma_space.write(0x10000, Bytes(8192)));
    const Reply reply = call(Command::dma_unmap, dma_unmap_body(0x10000, 8192));
    EXPECT_EQ(reply.body, dma_unmap_body(0x10000, 8192));
    EXPECT_EQ(device_.dma_space.map_count(), 0U);
}

TEST_F(DmaMessages, DmaUnmapNotifiesDeviceFirst) {
    call(Command::dma_unmap, dma_unmap_body(0x10000, 8192));
    EXPECT_THAT(device_.unmappings, ElementsAre(Pair(0x10000, 8192)));
}

TEST_F(DmaMessages, MapWithoutDescriptorNotAccessible) {
    EXPECT_EQ(error(Command::dma_map, dma_map_body(0xfffc0000, 0x40000, 0, 1)), 0);
    EXPECT_EQ(device_.dma_space.map_count(), 1U);
    Bytes out(4);
    EXPECT_FALSE(device_.dma_space.read(0xfffc0000, out));
}

TEST_F(DmaMessages, ReadOnlyMapRefusesWrite) {
    const GuestMemory memory(4096);
    EXPECT_EQ(error(Command::dma_map, dma_map_body(0, 4096, 0, 1), fds(memory.file())), 0);
    EXPECT_FALSE(device_.dma_space.write(0, Bytes(1)));
}

TEST_F(DmaMessages, MalformedMessageRefused) {
    const GuestMemory memory(4096);
    EXPECT_EQ(error(Command::dma_map, Bytes(31)), EINVAL);
    EXPECT_EQ(error(Command::dma_map, dma_map_body(0, 4096, 0, 4), fds(memory.file())), EINVAL);
    std::vector<UniqueFd> two = fds(memory.file());
    two.push_back(memory.file());
    EXPECT_EQ(error(Command::dma_map, dma_map_body(0, 4096), std::move(two)), EINVAL);
    EXPECT_EQ(error(Command::dma_unmap, Bytes(23)), EINVAL);
    EXPECT_EQ(device_.dma_space.map_count(), 0U);
}

TEST_F(DmaMessages, MapErrorReturned) {
    EXPECT_EQ(error(Command::dma_map, dma_map_body(0, 4096)), 0);
    EXPECT_EQ(error(Command::dma_map, dma_map_body(0, 4096)), EEXIST);
    EXPECT_EQ(error(Command::dma_map, dma_map_body(UINT64_MAX - 4095, 8192)), EINVAL);
    EXPECT_EQ(error(Command::dma_unmap, dma_unmap_body(UINT64_MAX, 2)), EINVAL);
}

TEST_F(DmaMessages, UnmapAllRemovesAllMaps) {
    ASSERT_EQ(error(Command::dma_map, dma_map_body(0, 4096)), 0);
    ASSERT_EQ(error(Command::dma_map, dma_map_body(0x100000, 4096)), 0);
    EXPECT_EQ(error(Command::dma_unmap, dma_unmap_body(0, 0, dma_flag::unmap_all)), 0);
    EXPECT_EQ(device_.dma_space.map_count(), 0U);
}

TEST_F(DmaMessages, DirtyBitmapUnsupported) {
    EXPECT_EQ(error(Command::dma_unmap, dma_unmap_body(0, 4096, dma_flag::unmap_dirty_bitmap)),
              ENOTSUP);
}

TEST_F(SetIrqs, GuestMsixSequenceAccepted) {
    // QEMU: enable with no descriptor, disable all, then vectors one by one as the guest takes
    // them.
    EXPECT_EQ(error(Command::device_set_irqs, irq_body(trigger_eventfd, 0, 1)), 0);
    EXPECT_EQ(error(Command::device_set_irqs, irq_body(trigger_none, 0, 0)), 0);
    UniqueFd first = make_eventfd();
    EXPECT_EQ(error(Command::device_set_irqs, irq_body(trigger_eventfd, 3, 1),
                    fds(UniqueFd(::dup(first.get())))),
              0);
    device_.interrupt_set.raise(3);
    EXPECT_EQ(drain(first), 1U);
    const UniqueFd again = make_eventfd();
    EXPECT_EQ(error(Command::device_set_irqs, irq_body(trigger_eventfd, 3, 1),
                    fds(UniqueFd(::dup(again.get())))),
              0);
    device_.interrupt_set.raise(3);
    EXPECT_EQ(drain(first), 0U);
    EXPECT_EQ(drain(again), 1U);
    EXPECT_EQ(error(Command::device_set_irqs, irq_body(trigger_none, 0, 0)), 0);
    device_.interrupt_set.raise(3);
    EXPECT_EQ(drain(again), 0U);
}

TEST_F(SetIrqs, SetIrqsNotifiesDevice) {
    call(Command::device_set_irqs, irq_body(trigger_eventfd, 5, 2), eventfds(2));
    EXPECT_THAT(device_.irq_changes, ElementsAre(Pair(5, 2)));
}

TEST_F(SetIrqs, MaximumDescriptorsAccepted) {
    EXPECT_EQ(error(Command::device_set_irqs, irq_body(trigger_eventfd, 0, limit::message_fds),
                    eventfds(limit::message_fds)),
              0);
}

TEST_F(SetIrqs, DescriptorsBeyondLimitRefused) {
    const auto count = limit::message_fds + 1;
    EXPECT_EQ(error(Command::device_set_irqs,
                    irq_body(trigger_eventfd, 0, static_cast<std::uint32_t>(count)),
                    eventfds(count)),
              EINVAL);
}

TEST_F(SetIrqs, DescriptorCountMismatchRefused) {
    EXPECT_EQ(error(Command::device_set_irqs, irq_body(trigger_eventfd, 0, 3), eventfds(2)),
              EINVAL);
    EXPECT_EQ(error(Command::device_set_irqs, irq_body(trigger_eventfd, 0, 1), eventfds(2)),
              EINVAL);
    EXPECT_EQ(error(Command::device_set_irqs, irq_body(trigger_none, 0, 0), eventfds(1)), EINVAL);
    EXPECT_THAT(device_.irq_changes, IsEmpty());
}

TEST_F(SetIrqs, VectorBeyondLastRefused) {
    EXPECT_EQ(error(Command::device_set_irqs, irq_body(trigger_eventfd, 16, 1), eventfds(1)),
              EINVAL);
    EXPECT_EQ(error(Command::device_set_irqs, irq_body(trigger_eventfd, 0, UINT32_MAX)), EINVAL);
    EXPECT_EQ(error(Command::device_set_irqs, irq_body(trigger_none, UINT32_MAX, 2)), EINVAL);
}

TEST_F(SetIrqs, NonEventfdDescriptorRefused) {
    const GuestMemory memory(4096);
    EXPECT_EQ(error(Command::device_set_irqs, irq_body(trigger_eventfd, 0, 1), fds(memory.file())),
              EINVAL);
}

TEST_F(SetIrqs, MalformedMessageRefused) {
    EXPECT_EQ(error(Command::device_set_irqs, Bytes(19)), EINVAL);
    EXPECT_EQ(error(Command::device_set_irqs, irq_body(0, 0, 0)), EINVAL);
    EXPECT_EQ(error(Command::device_set_irqs, irq_body(0x40 | trigger_none, 0, 0)), EINVAL);
    EXPECT_EQ(error(Command::device_set_irqs, irq_body(trigger_none | irq_flag::data_bool, 0, 0)),
              EINVAL);
    EXPECT_EQ(error(Command::device_set_irqs, irq_body(irq_flag::actions | 1, 0, 1)), EINVAL);
    EXPECT_EQ(error(Command::device_set_irqs,
                    irq_body(irq_flag::data_eventfd | irq_flag::action_mask_vectors, 0, 1)),
              EINVAL);
    EXPECT_EQ(error(Command::device_set_irqs,
                    irq_body(irq_flag::data_bool | irq_flag::action_trigger, 0, 8, Bytes(3))),
              EINVAL);
}

TEST_F(SetIrqs, MaskHoldsInterruptUntilUnmask) {
    const UniqueFd guest = make_eventfd();
    call(Command::device_set_irqs, irq_body(trigger_eventfd, 0, 1),
         fds(UniqueFd(::dup(guest.get()))));
    EXPECT_EQ(error(Command::device_set_irqs,
                    irq_body(irq_flag::data_none | irq_flag::action_mask_vectors, 0, 1)),
              0);
    device_.interrupt_set.raise(0);
    EXPECT_EQ(drain(guest), 0U);
    EXPECT_EQ(error(Command::device_set_irqs,
                    irq_body(irq_flag::data_bool | irq_flag::action_unmask_vectors, 0, 2,
                             {std::byte{1}, std::byte{0}})),
              0);
    EXPECT_EQ(drain(guest), 1U);
}

TEST_F(SetIrqs, TriggerFiresSelectedVectors) {
    const UniqueFd guest = make_eventfd();
    call(Command::device_set_irqs, irq_body(trigger_eventfd, 1, 1),
         fds(UniqueFd(::dup(guest.get()))));
    EXPECT_EQ(error(Command::device_set_irqs, irq_body(trigger_none, 0, 4)), 0);
    EXPECT_EQ(
        error(Command::device_set_irqs, irq_body(irq_flag::data_bool | irq_flag::action_trigger, 0,
                                                 2, {std::byte{0}, std::byte{1}})),
        0);
    EXPECT_EQ(drain(guest), 2U);
}

TEST_F(SetIrqs, OtherIrqTypesOnlyDisable) {
    EXPECT_EQ(error(Command::device_set_irqs, irq_body(trigger_none, 0, 0, {}, 0)), 0);
    EXPECT_EQ(error(Command::device_set_irqs, irq_body(trigger_eventfd, 0, 1, {}, 0)), EINVAL);
    EXPECT_EQ(error(Command::device_set_irqs, irq_body(trigger_none, 0, 0, {}, 5)), EINVAL);
    EXPECT_THAT(device_.irq_changes, IsEmpty());
}

TEST_F(OtherMessages, DestroyedSessionDropsMapsAndEventfds) {
    const GuestMemory memory(4096);
    ASSERT_EQ(error(Command::dma_map, dma_map_body(0, 4096), fds(memory.file())), 0);
    const UniqueFd guest = make_eventfd();
    call(Command::device_set_irqs, irq_body(trigger_eventfd, 0, 1),
         fds(UniqueFd(::dup(guest.get()))));
    EXPECT_EQ(device_.clients, 1);
    session_.reset();
    EXPECT_EQ(device_.clients, 0);
    EXPECT_EQ(device_.dma_space.map_count(), 0U);
    device_.interrupt_set.raise(0);
    EXPECT_EQ(drain(guest), 0U);
}

// --- The log -------------------------------------------------------------------------------------

/// A session with its log in a string.
class SessionLogTest : public ::testing::Test {
protected:
    void handle(Command command, const Bytes& body, std::uint32_t flags = 0) {
        Header header{.id = 1, .command = command};
        header.size = static_cast<std::uint32_t>(Header::wire_size + body.size());
        header.flags = flags;
        session_.handle({.header = header, .body = body, .fds = {}});
    }
    std::size_t lines() {
        const std::string text = text_.str();
        return static_cast<std::size_t>(std::ranges::count(text, '\n'));
    }

    std::ostringstream text_;
    FakeDevice device_;
    SessionStatistics statistics_;
    Session session_{device_,
                     std::make_shared<spdlog::logger>(
                         "test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text_)),
                     statistics_};
};

TEST_F(SessionLogTest, FailedMessageNamed) {
    handle(Command::version, version_body());
    handle(Command::region_read, region_body(0, 8, 4));
    EXPECT_THAT(text_.str(), HasSubstr("REGION_READ (9) of 32 bytes failed: Invalid argument"));
}

TEST_F(SessionLogTest, FailedPostedMessageNamed) {
    handle(Command::version, version_body());
    handle(Command::region_write, region_body(0, 8, 4, Bytes(4)), header_flag::no_reply);
    EXPECT_THAT(text_.str(), HasSubstr("failed: Invalid argument"));
    EXPECT_EQ(statistics_.errors_without_reply, 1U);
}

TEST_F(SessionLogTest, RefusedVersionReasonLogged) {
    handle(Command::version, bytes_of("x"));
    EXPECT_THAT(text_.str(), HasSubstr("VERSION refused: a body of 1 bytes is too short"));
}

TEST_F(SessionLogTest, BadMessagesLogLimited) {
    for (int i = 0; i < 1000; ++i)
        handle(Command::region_read, {});
    EXPECT_GE(lines(), 1U);
    EXPECT_LE(lines(), 100U) << "some for each second that this may take";
    EXPECT_EQ(statistics_.errors_with_reply, 1000U);
}

} // namespace
} // namespace cxemu::vfio_user
