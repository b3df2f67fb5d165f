// SPDX-License-Identifier: GPL-2.0-or-later
#include "program/control_commands.hpp"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

namespace cxemu::program {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class ControlCommandsTest : public ::testing::Test {
protected:
    ControlCommandsTest() : fabric(loop, fabric::SwitchSettings{}) {
        EXPECT_TRUE(configure_logging(spdlog::level::off, {}));
        for (const char* name : {"hca0", "hca1"}) {
            hca::HcaSettings settings;
            settings.name = name;
            settings.profile = hca::find_profile(std::string_view("connectx5"));
            settings.node_guid = adapters.size() + 1;
            adapters.push_back(
                *Adapter::make({.loop = loop, .fabric = fabric, .checker = checker}, settings, {}));
        }
        for (int i = 0; i < 8; ++i)
            loop.turn({});
    }

    json run(const std::string& line) {
        std::istringstream stream(line);
        return commands.run({std::istream_iterator<std::string>(stream), {}});
    }
    /// Reply of a command that must succeed.
    json ok(const std::string& line) {
        json reply = run(line);
        EXPECT_TRUE(reply.contains("ok")) << line << ": " << reply;
        return reply["ok"];
    }
    /// Error text of a command that must fail.
    std::string error(const std::string& line) {
        const json reply = run(line);
        EXPECT_TRUE(reply.contains("error")) << line << ": " << reply;
        return reply.value("error", "");
    }

