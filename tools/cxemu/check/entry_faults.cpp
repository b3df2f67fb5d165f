// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/entry_faults.hpp"

#include "check/seeded_random.hpp"
#include "hwtab/view.hpp"
#include "tables/completion.hpp"

#include <span>

namespace cxemu::check {

namespace {

/// Random bytes with a type that no table names.
QueueEntry unknown_entry(EntryKind kind, SeededRandom& random) {
    constexpr std::uint8_t no_such_event = 0xfe;
    constexpr std::uint8_t no_such_completion = 0x9;
    QueueEntry entry;
    random.fill(entry);
    if (kind == EntryKind::event)
        hwtab::View<hwtab::eqe>{std::span(entry)}.set<"event_type">(no_such_event);
    else
        hwtab::View<hwtab::cqe64>{std::span(entry)}.set<"opcode">(no_such_completion);
    return entry;
}

void forge(QueueEntry& entry, const std::vector<EntryFault::ForgedField>& fields) {
    for (const EntryFault::ForgedField& field : fields)
        hwtab::write_bits(entry.data(), field.offset, field.width, field.value);
}

} // namespace

std::vector<QueueEntry> corrupt_entry(EntryKind kind, const QueueEntry& entry,
                                      const EntryFault& fault) {
    SeededRandom random(fault.seed);
    std::vector<QueueEntry> entries;
    if (!fault.drop) {
        QueueEntry& corrupted = entries.emplace_back(entry);
        if (fault.random)
            random.fill(corrupted);
        forge(corrupted, fault.forged_fields);
    }
    switch (fault.companion) {
    case EntryFault::Companion::none:
        break;
    case EntryFault::Companion::same:
        entries.push_back(entries.empty() ? entry : entries.front());
        forge(entries.back(), fault.companion_fields);
        break;
    case EntryFault::Companion::random:
        random.fill(entries.emplace_back());
        break;
    case EntryFault::Companion::unknown:
        entries.push_back(unknown_entry(kind, random));
        break;
    }
    return entries;
}

} // namespace cxemu::check
