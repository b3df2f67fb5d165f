// SPDX-License-Identifier: GPL-2.0-or-later
#include "vfio_user/message_reader.hpp"
#include "vfio_user/testing/wire.hpp"

#include <array>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace cxemu::vfio_user {
namespace {

using testing::Bytes;
using testing::bytes_of;
using ::testing::HasSubstr;
using testing::make_eventfd;
using testing::request;
using testing::send_with_fds;
using testing::SocketPair;
using Received = MessageReader::Received;

class Reader : public ::testing::Test {
protected:
    void send(const Bytes& data, const std::vector<int>& fds = {}) {
        send_with_fds(sockets_.client, data, fds);
    }
    Received receive() {
        const auto received = reader_.receive(sockets_.server.get());
        EXPECT_TRUE(received) << received.error();
        return received.value_or(Received::end_of_stream);
    }
    /// The next message, which must be there.
    Message next() {
        auto message = reader_.next();
        EXPECT_TRUE(message && *message);
        return message && *message ? *std::move(*message) : Message{};
    }
    bool incomplete() {
        const auto message = reader_.next();
        return message && !*message;
    }

    SocketPair sockets_;
    MessageReader reader_;
};

std::string text_of(const Message& message) {
    return {reinterpret_cast<const char*>(message.body.data()), message.body.size()};
}

TEST_F(Reader, SeveralMessagesSplitFromOneRead) {
    Bytes both = request(Command::region_read, bytes_of("first"), 1);
    const Bytes second = request(Command::region_write, bytes_of("second!"), 2);
    both.insert(both.end(), second.begin(), second.end());
    send(both);
    ASSERT_EQ(receive(), Received::data);
    const Message one = next();
    EXPECT_EQ(one.header.command, Command::region_read);
    EXPECT_EQ(text_of(one), "first");
    const Message two = next();
    EXPECT_EQ(two.header.id, 2);
    EXPECT_EQ(text_of(two), "second!");
    EXPECT_TRUE(incomplete());
}

TEST_F(Reader, MessageJoinedFromSingleBytes) {
    for (const std::byte byte : request(Command::region_write, bytes_of("abc"), 77)) {
        EXPECT_TRUE(incomplete());
        send({byte});
        receive();
    }
    const Message message = next();
    EXPECT_EQ(message.header.id, 77);
    EXPECT_EQ(text_of(message), "abc");
}

TEST_F(Reader, LargestMessageReadInParts) {
    const std::size_t body = limit::message_size - Header::wire_size;
    const Bytes data = request(Command::region_write, Bytes(body, std::byte{0x42}));
    std::size_t sent = 0;
    while (incomplete()) {
        const auto part = std::min<std::size_t>(50000, data.size() - sent);
        send(Bytes(data.begin() + static_cast<std::ptrdiff_t>(sent),
                   data.begin() + static_cast<std::ptrdiff_t>(sent + part)));
        sent += part;
        receive();
        ASSERT_LE(sent, data.size());
        if (sent == data.size())
            break;
    }
    while (reader_.buffered() < data.size())
        ASSERT_EQ(receive(), Received::data);
    EXPECT_EQ(next().body.size(), body);
}

TEST_F(Reader, LengthBelowHeaderRefused) {
    for (const std::uint32_t size : {0U, 1U, 15U}) {
        MessageReader reader;
        send(request(Command::version, {}, 1, 0, size));
        ASSERT_TRUE(reader.receive(sockets_.server.get()));
        const auto message = reader.next();
        ASSERT_FALSE(message);
        EXPECT_THAT(message.error(), HasSubstr("message size " + std::to_string(size)));
    }
}

TEST_F(Reader, LengthBeyondLimitRefused) {
    for (const std::uint32_t size : {limit::message_size + 1, UINT32_MAX}) {
        MessageReader reader;
        send(request(Command::version, {}, 1, 0, size));
        ASSERT_TRUE(reader.receive(sockets_.server.get()));
        EXPECT_FALSE(reader.next());
    }
}

TEST_F(Reader, TruncatedHeaderIncomplete) {
    send(Bytes(15, std::byte{0xff}));
    receive();
    EXPECT_TRUE(incomplete());
    EXPECT_EQ(reader_.buffered(), 15U);
}

TEST_F(Reader, ReceiveDistinguishesNoDataFromEof) {
    EXPECT_EQ(receive(), Received::nothing_now);
    sockets_.client.reset();
    EXPECT_EQ(receive(), Received::end_of_stream);
}

TEST_F(Reader, ResetConnectionReportsEof) {
    send_with_fds(sockets_.server, bytes_of("a reply"));
    sockets_.client.reset();
    EXPECT_EQ(receive(), Received::end_of_stream);
}

TEST_F(Reader, DescriptorsGivenToCarryingMessage) {
    const UniqueFd event = make_eventfd();
    send(request(Command::region_read, bytes_of("without")));
    send(request(Command::dma_map, bytes_of("with")), {event.get()});
    send(request(Command::region_read, bytes_of("after")));
    while (receive() == Received::data) {
    }
    EXPECT_TRUE(next().fds.empty());
    EXPECT_EQ(next().fds.size(), 1U);
    EXPECT_TRUE(next().fds.empty());
}

TEST_F(Reader, DescriptorsOfMessagesKeptSeparate) {
    const UniqueFd event = make_eventfd();
    send(request(Command::device_set_irqs, bytes_of("two")), {event.get(), event.get()});
    send(request(Command::device_set_irqs, bytes_of("one")), {event.get()});
    while (receive() == Received::data) {
    }
    EXPECT_EQ(next().fds.size(), 2U);
    EXPECT_EQ(next().fds.size(), 1U);
}

TEST_F(Reader, SplitMessageGetsDescriptors) {
    const UniqueFd event = make_eventfd();
    const Bytes whole = request(Command::dma_map, bytes_of("in pieces"));
    send(Bytes(whole.begin(), whole.begin() + 5), {event.get()});
    receive();
    EXPECT_TRUE(incomplete());
    send(Bytes(whole.begin() + 5, whole.end()));
    send(request(Command::region_read, {}));
    while (receive() == Received::data) {
    }
    EXPECT_EQ(next().fds.size(), 1U);
    EXPECT_TRUE(next().fds.empty());
}

TEST_F(Reader, DescriptorsBeyondBufferRefused) {
    const UniqueFd event = make_eventfd();
    send(request(Command::device_set_irqs, {}), std::vector<int>(65, event.get()));
    const auto received = reader_.receive(sockets_.server.get());
    ASSERT_FALSE(received);
    EXPECT_THAT(received.error(), HasSubstr("more than 64 file descriptors"));
}

TEST_F(Reader, DescriptorsAheadOfMessageLimited) {
    const UniqueFd event = make_eventfd();
    const std::vector<int> fds(40, event.get());
    send({std::byte{1}}, fds);
    receive();
    send({std::byte{1}}, fds);
    EXPECT_FALSE(reader_.receive(sockets_.server.get()));
}

TEST_F(Reader, UnclaimedDescriptorsAreClosed) {
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC | O_NONBLOCK), 0);
    const UniqueFd read_end(pipe[0]);
    UniqueFd write_end(pipe[1]);
    {
        MessageReader reader;
        send({std::byte{1}}, {write_end.get()});
        ASSERT_TRUE(reader.receive(sockets_.server.get()));
        write_end.reset();
        char byte = 0;
        EXPECT_EQ(::read(read_end.get(), &byte, 1), -1); // the reader still owns it
    }
    char byte = 0;
    EXPECT_EQ(::read(read_end.get(), &byte, 1), 0);
}

} // namespace
} // namespace cxemu::vfio_user
