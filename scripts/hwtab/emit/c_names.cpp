// SPDX-License-Identifier: GPL-2.0-or-later
#include "emit/banner.hpp"
#include "emit/c_text.hpp"
#include "emit/emitters.hpp"
#include "emit/text.hpp"

#include <set>

namespace hwtab::emit {

namespace {

/// Builds a function that names numbers.
class NameFunction {
public:
    NameFunction(std::string name, bool wide) : name_(std::move(name)), wide_(wide) {}

    /// If a number has two names, the first one is used.
    void add(std::uint64_t number, const std::string& constant, std::string_view text) {
        if (numbers_.insert(number).second) {
            cases_ += join("\tcase ", constant, ":\n\t\treturn \"", text, "\";\n");
        }
    }

    [[nodiscard]] std::string prototype() const {
        return join("const char *hw_", name_, wide_ ? "_name(u64 value)" : "_name(u32 value)");
    }

    [[nodiscard]] std::string definition() const {
        return join('\n', prototype(), "\n{\n\tswitch (value) {\n", cases_,
                    "\tdefault:\n\t\treturn \"unknown\";\n\t}\n}\n");
    }

private:
    std::string name_;
    bool wide_;
    std::set<std::uint64_t> numbers_;
    std::string cases_;
};

NameFunction names_of(const Enumeration& enumeration) {
    NameFunction function(identifier(enumeration.name), is_wide(enumeration));
    for (const Value& value : enumeration.values) {
        function.add(value.value, c_name(enumeration, value), value.name);
    }
    return function;
}

NameFunction names_of_commands(const Catalogue& catalogue) {
    NameFunction function("cmd", false);
    for (const Group* group : catalogue.groups()) {
        for (const Command* command : group->commands) {
            function.add(command->opcode, c_name(*command), command->name);
        }
    }
    return function;
}

std::vector<NameFunction> all_functions(const Catalogue& catalogue) {
    std::vector<NameFunction> functions{names_of_commands(catalogue)};
    for (const Group* group : catalogue.groups()) {
        for (const Enumeration* enumeration : catalogue.enumerations_of(*group)) {
            if (enumeration->has_names) {
                functions.push_back(names_of(*enumeration));
            }
        }
    }
    return functions;
}

std::string header(const Catalogue& catalogue, const std::vector<NameFunction>& functions) {
    std::string result =
        join(banner(Comment::c_header, catalogue.dump()),
             "\n/* Texts for numbers, as messages need them: what has no name is \"unknown\". */\n"
             "#ifndef HW_NAMES_H\n#define HW_NAMES_H\n\n#include <linux/types.h>\n\n");
    for (const NameFunction& function : functions) {
        result += function.prototype() + ";\n";
    }
    return result + "\n#endif /* HW_NAMES_H */\n";
}

std::string source(const Catalogue& catalogue, const std::vector<NameFunction>& functions) {
    std::string result = join(banner(Comment::c_source, catalogue.dump()), "\n");
    for (const Group* group : catalogue.groups()) {
        if (!group->is_for_device_only) {
            result += join("#include \"", group->name, ".h\"\n");
        }
    }
    result += "#include \"names.h\"\n";
    for (const NameFunction& function : functions) {
        result += function.definition();
    }
    return result;
}

} // namespace

std::vector<File> emit_names(const Catalogue& catalogue) {
    const std::vector<NameFunction> functions = all_functions(catalogue);
    return {{.path = "include/hw/names.h", .content = header(catalogue, functions)},
            {.path = "include/hw/names.c", .content = source(catalogue, functions)}};
}

} // namespace hwtab::emit
