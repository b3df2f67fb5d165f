// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// A session with one client: handles messages, calls the device, composes replies. Independent of
/// sockets.
#pragma once

#include "base/log.hpp"
#include "vfio_user/device.hpp"
#include "vfio_user/protocol.hpp"
#include "vfio_user/session_statistics.hpp"

#include <cstddef>
#include <expected>
#include <vector>

namespace cxemu::vfio_user {

class Session {
public:
    /// All three must outlive the session. Notifies the device that a client has connected.
    Session(Device& device, Log log, SessionStatistics& statistics);

    /// Drops the client's maps and eventfds and notifies the device.
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// Handles a message.
    /// \return the reply; empty when the client requested none
    std::vector<std::byte> handle(Message message);

private:
    using Body = std::vector<std::byte>;
    using Result = std::expected<Body, int>;

    Result dispatch(Message& message);
    Result version(std::span<const std::byte> body);
    Result get_info(std::span<const std::byte> body);
    Result get_region_info(std::span<const std::byte> body);
    Result get_irq_info(std::span<const std::byte> body);
    Result set_irqs(std::span<const std::byte> body, std::vector<UniqueFd> fds);
    Result region_read(std::span<const std::byte> body);
    Result region_write(std::span<const std::byte> body);
    Result region_write_multi(std::span<const std::byte> body);
    Result dma_map(std::span<const std::byte> body, std::vector<UniqueFd> fds);
    Result dma_unmap(std::span<const std::byte> body);
    Result dma_unmap_all();
    Result reset();

    struct IrqRequest;
    std::expected<void, int> apply_irqs(const IrqRequest& request, std::vector<UniqueFd> fds);
    std::expected<void, int> apply_irq_action(std::uint32_t action, std::uint32_t first,
                                              std::uint32_t count);
    [[nodiscard]] bool within_region(std::uint32_t index, std::uint64_t offset,
                                     std::uint64_t count) const;
    void note(const Header& header, const Result& result);

    Device& device_;
    Log log_;
    SessionStatistics& statistics_;
    LogLimiter limiter_;
    bool negotiated_ = false;
};

} // namespace cxemu::vfio_user
