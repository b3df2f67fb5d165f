// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/crc.hpp"
#include "fabric/packet.hpp"
#include "hwtab/view.hpp"
#include "tables/packet_headers.hpp"

#include <array>
#include <bit>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace cxemu::fabric {
namespace {

template <hwtab::FixedString name>
constexpr auto opcode = static_cast<std::uint8_t>(hwtab::value<hwtab::transport_opcode, name>);

std::vector<std::byte> counting_bytes(std::size_t count) {
    std::vector<std::byte> bytes(count);
    for (std::size_t i = 0; i < count; ++i)
        bytes[i] = static_cast<std::byte>(i * 7 + 1);
    return bytes;
}

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
    std::vector<std::byte> bytes;
    for (const int value : values)
        bytes.push_back(static_cast<std::byte>(value));
    return bytes;
}

PacketHeaders datagram_headers() {
    return {.local = {.vl = 2, .sl = 3, .dlid = 0x1234, .slid = 0x4321},
            .transport = {.opcode = opcode<"ud_send_only">,
                          .solicited_event = true,
                          .p_key = 0x8001,
                          .destination_qp = 0x123456,
                          .psn = 0xabcdef},
            .datagram = Deth{.q_key = 0x8001'0000, .source_qp = 0x654321}};
}

Grh some_global_route() {
    return {.traffic_class = 0x5a,
            .flow_label = 0xf'1234,
            .hop_limit = 64,
            .source = Gid(default_gid_prefix, 0x0002'c903'0000'0001),
            .destination = Gid(0xff12'401b'ffff'0000, 0x0000'0000'ffff'ffff)};
}

/// Headers with exactly the extended headers of the opcode filled in.
PacketHeaders headers_for(std::uint8_t code, bool global) {
    const ExtendedHeaders which = *extended_headers(code);
    PacketHeaders headers = datagram_headers();
    headers.transport.opcode = code;
    headers.datagram.reset();
    if (global)
        headers.global = some_global_route();
    if (which.rdeth)
        headers.ee_context = 0x13'5791;
    if (which.deth)
        headers.datagram = Deth{.q_key = 0xdead'beef, .source_qp = 0x11'2233};
    if (which.xrceth)
        headers.xrc_srq = 0x24'6810;
    if (which.dceth)
        headers.dynamic = DcEth{.access_key = 0x0011'2233'4455'6677,
                                .connection = 0x8899'aabb'ccdd'eeff,
                                .source_qp = 0x11'2233};
    if (which.reth)
        headers.rdma = Reth{.address = 0x0123'4567'89ab'cdef, .r_key = 7, .length = 99};
    if (which.atomiceth)
        headers.atomic =
            AtomicEth{.address = 0xfedc'ba98'7654'3210, .r_key = 8, .swap_or_add = 1, .compare = 2};
    if (which.aeth)
        headers.ack = Aeth{.syndrome = 0x61, .msn = 0x98'7654};
    if (which.atomicacketh)
        headers.atomic_ack = 0x1122'3344'5566'7788;
    if (which.immdt)
        headers.immediate = 0xcafe'f00d;
    if (which.ieth)
        headers.invalidate = 0x0bad'cafe;
    return headers;
}

/// CRC by definition, bit by bit: polynomial division of the message, least significant bit first.
std::uint32_t crc_by_definition(std::span<const std::byte> data, unsigned width,
                                std::uint32_t polynomial) {
    const std::uint32_t top = 1U << (width - 1);
    const std::uint32_t all = width == 32 ? ~0U : (1U << width) - 1;
    std::uint32_t remainder = all;
    for (const std::byte byte : data) {
        for (unsigned bit = 0; bit < 8; ++bit) {
            const bool in = ((std::to_integer<unsigned>(byte) >> bit) & 1U) != 0;
            const bool out = (remainder & top) != 0;
            remainder = (remainder << 1U) & all;
            if (in != out)
                remainder ^= polynomial;
        }
    }
    std::uint32_t reversed = 0;
    for (unsigned bit = 0; bit < width; ++bit)
        reversed |= ((remainder >> bit) & 1U) << (width - 1 - bit);
    return ~reversed & all;
}

// --- Checksums -----------------------------------------------------------------------------------

TEST(Crc, IcrcOfSpecificationSampleMatches) {
    // Example of the InfiniBand specification: local packet, RDMA write only, 14 bytes.
    const auto packet =
        bytes_of({0x70, 0x12, 0x37, 0x5c, 0x00, 0x0e, 0x17, 0xd2, 0x0a, 0x20, 0x24, 0x87, 0x00,
                  0x87, 0xb1, 0xb3, 0x00, 0x0d, 0xec, 0x2a, 0x01, 0x71, 0x0a, 0x1c, 0x01, 0x5d,
                  0x40, 0x02, 0x38, 0xf2, 0x7a, 0x05, 0x00, 0x00, 0x00, 0x0e, 0xbb, 0x88, 0x4d,
                  0x85, 0xfd, 0x5c, 0xfb, 0xa4, 0x72, 0x8b, 0xc0, 0x69, 0x0e, 0xd4, 0x00, 0x00});
    EXPECT_EQ(invariant_crc(packet), 0x5ab7'2596U);
}

TEST(Crc, VcrcMatchesDefinitionAtEveryLength) {
    const auto bytes = counting_bytes(100);
    for (std::size_t length = 0; length <= bytes.size(); ++length) {
        const auto data = std::span(bytes).first(length);
        ASSERT_EQ(variant_crc(data), crc_by_definition(data, 16, 0x100b)) << length;
    }
}

TEST(Crc, Crc32MatchesDefinitionInOneOrTwoCalls) {
    const auto bytes = counting_bytes(300);
    const std::uint32_t expected = crc_by_definition(bytes, 32, 0x04c1'1db7);
    EXPECT_EQ(crc32(0, bytes), expected);
    EXPECT_EQ(crc32(crc32(0, std::span(bytes).first(77)), std::span(bytes).subspan(77)), expected);
}

TEST(Crc, LocalIcrcCoversLrhExceptVl) {
    Packet packet = build(datagram_headers(), counting_bytes(20));
    const auto covered = packet.bytes().first(packet.size() - icrc_size - vcrc_size);
    const std::uint32_t crc = invariant_crc(covered);
    const hwtab::View<hwtab::lrh> lrh(packet.bytes());
    lrh.set<"vl">(9);
    EXPECT_EQ(invariant_crc(covered), crc);
    lrh.set<"dlid">(1);
    EXPECT_NE(invariant_crc(covered), crc);
}

TEST(Crc, GlobalIcrcExcludesFieldsChangedByRouters) {
    PacketHeaders headers = datagram_headers();
    headers.global = some_global_route();
    Packet packet = build(headers, counting_bytes(20));
    const auto covered = packet.bytes().first(packet.size() - icrc_size - vcrc_size);
    const std::uint32_t crc = invariant_crc(covered);
    const hwtab::View<hwtab::lrh> lrh(packet.bytes());
    const hwtab::View<hwtab::grh> grh(packet.bytes().subspan(hwtab::lrh.size));
    lrh.set<"dlid">(1);
    lrh.set<"sl">(9);
    grh.set<"tclass">(1);
    grh.set<"flow_label">(2);
    grh.set<"hop_lmt">(3);
    EXPECT_EQ(invariant_crc(covered), crc);
    grh.bytes<"dgid">()[15] ^= std::byte{1};
    EXPECT_NE(invariant_crc(covered), crc);
}

TEST(Crc, IcrcExcludesReservedByteOfBth) {
    Packet packet = build(datagram_headers(), counting_bytes(4));
    const auto covered = packet.bytes().first(packet.size() - icrc_size - vcrc_size);
    const std::uint32_t crc = invariant_crc(covered);
    packet.bytes()[hwtab::lrh.size + 4] = std::byte{0x5a};
    EXPECT_EQ(invariant_crc(covered), crc);
    packet.bytes()[hwtab::lrh.size + 5] ^= std::byte{0x01};
    EXPECT_NE(invariant_crc(covered), crc);
}

// --- Round trips ---------------------------------------------------------------------------------

TEST(Packet, EveryOpcodeParsesAsBuilt) {
    int seen = 0;
    for (int code = 0; code < 256; ++code) {
        if (!extended_headers(static_cast<std::uint8_t>(code)))
            continue;
        ++seen;
        for (const bool global : {false, true}) {
            const auto headers = headers_for(static_cast<std::uint8_t>(code), global);
            const auto payload = counting_bytes(16);
            const Packet packet = build(headers, payload);
            const auto parsed = parse(packet.bytes());
            ASSERT_TRUE(parsed) << code << ": " << name_of(parsed.error());
            EXPECT_EQ(parsed->headers, headers) << code;
            EXPECT_THAT(parsed->payload, ::testing::ElementsAreArray(payload)) << code;
            EXPECT_EQ(parsed->grh.size(), global ? grh_size : 0U);
        }
    }
    EXPECT_GT(seen, 80);
}

TEST(Packet, PaddingAlignsPacketAndIsNotPayload) {
    for (std::size_t size = 0; size < 9; ++size) {
        const auto payload = counting_bytes(size);
        const Packet packet = build(datagram_headers(), payload);
        EXPECT_EQ((packet.size() - vcrc_size) % 4, 0U);
        const auto parsed = parse(packet.bytes());
        ASSERT_TRUE(parsed) << size;
        EXPECT_THAT(parsed->payload, ::testing::ElementsAreArray(payload)) << size;
    }
}

TEST(Packet, LongestPayloadFits) {
    const auto payload = counting_bytes(max_payload);
    const Packet packet =
        build(headers_for(opcode<"xrc_rdma_write_only_with_immediate">, true), payload);
    const auto parsed = parse(packet.bytes());
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->payload.size(), max_payload);
}

TEST(Packet, HeadersMatchSpecification) {
    const ExtendedHeaders ud = *extended_headers(opcode<"ud_send_only_with_immediate">);
    EXPECT_TRUE(ud.deth && ud.immdt);
    EXPECT_EQ(ud.size(), 12U);
    EXPECT_EQ(extended_headers(opcode<"rc_send_middle">)->size(), 0U);
    EXPECT_EQ(extended_headers(opcode<"rc_rdma_write_only_with_immediate">)->size(), 20U);
    EXPECT_EQ(extended_headers(opcode<"rc_compare_swap">)->size(), 28U);
    EXPECT_EQ(extended_headers(opcode<"rc_atomic_acknowledge">)->size(), 12U);
    EXPECT_EQ(extended_headers(opcode<"xrc_rdma_read_request">)->size(), 20U);
    EXPECT_EQ(extended_headers(dynamic_connect_opcode)->size(), 24U);
    EXPECT_EQ(extended_headers(opcode<"xrc_rdma_read_response_middle">)->size(), 0U);
    EXPECT_EQ(extended_headers(opcode<"rd_send_only">)->size(), 12U);
    EXPECT_EQ(extended_headers(opcode<"rd_acknowledge">)->size(), 8U);
}

TEST(Packet, ReservedOpcodesHaveNoHeaders) {
    for (const int code : {0x15, 0x1e, 0x63, 0x66, 0x80, 0xff})
        EXPECT_FALSE(extended_headers(static_cast<std::uint8_t>(code))) << code;
}

TEST(Packet, SetVirtualLaneKeepsIcrcValid) {
    Packet packet = build(datagram_headers(), counting_bytes(10));
    set_virtual_lane(packet, 7);
    const auto parsed = parse(packet.bytes());
    ASSERT_TRUE(parsed) << name_of(parsed.error());
    EXPECT_EQ(parsed->headers.local.vl, 7);
}

TEST(Packet, PKeyPeekedWithOrWithoutGrh) {
    PacketHeaders headers = datagram_headers();
    EXPECT_EQ(peek_p_key(build(headers, {})), 0x8001);
    headers.global = some_global_route();
    EXPECT_EQ(peek_p_key(build(headers, {})), 0x8001);
}

TEST(Packet, WriteAccessClearsKnownCrcs) {
    Packet packet = build(datagram_headers(), counting_bytes(10));
    packet.bytes()[20] ^= std::byte{1};
    EXPECT_FALSE(parse(packet));
    EXPECT_FALSE(parse_local_route(packet));
    Packet relayed = build(datagram_headers(), counting_bytes(10));
    relayed.bytes()[20] ^= std::byte{1};
    set_virtual_lane(relayed, 5);
    EXPECT_TRUE(parse_local_route(relayed)) << "the variant CRC is new";
    EXPECT_FALSE(parse(relayed)) << "the invariant CRC isn't";
}

TEST(Packet, UnmodifiedPacketParsesSameWithoutKnownCrcs) {
    Packet packet = build(datagram_headers(), counting_bytes(10));
    set_virtual_lane(packet, 6);
    const auto known = parse(packet);
    const auto checked = parse(std::as_const(packet).bytes());
    ASSERT_TRUE(known && checked);
    EXPECT_EQ(known->headers, checked->headers);
    EXPECT_EQ(known->headers.local.vl, 6);
}

// --- Refusals ------------------------------------------------------------------------------------

/// Changes a valid packet, recomputes its CRCs and parses it.
template <class Change>
ParseError error_after(Change change, PacketHeaders headers = datagram_headers()) {
    Packet packet = build(headers, counting_bytes(12));
    change(packet);
    renew_crcs(packet);
    const auto parsed = parse(packet.bytes());
    EXPECT_FALSE(parsed);
    return parsed ? ParseError{} : parsed.error();
}

TEST(Packet, TruncatedPacketRefused) {
    PacketHeaders headers = headers_for(opcode<"rc_rdma_write_only_with_immediate">, true);
    const Packet packet = build(headers, counting_bytes(33));
    for (std::size_t length = 0; length < packet.size(); ++length)
        ASSERT_FALSE(parse(packet.bytes().first(length))) << length;
}

/// A packet truncated to \p size bytes, with matching length fields and CRCs.
ParseError error_of_consistent_cut(const Packet& whole, std::size_t size) {
    std::vector<std::byte> bytes(whole.bytes().begin(),
                                 whole.bytes().begin() + static_cast<std::ptrdiff_t>(size));
    hwtab::View<hwtab::lrh>(std::span(bytes)).set<"pkt_len">((size - vcrc_size) / 4);
    const std::uint16_t crc = variant_crc(std::span(bytes).first(size - vcrc_size));
    store_le(std::span(bytes).last(vcrc_size), crc);
    const auto parsed = parse(bytes);
    EXPECT_FALSE(parsed) << size;
    return parsed ? ParseError{} : parsed.error();
}

TEST(Packet, HeadersBeyondLrhLengthRefused) {
    const Packet packet =
        build(headers_for(opcode<"rc_rdma_write_only_with_immediate">, false), counting_bytes(8));
    const std::size_t headers = 8 + 12 + 20;
    for (std::size_t size = 8 + vcrc_size; size < headers + icrc_size + vcrc_size; size += 4)
        EXPECT_EQ(error_of_consistent_cut(packet, size), ParseError::truncated_headers) << size;
}

TEST(Packet, CorruptedByteRefused) {
    PacketHeaders headers = datagram_headers();
    headers.global = some_global_route();
    const Packet good = build(headers, counting_bytes(21));
    for (std::size_t position = 0; position < good.size(); ++position) {
        Packet packet = good;
        packet.bytes()[position] ^= std::byte{0x10};
        ASSERT_FALSE(parse(packet.bytes())) << position;
    }
}

TEST(Packet, WrongIcrcWithValidVcrcRefused) {
    Packet packet = build(datagram_headers(), counting_bytes(12));
    const std::size_t position = packet.size() - vcrc_size - icrc_size;
    packet.bytes()[position] ^= std::byte{1};
    const auto covered = packet.bytes().first(packet.size() - vcrc_size);
    store_le(packet.bytes().last(vcrc_size), variant_crc(covered));
    const auto parsed = parse(packet.bytes());
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error(), ParseError::bad_invariant_crc);
}

TEST(Packet, InvalidLrhFieldNamed) {
    using Lrh = hwtab::View<hwtab::lrh>;
    EXPECT_EQ(error_after([](Packet& p) { Lrh(p.bytes()).set<"pkt_len">(3); }),
              ParseError::bad_length);
    EXPECT_EQ(error_after([](Packet& p) { Lrh(p.bytes()).set<"lver">(1); }),
              ParseError::bad_link_version);
    EXPECT_EQ(error_after([](Packet& p) { Lrh(p.bytes()).set<"dlid">(0); }), ParseError::bad_lid);
    EXPECT_EQ(error_after([](Packet& p) { Lrh(p.bytes()).set<"slid">(0xc001); }),
              ParseError::bad_lid);
    EXPECT_EQ(error_after([](Packet& p) { Lrh(p.bytes()).set<"slid">(0xffff); }),
              ParseError::bad_lid);
    EXPECT_EQ(error_after([](Packet& p) { Lrh(p.bytes()).set<"lnh">(0); }), ParseError::raw_packet);
    EXPECT_EQ(error_after([](Packet& p) { Lrh(p.bytes()).set<"lnh">(1); }), ParseError::raw_packet);
}

TEST(Packet, InvalidGrhFieldNamed) {
    PacketHeaders headers = datagram_headers();
    headers.global = some_global_route();
    const auto grh = [](Packet& p) {
        return hwtab::View<hwtab::grh>(p.bytes().subspan(hwtab::lrh.size));
    };
    EXPECT_EQ(error_after([&](Packet& p) { grh(p).set<"ip_ver">(4); }, headers),
              ParseError::bad_grh_version);
    EXPECT_EQ(error_after([&](Packet& p) { grh(p).set<"nxt_hdr">(6); }, headers),
              ParseError::bad_grh_next_header);
    EXPECT_EQ(error_after([&](Packet& p) { grh(p).set<"pay_len">(1); }, headers),
              ParseError::bad_grh_length);
    headers.local.vl = management_vl;
    EXPECT_EQ(error_after([](Packet&) {}, headers), ParseError::grh_on_management_vl);
}

TEST(Packet, InvalidBthFieldNamed) {
    const auto bth = [](Packet& p) {
        return hwtab::View<hwtab::bth>(p.bytes().subspan(hwtab::lrh.size));
    };
    EXPECT_EQ(error_after([&](Packet& p) { bth(p).set<"t_ver">(1); }),
              ParseError::bad_transport_version);
    EXPECT_EQ(error_after([&](Packet& p) { bth(p).set<"opcode">(0x80); }),
              ParseError::unknown_opcode);
}

TEST(Packet, PaddingBeyondPayloadRefused) {
    Packet packet = build(datagram_headers(), {});
    hwtab::View<hwtab::bth>(packet.bytes().subspan(hwtab::lrh.size)).set<"pad_cnt">(1);
    renew_crcs(packet);
    const auto parsed = parse(packet.bytes());
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error(), ParseError::bad_padding);
}

TEST(Packet, ManagementPacketWithoutLidAccepted) {
    PacketHeaders headers = datagram_headers();
    headers.local = {.vl = management_vl, .dlid = permissive_lid, .slid = permissive_lid};
    EXPECT_TRUE(parse(build(headers, {}).bytes()));
    headers.local.slid = unassigned_lid;
    EXPECT_TRUE(parse(build(headers, {}).bytes()));
}

TEST(Packet, RandomBytesRefused) {
    std::mt19937 random(1);
    for (int round = 0; round < 2000; ++round) {
        std::vector<std::byte> bytes(random() % 200);
        for (std::byte& byte : bytes)
            byte = static_cast<std::byte>(random());
        ASSERT_FALSE(parse(bytes));
    }
}

TEST(PKey, SamePartitionMatchesUnlessBothLimited) {
    EXPECT_TRUE(p_keys_match(0xffff, 0x7fff));
    EXPECT_TRUE(p_keys_match(0x8001, 0x8001));
    EXPECT_FALSE(p_keys_match(0x0001, 0x0001));
    EXPECT_FALSE(p_keys_match(0x8001, 0x8002));
    EXPECT_FALSE(p_keys_match(0x8000, 0x8000));
}

} // namespace
} // namespace cxemu::fabric
