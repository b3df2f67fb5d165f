// SPDX-License-Identifier: GPL-2.0-or-later
#include "emit/banner.hpp"
#include "emit/c_accessors.hpp"
#include "emit/c_text.hpp"
#include "emit/c_values.hpp"
#include "emit/emitters.hpp"
#include "emit/text.hpp"

namespace hwtab::emit {

namespace {

std::string includes(const Catalogue& catalogue, const Group& group) {
    std::string result = "#include \"access.h\"\n";
    for (const Group* needed : catalogue.needed_by(group)) {
        result += join("#include \"", needed->name, ".h\"\n");
    }
    return result;
}

std::string content(const Catalogue& catalogue, const Group& group) {
    const std::string guard = upper(join("hw_", identifier(group.name), "_h"));
    std::string result = join(banner(Comment::c_header, catalogue.dump_of(group)), "\n",
                              comment(join(group.title, ": ", group.meaning)), "#ifndef ", guard,
                              "\n#define ", guard, "\n\n", includes(catalogue, group));
    for (const Enumeration* enumeration : catalogue.enumerations_of(group)) {
        result += c_values(*enumeration);
    }
    result += c_opcodes(group) + c_registers(group);
    for (const Layout* layout : Catalogue::in_order_of_use(group)) {
        result += join(c_offsets(*layout), '\n', c_struct(*layout), c_accessors(*layout),
                       c_packers(*layout));
    }
    return join(result, "\n#endif /* ", guard, " */\n");
}

} // namespace

std::vector<File> emit_headers(const Catalogue& catalogue) {
    std::vector<File> files;
    for (const Group* group : catalogue.groups()) {
        if (!group->is_for_device_only) {
            files.push_back({.path = join("include/hw/", group->name, ".h"),
                             .content = content(catalogue, *group)});
        }
    }
    return files;
}

} // namespace hwtab::emit
