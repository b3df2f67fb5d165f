// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// A file of guest memory, mapped once as a whole.
#pragma once

#include "base/unique_fd.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <sys/stat.h>

namespace cxemu::vfio_user {

/// The file belongs to the client, which may shrink it at any time. An access beyond its new end
/// would then kill this process with SIGBUS. Instead, a signal handler replaces the whole mapping
/// with private zero pages and marks it lost.
class MappedFile {
public:
    /// Maps \p file, for reading only when it cannot be written.
    /// \return an errno: EINVAL (not a regular file, empty), ENOSPC (too many files mapped), EACCES
    ///         (not readable), ENOMEM
    static std::expected<std::shared_ptr<MappedFile>, int> open(UniqueFd file);

    ~MappedFile();
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }
    [[nodiscard]] bool writable() const { return writable_; }

    /// True when \p file is the same file and this mapping can serve it: it contains the first \p
    /// end bytes and is writable if the descriptor is.
    [[nodiscard]] bool serves(const UniqueFd& file, std::uint64_t end) const;

    /// True when the first megabyte and about a thousand pages spread over the whole file are all
    /// zero. Allocates nothing in the file. Takes a millisecond or two.
    [[nodiscard]] bool looks_untouched() const;

    /// True once the client has truncated the file under the mapping.
    [[nodiscard]] bool lost() const;

    /// Number of mappings lost in this process so far. If it differs before and after an access,
    /// the data is not valid.
    static std::uint64_t losses();

private:
    MappedFile(UniqueFd file, const struct stat& status, std::span<std::byte> bytes, bool writable,
               std::size_t guard);

    UniqueFd file_;
    dev_t device_;
    ino_t inode_;
    std::span<std::byte> bytes_;
    bool writable_;
    std::size_t guard_; ///< slot in the table that the signal handler reads
};

} // namespace cxemu::vfio_user
