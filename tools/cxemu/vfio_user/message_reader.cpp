// SPDX-License-Identifier: GPL-2.0-or-later
#include "vfio_user/message_reader.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <iterator>
#include <sys/socket.h>
#include <utility>

namespace cxemu::vfio_user {
namespace {

constexpr std::size_t read_size = 65536;

/// More descriptors than one message may have are accepted, so that the excess can be refused by a
/// reply; beyond this limit the client is disconnected.
constexpr std::size_t max_fds_waiting = 64;

std::vector<UniqueFd> fds_of(const msghdr& message) {
    std::vector<UniqueFd> fds;
    for (const cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
         part = CMSG_NXTHDR(const_cast<msghdr*>(&message), const_cast<cmsghdr*>(part))) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
            continue;
        const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof(fd));
            fds.emplace_back(fd);
        }
    }
    return fds;
}

} // namespace

void MessageReader::make_room() {
    if (begin_ > 0) {
        std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_),
                  buffer_.begin() + static_cast<std::ptrdiff_t>(end_), buffer_.begin());
        end_ -= begin_;
        begin_ = 0;
    }
    if (buffer_.size() < end_ + read_size)
        buffer_.resize(end_ + read_size);
}

std::expected<MessageReader::Received, std::string> MessageReader::receive(int socket) {
    make_room();
    alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(max_fds_waiting * sizeof(int))> control{};
    iovec data{.iov_base = &buffer_.at(end_), .iov_len = read_size};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t count = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return Received::nothing_now;
    if (count < 0 && errno == ECONNRESET) // the client was killed with replies unread
        return Received::end_of_stream;
    if (count < 0)
        return std::unexpected(fmt::format("receiving failed: {}", std::strerror(errno)));
    auto fds = fds_of(message);
    if ((message.msg_flags & MSG_CTRUNC) != 0)
        return std::unexpected(
            fmt::format("more than {} file descriptors in one message", max_fds_waiting));
    if (count == 0)
        return Received::end_of_stream;
    end_ += static_cast<std::size_t>(count);
    position_ += static_cast<std::uint64_t>(count);
    if (const auto kept = keep_fds(std::move(fds)); !kept)
        return std::unexpected(kept.error());
    return Received::data;
}

std::expected<void, std::string> MessageReader::keep_fds(std::vector<UniqueFd> fds) {
    if (fds.empty())
        return {};
    fds_waiting_ += fds.size();
    if (fds_waiting_ > max_fds_waiting)
        return std::unexpected(fmt::format(
            "more than {} file descriptors ahead of a complete message", max_fds_waiting));
    fd_groups_.push_back({.position = position_, .fds = std::move(fds)});
    return {};
}

std::vector<UniqueFd> MessageReader::take_fds(std::uint64_t message_end) {
    std::vector<UniqueFd> fds;
    while (!fd_groups_.empty() && fd_groups_.front().position <= message_end) {
        std::ranges::move(fd_groups_.front().fds, std::back_inserter(fds));
        fd_groups_.pop_front();
    }
    fds_waiting_ -= fds.size();
    return fds;
}

std::expected<std::optional<Message>, std::string> MessageReader::next() {
    if (buffered() < Header::wire_size)
        return std::nullopt;
    const std::span<const std::byte> received(&buffer_[begin_], buffered());
    WireReader reader(received);
    Header header;
    header.id = reader.take<std::uint16_t>();
    // NOLINTNEXTLINE(clang-analyzer-optin.core.EnumCastOutOfRange): the client may send any number
    header.command = static_cast<Command>(reader.take<std::uint16_t>());
    header.size = reader.take<std::uint32_t>();
    header.flags = reader.take<std::uint32_t>();
    header.error = reader.take<std::uint32_t>();
    if (header.size < Header::wire_size || header.size > limit::message_size)
        return std::unexpected(fmt::format("message size {} is not within {}..{}", header.size,
                                           Header::wire_size, limit::message_size));
    if (buffered() < header.size)
        return std::nullopt;
    const std::uint64_t message_end = position_ - (buffered() - header.size);
    begin_ += header.size;
    return Message{.header = header,
                   .body = reader.take_bytes(header.size - Header::wire_size),
                   .fds = take_fds(message_end)};
}

} // namespace cxemu::vfio_user
