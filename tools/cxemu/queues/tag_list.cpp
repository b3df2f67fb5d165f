// SPDX-License-Identifier: GPL-2.0-or-later
#include "queues/tag_list.hpp"

#include <algorithm>
#include <utility>

namespace cxemu::queues {

std::expected<void, TagFault> TagList::append(TagEntry entry, std::uint16_t next) {
    if (next >= ages_.size())
        return std::unexpected(TagFault::beyond_list);
    const bool listed = std::ranges::any_of(
        entries_, [this](const Listed& other) { return other.entry.index == next_; });
    if (listed)
        return std::unexpected(TagFault::in_use);
    entry.index = std::exchange(next_, next);
    ages_[entry.index] = ++appended_;
    entries_.push_back(
        {.entry = std::move(entry), .age = appended_, .waits = handled_ != arrived_});
    return {};
}

bool TagList::remove(std::uint16_t index) {
    return std::erase_if(entries_, [index](const Listed& listed) {
               return listed.entry.index == index;
           }) != 0;
}

void TagList::synchronize(std::uint16_t count) {
    handled_ = count;
    if (handled_ != arrived_)
        return;
    for (Listed& listed : entries_)
        listed.waits = false;
}

std::optional<TagEntry> TagList::match(std::uint64_t tag) {
    const auto found = std::ranges::find_if(entries_, [tag](const Listed& listed) {
        return !listed.waits && ((listed.entry.tag ^ tag) & listed.entry.mask) == 0;
    });
    if (found == entries_.end())
        return std::nullopt;
    TagEntry entry = std::move(found->entry);
    entries_.erase(found);
    return entry;
}

void TagList::restore(TagEntry entry) {
    const std::uint64_t age = ages_[entry.index];
    const auto behind = std::ranges::upper_bound(entries_, age, {}, &Listed::age);
    entries_.insert(behind, {.entry = std::move(entry), .age = age});
}

} // namespace cxemu::queues
