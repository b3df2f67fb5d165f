// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Named values of the QPC.
#pragma once

#include "hwtab/view.hpp"
#include "tables/contexts.hpp"
#include "tables/object_values.hpp"

#include <cstdint>
#include <string_view>

namespace cxemu::queues {

enum class QueuePairState : std::uint8_t {
    reset = hwtab::value<hwtab::qp_state, "rst">,
    init = hwtab::value<hwtab::qp_state, "init">,
    ready_to_receive = hwtab::value<hwtab::qp_state, "rtr">,
    ready_to_send = hwtab::value<hwtab::qp_state, "rts">,
    send_queue_error = hwtab::value<hwtab::qp_state, "sqer">,
    send_queue_drained = hwtab::value<hwtab::qp_state, "sqd">,
    error = hwtab::value<hwtab::qp_state, "err">,
    send_queue_draining = hwtab::value<hwtab::qp_state, "sq_draining">,
};

/// "rts": name in the hardware tables
inline std::string_view name_of(QueuePairState state) {
    return hwtab::name_of(hwtab::qp_state, static_cast<std::uint8_t>(state));
}

enum class ServiceType : std::uint8_t {
    reliable_connection = hwtab::value<hwtab::qp_service_type, "rc">,
    unreliable_connection = hwtab::value<hwtab::qp_service_type, "uc">,
    unreliable_datagram = hwtab::value<hwtab::qp_service_type, "ud">,
    extended_reliable_connection = hwtab::value<hwtab::qp_service_type, "xrc">,
    dci = hwtab::value<hwtab::qp_service_type, "dci">,
    dct = hwtab::value<hwtab::qp_service_type, "dct">,
    subnet_management = hwtab::value<hwtab::qp_service_type, "qp0">,
    general_services = hwtab::value<hwtab::qp_service_type, "qp1">,
    reg_umr = hwtab::value<hwtab::qp_service_type, "reg_umr">,
};

inline std::string_view name_of(ServiceType service) {
    return hwtab::name_of(hwtab::qp_service_type, static_cast<std::uint8_t>(service));
}

/// The special QP0 and QP1.
constexpr bool is_management(ServiceType service) {
    return service == ServiceType::subnet_management || service == ServiceType::general_services;
}

/// UD, and the special QP0 and QP1.
constexpr bool is_datagram(ServiceType service) {
    return service == ServiceType::unreliable_datagram || is_management(service);
}

/// DCI and DCT.
constexpr bool is_dynamic(ServiceType service) {
    return service == ServiceType::dci || service == ServiceType::dct;
}

/// Source of receive WQEs.
enum class ReceiveSource : std::uint8_t {
    own_queue = hwtab::value<hwtab::qp_rq_type, "non_zero_rq">,
    shared_queue = hwtab::value<hwtab::qp_rq_type, "srq_rq">,
    none = hwtab::value<hwtab::qp_rq_type, "zero_len_rq">,
};

} // namespace cxemu::queues
