// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Send queue entries (WQEs), decoded and checked.
#pragma once

#include "hwtab/view.hpp"
#include "memory/access.hpp"
#include "queues/qp_values.hpp"
#include "tables/work_queue.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

namespace cxemu::queues {

enum class SendOpcode : std::uint8_t {
    nop = hwtab::value<hwtab::wqe_opcode, "nop">,
    send_invalidate = hwtab::value<hwtab::wqe_opcode, "send_inval">,
    rdma_write = hwtab::value<hwtab::wqe_opcode, "rdma_write">,
    rdma_write_immediate = hwtab::value<hwtab::wqe_opcode, "rdma_write_imm">,
    send = hwtab::value<hwtab::wqe_opcode, "send">,
    send_immediate = hwtab::value<hwtab::wqe_opcode, "send_imm">,
    rdma_read = hwtab::value<hwtab::wqe_opcode, "rdma_read">,
    compare_swap = hwtab::value<hwtab::wqe_opcode, "atomic_cs">,
    fetch_add = hwtab::value<hwtab::wqe_opcode, "atomic_fa">,
    masked_compare_swap = hwtab::value<hwtab::wqe_opcode, "atomic_masked_cs">,
    masked_fetch_add = hwtab::value<hwtab::wqe_opcode, "atomic_masked_fa">,
    set_psv = hwtab::value<hwtab::wqe_opcode, "set_psv">,
    reg_umr = hwtab::value<hwtab::wqe_opcode, "umr">,
    tag_matching = hwtab::value<hwtab::wqe_opcode, "tag_matching">,
};

constexpr bool is_atomic(SendOpcode opcode) {
    return opcode == SendOpcode::compare_swap || opcode == SendOpcode::fetch_add ||
           opcode == SendOpcode::masked_compare_swap || opcode == SendOpcode::masked_fetch_add;
}
/// The device does it alone, without a packet.
constexpr bool is_local(SendOpcode opcode) {
    return opcode == SendOpcode::nop || opcode == SendOpcode::set_psv ||
           opcode == SendOpcode::reg_umr || opcode == SendOpcode::tag_matching;
}

/// For what a request waits before it starts.
enum class Fence : std::uint8_t {
    none = hwtab::value<hwtab::fence_mode, "none">,
    local_operations = hwtab::value<hwtab::fence_mode, "initiator_small">,
    reads_and_atomics = hwtab::value<hwtab::fence_mode, "fence">,
    everything = hwtab::value<hwtab::fence_mode, "strong_ordering">,
    local_reads_and_atomics = hwtab::value<hwtab::fence_mode, "small_and_fence">,
};

enum class CompletionMode : std::uint8_t {
    only_error = hwtab::value<hwtab::completion_mode, "only_error">,
    only_first_error = hwtab::value<hwtab::completion_mode, "only_first_error">,
    always = hwtab::value<hwtab::completion_mode, "cq_update">,
    always_with_event = hwtab::value<hwtab::completion_mode, "cq_update_and_eqe">,
};

/// Where a datagram goes.
struct AddressVector {
    std::uint32_t queue_key = 0;
    std::uint64_t access_key = 0;     ///< of a dynamically connected target, instead of the Q_Key
    std::uint32_t destination_qp = 0; ///< 24 bits
    std::uint16_t remote_lid = 0;
    std::uint8_t path_bits = 0; ///< added to the base LID of the port
    std::uint8_t service_level = 0;
    std::uint8_t static_rate = 0; ///< code of InfiniBand plus 5, or 0
    bool force_loopback = false;
    bool has_grh = false;
    std::uint8_t traffic_class = 0; ///< from here on: of the GRH
    std::uint8_t hop_limit = 0;
    std::uint8_t source_gid_index = 0;
    std::uint32_t flow_label = 0;
    std::array<std::byte, 16> remote_gid{};
};

struct RemoteAddress {
    std::uint64_t address = 0;
    std::uint32_t key = 0;
};

/// Operands of an atomic operation on one word: 8 bytes, or 4 in the lower half. The unmasked kinds
/// have masks of all ones (compare and swap) or 0 (fetch and add: one field of 64 bits).
struct AtomicOperands {
    std::uint64_t swap_or_add = 0;
    std::uint64_t compare = 0;
    std::uint64_t swap_or_add_mask = 0;
    std::uint64_t compare_mask = 0;
};

/// Data in the entry itself: a part of SendRequest::bytes.
struct InlineData {
    std::uint32_t offset = 0;
    std::uint32_t length = 0;
};

using DataPiece = std::variant<memory::DataSegment, InlineData>;

struct SendWqe {
    std::uint16_t index = 0;  ///< in the send queue, in 64-byte blocks, modulo 2^16
    std::uint16_t blocks = 1; ///< length in 64-byte blocks
    SendOpcode opcode = SendOpcode::nop;
    std::uint8_t op_mod = 0;
    Fence fence = Fence::none;
    CompletionMode completion = CompletionMode::always;
    bool solicited = false;
    std::uint32_t immediate = 0; ///< immediate data, R_Key to invalidate, or memory key of a UMR
    std::optional<std::uint32_t> xrc_srq; ///< shared receive queue at the responder
    std::optional<AddressVector> address; ///< datagrams and dynamic connections
    std::uint16_t stream = 0;             ///< of a dynamic initiator
    std::optional<RemoteAddress> remote;  ///< RDMA and atomic operations
    std::optional<AtomicOperands> atomic;
    std::vector<AtomicOperands> more_words; ///< of an atomic operation on 16 or 32 bytes
    std::vector<DataPiece> data;  ///< to send; where the response goes for reads and atomics
    std::uint64_t length = 0;     ///< of data, in bytes
    std::vector<std::byte> bytes; ///< the whole entry, in one piece

