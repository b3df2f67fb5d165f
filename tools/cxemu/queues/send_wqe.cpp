// SPDX-License-Identifier: GPL-2.0-or-later
#include "queues/send_wqe.hpp"

#include "base/byte_order.hpp"
#include "queues/data_pointer.hpp"

#include <algorithm>
#include <utility>

namespace cxemu::queues {

namespace {

using Control = hwtab::ConstView<hwtab::wqe_ctrl_seg>;
template <typename T>
using Decoded = std::expected<T, DecodeError>;

constexpr std::size_t atomic_size = 8;
/// opmod of the shortest and of the longest masked atomic; each step doubles the operand size.
constexpr std::uint64_t shortest_opmod = hwtab::value<hwtab::masked_atomic_opmod, "bytes_4">;
constexpr std::uint64_t longest_opmod = hwtab::value<hwtab::masked_atomic_opmod, "bytes_32">;
constexpr std::size_t shortest_operand = 4;

std::optional<SendOpcode> known_opcode(std::uint64_t number) {
    const auto opcode = static_cast<SendOpcode>(number);
    switch (opcode) {
    case SendOpcode::nop:
    case SendOpcode::send_invalidate:
    case SendOpcode::rdma_write:
    case SendOpcode::rdma_write_immediate:
    case SendOpcode::send:
    case SendOpcode::send_immediate:
    case SendOpcode::rdma_read:
    case SendOpcode::compare_swap:
    case SendOpcode::fetch_add:
    case SendOpcode::masked_compare_swap:
    case SendOpcode::masked_fetch_add:
    case SendOpcode::set_psv:
    case SendOpcode::reg_umr:
    case SendOpcode::tag_matching:
        return opcode;
    }
    return std::nullopt;
}

bool is_allowed(ServiceType service, SendOpcode opcode) {
    switch (service) {
    case ServiceType::reliable_connection:
        return true;
    case ServiceType::extended_reliable_connection:
    case ServiceType::dci:
        return opcode != SendOpcode::tag_matching;
    case ServiceType::dct:
        return false;
    case ServiceType::unreliable_connection:
        return opcode != SendOpcode::rdma_read && opcode != SendOpcode::tag_matching &&
               !is_atomic(opcode);
    case ServiceType::unreliable_datagram:
    case ServiceType::subnet_management:
    case ServiceType::general_services:
        return opcode == SendOpcode::nop || opcode == SendOpcode::send ||
               opcode == SendOpcode::send_immediate;
    case ServiceType::reg_umr:
        return is_local(opcode) && opcode != SendOpcode::tag_matching;
    }
    return false;
}

bool has_remote_address(SendOpcode opcode) {
    return opcode == SendOpcode::rdma_write || opcode == SendOpcode::rdma_write_immediate ||
           opcode == SendOpcode::rdma_read || is_atomic(opcode);
}

bool has_response(SendOpcode opcode) {
    return opcode == SendOpcode::rdma_read || is_atomic(opcode);
}

/// Iterates over the segments of a WQE.
class Segments {
public:
    explicit Segments(std::span<const std::byte> entry) : entry_(entry) {
        skip(hwtab::wqe_ctrl_seg.size);
    }

    [[nodiscard]] std::size_t position() const { return position_; }
    [[nodiscard]] std::span<const std::byte> rest() const { return entry_.subspan(position_); }
    void skip(std::size_t size) { position_ += size; }

