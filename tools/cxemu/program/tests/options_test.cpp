// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/write_file.hpp"
#include "program/command_line.hpp"
#include "program/configuration.hpp"
#include "program/profile_list.hpp"

#include <cstdlib>
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

TEST(Options, SeveralSocketsMakeHcasWithOwnGuids) {
    const auto options = parse({"--hca", "/a", "--hca", "/b", "--hca", "/c"});
    ASSERT_TRUE(options);
    std::set<std::uint64_t> guids;
    for (std::size_t i = 0; i < 3; ++i)
        guids.insert(settings_of(*options, i)->node_guid);
    EXPECT_EQ(guids.size(), 3U);
    EXPECT_EQ(settings_of(*options, 1)->name, "hca1");
}

TEST(Options, DeviceIdSelectsModel) {
    const auto physical = parse({"--hca", "/a", "--device-id", "1013"});
    EXPECT_EQ(settings_of(*physical, 0)->profile->name, "connectx4");
    EXPECT_FALSE(settings_of(*physical, 0)->virtual_function);
    const auto virtual_one = parse({"--hca", "/a", "--device-id", "101c"});
    EXPECT_EQ(settings_of(*virtual_one, 0)->profile->name, "connectx6");
    EXPECT_EQ(settings_of(*virtual_one, 0)->device_id(), 0x101c);
}

TEST(Options, DeviceIdCombinesWithGenerationsOfFirmware) {
    const auto old = parse({"--hca", "/a", "--profile", "connectx4-2016", "--device-id", "1014"});
    ASSERT_TRUE(old);
    EXPECT_EQ(settings_of(*old, 0)->profile->name, "connectx4-2016");
    EXPECT_TRUE(settings_of(*old, 0)->virtual_function);
}

