// SPDX-License-Identifier: GPL-2.0-or-later
#include "program/adapter.hpp"

#include "commands/table.hpp"
#include "memory/memory_keys.hpp"
#include "queues/event_queues.hpp"
#include "queues/work_queues.hpp"
#include "transport/packet_transport.hpp"
#include "vfio_user/protocol.hpp"

#include <nlohmann/json.hpp>
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

/// Port GUIDs follow the node GUID.
fabric::HcaPortSettings port_settings(const hca::HcaSettings& settings, const LinkSettings& link,
                                      std::uint8_t number) {
    fabric::HcaPortSettings port;
    port.name = fmt::format("{}/{}", settings.name, number);
    port.node_description = fmt::format("{} {}", settings.profile->title, settings.name);
    port.node_guid = settings.node_guid;
    port.port_guid = settings.node_guid + number;
    port.system_image_guid = settings.system_image_guid;
    port.number = number;
    port.node_ports = settings.ports;
    port.device_id = settings.device_id();
    port.widths = static_cast<fabric::WidthMask>(fabric::mask_of(fabric::LinkWidth::x1) |
                                                 fabric::mask_of(link.width));
    port.speeds = fabric::speeds_up_to(link.speed);
    return port;
}

/// Counts of received messages, by name.
nlohmann::json messages(const vfio_user::SessionStatistics& session) {
    nlohmann::json result = nlohmann::json::object();
    for (std::size_t number = 0; number < session.messages.size(); ++number) {
        if (session.messages.at(number) != 0)
            result[vfio_user::name_of(static_cast<vfio_user::Command>(number))] =
                session.messages.at(number);
    }
    return result;
}

nlohmann::json to_json(const vfio_user::SessionStatistics& session) {
    return {{"connections", session.connections},
            {"connections_dropped", session.connections_dropped},
            {"connections_refused", session.connections_refused},
            {"messages", messages(session)},
            {"errors_with_reply", session.errors_with_reply},
            {"errors_without_reply", session.errors_without_reply},
            {"unexpected_replies", session.unexpected_replies},
            {"bytes_received", session.bytes_received},
            {"bytes_sent", session.bytes_sent}};
}

} // namespace

Adapter::Adapter(const AdapterEnvironment& environment, hca::HcaSettings settings)
    : log_(make_log(settings.name)), function_(function_config(settings), log_),
      hca_({.loop = environment.loop,
            .dma = function_.dma(),
            .interrupts = function_.interrupts(),
            .checker = environment.checker,
            .command_log = environment.command_log,
            .faults = environment.faults,
            .envelope = environment.envelope},
           std::move(settings), commands::all_commands(), log_),
      insertion_(environment.loop, [this] { function_.insert(); }) {}

std::expected<std::unique_ptr<Adapter>, std::string>
Adapter::make(const AdapterEnvironment& environment, hca::HcaSettings settings,
              const LinkSettings& link) {
    std::unique_ptr<Adapter> adapter(new Adapter(environment, std::move(settings)));
    if (auto added = adapter->add_ports(environment.fabric, link); !added)
        return std::unexpected(added.error());
    adapter->add_parts();
    return adapter;
}

std::expected<void, std::string> Adapter::add_ports(fabric::Fabric& fabric,
                                                    const LinkSettings& link) {
    for (std::uint8_t number = 1; number <= hca_.settings().ports; ++number) {
        const auto port = fabric.add(port_settings(hca_.settings(), link, number));
        if (!port)
            return std::unexpected(port.error());
        hca_.add_port(**port);
    }
    return {};
}

/// Each part may use the parts before it.
void Adapter::add_parts() {
    hca_.add<memory::MemoryKeys>();
    hca_.add<queues::EventQueues>();
    hca_.add<queues::WorkQueues>();
    hca_.add<transport::PacketTransport>();
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

void Adapter::remove(EventLoop::Duration time) {
    function_.remove();
    if (time != EventLoop::Duration::zero())
        insertion_.start(time);
}

bool Adapter::insert() {
    insertion_.stop();
    return function_.insert();
}

nlohmann::json Adapter::statistics() const {
    nlohmann::json result = hca_.statistics();
    const auto& function = function_.statistics();
    result["function"] = {{"bar_reads", function.bar_reads},
                          {"bar_writes", function.bar_writes},
                          {"unsupported_requests", function.unsupported_requests},
                          {"function_level_resets", function.function_level_resets},
                          {"bus_resets", function.bus_resets}};
    if (server_)
        result["session"] = to_json(server_->statistics());
    return result;
}

} // namespace cxemu::program
