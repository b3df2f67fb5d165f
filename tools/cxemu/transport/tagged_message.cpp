// SPDX-License-Identifier: GPL-2.0-or-later
#include "transport/tagged_message.hpp"

#include <algorithm>

namespace cxemu::transport {

std::optional<TagHeader> parse_tag_header(std::span<const std::byte> message) {
    if (message.size() < TagHeader::size)
        return std::nullopt;
    const hwtab::ConstView<hwtab::tmh> fields{message};
    TagHeader header{.message = static_cast<TaggedMessage>(fields.get<"opcode">()),
                     .tag = fields.get<"tag">()};
    std::ranges::copy(message.first(TagHeader::size), header.bytes.begin());
    return header;
}

std::optional<RendezvousHeader> parse_rendezvous(std::span<const std::byte> message) {
    if (message.size() < TagHeader::size + RendezvousHeader::size)
        return std::nullopt;
    const hwtab::ConstView<hwtab::rvh> fields{message.subspan(TagHeader::size)};
    return RendezvousHeader{.address = fields.get<"va">(),
                            .key = static_cast<std::uint32_t>(fields.get<"rkey">()),
                            .length = static_cast<std::uint32_t>(fields.get<"len">())};
}

TagHeader TagHeader::fin() const {
    TagHeader header = *this;
    header.message = TaggedMessage::finished;
    hwtab::View<hwtab::tmh>{header.bytes}.set<"opcode">(
        static_cast<std::uint8_t>(TaggedMessage::finished));
    return header;
}

} // namespace cxemu::transport
