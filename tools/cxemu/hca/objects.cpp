// SPDX-License-Identifier: GPL-2.0-or-later
#include "hca/objects.hpp"

#include "hca/capabilities.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

namespace cxemu::hca {

namespace {

constexpr std::uint32_t bits_of_number = 24; ///< width of most object numbers in commands
constexpr std::uint32_t bits_of_eqn = 8;
constexpr std::uint32_t bits_of_uid = 15; ///< the last one of 16 bits is shared_uid

/// UAR pages below this one hold the initialization segment and the MSI-X structures.
constexpr std::uint32_t first_uar = 0x10;
/// Software keeps SRQs of all kinds in one table, and QPs refer to an SRQ without its kind, so the
/// numbers of the kinds must not overlap.
constexpr NumberRange receive_pool_numbers{1, (1U << 22U) - 1};
constexpr NumberRange shared_receive_numbers{1U << 22U, 1U << 22U};
constexpr NumberRange xrc_shared_receive_numbers{1U << 23U, 1U << 22U};
constexpr NumberRange extended_receive_numbers{3U << 22U, 1U << 22U};

/// At most 2^log numbers of \p range.
NumberRange among(NumberRange range, std::uint64_t log) {
    const auto max = 1U << std::min<std::uint64_t>(log, bits_of_number);
    return {range.first, std::min(range.capacity, max)};
}

/// Numbers from \p first to the end of a table of 2^log entries.
NumberRange up_to(std::uint32_t first, std::uint64_t log) {
    const auto size = 1U << std::min<std::uint64_t>(log, bits_of_number);
    return {first, size > first ? size - first : 0};
}

/// The limit of the function may be lower than that of the device (max_num_eqs; 0: no limit). The
/// field of the second general page has more bits and takes precedence.
NumberRange event_queue_numbers(const Capabilities& capabilities) {
    NumberRange numbers =
        up_to(first_event_queue,
              std::min<std::uint64_t>(bits_of_eqn, capabilities.current<"log_max_eq">()));
    auto max = capabilities.current<"max_num_eqs">();
    if (const auto wide = capabilities.general_2<"max_num_eqs_24b">(); wide != 0)
        max = wide;
    if (max != 0)
        numbers.capacity =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(numbers.capacity, max));
    return numbers;
}

/// Software maps a whole page of the host, so all UAR pages in it belong to one Uar.
NumberRange uar_numbers(const Capabilities& capabilities) {
    const std::uint32_t step = capabilities.uars_in_host_page();
    const std::uint32_t first = std::max(first_uar, step);
    const auto pages = static_cast<std::uint32_t>(capabilities.uar_pages());
    return {first, pages > first ? (pages - first) / step : 0, step};
}

} // namespace

std::string_view name_of(ObjectKind kind) {
    switch (kind) {
    case ObjectKind::protection_domain:
        return "protection domain";
    case ObjectKind::uar:
        return "UAR";
    case ObjectKind::xrc_domain:
        return "XRC domain";
    case ObjectKind::transport_domain:
        return "transport domain";
    case ObjectKind::user_context:
        return "user context";
    case ObjectKind::user_memory:
        return "user memory";
    case ObjectKind::memory_key:
        return "memory key";
    case ObjectKind::signature_variable:
        return "signature variable";
    case ObjectKind::event_queue:
        return "event queue";
    case ObjectKind::completion_queue:
        return "completion queue";
    case ObjectKind::queue_pair:
        return "queue pair";
    case ObjectKind::receive_memory_pool:
        return "receive memory pool";
    case ObjectKind::shared_receive_queue:
        return "shared receive queue";
    case ObjectKind::xrc_shared_receive_queue:
        return "XRC shared receive queue";
    case ObjectKind::extended_receive_queue:
        return "extended shared receive queue";
    case ObjectKind::dynamically_connected_target:
        return "dynamically connected target";
    case ObjectKind::queue_counter_set:
        return "queue counter set";
    case ObjectKind::general_object:
        return "general object";
    case ObjectKind::reserved_number_range:
        return "range of reserved numbers";
    case ObjectKind::scheduling_element:
        return "scheduling element";
    }
    return "object";
}

