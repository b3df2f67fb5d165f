// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Splits the byte stream of a socket into messages and assigns file descriptors to them.
#pragma once

#include "vfio_user/protocol.hpp"

#include <cstdint>
#include <deque>
#include <expected>
#include <optional>
#include <string>
#include <vector>

namespace cxemu::vfio_user {

/// The kernel ends a read after the data that was sent with descriptors, so they are assigned to
/// the message with the last byte of that read. Bytes of earlier messages may be in the same read.
class MessageReader {
public:
    enum class Received : std::uint8_t { data, nothing_now, end_of_stream };

    /// Reads once from a socket, without blocking.
    /// \return an error text when the connection has failed, or more descriptors arrived than can
    ///         be accepted
    std::expected<Received, std::string> receive(int socket);

    /// The next complete message, if there is one.
    /// \return an error text when the stream is malformed: an invalid length field
    std::expected<std::optional<Message>, std::string> next();

    /// Received bytes of incomplete messages.
    [[nodiscard]] std::size_t buffered() const { return end_ - begin_; }
    [[nodiscard]] std::uint64_t total_received() const { return position_; }

private:
    /// Descriptors of one read. \c position is the number of bytes received when that read ended.
    struct FdGroup {
        std::uint64_t position;
        std::vector<UniqueFd> fds;
    };

    void make_room();
    std::expected<void, std::string> keep_fds(std::vector<UniqueFd> fds);
    std::vector<UniqueFd> take_fds(std::uint64_t message_end);

    std::vector<std::byte> buffer_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::uint64_t position_ = 0; ///< in the stream, of buffer_[end_]
    std::deque<FdGroup> fd_groups_;
    std::size_t fds_waiting_ = 0;
};

} // namespace cxemu::vfio_user