    template <const hwtab::Layout& layout>
    Decoded<hwtab::ConstView<layout>> take() {
        const auto bytes = rest();
        if (bytes.size() < layout.size)
            return std::unexpected(DecodeError::segment_missing);
        skip(layout.size);
        return hwtab::ConstView<layout>{bytes};
    }

private:
    std::span<const std::byte> entry_;
    std::size_t position_ = 0;
};

AddressVector short_address(hwtab::ConstView<hwtab::base_av> fields) {
    AddressVector address;
    address.queue_key = static_cast<std::uint32_t>(fields.get<"qkey">());
    address.access_key = fields.get<"dc_key">();
    address.destination_qp = static_cast<std::uint32_t>(fields.get<"dqp_dct">());
    address.remote_lid = static_cast<std::uint16_t>(fields.get<"rlid">());
    address.path_bits = static_cast<std::uint8_t>(fields.get<"mlid">());
    address.service_level = static_cast<std::uint8_t>(fields.get<"sl">());
    address.static_rate = static_cast<std::uint8_t>(fields.get<"stat_rate">());
    address.force_loopback = fields.get<"fl">() != 0;
    return address;
}

void add_grh(AddressVector& address, hwtab::ConstView<hwtab::av> fields) {
    address.has_grh = fields.get<"grh">() != 0;
    address.traffic_class = static_cast<std::uint8_t>(fields.get<"tclass">());
    address.hop_limit = static_cast<std::uint8_t>(fields.get<"hop_limit">());
    address.source_gid_index = static_cast<std::uint8_t>(fields.get<"src_addr_index">());
    address.flow_label = static_cast<std::uint32_t>(fields.get<"flow_label">());
    std::ranges::copy(fields.bytes<"rgid">(), address.remote_gid.begin());
}

Decoded<AddressVector> take_address(Segments& segments) {
    const auto rest = segments.rest();
    const auto base = segments.take<hwtab::base_av>();
    if (!base)
        return std::unexpected(base.error());
    AddressVector address = short_address(*base);
    if (base->get<"extended">() == 0)
        return address;
    if (rest.size() < hwtab::av.size)
        return std::unexpected(DecodeError::segment_missing);
    segments.skip(hwtab::av.size - hwtab::base_av.size);
    add_grh(address, hwtab::ConstView<hwtab::av>{rest});
    return address;
}

/// Bytes of an operand.
Decoded<std::size_t> operand_size(const DecodeContext& context, const SendWqe& request) {
    if (!has_masks(request.opcode))
        return atomic_size;
    if (request.op_mod < shortest_opmod)
        return std::unexpected(DecodeError::no_operand_size);
    const std::size_t size = masked_operand_size(request.op_mod);
    if ((size & context.atomic_sizes) == 0)
        return std::unexpected(DecodeError::bad_operand_size);
    return size;
}

/// Each operand is as long as the target memory, in words of up to 8 bytes. Masked compare and swap
/// has four (swap and compare with masks), masked fetch and add two (addend and field boundary).
Decoded<void> take_masked(Segments& segments, std::size_t size, SendWqe& request) {
    const bool compares = request.opcode == SendOpcode::masked_compare_swap;
    const std::size_t length = masked_operands_length(request.opcode, size);
    const auto bytes = segments.rest();
    if (bytes.size() < length)
        return std::unexpected(DecodeError::segment_missing);
    segments.skip(length);
    const auto number = [&](std::size_t operand, std::size_t offset) -> std::uint64_t {
        const auto place = bytes.subspan((operand * size) + offset);
        return size < atomic_size ? load_be<std::uint32_t>(place) : load_be<std::uint64_t>(place);
    };
    for (std::size_t offset = 0; offset < size; offset += atomic_size) {
        AtomicOperands word{.swap_or_add = number(0, offset)};
        word.swap_or_add_mask = number(compares ? 2 : 1, offset);
        if (compares) {
            word.compare = number(1, offset);
            word.compare_mask = number(3, offset);
        }
        if (request.atomic)
            request.more_words.push_back(word);
        else
            request.atomic = word;
    }
    return {};
}

Decoded<void> take_plain(Segments& segments, SendWqe& request) {
    const auto fields = segments.take<hwtab::wqe_atomic_seg>();
    if (!fields)
        return std::unexpected(fields.error());
    const bool compares = request.opcode == SendOpcode::compare_swap;
    const std::uint64_t mask = compares ? ~std::uint64_t{0} : 0;
    request.atomic = {.swap_or_add = fields->get<"swap_add">(),
                      .compare = fields->get<"compare">(),
                      .swap_or_add_mask = mask,
                      .compare_mask = mask};
    return {};
}

Decoded<void> take_atomic(const DecodeContext& context, Segments& segments, SendWqe& request) {
    const auto size = operand_size(context, request);
    if (!size)
        return std::unexpected(size.error());
    return has_masks(request.opcode) ? take_masked(segments, *size, request)
                                     : take_plain(segments, request);
}

Decoded<InlineData> take_inline(Segments& segments) {
    const auto rest = segments.rest();
    const hwtab::ConstView<hwtab::wqe_inline_seg> header{rest};
    const auto length = static_cast<std::uint32_t>(header.get<"byte_count">());
    const std::size_t size = hwtab::wqe_inline_seg.size + length;
    if (size > rest.size())
        return std::unexpected(DecodeError::inline_too_long);
    const InlineData data{
        .offset = static_cast<std::uint32_t>(segments.position() + hwtab::wqe_inline_seg.size),
        .length = length};
    segments.skip(std::min(rest.size(), (size + ds_size - 1) / ds_size * ds_size));
    return data;
}

memory::DataSegment take_pointer(Segments& segments) {
    const hwtab::ConstView<hwtab::wqe_data_seg> pointer{segments.rest()};
    segments.skip(hwtab::wqe_data_seg.size);
    return {.length = length_of(pointer),
            .key = static_cast<std::uint32_t>(pointer.get<"lkey">()),
            .address = pointer.get<"addr">()};
}

Decoded<void> take_data(Segments& segments, SendWqe& request) {
    while (segments.rest().size() >= ds_size) {
        const hwtab::ConstView<hwtab::wqe_data_seg> head{segments.rest()};
        if (head.get<"inline_seg">() == 0) {
            const auto pointer = take_pointer(segments);
            request.length += pointer.length;
            request.data.emplace_back(pointer);
            continue;
        }
        if (has_response(request.opcode))
            return std::unexpected(DecodeError::inline_not_allowed);
        const auto data = take_inline(segments);
        if (!data)
            return std::unexpected(data.error());
        request.length += data->length;
        request.data.emplace_back(*data);
    }
    return {};
}

Decoded<void> check_length(const DecodeContext& context, const SendWqe& request) {
    if (is_atomic(request.opcode) && request.length != operand_size(context, request))
        return std::unexpected(DecodeError::bad_atomic_length);
    if (request.length > 1ULL << context.log_max_message)
        return std::unexpected(DecodeError::message_too_long);
    return {};
}

/// Decodes the segments of an operation that sends packets.
Decoded<void> decode_operation(const DecodeContext& context, Segments& segments, SendWqe& request) {
    if (context.service == ServiceType::extended_reliable_connection) {
        const auto xrc = segments.take<hwtab::wqe_xrc_seg>();
        if (!xrc)
            return std::unexpected(xrc.error());
        request.xrc_srq = static_cast<std::uint32_t>(xrc->get<"xrc_srqn">());
    }
    if (is_datagram(context.service) || context.service == ServiceType::dci) {
        auto address = take_address(segments);
        if (!address)
            return std::unexpected(address.error());
        request.address = *address;
    }
    if (has_remote_address(request.opcode)) {
        const auto remote = segments.take<hwtab::wqe_raddr_seg>();
        if (!remote)
            return std::unexpected(remote.error());
        request.remote = {.address = remote->get<"raddr">(),
                          .key = static_cast<std::uint32_t>(remote->get<"rkey">())};
    }
    if (is_atomic(request.opcode)) {
        if (const auto taken = take_atomic(context, segments, request); !taken)
            return taken;
    }
    if (const auto taken = take_data(segments, request); !taken)
        return taken;
    return check_length(context, request);
}

/// The XOR of all bytes of a signed WQE is 0xff.
bool signature_is_right(std::span<const std::byte> entry) {
    std::byte sum{};
    for (const std::byte byte : entry)
        sum ^= byte;
    return sum == std::byte{0xff};
}

/// Stream id of a DCI, in bits that are reserved for other services.
std::uint16_t stream_of(Control control) {
    constexpr std::size_t offset = 9;
    return load_be<std::uint16_t>(control.memory().subspan(offset));
}

void take_control(Control control, SendWqe& request) {
    request.index = static_cast<std::uint16_t>(control.get<"wqe_index">());
    request.blocks = decode_head(control.memory()).blocks();
    request.op_mod = static_cast<std::uint8_t>(control.get<"opmod">());
    request.fence = static_cast<Fence>(control.get<"fm">());
    request.completion = static_cast<CompletionMode>(control.get<"ce">());
    request.solicited = control.get<"se">() != 0;
    request.immediate = static_cast<std::uint32_t>(control.get<"imm">());
    request.stream = stream_of(control);
}

} // namespace

std::string_view describe(DecodeError error) {
    switch (error) {
    case DecodeError::empty:
        return "its length is 0";
    case DecodeError::too_long:
        return "it is longer than allowed or than what has been posted";
    case DecodeError::unknown_opcode:
        return "its opcode is unknown";
    case DecodeError::opcode_not_allowed:
        return "the transport service doesn't allow its opcode";
    case DecodeError::segment_missing:
        return "it ends within a segment that the operation needs";
    case DecodeError::inline_too_long:
        return "its inline data goes on behind the end";
    case DecodeError::inline_not_allowed:
        return "a response can't be written to the entry";
    case DecodeError::message_too_long:
        return "the message is longer than the queue pair may send";
    case DecodeError::bad_atomic_length:
        return "the response of an atomic operation is as long as its operand";
    case DecodeError::unreachable:
        return "host memory refused to be read";
    case DecodeError::bad_signature:
        return "its checksum is wrong";
    case DecodeError::no_operand_size:
        return "its opmod names no operand size, which a masked atomic operation needs";
    case DecodeError::bad_operand_size:
        return "the device has no masked atomic operations of its operand size";
    }
    return "unknown error";
}

std::size_t masked_operand_size(std::uint64_t op_mod) {
    if (op_mod < shortest_opmod || op_mod > longest_opmod)
        return 0;
    return shortest_operand << (op_mod - shortest_opmod);
}

/// Operands fill whole units of 16 bytes.
std::size_t masked_operands_length(SendOpcode opcode, std::size_t size) {
    return std::max(ds_size, size * (opcode == SendOpcode::masked_compare_swap ? 4 : 2));
}

CtrlSegment decode_head(std::span<const std::byte> control) {
    const Control fields{control};
    return {.opcode = static_cast<std::uint8_t>(fields.get<"opcode">()),
            .ds = static_cast<std::uint8_t>(fields.get<"ds">()),
            .index = static_cast<std::uint16_t>(fields.get<"wqe_index">()),
            .queue_pair = static_cast<std::uint32_t>(fields.get<"qpn">()),
            .completion = static_cast<CompletionMode>(fields.get<"ce">())};
}

Decoded<SendWqe> decode(const DecodeContext& context, std::vector<std::byte> bytes) {
    const Control control{bytes};
    if (context.has_signatures && !signature_is_right(bytes))
        return std::unexpected(DecodeError::bad_signature);
    const auto opcode = known_opcode(control.get<"opcode">());
    if (!opcode)
        return std::unexpected(DecodeError::unknown_opcode);
    if (!is_allowed(context.service, *opcode))
        return std::unexpected(DecodeError::opcode_not_allowed);
    SendWqe request;
    request.opcode = *opcode;
    take_control(control, request);
    if (!is_local(*opcode)) {
        Segments segments(bytes);
        if (const auto decoded = decode_operation(context, segments, request); !decoded)
            return std::unexpected(decoded.error());
    }
    request.bytes = std::move(bytes);
    return request;
}

} // namespace cxemu::queues
