// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// libFuzzer target: messages of a client, with file descriptors of several kinds.
///
/// The input is a sequence of sends: one byte that chooses descriptors (see make_fds), one byte N,
/// then N bytes of the stream. A VERSION exchange precedes them unless the top bit of the first
/// byte is set. Afterwards the device uses the maps and vectors of the client.
#include "base/event_loop.hpp"
#include "pci/function.hpp"
#include "vfio_user/server.hpp"
#include "vfio_user/testing/wire.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace {

using namespace cxemu;
using namespace cxemu::vfio_user::testing;

/// Accesses all addresses of a map in all ways.
class EagerModel final : public pci::DeviceModel {
public:
    void bar_read(std::uint64_t /*offset*/, std::span<std::byte> out) override {
        out.front() = std::byte{1};
    }
    void bar_write(std::uint64_t /*offset*/, std::span<const std::byte> /*data*/) override {}
    void reset(pci::ResetCause /*cause*/) override {}
    void vectors_changed(std::uint32_t /*first*/, std::uint32_t /*count*/) override {}
};

struct Fixture {
    Fixture() {
        function.attach(model);
        std::string directory = (std::filesystem::temp_directory_path() / "cxemu-XXXXXX").string();
        if (::mkdtemp(directory.data()) == nullptr)
            std::abort();
        auto listening = vfio_user::Server::listen(loop, std::filesystem::path(directory) / "s",
                                                   function, make_silent_log());
        std::filesystem::remove_all(directory);
        if (!listening)
            std::abort();
        server = *std::move(listening);
    }

    EventLoop loop;
    EagerModel model;
    pci::Function function{pci::FunctionConfig{}, make_silent_log()};
    std::unique_ptr<vfio_user::Server> server;
};

UniqueFd make_memory() {
    UniqueFd file(::memfd_create("fuzz", MFD_CLOEXEC));
    if (::ftruncate(file.get(), 65536) != 0)
        std::abort();
    return file;
}

/// Low three bits: number of descriptors (0..7); next two bits: eventfd, memory, pipe, memory that
/// shrinks afterwards.
std::vector<UniqueFd> make_fds(std::uint8_t choice) {
    std::vector<UniqueFd> fds;
    for (int i = 0; i < (choice & 7); ++i) {
        switch (choice >> 3U & 3U) {
        case 0:
            fds.push_back(make_eventfd());
            break;
        case 2: {
            std::array<int, 2> pipe{};
            if (::pipe(pipe.data()) != 0)
                std::abort();
            fds.emplace_back(pipe[0]);
            ::close(pipe[1]);
            break;
        }
        default:
            fds.push_back(make_memory());
        }
    }
    return fds;
}

void send_some(const UniqueFd& client, std::span<const std::byte> data,
               const std::vector<UniqueFd>& fds) {
    std::vector<int> numbers;
    for (const auto& fd : fds)
        numbers.push_back(fd.get());
    try {
        if (!data.empty())
            send_with_fds(client, data, numbers);
    } catch (const std::runtime_error&) {
        // the server has dropped the connection
    }
}

void drain_replies(const UniqueFd& client) {
    static std::array<std::byte, 65536> buffer;
    while (::recv(client.get(), buffer.data(), buffer.size(), MSG_DONTWAIT) > 0) {
    }
}

void use_device(pci::Function& function) {
    const std::array<std::byte, 2> enable{std::byte{6}, std::byte{0}};
    static_cast<void>(function.region_write(vfio_user::region::config, pci::reg::command, enable));
    std::array<std::byte, 4096> page{};
    for (std::uint64_t iova = 0; iova < 0x20000; iova += page.size()) {
        static_cast<void>(function.dma().read(iova, page));
        static_cast<void>(function.dma().write(iova, page));
        static_cast<void>(function.dma().load_be<std::uint64_t>(iova));
    }
    for (std::uint32_t vector = 0; vector < function.interrupts().size(); ++vector)
        function.interrupts().raise(vector);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* input, std::size_t size) {
    static Fixture fixture;
    std::span<const std::byte> rest = std::as_bytes(std::span(input, size));
    SocketPair sockets;
    fixture.server->adopt(std::move(sockets.server));
    if (rest.empty() || (std::to_integer<unsigned>(rest[0]) & 0x80U) == 0)
        send_with_fds(sockets.client, request(vfio_user::Command::version, version_body()));
    while (rest.size() >= 2) {
        const auto choice = std::to_integer<std::uint8_t>(rest[0]);
        const auto length =
            std::min<std::size_t>(std::to_integer<std::size_t>(rest[1]), rest.size() - 2);
        const auto fds = make_fds(choice);
        send_some(sockets.client, rest.subspan(2, length), fds);
        rest = rest.subspan(2 + length);
        fixture.loop.turn({});
        if ((choice >> 3U & 3U) == 3)
            for (const auto& fd : fds)
                if (::ftruncate(fd.get(), 4096) != 0)
                    std::abort();
        drain_replies(sockets.client);
    }
    fixture.loop.turn({});
    use_device(fixture.function);
    sockets.client.reset();
    fixture.loop.turn({});
    fixture.loop.turn({});
    if (fixture.server->connected() || fixture.function.dma().map_count() != 0)
        std::abort(); // state of the client has outlived it
    return 0;
}
