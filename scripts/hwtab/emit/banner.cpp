// SPDX-License-Identifier: GPL-2.0-or-later
#include "emit/banner.hpp"

#include "emit/text.hpp"

namespace hwtab::emit {

std::string banner(Comment style, std::string_view dump) {
    constexpr std::string_view licence = "SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause";
    constexpr std::size_t digits = 16;
    const std::string origin =
        join(banner_mark, generator_version, " from tables ", hex(digest(dump), digits));
    constexpr std::string_view advice = "change scripts/hwtab/tables, then run 'make tables'.";
    switch (style) {
    case Comment::c_source:
        return join("// ", licence, "\n/* ", origin, ":\n * ", advice, "\n */\n");
    case Comment::c_header:
        return join("/* ", licence, " */\n/* ", origin, ":\n * ", advice, "\n */\n");
    }
    return {};
}

} // namespace hwtab::emit
