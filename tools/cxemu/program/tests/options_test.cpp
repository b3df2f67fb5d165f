// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/write_file.hpp"
#include "program/options.hpp"

#include <gtest/gtest.h>
#include <set>
#include <unistd.h>

namespace cxemu::program {
namespace {

std::expected<Options, EarlyEnd> parse(std::vector<std::string> words) {
    words.insert(words.begin(), "cxemu");
    std::vector<char*> arguments;
    for (std::string& word : words)
        arguments.push_back(word.data());
    return parse_command_line(static_cast<int>(arguments.size()), arguments.data());
}

class ConfigurationTest : public ::testing::Test {
protected:
    void TearDown() override { std::filesystem::remove(file); }

    std::expected<Options, std::string> read(const std::string& text, Options options = {}) {
        EXPECT_TRUE(write_file(file, text));
        if (auto outcome = read_configuration(file, options); !outcome)
            return std::unexpected(outcome.error());
        return options;
    }

    std::filesystem::path file =
        std::filesystem::temp_directory_path() / fmt::format("options_test.{}", ::getpid());
};

TEST(Options, MakeOneHcaForEachSocketWithGuidsOfItsOwn) {
    const auto options = parse({"--hca", "/a", "--hca", "/b", "--hca", "/c"});
    ASSERT_TRUE(options);
    std::set<std::uint64_t> guids;
    for (std::size_t i = 0; i < 3; ++i)
        guids.insert(settings_of(*options, i)->node_guid);
    EXPECT_EQ(guids.size(), 3U);
    EXPECT_EQ(settings_of(*options, 1)->name, "hca1");
}

TEST(Options, ChooseTheModelByDeviceId) {
    const auto physical = parse({"--hca", "/a", "--device-id", "1013"});
    EXPECT_EQ(settings_of(*physical, 0)->profile->name, "connectx4");
    EXPECT_FALSE(settings_of(*physical, 0)->virtual_function);
    const auto virtual_one = parse({"--hca", "/a", "--device-id", "101c"});
    EXPECT_EQ(settings_of(*virtual_one, 0)->profile->name, "connectx6");
    EXPECT_EQ(settings_of(*virtual_one, 0)->device_id(), 0x101c);
}

TEST(Options, TakeTheSpeedOfTheModelUnlessToldOtherwise) {
    const auto options = parse({"--hca", "/a", "--profile", "connectx7"});
    EXPECT_EQ(link_of(*options, 0)->speed, fabric::LaneSpeed::ndr);
    const auto slow = parse({"--hca", "/a", "--link-speed", "fdr", "--link-width", "1x"});
    EXPECT_EQ(link_of(*slow, 0)->speed, fabric::LaneSpeed::fdr);
    EXPECT_EQ(link_of(*slow, 0)->width, fabric::LinkWidth::x1);
}

TEST(Options, RefuseWhatDoesNotFitTogether) {
    EXPECT_FALSE(parse({}));
    EXPECT_FALSE(parse({"--hca", "/a", "--device-id", "ffff"}));
    EXPECT_FALSE(parse({"--hca", "/a", "--profile", "connectx9"}));
    EXPECT_FALSE(parse({"--hca", "/a", "--profile", "connectx4", "--device-id", "1017"}));
    EXPECT_FALSE(parse({"--hca", "/a", "--capability", "no_such_thing=1"}));
    EXPECT_FALSE(parse({"--hca", "/a", "--capability", "xrc=2"}));
    EXPECT_FALSE(parse({"--hca", "/a", "--capability", "xrc"}));
    EXPECT_FALSE(parse({"--hca", "/a", "--vectors", "0"}));
}

TEST(Options, GiveAnHcaUpToTwoPorts) {
    const auto options = parse({"--hca", "/a", "--ports", "2"});
    ASSERT_TRUE(options);
    EXPECT_EQ(settings_of(*options, 0)->ports, 2U);
    EXPECT_FALSE(parse({"--hca", "/a", "--ports", "3"}));
    EXPECT_FALSE(parse({"--hca", "/a", "--ports", "0"}));
}

TEST_F(ConfigurationTest, RefusesANumberOfPortsThatOnlyFitsWhenCutOff) {
    const auto options = read("[[hca]]\nsocket = '/x'\nports = 257\n");
    ASSERT_TRUE(options) << options.error();
    const auto settings = settings_of(*options, 0);
    ASSERT_FALSE(settings);
    EXPECT_NE(settings.error().find("257 ports: 1 to 2"), std::string::npos) << settings.error();
}

TEST(Options, EndWithSuccessAfterTheHelp) {
    const auto options = parse({"--help"});
    ASSERT_FALSE(options);
    EXPECT_EQ(options.error().status, 0);
}

TEST_F(ConfigurationTest, DescribesHcasAndWhatTheyHaveInCommon) {
    const auto options = read(R"(
control = "/run/control"
[defaults]
profile = "connectx6"
init_pages = 100
[defaults.capabilities]
log_max_qp = 12
[[hca]]
socket = "/run/a"
[[hca]]
socket = "/run/b"
profile = "connectx4"
virtual_function = true
guid = 0x1234
)");
    ASSERT_TRUE(options) << options.error();
    EXPECT_EQ(options->control, "/run/control");
    ASSERT_EQ(options->hcas.size(), 2U);
    const auto first = settings_of(*options, 0);
    EXPECT_EQ(first->profile->name, "connectx6");
    EXPECT_EQ(first->pages.init, 100U);
    const auto second = settings_of(*options, 1);
    EXPECT_EQ(second->device_id(), 0x1014);
    EXPECT_EQ(second->node_guid, 0x1234U);
    EXPECT_EQ(second->overrides.size(), 1U);
}

TEST_F(ConfigurationTest, YieldsToTheCommandLine) {
    Options given;
    given.common.profile = "connectx7";
    given.hcas.emplace_back().socket = "/mine";
    const auto options = read("[defaults]\nprofile = 'connectx4'\n[[hca]]\nsocket = '/x'\n", given);
    ASSERT_TRUE(options) << options.error();
    EXPECT_EQ(options->hcas.size(), 1U);
    EXPECT_EQ(settings_of(*options, 0)->profile->name, "connectx7");
}

TEST_F(ConfigurationTest, NamesTheLineOfWhatItDoesNotKnow) {
    const auto unknown = read("\n[[hca]]\nsocket = '/x'\ncolour = 'red'\n");
    ASSERT_FALSE(unknown);
    EXPECT_NE(unknown.error().find("line 4"), std::string::npos) << unknown.error();
    EXPECT_NE(unknown.error().find("colour"), std::string::npos) << unknown.error();
    const auto broken = read("hca = [\n");
    ASSERT_FALSE(broken);
    EXPECT_NE(broken.error().find("line"), std::string::npos) << broken.error();
}

} // namespace
} // namespace cxemu::program
