// SPDX-License-Identifier: GPL-2.0-or-later
#include "hca/mailbox_chain.hpp"

#include "hwtab/view.hpp"
#include "tables/command_interface.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <spdlog/fmt/fmt.h>

namespace cxemu::hca {

namespace {

using hwtab::cmd_if_box;
using Box = std::array<std::byte, cmd_if_box.size>;
using BoxView = hwtab::ConstView<cmd_if_box>;

/// Alignment of the pointers to the second and further mailboxes. The queue entry has the pointer
/// to the first one.
constexpr std::uint64_t next_alignment = 1024;
constexpr std::uint64_t first_alignment = 512;
/// Start of the part of a mailbox that its control signature covers.
constexpr std::size_t control_begin = mailbox_data_size;
constexpr std::size_t signature_at = cmd_if_box.size - 1;
constexpr std::size_t control_signature_at = cmd_if_box.size - 2;

std::string_view direction(const MailboxChain& chain) {
    return chain.output ? "output" : "input";
}

DeliveryStatus pointer_status(const MailboxChain& chain) {
    return chain.output ? DeliveryStatus::bad_output_pointer : DeliveryStatus::bad_input_pointer;
}

DeliveryStatus length_status(const MailboxChain& chain) {
    return chain.output ? DeliveryStatus::output_length_error : DeliveryStatus::input_length_error;
}

std::uint64_t next_pointer(const BoxView& box) {
    return (box.get<"next_pointer_63_32">() << 32) | (box.get<"next_pointer_31_10">() << 10);
}

std::expected<void, DeliveryError> check_signature(const MailboxChain& chain, const Box& box,
                                                   std::uint32_t number) {
    // The control signature covers all bytes after the data except the last one.
    const auto control = std::span(box).subspan(control_begin, signature_at - control_begin);
    const bool good = xor_of(control) == signed_xor && xor_of(box) == signed_xor;
    if (good)
        return {};
    return std::unexpected(DeliveryError(
        DeliveryStatus::signature_error,
        fmt::format("{} mailbox {} is not signed correctly", direction(chain), number)));
}

std::expected<void, DeliveryError> check_box(const MailboxChain& chain, const Box& box,
                                             std::uint32_t number) {
    const BoxView view{box};
    if (view.get<"token">() != chain.token)
        return std::unexpected(
            DeliveryError(DeliveryStatus::token_error,
                          fmt::format("{} mailbox {} has token {:#x}, the entry {:#x}",
                                      direction(chain), number, view.get<"token">(), chain.token)));
    if (view.get<"block_number">() != number)
        return std::unexpected(
            DeliveryError(DeliveryStatus::bad_block_number,
                          fmt::format("{} mailbox {} is numbered {}", direction(chain), number,
                                      view.get<"block_number">())));
    // The output mailboxes contain no data to verify: the device writes and signs them.
    if (chain.checksums && !chain.output)
        return check_signature(chain, box, number);
    return {};
}

/// Visits each mailbox of a chain in order, checked, with the number of its data bytes.
template <class Visit>
std::expected<void, DeliveryError> for_each_box(vfio_user::DmaSpace& dma, const MailboxChain& chain,
                                                Visit visit) {
    std::uint64_t address = chain.first;
    std::uint32_t left = chain.length;
    for (std::uint32_t number = 0; left > 0; ++number) {
        const std::uint64_t alignment = number == 0 ? first_alignment : next_alignment;
        if (address == 0 && number != 0)
            return std::unexpected(DeliveryError(
                length_status(chain), fmt::format("the {} chain ends after {} mailboxes, {} bytes "
                                                  "are missing",
                                                  direction(chain), number, left)));
        if (address == 0 || address % alignment != 0)
            return std::unexpected(DeliveryError(
                pointer_status(chain),
                fmt::format("{} mailbox {} is at {:#x}", direction(chain), number, address)));
        Box box{};
        if (const auto read = dma.read(address, box); !read)
            return std::unexpected(
                DeliveryError(DeliveryStatus::internal_error, to_string(read.error())));
        if (auto checked = check_box(chain, box, number); !checked)
            return checked;
        const std::uint32_t here = std::min(left, mailbox_data_size);
        visit(address, std::span<const std::byte>(box).first(here));
        left -= here;
        address = next_pointer(BoxView{box});
    }
    return {};
}

/// Fills in a mailbox's control part and signs it.
void sign(Box& box, bool checksums) {
    box[control_signature_at] = std::byte{0};
    box[signature_at] = std::byte{0};
    if (!checksums)
        return;
    const auto control = std::span(box).subspan(control_begin, signature_at - control_begin);
    box[control_signature_at] = std::byte{signed_xor} ^ std::byte{xor_of(control)};
    box[signature_at] = std::byte{signed_xor} ^ std::byte{xor_of(box)};
}

} // namespace

std::string_view name_of(DeliveryStatus status) {
    switch (status) {
    case DeliveryStatus::ok:
        return "ok";
    case DeliveryStatus::signature_error:
        return "signature error";
    case DeliveryStatus::token_error:
        return "token error";
    case DeliveryStatus::bad_block_number:
        return "bad block number";
    case DeliveryStatus::bad_output_pointer:
        return "bad output pointer";
    case DeliveryStatus::bad_input_pointer:
        return "bad input pointer";
    case DeliveryStatus::internal_error:
        return "internal error";
    case DeliveryStatus::input_length_error:
        return "input length error";
    case DeliveryStatus::output_length_error:
        return "output length error";
    case DeliveryStatus::reserved_not_zero:
        return "reserved field not zero";
    case DeliveryStatus::bad_command_type:
        return "bad command type";
    }
    return "unlisted delivery status";
}

std::uint8_t xor_of(std::span<const std::byte> bytes) {
    return std::to_integer<std::uint8_t>(
        std::accumulate(bytes.begin(), bytes.end(), std::byte{0}, std::bit_xor<>()));
}

std::expected<std::vector<std::byte>, DeliveryError> read_mailboxes(vfio_user::DmaSpace& dma,
                                                                    const MailboxChain& chain) {
    std::vector<std::byte> data;
    const auto read = for_each_box(
        dma, chain, [&data](std::uint64_t /*address*/, std::span<const std::byte> bytes) {
            data.insert(data.end(), bytes.begin(), bytes.end());
        });
    if (!read)
        return std::unexpected(read.error());
    return data;
}

std::expected<std::vector<std::uint64_t>, DeliveryError> find_mailboxes(vfio_user::DmaSpace& dma,
                                                                        const MailboxChain& chain) {
    std::vector<std::uint64_t> addresses;
    const auto found = for_each_box(
        dma, chain, [&addresses](std::uint64_t address, std::span<const std::byte> /*bytes*/) {
            addresses.push_back(address);
        });
    if (!found)
        return std::unexpected(found.error());
    return addresses;
}

vfio_user::DmaResult<void> write_mailboxes(vfio_user::DmaSpace& dma, const MailboxChain& chain,
                                           std::span<const std::uint64_t> mailboxes,
                                           std::span<const std::byte> data) {
    for (const std::uint64_t address : mailboxes) {
        Box box{};
        if (const auto read = dma.read(address, box); !read)
            return read;
        const auto here = data.first(std::min<std::size_t>(data.size(), mailbox_data_size));
        std::ranges::copy(here, box.begin());
        hwtab::View<cmd_if_box>{std::span<std::byte>(box)}.set<"token">(chain.token);
        sign(box, chain.checksums);
        if (const auto written = dma.write(address, box); !written)
            return written;
        data = data.subspan(here.size());
    }
    return {};
}

} // namespace cxemu::hca
