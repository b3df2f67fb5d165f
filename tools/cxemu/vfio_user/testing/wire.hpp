// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Composes and parses messages as a client.
#pragma once

#include "vfio_user/protocol.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <vector>

namespace cxemu::vfio_user::testing {

using Bytes = std::vector<std::byte>;

inline Bytes bytes_of(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

/// A whole request. \param size in the header, by default the actual one
inline Bytes request(Command command, const Bytes& body, std::uint16_t id = 1,
                     std::uint32_t flags = 0, std::optional<std::uint32_t> size = {}) {
    Header header{.id = id, .command = command};
    header.size = size.value_or(static_cast<std::uint32_t>(Header::wire_size + body.size()));
    header.flags = flags;
    return WireWriter().put_header(header).put_bytes(body).take();
}

inline Bytes version_body(std::string_view json = R"({"capabilities":{"max_msg_fds":16,)"
                                                  R"("max_data_xfer_size":1048576,)"
                                                  R"("write_multiple":true,"pgsizes":4096}})") {
    return WireWriter()
        .put(std::uint16_t{0})
        .put(std::uint16_t{0})
        .put_bytes(std::as_bytes(std::span(json)))
        .put(std::uint8_t{0})
        .take();
}

inline Bytes region_body(std::uint64_t offset, std::uint32_t region, std::uint32_t count,
                         const Bytes& data = {}) {
    return WireWriter().put(offset).put(region).put(count).put_bytes(data).take();
}

inline Bytes irq_body(std::uint32_t flags, std::uint32_t first, std::uint32_t count,
                      const Bytes& data = {}, std::uint32_t index = 2) {
    return WireWriter()
        .put(static_cast<std::uint32_t>(20 + data.size()))
        .put(flags)
        .put(index)
        .put(first)
        .put(count)
        .put_bytes(data)
        .take();
}

inline Bytes dma_map_body(std::uint64_t iova, std::uint64_t size, std::uint64_t offset = 0,
                          std::uint32_t flags = 3) {
    return WireWriter().put(std::uint32_t{32}).put(flags).put(offset).put(iova).put(size).take();
}

inline Bytes dma_unmap_body(std::uint64_t iova, std::uint64_t size, std::uint32_t flags = 0) {
    return WireWriter().put(std::uint32_t{24}).put(flags).put(iova).put(size).take();
}

/// A parsed reply. \pre bytes hold one whole message
struct Reply {
    explicit Reply(std::span<const std::byte> bytes) {
        WireReader reader(bytes);
        header.id = reader.take<std::uint16_t>();
        header.command = static_cast<Command>(reader.take<std::uint16_t>());
        header.size = reader.take<std::uint32_t>();
        header.flags = reader.take<std::uint32_t>();
        header.error = reader.take<std::uint32_t>();
        body.assign(reader.rest().begin(), reader.rest().end());
    }
    [[nodiscard]] WireReader reader() const { return WireReader(body); }

    Header header;
    Bytes body;
};

inline UniqueFd make_eventfd(unsigned value = 0) {
    return UniqueFd(::eventfd(value, EFD_NONBLOCK | EFD_CLOEXEC));
}

/// Reads the count of an eventfd; 0 without writes.
inline std::uint64_t drain(const UniqueFd& fd) {
    eventfd_t count = 0;
    return ::eventfd_read(fd.get(), &count) == 0 ? count : 0;
}

inline bool is_open(int fd) {
    return ::fcntl(fd, F_GETFD) >= 0;
}

/// Sends all of \p data with \p fds by one sendmsg().
inline void send_with_fds(const UniqueFd& socket, std::span<const std::byte> data,
                          std::span<const int> fds = {}) {
    alignas(cmsghdr) std::array<std::byte, 2048> control{};
    iovec part{.iov_base = const_cast<std::byte*>(data.data()), .iov_len = data.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (!fds.empty()) {
        message.msg_control = control.data();
        message.msg_controllen = CMSG_SPACE(fds.size_bytes());
        cmsghdr* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(fds.size_bytes());
        std::memcpy(CMSG_DATA(header), fds.data(), fds.size_bytes());
    }
    if (::sendmsg(socket.get(), &message, MSG_NOSIGNAL) != static_cast<ssize_t>(data.size()))
        throw std::runtime_error("sendmsg did not take everything");
}

struct SocketPair {
    SocketPair() {
        std::array<int, 2> fds{};
        if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()) != 0)
            throw std::runtime_error("socketpair failed");
        server.reset(fds[0]);
        client.reset(fds[1]);
    }
    UniqueFd server;
    UniqueFd client;
};

} // namespace cxemu::vfio_user::testing
