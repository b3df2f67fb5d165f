// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// One emulated adapter: HCA, PCI function and socket.
#pragma once

#include "base/event_loop.hpp"
#include "base/log.hpp"
#include "check/checker.hpp"
#include "check/command_log.hpp"
#include "check/fault_plan.hpp"
#include "fabric/fabric.hpp"
#include "hca/hca.hpp"
#include "pci/function.hpp"
#include "program/options.hpp"
#include "vfio_user/server.hpp"

#include <expected>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace cxemu::check {
class Envelope;
}

namespace cxemu::program {

/// Objects shared by all adapters; they must outlive them.
struct AdapterEnvironment {
    EventLoop& loop;
    fabric::Fabric& fabric;
    check::Checker& checker;
    check::CommandLog* command_log = nullptr; ///< nullptr: commands are not logged
    check::FaultPlan* faults = nullptr;       ///< nullptr: no fault injection
    check::Envelope* envelope = nullptr;      ///< nullptr: no envelope is recorded
};

class Adapter {
public:
    /// Creates an adapter and connects its ports to the switch. \return an error text when the
    /// switch has no port left
    static std::expected<std::unique_ptr<Adapter>, std::string>
    make(const AdapterEnvironment& environment, hca::HcaSettings settings,
         const LinkSettings& link);

    /// Waits for a virtual machine on \p socket. \return an error text
    std::expected<void, std::string> listen(EventLoop& loop, const std::filesystem::path& socket);

    [[nodiscard]] const std::string& name() const { return hca_.name(); }
    [[nodiscard]] hca::Hca& hca() { return hca_; }
    [[nodiscard]] pci::Function& function() { return function_; }
    [[nodiscard]] bool connected() const { return server_ && server_->connected(); }

    /// Surprise removal. \param time until the device returns; zero: until the next client connects
    void remove(EventLoop::Duration time);
    /// Ends a removal early. \return true if the device was removed
    bool insert();

    /// The HCA's statistics, and those of the PCI function and its session.
    [[nodiscard]] nlohmann::json statistics() const;

private:
    Adapter(const AdapterEnvironment& environment, hca::HcaSettings settings);
    std::expected<void, std::string> add_ports(fabric::Fabric& fabric, const LinkSettings& link);
    void add_parts();

    Log log_;
    pci::Function function_;
    hca::Hca hca_;
    Timer insertion_;
    std::unique_ptr<vfio_user::Server> server_;
};

} // namespace cxemu::program
