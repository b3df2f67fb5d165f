// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Adapters with sockets and virtual machines.
#pragma once

#include "program/adapter.hpp"
#include "program/testing/virtual_machine.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace cxemu::program::testing {

/// Two adapters on one switch, on one event loop.
class AdapterTest : public ::testing::Test {
protected:
    AdapterTest() : fabric(loop, fabric::SwitchSettings{}) {
        EXPECT_TRUE(configure_logging(spdlog::level::off, {}));
        std::string name = (std::filesystem::temp_directory_path() / "cxemu-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr)
            throw std::runtime_error("mkdtemp failed");
        directory = name;
        for (const char* adapter : {"hca0", "hca1"})
            adapters.push_back(make(adapter));
    }
    ~AdapterTest() override {
        adapters.clear();
        std::filesystem::remove_all(directory);
    }

    std::unique_ptr<Adapter> make(const std::string& name) {
        hca::HcaSettings settings;
        settings.name = name;
        settings.profile = hca::find_profile(std::string_view("connectx5"));
        settings.node_guid = 0x1000 * (adapters.size() + 1);
        settings.pages = {.boot = 2, .init = 4, .regular = 0};
        auto adapter = Adapter::make(
            {.loop = loop, .fabric = fabric, .checker = checker, .faults = &faults}, settings, {});
        if (!adapter || !(*adapter)->listen(loop, socket_of(name)))
            throw std::runtime_error("an adapter can't be made");
        return *std::move(adapter);
    }
    [[nodiscard]] std::filesystem::path socket_of(const std::string& name) const {
        return directory / name;
    }

    void work() {
        now += std::chrono::milliseconds(1);
        loop.turn({});
    }
    VirtualMachine start(const std::string& name = "hca0") {
        return VirtualMachine(socket_of(name), [this] { work(); });
    }
    /// Waits until the adapter has noticed that its client has disconnected.
    void wait_for_end(Adapter& adapter) {
        for (int i = 0; i < 1000 && adapter.connected(); ++i)
            work();
        ASSERT_FALSE(adapter.connected());
    }
    static std::uint64_t maps(Adapter& adapter) {
        return adapter.statistics()["dma"]["maps"].get<std::uint64_t>();
    }
    /// Expects the adapter to have no state of a virtual machine.
    static void expect_cold(Adapter& adapter) {
        EXPECT_EQ(adapter.hca().objects().count(), 0U);
        EXPECT_EQ(adapter.hca().pages().held(), 0U);
        EXPECT_EQ(adapter.hca().state(), hca::FunctionState::disabled);
        EXPECT_FALSE(adapter.hca().command_queue().running());
        EXPECT_EQ(adapter.hca().firmware_dma().map_count(), 0U);
    }

    EventLoop::TimePoint now{std::chrono::hours(1)};
    EventLoop loop{[this] { return now; }};
    check::Checker checker{make_silent_log()};
    check::FaultPlan faults{loop, make_silent_log()};
    fabric::Fabric fabric;
    std::filesystem::path directory;
    std::vector<std::unique_ptr<Adapter>> adapters;
};

} // namespace cxemu::program::testing
