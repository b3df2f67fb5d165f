// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// cxemu: ConnectX host channel adapters for virtual machines, served over vfio-user.
#include "base/byte_order.hpp"
#include "base/event_loop.hpp"
#include "base/log.hpp"
#include "pci/function.hpp"
#include "vfio_user/server.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <expected>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <sys/signalfd.h>
#include <vector>

namespace {

using namespace cxemu;

struct Options {
    std::vector<std::filesystem::path> sockets;
    std::uint32_t device_id = 0x1017;
    std::uint32_t vectors = 64;
    std::optional<std::filesystem::path> log_file;
    spdlog::level::level_enum log_level = spdlog::level::info;
};

/// BAR 0 of an HCA whose firmware has not started: the init segment says "initializing", the rest
/// reads as zero.
class UnstartedHca final : public pci::DeviceModel {
public:
    void bar_read(std::uint64_t offset, std::span<std::byte> out) override {
        constexpr std::uint64_t initializing = 0x1fc;
        std::ranges::fill(out, std::byte{0});
        if (offset == initializing)
            out.front() = std::byte{0x80};
    }
    void bar_write(std::uint64_t /*offset*/, std::span<const std::byte> /*data*/) override {}
    void reset(pci::ResetCause /*cause*/) override {}
    void vectors_changed(std::uint32_t /*first*/, std::uint32_t /*count*/) override {}
};

/// One emulated HCA and the socket it is reached by.
class Hca {
public:
    Hca(const Options& options, std::size_t number)
        : log_(make_log(fmt::format("hca{}", number))),
          function_(function_config(options, number), log_) {
        function_.attach(model_);
    }

    std::expected<void, std::string> listen(EventLoop& loop, const std::filesystem::path& path) {
        auto server = vfio_user::Server::listen(loop, path, function_, log_);
        if (!server)
            return std::unexpected(server.error());
        server_ = *std::move(server);
        return {};
    }

    void log_statistics() {
        const auto& session = server_->statistics();
        const auto& dma = function_.dma().statistics();
        const auto& interrupts = function_.interrupts().statistics();
        const auto& function = function_.statistics();
        log_->info("{} connections, {} errors answered, {} bytes in, {} bytes out",
                   session.connections, session.errors_answered, session.bytes_received,
                   session.bytes_sent);
        log_->info("{} BAR reads, {} BAR writes, {} function level resets, {} bus resets",
                   function.bar_reads, function.bar_writes, function.function_level_resets,
                   function.bus_resets);
        log_->info("{} DMA reads, {} DMA writes, {} master aborts, {} refused, {} maps ({} without "
                   "file)",
                   dma.reads, dma.writes, dma.master_aborts, dma.refused, dma.maps,
                   dma.maps_without_file);
        log_->info("{} interrupts raised, {} delivered", interrupts.raised, interrupts.delivered);
    }

private:
    static pci::FunctionConfig function_config(const Options& options, std::size_t number) {
        pci::FunctionConfig config;
        config.device_id = static_cast<std::uint16_t>(options.device_id);
        config.msix_vectors = options.vectors;
        config.serial_number = 0x0002'c900'0000'0000ULL + (number << 8U);
        return config;
    }

    Log log_;
    UnstartedHca model_;
    pci::Function function_;
    std::unique_ptr<vfio_user::Server> server_;
};

/// SIGTERM and SIGINT end the loop; they must be blocked before threads start.
class StopSignals {
public:
    explicit StopSignals(EventLoop& loop)
        : fd_(make_signalfd()),
          watch_(loop, fd_.get(), {.readable = true}, [&loop](Readiness) { loop.stop(); }) {}

private:
    static UniqueFd make_signalfd() {
        sigset_t signals;
        sigemptyset(&signals);
        sigaddset(&signals, SIGTERM);
        sigaddset(&signals, SIGINT);
        sigprocmask(SIG_BLOCK, &signals, nullptr);
        return UniqueFd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
    }

    UniqueFd fd_;
    FdWatch watch_;
};

void describe(CLI::App& app, Options& options) {
    static const std::map<std::string, spdlog::level::level_enum> levels{
        {"trace", spdlog::level::trace}, {"debug", spdlog::level::debug},
        {"info", spdlog::level::info},   {"warn", spdlog::level::warn},
        {"error", spdlog::level::err},   {"off", spdlog::level::off}};
    app.add_option("--hca", options.sockets,
                   "Listen on this UNIX socket for a virtual machine; once for each HCA")
        ->required()
        ->type_name("SOCKET");
    app.add_option_function<std::string>(
           "--device-id",
           [&](const std::string& text) {
               options.device_id = static_cast<std::uint32_t>(std::stoul(text, nullptr, 16));
           },
           "PCI device id, hexadecimal (default 1017, a ConnectX-5)")
        ->check([](const std::string& text) {
            const bool valid = !text.empty() && text.size() <= 4 &&
                               text.find_first_not_of("0123456789abcdefABCDEF") == text.npos;
            return valid ? std::string()
                         : fmt::format("\"{}\" is not a hexadecimal number of 1 to 4 digits", text);
        })
        ->type_name("ID");
    app.add_option("--vectors", options.vectors, "Number of MSI-X vectors")
        ->check(CLI::Range(1, 256))
        ->capture_default_str();
    app.add_option("--log", options.log_file, "Write the log to this file, not to standard error")
        ->type_name("FILE");
    app.add_option("--log-level", options.log_level, "trace, debug, info, warn, error or off")
        ->transform(CLI::CheckedTransformer(levels).description(""))
        ->type_name("LEVEL");
}

std::expected<void, std::string> serve(const Options& options) {
    EventLoop loop;
    const StopSignals stop_signals(loop);
    std::vector<std::unique_ptr<Hca>> hcas;
    for (const auto& socket : options.sockets) {
        auto hca = std::make_unique<Hca>(options, hcas.size());
        if (const auto listening = hca->listen(loop, socket); !listening)
            return listening;
        hcas.push_back(std::move(hca));
    }
    loop.run();
    for (const auto& hca : hcas)
        hca->log_statistics();
    return {};
}

int run(int argc, char** argv) {
    Options options;
    CLI::App app("Emulated ConnectX host channel adapters for virtual machines (QEMU's "
                 "vfio-user-pci).");
    describe(app, options);
    CLI11_PARSE(app, argc, argv);
    auto outcome = configure_logging(options.log_level, options.log_file);
    if (outcome)
        outcome = serve(options);
    if (!outcome) {
        fmt::print(stderr, "cxemu: {}\n", outcome.error());
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
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
