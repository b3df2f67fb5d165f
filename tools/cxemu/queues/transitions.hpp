// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The QP state machine: start and end state of each command, and the fields it copies from its
/// input.
#pragma once

#include "hwtab/model.hpp"
#include "queues/qp_values.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace cxemu::queues {

/// Bits of a context.
struct BitRange {
    std::uint32_t offset; ///< from the start of the structure
    std::uint32_t width;
};

/// A field that a transition copies if its bit in opt_param_mask is set.
struct OptionalField {
    std::uint64_t mask; ///< bit of hwtab::qp_optional_parameters
    BitRange bits;
};

/// Services with the same rules.
enum class ServiceGroup : std::uint8_t {
    reliable,    ///< RC, XRC, DC initiators
    unreliable,  ///< UC
    datagram,    ///< UD, QP0, QP1
    registration ///< REG_UMR
};
inline constexpr std::size_t service_groups = 4;

ServiceGroup group_of(ServiceType service);

struct Transition {
    const hwtab::Command* command;
    QueuePairState from;
    QueuePairState to;
    std::span<const BitRange> required;     ///< always copied
    std::uint64_t optional[service_groups]; ///< mask bits that are allowed, by ServiceGroup
};

/// Transitions that carry a context. 2ERR and 2RST don't, and start in any state.
std::span<const Transition> transitions();

/// \return the transition that \p opcode stands for, or nullptr
const Transition* find_transition(std::uint16_t opcode);

/// Copies the required fields of \p transition and the optional fields of \p mask.
/// \param input, context of the layout qpc
void take_over(const Transition& transition, std::uint64_t mask, std::span<const std::byte> input,
               std::span<std::byte> context);

} // namespace cxemu::queues
