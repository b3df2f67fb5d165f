// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/// @file
/// Named values of contexts, events and commands.
#pragma once

#include "hwtab/model.hpp"

#include <array>

namespace hwtab {} // namespace hwtab
