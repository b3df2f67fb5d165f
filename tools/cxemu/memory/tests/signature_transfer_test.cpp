// SPDX-License-Identifier: GPL-2.0-or-later
//
// Transfers that insert, strip, pass and check signatures.
#include "memory/signature_transfer.hpp"
#include "memory/tests/bytes.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace cxemu::memory {
namespace {

using testing::all_ones;
using testing::Bytes;

struct PlainMemory final : KeyedMemory {
    explicit PlainMemory(Bytes contents) : bytes(std::move(contents)) {}

    std::expected<void, AccessFault> read(std::uint64_t offset, std::span<std::byte> out) override {
        if (offset + out.size() > bytes.size())
            return std::unexpected(AccessFault::out_of_range);
        std::ranges::copy(std::span(bytes).subspan(offset, out.size()), out.begin());
        return {};
    }
    std::expected<void, AccessFault> write(std::uint64_t offset,
                                           std::span<const std::byte> data) override {
        if (offset + data.size() > bytes.size())
            return std::unexpected(AccessFault::out_of_range);
        std::ranges::copy(data, bytes.begin() + static_cast<std::ptrdiff_t>(offset));
        return {};
    }

    Bytes bytes;
};

SignatureDomain crc(GuardKind kind, std::uint32_t block_size = 512) {
    return {.variable = 0, .block_size = block_size, .guard = kind};
}

SignatureDomain dif(std::uint32_t block_size = 512,
                    const DifTags& tags = {.application = 0x5678,
                                           .reference = 0xf0de'bc9a,
                                           .reference_increments = true}) {
    return {.variable = 0, .block_size = block_size, .guard = GuardKind::t10_crc, .tags = tags};
}

SignatureDomain ip_dif(std::uint32_t block_size = 512) {
    SignatureDomain domain = dif(block_size);
    domain.guard = GuardKind::ip_checksum;
    return domain;
}

/// The raw data with the signatures of one domain.
Bytes with_signatures(const std::optional<SignatureDomain>& domain, const Bytes& raw,
                      std::uint64_t state = all_ones) {
    if (!domain)
        return raw;
    Bytes stream;
    for (std::size_t block = 0; block * domain->block_size < raw.size(); ++block) {
        const auto rest = std::span(raw).subspan(block * domain->block_size);
        const auto data = rest.first(std::min<std::size_t>(rest.size(), domain->block_size));
        stream.insert(stream.end(), data.begin(), data.end());
        if (data.size() < domain->block_size)
            break;
        Guard guard = domain->new_guard(state);
        guard.add(data);
        const Signature signature = domain->sign(block, guard.value());
        for (std::uint32_t i = 0; i < domain->signature_size(); ++i)
            stream.push_back(static_cast<std::byte>(signature >> (56 - 8 * i)));
    }
    return stream;
}

Bytes random_bytes(std::size_t size, unsigned seed) {
    std::mt19937 random(seed);
    Bytes bytes(size);
    std::ranges::generate(bytes, [&] { return static_cast<std::byte>(random()); });
    return bytes;
}

/// A signature mkey and its reported errors.
struct Signed {
    Bsf format;
    PlainMemory memory;
    std::uint64_t wire_state = all_ones;
    std::uint64_t memory_state = all_ones;
    SignatureProgress sending{};
    SignatureProgress receiving{};
    std::vector<SignatureFailure> failures{};

