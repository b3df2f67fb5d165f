// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// InfiniBand packets as they travel: LRH, GRH, BTH, extended headers, payload, padding, invariant
/// and variant CRC. Layouts are those of the hardware tables.
///
/// ```cpp
/// Packet packet = build({.local = {.dlid = 5, .slid = 4},
///                        .transport = {.opcode = ud_send_only, .destination_qp = 1},
///                        .datagram = DatagramHeader{.q_key = key, .source_qp = 1}}, payload);
/// auto parsed = parse(packet.bytes());
/// ```
#pragma once

#include "fabric/identifiers.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace cxemu::fabric {

inline constexpr std::size_t max_payload = 4096; ///< bytes, the largest MTU
inline constexpr std::size_t grh_size = 40;      ///< bytes
inline constexpr std::size_t icrc_size = 4;
inline constexpr std::size_t vcrc_size = 2;

/// Opcodes of DC, in the range that IBA volume 1, 9.2.1 reserves for manufacturers: the opcodes of
/// RC with these upper bits, and two opcodes to connect and to disconnect.
inline constexpr std::uint8_t dynamic_opcodes = 0xc0;
inline constexpr std::uint8_t dynamic_connect_opcode = dynamic_opcodes | 0x18;
inline constexpr std::uint8_t dynamic_disconnect_opcode = dynamic_opcodes | 0x19;

/// CRCs of a packet that are known to be valid.
struct KnownCrcs {
    bool variant = false;
    bool invariant = false;
};

/// A complete packet, from the first byte of the LRH to the last byte of the VCRC. Its contents may
/// be corrupted: only parse() checks that it is well-formed. A packet remembers which of its CRCs
/// are valid until its bytes are accessed for writing, so they are not checked again at every hop.
/// The CRCs of a new packet are computed when its bytes are read for the first time, because most
/// packets never leave the process and need no CRCs.
class Packet {
public:
    Packet() = default;
    explicit Packet(std::vector<std::byte> bytes, KnownCrcs known = {})
        : bytes_(std::move(bytes)), known_(known) {}
    /// A packet without CRCs. \pre LRH, BTH and both CRCs fit into it
    static Packet unsealed(std::vector<std::byte> bytes) {
        Packet packet(std::move(bytes), {.variant = true, .invariant = true});
        packet.sealed_ = false;
        return packet;
    }

    [[nodiscard]] std::span<const std::byte> bytes() const {
        seal();
        return bytes_;
    }
    [[nodiscard]] std::span<std::byte> bytes() {
        seal();
        known_ = {};
        return bytes_;
    }
    [[nodiscard]] std::size_t size() const { return bytes_.size(); }
    /// The bytes for readers that ignore the CRCs, which may not be computed yet.
    [[nodiscard]] std::span<const std::byte> content() const { return bytes_; }

    [[nodiscard]] KnownCrcs known_crcs() const { return known_; }
    /// The caller has changed the packet and guarantees that these CRCs are valid.
    void vouch_for(KnownCrcs known) { known_ = known; }

private:
    friend void set_virtual_lane(Packet& packet, std::uint8_t vl);
    void seal() const;

    mutable std::vector<std::byte> bytes_;
    KnownCrcs known_;
    mutable bool sealed_ = true; ///< the CRCs are written
};

/// Local route header. Link version, next header and length follow from the packet.
struct Lrh {
    std::uint8_t vl = 0;
    std::uint8_t sl = 0;
    Lid dlid = unassigned_lid;
    Lid slid = unassigned_lid;

    bool operator==(const Lrh&) const = default;
};

/// Global route header. Version, next header and payload length follow from the packet.
struct Grh {
    std::uint8_t traffic_class = 0;
    std::uint32_t flow_label = 0;
    std::uint8_t hop_limit = 0;
    Gid source;
    Gid destination;

    bool operator==(const Grh&) const = default;
};

/// Base transport header. Padding and version follow from the packet.
struct Bth {
    std::uint8_t opcode = 0; ///< hwtab::transport_opcode
    bool solicited_event = false;
    bool migrated = true;
    std::uint16_t p_key = default_p_key;
    bool fecn = false;
    bool becn = false;
    std::uint32_t destination_qp = 0;
    bool acknowledge_request = false;
    std::uint32_t psn = 0;

    bool operator==(const Bth&) const = default;
};

struct Deth {
    std::uint32_t q_key = 0;
    std::uint32_t source_qp = 0;

    bool operator==(const Deth&) const = default;
};

struct Reth {
    std::uint64_t address = 0;
    std::uint32_t r_key = 0;
    std::uint32_t length = 0; ///< bytes of the complete transfer

    bool operator==(const Reth&) const = default;
};

struct AtomicEth {
    std::uint64_t address = 0;
    std::uint32_t r_key = 0;
    std::uint64_t swap_or_add = 0;
    std::uint64_t compare = 0;

    bool operator==(const AtomicEth&) const = default;
};

struct Aeth {
    std::uint8_t syndrome = 0; ///< hwtab::aeth_syndrome
    std::uint32_t msn = 0;

    bool operator==(const Aeth&) const = default;
};

/// Extended header of DC requests (DCETH). The layout is specific to cxemu; that of real adapters
/// is not published.
struct DcEth {
    std::uint64_t access_key = 0;
    std::uint64_t connection = 0; ///< connection number of the initiator, increasing
    std::uint32_t source_qp = 0;  ///< of the initiator

