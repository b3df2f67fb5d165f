// SPDX-License-Identifier: GPL-2.0-or-later
#include "vfio_user/interrupt_set.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <string_view>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

namespace cxemu::vfio_user {
namespace {

/// A client may send any descriptor, so it must be an eventfd: the write must neither block nor
/// change a file.
bool is_eventfd(const UniqueFd& fd) {
    std::array<char, 64> target{};
    const auto path = fmt::format("/proc/self/fd/{}", fd.get());
    const auto length = ::readlink(path.c_str(), target.data(), target.size());
    return length > 0 && std::string_view(target.data(), static_cast<std::size_t>(length)) ==
                             "anon_inode:[eventfd]";
}

bool make_non_blocking(const UniqueFd& fd) {
    const int flags = ::fcntl(fd.get(), F_GETFL);
    return flags >= 0 &&
           ((flags & O_NONBLOCK) != 0 || ::fcntl(fd.get(), F_SETFL, flags | O_NONBLOCK) == 0);
}

} // namespace

InterruptSet::InterruptSet(std::uint32_t vectors, Log log)
    : vectors_(vectors), log_(std::move(log)) {}

bool InterruptSet::in_range(std::uint32_t first, std::uint64_t count) const {
    return first <= vectors_.size() && count <= vectors_.size() - first;
}

void InterruptSet::deliver_if_possible(Vector& vector) {
    if (!vector.pending || vector.masked || !vector.eventfd || !enabled_)
        return;
    vector.pending = false;
    // Fails only when the counter is full: the guest has a pending interrupt then.
    ::eventfd_write(vector.eventfd.get(), 1);
    ++statistics_.delivered;
}

void InterruptSet::raise(std::uint32_t vector) {
    if (vector >= vectors_.size()) {
        ++statistics_.invalid_vector;
        if (limiter_.allow())
            log_->error("interrupt vector {} raised, but there are only {}", vector, size());
        return;
    }
    ++statistics_.raised;
    Vector& target = vectors_[vector];
    target.pending = true;
    deliver_if_possible(target);
    if (target.pending)
        ++statistics_.held_pending;
}

bool InterruptSet::pending(std::uint32_t vector) const {
    return vector < vectors_.size() && vectors_[vector].pending;
}

std::expected<void, int> InterruptSet::assign(std::uint32_t first, std::vector<UniqueFd> fds) {
    if (!in_range(first, fds.size()))
        return std::unexpected(EINVAL);
    for (const auto& fd : fds)
        if (fd && !(is_eventfd(fd) && make_non_blocking(fd)))
            return std::unexpected(EINVAL);
    ++statistics_.reconfigurations;
    for (std::size_t i = 0; i < fds.size(); ++i) {
        Vector& vector = vectors_[first + i];
        vector.eventfd = std::move(fds[i]);
        deliver_if_possible(vector);
    }
    return {};
}

void InterruptSet::release_all() {
    ++statistics_.reconfigurations;
    for (auto& vector : vectors_) {
        vector.eventfd.reset();
        vector.masked = false;
    }
}

std::expected<void, int> InterruptSet::set_masked(std::uint32_t first, std::uint32_t count,
                                                  bool masked) {
    if (!in_range(first, count))
        return std::unexpected(EINVAL);
    ++statistics_.reconfigurations;
    for (auto& vector : std::span(vectors_).subspan(first, count)) {
        vector.masked = masked;
        deliver_if_possible(vector);
    }
    return {};
}

std::expected<void, int> InterruptSet::trigger(std::uint32_t first, std::uint32_t count) {
    if (!in_range(first, count))
        return std::unexpected(EINVAL);
    for (std::uint32_t i = 0; i < count; ++i)
        raise(first + i);
    return {};
}

void InterruptSet::set_enabled(bool enabled) {
    enabled_ = enabled;
    for (auto& vector : vectors_)
        deliver_if_possible(vector);
}

void InterruptSet::clear_pending() {
    for (auto& vector : vectors_)
        vector.pending = false;
}

void InterruptSet::read_pending_bits(std::uint64_t offset, std::span<std::byte> out) const {
    std::ranges::fill(out, std::byte{0});
    for (std::uint32_t i = 0; i < size(); ++i) {
        const std::uint64_t byte = i / 8;
        if (vectors_[i].pending && byte >= offset && byte - offset < out.size())
            out[byte - offset] |= std::byte{1} << (i % 8);
    }
}

} // namespace cxemu::vfio_user
