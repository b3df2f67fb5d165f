// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/packet.hpp"

#include "fabric/crc.hpp"
#include "hwtab/view.hpp"
#include "tables/packet_headers.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

namespace cxemu::fabric {
namespace {

using hwtab::ConstView;
using hwtab::View;

constexpr std::size_t word = 4;
constexpr std::uint8_t grh_version = 6;

constexpr auto lnh_local = hwtab::value<hwtab::link_next_header, "iba_local">;
constexpr auto lnh_global = hwtab::value<hwtab::link_next_header, "iba_global">;
constexpr auto grh_next = hwtab::value<hwtab::grh_next_header, "iba_transport">;

// --- Opcodes -------------------------------------------------------------------------------------

constexpr std::uint8_t transport_mask = 0xe0;
constexpr std::uint8_t operation_mask = 0x1f;

enum class Transport : std::uint8_t {
    rc = 0x00,
    uc = 0x20,
    rd = 0x40,
    ud = 0x60,
    xrc = 0xa0,
    dc = dynamic_opcodes
};

constexpr std::size_t dceth_size = 24;

/// Opcodes with an entry in the table.
constexpr auto known_opcodes = [] {
    std::array<bool, 256> known{};
    for (const hwtab::Value& value : hwtab::transport_opcode.values)
        known[value.value] = true;
    return known;
}();

bool is_known(std::uint8_t opcode) {
    // FLUSH requires a header that no table describes; no device of this family sends it.
    constexpr std::uint8_t flush = 0x1c;
    if (opcode == dynamic_connect_opcode || opcode == dynamic_disconnect_opcode)
        return true;
    const bool is_dynamic = (opcode & transport_mask) == dynamic_opcodes;
    return (opcode & operation_mask) != flush &&
           known_opcodes[is_dynamic ? opcode & operation_mask : opcode];
}

/// Headers of an operation, without those added by the transport.
ExtendedHeaders headers_of_operation(std::uint8_t operation) {
    switch (operation) {
    case 0x03: // send last with immediate
    case 0x05: // send only with immediate
    case 0x09: // RDMA write last with immediate
        return {.immdt = true};
    case 0x06: // RDMA write first
    case 0x0a: // RDMA write only
    case 0x0c: // RDMA read request
    case 0x1d: // atomic write
        return {.reth = true};
    case 0x0b: // RDMA write only with immediate
        return {.reth = true, .immdt = true};
    case 0x0d: // RDMA read response first
    case 0x0f: // RDMA read response last
    case 0x10: // RDMA read response only
    case 0x11: // acknowledge
        return {.aeth = true};
    case 0x12: // atomic acknowledge
        return {.aeth = true, .atomicacketh = true};
    case 0x13: // compare and swap
    case 0x14: // fetch and add
        return {.atomiceth = true};
    case 0x16: // send last with invalidate
    case 0x17: // send only with invalidate
        return {.ieth = true};
    default:
        return {};
    }
}

bool is_response(std::uint8_t operation) {
    constexpr std::uint8_t first_response = 0x0d; // RDMA read response first
    constexpr std::uint8_t last_response = 0x12;  // atomic acknowledge
    return operation >= first_response && operation <= last_response;
}

// --- Writing -------------------------------------------------------------------------------------

/// Splits the packet into consecutive parts.
template <class Byte>
class Cursor {
public:
    explicit Cursor(std::span<Byte> rest) : rest_(rest) {}

