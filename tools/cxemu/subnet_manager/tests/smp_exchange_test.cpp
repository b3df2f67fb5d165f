// SPDX-License-Identifier: GPL-2.0-or-later
//
// Requests by SMP: their responses, repetitions and number.
#include "fabric/tests/fixtures.hpp"
#include "subnet_manager/smp_exchange.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace cxemu::subnet_manager {
namespace {

using fabric::Mad;
using fabric::MadMethod;

constexpr std::uint64_t port_info = hwtab::value<hwtab::smp_attribute, "port_info">;
constexpr std::uint64_t node_info = hwtab::value<hwtab::smp_attribute, "node_info">;

struct SmpExchangeTest : ::testing::Test {
    fabric::testing::ManualLoop time;
    std::vector<Mad> sent;
    unsigned responses = 0;
    unsigned failures = 0;
    SmpExchange exchange{time.loop, [this](const Mad& smp) { sent.push_back(smp); }};

    void request(std::uint64_t attribute = port_info) {
        exchange.request(directed_smp(MadMethod::get, attribute, {1}), [this](const Mad* response) {
            ++(response == nullptr ? failures : responses);
        });
    }
    static Mad reply_to(Mad smp) {
        fabric::make_response(smp, fabric::MadStatus::ok);
        return smp;
    }
};

TEST_F(SmpExchangeTest, ResponseEndsMatchingRequestOnly) {
    request();
    request();
    EXPECT_TRUE(exchange.take_response(reply_to(sent[1])));
    EXPECT_EQ(responses, 1U);
    EXPECT_FALSE(exchange.take_response(reply_to(sent[1])));
    EXPECT_EQ(responses, 1U);
}

TEST_F(SmpExchangeTest, ResponseWithOtherAttributeIgnored) {
    request();
    Mad other = sent[0];
    fabric::DirectedSmp(other).set<"attribute_id">(node_info);
    EXPECT_FALSE(exchange.take_response(reply_to(other)));
    other = sent[0];
    fabric::DirectedSmp(other).set<"attribute_modifier">(1);
    EXPECT_FALSE(exchange.take_response(reply_to(other)));
    EXPECT_EQ(responses, 0U);
}

TEST_F(SmpExchangeTest, WindowLimitsRequestsWithoutResponse) {
    for (std::size_t count = 0; count < SmpExchange::window + 1; ++count)
        request();
    EXPECT_EQ(sent.size(), SmpExchange::window);
    exchange.take_response(reply_to(sent[0]));
    EXPECT_EQ(sent.size(), SmpExchange::window + 1);
}

TEST_F(SmpExchangeTest, RequestIsRepeatedThenFails) {
    request();
    for (unsigned attempt = 0; attempt < SmpExchange::attempts; ++attempt)
        time.advance(SmpExchange::first_timeout * (1U << attempt));
    EXPECT_EQ(sent.size(), SmpExchange::attempts);
    EXPECT_EQ(failures, 1U);
}

TEST_F(SmpExchangeTest, RequestBeyondWaitingLimitFailsAtOnce) {
    for (std::size_t count = 0; count < SmpExchange::window + SmpExchange::max_waiting; ++count)
        request();
    EXPECT_EQ(failures, 0U);
    request();
    EXPECT_EQ(failures, 1U);
    exchange.take_response(reply_to(sent[0]));
    request();
    EXPECT_EQ(failures, 1U);
}

TEST_F(SmpExchangeTest, CanceledRequestsHaveNoOutcome) {
    request();
    exchange.cancel();
    EXPECT_FALSE(exchange.take_response(reply_to(sent[0])));
    time.advance(std::chrono::seconds(10));
    EXPECT_EQ(responses + failures, 0U);
    EXPECT_EQ(sent.size(), 1U);
}

} // namespace
} // namespace cxemu::subnet_manager
