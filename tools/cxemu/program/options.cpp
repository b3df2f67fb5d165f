// SPDX-License-Identifier: GPL-2.0-or-later
#include "program/options.hpp"

#include "hca/capabilities.hpp"
#include "hwtab/view.hpp"
#include "tables/capabilities.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace cxemu::program {

namespace {

constexpr std::uint64_t first_guid = 0x0002'c903'00ce'0000;
/// GUIDs reserved for one HCA: node GUID and port GUIDs.
constexpr std::uint64_t guids_per_hca = 0x10;

/// The HCA's own value, else the common one.
template <class T>
std::optional<T> either(const std::optional<T>& own, const std::optional<T>& common) {
    return own ? own : common;
}

std::expected<void, std::string> choose_model(const HcaOptions& own, const HcaOptions& common,
                                              hca::HcaSettings& settings) {
    const std::string& name = own.profile.empty() ? common.profile : own.profile;
    const auto id = either(own.device_id, common.device_id);
    settings.profile = hca::find_profile(std::string_view("connectx5"));
    if (!name.empty())
        settings.profile = hca::find_profile(std::string_view(name));
    if (settings.profile == nullptr)
        return std::unexpected(fmt::format("profile \"{}\" is none of {}", name, profile_names()));
    if (id) {
        const auto* by_id = hca::find_profile(*id);
        if (by_id == nullptr)
            return std::unexpected(
                fmt::format("no profile has device id {:04x}; there are {}", *id, profile_names()));
        // Profiles of several generations of firmware have the same ids.
        if (name.empty())
            settings.profile = by_id;
        else if (by_id->physical_function_id != settings.profile->physical_function_id)
            return std::unexpected(
                fmt::format("device id {:04x} belongs to {}, not to {}", *id, by_id->name, name));
        settings.virtual_function = *id == by_id->virtual_function_id;
    }
    settings.pages = settings.profile->pages;
    if (const auto vf = either(own.virtual_function, common.virtual_function))
        settings.virtual_function = *vf;
    return {};
}

std::expected<void, std::string> check_capability(const std::string& name, std::uint64_t value) {
    const hwtab::Field* field = hwtab::cmd_hca_cap.find(name);
    if (field == nullptr)
        field = hwtab::cmd_hca_cap_2.find(name);
    if (field == nullptr || field->is_structured() || field->count != 1)
        return std::unexpected(fmt::format("there is no capability \"{}\"", name));
    if (field->width < 64 && (value >> field->width) != 0)
        return std::unexpected(fmt::format("capability {}: {} exceeds {}", name, value,
                                           (std::uint64_t{1} << field->width) - 1));
    if (const auto minimum = hca::smallest_capability(name); value < minimum)
        return std::unexpected(fmt::format("capability {}: {} is below {}", name, value, minimum));
    return {};
}

/// Stores \p wanted in \p setting if it is in range.
template <class T>
std::expected<void, std::string> choose(std::string_view name, std::optional<std::uint32_t> wanted,
                                        std::uint32_t min, std::uint32_t max, T& setting) {
    if (!wanted)
        return {};
    if (*wanted < min || *wanted > max)
        return std::unexpected(
            fmt::format("{} {}: out of range [{}, {}]", *wanted, name, min, max));
    setting = static_cast<T>(*wanted);
    return {};
}

/// Stores the position of the HCA's own name, or of the common one, among \p names.
template <class T, std::size_t count>
std::expected<void, std::string>
choose_name(std::string_view option, const std::string& own, const std::string& common,
            const std::array<const char*, count>& names, T& setting) {
    const std::string& wanted = own.empty() ? common : own;
    if (wanted.empty())
        return {};
    const auto found = std::ranges::find(names, std::string_view(wanted));
    if (found == names.end())
        return std::unexpected(
            fmt::format("{} \"{}\" is none of {}", option, wanted, fmt::join(names, ", ")));
    setting = static_cast<T>(found - names.begin());
    return {};
}

std::expected<void, std::string> choose_signatures(const HcaOptions& own, const HcaOptions& common,
                                                   hca::HcaSettings& settings) {
    if (auto chosen = choose_name("signature stop", own.signature_stop, common.signature_stop,
                                  signature_stops, settings.signature_stop);
        !chosen)
        return chosen;
    return choose_name("signature report", own.signature_report, common.signature_report,
                       signature_reports, settings.signature_report);
}

std::expected<void, std::string> choose_numbers(const HcaOptions& own, const HcaOptions& common,
                                                hca::HcaSettings& settings) {
    hca::PageDemand& pages = settings.pages;
    for (const auto& chosen :
         {choose("vectors", either(own.vectors, common.vectors), 1, max_vectors,
                 settings.msix_vectors),
          choose("ports", either(own.ports, common.ports), 1, max_ports, settings.ports),
          choose("boot pages", either(own.boot_pages, common.boot_pages), 0, max_pages, pages.boot),
          choose("init pages", either(own.init_pages, common.init_pages), 0, max_pages, pages.init),
          choose("regular pages", either(own.regular_pages, common.regular_pages), 0, max_pages,
                 pages.regular)}) {
        if (!chosen)
            return chosen;
    }
    return {};
}

} // namespace

