// SPDX-License-Identifier: GPL-2.0-or-later
/// @file
/// Refuses to compile when a hardware table breaks a rule. Part of the generator and of cxemu.
#include "hwtab/verify.hpp"
#include "tables/all.hpp"

static_assert(hwtab::all_verified<hwtab::all_groups>);
