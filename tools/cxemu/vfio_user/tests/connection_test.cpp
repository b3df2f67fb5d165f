// SPDX-License-Identifier: GPL-2.0-or-later
#include "vfio_user/connection.hpp"
#include "vfio_user/testing/wire.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace cxemu::vfio_user {
namespace {

using testing::Bytes;
using testing::bytes_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::make_eventfd;
using testing::request;
using testing::send_with_fds;
using testing::SocketPair;

/// A connection whose handler returns reply_ for every message.
class ConnectionTest : public ::testing::Test {
protected:
    ConnectionTest() {
        connection_.emplace(
            loop_, std::move(sockets_.server), statistics_,
            [this](const Message& message) {
                if (fail_)
                    throw std::runtime_error("deliberate");
                ids_.push_back(message.header.id);
                return reply_;
            },
            [this](const std::string& fault) { closed_.push_back(fault); });
    }

    void send(const Bytes& data) { send_with_fds(sockets_.client, data); }
    void turns(int count = 4) {
        for (int i = 0; i < count; ++i)
            loop_.turn({});
    }
    std::size_t receive_all() {
        std::vector<std::byte> buffer(1U << 20);
        const auto count =
            ::recv(sockets_.client.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
        return count > 0 ? static_cast<std::size_t>(count) : 0;
    }

    EventLoop loop_;
    SocketPair sockets_;
    SessionStatistics statistics_;
    Bytes reply_;
    bool fail_ = false;
    std::vector<int> ids_;
    std::vector<std::string> closed_;
    std::optional<Connection> connection_;
};

TEST_F(ConnectionTest, MessagesHandledInOrder) {
    for (std::uint16_t id = 1; id <= 3; ++id)
        send(request(Command::region_read, bytes_of("x"), id));
    turns();
    EXPECT_THAT(ids_, ElementsAre(1, 2, 3));
    EXPECT_THAT(closed_, IsEmpty());
}

TEST_F(ConnectionTest, ReplySent) {
    reply_ = bytes_of("the reply");
    send(request(Command::region_read, {}));
    turns();
    EXPECT_EQ(receive_all(), reply_.size());
    EXPECT_EQ(statistics_.bytes_sent, reply_.size());
}

TEST_F(ConnectionTest, ClientDisconnectClosesWithoutFault) {
    sockets_.client.reset();
    turns();
    EXPECT_THAT(closed_, ElementsAre(""));
}

TEST_F(ConnectionTest, MessageBeforeDisconnectHandled) {
    send(request(Command::region_write, {}, 9));
    sockets_.client.reset();
    turns();
    EXPECT_THAT(ids_, ElementsAre(9));
    EXPECT_THAT(closed_, ElementsAre(""));
}

TEST_F(ConnectionTest, DisconnectWithinMessageReported) {
    const Bytes whole = request(Command::region_write, bytes_of("half of this is missing"));
    send(Bytes(whole.begin(), whole.begin() + 20));
    sockets_.client.reset();
    turns();
    ASSERT_EQ(closed_.size(), 1U);
    EXPECT_THAT(closed_.front(), HasSubstr("middle of a message"));
    EXPECT_THAT(ids_, IsEmpty());
}

TEST_F(ConnectionTest, InvalidMessageSizeClosesConnection) {
    send(request(Command::region_read, {}, 1));
    send(request(Command::region_read, {}, 2, 0, 7));
    send(request(Command::region_read, {}, 3));
    turns();
    EXPECT_THAT(ids_, ElementsAre(1));
    ASSERT_EQ(closed_.size(), 1U);
    EXPECT_THAT(closed_.front(), HasSubstr("message size 7"));
}

TEST_F(ConnectionTest, HandlerThrowsClosesConnection) {
    fail_ = true;
    send(request(Command::region_read, {}));
    turns();
    ASSERT_EQ(closed_.size(), 1U);
    EXPECT_THAT(closed_.front(), HasSubstr("deliberate"));
}

TEST_F(ConnectionTest, UnreadRepliesStopHandling) {
    reply_ = Bytes(100000);
    for (std::uint16_t id = 0; id < 100; ++id)
        send(request(Command::region_read, {}, id));
    turns(20);
    EXPECT_LT(ids_.size(), 100U);
    EXPECT_LE(connection_->unsent(), Connection::output_limit + reply_.size());
    EXPECT_THAT(closed_, IsEmpty());
}

TEST_F(ConnectionTest, ReadRepliesResumeHandling) {
    reply_ = Bytes(100000);
    for (std::uint16_t id = 0; id < 100; ++id)
        send(request(Command::region_read, {}, id));
    std::size_t received = 0;
    for (int i = 0; i < 2000 && received < 100 * reply_.size(); ++i) {
        loop_.turn({});
        received += receive_all();
    }
    EXPECT_EQ(received, 100 * reply_.size());
    EXPECT_EQ(ids_.size(), 100U);
    EXPECT_EQ(connection_->unsent(), 0U);
}

TEST_F(ConnectionTest, DisconnectWithUnreadRepliesCloses) {
    reply_ = Bytes(100000);
    for (std::uint16_t id = 0; id < 100; ++id)
        send(request(Command::region_read, {}, id));
    turns(20);
    sockets_.client.reset();
    turns();
    EXPECT_THAT(closed_, ElementsAre(""));
}

TEST_F(ConnectionTest, ClosedConnectionCallsNoHandler) {
    sockets_.client.reset();
    turns(10);
    EXPECT_EQ(closed_.size(), 1U);
}

TEST_F(ConnectionTest, DisconnectDetectedBeforeRead) {
    EXPECT_FALSE(connection_->peer_gone());
    send(request(Command::region_read, {}));
    sockets_.client.reset();
    EXPECT_TRUE(connection_->peer_gone());
}

} // namespace
} // namespace cxemu::vfio_user
