// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// CQE compression: a run of similar CQEs is written as one title CQE, followed by arrays of mini
/// CQEs of 8 bytes in the next slots.
#pragma once

#include "queues/completion.hpp"
#include "tables/contexts.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cxemu::queues {

/// Contents of a mini CQE of a receive beside byte_cnt.
enum class MiniFormat : std::uint8_t {
    hash = hwtab::value<hwtab::mini_cqe_format, "hash">,
    checksum = hwtab::value<hwtab::mini_cqe_format, "csum">,
    checksum_and_stride = hwtab::value<hwtab::mini_cqe_format, "csum_stridx">,
};

/// Completions with a common title. The title is the first completion, but its byte_cnt field
/// contains the number of completions; the byte_cnt of the completion is in its mini CQE. Mini CQEs
/// of sends have wqe_counter and opcode; the wqe_counter of receives counts up from that of the
/// title. A run occupies as many slots as uncompressed CQEs, but the device writes only those of
/// the title and of the arrays.
class CompressedRun {
public:
    static constexpr std::size_t longest = 64; ///< capability cqe_compression_max_num
    static constexpr std::size_t minis_in_array = 8;

    using Array = std::array<std::byte, hwtab::mini_cqe_array.size>;

    explicit CompressedRun(MiniFormat format) : format_(format) {}

    [[nodiscard]] MiniFormat format() const { return format_; }

    /// Whether \p completion can be compressed: success, without inline data.
    [[nodiscard]] static bool can_hold(const Completion& completion);

    /// Whether a mini CQE can describe \p next in this run.
    /// \pre can_hold(next)
    [[nodiscard]] bool continues_with(const Completion& next) const;

    /// \pre empty() or continues_with(next)
    void add(const Completion& next) { completions_.push_back(next); }

    [[nodiscard]] bool empty() const { return completions_.empty(); }
    [[nodiscard]] std::size_t size() const { return completions_.size(); }
    [[nodiscard]] const std::vector<Completion>& completions() const { return completions_; }

    /// \pre size() > 1
    [[nodiscard]] Completion title() const;

    [[nodiscard]] std::size_t arrays() const {
        return (size() + minis_in_array - 1) / minis_in_array;
    }
    [[nodiscard]] Array array(std::size_t index) const;
    /// Slot of an array, relative to the title. The first array is in slot 1; every other array is
    /// in the slot of the first CQE that it describes.
    static constexpr std::uint32_t slot_of_array(std::size_t index) {
        return index == 0 ? 1 : static_cast<std::uint32_t>(index * minis_in_array);
    }

private:
    [[nodiscard]] Completion common_part(Completion completion) const;
    void fill(hwtab::View<hwtab::mini_cqe8> mini, const Completion& completion) const;

    MiniFormat format_;
    std::vector<Completion> completions_;
};

} // namespace cxemu::queues
