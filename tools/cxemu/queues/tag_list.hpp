// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The tag list of an XRQ: selects the buffer of a tagged message.
#pragma once

#include "memory/access.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <vector>

namespace cxemu::queues {

/// Buffer for one message with this tag.
struct TagEntry {
    std::uint16_t index = 0; ///< in the list, known to software
    std::uint64_t tag = 0;
    std::uint64_t mask = 0; ///< bits of the tag that must be equal
    std::vector<memory::DataSegment> memory;
};

enum class TagFault : std::uint8_t {
    beyond_list, ///< an index isn't in the list
    in_use,      ///< the next entry has a tag already
};

/// A message consumes the oldest matching tag. A message without a matching tag is unexpected.
/// Software keeps unexpected messages, and searches them before it appends a tag.
///
/// Device and software both count unexpected messages. While software has handled fewer than the
/// device has received, one of the others may match a new tag, so the device does not use the new
/// tag before the counts agree. It uses earlier tags, because they did not match these messages.
class TagList {
public:
    static constexpr std::uint32_t largest_log_entries = 15;

    /// \param log_entries list size, log2; at most largest_log_entries
    explicit TagList(std::uint32_t log_entries) : ages_(std::size_t{1} << log_entries) {}

    /// Appends \p entry and sets its index.
    /// \param next index of the entry that will be appended after this one
    std::expected<void, TagFault> append(TagEntry entry, std::uint16_t next);

    /// \return false when a message has consumed the entry already
    bool remove(std::uint16_t index);

    /// Software has handled \p count unexpected messages, modulo 2^16.
    void synchronize(std::uint16_t count);
    void count_unexpected() { ++arrived_; }
    /// Removes an unexpected message from the count, because it will not be completed and software
    /// does not see it.
    void forget_unexpected() { --arrived_; }

    /// Removes and returns the oldest entry that matches \p tag.
    std::optional<TagEntry> match(std::uint64_t tag);

    /// Puts back an entry from match() whose message will not arrive.
    void restore(TagEntry entry);

    /// Index of the next entry.
    [[nodiscard]] std::uint16_t next() const { return next_; }
    /// Unexpected messages so far, modulo 2^16.
    [[nodiscard]] std::uint16_t unexpected() const { return arrived_; }
    /// Unexpected messages that software has handled, modulo 2^16.
    [[nodiscard]] std::uint16_t handled() const { return handled_; }
    [[nodiscard]] std::size_t size() const { return entries_.size(); }

private:
    struct Listed {
        TagEntry entry;
        std::uint64_t age = 0; ///< number of the append
        bool waits = false;    ///< until the counts agree
    };

    std::vector<Listed> entries_;     ///< oldest first
    std::vector<std::uint64_t> ages_; ///< of the last tag with each index
    std::uint64_t appended_ = 0;
    std::uint16_t next_ = 0;
    std::uint16_t arrived_ = 0;
    std::uint16_t handled_ = 0;
};

} // namespace cxemu::queues
