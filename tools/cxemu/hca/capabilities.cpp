// SPDX-License-Identifier: GPL-2.0-or-later
#include "hca/capabilities.hpp"

#include "hca/device_memory.hpp"
#include "hca/objects.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <spdlog/fmt/fmt.h>

namespace cxemu::hca {

namespace {

constexpr std::uint64_t smallest_uar_size = 4096;
constexpr std::uint64_t mebibyte = 1024 * 1024;
constexpr std::uint64_t smallest_bar_with_memory = 4 * mebibyte;

const hwtab::Layout& layout_of(CapabilityPage page) {
    switch (page) {
    case CapabilityPage::general:
    case CapabilityPage::quality_of_service: // not in the tables
        break;
    case CapabilityPage::on_demand_paging:
        return hwtab::odp_cap;
    case CapabilityPage::atomic:
        return hwtab::atomic_caps;
    case CapabilityPage::device_memory:
        return hwtab::device_mem_cap;
    case CapabilityPage::general_2:
        return hwtab::cmd_hca_cap_2;
    }
    return hwtab::cmd_hca_cap;
}

/// True when \p maximum allows \p value: a mask bit by bit, another field as a number.
bool within(const hwtab::Field& field, std::uint64_t value, std::uint64_t maximum) {
    const bool is_mask = field.values != nullptr && field.values->is_mask;
    return is_mask ? (value & ~maximum) == 0 : value <= maximum;
}

bool is_number(const hwtab::Field& field) {
    return !field.is_reserved() && !field.is_structured() && field.count == 1;
}

/// In the atomic page only the byte order of requests is writable; software sets all other fields
/// to zero.
bool is_choosable(CapabilityPage page, const hwtab::Field& field) {
    return page == CapabilityPage::general || page == CapabilityPage::on_demand_paging ||
           field.name == "atomic_req_8B_endianness_mode";
}

/// Log2 of the smallest size of a table that has the number of the first object.
struct SmallestSize {
    std::string_view field;
    std::uint64_t log;
};

constexpr std::array smallest_sizes{
    SmallestSize{"log_max_qp", std::bit_width(first_queue_pair)},
    SmallestSize{"log_max_mkey", std::bit_width(first_memory_key)},
    SmallestSize{"log_max_eq", std::bit_width(first_event_queue)},
    SmallestSize{"log_max_cq", 1},
    SmallestSize{"log_max_pd", 1},
};

/// 0 lets the device choose the value: iPXE's golan sets 0 on real adapters, and can create QPs
/// afterwards.
constexpr std::string_view keeps_at_zero = "log_max_qp";

/// The values of a page that software has set.
struct Choice {
    CapabilityPage page;
    std::span<const std::byte> block;
    std::span<const std::byte> maximum;
    std::array<std::byte, hwtab::cmd_hca_cap.size> wanted;

