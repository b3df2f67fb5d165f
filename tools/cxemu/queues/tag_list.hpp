// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The list of tags of a tag-matching receive queue: which memory a message with a tag goes to.
#pragma once

#include "memory/access.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <vector>

namespace cxemu::queues {

/// Memory for one message that has this tag.
struct TagEntry {
    std::uint16_t index = 0; ///< in the list, by which software knows the entry
    std::uint64_t tag = 0;
    std::uint64_t mask = 0; ///< bits of the tag that must be equal
    std::vector<memory::DataSegment> memory;
};

enum class TagFault : std::uint8_t {
    beyond_list, ///< an index isn't in the list
    in_use,      ///< the entry that is next has a tag already
};

/// A message takes the oldest tag that fits it. One that none fits is unexpected: software keeps
/// it, and looks there before it appends the next tag.
///
/// Both sides count unexpected messages. While software has handled fewer of them than have
/// arrived, a tag that it appends may be meant for one of those, so the tag isn't matched before
/// the counts agree. Tags that were appended earlier are: the messages didn't fit them.
class TagList {
public:
    static constexpr std::uint32_t largest_log_entries = 15;

    /// \param log_entries most tags, log2; at most largest_log_entries
    explicit TagList(std::uint32_t log_entries) : ages_(std::size_t{1} << log_entries) {}

    /// Puts \p entry, whose index is given to it, at the end of the list.
    /// \param next index of the entry that will be appended after this one
    std::expected<void, TagFault> append(TagEntry entry, std::uint16_t next);

    /// \return whether the entry was there; otherwise a message has taken it
    bool remove(std::uint16_t index);

    /// Software has handled \p count unexpected messages, modulo 2^16.
    void synchronize(std::uint16_t count);
    void count_unexpected() { ++arrived_; }
    /// One that was counted will not come to its end: software doesn't hear of it.
    void forget_unexpected() { --arrived_; }

    /// Takes the oldest entry that fits \p tag out of the list.
    std::optional<TagEntry> match(std::uint64_t tag);

    /// Puts an entry back that match() has taken: its message will not come.
    void restore(TagEntry entry);

    /// Index that the next entry will have.
    [[nodiscard]] std::uint16_t next() const { return next_; }
    /// Unexpected messages so far, modulo 2^16.
    [[nodiscard]] std::uint16_t unexpected() const { return arrived_; }
    /// How many of them software has handled.
    [[nodiscard]] std::uint16_t handled() const { return handled_; }
    [[nodiscard]] std::size_t size() const { return entries_.size(); }

private:
    struct Listed {
        TagEntry entry;
        std::uint64_t age = 0; ///< number of the append
        bool waits = false;    ///< for the counts to agree
    };

    std::vector<Listed> entries_;     ///< oldest first
    std::vector<std::uint64_t> ages_; ///< of the tag that has or had each index
    std::uint64_t appended_ = 0;
    std::uint16_t next_ = 0;
    std::uint16_t arrived_ = 0;
    std::uint16_t handled_ = 0;
};

} // namespace cxemu::queues
