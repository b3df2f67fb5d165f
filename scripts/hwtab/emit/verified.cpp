// SPDX-License-Identifier: GPL-2.0-or-later
/// @file
/// Does not compile if a hardware table violates a rule. Part of the generator and of cxemu.
#include "hwtab/verify.hpp"
#include "tables/all.hpp"

static_assert(hwtab::all_verified<hwtab::all_groups>);