    bool operator==(const DcEth&) const = default;
};

/// All headers of a packet. The opcode determines the extended headers: build() writes exactly
/// these headers (a missing one as zeros), and parse() sets exactly these.
struct PacketHeaders {
    Lrh local;
    std::optional<Grh> global = std::nullopt;
    Bth transport;
    std::optional<std::uint32_t> ee_context = std::nullopt; ///< RDETH
    std::optional<Deth> datagram = std::nullopt;            ///< DETH
    std::optional<std::uint32_t> xrc_srq = std::nullopt;    ///< XRCETH
    std::optional<DcEth> dynamic = std::nullopt;            ///< DCETH
    std::optional<Reth> rdma = std::nullopt;                ///< RETH
    std::optional<AtomicEth> atomic = std::nullopt;         ///< AtomicETH
    std::optional<Aeth> ack = std::nullopt;                 ///< AETH
    std::optional<std::uint64_t> atomic_ack = std::nullopt; ///< AtomicAckETH
    std::optional<std::uint32_t> immediate = std::nullopt;  ///< ImmDt, in host order
    std::optional<std::uint32_t> invalidate = std::nullopt; ///< IETH, R_Key

    bool operator==(const PacketHeaders&) const = default;
};

/// A well-formed packet; its spans point into the parsed bytes.
struct ParsedPacket {
    PacketHeaders headers;
    std::span<const std::byte> payload; ///< without padding
    std::span<const std::byte> grh;     ///< the 40 bytes of the GRH; empty without one
};

/// Reason why bytes are no well-formed packet, in the order of the checks.
enum class ParseError : std::uint8_t {
    too_short,             ///< shorter than LRH and VCRC
    bad_length,            ///< PktLen of the LRH doesn't match the number of bytes
    bad_variant_crc,       ///<
    bad_link_version,      ///< LVer isn't 0
    bad_lid,               ///< invalid source or destination LID
    raw_packet,            ///< LNH of a raw packet
    grh_on_management_vl,  ///< packets on VL 15 must not have a GRH
    truncated_headers,     ///< the headers exceed the packet
    bad_grh_version,       ///< IPVer isn't 6
    bad_grh_next_header,   ///< NxtHdr isn't the IBA transport
    bad_grh_length,        ///< PayLen doesn't match the packet
    bad_transport_version, ///< TVer isn't 0
    unknown_opcode,        ///<
    bad_padding,           ///< more padding than payload
    payload_too_long,      ///< exceeds the largest MTU
    bad_invariant_crc,     ///<
};

/// "bad_variant_crc"
std::string_view name_of(ParseError error);

/// Extended headers, as a set.
struct ExtendedHeaders {
    bool rdeth = false;
    bool deth = false;
    bool xrceth = false;
    bool dceth = false;
    bool reth = false;
    bool atomiceth = false;
    bool aeth = false;
    bool atomicacketh = false;
    bool immdt = false;
    bool ieth = false;

    /// Bytes of all of them.
    [[nodiscard]] std::size_t size() const;
};

/// \return the extended headers that follow a BTH with this opcode; nothing for an unknown opcode
std::optional<ExtendedHeaders> extended_headers(std::uint8_t opcode);

/// Builds a packet with padding, lengths and both CRCs.
/// \param payload at most max_payload bytes
/// \pre extended_headers() knows the opcode
Packet build(const PacketHeaders& headers, std::span<const std::byte> payload);

/// A packet whose payload the caller writes in place.
class PacketDraft {
public:
    /// \param payload bytes, at most max_payload
    /// \pre extended_headers() knows the opcode
    PacketDraft(const PacketHeaders& headers, std::size_t payload);

    [[nodiscard]] std::span<std::byte> payload() {
        return std::span(bytes_).subspan(payload_, size_);
    }
    [[nodiscard]] Packet finish() && { return Packet::unsealed(std::move(bytes_)); }

private:
    std::vector<std::byte> bytes_;
    std::size_t payload_ = 0; ///< offset of the payload
    std::size_t size_;
};

/// Parses a packet. All fields and both CRCs are checked. The result refers to \p bytes.
std::expected<ParsedPacket, ParseError> parse(std::span<const std::byte> bytes);
/// The same; CRCs that are known to be valid aren't computed.
std::expected<ParsedPacket, ParseError> parse(const Packet& packet);
std::expected<ParsedPacket, ParseError> parse(Packet&&) = delete; // the result would dangle

/// The checks of a switch: length, VCRC, link version and LIDs.
std::expected<Lrh, ParseError> parse_local_route(std::span<const std::byte> bytes);
std::expected<Lrh, ParseError> parse_local_route(const Packet& packet);

/// Moves the packet to another VL and updates the VCRC.
/// \pre parse_local_route() accepts the packet
void set_virtual_lane(Packet& packet, std::uint8_t vl);

/// P_Key of the BTH, for switches that enforce partitions; nothing for a raw or truncated packet.
std::optional<std::uint16_t> peek_p_key(const Packet& packet);

/// Recomputes the CRCs of a packet whose headers or payload were changed on purpose.
/// \pre LRH, BTH and both CRCs fit into the packet
void renew_crcs(Packet& packet);

} // namespace cxemu::fabric
