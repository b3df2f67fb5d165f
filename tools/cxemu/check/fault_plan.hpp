// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Fault plans: what goes wrong in the device and on its links, on purpose.
///
/// The plan decides, whoever asks carries it out: the command queue asks for each command, queues
/// for each of their entries, links for each packet. The same lines and the same seed do the same
/// to the same sequence of commands, packets and entries: each rule has random numbers of its own,
/// so one rule changes nothing for another.
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
    static constexpr std::size_t most_rules = 1000;

    /// What happens to whole devices. \param device "hca0"; empty: all of them
    using DeviceHandler = std::function<void(std::string_view device, const DeviceFault& fault)>;

    FaultPlan(EventLoop& loop, Log log);
    ~FaultPlan();
    FaultPlan(const FaultPlan&) = delete;
    FaultPlan& operator=(const FaultPlan&) = delete;

    /// Carries out device faults; always from the event loop, never from within a question below.
    void set_device_handler(DeviceHandler handler) { device_handler_ = std::move(handler); }
    /// Is told when packets begin to be, or are no longer, of interest.
    void set_packet_switch(std::function<void(bool wanted)> packet_switch);

    /// Adds a rule, or several for `random-device`; a line `seed N` sets the seed of those that
    /// follow. An empty line, or one with only a comment, adds nothing.
    /// \return an error text that names the word and what is possible
    std::expected<void, std::string> add(std::string_view line);

    /// Adds the lines of a file.
    /// \return an error text that names the file, the line and the cause
    std::expected<void, std::string> read(const std::filesystem::path& file);

    /// The seed of the rules that are added from now on: the same rules after the same seed strike
    /// alike, whatever was added before.
    void set_seed(std::uint64_t seed) {
        seed_ = seed;
        rules_made_ = 0;
    }

    /// Forgets the rules of one device, "hca0" for example, or all rules if \p device is empty.
    /// What is under way, such as a late answer, goes on.
    void clear(std::string_view device = {});

    /// A device has taken a command. \return what is to happen to it; nothing: what it asks for
    std::optional<CommandFault> on_command(std::string_view device, std::uint16_t opcode);

    /// What happens to one packet.
    struct PacketVerdict {
        PacketFault fault;
        EventLoop::Duration delay;
        std::uint64_t seed; ///< of what is random, such as the place of a wrong bit
    };
    /// A packet is on a link. The first rule that strikes decides.
    std::optional<PacketVerdict> on_packet(const PacketFacts& facts);

    /// An entry is about to be written to a queue.
    std::optional<EntryFault> on_entry(std::string_view device, const EntryFacts& facts);

    [[nodiscard]] bool has_packet_rules() const;
    /// For each rule: its line, what it has matched and struck.
    [[nodiscard]] nlohmann::json to_json() const;

private:
    struct Rule;

    std::expected<void, std::string> add_rule(std::string_view line);
    std::expected<void, std::string> add_random_device(std::string_view words);
    void start_timer(Rule& rule);
    void strike_device(Rule& rule, std::string_view device);
    void announce_packets();

    EventLoop& loop_;
    Log log_;
    LogLimiter limiter_;
    std::shared_ptr<bool> alive_; ///< what deferred calls hold on to
    DeviceHandler device_handler_;
    std::function<void(bool)> packet_switch_;
    bool packets_wanted_ = false;
    std::uint64_t seed_ = default_seed;
    std::uint64_t rules_made_ = 0;
    std::vector<std::unique_ptr<Rule>> rules_;
};

} // namespace cxemu::check
