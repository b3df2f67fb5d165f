// SPDX-License-Identifier: GPL-2.0-or-later
//
// Options, --help, the manual page and the example agree.
#include "program/command_line.hpp"
#include "program/configuration.hpp"

#include <algorithm>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <regex>
#include <set>

namespace cxemu::program {
namespace {

using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using Names = std::set<std::string>;

const std::filesystem::path sources = CXEMU_SOURCES;

std::string text_of(const std::filesystem::path& file) {
    std::ifstream stream(file);
    EXPECT_TRUE(stream) << file;
    return {std::istreambuf_iterator<char>(stream), {}};
}

/// Text of the manual page, without markup.
std::string manual_page() {
    std::string text = text_of(sources / "cxemu.1");
    text = std::regex_replace(text, std::regex(R"(\\-)"), "-");
    text = std::regex_replace(text, std::regex(R"(\\f[BIRP])"), "");
    return std::regex_replace(text, std::regex(R"(["])"), " ");
}

/// Every match of the first group of \p expression.
Names names_in(const std::string& text, const std::string& expression) {
    const std::regex pattern(expression);
    Names names;
    for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match)
        names.insert((*match)[1]);
    return names;
}

Names options_in(const std::string& text) {
    return names_in(text, R"((?:^|[^-a-z])--([a-z][a-z-]*))");
}

/// The names of keys, as options have them.
Names as_options(const std::vector<std::string>& keys) {
    Names names;
    for (std::string key : keys) {
        std::ranges::replace(key, '_', '-');
        names.insert(std::move(key));
    }
    return names;
}

Names all_keys() {
    Names keys;
    std::ranges::copy(configuration_keys(), std::inserter(keys, keys.end()));
    std::ranges::copy(hca_configuration_keys(), std::inserter(keys, keys.end()));
    keys.insert("socket");
    return keys;
}

TEST(Documents, ManualPageListsOptionsExactly) {
    EXPECT_EQ(options_in(manual_page()), options_in(command_line_help()));
}

TEST(Documents, ConfigurationKeysMatchOptions) {
    Names options = options_in(command_line_help());
    for (const char* other : {"help", "config", "hca", "capability", "list-profiles", "verbose"})
        EXPECT_EQ(options.erase(other), 1U) << other;
    Names keys = as_options(configuration_keys());
    keys.merge(as_options(hca_configuration_keys()));
    for (const char* other : {"defaults", "hca", "capabilities"})
        EXPECT_EQ(keys.erase(other), 1U) << other;
    EXPECT_EQ(keys, options);
}

TEST(Documents, ManualPageHasEveryKey) {
    const std::string page = manual_page();
    const std::string section =
        page.substr(page.find("CONFIGURATION FILE"),
                    page.find("CONTROL SOCKET") - page.find("CONFIGURATION FILE"));
    EXPECT_THAT(names_in(section, R"(([a-z][a-z_]*))"), IsSupersetOf(all_keys()));
}

TEST(Documents, ExampleHasEveryKeyAndNoOther) {
    const std::string example = text_of(sources / "cxemu.toml");
    Names keys = names_in(example, R"(\n([a-z_]+) = )");
    keys.merge(names_in(example, R"(\n\[+([a-z]+)\])"));
    keys.merge(names_in(example, R"(\n\[defaults\.([a-z]+)\])"));
    EXPECT_EQ(keys.erase("log_max_qp"), 1U) << "a capability";
    EXPECT_EQ(keys, all_keys());
}

TEST(Documents, ExampleHasDefaultValues) {
    Options example;
    const auto read = read_configuration(sources / "cxemu.toml", example);
    ASSERT_TRUE(read) << read.error();
    ASSERT_TRUE(check(example)) << check(example).error();
    Options nothing;
    nothing.hcas.emplace_back().socket = "/run/hca0";
    const auto shown = *settings_of(example, 0);
    const auto usual = *settings_of(nothing, 0);
    EXPECT_EQ(shown.profile, usual.profile);
    EXPECT_EQ(shown.virtual_function, usual.virtual_function);
    EXPECT_EQ(shown.node_guid, usual.node_guid);
    EXPECT_EQ(shown.msix_vectors, usual.msix_vectors);
    EXPECT_EQ(shown.ports, usual.ports);
    EXPECT_EQ(shown.pages.boot, usual.pages.boot);
    EXPECT_EQ(shown.pages.init, usual.pages.init);
    EXPECT_EQ(shown.pages.regular, usual.pages.regular);
    EXPECT_EQ(shown.command_checksums, usual.command_checksums);
    EXPECT_EQ(shown.write_combining, usual.write_combining);
    EXPECT_EQ(link_of(example, 0)->speed, link_of(nothing, 0)->speed);
    EXPECT_EQ(link_of(example, 0)->width, link_of(nothing, 0)->width);
}

TEST(Documents, ManualPageListsSourcesOfProfiles) {
    const std::string page = manual_page();
    for (const hca::Origin* origin : hca::origins::all)
        EXPECT_THAT(page, HasSubstr(std::string(origin->name)));
}

TEST(Documents, ManualPageListsModelsSpeedsWidthsLevels) {
    const std::string page = manual_page();
    for (const hca::DeviceProfile& profile : hca::device_profiles())
        EXPECT_THAT(page, HasSubstr(std::string(profile.name)));
    for (const char* name : link_speeds)
        EXPECT_THAT(page, HasSubstr(name));
    for (const char* name : link_widths)
        EXPECT_THAT(page, HasSubstr(name));
    for (const auto& [name, level] : log_levels())
        EXPECT_THAT(page, HasSubstr(name));
}

} // namespace
} // namespace cxemu::program
