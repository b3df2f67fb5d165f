// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Records the envelope of a driver: which fields it sets in the messages that it sends, and to
/// which values.
///
/// The names of subjects and fields are those of the hardware tables, so software cannot make an
/// envelope grow without limit.
#pragma once

#include "check/envelope_text.hpp"
#include "check/layout_walk.hpp"
#include "hwtab/model.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace cxemu::check {

class Envelope {
public:
    /// Maximum number of recorded elements of an array or list; all are recorded as one field,
    /// "pas[]".
    static constexpr std::uint32_t elements_recorded = 64;

    /// Records one occurrence of \p subject with the fields of \p layout.
    /// \param bytes may be shorter than the layout; fields beyond their end are not recorded
    void record(std::string_view subject, const hwtab::Layout& layout,
                std::span<const std::byte> bytes, const Chooser& choose = {});

    /// Records \p value of \p field, which is not part of a layout: a length or an order.
    void note(std::string_view subject, std::string_view field, std::string_view value);

    [[nodiscard]] EnvelopeText text() const;

    /// Merges what has been recorded into \p file, which may be missing.
    /// \return an error text that names the file and the cause
    [[nodiscard]] std::expected<void, std::string> write(const std::filesystem::path& file) const;

private:
    /// What has been seen of a field.
    struct Seen {
        const hwtab::Field* field = nullptr;
        std::set<std::uint64_t> values;
        std::set<std::string_view> classes; ///< of values that are not kept themselves
        std::uint64_t any = 0;              ///< of a mask: bits that were ever set
        std::uint64_t all = ~0ULL;          ///< of a mask: bits that were always set
    };
    using SeenFields = std::map<std::string, Seen, std::less<>>;

    static void add(Seen& seen, std::uint64_t value);
    static EnvelopeValues values_of(const Seen& seen);

    std::map<std::string, SeenFields, std::less<>> subjects_;
    EnvelopeText notes_;
};

} // namespace cxemu::check
