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

/// The list starts where its elements may only start with a packed attribute.
bool is_misaligned(const Layout& layout, const Field& list) {
    return list.layout == nullptr && layout.size % (list.width / bits_per_byte) != 0;
}

std::string description(const Layout& layout, const Field* list) {
    std::string result = "/**\n";
    const std::string head = join("struct ", c_name(layout), " - ", without_stop(layout.meaning));
    constexpr std::size_t width = 96;
    bool first = true;
    for (const std::string& line : wrap(head, width)) {
        result += join(first ? " * " : " *\t", line, '\n');
        first = false;
    }
    if (layout.size != 0) {
        result += " * @dw: its words\n";
    }
    if (list != nullptr) {
        first = true;
        for (const std::string& line :
             wrap(join('@', variable(list->name), ": ", without_stop(list->meaning)), width)) {
            result += join(first ? " * " : " *\t", line, '\n');
            first = false;
        }
    }
    return result + " */\n";
}

std::string members(const Layout& layout, const Field* list) {
    std::string result;
    if (layout.size != 0) {
        result += join("\t__be32 dw[", layout.size * bits_per_byte / bits_per_word, "];\n");
    }
    if (list == nullptr) {
        return result;
    }
    const std::string name = variable(list->name);
    return result + (layout.size != 0
                         ? join('\t', element_type(*list), ' ', name, "[];\n")
                         : join("\tDECLARE_FLEX_ARRAY(", element_type(*list), ", ", name, ");\n"));
}

} // namespace

std::string c_struct(const Layout& layout) {
    const Field* list = nullptr;
    if (!layout.fields.empty() && layout.fields.back().is_list()) {
        list = &layout.fields.back();
    }
    const bool packed = list != nullptr && is_misaligned(layout, *list);
    const std::string type = join("struct ", c_name(layout));
    return join(description(layout, list), type, " {\n", members(layout, list), '}',
                packed ? " __packed __aligned(4)" : "", ";\n\nstatic_assert(sizeof(", type,
                ") == ", hex(layout.size), ");\n");
}

} // namespace hwtab::emit
