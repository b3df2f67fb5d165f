// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Mailbox chains: the part of a command that exceeds its queue entry.
#pragma once

#include "vfio_user/dma_space.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <vector>

namespace cxemu::hca {

/// Delivery status of a command queue entry.
enum class DeliveryStatus : std::uint8_t {
    ok = 0x00,
    signature_error = 0x01,
    token_error = 0x02,
    bad_block_number = 0x03,
    bad_output_pointer = 0x04,
    bad_input_pointer = 0x05,
    internal_error = 0x06,
    input_length_error = 0x07,
    output_length_error = 0x08,
    reserved_not_zero = 0x09,
    bad_command_type = 0x10,
};

std::string_view name_of(DeliveryStatus status);

struct DeliveryError {
    DeliveryStatus status;
    std::string text; ///< for the log
};

/// Position and format of one of the two mailbox chains of a command.
struct MailboxChain {
    std::uint64_t first = 0;  ///< I/O virtual address of the first mailbox
    std::uint32_t length = 0; ///< bytes of data in all mailboxes
    std::uint8_t token = 0;
    bool output = false;    ///< selects the status of a misaligned pointer
    bool checksums = false; ///< verify (input) or fill in (output) the signatures
};

/// Data bytes of one mailbox.
inline constexpr std::uint32_t mailbox_data_size = 512;

/// Reads the data of an input chain.
std::expected<std::vector<std::byte>, DeliveryError> read_mailboxes(vfio_user::DmaSpace& dma,
                                                                    const MailboxChain& chain);

/// Checks an output chain before the command runs. \return the addresses of its mailboxes, in order
std::expected<std::vector<std::uint64_t>, DeliveryError> find_mailboxes(vfio_user::DmaSpace& dma,
                                                                        const MailboxChain& chain);

/// Writes \p data to mailboxes that find_mailboxes() has found.
vfio_user::DmaResult<void> write_mailboxes(vfio_user::DmaSpace& dma, const MailboxChain& chain,
                                           std::span<const std::uint64_t> mailboxes,
                                           std::span<const std::byte> data);

/// XOR of bytes; signed_xor for a signed block.
std::uint8_t xor_of(std::span<const std::byte> bytes);
inline constexpr std::uint8_t signed_xor = 0xff;

} // namespace cxemu::hca