std::string profile_names() {
    std::vector<std::string_view> names;
    for (const hca::DeviceProfile& profile : hca::device_profiles())
        names.push_back(profile.name);
    return fmt::format("{}", fmt::join(names, ", "));
}

const std::map<std::string, spdlog::level::level_enum>& log_levels() {
    static const std::map<std::string, spdlog::level::level_enum> levels{
        {"trace", spdlog::level::trace}, {"debug", spdlog::level::debug},
        {"info", spdlog::level::info},   {"warn", spdlog::level::warn},
        {"error", spdlog::level::err},   {"off", spdlog::level::off}};
    return levels;
}

std::expected<hca::HcaSettings, std::string> settings_of(const Options& options,
                                                         std::size_t number) {
    const HcaOptions& own = options.hcas.at(number);
    const HcaOptions& common = options.common;
    hca::HcaSettings settings;
    settings.name = fmt::format("hca{}", number);
    if (auto chosen = choose_model(own, common, settings); !chosen)
        return std::unexpected(chosen.error());
    settings.node_guid =
        own.guid.value_or(common.guid.value_or(first_guid) + (number * guids_per_hca));
    settings.system_image_guid = settings.node_guid;
    if (auto chosen = choose_numbers(own, common, settings); !chosen)
        return std::unexpected(chosen.error());
    settings.command_checksums = either(own.checksums, common.checksums).value_or(false);
    settings.write_combining = either(own.write_combining, common.write_combining).value_or(false);
    if (auto chosen = choose_signatures(own, common, settings); !chosen)
        return std::unexpected(chosen.error());
    settings.overrides = common.capabilities;
    settings.overrides.insert(settings.overrides.end(), own.capabilities.begin(),
                              own.capabilities.end());
    for (const auto& [name, value] : settings.overrides) {
        if (auto checked = check_capability(name, value); !checked)
            return std::unexpected(checked.error());
    }
    return settings;
}

std::expected<LinkSettings, std::string> link_of(const Options& options, std::size_t number) {
    const HcaOptions& own = options.hcas.at(number);
    std::string speed = own.link_speed.empty() ? options.common.link_speed : own.link_speed;
    std::string width = own.link_width.empty() ? options.common.link_width : own.link_width;
    if (speed.empty()) {
        const auto settings = settings_of(options, number);
        if (!settings)
            return std::unexpected(settings.error());
        speed = settings->profile->default_speed;
    }
    if (width.empty())
        width = "4x";
    const auto found_speed = fabric::find_speed(speed);
    const auto found_width = fabric::find_width(width);
    if (!found_speed)
        return std::unexpected(
            fmt::format("link speed \"{}\" is none of {}", speed, fmt::join(link_speeds, ", ")));
    if (!found_width)
        return std::unexpected(
            fmt::format("link width \"{}\" is none of {}", width, fmt::join(link_widths, ", ")));
    return LinkSettings{*found_speed, *found_width};
}

std::expected<std::uint8_t, std::string> switch_ports_of(const Options& options) {
    constexpr std::size_t fewest = 8;
    constexpr std::size_t max = 254; // the highest port number is 254
    std::size_t ports = 0;
    for (std::size_t number = 0; number < options.hcas.size(); ++number) {
        const auto settings = settings_of(options, number);
        if (!settings)
            return std::unexpected(settings.error());
        ports += settings->ports;
    }
    if (ports > max)
        return std::unexpected(
            fmt::format("the HCAs have {} ports, the switch can have {}", ports, max));
    return static_cast<std::uint8_t>(std::max(ports, fewest));
}

std::expected<check::CaptureLimits, std::string> capture_limits_of(const Options& options) {
    constexpr std::uint64_t megabyte = 1'000'000;
    check::CaptureLimits limits;
    if (auto chosen = choose("bytes of a captured packet", options.capture_snap, min_snap, max_snap,
                             limits.packet);
        !chosen)
        return std::unexpected(chosen.error());
    if (auto chosen = choose("megabytes of a capture", options.capture_size, 1, max_capture_size,
                             limits.file);
        !chosen)
        return std::unexpected(chosen.error());
    if (options.capture_size)
        limits.file *= megabyte;
    return limits;
}

std::expected<void, std::string> check(const Options& options) {
    if (options.hcas.empty())
        return std::unexpected(std::string("no HCA: --hca SOCKET is missing"));
    std::set<std::uint64_t> guids;
    std::set<std::filesystem::path> sockets;
    for (std::size_t number = 0; number < options.hcas.size(); ++number) {
        const auto& socket = options.hcas[number].socket;
        if (socket.empty())
            return std::unexpected(fmt::format("HCA {} has no socket", number));
        if (!sockets.insert(socket).second)
            return std::unexpected(fmt::format("two HCAs have the socket {}", socket.string()));
        const auto settings = settings_of(options, number);
        if (!settings)
            return std::unexpected(settings.error());
        if (!guids.insert(settings->node_guid).second)
            return std::unexpected(
                fmt::format("two HCAs have the GUID {:#018x}", settings->node_guid));
        if (const auto link = link_of(options, number); !link)
            return std::unexpected(link.error());
    }
    if (const auto limits = capture_limits_of(options); !limits)
        return std::unexpected(limits.error());
    if (const auto ports = switch_ports_of(options); !ports)
        return std::unexpected(ports.error());
    return {};
}

} // namespace cxemu::program
