// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Headers of messages to receive queues with tag matching.
#pragma once

#include "hwtab/view.hpp"
#include "tables/work_queue.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace cxemu::transport {

enum class TaggedMessage : std::uint8_t {
    no_tag = hwtab::value<hwtab::tag_header_opcode, "no_tag">,
    rendezvous = hwtab::value<hwtab::tag_header_opcode, "rndv">,
    finished = hwtab::value<hwtab::tag_header_opcode, "fin">, ///< a rendezvous
    eager = hwtab::value<hwtab::tag_header_opcode, "eager">,
};

/// First bytes of a message.
struct TagHeader {
    static constexpr std::size_t size = hwtab::tmh.size;

    TaggedMessage message = TaggedMessage::no_tag;
    std::uint64_t tag = 0;
    std::array<std::byte, size> bytes{};

    /// The message is matched against the tags.
    [[nodiscard]] bool wants_match() const {
        return message == TaggedMessage::rendezvous || message == TaggedMessage::eager;
    }
    /// The header of the FIN to the sender of a rendezvous, after its data has been read.
    [[nodiscard]] TagHeader fin() const;
};

/// Location of the data of a rendezvous, in the memory of its sender.
struct RendezvousHeader {
    static constexpr std::size_t size = hwtab::rvh.size;

    std::uint64_t address = 0;
    std::uint32_t key = 0;
    std::uint32_t length = 0; ///< bytes
};

/// \return nothing if \p message is too short
std::optional<TagHeader> parse_tag_header(std::span<const std::byte> message);

/// \param message complete, with its tag header
std::optional<RendezvousHeader> parse_rendezvous(std::span<const std::byte> message);

} // namespace cxemu::transport