    /// Takes over the fields of a structure at bit offset \p base of the page.
    std::expected<void, CapabilityError> take(const hwtab::Layout& layout, std::uint32_t base) {
        for (const hwtab::Field& field : layout.fields) {
            auto taken = std::expected<void, CapabilityError>();
            if (field.layout != nullptr && page == CapabilityPage::on_demand_paging)
                taken = take(*field.layout, base + field.offset);
            else if (is_number(field) && is_choosable(page, field))
                taken = take(field, base + field.offset);
            if (!taken)
                return taken;
        }
        return {};
    }

private:
    std::expected<void, CapabilityError> take(const hwtab::Field& field, std::uint32_t offset) {
        const auto value = hwtab::read_bits(block.data(), offset, field.width);
        const auto max = hwtab::read_bits(maximum.data(), offset, field.width);
        if (!within(field, value, max))
            return std::unexpected(CapabilityError{
                Syndrome::capability_above_maximum,
                fmt::format("{} {:#x} exceeds the maximum {:#x}", field.name, value, max)});
        if (page == CapabilityPage::general && value == 0 && field.name == keeps_at_zero)
            return {};
        if (page == CapabilityPage::general && value < smallest_capability(field.name))
            return std::unexpected(CapabilityError{
                Syndrome::field_out_of_range, fmt::format("{} {} is below {}", field.name, value,
                                                          smallest_capability(field.name))});
        hwtab::write_bits(wanted.data(), offset, field.width, value);
        return {};
    }
};

/// A capability that no table lists.
struct UnlistedValue {
    std::uint32_t offset; ///< bits
    std::uint32_t width;  ///< bits
    std::uint64_t value;
};

/// Limits of reserved QPN ranges: log2 of the total, the smallest and the largest range. The
/// kernel's public interface does not list these fields, but libmlx5 uses them.
constexpr std::array reserved_number_values{
    UnlistedValue{0x8b, 5, ReservedNumberRange::log_total},
    UnlistedValue{0x93, 5, ReservedNumberRange::log_size},
    UnlistedValue{0x9b, 5, ReservedNumberRange::log_size},
};

/// QP scheduling with shares and limits: TSARs with weights, and queue groups.
constexpr std::array scheduling_values{
    UnlistedValue{0x08, 1, 1},  // nic_sq_scheduling, required by libmlx5 for the next two
    UnlistedValue{0x09, 1, 1},  // nic_bw_share
    UnlistedValue{0x0a, 1, 1},  // nic_rate_limit
    UnlistedValue{0x21, 1, 1},  // nic_qp_scheduling
    UnlistedValue{0x2b, 5, 15}, // log_max_qos_nic_queue_group
    UnlistedValue{0xe0, 32, SchedulingElement::largest_share},
    UnlistedValue{0x100, 16,
                  1U << static_cast<unsigned>(SchedulingElement::Type::node) |
                      1U << static_cast<unsigned>(SchedulingElement::Type::group)},
    UnlistedValue{0x110, 16, 1}, // weighted round robin
};

void store_unlisted(std::span<const UnlistedValue> values, std::span<std::byte> maximum,
                    std::span<std::byte> initial) {
    for (const UnlistedValue& value : values) {
        hwtab::write_bits(maximum.data(), value.offset, value.width, value.value);
        hwtab::write_bits(initial.data(), value.offset, value.width, value.value);
    }
}

} // namespace

std::uint64_t smallest_capability(std::string_view field) {
    const auto* const found = std::ranges::find(smallest_sizes, field, &SmallestSize::field);
    return found == smallest_sizes.end() ? 0 : found->log;
}

Capabilities::Capabilities(const HcaSettings& settings) : uar_end_(settings.bar_size) {
    for (const CapabilityValue& value : common_general_capabilities())
        store(general_, hwtab::cmd_hca_cap, value);
    for (const CapabilityValue& value : settings.profile->general)
        store(general_, hwtab::cmd_hca_cap, value);
    for (const CapabilityValue& value : settings.profile->general_2)
        store(general_2_, hwtab::cmd_hca_cap_2, value);
    if (!settings.profile->general_2.empty())
        store_unlisted(reserved_number_values, general_2_.maximum, general_2_.initial);
    for (const CapabilityValue& value : common_atomic_capabilities())
        store(atomic_, hwtab::atomic_caps, value);
    for (const CapabilityValue& value : settings.profile->atomic)
        store(atomic_, hwtab::atomic_caps, value);
    describe_on_demand_paging(*settings.profile);
    apply_settings(settings);
    const hwtab::ConstView<hwtab::cmd_hca_cap> general{general_.maximum};
    if (general.get<"qos">() != 0)
        store_unlisted(scheduling_values, quality_of_service_.maximum, quality_of_service_.initial);
    if (general.get<"device_memory">() != 0)
        describe_device_memory(settings.bar_size);
    reset();
}

/// A model without the feature has zeros in its page.
void Capabilities::describe_on_demand_paging(const DeviceProfile& profile) {
    if (hwtab::ConstView<hwtab::cmd_hca_cap>{general_.maximum}.get<"pg">() == 0)
        return;
    for (const CapabilityValue& value : common_paging_capabilities())
        store(on_demand_paging_, hwtab::odp_cap, value);
    for (const CapabilityValue& value : profile.on_demand_paging)
        store(on_demand_paging_, hwtab::odp_cap, value);
}

void Capabilities::apply_settings(const HcaSettings& settings) {
    const auto fix = [this](std::string_view field, std::uint64_t value) {
        store(general_, hwtab::cmd_hca_cap, {field, value, value});
    };
    fix("num_ports", settings.ports);
    // Size of the UAR area, log2 of mebibytes.
    fix("uar_sz", std::bit_width(std::max(settings.bar_size / mebibyte, std::uint64_t{1})) - 1U);
    if (settings.command_checksums)
        store(general_, hwtab::cmd_hca_cap, {"cmdif_checksum", 3, 3});
    for (const auto& [field, value] : settings.overrides) {
        if (hwtab::cmd_hca_cap.find(field) != nullptr)
            fix(field, value);
        else
            store(general_2_, hwtab::cmd_hca_cap_2, {field, value, value});
    }
}

/// MEMIC occupies the end of the BAR; in a BAR that is too small the device has none.
void Capabilities::describe_device_memory(std::uint64_t bar_size) {
    if (bar_size < smallest_bar_with_memory) {
        store(general_, hwtab::cmd_hca_cap, {"device_memory", 0, 0});
        return;
    }
    const auto fix = [this](std::string_view field, std::uint64_t value) {
        store(device_memory_, hwtab::device_mem_cap, {field, value, value});
    };
    uar_end_ = DeviceMemory::start_in(bar_size);
    fix("memic", 1);
    fix("log_min_memic_alloc_size", std::bit_width(DeviceMemory::granularity) - 1U);
    fix("log_max_memic_addr_alignment", DeviceMemory::log_max_alignment);
    fix("memic_bar_start_addr", uar_end_);
    fix("memic_bar_size", DeviceMemory::size);
    fix("max_memic_size", DeviceMemory::size);
    fix("memic_operations", (1U << DeviceMemory::operations) - 1);
    constexpr std::uint64_t single_bytes = 1;
    fix("increment_size_sup", single_bytes);
    fix("test_and_set_size_sup", single_bytes);
}

void Capabilities::store(Page& page, const hwtab::Layout& layout, const CapabilityValue& value) {
    const hwtab::Target target = hwtab::locate(layout, value.field);
    assert(target.field != nullptr && "a profile names a capability that the tables don't have");
    hwtab::write_bits(page.maximum.data(), target.offset, target.width, value.maximum);
    hwtab::write_bits(page.initial.data(), target.offset, target.width, value.current);
}

std::uint64_t Capabilities::clock_frequency() const {
    if (const auto khz = current<"device_frequency_khz">(); khz != 0)
        return khz;
    constexpr std::uint64_t khz_of_mhz = 1000;
    return std::max(current<"device_frequency_mhz">(), std::uint64_t{1}) * khz_of_mhz;
}

std::uint64_t Capabilities::uar_size() const {
    const auto log = current<"uar_4k">() != 0 ? 0 : current<"log_uar_page_sz">();
    return smallest_uar_size << log;
}

std::uint32_t Capabilities::uars_in_host_page() const {
    return current<"uar_4k">() != 0 ? 1U << current<"log_uar_page_sz">() : 1U;
}

const Capabilities::Page* Capabilities::find(CapabilityPage page) const {
    switch (page) {
    case CapabilityPage::general:
        return &general_;
    case CapabilityPage::on_demand_paging:
        return &on_demand_paging_;
    case CapabilityPage::atomic:
        return &atomic_;
    case CapabilityPage::device_memory:
        return &device_memory_;
    case CapabilityPage::quality_of_service:
        return &quality_of_service_;
    case CapabilityPage::general_2:
        return &general_2_;
    }
    return nullptr;
}

Capabilities::Page* Capabilities::settable(CapabilityPage page) {
    switch (page) {
    case CapabilityPage::general:
        return &general_;
    case CapabilityPage::atomic:
        return &atomic_;
    case CapabilityPage::on_demand_paging:
        return &on_demand_paging_;
    case CapabilityPage::device_memory:
    case CapabilityPage::quality_of_service:
    case CapabilityPage::general_2:
        break;
    }
    return nullptr;
}

std::span<const std::byte> Capabilities::bytes(CapabilityPage page, bool maximum) const {
    const Page* found = find(page);
    if (found == nullptr)
        return {};
    return maximum ? found->maximum : found->current;
}

std::expected<void, CapabilityError> Capabilities::set(CapabilityPage page,
                                                       std::span<const std::byte> block) {
    Page* target = settable(page);
    if (target == nullptr)
        return std::unexpected(CapabilityError{
            Syndrome::capability_read_only,
            fmt::format("capability page {:#x} can't be set", static_cast<unsigned>(page))});
    Choice choice{
        .page = page, .block = block, .maximum = target->maximum, .wanted = {target->current}};
    if (const auto taken = choice.take(layout_of(page), 0); !taken)
        return taken;
    target->current = choice.wanted;
    // Only the device knows this value, so the block does not change it.
    if (maximum<"num_of_uars_per_page">() != 0) // old firmware lacks the field
        hwtab::View<hwtab::cmd_hca_cap>{general_.current}.set<"num_of_uars_per_page">(
            uars_in_host_page());
    return {};
}

void Capabilities::reset() {
    for (Page* page : {&general_, &atomic_, &on_demand_paging_, &device_memory_,
                       &quality_of_service_, &general_2_})
        page->current = page->initial;
}

} // namespace cxemu::hca
