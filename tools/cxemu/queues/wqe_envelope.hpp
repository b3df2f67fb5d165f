// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// What WQEs contribute to an envelope.
#pragma once

#include "check/envelope.hpp"
#include "queues/qp_values.hpp"

#include <cstddef>
#include <span>
#include <string_view>

namespace cxemu::queues {

/// Records a send WQE. Each segment is a separate subject, "send SERVICE OPCODE SEGMENT". The
/// segments of a UMR are recorded when it is executed, because only then the kind of the mkey is
/// known.
/// \param entry a WQE that decode() has accepted
void record_send(check::Envelope& envelope, ServiceType service, std::span<const std::byte> entry);

/// Records the data segments of a receive WQE, up to the one that ends the list.
/// \param queue kind of the receive queue: "own" or "shared"
void record_receive(check::Envelope& envelope, std::string_view queue,
                    std::span<const std::byte> segments);

} // namespace cxemu::queues
