// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// XRQ: an SRQ with a tag list.
#pragma once

#include "hca/objects.hpp"
#include "hwtab/view.hpp"
#include "queues/shared_receive_queue.hpp"
#include "queues/tag_list.hpp"
#include "tables/contexts.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace cxemu::queues {

/// Messages without a tag and unexpected messages consume WQEs of the SRQ.
class ExtendedReceiveQueue final : public SharedReceiveQueue {
public:
    static constexpr hca::ObjectKind kind = hca::ObjectKind::extended_receive_queue;

    /// \param context of the layout xrqc
    ExtendedReceiveQueue(hca::ObjectIdentity identity, hca::Hca& hca,
                         std::span<const std::byte> context,
                         const SharedReceiveAttributes& attributes,
                         SharedReceiveResources resources);

    [[nodiscard]] hwtab::ConstView<hwtab::xrqc> context() const {
        return hwtab::ConstView<hwtab::xrqc>{context_};
    }
    [[nodiscard]] std::uint32_t user_index() const override {
        return static_cast<std::uint32_t>(context().get<"user_index">());
    }
    [[nodiscard]] TagList* tags() override { return tags_ ? &*tags_ : nullptr; }
    [[nodiscard]] bool fetches_rendezvous() const override;

    /// Writes current state, limit and counters to the context.
    void refresh();

private:
    std::array<std::byte, hwtab::xrqc.size> context_{};
    std::optional<TagList> tags_;
};

} // namespace cxemu::queues
