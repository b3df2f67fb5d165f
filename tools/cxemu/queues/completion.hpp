// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Contents of CQEs.
#pragma once

#include "hwtab/view.hpp"
#include "tables/completion.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace cxemu::queues {

enum class CompletionOpcode : std::uint8_t {
    requester = hwtab::value<hwtab::cqe_opcode, "req">,
    write_immediate = hwtab::value<hwtab::cqe_opcode, "resp_wr_imm">,
    send = hwtab::value<hwtab::cqe_opcode, "resp_send">,
    send_immediate = hwtab::value<hwtab::cqe_opcode, "resp_send_imm">,
    send_invalidate = hwtab::value<hwtab::cqe_opcode, "resp_send_inv">,
    no_packet = hwtab::value<hwtab::cqe_opcode, "no_packet">, ///< of tag matching
    resize = hwtab::value<hwtab::cqe_opcode, "resize_cq">,
    signature_error = hwtab::value<hwtab::cqe_opcode, "sig_err">,
    requester_error = hwtab::value<hwtab::cqe_opcode, "req_err">,
    responder_error = hwtab::value<hwtab::cqe_opcode, "resp_err">,
};

/// Syndrome of an error CQE.
enum class CompletionError : std::uint8_t {
    local_length = hwtab::value<hwtab::cqe_syndrome, "local_length_err">,
    local_operation = hwtab::value<hwtab::cqe_syndrome, "local_qp_op_err">,
    local_protection = hwtab::value<hwtab::cqe_syndrome, "local_prot_err">,
    flushed = hwtab::value<hwtab::cqe_syndrome, "wr_flush_err">,
    window_bind = hwtab::value<hwtab::cqe_syndrome, "mw_bind_err">,
    bad_response = hwtab::value<hwtab::cqe_syndrome, "bad_resp_err">,
    local_access = hwtab::value<hwtab::cqe_syndrome, "local_access_err">,
    remote_invalid_request = hwtab::value<hwtab::cqe_syndrome, "remote_inval_req_err">,
    remote_access = hwtab::value<hwtab::cqe_syndrome, "remote_access_err">,
    remote_operation = hwtab::value<hwtab::cqe_syndrome, "remote_op_err">,
    transport_retries = hwtab::value<hwtab::cqe_syndrome, "transport_retry_exc_err">,
    rnr_retry_exceeded = hwtab::value<hwtab::cqe_syndrome, "rnr_retry_exc_err">,
    remote_aborted = hwtab::value<hwtab::cqe_syndrome, "remote_aborted_err">,
};

/// Report of tag matching.
enum class TagReport : std::uint8_t {
    matched = hwtab::value<hwtab::cqe_app_op, "tm_consumed">, ///< the data follows
    data_complete = hwtab::value<hwtab::cqe_app_op, "tm_expected">,
    unexpected = hwtab::value<hwtab::cqe_app_op, "tm_unexpected">,
    no_tag = hwtab::value<hwtab::cqe_app_op, "tm_no_tag">,
    appended = hwtab::value<hwtab::cqe_app_op, "tm_append">,
    removed = hwtab::value<hwtab::cqe_app_op, "tm_remove">,
    synchronized = hwtab::value<hwtab::cqe_app_op, "tm_noop">,
    matched_with_data = hwtab::value<hwtab::cqe_app_op, "tm_consumed_msg">,
    matched_for_software = hwtab::value<hwtab::cqe_app_op, "tm_consumed_msg_sw_rndv">,
    canceled = hwtab::value<hwtab::cqe_app_op, "tm_msg_completion_canceled">,
};

/// Format of a CQE: where the data of the message is.
enum class CompletionFormat : std::uint8_t {
    no_data = hwtab::value<hwtab::cqe_format, "no_inline_data">,
    data_in_entry = hwtab::value<hwtab::cqe_format, "inline_data32_seg">,      ///< 32 bytes
    data_in_first_half = hwtab::value<hwtab::cqe_format, "inline_data64_seg">, ///< 64 bytes
    compressed = hwtab::value<hwtab::cqe_format, "compressed">, ///< mini entries follow
};

/// Where the GRH of a received packet is.
enum class GrhLocation : std::uint8_t {
    none = hwtab::value<hwtab::cqe_grh_location, "none">,
    buffer = hwtab::value<hwtab::cqe_grh_location, "buffer">,
    completion = hwtab::value<hwtab::cqe_grh_location, "cqe">,
};

/// A CQE before it is written, without the owner bit, which the CQ sets.
struct Completion {
    CompletionOpcode opcode = CompletionOpcode::requester;
    CompletionFormat format = CompletionFormat::no_data;
    bool solicited = false;     ///< the sender asked for an event
    bool forces_event = false;  ///< an event even if the queue isn't armed
    bool is_management = false; ///< of QP0 or QP1
    std::array<std::byte, hwtab::cqe64.size> entry{};
    std::array<std::byte, hwtab::cqe_inline_data.size> first_half{}; ///< in queues of 128 bytes

    /// Fields of a success CQE.
    [[nodiscard]] hwtab::View<hwtab::cqe64> fields() { return hwtab::View<hwtab::cqe64>{entry}; }
    /// Fields of a CQE of a tag list operation.
    [[nodiscard]] hwtab::View<hwtab::tm_cqe> tag_fields() {
        return hwtab::View<hwtab::tm_cqe>{entry};
    }
    /// Fields of an error CQE.
    [[nodiscard]] hwtab::View<hwtab::err_cqe> error_fields() {
        return hwtab::View<hwtab::err_cqe>{entry};
    }
    /// Fields of a signature error CQE.
    [[nodiscard]] hwtab::View<hwtab::sig_err_cqe> signature_fields() {
        return hwtab::View<hwtab::sig_err_cqe>{entry};
    }

    [[nodiscard]] bool is_error() const {
        return opcode == CompletionOpcode::requester_error ||
               opcode == CompletionOpcode::responder_error;
    }
};

} // namespace cxemu::queues
