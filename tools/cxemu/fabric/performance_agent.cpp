// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/performance_agent.hpp"

#include <algorithm>
#include <limits>

namespace cxemu::fabric {
namespace {

using Pma = hwtab::View<hwtab::pma_mad>;
using ConstPma = hwtab::ConstView<hwtab::pma_mad>;
using PortCountersView = hwtab::View<hwtab::port_counters>;
using ExtendedView = hwtab::View<hwtab::port_counters_extended>;
using SamplesView = hwtab::View<hwtab::port_samples_control>;

constexpr std::uint8_t performance_class_version = 1;
constexpr std::uint8_t every_port = 255;
constexpr std::uint64_t bytes_per_data_unit = 4;

/// Duration of one sampling tick.
constexpr auto sample_tick = std::chrono::microseconds(1);
constexpr std::uint8_t tick_code = 250; ///< PortSamplesControl encoding: 4 ns * 250

/// Sets a counter of a MAD, saturated at the maximum of the field.
template <hwtab::FixedString field, class View>
void set_saturated(View view, std::uint64_t value) {
    constexpr std::uint32_t width = hwtab::locate(hwtab::port_counters, field.view()).field->width;
    constexpr std::uint64_t highest = (std::uint64_t{1} << width) - 1;
    view.template set<field>(std::min(value, highest));
}

void write_errors(PortCountersView out, const PortCounters& in) {
    set_saturated<"symbol_error_counter">(out, in.symbol_errors);
    set_saturated<"link_error_recovery_counter">(out, in.link_error_recoveries);
    set_saturated<"link_downed_counter">(out, in.link_downed);
    set_saturated<"port_rcv_errors">(out, in.receive_errors);
    set_saturated<"port_rcv_remote_physical_errors">(out, in.receive_remote_physical_errors);
    set_saturated<"port_rcv_switch_relay_errors">(out, in.receive_switch_relay_errors);
    set_saturated<"port_xmit_discards">(out, in.transmit_discards);
    set_saturated<"port_xmit_constraint_errors">(out, in.transmit_constraint_errors);
    set_saturated<"port_rcv_constraint_errors">(out, in.receive_constraint_errors);
    set_saturated<"local_link_integrity_errors">(out, in.local_link_integrity_errors);
    set_saturated<"excessive_buffer_overrun_errors">(out, in.excessive_buffer_overruns);
    set_saturated<"vl15_dropped">(out, in.vl15_dropped);
}

void write_traffic(PortCountersView out, const PortCounters& in) {
    set_saturated<"port_xmit_data">(out, in.transmit_bytes / bytes_per_data_unit);
    set_saturated<"port_rcv_data">(out, in.receive_bytes / bytes_per_data_unit);
    set_saturated<"port_xmit_pkts">(out, in.transmit_packets);
    set_saturated<"port_rcv_pkts">(out, in.receive_packets);
    set_saturated<"port_xmit_wait">(out, in.transmit_wait);
}

void write_extended(ExtendedView out, const PortCounters& in) {
    out.set<"port_xmit_data">(in.transmit_bytes / bytes_per_data_unit);
    out.set<"port_rcv_data">(in.receive_bytes / bytes_per_data_unit);
    out.set<"port_xmit_pkts">(in.transmit_packets);
    out.set<"port_rcv_pkts">(in.receive_packets);
    out.set<"port_unicast_xmit_pkts">(in.unicast_transmit_packets);
    out.set<"port_unicast_rcv_pkts">(in.unicast_receive_packets);
    out.set<"port_multicast_xmit_pkts">(in.multicast_transmit_packets);
    out.set<"port_multicast_rcv_pkts">(in.multicast_receive_packets);
}

/// A counter, its CounterSelect bit, and the bytes per unit of its value.
struct Selected {
    std::uint64_t bit;
    std::uint64_t PortCounters::* counter;
    std::uint64_t value;
    std::uint64_t unit = 1;
};

/// Sets the counters of the set bits of \p select; Set usually writes zero.
void store(PortCounters& counters, std::uint64_t select, std::span<const Selected> fields) {
    for (const Selected& field : fields)
        if ((select & field.bit) != 0)
            counters.*field.counter = field.value * field.unit;
}

template <hwtab::FixedString name>
constexpr std::uint64_t select = hwtab::value<hwtab::pma_counter_select, name>;
template <hwtab::FixedString name>
constexpr std::uint64_t select_extended = hwtab::value<hwtab::pma_counter_select_ext, name>;

void store_errors(PortCounters& counters, PortCountersView in) {
    using C = PortCounters;
    const std::array fields{
        Selected{select<"symbol_error">, &C::symbol_errors, in.get<"symbol_error_counter">()},
        Selected{select<"link_error_recovery">, &C::link_error_recoveries,
                 in.get<"link_error_recovery_counter">()},
        Selected{select<"link_downed">, &C::link_downed, in.get<"link_downed_counter">()},
        Selected{select<"port_rcv_errors">, &C::receive_errors, in.get<"port_rcv_errors">()},
        Selected{select<"port_rcv_remphys_errors">, &C::receive_remote_physical_errors,
                 in.get<"port_rcv_remote_physical_errors">()},
        Selected{select<"port_rcv_switch_relay_errors">, &C::receive_switch_relay_errors,
                 in.get<"port_rcv_switch_relay_errors">()},
        Selected{select<"port_xmit_discards">, &C::transmit_discards,
                 in.get<"port_xmit_discards">()},
        Selected{select<"port_xmit_constraint_errors">, &C::transmit_constraint_errors,
                 in.get<"port_xmit_constraint_errors">()},
        Selected{select<"port_rcv_constraint_errors">, &C::receive_constraint_errors,
                 in.get<"port_rcv_constraint_errors">()},
        Selected{select<"local_link_integrity_errors">, &C::local_link_integrity_errors,
                 in.get<"local_link_integrity_errors">()},
        Selected{select<"excessive_buffer_overruns">, &C::excessive_buffer_overruns,
                 in.get<"excessive_buffer_overrun_errors">()},
        Selected{select<"port_vl15_dropped">, &C::vl15_dropped, in.get<"vl15_dropped">()},
    };
    store(counters, in.get<"counter_select">(), fields);
}

void store_traffic(PortCounters& counters, PortCountersView in) {
    using C = PortCounters;
    const std::array fields{
        Selected{select<"port_xmit_data">, &C::transmit_bytes, in.get<"port_xmit_data">(),
                 bytes_per_data_unit},
        Selected{select<"port_rcv_data">, &C::receive_bytes, in.get<"port_rcv_data">(),
                 bytes_per_data_unit},
        Selected{select<"port_xmit_packets">, &C::transmit_packets, in.get<"port_xmit_pkts">()},
        Selected{select<"port_rcv_packets">, &C::receive_packets, in.get<"port_rcv_pkts">()},
    };
    store(counters, in.get<"counter_select">(), fields);
    constexpr auto wait = hwtab::value<hwtab::pma_counter_select2, "port_xmit_wait">;
    const std::array more{Selected{wait, &C::transmit_wait, in.get<"port_xmit_wait">()}};
    store(counters, in.get<"counter_select2">(), more);
}

void store_extended(PortCounters& counters, ExtendedView in) {
    using C = PortCounters;
    const std::array fields{
        Selected{select_extended<"port_xmit_data">, &C::transmit_bytes, in.get<"port_xmit_data">(),
                 bytes_per_data_unit},
        Selected{select_extended<"port_rcv_data">, &C::receive_bytes, in.get<"port_rcv_data">(),
                 bytes_per_data_unit},
        Selected{select_extended<"port_xmit_packets">, &C::transmit_packets,
                 in.get<"port_xmit_pkts">()},
        Selected{select_extended<"port_rcv_packets">, &C::receive_packets,
                 in.get<"port_rcv_pkts">()},
        Selected{select_extended<"port_uni_xmit_packets">, &C::unicast_transmit_packets,
                 in.get<"port_unicast_xmit_pkts">()},
        Selected{select_extended<"port_uni_rcv_packets">, &C::unicast_receive_packets,
                 in.get<"port_unicast_rcv_pkts">()},
        Selected{select_extended<"port_multi_xmit_packets">, &C::multicast_transmit_packets,
                 in.get<"port_multicast_xmit_pkts">()},
        Selected{select_extended<"port_multi_rcv_packets">, &C::multicast_receive_packets,
                 in.get<"port_multicast_rcv_pkts">()},
    };
    store(counters, in.get<"counter_select">(), fields);
}

/// The counter of a CounterSelect of PortSamplesControl; 0 if unsupported.
std::uint64_t quantity(const PortCounters& counters, std::uint16_t code) {
    switch (code) {
    case hwtab::value<hwtab::pma_sample_counter, "port_xmit_data">:
        return counters.transmit_bytes / bytes_per_data_unit;
    case hwtab::value<hwtab::pma_sample_counter, "port_rcv_data">:
        return counters.receive_bytes / bytes_per_data_unit;
    case hwtab::value<hwtab::pma_sample_counter, "port_xmit_pkts">:
        return counters.transmit_packets;
    case hwtab::value<hwtab::pma_sample_counter, "port_rcv_pkts">:
        return counters.receive_packets;
    case hwtab::value<hwtab::pma_sample_counter, "port_xmit_wait">:
        return counters.transmit_wait;
    default:
        return 0;
    }
}

} // namespace

PerformanceAgent::PerformanceAgent(EventLoop& loop, CountedNode& node)
    : node_(node), timer_(loop, [this] {
          if (sampling_.status == Sampling::Status::started)
              begin_sample();
          else
              end_sample();
      }) {}

void PerformanceAgent::reset() {
    timer_.stop();
    sampling_ = {};
}

PerformanceAgent::Handler PerformanceAgent::find_handler(std::uint16_t attribute) {
    switch (attribute) {
    case hwtab::value<hwtab::pma_attribute, "class_port_info">:
        return &PerformanceAgent::class_port_info;
    case hwtab::value<hwtab::pma_attribute, "port_counters">:
        return &PerformanceAgent::port_counters;
    case hwtab::value<hwtab::pma_attribute, "port_counters_ext">:
        return &PerformanceAgent::port_counters_extended;
    case hwtab::value<hwtab::pma_attribute, "port_samples_control">:
        return &PerformanceAgent::port_samples_control;
    case hwtab::value<hwtab::pma_attribute, "port_samples_result">:
        return &PerformanceAgent::port_samples_result;
    default:
        return nullptr;
    }
}

std::optional<Mad> PerformanceAgent::process(const Mad& request) {
    const ConstMadHeader header(request);
    if (class_of(request) != hwtab::value<hwtab::mgmt_class, "perf_mgmt">)
        return std::nullopt;
    const MadMethod method = method_of(request);
    constexpr std::uint8_t response_bit = 0x80;
    if ((static_cast<std::uint8_t>(method) & response_bit) != 0)
        return std::nullopt;
    Mad response = request;
    if (header.get<"base_version">() != 1 ||
        header.get<"class_version">() != performance_class_version) {
        make_response(response, MadStatus::bad_version);
        return response;
    }
    if (method != MadMethod::get && method != MadMethod::set) {
        make_response(response, MadStatus::unsupported_method);
        return response;
    }
    const Handler handler = find_handler(static_cast<std::uint16_t>(header.get<"attribute_id">()));
    const MadStatus status = handler == nullptr
                                 ? MadStatus::unsupported_attribute
                                 : (this->*handler)(response, method == MadMethod::set);
    make_response(response, status);
    return response;
}

MadStatus PerformanceAgent::class_port_info(Mad& mad, bool set) {
    if (set)
        return MadStatus::unsupported_attribute;
    const Pma pma(mad);
    std::ranges::fill(pma.bytes<"data">(), std::byte{0});
    const auto info = pma.nested<"data", hwtab::class_port_info>();
    constexpr auto ports = hwtab::value<hwtab::pma_capability, "all_port_select">;
    const auto all_ports = node_.all_ports().empty() ? 0 : ports;
    info.set<"base_version">(1);
    info.set<"class_version">(performance_class_version);
    info.set<"capability_mask">(hwtab::value<hwtab::pma_capability, "ext_width"> |
                                hwtab::value<hwtab::pma_capability, "xmit_wait"> | all_ports);
    info.set<"resp_time_value">(response_time);
    return MadStatus::ok;
}

std::optional<std::vector<std::uint8_t>> PerformanceAgent::selected(std::uint8_t port) const {
    if (port == every_port && !node_.all_ports().empty())
        return node_.all_ports();
    if (node_.counters(port) == nullptr)
        return std::nullopt;
    return std::vector{port};
}

PortCounters PerformanceAgent::sum(const std::vector<std::uint8_t>& ports) const {
    PortCounters sum;
    for (const std::uint8_t port : ports)
        sum += *node_.counters(port);
    return sum;
}

MadStatus PerformanceAgent::port_counters(Mad& mad, bool set) {
    const auto attribute = Pma(mad).nested<"data", hwtab::port_counters>();
    const auto ports = selected(static_cast<std::uint8_t>(attribute.get<"port_select">()));
    if (!ports)
        return MadStatus::invalid_field;
    if (set) {
        for (const std::uint8_t port : *ports) {
            store_errors(*node_.counters(port), attribute);
            store_traffic(*node_.counters(port), attribute);
        }
    }
    const PortCounters counters = sum(*ports);
    write_errors(attribute, counters);
    write_traffic(attribute, counters);
    return MadStatus::ok;
}

MadStatus PerformanceAgent::port_counters_extended(Mad& mad, bool set) {
    const auto attribute = Pma(mad).nested<"data", hwtab::port_counters_extended>();
    const auto ports = selected(static_cast<std::uint8_t>(attribute.get<"port_select">()));
    if (!ports)
        return MadStatus::invalid_field;
    if (set)
        for (const std::uint8_t port : *ports)
            store_extended(*node_.counters(port), attribute);
    write_extended(attribute, sum(*ports));
    return MadStatus::ok;
}

// --- Sampling ------------------------------------------------------------------------------------

MadStatus PerformanceAgent::start_sampling(const Mad& mad) {
    const auto attribute = ConstPma(mad).nested<"data", hwtab::port_samples_control>();
    if (sampling_.status != Sampling::Status::done)
        return MadStatus::ok; // Set is ignored while sampling runs
    sampling_ = {.status = Sampling::Status::started,
                 .port = static_cast<std::uint8_t>(attribute.get<"port_select">()),
                 .tag = static_cast<std::uint16_t>(attribute.get<"tag">()),
                 .interval = static_cast<std::uint32_t>(attribute.get<"sample_interval">()),
                 .start = static_cast<std::uint32_t>(attribute.get<"sample_start">())};
    for (std::size_t i = 0; i < sample_counters; ++i)
        sampling_.select[i] = static_cast<std::uint16_t>(attribute.get_at<"counter_select">(i));
    timer_.start(sampling_.start * sample_tick);
    return MadStatus::ok;
}

MadStatus PerformanceAgent::port_samples_control(Mad& mad, bool set) {
    const auto attribute = Pma(mad).nested<"data", hwtab::port_samples_control>();
    const auto port = static_cast<std::uint8_t>(attribute.get<"port_select">());
    if (node_.counters(port) == nullptr)
        return MadStatus::invalid_field;
    if (set)
        if (const MadStatus status = start_sampling(mad); status != MadStatus::ok)
            return status;
    std::ranges::fill(attribute.memory(), std::byte{0});
    constexpr std::uint8_t counts_all = 7; // counts all mandatory quantities
    attribute.set<"port_select">(port);
    attribute.set<"tick">(tick_code);
    attribute.set<"counter_mask0">(counts_all);
    attribute.set<"counter_mask1">(counts_all);
    attribute.set<"counter_mask2">(counts_all);
    attribute.set<"sample_status">(static_cast<std::uint64_t>(sampling_.status));
    attribute.set<"sample_start">(sampling_.start);
    attribute.set<"sample_interval">(sampling_.interval);
    attribute.set<"tag">(sampling_.tag);
    for (std::size_t i = 0; i < sample_counters; ++i)
        attribute.set_at<"counter_select">(i, sampling_.select[i]);
    return MadStatus::ok;
}

MadStatus PerformanceAgent::port_samples_result(Mad& mad, bool set) {
    if (set)
        return MadStatus::unsupported_attribute;
    const auto attribute = Pma(mad).nested<"data", hwtab::port_samples_result>();
    std::ranges::fill(attribute.memory(), std::byte{0});
    attribute.set<"tag">(sampling_.tag);
    attribute.set<"sample_status">(static_cast<std::uint64_t>(sampling_.status));
    constexpr std::uint64_t highest = std::numeric_limits<std::uint32_t>::max();
    for (std::size_t i = 0; i < sample_counters; ++i)
        attribute.set_at<"counter">(i, std::min(sampling_.result[i], highest));
    return MadStatus::ok;
}

void PerformanceAgent::begin_sample() {
    const PortCounters* counters = node_.counters(sampling_.port);
    for (std::size_t i = 0; i < sample_counters; ++i)
        sampling_.before[i] = quantity(*counters, sampling_.select[i]);
    sampling_.status = Sampling::Status::running;
    timer_.start(sampling_.interval * sample_tick);
}

void PerformanceAgent::end_sample() {
    const PortCounters* counters = node_.counters(sampling_.port);
    for (std::size_t i = 0; i < sample_counters; ++i) {
        const std::uint64_t now = quantity(*counters, sampling_.select[i]);
        // A smaller value: the counter has been cleared meanwhile.
        sampling_.result[i] = now - std::min(now, sampling_.before[i]);
    }
    sampling_.status = Sampling::Status::done;
}

} // namespace cxemu::fabric
