// SPDX-License-Identifier: GPL-2.0-or-later
#include "program/adapter.hpp"

#include "commands/table.hpp"
#include "queues/event_queues.hpp"

#include <utility>

namespace cxemu::program {

namespace {

pci::FunctionConfig function_config(const hca::HcaSettings& settings) {
    pci::FunctionConfig config;
    config.device_id = settings.device_id();
    config.bar0_size = settings.bar_size;
    config.msix_vectors = settings.msix_vectors;
    config.link_speed = settings.profile->pci_generation;
    config.serial_number = settings.node_guid;
    return config;
}

} // namespace

Adapter::Adapter(EventLoop& loop, hca::HcaSettings settings, check::Checker& checker,
                 check::CommandLog* command_log)
    : log_(make_log(settings.name)), function_(function_config(settings), log_),
      hca_({.loop = loop,
            .dma = function_.dma(),
            .interrupts = function_.interrupts(),
            .checker = checker,
            .command_log = command_log},
           std::move(settings), commands::all_commands(), log_) {
    hca_.add<queues::EventQueues>();
    function_.attach(hca_);
}

std::expected<void, std::string> Adapter::listen(EventLoop& loop,
                                                 const std::filesystem::path& socket) {
    auto server = vfio_user::Server::listen(loop, socket, function_, log_);
    if (!server)
        return std::unexpected(server.error());
    server_ = *std::move(server);
    return {};
}

nlohmann::json Adapter::statistics() const {
    nlohmann::json result = hca_.statistics();
    const auto& function = function_.statistics();
    result["function"] = {{"bar_reads", function.bar_reads},
                          {"bar_writes", function.bar_writes},
                          {"unsupported_requests", function.unsupported_requests},
                          {"function_level_resets", function.function_level_resets},
                          {"bus_resets", function.bus_resets}};
    if (!server_)
        return result;
    const auto& session = server_->statistics();
    result["session"] = {{"connections", session.connections},
                         {"connections_dropped", session.connections_dropped},
                         {"errors_answered", session.errors_answered},
                         {"errors_unanswered", session.errors_unanswered},
                         {"bytes_received", session.bytes_received},
                         {"bytes_sent", session.bytes_sent}};
    return result;
}

} // namespace cxemu::program
