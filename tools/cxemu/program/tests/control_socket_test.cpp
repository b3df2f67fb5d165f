// SPDX-License-Identifier: GPL-2.0-or-later
#include "program/control_socket.hpp"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace cxemu::program {
namespace {

class ControlSocketTest : public ::testing::Test {
protected:
    void SetUp() override {
        auto listening = ControlSocket::listen(
            loop, path,
            [](const std::vector<std::string>& words) { return nlohmann::json{{"words", words}}; },
            make_silent_log());
        ASSERT_TRUE(listening) << listening.error();
        control = *std::move(listening);
    }

    UniqueFd connect() {
        UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::ranges::copy(path.string(), std::begin(address.sun_path));
        EXPECT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
        return fd;
    }

    std::string ask(const UniqueFd& fd, std::string_view text) {
        EXPECT_EQ(::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL),
                  static_cast<ssize_t>(text.size()));
        for (int i = 0; i < 4; ++i)
            loop.turn({});
        std::array<char, 4096> buffer{};
        const ssize_t count = ::recv(fd.get(), buffer.data(), buffer.size(), 0);
        return count > 0 ? std::string(buffer.data(), static_cast<std::size_t>(count))
                         : std::string();
    }

    std::filesystem::path path =
        std::filesystem::temp_directory_path() / fmt::format("control_test.{}", ::getpid());
    EventLoop loop;
    std::unique_ptr<ControlSocket> control;
};

TEST_F(ControlSocketTest, LineGetsReplyLine) {
    const UniqueFd client = connect();
    EXPECT_EQ(ask(client, "pages request 3\n"), "{\"words\":[\"pages\",\"request\",\"3\"]}\n");
}

TEST_F(ControlSocketTest, SplitAndJoinedLinesHandled) {
    const UniqueFd client = connect();
    EXPECT_EQ(ask(client, "st"), "");
    EXPECT_EQ(ask(client, "ats\n\nhelp\n"), "{\"words\":[\"stats\"]}\n{\"words\":[\"help\"]}\n");
}

TEST_F(ControlSocketTest, LineBeyondLimitEndsConnection) {
    const UniqueFd client = connect();
    const std::string flood(ControlSocket::longest_line + 1, 'x');
    EXPECT_EQ(ask(client, flood), "");
    loop.turn({});
    std::array<char, 1> buffer{};
    EXPECT_EQ(::recv(client.get(), buffer.data(), 1, 0), 0) << "the connection is still open";
}

TEST_F(ControlSocketTest, PathInUseRefused) {
    const auto second = ControlSocket::listen(
        loop, path, [](const auto&) { return nlohmann::json(); }, make_silent_log());
    ASSERT_FALSE(second);
    EXPECT_NE(second.error().find(path.string()), std::string::npos) << second.error();
    const UniqueFd client = connect();
    EXPECT_EQ(ask(client, "help\n"), "{\"words\":[\"help\"]}\n") << "the first one still serves";
}

TEST_F(ControlSocketTest, ClientBeyondLimitIsRefused) {
    std::vector<UniqueFd> clients;
    for (std::size_t i = 0; i < ControlSocket::max_clients; ++i) {
        clients.push_back(connect());
        loop.turn({});
    }
    const UniqueFd one_more = connect();
    EXPECT_EQ(ask(one_more, "help\n"), "");
    EXPECT_NE(ask(clients.back(), "help\n"), "");
    clients.pop_back();
    for (int i = 0; i < 4; ++i)
        loop.turn({});
    EXPECT_NE(ask(connect(), "help\n"), "");
}

TEST_F(ControlSocketTest, SlowClientGetsAllReplies) {
    const UniqueFd client = connect();
    const std::string line = std::string(4000, 'x') + "\n";
    int sent = 0;
    while (::send(client.get(), line.data(), line.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(line.size())) {
        ++sent;
        loop.turn({});
    }
    const UniqueFd other = connect();
    EXPECT_NE(ask(other, "help\n"), "") << "the others are served meanwhile";
    std::size_t replies = 0;
    std::array<char, 65536> buffer{};
    for (int i = 0; i < 10'000; ++i) {
        loop.turn({});
        const ssize_t count = ::recv(client.get(), buffer.data(), buffer.size(), 0);
        for (ssize_t at = 0; at < count; ++at)
            replies += buffer.at(static_cast<std::size_t>(at)) == '\n' ? 1 : 0;
    }
    EXPECT_EQ(replies, static_cast<std::size_t>(sent));
}

TEST_F(ControlSocketTest, DestroyedSocketRemovesFile) {
    EXPECT_TRUE(std::filesystem::exists(path));
    control.reset();
    EXPECT_FALSE(std::filesystem::exists(path));
}

} // namespace
} // namespace cxemu::program