    EventLoop loop;
    check::Checker checker{make_silent_log()};
    fabric::Fabric fabric;
    std::vector<std::unique_ptr<Adapter>> adapters;
    check::FaultPlan faults{loop, make_silent_log()};
    ControlCommands commands{adapters, fabric, checker, faults};
};

TEST_F(ControlCommandsTest, HelpAndManualPageListCommands) {
    std::ifstream page(std::filesystem::path(CXEMU_SOURCES) / "cxemu.1");
    const std::string text{std::istreambuf_iterator<char>(page), {}};
    const std::string section = text.substr(text.find(".SH CONTROL SOCKET"));
    const json help = ok("help");
    EXPECT_GE(help.size(), 8U);
    for (const auto& [name, usage] : help.items()) {
        EXPECT_THAT(section, HasSubstr(name));
        EXPECT_NE(usage, "");
        EXPECT_FALSE(run(name).is_null());
    }
}

TEST_F(ControlCommandsTest, UnknownCommandReturnsError) {
    EXPECT_THAT(error("frobnicate"), HasSubstr("frobnicate"));
    EXPECT_THAT(error("stats @hca7"), HasSubstr("hca7"));
}

TEST_F(ControlCommandsTest, CommandWithoutAdapterAppliesToAll) {
    EXPECT_EQ(ok("stats").size(), 2U);
    const json chosen = ok("stats @hca1");
    ASSERT_EQ(chosen.size(), 1U);
    EXPECT_TRUE(chosen.contains("hca1"));
}

TEST_F(ControlCommandsTest, StatisticsReturnsAllParts) {
    const json stats = ok("stats @hca0")["hca0"];
    for (const char* part : {"command_queue", "commands", "objects", "pages", "doorbells", "dma",
                             "interrupts", "parts", "function"})
        EXPECT_TRUE(stats.contains(part)) << part;
    EXPECT_EQ(stats["state"], "disabled");
}

TEST_F(ControlCommandsTest, FabricAndViolationsReturnState) {
    EXPECT_THAT(ok("fabric").dump(), HasSubstr("hca0/1"));
    checker.report({"a_rule", "What it means."}, "hca0", "a detail");
    EXPECT_EQ(ok("violations")["rules"]["a_rule"]["counted"], 1);
}

TEST_F(ControlCommandsTest, AllowedViolationNotCounted) {
    ok("violations allow a_rule 1 a test does it");
    checker.report({"a_rule", "What it means."}, "hca0", "a detail");
    EXPECT_EQ(ok("violations")["rules"]["a_rule"]["allowed"], 1);
    checker.report({"a_rule", "What it means."}, "hca0", "a detail");
    EXPECT_EQ(ok("violations")["rules"]["a_rule"]["counted"], 1);
    EXPECT_THAT(error("violations allow a_rule 0 never"), HasSubstr("0 is not"));
    EXPECT_THAT(error("violations allow a_rule 1"), HasSubstr("REASON"));
    EXPECT_THAT(error("violations forget"), HasSubstr("allow RULE N REASON"));
}

TEST_F(ControlCommandsTest, HealthCommandChangesReport) {
    EXPECT_EQ(ok("health report 16 @hca0")["hca0"]["syndrome"], 16);
    EXPECT_FALSE(adapters[0]->hca().health().fatal());
    EXPECT_EQ(ok("health fatal 0x8 @hca0")["hca0"]["fatal"], true);
    EXPECT_EQ(adapters[1]->hca().health().report().syndrome, hca::HealthSyndrome::none);
    EXPECT_EQ(ok("health clear @hca0")["hca0"]["syndrome"], 0);
    EXPECT_THAT(error("health fatal 256"), HasSubstr("1 to 255"));
    EXPECT_THAT(error("health fatal x"), HasSubstr("1 to 255"));
    EXPECT_THAT(error("health fatal"), HasSubstr("fatal"));
    EXPECT_THAT(error("health sing"), HasSubstr("sing"));
}

TEST_F(ControlCommandsTest, HealthStopStopsCounter) {
    const auto before = ok("health stop @hca0")["hca0"]["counter"];
    EXPECT_EQ(ok("health @hca0")["hca0"]["counter"], before);
}

TEST_F(ControlCommandsTest, LinkCommandUnplugsAndPlugs) {
    EXPECT_EQ(adapters[0]->hca().port(1)->state(), fabric::PortState::init);
    EXPECT_EQ(ok("link down @hca0")["hca0"].size(), 1U);
    for (int i = 0; i < 8; ++i)
        loop.turn({});
    EXPECT_EQ(adapters[0]->hca().port(1)->state(), fabric::PortState::down);
    EXPECT_EQ(adapters[1]->hca().port(1)->state(), fabric::PortState::init);
    ok("link up");
    for (int i = 0; i < 8; ++i)
        loop.turn({});
    EXPECT_EQ(adapters[0]->hca().port(1)->state(), fabric::PortState::init);
    EXPECT_THAT(error("link sideways"), HasSubstr("down or up"));
    EXPECT_THAT(error("link"), HasSubstr("down or up"));
}

TEST_F(ControlCommandsTest, InsertEndsRemoval) {
    EXPECT_EQ(ok("insert @hca0")["hca0"], false) << "it is there";
    adapters[0]->remove(EventLoop::Duration::zero());
    EXPECT_EQ(ok("insert @hca1")["hca1"], false) << "the other one";
    EXPECT_EQ(ok("insert @hca0")["hca0"], true);
    EXPECT_EQ(ok("insert @hca0")["hca0"], false) << "it is there again";
}

TEST_F(ControlCommandsTest, FaultAddsRuleAndFaultsCountsUses) {
    EXPECT_EQ(ok("fault command NOP nth=2 status=BAD_PARAMETER @hca1")["rules"].size(), 1U);
    faults.on_command("hca1", 0x80d);
    faults.on_command("hca1", 0x80d);
    const json rule = ok("faults")["rules"][0];
    EXPECT_EQ(rule["line"], "command NOP nth=2 status=BAD_PARAMETER @hca1");
    EXPECT_EQ(rule["matched"], 2);
    EXPECT_EQ(rule["injected"], 1);
    EXPECT_EQ(ok("faults clear")["rules"].size(), 1U) << "what was there until now";
    EXPECT_EQ(ok("faults")["rules"].size(), 0U);
    ok("fault command NOP hang @hca0");
    ok("fault command NOP hang @hca1");
    ok("faults clear @hca1");
    EXPECT_EQ(ok("faults")["rules"][0]["line"], "command NOP hang @hca0");
    EXPECT_EQ(ok("faults")["rules"].size(), 1U);
    EXPECT_THAT(error("fault command NOP stauts=1"), HasSubstr("stauts=1"));
    EXPECT_THAT(error("fault"), HasSubstr("line"));
    EXPECT_THAT(error("faults burn"), HasSubstr("clear"));
}

TEST_F(ControlCommandsTest, PagesReturnsCountsAndRequestsPages) {
    EXPECT_EQ(ok("pages @hca0")["hca0"]["held"], 0);
    EXPECT_EQ(ok("pages verify @hca0")["hca0"]["damaged"], 0);
    EXPECT_THAT(error("pages request 3"), HasSubstr("no event queue"));
    EXPECT_THAT(error("pages request 0"), HasSubstr("50000"));
    EXPECT_THAT(error("pages request 50001"), HasSubstr("50000"));
    EXPECT_THAT(error("pages request 3x"), HasSubstr("3x"));
    EXPECT_THAT(error("pages request 3 0"), HasSubstr("10000 times"));
    EXPECT_THAT(error("pages request 3 4 5"), HasSubstr("TIMES"));
    EXPECT_THAT(error("pages burn"), HasSubstr("verify"));
}

} // namespace
} // namespace cxemu::program
