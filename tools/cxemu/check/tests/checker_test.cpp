// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/write_file.hpp"
#include "check/checker.hpp"

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace cxemu::check {
namespace {

constexpr Rule given_twice{"page_given_twice", "A page was given given_twice."};
constexpr Rule late_doorbell{"late_doorbell", "A doorbell came late_doorbell."};

class CheckerTest : public ::testing::Test {
protected:
    void TearDown() override { std::filesystem::remove(file); }

    std::string allow(const std::string& text) {
        EXPECT_TRUE(write_file(file, text));
        const auto read = checker.read_allow_list(file);
        return read ? std::string() : read.error();
    }

    std::filesystem::path file =
        std::filesystem::temp_directory_path() / fmt::format("checker_test.{}", ::getpid());
    Checker checker{make_silent_log()};
};

TEST_F(CheckerTest, ViolationsCountedByRule) {
    checker.report(given_twice, "hca0", "0x1000");
    checker.report(given_twice, "hca1", "0x2000");
    checker.report(late_doorbell, "hca0", "queue 3");
    EXPECT_EQ(checker.counted(), 3U);
    EXPECT_EQ(checker.counted(given_twice), 2U);
    EXPECT_EQ(checker.violations().at(given_twice.name).examples,
              (std::vector<std::string>{"hca0: 0x1000", "hca1: 0x2000"}));
}

TEST_F(CheckerTest, ExamplesKeptUpToLimit) {
    for (int i = 0; i < 100; ++i)
        checker.report(given_twice, "hca0", "again");
    EXPECT_EQ(checker.violations().at(given_twice.name).examples.size(), Checker::examples_kept);
}

TEST_F(CheckerTest, AllowedViolationNotCounted) {
    EXPECT_EQ(allow("[[allow]]\nrule = 'page_given_twice'\ndetail = '0x1'\nreason = 'known'\n"),
              "");
    checker.report(given_twice, "hca0", "page 0x1000");
    checker.report(given_twice, "hca0", "page 0x2000");
    EXPECT_EQ(checker.counted(given_twice), 1U);
    EXPECT_EQ(checker.violations().at(given_twice.name).allowed, 1U);
    EXPECT_EQ(checker.to_json()["allow_list"][0]["used"], 1);
}

TEST_F(CheckerTest, AllowanceExceededCounted) {
    checker.allow(
        {.rule = "page_given_twice", .detail = "", .reason = "provoked", .max_violations = 2});
    for (int i = 0; i < 3; ++i)
        checker.report(given_twice, "hca0", "again");
    EXPECT_EQ(checker.violations().at(given_twice.name).allowed, 2U);
    EXPECT_EQ(checker.counted(given_twice), 1U);
}

TEST_F(CheckerTest, AllowanceWithoutReasonRefused) {
    const std::string error = allow("[[allow]]\nrule = 'page_given_twice'\n");
    EXPECT_NE(error.find("line 1"), std::string::npos) << error;
    EXPECT_NE(error.find("reason"), std::string::npos) << error;
}

TEST_F(CheckerTest, MalformedAllowListNamesLine) {
    const std::string error = allow("[[allow]]\nrule = \n");
    EXPECT_NE(error.find("line 2"), std::string::npos) << error;
}

TEST_F(CheckerTest, ReportHasOneLinePerRule) {
    checker.report(given_twice, "hca0", "0x1000");
    checker.report(given_twice, "hca0", "0x2000");
    ASSERT_TRUE(checker.write_report(file));
    std::ifstream stream(file);
    const std::string text((std::istreambuf_iterator<char>(stream)), {});
    EXPECT_EQ(text,
              "page_given_twice: 2 times: A page was given given_twice. First: hca0: 0x1000\n");
}

TEST_F(CheckerTest, ReportWithoutViolationsEmpty) {
    ASSERT_TRUE(checker.write_report(file));
    EXPECT_EQ(std::filesystem::file_size(file), 0U);
}

TEST_F(CheckerTest, UnwritableReportNamed) {
    const auto written = checker.write_report("/nowhere/report");
    ASSERT_FALSE(written);
    EXPECT_NE(written.error().find("/nowhere/report"), std::string::npos) << written.error();
}

} // namespace
} // namespace cxemu::check