/// 12,868 pages as in the trace of 2016 (hca/origin.hpp).
TEST(Options, PagesDefaultToProfile) {
    const auto old = parse({"--hca", "/a", "--profile", "connectx4-2016"});
    EXPECT_EQ(settings_of(*old, 0)->pages.init, 12'868U);
    const auto fewer = parse({"--hca", "/a", "--profile", "connectx4-2016", "--init-pages", "5"});
    EXPECT_EQ(settings_of(*fewer, 0)->pages.init, 5U);
}

TEST(Options, CapabilitiesWithoutResourcesRefused) {
    for (const std::string value : {"0", "6"}) {
        const auto options = parse({"--hca", "/a", "--capability", "log_max_qp=" + value});
        EXPECT_FALSE(options) << value;
    }
    Options options;
    options.hcas.emplace_back().socket = "/a";
    options.common.capabilities = {{"log_max_qp", 6}};
    const auto checked = check(options);
    ASSERT_FALSE(checked);
    // The first QP of a device has the number 64, which is not in a table of 2^6 entries.
    EXPECT_EQ(checked.error(), "capability log_max_qp: 6 is below 7");
    options.common.capabilities = {{"log_max_qp", 7}};
    EXPECT_TRUE(check(options));
}

TEST(Options, ProfilesListedWithSources) {
    EXPECT_EQ(parse({"--list-profiles"}).error().status, EXIT_SUCCESS) << "no HCA is needed";
    const std::string list = profile_list(false);
    const std::string verbose = profile_list(true);
    for (const hca::DeviceProfile& profile : hca::device_profiles())
        EXPECT_NE(list.find(profile.name), std::string::npos) << profile.name;
    EXPECT_EQ(list.find("log_max_qp_sz"), std::string::npos);
    EXPECT_NE(verbose.find("log_max_qp_sz"), std::string::npos);
    for (const hca::Origin* origin : hca::origins::all)
        EXPECT_NE(verbose.find(origin->place), std::string::npos) << origin->name;
}

TEST(Options, LinkSpeedDefaultsToModel) {
    const auto options = parse({"--hca", "/a", "--profile", "connectx7"});
    EXPECT_EQ(link_of(*options, 0)->speed, fabric::LaneSpeed::ndr);
    const auto slow = parse({"--hca", "/a", "--link-speed", "fdr", "--link-width", "1x"});
    EXPECT_EQ(link_of(*slow, 0)->speed, fabric::LaneSpeed::fdr);
    EXPECT_EQ(link_of(*slow, 0)->width, fabric::LinkWidth::x1);
}

TEST(Options, SignatureOptionsDefaultToFirstNames) {
    const auto options = parse({"--hca", "/a"});
    EXPECT_EQ(settings_of(*options, 0)->signature_stop, hca::SignatureStop::next);
    EXPECT_EQ(settings_of(*options, 0)->signature_report, hca::SignatureReport::before);
}

TEST(Options, SignatureOptionsChosenByName) {
    using enum hca::SignatureStop;
    for (const auto& [word, stop] :
         {std::pair{"next", next}, {"fence", fence}, {"random", random}}) {
        const auto options = parse({"--hca", "/a", "--signature-stop", word});
        ASSERT_TRUE(options) << word;
        EXPECT_EQ(settings_of(*options, 0)->signature_stop, stop) << word;
    }
    using enum hca::SignatureReport;
    for (const auto& [word, report] : {std::pair{"before", before}, {"behind", behind}}) {
        const auto options = parse({"--hca", "/a", "--signature-report", word});
        ASSERT_TRUE(options) << word;
        EXPECT_EQ(settings_of(*options, 0)->signature_report, report) << word;
    }
}

TEST(Options, UnknownSignatureOptionsRefused) {
    for (const std::string option : {"--signature-stop", "--signature-report"}) {
        EXPECT_FALSE(parse({"--hca", "/a", option, "never"})) << option;
        EXPECT_FALSE(parse({"--hca", "/a", option, ""})) << option;
        EXPECT_FALSE(parse({"--hca", "/a", option})) << option;
    }
}

TEST(Options, InconsistentOptionsRefused) {
    EXPECT_FALSE(parse({}));
    EXPECT_FALSE(parse({"--hca", "/a", "--device-id", "ffff"}));
    EXPECT_FALSE(parse({"--hca", "/a", "--profile", "connectx9"}));
    EXPECT_FALSE(parse({"--hca", "/a", "--profile", "connectx4", "--device-id", "1017"}));
    EXPECT_FALSE(parse({"--hca", "/a", "--capability", "no_such_thing=1"}));
    EXPECT_FALSE(parse({"--hca", "/a", "--capability", "xrc=2"}));
    EXPECT_FALSE(parse({"--hca", "/a", "--capability", "xrc"}));
    EXPECT_FALSE(parse({"--hca", "/a", "--vectors", "0"}));
}

TEST(Options, PortsBeyondTwoRefused) {
    const auto options = parse({"--hca", "/a", "--ports", "2"});
    ASSERT_TRUE(options);
    EXPECT_EQ(settings_of(*options, 0)->ports, 2U);
    EXPECT_FALSE(parse({"--hca", "/a", "--ports", "3"}));
    EXPECT_FALSE(parse({"--hca", "/a", "--ports", "0"}));
}

TEST_F(ConfigurationTest, PortNumberNotTruncatedBeforeCheck) {
    const auto options = read("[[hca]]\nsocket = '/x'\nports = 257\n");
    ASSERT_TRUE(options) << options.error();
    const auto settings = settings_of(*options, 0);
    ASSERT_FALSE(settings);
    EXPECT_NE(settings.error().find("257 ports: out of range [1, 2]"), std::string::npos)
        << settings.error();
}

TEST(Options, NumbersWithTrailingTextRefused) {
    EXPECT_FALSE(parse({"--hca", "/a", "--capability", "log_max_qp=12x"}));
    EXPECT_FALSE(parse({"--hca", "/a", "--capability", "log_max_qp=-1"}));
    EXPECT_FALSE(parse({"--hca", "/a", "--capability", "log_max_qp="}));
    EXPECT_TRUE(parse({"--hca", "/a", "--capability", "log_max_qp=0x12"}));
    EXPECT_FALSE(parse({"--hca", "/a", "--guid", "00000000000000000"})) << "17 digits";
    EXPECT_FALSE(parse({"--hca", "/a", "--guid", "12 34"}));
    EXPECT_FALSE(parse({"--hca", "/a", "--device-id", "0x"}));
}

TEST(Options, DuplicateSocketOrGuidRefused) {
    EXPECT_FALSE(parse({"--hca", "/a", "--hca", "/a"}));
    Options options;
    for (const char* socket : {"/a", "/b"}) {
        options.hcas.emplace_back().socket = socket;
        options.hcas.back().guid = 5;
    }
    const auto checked = check(options);
    ASSERT_FALSE(checked);
    EXPECT_NE(checked.error().find("0x0000000000000005"), std::string::npos) << checked.error();
}

TEST(Options, SwitchPortsFollowHcaPorts) {
    Options options;
    options.common.ports = 2;
    const auto add = [&](int count) {
        for (int i = 0; i < count; ++i) {
            const auto number = options.hcas.size();
            options.hcas.emplace_back().socket = fmt::format("/{}", number);
        }
    };
    add(1);
    EXPECT_EQ(switch_ports_of(options), 8U);
    add(8);
    EXPECT_EQ(switch_ports_of(options), 18U);
    add(118);
    EXPECT_EQ(switch_ports_of(options), 254U);
    EXPECT_TRUE(check(options));
    add(1);
    EXPECT_FALSE(check(options));
}

TEST(Options, HelpEndsWithSuccess) {
    const auto options = parse({"--help"});
    ASSERT_FALSE(options);
    EXPECT_EQ(options.error().status, 0);
}

TEST_F(ConfigurationTest, HcaOverridesDefaults) {
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

TEST_F(ConfigurationTest, CommandLineOverridesFile) {
    Options given;
    given.common.profile = "connectx7";
    given.hcas.emplace_back().socket = "/mine";
    const auto options = read("[defaults]\nprofile = 'connectx4'\n[[hca]]\nsocket = '/x'\n", given);
    ASSERT_TRUE(options) << options.error();
    EXPECT_EQ(options->hcas.size(), 1U);
    EXPECT_EQ(settings_of(*options, 0)->profile->name, "connectx7");
}

TEST_F(ConfigurationTest, IdsAcceptedAsNumberOrHexText) {
    const auto options = read("[defaults]\ndevice_id = '1018'\nguid = 'fedc000000000001'\n"
                              "[[hca]]\nsocket = '/a'\n[[hca]]\nsocket = '/b'\n"
                              "device_id = 0x1013\n");
    ASSERT_TRUE(options) << options.error();
    EXPECT_EQ(settings_of(*options, 0)->device_id(), 0x1018);
    EXPECT_EQ(settings_of(*options, 0)->node_guid, 0xfedc'0000'0000'0001U);
    EXPECT_EQ(settings_of(*options, 1)->device_id(), 0x1013);
}

TEST_F(ConfigurationTest, ValueOfWrongTypeNamesLine) {
    const auto refused = [&](const std::string& line, const std::string& part) {
        const auto options = read("[[hca]]\nsocket = '/x'\n" + line + "\n");
        ASSERT_FALSE(options) << line;
        EXPECT_NE(options.error().find("line 3"), std::string::npos) << options.error();
        EXPECT_NE(options.error().find(part), std::string::npos) << options.error();
    };
    refused("vectors = '12'", "a number of 0 to 4294967295");
    refused("vectors = -1", "a number of 0 to 4294967295");
    refused("vectors = 12.0", "a number");
    refused("device_id = 65536", "a number of 0 to 65535");
    refused("device_id = '10180'", "a hexadecimal number of 1 to 4 digits");
    refused("checksums = 1", "true or false");
    refused("profile = 5", "a text");
    refused("capabilities = 5", "a table");
    refused("capabilities = { xrc = 'no' }", "\"xrc\" is not a number");
}

TEST_F(ConfigurationTest, TableOfWrongTypeNamesLine) {
    EXPECT_NE(read("hca = 5\n").error().find("line 1: \"hca\" is not a list of tables"),
              std::string::npos);
    EXPECT_NE(read("defaults = 5\n").error().find("line 1: \"defaults\" is not a table"),
              std::string::npos);
    EXPECT_NE(read("log_level = 'loud'\n").error().find("is not a log level"), std::string::npos);
}

TEST_F(ConfigurationTest, CommandLineCapabilityOverridesFile) {
    Options given;
    given.common.capabilities.emplace_back("log_max_qp", 10);
    const auto options = read("[defaults.capabilities]\nlog_max_qp = 12\nlog_max_cq = 9\n"
                              "[[hca]]\nsocket = '/x'\n",
                              given);
    ASSERT_TRUE(options) << options.error();
    const auto settings = settings_of(*options, 0);
    EXPECT_EQ(settings->overrides.back(), (std::pair<std::string, std::uint64_t>{"log_max_qp", 10}))
        << "the last one counts";
    EXPECT_EQ(settings->overrides.size(), 3U);
}

TEST_F(ConfigurationTest, HcaOverridesDefaultSignatureOptions) {
    const auto options =
        read("[defaults]\nsignature_stop = 'fence'\nsignature_report = 'behind'\n"
             "[[hca]]\nsocket = '/x'\nsignature_stop = 'random'\n[[hca]]\nsocket = '/y'\n");
    ASSERT_TRUE(options) << options.error();
    EXPECT_EQ(settings_of(*options, 0)->signature_stop, hca::SignatureStop::random);
    EXPECT_EQ(settings_of(*options, 0)->signature_report, hca::SignatureReport::behind);
    EXPECT_EQ(settings_of(*options, 1)->signature_stop, hca::SignatureStop::fence);
}

TEST_F(ConfigurationTest, UnknownSignatureOptionsNameChoices) {
    const auto error = [&](const std::string& line) {
        const auto options = read("[[hca]]\nsocket = '/x'\n" + line + "\n");
        const auto settings = settings_of(*options, 0);
        return settings ? std::string() : settings.error();
    };
    EXPECT_EQ(error("signature_stop = 'never'"),
              "signature stop \"never\" is none of next, fence, random");
    EXPECT_EQ(error("signature_report = 'never'"),
              "signature report \"never\" is none of before, behind");
}

TEST_F(ConfigurationTest, CaptureLimitsConfigurable) {
    const auto all = capture_limits_of(Options{});
    ASSERT_TRUE(all);
    EXPECT_EQ(all->packet, check::CaptureLimits{}.packet);
    EXPECT_EQ(all->file, check::CaptureLimits{}.file);
    const auto options = read("pcap_snap = 320\npcap_size = 5000\n[[hca]]\nsocket = '/x'\n");
    ASSERT_TRUE(options) << options.error();
    const auto limits = capture_limits_of(*options);
    ASSERT_TRUE(limits) << limits.error();
    EXPECT_EQ(limits->packet, 320U);
    EXPECT_EQ(limits->file, 5'000'000'000U);
}

TEST_F(ConfigurationTest, CaptureLimitBelowHeadersRefused) {
    const auto options = read("pcap_snap = 63\n[[hca]]\nsocket = '/x'\n");
    ASSERT_TRUE(options) << options.error();
    const auto checked = check(*options);
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error(), "63 bytes of a captured packet: out of range [64, 8192]");
}

TEST_F(ConfigurationTest, NumbersBeyondLimitsRefused) {
    const auto error = [&](const std::string& line) {
        const auto options = read("[[hca]]\nsocket = '/x'\n" + line + "\n");
        if (!options)
            return options.error();
        const auto checked = check(*options);
        return checked ? std::string() : checked.error();
    };
    EXPECT_EQ(error("vectors = 257"), "257 vectors: out of range [1, 256]");
    EXPECT_EQ(error("boot_pages = 1000001"), "1000001 boot pages: out of range [0, 1000000]");
    EXPECT_EQ(error("vectors = 256"), "");
}

TEST_F(ConfigurationTest, UnknownKeyNamesLine) {
    const auto unknown = read("\n[[hca]]\nsocket = '/x'\ncolour = 'red'\n");
    ASSERT_FALSE(unknown);
    EXPECT_NE(unknown.error().find("line 4"), std::string::npos) << unknown.error();
    EXPECT_NE(unknown.error().find("colour"), std::string::npos) << unknown.error();
    const auto malformed = read("hca = [\n");
    ASSERT_FALSE(malformed);
    EXPECT_NE(malformed.error().find("line"), std::string::npos) << malformed.error();
}

} // namespace
} // namespace cxemu::program
