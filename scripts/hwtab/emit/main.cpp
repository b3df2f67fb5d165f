// SPDX-License-Identifier: GPL-2.0-or-later
/// @file
/// hwtab: generates files from the hardware tables.
#include "emit/catalogue.hpp"
#include "emit/emitters.hpp"
#include "emit/output.hpp"
#include "tables/all.hpp"

#include <filesystem>
#include <iostream>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace hwtab::emit;
namespace fs = std::filesystem;

constexpr std::string_view usage =
    "usage: hwtab --write DIRECTORY | --check DIRECTORY | --reference DIRECTORY | --json FILE\n"
    "\n"
    "  --write DIRECTORY      bring the generated files of that source tree up to date\n"
    "  --check DIRECTORY      name the generated files that are not; status 1 if there are any\n"
    "  --reference DIRECTORY  write the reference pages, in reStructuredText\n"
    "  --json FILE            write the tables as JSON\n";

constexpr int status_failure = 1;
constexpr int status_usage = 2;

std::vector<File> all_files(const Catalogue& catalogue) {
    std::vector<File> files;
    for (auto* emit : {emit_headers, emit_names}) {
        std::ranges::move(emit(catalogue), std::back_inserter(files));
    }
    return files;
}

int fail(const std::string& message) {
    std::cerr << "hwtab: " << message << '\n';
    return status_failure;
}

int write(const Catalogue& catalogue, const fs::path& root) {
    const auto changes = write_files(root, all_files(catalogue));
    if (!changes) {
        return fail(changes.error());
    }
    for (const fs::path& path : changes->written) {
        std::cout << "written  " << path.string() << '\n';
    }
    for (const fs::path& path : changes->removed) {
        std::cout << "removed  " << path.string() << '\n';
    }
    return 0;
}

int check(const Catalogue& catalogue, const fs::path& root) {
    const std::vector<File> files = all_files(catalogue);
    const std::vector<fs::path> stale = stale_files(root, files);
    for (const fs::path& path : stale) {
        std::cerr << "stale: " << path.string() << '\n';
    }
    if (!stale.empty()) {
        return fail("these files are not what the tables say; run 'make tables'");
    }
    std::cout << files.size() << " generated files are up to date\n";
    return 0;
}

int write_reference(const Catalogue& catalogue, const fs::path& directory) {
    const auto changes = write_files(directory, emit_reference(catalogue));
    return changes ? 0 : fail(changes.error());
}

int write_json(const Catalogue& catalogue, const fs::path& path) {
    const auto changes =
        write_files(path.parent_path(), {{.path = path.filename(), .content = catalogue.dump()}});
    return changes ? 0 : fail(changes.error());
}

} // namespace

int main(int count, char** values) {
    const std::vector<std::string_view> arguments(values + 1, values + count);
    if (arguments.size() == 1 && arguments[0] == "--help") {
        std::cout << usage;
        return 0;
    }
    if (arguments.size() != 2) {
        std::cerr << "hwtab: one option and its value are needed\n" << usage;
        return status_usage;
    }
    const Catalogue catalogue{hwtab::all_groups};
    const fs::path place{arguments[1]};
    if (arguments[0] == "--write") {
        return write(catalogue, place);
    }
    if (arguments[0] == "--check") {
        return check(catalogue, place);
    }
    if (arguments[0] == "--reference") {
        return write_reference(catalogue, place);
    }
    if (arguments[0] == "--json") {
        return write_json(catalogue, place);
    }
    std::cerr << "hwtab: unknown option '" << arguments[0] << "'\n" << usage;
    return status_usage;
}
