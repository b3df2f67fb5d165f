// SPDX-License-Identifier: GPL-2.0-or-later
/// @file
/// The emitters: each one generates files from the whole catalogue.
#pragma once

#include "emit/catalogue.hpp"
#include "emit/output.hpp"

#include <vector>

namespace hwtab::emit {

/// `include/hw/<group>.h`
[[nodiscard]] std::vector<File> emit_headers(const Catalogue& catalogue);

/// include/hw/names.h and names.c: texts for numbers.
[[nodiscard]] std::vector<File> emit_names(const Catalogue& catalogue);

/// `<group>.rst` and `index.rst`: pages for `make docs`.
[[nodiscard]] std::vector<File> emit_reference(const Catalogue& catalogue);

} // namespace hwtab::emit
