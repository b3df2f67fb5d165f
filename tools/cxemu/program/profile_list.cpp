// SPDX-License-Identifier: GPL-2.0-or-later
#include "program/profile_list.hpp"

#include "hca/device_profile.hpp"

#include <algorithm>
#include <iterator>
#include <spdlog/fmt/fmt.h>
#include <vector>

namespace cxemu::program {

namespace {

using Output = std::back_insert_iterator<std::string>;

void list_model(const hca::DeviceProfile& profile, Output out) {
    fmt::format_to(out, "{:<16}{}, firmware {}.{}.{}, PCI {:04x} and {:04x}, {}\n", profile.name,
                   profile.title, profile.firmware_major, profile.firmware_minor,
                   profile.firmware_subminor, profile.physical_function_id,
                   profile.virtual_function_id, profile.default_speed);
}

void list_value(std::string_view page, std::string_view name, const std::string& value,
                std::string_view origin, Output out) {
    fmt::format_to(out, "    {:<12}{:<60}{:<14}{}\n", page, name, value, origin);
}

void list_values(const hca::DeviceProfile& profile, Output out) {
    list_value("bring-up", "firmware_version",
               fmt::format("{}.{}.{}", profile.firmware_major, profile.firmware_minor,
                           profile.firmware_subminor),
               profile.firmware_origin->name, out);
    list_value("bring-up", "boot_pages", fmt::to_string(profile.pages.boot),
               profile.pages_origin->name, out);
    list_value("bring-up", "init_pages", fmt::to_string(profile.pages.init),
               profile.pages_origin->name, out);
    const auto values = hca::values_of(profile);
    for (const auto& [page, value] : values) {
        const bool is_fixed = value.maximum == value.current;
        list_value(page, value.field,
                   is_fixed ? fmt::format("{:#x}", value.maximum)
                            : fmt::format("{:#x} to {:#x}", value.current, value.maximum),
                   value.origin->name, out);
    }
    const auto assumed = std::ranges::count_if(values, [](const hca::ListedValue& listed) {
        return listed.value.origin == &hca::origins::assumed;
    });
    fmt::format_to(out, "    {} values, {} of them assumed\n\n", values.size(), assumed);
}

void list_origins(Output out) {
    fmt::format_to(out, "Sources; what a card of one model shows stands for later ones, too:\n");
    for (const hca::Origin* origin : hca::origins::all)
        fmt::format_to(out, "    {:<16}{}{}{}\n", origin->name, origin->card,
                       origin->card.empty() ? "" : ": ", origin->place);
}

} // namespace

std::string profile_list(bool verbose) {
    std::string text;
    const auto out = std::back_inserter(text);
    for (const hca::DeviceProfile& profile : hca::device_profiles()) {
        list_model(profile, out);
        if (verbose)
            list_values(profile, out);
    }
    if (verbose)
        list_origins(out);
    return text;
}

} // namespace cxemu::program
