// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// A file descriptor with ownership.
#pragma once

#include <unistd.h>
#include <utility>

namespace cxemu {

/// Owns one file descriptor; move-only. An empty one holds -1.
class UniqueFd {
public:
    UniqueFd() = default;
    explicit UniqueFd(int fd) : fd_(fd) {}
    UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
    UniqueFd& operator=(UniqueFd&& other) noexcept {
        reset(other.release());
        return *this;
    }
    UniqueFd(const UniqueFd&) = delete;
    UniqueFd& operator=(const UniqueFd&) = delete;
    ~UniqueFd() { reset(); }

    [[nodiscard]] int get() const { return fd_; }
    [[nodiscard]] explicit operator bool() const { return fd_ >= 0; }

    /// Releases the descriptor to the caller, which must close it.
    [[nodiscard]] int release() { return std::exchange(fd_, -1); }

    /// Closes the owned descriptor and takes ownership of \p fd.
    void reset(int fd = -1) {
        const int old = std::exchange(fd_, fd);
        if (old >= 0 && old != fd)
            ::close(old);
    }

private:
    int fd_ = -1;
};

} // namespace cxemu
