// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Data on its way between memory and wire, when signatures are made, checked, passed on or taken
/// away.
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

/// Memory in the order in which a key puts it together.
class KeyedMemory {
public:
    virtual ~KeyedMemory() = default;
    /// \param offset in bytes, from where the key begins
    virtual std::expected<void, AccessFault> read(std::uint64_t offset,
                                                  std::span<std::byte> out) = 0;
    virtual std::expected<void, AccessFault> write(std::uint64_t offset,
                                                   std::span<const std::byte> data) = 0;
};

enum class SignaturePlace : std::uint8_t { wire, memory };

/// A signature that isn't what it should be.
struct SignatureFailure {
    SignaturePlace place = SignaturePlace::wire; ///< where it came from
    SignaturePart part = SignaturePart::guard;
    Signature expected = 0;   ///< made from the data and the description of the key
    Signature found = 0;      ///< that came with the data
    std::uint64_t offset = 0; ///< of its last byte, counted where it came from

    bool operator==(const SignatureFailure&) const = default;
};

/// How far data of a key has gone in one direction. A transfer that goes on where the one before
/// has ended uses it; any other one goes back to the start of the block and reads that part of
/// memory once more, so this is never needed for a right result of a transfer that is repeated.
struct SignatureProgress {
    std::optional<std::uint64_t> position; ///< of the next byte on the wire
    Guard wire;                            ///< of the blocks that aren't complete
    Guard memory;
    Signature checked = 0;   ///< a signature from where the data comes, as far as it has arrived
    Signature expected = 0;  ///< what it should be (receiving)
    Signature made = 0;      ///< a signature for where the data goes
    bool is_complete = true; ///< all bytes of `checked` before the position have been seen
};

/// One direction of one key. Positions are offsets in what the peer sees.
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

    /// From memory to wire. \param out what goes out from byte \p position on
    std::expected<void, AccessFault> send(std::uint64_t position, std::span<std::byte> out);
    /// From wire to memory. \param data what has come in from byte \p position on
    std::expected<void, AccessFault> receive(std::uint64_t position,
                                             std::span<const std::byte> data);

private:
    using Result = std::expected<void, AccessFault>;
    enum class Direction : std::uint8_t { sending, receiving };

    /// A position, taken apart.
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
