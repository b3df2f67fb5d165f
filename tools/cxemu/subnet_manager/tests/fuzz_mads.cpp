// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// libFuzzer target: MADs of hosts to the subnet manager and to subnet administration, responses to
/// its SMPs that a host's software has changed, links that go down and up.
///
/// The input is a sequence of steps: a byte that selects the step, then the step's parameters.
#include "base/testing/fuzz_input.hpp"
#include "subnet_manager/tests/fixtures.hpp"

#include <array>
#include <cstdlib>
#include <span>
#include <spdlog/sinks/callback_sink.h>
#include <spdlog/spdlog.h>

namespace {

using namespace cxemu;
using namespace cxemu::subnet_manager;
using namespace cxemu::subnet_manager::testing;

template <hwtab::FixedString name>
constexpr std::uint64_t record = hwtab::value<hwtab::sa_attribute, name>;

class Fuzzer {
public:
    explicit Fuzzer(std::span<const std::uint8_t> input) : source_(input) {
        Switch& root = network_.add_switch(0);
        for (std::uint8_t port = 1; port <= 3; ++port)
            network_.add_host(root, port);
        network_.time.settle();
        network_.manager = std::make_unique<SubnetManager>(network_.time.loop, root,
                                                           ManagerSettings{}, make_silent_log());
        network_.manager->start();
        while (!network_.all_hosts_are_active())
            network_.time.settle();
        network_.time.settle(); // administration runs
        sender_ = network_.hosts.front().get();
    }
    Fuzzer(const Fuzzer&) = delete;
    Fuzzer& operator=(const Fuzzer&) = delete;
    /// The manager refers to the switch, so it is destroyed first.
    ~Fuzzer() { network_.manager.reset(); }

    void run() {
        for (int steps = 0; !source_.empty() && steps < 32; ++steps) {
            step();
            network_.time.settle();
        }
        network_.time.advance(seconds(1));
    }

private:
    void step() {
        switch (source_.byte() % 8) {
        case 0:
        case 1:
        case 2:
            return ask_administration();
        case 3:
            return acknowledge();
        case 4:
            return send_smp();
        case 5:
            return change_responses();
        case 6:
            return network_.links[source_.byte() % network_.links.size()]->set_plugged(
                source_.byte() % 2 != 0);
        default:
            return network_.time.advance(milliseconds(10) * source_.byte());
        }
    }
    Host& host() { return *network_.hosts[source_.byte() % network_.hosts.size()]; }

    /// Puts GIDs and LIDs of the subnet and any bytes into the data of a MAD.
    void fill(std::span<std::byte> data) {
        for (std::uint8_t count = source_.byte() % 8; count > 0; --count) {
            const std::uint8_t kind = source_.byte();
            const auto at = data.subspan(source_.byte() % data.size());
            fabric::Gid gid = host().port.gid(0);
            if (kind % 4 == 0)
                gid = {0xff12'401b'ffff'0000, 0xffff'ffff}; // the broadcast group of IPoIB
            if (kind % 4 < 2) {
                std::ranges::copy(std::span(gid.bytes).first(std::min<std::size_t>(16, at.size())),
                                  at.begin());
            } else {
                for (std::byte& byte : at.first(std::min<std::size_t>(kind / 4U % 9, at.size())))
                    byte = std::byte{source_.byte()};
            }
        }
    }

    void ask_administration() {
        constexpr std::array methods{MadMethod::get,       MadMethod::set,
                                     MadMethod::get_table, MadMethod::remove,
                                     MadMethod::report,    MadMethod::report_response};
        constexpr std::array attributes{
            record<"class_portinfo">, record<"notice">,        record<"inform_info">,
            record<"node_rec">,       record<"port_info_rec">, record<"inform_info_rec">,
            record<"path_rec">,       record<"mc_member_rec">, record<"service_rec">};
        last_ = Mad{};
        const hwtab::View<hwtab::sa_mad> view(last_);
        view.set<"base_version">(1);
        view.set<"mgmt_class">(hwtab::value<hwtab::mgmt_class, "subn_adm">);
        view.set<"class_version">(2);
        view.set<"method">(static_cast<std::uint64_t>(source_.one_of(methods)));
        view.set<"transaction_id">(source_.byte());
        view.set<"attribute_id">(source_.one_of(attributes));
        view.set<"attribute_modifier">(std::uint64_t{source_.byte()} << 24U);
        view.set<"component_mask">(source_.number(4));
        view.set<"sm_key">(source_.byte() % 2);
        fill(view.bytes<"data">());
        sender_ = &host();
        send_to_administration();
    }

    /// Control of the transfer that the last request has begun.
    void acknowledge() {
        const hwtab::View<hwtab::sa_mad> view(last_);
        view.set<"rmpp_header.rmpp_type">(source_.byte() % 6);
        view.set<"rmpp_header.rmpp_flags">(hwtab::value<hwtab::rmpp_flags, "active">);
        view.set<"rmpp_header.segment_number">(source_.number(1 + (source_.byte() % 4)));
        view.set<"rmpp_header.new_window_last">(source_.number(1 + (source_.byte() % 4)));
        send_to_administration();
    }
    void send_to_administration() {
        const HcaPort& port = sender_->port;
        sender_->port.send(general_services_packet(last_, port.lid(), port.sm_lid()));
    }

    void send_smp() {
        constexpr std::array methods{MadMethod::get, MadMethod::set, MadMethod::trap,
                                     MadMethod::trap_repress, MadMethod::get_response};
        constexpr std::array attributes{attribute<"notice">, attribute<"sm_info">,
                                        attribute<"node_info">, attribute<"port_info">,
                                        attribute<"switch_info">};
        Mad smp = make_smp(source_.one_of(methods), source_.one_of(attributes), source_.byte());
        fabric::Smp(smp).set<"transaction_id">(source_.number(2));
        fill(fabric::Smp(smp).bytes<"data">());
        Host& from = host();
        from.port.send(fabric::subnet_management_packet(smp, from.port.lid(), from.port.sm_lid()));
    }

    /// From here on the software of the host responds to SMPs, with other bytes in every response.
    void change_responses() {
        Host& changed = host();
        changed.has_qp0 = source_.byte() % 4 != 0;
        changed.is_silent = source_.byte() % 8 == 0;
        if (source_.byte() % 4 == 0)
            changed.run_manager(source_.byte() % 16, static_cast<ManagerState>(source_.byte() % 4));
        std::array<std::byte, fabric::smp_data_size> mask{};
        fill(mask);
        const std::uint64_t only =
            source_.byte() % 2 == 0 ? attribute<"node_info"> : attribute<"port_info">;
        changed.changes_reply = [mask, only](Mad& reply) {
            if (fabric::ConstMadHeader(reply).get<"attribute_id">() != only)
                return;
            const auto data = fabric::Smp(reply).bytes<"data">();
            std::ranges::transform(data, mask, data.begin(), std::bit_xor{});
        };
    }

    ManagedNetwork network_;
    cxemu::testing::FuzzInput source_;
    Mad last_{};
    Host* sender_ = nullptr; ///< of the last request
};

/// The event loop logs an exception of a handler and continues, but for the fuzzer it is a failure.
void stop_at_exceptions() {
    auto sink = std::make_shared<spdlog::sinks::callback_sink_mt>(
        [](const spdlog::details::log_msg& message) {
            if (message.level >= spdlog::level::err)
                std::abort();
        });
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("fuzz", std::move(sink)));
}

} // namespace

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
    stop_at_exceptions();
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Fuzzer({data, size}).run();
    return 0;
}
