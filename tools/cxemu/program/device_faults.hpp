// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Device faults of a fault plan.
#pragma once

#include "check/fault_rule.hpp"
#include "program/adapter.hpp"

namespace cxemu::program {

/// Injects \p fault into \p adapter.
void inject(Adapter& adapter, const check::DeviceFault& fault);

} // namespace cxemu::program
