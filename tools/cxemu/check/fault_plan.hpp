// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Fault plans: faults injected on purpose into the device and its links.
///
/// The plan chooses the faults, and the callers inject them: the command queue asks the plan for
/// each command, the queues for each CQE and EQE, the links for each packet. The same lines and the
/// same seed have the same effect on the same sequence of commands, packets and entries. Each rule
/// has its own random numbers, so rules don't influence each other.
#pragma once

#include "base/event_loop.hpp"
#include "base/log.hpp"
#include "check/fault_rule.hpp"
#include "check/seeded_random.hpp"

#include <cstdint>
#include <expected>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cxemu::check {

class FaultPlan {
public:
    static constexpr std::uint64_t default_seed = 1;
    static constexpr std::size_t max_rules = 1000;

    /// Carries out a device fault. \param device "hca0"; empty: all devices
    using DeviceHandler = std::function<void(std::string_view device, const DeviceFault& fault)>;

    FaultPlan(EventLoop& loop, Log log);
    ~FaultPlan();
    FaultPlan(const FaultPlan&) = delete;
    FaultPlan& operator=(const FaultPlan&) = delete;

    /// Sets the handler of device faults. It is called from the event loop only, never from
    /// on_command(), on_packet() or on_entry().
    void set_device_handler(DeviceHandler handler) { device_handler_ = std::move(handler); }
    /// \p packet_switch is called with true when the first packet rule is added, and with false
    /// when the last one is removed.
    void set_packet_switch(std::function<void(bool wanted)> packet_switch);

    /// Adds a rule, or several for `random-device`; a line `seed N` sets the seed of the rules that
    /// follow. An empty line, or one with only a comment, adds nothing.
    /// \return an error text that names the word and the valid ones
    std::expected<void, std::string> add(std::string_view line);

    /// Adds the lines of a file.
    /// \return an error text that names the file, the line and the cause
    std::expected<void, std::string> read(const std::filesystem::path& file);

    /// Sets the seed of the rules that are added from now on: the same rules after the same seed
    /// inject the same faults, independent of earlier rules.
    void set_seed(std::uint64_t seed) {
        seed_ = seed;
        rules_made_ = 0;
    }

    /// Removes the rules of one device, "hca0" for example, or all rules if \p device is empty.
    /// Outstanding faults, such as a delayed completion, stay.
    void clear(std::string_view device = {});

    /// A device has fetched a command. \return the fault to inject; nothing: the command runs
    /// normally
    std::optional<CommandFault> on_command(std::string_view device, std::uint16_t opcode);

    /// The fault of one packet.
    struct PacketVerdict {
        PacketFault fault;
        EventLoop::Duration delay;
        std::uint64_t seed; ///< of random values, such as the position of a flipped bit
    };
    /// A packet is on a link. The first rule that injects a fault decides.
    std::optional<PacketVerdict> on_packet(const PacketFacts& facts);

    /// A CQE or EQE is about to be written.
    std::optional<EntryFault> on_entry(std::string_view device, const EntryFacts& facts);

    [[nodiscard]] bool has_packet_rules() const;
    /// For each rule: its line, its numbers of matches and injected faults.
    [[nodiscard]] nlohmann::json to_json() const;

private:
    struct Rule;

    std::expected<void, std::string> add_rule(std::string_view line);
    std::expected<void, std::string> add_random_device(std::string_view words);
    void start_timer(Rule& rule);
    void inject_device_fault(Rule& rule, std::string_view device);
    void announce_packets();

    EventLoop& loop_;
    Log log_;
    LogLimiter limiter_;
    std::shared_ptr<bool> alive_; ///< deferred calls hold a weak reference
    DeviceHandler device_handler_;
    std::function<void(bool)> packet_switch_;
    bool packets_wanted_ = false;
    std::uint64_t seed_ = default_seed;
    std::uint64_t rules_made_ = 0;
    std::vector<std::unique_ptr<Rule>> rules_;
};

} // namespace cxemu::check
