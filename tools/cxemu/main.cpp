// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// cxemu: ConnectX host channel adapters for virtual machines, served over vfio-user.
#include "base/event_loop.hpp"
#include "base/log.hpp"
#include "check/checker.hpp"
#include "check/command_log.hpp"
#include "check/envelope.hpp"
#include "check/fault_plan.hpp"
#include "check/packet_capture.hpp"
#include "fabric/fabric.hpp"
#include "program/adapter.hpp"
#include "program/command_line.hpp"
#include "program/control_commands.hpp"
#include "program/control_socket.hpp"
#include "program/device_faults.hpp"
#include "program/options.hpp"
#include "program/packet_faults.hpp"
#include "subnet_manager/subnet_manager.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <expected>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <sys/signalfd.h>
#include <vector>

namespace {

using namespace cxemu;

/// SIGTERM and SIGINT stop the loop, SIGUSR1 requests statistics. They must be blocked before
/// threads start.
class Signals {
public:
    Signals(EventLoop& loop, std::function<void()> print_statistics)
        : loop_(loop), print_statistics_(std::move(print_statistics)), fd_(make_signalfd()),
          watch_(loop, fd_.get(), {.readable = true}, [this](Readiness) { take(); }) {}

private:
    static UniqueFd make_signalfd() {
        sigset_t signals;
        sigemptyset(&signals);
        for (const int signal : {SIGTERM, SIGINT, SIGUSR1})
            sigaddset(&signals, signal);
        sigprocmask(SIG_BLOCK, &signals, nullptr);
        return UniqueFd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
    }

    void take() {
        signalfd_siginfo info{};
        if (::read(fd_.get(), &info, sizeof(info)) != sizeof(info))
            return;
        if (info.ssi_signo == SIGUSR1)
            print_statistics_();
        else
            loop_.stop();
    }

    EventLoop& loop_;
    std::function<void()> print_statistics_;
    UniqueFd fd_;
    FdWatch watch_;
};

/// All objects that live as long as the event loop runs.
class Service {
public:
    explicit Service(const program::Options& options)
        : options_(options), log_(make_log("cxemu")), checker_(make_log("checker")),
          faults_(loop_, make_log("faults")), fabric_(loop_, switch_settings(options)),
          control_commands_(adapters_, fabric_, checker_, faults_),
          signals_(loop_, [this] { print_statistics(); }) {
        faults_.set_device_handler([this](std::string_view device, const auto& fault) {
            for (const auto& adapter : adapters_) {
                if (device.empty() || adapter->name() == device)
                    program::inject(*adapter, fault);
            }
        });
    }

    std::expected<void, std::string> start() {
        if (options_.allow_list) {
            if (auto read = checker_.read_allow_list(*options_.allow_list); !read)
                return read;
        }
        if (options_.command_log) {
            auto opened = check::CommandLog::open(*options_.command_log);
            if (!opened)
                return std::unexpected(opened.error());
            command_log_ = *std::move(opened);
        }
        if (options_.envelope)
            envelope_.emplace();
        if (options_.control) {
            auto control = program::ControlSocket::listen(
                loop_, *options_.control,
                [this](const auto& words) { return control_commands_.run(words); }, log_);
            if (!control)
                return std::unexpected(control.error());
            control_ = *std::move(control);
        }
        if (options_.packet_capture) {
            if (auto started = start_capture(*options_.packet_capture); !started)
                return started;
        }
        if (auto started = start_adapters(); !started)
            return started;
        packet_faults_.emplace(loop_, faults_, fabric_);
        if (options_.subnet_manager.value_or(false)) {
            subnet_manager_.emplace(loop_, fabric_.central_switch(),
                                    subnet_manager::ManagerSettings{}, make_log("sm"));
            subnet_manager_->start();
        }
        return read_faults();
    }

    std::expected<void, std::string> run() {
        loop_.run();
        print_statistics();
        if (options_.envelope) {
            if (auto written = envelope_->write(*options_.envelope); !written)
                return written;
        }
        if (options_.violations)
            return checker_.write_report(*options_.violations);
        return {};
    }

private:
    static fabric::SwitchSettings switch_settings(const program::Options& options) {
        constexpr fabric::Guid guid_distance = 0x8000;
        fabric::SwitchSettings settings;
        settings.ports = *program::switch_ports_of(options);
        settings.node_guid = program::settings_of(options, 0)->node_guid + guid_distance;
        settings.system_image_guid = settings.node_guid;
        return settings;
    }

