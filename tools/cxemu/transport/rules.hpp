// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Rules of the strict checker about the transport.
#pragma once

#include "check/rule.hpp"

namespace cxemu::transport::rules {

inline constexpr check::Rule destroyed_while_attached{
    "destroyed_while_attached", "A QP was destroyed while it was attached to multicast groups."};

} // namespace cxemu::transport::rules
