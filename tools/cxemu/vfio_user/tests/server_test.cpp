// SPDX-License-Identifier: GPL-2.0-or-later
#include "vfio_user/server.hpp"
#include "vfio_user/testing/fake_device.hpp"
#include "vfio_user/testing/guest_memory.hpp"
#include "vfio_user/testing/wire.hpp"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>

namespace cxemu::vfio_user {
namespace {

using testing::Bytes;
using testing::dma_map_body;
using testing::FakeDevice;
using testing::GuestMemory;
using ::testing::HasSubstr;
using testing::Reply;
using testing::request;
using testing::send_with_fds;
using testing::SocketPair;
using testing::version_body;

/// A server in a temporary directory.
class ServerTest : public ::testing::Test {
protected:
    ServerTest() {
        std::string name = (std::filesystem::temp_directory_path() / "cxemu-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr)
            throw std::runtime_error("mkdtemp failed");
        directory_ = name;
        path_ = directory_ / "hca0";
    }
    ~ServerTest() override {
        server_.reset();
        std::filesystem::remove_all(directory_);
    }

    void listen() {
        auto server = Server::listen(loop_, path_, device_, make_silent_log());
        ASSERT_TRUE(server) << server.error();
        server_ = *std::move(server);
    }
    std::string listen_error(const std::filesystem::path& path) {
        const auto server = Server::listen(loop_, path, device_, make_silent_log());
        return server ? "" : server.error();
    }
    UniqueFd connect() {
        UniqueFd client(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, path_.c_str(), sizeof(address.sun_path) - 1);
        EXPECT_EQ(::connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)),
                  0);
        turns();
        return client;
    }
    void turns(int count = 4) {
        for (int i = 0; i < count; ++i)
            loop_.turn({});
    }
    /// Sends a request and waits for the reply.
    Reply call(const UniqueFd& client, Command command, const Bytes& body,
               const std::vector<int>& fds = {}) {
        send_with_fds(client, request(command, body), fds);
        turns();
        Bytes buffer(65536);
        const auto count = ::recv(client.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
        buffer.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
        return Reply(buffer);
    }
    /// True when the server has closed the connection.
    static bool dropped(const UniqueFd& client) {
        char byte = 0;
        return ::recv(client.get(), &byte, 1, MSG_DONTWAIT) == 0;
    }

    EventLoop loop_;
    FakeDevice device_;
    std::filesystem::path directory_;
    std::filesystem::path path_;
    std::unique_ptr<Server> server_;
};

TEST_F(ServerTest, ConnectedClientServed) {
    listen();
    const UniqueFd client = connect();
    EXPECT_TRUE(server_->connected());
    EXPECT_EQ(device_.clients, 1);
    EXPECT_EQ(call(client, Command::version, version_body()).header.error, 0U);
    EXPECT_EQ(call(client, Command::device_reset, {}).header.error, 0U);
    EXPECT_EQ(device_.resets, 1);
}

TEST_F(ServerTest, ClientDisconnectDropsMapsAndEventfds) {
    listen();
    const GuestMemory memory(4096);
    UniqueFd client = connect();
    call(client, Command::version, version_body());
    const UniqueFd file = memory.file();
    ASSERT_EQ(call(client, Command::dma_map, dma_map_body(0, 4096), {file.get()}).header.error, 0U);
    EXPECT_EQ(device_.dma_space.map_count(), 1U);
    client.reset();
    turns();
    EXPECT_FALSE(server_->connected());
    EXPECT_EQ(device_.clients, 0);
    EXPECT_EQ(device_.dma_space.map_count(), 0U);
}

TEST_F(ServerTest, SuccessiveClientsServed) {
    listen();
    for (int i = 0; i < 50; ++i) {
        const UniqueFd client = connect();
        EXPECT_EQ(call(client, Command::version, version_body()).header.error, 0U);
    }
    EXPECT_EQ(server_->statistics().connections, 50U);
    EXPECT_LE(device_.clients, 1);
}

TEST_F(ServerTest, SecondClientRefused) {
    listen();
    const UniqueFd first = connect();
    const UniqueFd second = connect();
    EXPECT_TRUE(dropped(second));
    EXPECT_EQ(server_->statistics().connections_refused, 1U);
    EXPECT_EQ(call(first, Command::version, version_body()).header.error, 0U);
}

TEST_F(ServerTest, NewClientAcceptedAfterDisconnect) {
    listen();
    UniqueFd first = connect();
    first.reset();
    const UniqueFd second = connect();
    EXPECT_FALSE(dropped(second));
    EXPECT_EQ(call(second, Command::version, version_body()).header.error, 0U);
}

TEST_F(ServerTest, MalformedStreamDropsClientOnly) {
    listen();
    const UniqueFd client = connect();
    send_with_fds(client, Bytes(16, std::byte{0xff}));
    turns();
    EXPECT_TRUE(dropped(client));
    EXPECT_EQ(server_->statistics().connections_dropped, 1U);
    const UniqueFd next = connect();
    EXPECT_EQ(call(next, Command::version, version_body()).header.error, 0U);
}

TEST_F(ServerTest, ListenReplacesStaleSocketFile) {
    listen();
    const auto kept = directory_ / "kept";
    std::filesystem::create_hard_link(path_, kept);
    server_.reset();
    std::filesystem::rename(kept, path_);
    listen();
    EXPECT_FALSE(dropped(connect()));
}

TEST_F(ServerTest, SocketInUseRefused) {
    listen();
    EXPECT_THAT(listen_error(path_), HasSubstr(path_.string()));
    EXPECT_TRUE(std::filesystem::exists(path_));
}

TEST_F(ServerTest, FileOtherThanSocketKept) {
    std::ofstream(path_) << "precious";
    EXPECT_NE(listen_error(path_), "");
    EXPECT_EQ(std::filesystem::file_size(path_), 8U);
}

TEST_F(ServerTest, UnusablePathNamed) {
    EXPECT_THAT(listen_error("/nonexistent/socket"), HasSubstr("/nonexistent/socket"));
    EXPECT_THAT(listen_error(std::string(200, 'a')), HasSubstr("path length 200"));
    EXPECT_NE(listen_error(""), "");
}

TEST_F(ServerTest, DestroyedServerRemovesSocketFile) {
    listen();
    server_.reset();
    EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(ServerTest, DestroyAfterClientDisconnectSafe) {
    listen();
    auto sockets = std::make_unique<SocketPair>();
    server_->adopt(std::move(sockets->server));
    loop_.defer([this] { server_.reset(); });
    sockets.reset();
    turns();
    EXPECT_EQ(device_.clients, 0);
}

} // namespace
} // namespace cxemu::vfio_user
