// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The fabric of one process: one switch with HCA ports connected to it.
#pragma once

#include "base/event_loop.hpp"
#include "fabric/hca_port.hpp"
#include "fabric/link.hpp"
#include "fabric/switch.hpp"

#include <cstdint>
#include <expected>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace cxemu::fabric {

class Fabric {
public:
    Fabric(EventLoop& loop, const SwitchSettings& settings);
    ~Fabric();
    Fabric(const Fabric&) = delete;
    Fabric& operator=(const Fabric&) = delete;

    /// Creates a port of an HCA and connects it to the next free port of the switch.
    /// \return the port, which lives as long as the fabric, or an error text when the switch is
    /// full
    std::expected<HcaPort*, std::string> add(const HcaPortSettings& settings);

    [[nodiscard]] Switch& central_switch() { return switch_; }
    [[nodiscard]] const std::vector<std::unique_ptr<Link>>& links() const { return links_; }

    /// \param name of the link ("hca0/1 - switch0/1") or of the HCA port ("hca0/1")
    /// \return nullptr for an unknown name
    [[nodiscard]] Link* find_link(std::string_view name) const;

    /// Calls \p tap for the packets of all links.
    void add_tap(const Link::Tap& tap);

    /// Ports with states, rates, LIDs and counters, and switch statistics.
    [[nodiscard]] nlohmann::json statistics();

private:
    EventLoop& loop_;
    Switch switch_;
    std::vector<std::unique_ptr<HcaPort>> ports_;
    std::vector<std::unique_ptr<Link>> links_; ///< after the ports: destroyed before them
};

} // namespace cxemu::fabric