    SignatureTransfer transfer(SignatureProgress& progress) {
        return {{.format = format,
                 .wire_state = wire_state,
                 .memory_state = memory_state,
                 .memory = memory,
                 .report = [this](const SignatureFailure& found) { failures.push_back(found); }},
                progress};
    }
    Bytes send(std::uint64_t position, std::size_t size) {
        Bytes out(size);
        EXPECT_TRUE(transfer(sending).send(position, out));
        return out;
    }
    void receive(std::uint64_t position, std::span<const std::byte> data) {
        EXPECT_TRUE(transfer(receiving).receive(position, data));
    }
};

Signed make(const Bsf& format, Bytes memory) {
    return {.format = format, .memory = PlainMemory(std::move(memory))};
}

// --- Insert and strip ----------------------------------------------------------------------------

std::vector<std::optional<SignatureDomain>> all_domains() {
    std::vector<std::optional<SignatureDomain>> domains{std::nullopt};
    for (const std::uint32_t size : {512U, 520U, 4048U, 4096U, 4160U}) {
        domains.emplace_back(dif(size));
        domains.emplace_back(ip_dif(size));
        for (const GuardKind kind : {GuardKind::crc32, GuardKind::crc32c, GuardKind::crc64_xp10})
            domains.emplace_back(crc(kind, size));
    }
    return domains;
}

/// All combinations of block kinds and sizes on the wire and in memory, with random packet
/// boundaries and an incomplete last block.
TEST(SignatureTransfer, EveryFormConvertedToEveryOther) {
    std::mt19937 random(3);
    const Bytes raw = random_bytes(3 * 4160 + 77, 11);
    for (const auto& wire : all_domains()) {
        for (const auto& memory : all_domains()) {
            const Bsf format{.wire = wire, .memory = memory, .check_mask = 0xff};
            const Bytes on_wire = with_signatures(wire, raw);
            const Bytes in_memory = with_signatures(memory, raw);
            Signed source = make(format, in_memory);
            Signed target = make(format, Bytes(in_memory.size()));
            for (std::size_t position = 0; position < on_wire.size();) {
                const auto size =
                    std::min<std::size_t>(1 + random() % 1500, on_wire.size() - position);
                const Bytes packet = source.send(position, size);
                ASSERT_TRUE(std::ranges::equal(packet, std::span(on_wire).subspan(position, size)))
                    << "at " << position;
                target.receive(position, packet);
                position += size;
            }
            ASSERT_EQ(target.memory.bytes, in_memory);
            ASSERT_TRUE(source.failures.empty() && target.failures.empty());
        }
    }
}

/// The peer requests retransmission from any packet on.
TEST(SignatureTransfer, RetransmissionSendsSameBytes) {
    std::mt19937 random(5);
    const Bytes raw = random_bytes(8 * 512, 13);
    const Bsf format{.wire = dif(), .memory = crc(GuardKind::crc32c, 4096), .check_mask = 0xff};
    const Bytes on_wire = with_signatures(format.wire, raw);
    Signed source = make(format, with_signatures(format.memory, raw));
    for (int i = 0; i < 200; ++i) {
        const std::size_t position = random() % on_wire.size();
        const auto size = std::min<std::size_t>(random() % 1500, on_wire.size() - position);
        ASSERT_TRUE(std::ranges::equal(source.send(position, size),
                                       std::span(on_wire).subspan(position, size)))
            << "at " << position;
    }
    EXPECT_TRUE(source.failures.empty());
}

/// The peer writes blocks in several RDMA writes, the second of which begins in the middle of a
/// block.
TEST(SignatureTransfer, BlocksReceivedInAnyOrderAndSplit) {
    const Bytes raw = random_bytes(2 * 512, 17);
    const Bsf format{.wire = std::nullopt, .memory = dif(), .check_mask = 0xff};
    const Bytes in_memory = with_signatures(format.memory, raw);
    Signed target = make(format, Bytes(in_memory.size()));
    target.receive(512, std::span(raw).subspan(512, 100));
    target.receive(0, std::span(raw).first(512));
    target.receive(612, std::span(raw).subspan(612));
    EXPECT_EQ(target.memory.bytes, in_memory);
}

TEST(SignatureTransfer, SignatureWithoutBlockBeginNotChecked) {
    const Bytes raw = random_bytes(2 * 512, 19);
    const Bsf format{.wire = dif(), .memory = std::nullopt, .check_mask = 0xff};
    const Bytes on_wire = with_signatures(format.wire, raw);
    Signed target = make(format, Bytes(raw.size()));
    target.receive(516, std::span(on_wire).subspan(516));
    EXPECT_TRUE(target.failures.empty());
    EXPECT_TRUE(std::ranges::equal(std::span(target.memory.bytes).subspan(512),
                                   std::span(raw).subspan(512)));
}

// --- Errors --------------------------------------------------------------------------------------

constexpr std::size_t second_block_end = 2 * 520 - 1;

struct Corrupted {
    /// Two blocks of T10-DIF, one byte of which is wrong.
    explicit Corrupted(std::size_t byte, const SignatureDomain& domain = dif())
        : stream(with_signatures(domain, Bytes(1024, std::byte{0xa5}))) {
        stream[byte] = ~stream[byte];
    }
    Bytes stream;
};

TEST(SignatureTransfer, WrongGuardInMemoryReported) {
    Signed source =
        make({.wire = std::nullopt, .memory = dif(), .check_mask = 0xff}, Corrupted(520).stream);
    source.send(0, 1024);
    ASSERT_EQ(source.failures.size(), 1U);
    EXPECT_EQ(source.failures.front(), (SignatureFailure{.place = SignaturePlace::memory,
                                                         .part = SignaturePart::guard,
                                                         .expected = 0x9916'5678'f0de'bc9b,
                                                         .found = 0xec7d'5678'f0de'bc9b,
                                                         .offset = second_block_end}));
}

TEST(SignatureTransfer, WrongTagsOnWireReported) {
    Signed target = make({.wire = dif(), .memory = std::nullopt, .check_mask = 0xff}, Bytes(1024));
    target.receive(0, Corrupted(520 + 512 + 2).stream);
    target.receive(0, Corrupted(520 + 512 + 4).stream);
    ASSERT_EQ(target.failures.size(), 2U);
    EXPECT_EQ(target.failures[0], (SignatureFailure{.place = SignaturePlace::wire,
                                                    .part = SignaturePart::application_tag,
                                                    .expected = 0xec7d'5678'f0de'bc9b,
                                                    .found = 0xec7d'a978'f0de'bc9b,
                                                    .offset = second_block_end}));
    EXPECT_EQ(target.failures[1].part, SignaturePart::reference_tag);
    EXPECT_EQ(target.failures[1].found, 0xec7d'5678'0fde'bc9bU);
}

TEST(SignatureTransfer, WrongCrcReported) {
    const SignatureDomain domain = crc(GuardKind::crc32);
    Bytes stream = with_signatures(domain, Bytes(512, std::byte{0xa5}), 0);
    stream.front() = ~stream.front();
    Signed source =
        make({.wire = std::nullopt, .memory = domain, .check_mask = 0xf0}, std::move(stream));
    source.memory_state = 0;
    source.send(0, 512);
    ASSERT_EQ(source.failures.size(), 1U);
    EXPECT_EQ(source.failures.front().expected >> 32U, 0xe33c'b35aU);
    EXPECT_EQ(source.failures.front().found >> 32U, 0x699a'ca21U);
    EXPECT_EQ(source.failures.front().offset, 515U);
}

TEST(SignatureTransfer, UnmaskedPartNotChecked) {
    Signed source =
        make({.wire = std::nullopt, .memory = dif(), .check_mask = 0x3f}, Corrupted(0).stream);
    source.send(0, 1024);
    EXPECT_TRUE(source.failures.empty());
}

TEST(SignatureTransfer, IncompleteSignatureNotChecked) {
    Signed target = make({.wire = dif(), .memory = std::nullopt, .check_mask = 0xff}, Bytes(1024));
    target.receive(0, Bytes(519, std::byte{1}));
    EXPECT_TRUE(target.failures.empty());
    target.receive(519, Bytes(1, std::byte{1}));
    EXPECT_EQ(target.failures.size(), 1U);
}

// --- Pass ----------------------------------------------------------------------------------------

/// A BSF whose domains have the same block structure.
Bsf same(std::uint8_t copy_mask, const SignatureDomain& wire = dif()) {
    return {.wire = wire,
            .memory = dif(),
            .check_mask = 0,
            .same_structure = true,
            .copy_mask = copy_mask};
}

TEST(SignatureTransfer, CopyMaskCopiesSignatureBytes) {
    constexpr std::uint8_t application_tag = 0x30;
    const Bytes wrong = Corrupted(512 + 2).stream;
    Signed source = make(same(application_tag), wrong);
    EXPECT_EQ(source.send(0, wrong.size()), wrong);
    Signed target = make(same(application_tag), Bytes(wrong.size()));
    target.receive(0, wrong);
    EXPECT_EQ(target.memory.bytes, wrong);
}

TEST(SignatureTransfer, UncopiedSignatureBytesGenerated) {
    constexpr std::uint8_t all_but_application_tag = 0xcf;
    const Bytes good = with_signatures(dif(), Bytes(1024, std::byte{0xa5}));
    const Bytes wrong = Corrupted(512 + 2).stream;
    Signed source = make(same(all_but_application_tag), wrong);
    EXPECT_EQ(source.send(0, wrong.size()), good);
    Signed target = make(same(all_but_application_tag), Bytes(wrong.size()));
    target.receive(0, wrong);
    EXPECT_EQ(target.memory.bytes, good);
}

/// Initiator and target use different reference tags.
TEST(SignatureTransfer, TagsReplacedBetweenWireAndMemory) {
    const SignatureDomain wire =
        dif(512, {.application = 0x1111, .reference = 100, .reference_increments = true});
    const Bytes raw = random_bytes(4 * 512, 23);
    const Bytes on_wire = with_signatures(wire, raw);
    Bsf format = same(0xc0, wire);
    format.check_mask = 0xff;
    Signed target = make(format, Bytes(on_wire.size()));
    target.receive(0, on_wire);
    EXPECT_EQ(target.memory.bytes, with_signatures(dif(), raw));
    EXPECT_TRUE(target.failures.empty());
}

TEST(SignatureTransfer, SplitSignatureCopied) {
    const Bytes stream = with_signatures(dif(), random_bytes(2 * 512, 29));
    Signed target = make(same(0xff), Bytes(stream.size()));
    for (std::size_t position = 0; position < stream.size(); position += 3) {
        const auto size = std::min<std::size_t>(3, stream.size() - position);
        target.receive(position, std::span(stream).subspan(position, size));
    }
    EXPECT_EQ(target.memory.bytes, stream);
}

/// Guards of the same kind with different seeds.
TEST(SignatureTransfer, SeedOfEachFormUsed) {
    const Bytes raw(512, std::byte{0xa5});
    Signed source = make(same(0x3f), with_signatures(dif(), raw, 0));
    source.format.check_mask = 0xff;
    source.memory_state = 0;
    EXPECT_EQ(source.send(0, 520), with_signatures(dif(), raw, all_ones));
    EXPECT_TRUE(source.failures.empty());
}

// --- Faults --------------------------------------------------------------------------------------

TEST(SignatureTransfer, MemoryTooShortFailsTransfer) {
    Signed source = make({.wire = std::nullopt, .memory = dif(), .check_mask = 0xff}, Bytes(512));
    Bytes out(512);
    EXPECT_EQ(source.transfer(source.sending).send(0, out).error(), AccessFault::out_of_range)
        << "the signature is missing";
}

} // namespace
} // namespace cxemu::memory
