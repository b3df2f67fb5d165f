// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Send WQEs, decoded and checked.
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
/// Masked atomics have an operand size in opmod.
constexpr bool has_masks(SendOpcode opcode) {
    return opcode == SendOpcode::masked_compare_swap || opcode == SendOpcode::masked_fetch_add;
}
/// Local operation: no packet is sent.
constexpr bool is_local(SendOpcode opcode) {
    return opcode == SendOpcode::nop || opcode == SendOpcode::set_psv ||
           opcode == SendOpcode::reg_umr || opcode == SendOpcode::tag_matching;
}

/// Outstanding WQEs that a WQE waits for before it starts.
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

/// Address vector of a datagram or DCI WQE.
struct AddressVector {
    std::uint32_t queue_key = 0;
    std::uint64_t access_key = 0;     ///< DC access key, instead of the Q_Key
    std::uint32_t destination_qp = 0; ///< 24 bits
    std::uint16_t remote_lid = 0;
    std::uint8_t path_bits = 0; ///< SLID path bits: added to the base LID of the port
    std::uint8_t service_level = 0;
    std::uint8_t static_rate = 0; ///< IB rate encoding plus 5, or 0
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

/// Operands of an atomic operation on one word: 8 bytes, or 4 in the lower half. Unmasked
/// operations have masks of all ones (compare and swap) or 0 (fetch and add: one field of 64 bits).
struct AtomicOperands {
    std::uint64_t swap_or_add = 0;
    std::uint64_t compare = 0;
    std::uint64_t swap_or_add_mask = 0;
    std::uint64_t compare_mask = 0;
};

/// Inline data: a part of SendWqe::bytes.
struct InlineData {
    std::uint32_t offset = 0;
    std::uint32_t length = 0;
};

using DataPiece = std::variant<memory::DataSegment, InlineData>;

struct SendWqe {
    std::uint16_t index = 0;  ///< in the SQ, in WQEBBs, modulo 2^16
    std::uint16_t blocks = 1; ///< length in WQEBBs
    SendOpcode opcode = SendOpcode::nop;
    std::uint8_t op_mod = 0;
    Fence fence = Fence::none;
    CompletionMode completion = CompletionMode::always;
    bool solicited = false;
    std::uint32_t immediate = 0;          ///< immediate data, R_Key to invalidate, or mkey of a UMR
    std::optional<std::uint32_t> xrc_srq; ///< XRC SRQ at the responder
    std::optional<AddressVector> address; ///< datagrams and DCI
    std::uint16_t stream = 0;             ///< of a DCI
    std::optional<RemoteAddress> remote;  ///< RDMA and atomic operations
    std::optional<AtomicOperands> atomic;
    std::vector<AtomicOperands> more_words; ///< of an atomic operation on 16 or 32 bytes
    std::vector<DataPiece>
        data;                 ///< gather list; scatter list of the response for reads and atomics
    std::uint64_t length = 0; ///< of data, in bytes
    std::vector<std::byte> bytes; ///< the whole WQE, contiguous

    /// Whether success is reported by a CQE.
    [[nodiscard]] bool signaled() const {
        return completion == CompletionMode::always ||
               completion == CompletionMode::always_with_event;
    }
    /// The bytes behind the control segment.
    [[nodiscard]] std::span<const std::byte> body() const {
        return std::span(bytes).subspan(hwtab::wqe_ctrl_seg.size);
    }
};

/// Why a WQE can't be executed. The value is the vendor syndrome of the error CQE.
enum class DecodeError : std::uint8_t {
    empty = 0x81,       ///< ds is 0: there is no length
    too_long,           ///< longer than max_wqe_sz_sq or than the posted WQEBBs
    unknown_opcode,     ///< unsupported opcode
    opcode_not_allowed, ///< not valid for this transport service
    segment_missing,    ///< the WQE ends within a required segment
    inline_too_long,    ///< inline data extends beyond the WQE
    inline_not_allowed, ///< responses can't be scattered to inline data
    message_too_long,   ///< longer than log_msg_max
    bad_atomic_length,  ///< the scatter list of an atomic operation isn't as long as its operand
    unreachable,        ///< host memory can't be read
    bad_signature,      ///< the WQE signature is wrong
    no_operand_size,    ///< opmod of a masked atomic names no operand size
    bad_operand_size,   ///< the device has no masked atomics of this operand size
};

/// "inline data extends beyond the WQE"
std::string_view describe(DecodeError error);

/// QP attributes for the decoder.
struct DecodeContext {
    ServiceType service = ServiceType::reliable_connection;
    std::uint32_t log_max_message = 30; ///< maximum message length in bytes, log2
    bool has_signatures = false;        ///< WQEs are signed
    std::uint64_t atomic_sizes = 0x3c;  ///< of masked atomics: one bit for each power of two
};

/// Control segment of a WQE: the fields needed to find the next one.
struct CtrlSegment {
    std::uint8_t opcode = 0;
    std::uint8_t ds = 0;     ///< length in 16-byte units; 0 is invalid
    std::uint16_t index = 0; ///< from the WQE
    std::uint32_t queue_pair = 0;
    CompletionMode completion = CompletionMode::always;

    [[nodiscard]] std::uint16_t blocks() const { return (ds + 3U) / 4U; }
};

/// Operand size in bytes that the opmod of a masked atomic names; 0: none.
std::size_t masked_operand_size(std::uint64_t op_mod);
/// Bytes of the operands of a masked atomic in its WQE.
/// \param size of one operand, in bytes
std::size_t masked_operands_length(SendOpcode opcode, std::size_t size);

/// \pre control has at least hwtab::wqe_ctrl_seg.size bytes
CtrlSegment decode_head(std::span<const std::byte> control);

/// \param bytes the whole WQE, of the length in its control segment
std::expected<SendWqe, DecodeError> decode(const DecodeContext& context,
                                           std::vector<std::byte> bytes);

} // namespace cxemu::queues
