// SPDX-License-Identifier: GPL-2.0-or-later
#include "emit/c_accessors.hpp"
#include "emit/c_text.hpp"
#include "emit/text.hpp"

namespace hwtab::emit {

namespace {

std::string element_type(const Field& list) {
    if (list.layout != nullptr) {
        return join("struct ", c_name(*list.layout));
    }
    return list.width == bits_per_byte ? "u8" : join("__be", list.width);
}

/// The list starts at an offset at which its elements can start only with a packed attribute.
bool is_misaligned(const Layout& layout, const Field& list) {
    return list.layout == nullptr && layout.size % (list.width / bits_per_byte) != 0;
}

std::string list_member(const Layout& layout, const Field& list) {
    const std::string name = variable(list.name);
    const std::string declaration =
        layout.size != 0 ? join(element_type(list), ' ', name, "[];")
                         : join("DECLARE_FLEX_ARRAY(", element_type(list), ", ", name, ");");
    return join(comment(list.meaning, "\t"), '\t', declaration, '\n');
}

std::string words(const Layout& layout) {
    return join("__be32 dw[", layout.size * bits_per_byte / bits_per_word, "];");
}

} // namespace

std::string c_struct(const Layout& layout) {
    const std::string type = join("struct ", c_name(layout));
    if (layout.fields.empty() || !layout.fields.back().is_list()) {
        return join(comment(layout.meaning), type, " { ", words(layout), " };\n");
    }
    const Field& list = layout.fields.back();
    return join(comment(layout.meaning), type, " {\n",
                layout.size != 0 ? join('\t', words(layout), '\n') : std::string{},
                list_member(layout, list), '}',
                is_misaligned(layout, list) ? " __packed __aligned(4)" : "",
                ";\n\nstatic_assert(sizeof(", type, ") == ", hex(layout.size), ");\n");
}

} // namespace hwtab::emit
