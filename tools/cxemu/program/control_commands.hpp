// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The commands of the control socket.
#pragma once

#include "check/checker.hpp"
#include "fabric/fabric.hpp"
#include "program/adapter.hpp"

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cxemu::program {

/// A line is `COMMAND [ARGUMENT]...`; with `@hca1` as its last word it applies to that HCA only,
/// otherwise to all. The reply is {"ok": ...} or {"error": text}.
class ControlCommands {
public:
    using Arguments = std::span<const std::string>;
    /// Runs a command for one HCA.
    using AdapterCommand = std::function<nlohmann::json(Adapter&, Arguments)>;

    ControlCommands(std::vector<std::unique_ptr<Adapter>>& adapters, fabric::Fabric& fabric,
                    check::Checker& checker, check::FaultPlan& faults);

    /// Adds a command. \param usage arguments and description, one line
    void add(std::string name, std::string usage, AdapterCommand command);

    nlohmann::json run(const std::vector<std::string>& words);

    /// The statistics of all adapters.
    [[nodiscard]] nlohmann::json statistics() const;

private:
    struct Command {
        std::string usage;
        AdapterCommand run;
    };

    [[nodiscard]] nlohmann::json help() const;
    nlohmann::json add_fault(Arguments words);
    nlohmann::json run_faults(Arguments words);
    nlohmann::json run_violations(Arguments words);
    [[nodiscard]] nlohmann::json run_for_adapters(const Command& command,
                                                  std::vector<std::string> arguments);

    std::vector<std::unique_ptr<Adapter>>& adapters_;
    fabric::Fabric& fabric_;
    check::Checker& checker_;
    check::FaultPlan& faults_;
    std::map<std::string, Command> commands_;
};

} // namespace cxemu::program