NumberRange number_range(ObjectKind kind, const Capabilities& capabilities) {
    switch (kind) {
    case ObjectKind::protection_domain:
        return up_to(1, capabilities.current<"log_max_pd">());
    case ObjectKind::uar:
        return uar_numbers(capabilities);
    case ObjectKind::xrc_domain:
        return up_to(1, capabilities.current<"log_max_xrcd">());
    case ObjectKind::transport_domain:
        return up_to(1, capabilities.current<"log_max_transport_domain">());
    case ObjectKind::user_context:
        return up_to(1,
                     std::min<std::uint64_t>(bits_of_uid, capabilities.current<"log_max_uctx">()));
    case ObjectKind::user_memory:
        return up_to(1, capabilities.current<"log_max_umem">());
    case ObjectKind::memory_key:
        return up_to(first_memory_key, capabilities.current<"log_max_mkey">());
    case ObjectKind::signature_variable:
        return up_to(1, capabilities.current<"log_max_mkey">());
    case ObjectKind::event_queue:
        return event_queue_numbers(capabilities);
    case ObjectKind::completion_queue:
        return up_to(1, capabilities.current<"log_max_cq">());
    case ObjectKind::queue_pair:
        return up_to(first_queue_pair, capabilities.current<"log_max_qp">());
    case ObjectKind::receive_memory_pool:
        return among(receive_pool_numbers, capabilities.current<"log_max_rmp">());
    case ObjectKind::shared_receive_queue:
        return among(shared_receive_numbers, capabilities.current<"log_max_srq">());
    case ObjectKind::xrc_shared_receive_queue:
        return among(xrc_shared_receive_numbers, capabilities.current<"log_max_srq">());
    case ObjectKind::extended_receive_queue:
        return among(extended_receive_numbers, capabilities.current<"log_max_xrq">());
    case ObjectKind::dynamically_connected_target:
        return up_to(first_queue_pair, capabilities.current<"log_max_qp">());
    case ObjectKind::queue_counter_set:
        return {1, static_cast<std::uint32_t>(
                       std::min<std::uint64_t>(capabilities.current<"max_qp_cnt">(), 0xff))};
    case ObjectKind::general_object:
    case ObjectKind::scheduling_element:
        return {1, std::numeric_limits<std::uint16_t>::max()};
    case ObjectKind::reserved_number_range:
        return {ReservedNumberRange::table_number(ReservedNumberRange::first),
                1U << (ReservedNumberRange::log_total - ReservedNumberRange::log_size)};
    }
    return {};
}

Object* Objects::find_any(ObjectKind kind, std::uint32_t number) const {
    const auto& table = tables_[static_cast<std::size_t>(kind)];
    return table ? table->find_any(number) : nullptr;
}

std::size_t Objects::count(ObjectKind kind) const {
    const auto& table = tables_[static_cast<std::size_t>(kind)];
    return table ? table->size() : 0;
}

std::size_t Objects::count() const {
    std::size_t sum = 0;
    for (const auto& table : tables_)
        sum += table ? table->size() : 0;
    return sum;
}

std::size_t Objects::owned_by(std::uint16_t uid) const {
    std::size_t sum = 0;
    for (const auto& table : tables_)
        sum += table ? table->owned_by(uid) : 0;
    return sum;
}

void Objects::clear() {
    for (std::size_t i = 0; i < tables_.size(); ++i) {
        if (tables_[i])
            tables_[i]->clear(number_range(static_cast<ObjectKind>(i), capabilities_));
    }
}

nlohmann::json Objects::to_json() const {
    nlohmann::json result = nlohmann::json::object();
    for (std::size_t i = 0; i < tables_.size(); ++i) {
        if (tables_[i])
            result[std::string(name_of(static_cast<ObjectKind>(i)))] = {
                {"living", tables_[i]->size()}, {"created", tables_[i]->created()}};
    }
    return result;
}

} // namespace cxemu::hca