    std::span<Byte> take(std::size_t size) {
        const auto piece = rest_.first(size);
        rest_ = rest_.subspan(size);
        return piece;
    }
    template <const hwtab::Layout& layout>
    View<layout, Byte> take() {
        return View<layout, Byte>(take(layout.size));
    }
    [[nodiscard]] std::size_t left() const { return rest_.size(); }

private:
    std::span<Byte> rest_;
};

void write_lrh(View<hwtab::lrh> lrh, const Lrh& local, bool global, std::size_t words) {
    lrh.set<"vl">(local.vl);
    lrh.set<"sl">(local.sl);
    lrh.set<"lnh">(global ? lnh_global : lnh_local);
    lrh.set<"dlid">(local.dlid);
    lrh.set<"pkt_len">(words);
    lrh.set<"slid">(local.slid);
}

void write_grh(View<hwtab::grh> grh, const Grh& global, std::size_t length) {
    grh.set<"ip_ver">(grh_version);
    grh.set<"tclass">(global.traffic_class);
    grh.set<"flow_label">(global.flow_label);
    grh.set<"pay_len">(length);
    grh.set<"nxt_hdr">(grh_next);
    grh.set<"hop_lmt">(global.hop_limit);
    std::ranges::copy(global.source.bytes, grh.bytes<"sgid">().begin());
    std::ranges::copy(global.destination.bytes, grh.bytes<"dgid">().begin());
}

void write_bth(View<hwtab::bth> bth, const Bth& transport, std::size_t padding) {
    bth.set<"opcode">(transport.opcode);
    bth.set<"se">(transport.solicited_event ? 1 : 0);
    bth.set<"mig_req">(transport.migrated ? 1 : 0);
    bth.set<"pad_cnt">(padding);
    bth.set<"p_key">(transport.p_key);
    bth.set<"fecn">(transport.fecn ? 1 : 0);
    bth.set<"becn">(transport.becn ? 1 : 0);
    bth.set<"dest_qp">(transport.destination_qp);
    bth.set<"ack_req">(transport.acknowledge_request ? 1 : 0);
    bth.set<"psn">(transport.psn);
}

void write_rdma(View<hwtab::reth> reth, const Reth& rdma) {
    reth.set<"va">(rdma.address);
    reth.set<"r_key">(rdma.r_key);
    reth.set<"dma_len">(rdma.length);
}

void write_atomic(View<hwtab::atomiceth> eth, const AtomicEth& atomic) {
    eth.set<"va">(atomic.address);
    eth.set<"r_key">(atomic.r_key);
    eth.set<"swap_dt">(atomic.swap_or_add);
    eth.set<"cmp_dt">(atomic.compare);
}

void write_dynamic(std::span<std::byte> dceth, const DcEth& dynamic) {
    store_be(dceth.subspan<0, 8>(), dynamic.access_key);
    store_be(dceth.subspan<8, 8>(), dynamic.connection);
    store_be(dceth.subspan<16, 4>(), dynamic.source_qp);
}

void write_extended(Cursor<std::byte>& out, ExtendedHeaders which, const PacketHeaders& headers) {
    if (which.rdeth)
        out.take<hwtab::rdeth>().set<"ee_context">(headers.ee_context.value_or(0));
    if (which.deth) {
        const auto deth = out.take<hwtab::deth>();
        const auto datagram = headers.datagram.value_or(Deth{});
        deth.set<"q_key">(datagram.q_key);
        deth.set<"src_qp">(datagram.source_qp);
    }
    if (which.xrceth)
        out.take<hwtab::xrceth>().set<"xrcsrq">(headers.xrc_srq.value_or(0));
    if (which.dceth)
        write_dynamic(out.take(dceth_size), headers.dynamic.value_or(DcEth{}));
    if (which.reth)
        write_rdma(out.take<hwtab::reth>(), headers.rdma.value_or(Reth{}));
    if (which.atomiceth)
        write_atomic(out.take<hwtab::atomiceth>(), headers.atomic.value_or(AtomicEth{}));
    if (which.aeth) {
        const auto aeth = out.take<hwtab::aeth>();
        const auto ack = headers.ack.value_or(Aeth{});
        aeth.set<"syndrome">(ack.syndrome);
        aeth.set<"msn">(ack.msn);
    }
    if (which.atomicacketh)
        out.take<hwtab::atomicacketh>().set<"orig_rem_dt">(headers.atomic_ack.value_or(0));
    if (which.immdt)
        out.take<hwtab::immdt>().set<"imm_dt">(headers.immediate.value_or(0));
    if (which.ieth)
        out.take<hwtab::ieth>().set<"r_key">(headers.invalidate.value_or(0));
}

void write_variant_crc(std::span<std::byte> packet) {
    const auto covered = packet.first(packet.size() - vcrc_size);
    store_le(packet.last(vcrc_size), variant_crc(covered));
}

void write_crcs(std::span<std::byte> packet) {
    const auto covered = packet.first(packet.size() - vcrc_size - icrc_size);
    store_le(packet.subspan(covered.size(), icrc_size), invariant_crc(covered));
    write_variant_crc(packet);
}

// --- Reading -------------------------------------------------------------------------------------

bool is_plausible_source(const Lrh& local) {
    if (is_unicast(local.slid))
        return true;
    return local.vl == management_vl && !is_multicast(local.slid);
}

Grh read_grh(ConstView<hwtab::grh> grh) {
    return {.traffic_class = static_cast<std::uint8_t>(grh.get<"tclass">()),
            .flow_label = static_cast<std::uint32_t>(grh.get<"flow_label">()),
            .hop_limit = static_cast<std::uint8_t>(grh.get<"hop_lmt">()),
            .source = Gid(grh.bytes<"sgid">()),
            .destination = Gid(grh.bytes<"dgid">())};
}

Bth read_bth(ConstView<hwtab::bth> bth) {
    return {.opcode = static_cast<std::uint8_t>(bth.get<"opcode">()),
            .solicited_event = bth.get<"se">() != 0,
            .migrated = bth.get<"mig_req">() != 0,
            .p_key = static_cast<std::uint16_t>(bth.get<"p_key">()),
            .fecn = bth.get<"fecn">() != 0,
            .becn = bth.get<"becn">() != 0,
            .destination_qp = static_cast<std::uint32_t>(bth.get<"dest_qp">()),
            .acknowledge_request = bth.get<"ack_req">() != 0,
            .psn = static_cast<std::uint32_t>(bth.get<"psn">())};
}

Reth read_rdma(ConstView<hwtab::reth> reth) {
    return {.address = reth.get<"va">(),
            .r_key = static_cast<std::uint32_t>(reth.get<"r_key">()),
            .length = static_cast<std::uint32_t>(reth.get<"dma_len">())};
}

AtomicEth read_atomic(ConstView<hwtab::atomiceth> eth) {
    return {.address = eth.get<"va">(),
            .r_key = static_cast<std::uint32_t>(eth.get<"r_key">()),
            .swap_or_add = eth.get<"swap_dt">(),
            .compare = eth.get<"cmp_dt">()};
}

DcEth read_dynamic(std::span<const std::byte> dceth) {
    return {.access_key = load_be<std::uint64_t>(dceth.subspan<0, 8>()),
            .connection = load_be<std::uint64_t>(dceth.subspan<8, 8>()),
            .source_qp = load_be<std::uint32_t>(dceth.subspan<16, 4>())};
}

using ConstCursor = Cursor<const std::byte>;

void read_extended(ConstCursor& in, ExtendedHeaders which, PacketHeaders& headers) {
    if (which.rdeth)
        headers.ee_context = in.take<hwtab::rdeth>().get<"ee_context">();
    if (which.deth) {
        const auto deth = in.take<hwtab::deth>();
        headers.datagram = {.q_key = static_cast<std::uint32_t>(deth.get<"q_key">()),
                            .source_qp = static_cast<std::uint32_t>(deth.get<"src_qp">())};
    }
    if (which.xrceth)
        headers.xrc_srq = in.take<hwtab::xrceth>().get<"xrcsrq">();
    if (which.dceth)
        headers.dynamic = read_dynamic(in.take(dceth_size));
    if (which.reth)
        headers.rdma = read_rdma(in.take<hwtab::reth>());
    if (which.atomiceth)
        headers.atomic = read_atomic(in.take<hwtab::atomiceth>());
    if (which.aeth) {
        const auto aeth = in.take<hwtab::aeth>();
        headers.ack = {.syndrome = static_cast<std::uint8_t>(aeth.get<"syndrome">()),
                       .msn = static_cast<std::uint32_t>(aeth.get<"msn">())};
    }
    if (which.atomicacketh)
        headers.atomic_ack = in.take<hwtab::atomicacketh>().get<"orig_rem_dt">();
    if (which.immdt)
        headers.immediate = in.take<hwtab::immdt>().get<"imm_dt">();
    if (which.ieth)
        headers.invalidate = in.take<hwtab::ieth>().get<"r_key">();
}

/// The GRH at the front of \p in, if the packet has one.
std::expected<std::span<const std::byte>, ParseError> take_grh(ConstCursor& in, bool global) {
    if (!global)
        return {};
    if (in.left() < hwtab::grh.size)
        return std::unexpected(ParseError::truncated_headers);
    const auto bytes = in.take(hwtab::grh.size);
    const ConstView<hwtab::grh> grh(bytes);
    if (grh.get<"ip_ver">() != grh_version)
        return std::unexpected(ParseError::bad_grh_version);
    if (grh.get<"nxt_hdr">() != grh_next)
        return std::unexpected(ParseError::bad_grh_next_header);
    if (grh.get<"pay_len">() != in.left() + icrc_size)
        return std::unexpected(ParseError::bad_grh_length);
    return bytes;
}

/// BTH and extended headers; \p in is advanced to the payload.
/// \return the number of padding bytes
std::expected<std::size_t, ParseError> take_transport(ConstCursor& in, PacketHeaders& headers) {
    if (in.left() < hwtab::bth.size)
        return std::unexpected(ParseError::truncated_headers);
    const auto bth = in.take<hwtab::bth>();
    if (bth.get<"t_ver">() != 0)
        return std::unexpected(ParseError::bad_transport_version);
    headers.transport = read_bth(bth);
    const auto extended = extended_headers(headers.transport.opcode);
    if (!extended)
        return std::unexpected(ParseError::unknown_opcode);
    if (in.left() < extended->size())
        return std::unexpected(ParseError::truncated_headers);
    read_extended(in, *extended, headers);
    return bth.get<"pad_cnt">();
}

std::expected<void, ParseError> check_link_next_header(ConstView<hwtab::lrh> lrh) {
    const auto lnh = lrh.get<"lnh">();
    if (lnh != lnh_local && lnh != lnh_global)
        return std::unexpected(ParseError::raw_packet);
    if (lnh == lnh_global && lrh.get<"vl">() == management_vl)
        return std::unexpected(ParseError::grh_on_management_vl);
    return {};
}

bool invariant_crc_is_right(std::span<const std::byte> packet) {
    const auto covered = packet.first(packet.size() - vcrc_size - icrc_size);
    return load_le<std::uint32_t>(packet.subspan(covered.size(), icrc_size)) ==
           invariant_crc(covered);
}

struct ErrorName {
    ParseError error;
    std::string_view name;
};

constexpr std::array error_names{
    ErrorName{ParseError::too_short, "too_short"},
    ErrorName{ParseError::bad_length, "bad_length"},
    ErrorName{ParseError::bad_variant_crc, "bad_variant_crc"},
    ErrorName{ParseError::bad_link_version, "bad_link_version"},
    ErrorName{ParseError::bad_lid, "bad_lid"},
    ErrorName{ParseError::raw_packet, "raw_packet"},
    ErrorName{ParseError::grh_on_management_vl, "grh_on_management_vl"},
    ErrorName{ParseError::truncated_headers, "truncated_headers"},
    ErrorName{ParseError::bad_grh_version, "bad_grh_version"},
    ErrorName{ParseError::bad_grh_next_header, "bad_grh_next_header"},
    ErrorName{ParseError::bad_grh_length, "bad_grh_length"},
    ErrorName{ParseError::bad_transport_version, "bad_transport_version"},
    ErrorName{ParseError::unknown_opcode, "unknown_opcode"},
    ErrorName{ParseError::bad_padding, "bad_padding"},
    ErrorName{ParseError::payload_too_long, "payload_too_long"},
    ErrorName{ParseError::bad_invariant_crc, "bad_invariant_crc"},
};

} // namespace

std::string_view name_of(ParseError error) {
    const auto found = std::ranges::find(error_names, error, &ErrorName::error);
    return found == error_names.end() ? "unknown" : found->name;
}

std::size_t ExtendedHeaders::size() const {
    return (rdeth ? hwtab::rdeth.size : 0) + (deth ? hwtab::deth.size : 0) +
           (xrceth ? hwtab::xrceth.size : 0) + (dceth ? dceth_size : 0) +
           (reth ? hwtab::reth.size : 0) + (atomiceth ? hwtab::atomiceth.size : 0) +
           (aeth ? hwtab::aeth.size : 0) + (atomicacketh ? hwtab::atomicacketh.size : 0) +
           (immdt ? hwtab::immdt.size : 0) + (ieth ? hwtab::ieth.size : 0);
}

std::optional<ExtendedHeaders> extended_headers(std::uint8_t opcode) {
    if (!is_known(opcode))
        return std::nullopt;
    const std::uint8_t operation = opcode & operation_mask;
    ExtendedHeaders headers = headers_of_operation(operation);
    switch (static_cast<Transport>(opcode & transport_mask)) {
    case Transport::rd:
        headers.rdeth = true;
        headers.deth = !is_response(operation);
        break;
    case Transport::ud:
        headers.deth = true;
        break;
    case Transport::xrc:
        headers.xrceth = !is_response(operation);
        break;
    case Transport::dc:
        headers.dceth = !is_response(operation);
        break;
    default:
        break;
    }
    return headers;
}

PacketDraft::PacketDraft(const PacketHeaders& headers, std::size_t payload) : size_(payload) {
    const auto extended = extended_headers(headers.transport.opcode);
    assert(extended && payload <= max_payload);
    const std::size_t padding = (word - (payload % word)) % word;
    const std::size_t behind_grh =
        hwtab::bth.size + extended->size() + payload + padding + icrc_size;
    const std::size_t covered =
        hwtab::lrh.size + (headers.global ? hwtab::grh.size : 0) + behind_grh;
    bytes_.resize(covered + vcrc_size);
    Cursor<std::byte> out(bytes_);
    write_lrh(out.take<hwtab::lrh>(), headers.local, headers.global.has_value(), covered / word);
    if (headers.global)
        write_grh(out.take<hwtab::grh>(), *headers.global, behind_grh);
    write_bth(out.take<hwtab::bth>(), headers.transport, padding);
    write_extended(out, *extended, headers);
    payload_ = bytes_.size() - out.left();
}

void Packet::seal() const {
    if (!std::exchange(sealed_, true) && !bytes_.empty())
        write_crcs(bytes_);
}

Packet build(const PacketHeaders& headers, std::span<const std::byte> payload) {
    PacketDraft draft(headers, payload.size());
    std::ranges::copy(payload, draft.payload().begin());
    return std::move(draft).finish();
}

namespace {

bool variant_crc_is_right(std::span<const std::byte> packet) {
    const auto covered = packet.first(packet.size() - vcrc_size);
    return load_le<std::uint16_t>(packet.last(vcrc_size)) == variant_crc(covered);
}

std::expected<Lrh, ParseError> read_local_route(std::span<const std::byte> bytes, KnownCrcs known) {
    if (bytes.size() < hwtab::lrh.size + vcrc_size)
        return std::unexpected(ParseError::too_short);
    const ConstView<hwtab::lrh> lrh(bytes);
    if ((lrh.get<"pkt_len">() * word) + vcrc_size != bytes.size())
        return std::unexpected(ParseError::bad_length);
    if (!known.variant && !variant_crc_is_right(bytes))
        return std::unexpected(ParseError::bad_variant_crc);
    if (lrh.get<"lver">() != 0)
        return std::unexpected(ParseError::bad_link_version);
    const Lrh local{.vl = static_cast<std::uint8_t>(lrh.get<"vl">()),
                    .sl = static_cast<std::uint8_t>(lrh.get<"sl">()),
                    .dlid = static_cast<Lid>(lrh.get<"dlid">()),
                    .slid = static_cast<Lid>(lrh.get<"slid">())};
    if (local.dlid == unassigned_lid || !is_plausible_source(local))
        return std::unexpected(ParseError::bad_lid);
    return local;
}

std::expected<ParsedPacket, ParseError> read_packet(std::span<const std::byte> bytes,
                                                    KnownCrcs known) {
    const auto local = read_local_route(bytes, known);
    if (!local)
        return std::unexpected(local.error());
    const ConstView<hwtab::lrh> lrh(bytes);
    if (const auto next = check_link_next_header(lrh); !next)
        return std::unexpected(next.error());
    if (bytes.size() < hwtab::lrh.size + icrc_size + vcrc_size)
        return std::unexpected(ParseError::truncated_headers);
    ParsedPacket packet{.headers = {.local = *local, .transport = {}}, .payload = {}, .grh = {}};
    ConstCursor in(
        bytes.subspan(hwtab::lrh.size, bytes.size() - hwtab::lrh.size - icrc_size - vcrc_size));
    const auto grh = take_grh(in, lrh.get<"lnh">() == lnh_global);
    if (!grh)
        return std::unexpected(grh.error());
    packet.grh = *grh;
    if (!grh->empty())
        packet.headers.global = read_grh(ConstView<hwtab::grh>(*grh));
    const auto padding = take_transport(in, packet.headers);
    if (!padding)
        return std::unexpected(padding.error());
    if (*padding > in.left())
        return std::unexpected(ParseError::bad_padding);
    if (in.left() - *padding > max_payload)
        return std::unexpected(ParseError::payload_too_long);
    if (!known.invariant && !invariant_crc_is_right(bytes))
        return std::unexpected(ParseError::bad_invariant_crc);
    packet.payload = in.take(in.left() - *padding);
    return packet;
}

} // namespace

std::expected<Lrh, ParseError> parse_local_route(std::span<const std::byte> bytes) {
    return read_local_route(bytes, {});
}

std::expected<Lrh, ParseError> parse_local_route(const Packet& packet) {
    return read_local_route(packet.content(), packet.known_crcs());
}

std::expected<ParsedPacket, ParseError> parse(std::span<const std::byte> bytes) {
    return read_packet(bytes, {});
}

std::expected<ParsedPacket, ParseError> parse(const Packet& packet) {
    return read_packet(packet.content(), packet.known_crcs());
}

void set_virtual_lane(Packet& packet, std::uint8_t vl) {
    const View<hwtab::lrh> lrh(packet.bytes_);
    if (lrh.get<"vl">() == vl)
        return;
    lrh.set<"vl">(vl);
    if (packet.sealed_)
        write_variant_crc(packet.bytes_);
    packet.known_.variant = true;
}

std::optional<std::uint16_t> peek_p_key(const Packet& packet) {
    const auto bytes = packet.content();
    const ConstView<hwtab::lrh> lrh(bytes);
    const auto lnh = lrh.get<"lnh">();
    if (lnh != lnh_local && lnh != lnh_global)
        return std::nullopt;
    const std::size_t offset = hwtab::lrh.size + (lnh == lnh_global ? hwtab::grh.size : 0);
    if (bytes.size() < offset + hwtab::bth.size)
        return std::nullopt;
    return ConstView<hwtab::bth>(bytes.subspan(offset)).get<"p_key">();
}

void renew_crcs(Packet& packet) {
    write_crcs(packet.bytes());
    packet.vouch_for({.variant = true, .invariant = true});
}

} // namespace cxemu::fabric
