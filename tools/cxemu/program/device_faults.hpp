// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Carries out what a fault plan says about whole devices.
#pragma once

#include "check/fault_rule.hpp"
#include "program/adapter.hpp"

namespace cxemu::program {

/// Does to \p adapter what \p fault says, now.
void strike(Adapter& adapter, const check::DeviceFault& fault);

} // namespace cxemu::program