    /// Whether success yields a CQE.
    [[nodiscard]] bool signaled() const {
        return completion == CompletionMode::always ||
               completion == CompletionMode::always_with_event;
    }
    /// The bytes behind the control segment.
    [[nodiscard]] std::span<const std::byte> body() const {
        return std::span(bytes).subspan(hwtab::wqe_ctrl_seg.size);
    }
};

/// Why an entry can't be executed. The number is the vendor syndrome of the error completion.
enum class DecodeError : std::uint8_t {
    empty = 0x81,       ///< ds is 0: there is no length
    too_long,           ///< longer than max_wqe_sz_sq or than what has been posted
    unknown_opcode,     ///< the device has no such operation
    opcode_not_allowed, ///< not for this transport service
    segment_missing,    ///< the entry ends within a segment that the operation needs
    inline_too_long,    ///< inline data goes on behind the end of the entry
    inline_not_allowed, ///< responses can't be written to the entry
    message_too_long,   ///< longer than the queue pair may send
    bad_atomic_length,  ///< the response of an atomic operation isn't as long as its operand
    unreachable,        ///< host memory refused to be read
    bad_signature,      ///< the checksum of the entry is wrong
    unknown_variant,    ///< op_mod says what the operation doesn't have
};

/// "inline data goes on behind the end of the entry"
std::string_view describe(DecodeError error);

/// What the decoder has to know about the queue pair.
struct DecodeContext {
    ServiceType service = ServiceType::reliable_connection;
    std::uint32_t log_max_message = 30; ///< longest message in bytes, log2
    bool has_signatures = false;        ///< entries carry a checksum
};

/// Head of an entry: what is needed to find the next one.
struct CtrlSegment {
    std::uint8_t opcode = 0;
    std::uint8_t octwords = 0; ///< length in 16-byte units; 0 is invalid
    std::uint16_t index = 0;   ///< as software wrote it
    std::uint32_t queue_pair = 0;
    CompletionMode completion = CompletionMode::always;

    [[nodiscard]] std::uint16_t blocks() const { return (octwords + 3U) / 4U; }
};

/// \pre control has at least hwtab::wqe_ctrl_seg.size bytes
CtrlSegment decode_head(std::span<const std::byte> control);

/// \param bytes the whole entry, as long as its head says, at least a control segment
std::expected<SendWqe, DecodeError> decode(const DecodeContext& context,
                                               std::vector<std::byte> bytes);

} // namespace cxemu::queues