    std::expected<void, std::string> start_capture(const std::filesystem::path& file) {
        const auto limits = program::capture_limits_of(options_);
        if (!limits)
            return std::unexpected(limits.error());
        auto capture = check::PacketCapture::open(loop_, file, log_, *limits);
        if (!capture)
            return std::unexpected(capture.error());
        capture_ = *std::move(capture);
        return {};
    }

    std::expected<void, std::string> read_faults() {
        if (options_.fault_seed)
            faults_.set_seed(*options_.fault_seed);
        if (options_.faults) {
            if (auto read = faults_.read(*options_.faults); !read)
                return read;
        }
        for (const std::string& line : options_.fault) {
            if (auto added = faults_.add(line); !added)
                return std::unexpected(fmt::format("--fault \"{}\": {}", line, added.error()));
        }
        return {};
    }

    std::expected<void, std::string> start_adapters() {
        for (std::size_t number = 0; number < options_.hcas.size(); ++number) {
            auto settings = program::settings_of(options_, number);
            if (!settings)
                return std::unexpected(settings.error());
            const auto link = program::link_of(options_, number);
            if (!link)
                return std::unexpected(link.error());
            auto adapter = program::Adapter::make({.loop = loop_,
                                                   .fabric = fabric_,
                                                   .checker = checker_,
                                                   .command_log = command_log_.get(),
                                                   .faults = &faults_,
                                                   .envelope = envelope_ ? &*envelope_ : nullptr},
                                                  *std::move(settings), *link);
            if (!adapter)
                return std::unexpected(adapter.error());
            adapters_.push_back(*std::move(adapter));
            if (auto listening = adapters_.back()->listen(loop_, options_.hcas[number].socket);
                !listening)
                return listening;
        }
        if (capture_)
            fabric_.add_tap(
                [this](const fabric::Link&, fabric::LinkDirection, const fabric::Packet& packet) {
                    capture_->write(packet.bytes());
                });
        return {};
    }

    void print_statistics() {
        for (const auto& adapter : adapters_)
            log_->info("{}: {}", adapter->name(), adapter->statistics().dump());
        log_->info("fabric: {}", fabric_.statistics().dump());
        if (subnet_manager_)
            log_->info("subnet manager: {}", subnet_manager_->statistics().dump());
        log_->info("faults: {}", faults_.to_json().dump());
        log_->info("violations: {}", checker_.counted());
    }

    const program::Options& options_;
    EventLoop loop_;
    Log log_;
    check::Checker checker_;
    std::unique_ptr<check::CommandLog> command_log_;
    std::optional<check::Envelope> envelope_;
    std::unique_ptr<check::PacketCapture> capture_;
    check::FaultPlan faults_;
    fabric::Fabric fabric_;
    std::optional<subnet_manager::SubnetManager> subnet_manager_;
    std::vector<std::unique_ptr<program::Adapter>> adapters_;
    std::optional<program::PacketFaults> packet_faults_;
    program::ControlCommands control_commands_;
    std::unique_ptr<program::ControlSocket> control_;
    Signals signals_;
};

std::expected<void, std::string> serve(const program::Options& options) {
    const auto level = options.log_level.value_or(spdlog::level::info);
    if (auto configured = configure_logging(level, {}); !configured)
        return configured;
    Service service(options);
    if (auto started = service.start(); !started)
        return started;
    return service.run();
}

int run(int argc, char** argv) {
    const auto options = program::parse_command_line(argc, argv);
    if (!options)
        return options.error().status;
    const auto outcome = serve(*options);
    if (outcome)
        return EXIT_SUCCESS;
    fmt::print(stderr, "cxemu: {}\n", outcome.error());
    return EXIT_FAILURE;
}

} // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        fmt::print(stderr, "cxemu: {}\n", error.what());
        return EXIT_FAILURE;
    }
}
