// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// One emulated adapter: the HCA, the PCI function in front of it, the socket it is reached by.
#pragma once

#include "base/event_loop.hpp"
#include "base/log.hpp"
#include "check/checker.hpp"
#include "check/command_log.hpp"
#include "hca/hca.hpp"
#include "pci/function.hpp"
#include "vfio_user/server.hpp"

#include <expected>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

namespace cxemu::program {

class Adapter {
public:
    Adapter(EventLoop& loop, hca::HcaSettings settings, check::Checker& checker,
            check::CommandLog* command_log);

    /// Waits for a virtual machine on \p socket. \return an error text
    std::expected<void, std::string> listen(EventLoop& loop, const std::filesystem::path& socket);

    [[nodiscard]] const std::string& name() const { return hca_.name(); }
    [[nodiscard]] hca::Hca& hca() { return hca_; }
    [[nodiscard]] bool connected() const { return server_ && server_->connected(); }

    /// The HCA's statistics, and those of the PCI function and its session.
    [[nodiscard]] nlohmann::json statistics() const;

private:
    Log log_;
    pci::Function function_;
    hca::Hca hca_;
    std::unique_ptr<vfio_user::Server> server_;
};

} // namespace cxemu::program
