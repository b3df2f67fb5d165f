// SPDX-License-Identifier: GPL-2.0-or-later
#include "memory/signature_transfer.hpp"

#include "base/byte_order.hpp"
#include "hwtab/model.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>
#include <vector>

namespace cxemu::memory {

namespace {

constexpr std::size_t longest_signature = sizeof(Signature);
constexpr std::size_t repeated_at_once = 64U << 10U; ///< bytes

std::uint64_t left_in_block(const std::optional<SignatureDomain>& domain, std::uint64_t raw) {
    return domain ? domain->block_size - (raw % domain->block_size)
                  : std::numeric_limits<std::uint64_t>::max();
}

/// Returns true if a block of \p domain ends before raw byte \p raw.
bool ends_block(const std::optional<SignatureDomain>& domain, std::uint64_t raw) {
    return domain && raw != 0 && raw % domain->block_size == 0;
}

std::uint64_t last_block(const SignatureDomain& domain, std::uint64_t raw) {
    return (raw / domain.block_size) - 1;
}

/// Byte \p index of a signature.
std::byte byte_of(Signature signature, std::uint32_t index) {
    return static_cast<std::byte>(signature >>
                                  ((longest_signature - 1 - index) * hwtab::bits_per_byte));
}

} // namespace

SignatureTransfer::Place SignatureTransfer::place_of(std::uint64_t position) const {
    if (!format_.wire)
        return {.raw = position};
    const std::uint64_t in_block = position % format_.wire->stride();
    const std::uint32_t size = format_.wire->block_size;
    const std::uint64_t raw = format_.wire->raw_size(position);
    return {.raw = raw,
            .in_signature = static_cast<std::uint32_t>(in_block >= size ? in_block - size : 0),
            .at_signature = in_block >= size};
}

/// End of the current block on the wire or in memory, whichever is first, in raw bytes.
std::uint64_t SignatureTransfer::blocks_end(std::uint64_t raw) const {
    return std::min(left_in_block(format_.wire, raw), left_in_block(format_.memory, raw));
}

void SignatureTransfer::add(std::span<const std::byte> data) {
    if (format_.wire)
        progress_.wire.add(data);
    if (format_.memory)
        progress_.memory.add(data);
}

/// Recomputes the state of a transfer that begins in the middle of a block from the start of that
/// block.
SignatureTransfer::Result SignatureTransfer::go_to(std::uint64_t position, Direction direction) {
    if (progress_.position == position)
        return {};
    progress_ = SignatureProgress();
    if (format_.wire)
        progress_.wire = format_.wire->new_guard(setup_.wire_state);
    if (format_.memory)
        progress_.memory = format_.memory->new_guard(setup_.memory_state);
    const Place place = place_of(position);
    progress_.is_complete = place.in_signature == 0;
    std::uint64_t first = place.raw;
    if (format_.wire)
        first -= place.at_signature ? format_.wire->block_size : first % format_.wire->block_size;
    if (format_.memory)
        first = std::min(first, place.raw - (place.raw % format_.memory->block_size));
    if (const Result repeated = repeat_data(first, place.raw, direction); !repeated)
        return repeated;
    progress_.position = position;
    return {};
}

SignatureTransfer::Result SignatureTransfer::repeat_data(std::uint64_t first, std::uint64_t end,
                                                         Direction direction) {
    std::vector<std::byte> buffer(std::min<std::uint64_t>(end - first, repeated_at_once));
    while (first != end) {
        const auto size =
            std::min({static_cast<std::uint64_t>(buffer.size()), end - first, blocks_end(first)});
        const auto data = std::span(buffer).first(size);
        if (const Result read = setup_.memory.read(format_.memory_offset(first), data); !read)
            return read;
        add(data);
        first += size;
        const Result finished = direction == Direction::sending
                                    ? finish_sent_blocks(first, false)
                                    : finish_received_blocks(first, false);
        if (!finished)
            return finished;
    }
    return {};
}

// --- From memory to wire -------------------------------------------------------------------------

SignatureTransfer::Result SignatureTransfer::send(std::uint64_t position,
                                                  std::span<std::byte> out) {
    if (const Result gone = go_to(position, Direction::sending); !gone)
        return gone;
    while (!out.empty()) {
        const Place place = place_of(*progress_.position);
        std::uint64_t size = out.size();
        if (place.at_signature) {
            size =
                std::min<std::uint64_t>(size, format_.wire->signature_size() - place.in_signature);
            for (std::uint32_t i = 0; i < size; ++i)
                out[i] = byte_of(progress_.made, place.in_signature + i);
        } else {
            size = std::min(size, blocks_end(place.raw));
            const auto data = out.first(size);
            if (const Result read = setup_.memory.read(format_.memory_offset(place.raw), data);
                !read)
                return read;
            add(data);
            if (const Result done = finish_sent_blocks(place.raw + size, true); !done)
                return done;
        }
        *progress_.position += size;
        out = out.subspan(size);
    }
    return {};
}

/// A memory block ends before raw byte \p raw: checks its signature in memory and computes the
/// signature of the wire.
SignatureTransfer::Result SignatureTransfer::finish_sent_blocks(std::uint64_t raw, bool checks) {
    if (ends_block(format_.memory, raw)) {
        const SignatureDomain& domain = *format_.memory;
        std::array<std::byte, longest_signature> bytes{};
        const auto field = std::span(bytes).first(domain.signature_size());
        if (const Result read =
                setup_.memory.read(format_.memory_offset(raw) - field.size(), field);
            !read)
            return read;
        progress_.checked = load_be<Signature>(bytes);
        if (checks)
            check(SignaturePlace::memory, raw,
                  domain.sign(last_block(domain, raw), progress_.memory.value()),
                  progress_.checked);
        progress_.memory = domain.new_guard(setup_.memory_state);
    }
    if (ends_block(format_.wire, raw)) {
        const SignatureDomain& domain = *format_.wire;
        const Signature made = domain.sign(last_block(domain, raw), progress_.wire.value());
        progress_.made = join_copied(made, progress_.checked);
        progress_.wire = domain.new_guard(setup_.wire_state);
    }
    return {};
}

// --- From wire to memory -------------------------------------------------------------------------

SignatureTransfer::Result SignatureTransfer::receive(std::uint64_t position,
                                                     std::span<const std::byte> data) {
    if (const Result gone = go_to(position, Direction::receiving); !gone)
        return gone;
    while (!data.empty()) {
        const Place place = place_of(*progress_.position);
        std::uint64_t size = data.size();
        Result done;
        if (place.at_signature) {
            const std::uint32_t length = format_.wire->signature_size();
            size = std::min<std::uint64_t>(size, length - place.in_signature);
            take_signature(place.in_signature, data.first(size));
            if (place.in_signature + size == length)
                done = finish_received_signature(place.raw);
        } else {
            size = std::min(size, blocks_end(place.raw));
            done = setup_.memory.write(format_.memory_offset(place.raw), data.first(size));
            add(data.first(size));
            if (done)
                done = finish_received_blocks(place.raw + size, true);
        }
        if (!done)
            return done;
        *progress_.position += size;
        data = data.subspan(size);
    }
    return {};
}

/// A memory block ends before raw byte \p raw: writes its signature. A signature with bytes that
/// are copied from the wire waits for the wire signature.
SignatureTransfer::Result SignatureTransfer::finish_received_blocks(std::uint64_t raw,
                                                                    bool writes) {
    if (ends_block(format_.wire, raw)) {
        const SignatureDomain& domain = *format_.wire;
        progress_.expected = domain.sign(last_block(domain, raw), progress_.wire.value());
        progress_.wire = domain.new_guard(setup_.wire_state);
    }
    if (!ends_block(format_.memory, raw))
        return {};
    const SignatureDomain& domain = *format_.memory;
    progress_.made = domain.sign(last_block(domain, raw), progress_.memory.value());
    progress_.memory = domain.new_guard(setup_.memory_state);
    return writes && !format_.same_structure ? write_signature(raw) : Result();
}

void SignatureTransfer::take_signature(std::uint32_t offset, std::span<const std::byte> bytes) {
    if (offset == 0) {
        progress_.checked = 0;
        progress_.is_complete = true;
    }
    for (const std::byte byte : bytes)
        progress_.checked |= std::to_integer<Signature>(byte)
                             << ((longest_signature - 1 - offset++) * hwtab::bits_per_byte);
}

/// A signature can't be checked if its first bytes arrived in a transfer whose state was dropped.
SignatureTransfer::Result SignatureTransfer::finish_received_signature(std::uint64_t raw) {
    if (!progress_.is_complete)
        return {};
    check(SignaturePlace::wire, raw, progress_.expected, progress_.checked);
    if (!format_.same_structure)
        return {};
    progress_.made = join_copied(progress_.made, progress_.checked);
    return write_signature(raw);
}

SignatureTransfer::Result SignatureTransfer::write_signature(std::uint64_t raw) {
    std::array<std::byte, longest_signature> bytes{};
    store_be(std::span(bytes), progress_.made);
    const auto field = std::span(bytes).first(format_.memory->signature_size());
    return setup_.memory.write(format_.memory_offset(raw) - field.size(), field);
}

// --- Signatures ----------------------------------------------------------------------------------

Signature SignatureTransfer::join_copied(Signature made, Signature original) const {
    const Signature copied = expand_mask(format_.copy_mask);
    return (made & ~copied) | (original & copied);
}

void SignatureTransfer::check(SignaturePlace place, std::uint64_t raw, Signature expected,
                              Signature found) {
    const SignatureDomain& domain = place == SignaturePlace::wire ? *format_.wire : *format_.memory;
    if (const auto part = domain.compare(expected, found, format_.check_mask))
        setup_.report({.place = place,
                       .part = *part,
                       .expected = expected,
                       .found = found,
                       .offset = ((last_block(domain, raw) + 1) * domain.stride()) - 1});
}

} // namespace cxemu::memory
