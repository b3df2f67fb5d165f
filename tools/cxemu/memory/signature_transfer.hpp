// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Transfers between memory and wire that insert, check, pass or strip signatures.
#pragma once

#include "memory/access.hpp"
#include "memory/signature_format.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <optional>
#include <span>

namespace cxemu::memory {

/// The memory of an mkey, without its signature layer.
class KeyedMemory {
public:
    virtual ~KeyedMemory() = default;
    /// \param offset in bytes, from the start of the mkey
    virtual std::expected<void, AccessFault> read(std::uint64_t offset,
                                                  std::span<std::byte> out) = 0;
    virtual std::expected<void, AccessFault> write(std::uint64_t offset,
                                                   std::span<const std::byte> data) = 0;
};

enum class SignaturePlace : std::uint8_t { wire, memory };

/// A signature mismatch.
struct SignatureFailure {
    SignaturePlace place = SignaturePlace::wire; ///< domain that was checked
    SignaturePart part = SignaturePart::guard;
    Signature expected = 0;   ///< computed from the data and the BSF
    Signature found = 0;      ///< received with the data
    std::uint64_t offset = 0; ///< of its last byte, in that domain

    bool operator==(const SignatureFailure&) const = default;
};

/// Progress of the transfers of an mkey in one direction. A transfer that continues where the
/// previous one has ended uses it. Any other transfer reads memory again from the start of its
/// block, so a repeated transfer does not depend on this state.
struct SignatureProgress {
    std::optional<std::uint64_t> position; ///< of the next byte on the wire
    Guard wire;                            ///< of the incomplete blocks
    Guard memory;
    Signature checked = 0;   ///< received part of the signature of the source
    Signature expected = 0;  ///< its expected value (receiving)
    Signature made = 0;      ///< signature for the destination
    bool is_complete = true; ///< all bytes of `checked` before the position have been seen
};

/// One direction of one mkey. Positions are offsets on the wire.
class SignatureTransfer {
public:
    struct Setup {
        const Bsf& format;
        std::uint64_t wire_state = 0;   ///< of the PSV
        std::uint64_t memory_state = 0; ///< of the PSV
        KeyedMemory& memory;
        std::function<void(const SignatureFailure&)> report;
    };
    /// All that it refers to must outlive this.
    SignatureTransfer(const Setup& setup, SignatureProgress& progress)
        : format_(setup.format), setup_(setup), progress_(progress) {}

    /// From memory to wire. \param out receives the data from byte \p position on
    std::expected<void, AccessFault> send(std::uint64_t position, std::span<std::byte> out);
    /// From wire to memory. \param data received from byte \p position on
    std::expected<void, AccessFault> receive(std::uint64_t position,
                                             std::span<const std::byte> data);

private:
    using Result = std::expected<void, AccessFault>;
    enum class Direction : std::uint8_t { sending, receiving };

    /// A position, split into raw bytes and signature bytes.
    struct Place {
        std::uint64_t raw = 0;          ///< raw bytes before it
        std::uint32_t in_signature = 0; ///< bytes of the signature before it
        bool at_signature = false;      ///< the next byte is one of a signature
    };
    [[nodiscard]] Place place_of(std::uint64_t position) const;

    Result go_to(std::uint64_t position, Direction direction);
    Result repeat_data(std::uint64_t first, std::uint64_t end, Direction direction);
    [[nodiscard]] std::uint64_t blocks_end(std::uint64_t raw) const;

    void add(std::span<const std::byte> data);
    Result finish_sent_blocks(std::uint64_t raw, bool checks);
    Result finish_received_blocks(std::uint64_t raw, bool writes);
    void take_signature(std::uint32_t offset, std::span<const std::byte> bytes);
    Result finish_received_signature(std::uint64_t raw);
    [[nodiscard]] Signature join_copied(Signature made, Signature original) const;
    Result write_signature(std::uint64_t raw);
    void check(SignaturePlace place, std::uint64_t raw, Signature expected, Signature found);

    const Bsf& format_;
    Setup setup_;
    SignatureProgress& progress_;
};

} // namespace cxemu::memory
