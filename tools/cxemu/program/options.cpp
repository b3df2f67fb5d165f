// SPDX-License-Identifier: GPL-2.0-or-later
#include "program/options.hpp"

#include "hwtab/view.hpp"
#include "tables/capabilities.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <map>
#include <toml++/toml.hpp>

namespace cxemu::program {

namespace {

constexpr std::uint64_t first_guid = 0x0002'c903'00ce'0000;
/// GUIDs of one HCA: the node's, and one for each port.
constexpr std::uint64_t guids_per_hca = 0x10;
constexpr std::uint32_t most_vectors = 256;
constexpr std::uint32_t most_ports = 2;
constexpr std::uint32_t most_pages = 1'000'000;
constexpr std::array speeds{"sdr", "ddr", "qdr", "fdr10", "fdr", "edr", "hdr", "ndr"};
constexpr std::array widths{"1x", "2x", "4x", "8x", "12x"};

std::string join(auto&& names) {
    return fmt::format("{}", fmt::join(names, ", "));
}

std::string profile_names() {
    std::vector<std::string_view> names;
    for (const hca::DeviceProfile& profile : hca::device_profiles())
        names.push_back(profile.name);
    return join(names);
}

/// "name=value" of a capability. \return an error text, empty for none
std::string parse_capability(const std::string& text, HcaOptions& options) {
    const auto equals = text.find('=');
    if (equals == std::string::npos)
        return fmt::format("\"{}\" is not NAME=VALUE", text);
    try {
        options.capabilities.emplace_back(text.substr(0, equals),
                                          std::stoull(text.substr(equals + 1), nullptr, 0));
    } catch (const std::exception&) {
        return fmt::format("\"{}\" is not a number", text.substr(equals + 1));
    }
    return {};
}

/// Takes a number of 1 to \p digits hexadecimal digits. \return nothing when it is none
std::optional<std::uint64_t> parse_hexadecimal(std::string text, std::size_t digits) {
    if (text.starts_with("0x"))
        text.erase(0, 2);
    const bool valid = !text.empty() && text.size() <= digits &&
                       text.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
    if (!valid)
        return {};
    return std::stoull(text, nullptr, 16);
}

CLI::Validator hexadecimal(std::size_t digits) {
    return CLI::Validator(
        [digits](const std::string& text) {
            return parse_hexadecimal(text, digits)
                       ? std::string()
                       : fmt::format("\"{}\" is not a hexadecimal number of 1 to {} digits", text,
                                     digits);
        },
        "");
}

void describe_hca(CLI::App& app, HcaOptions& hca) {
    app.add_option("--profile", hca.profile, "Model: " + profile_names())->type_name("MODEL");
    app.add_option_function<std::string>(
           "--device-id",
           [&hca](const std::string& text) {
               hca.device_id = static_cast<std::uint16_t>(*parse_hexadecimal(text, 4));
           },
           "PCI device id, hexadecimal; chooses the model and whether it is a virtual function "
           "(default 1017, a ConnectX-5)")
        ->check(hexadecimal(4))
        ->type_name("ID");
    app.add_flag("--virtual-function", hca.virtual_function, "The virtual function of the model");
    app.add_option_function<std::string>(
           "--guid", [&hca](const std::string& text) { hca.guid = parse_hexadecimal(text, 16); },
           "Node GUID of the first HCA, hexadecimal; the others follow in steps of 16")
        ->check(hexadecimal(16))
        ->type_name("GUID");
    app.add_option("--vectors", hca.vectors, "Number of MSI-X vectors (default 64)")
        ->check(CLI::Range(1U, most_vectors));
    app.add_option("--ports", hca.ports, "Ports of an HCA (default 1)")
        ->check(CLI::Range(1U, most_ports));
    app.add_option("--boot-pages", hca.boot_pages, "Pages that the firmware asks for at boot")
        ->check(CLI::Range(0U, most_pages));
    app.add_option("--init-pages", hca.init_pages, "Pages that INIT_HCA needs")
        ->check(CLI::Range(0U, most_pages));
    app.add_option("--regular-pages", hca.regular_pages,
                   "Pages that the firmware asks for at run time")
        ->check(CLI::Range(0U, most_pages));
    app.add_option("--link-speed", hca.link_speed, "Speed of the links: " + join(speeds))
        ->check(
            CLI::IsMember(std::vector<std::string>(speeds.begin(), speeds.end())).description(""))
        ->type_name("SPEED");
    app.add_option("--link-width", hca.link_width, "Width of the links: " + join(widths))
        ->check(
            CLI::IsMember(std::vector<std::string>(widths.begin(), widths.end())).description(""))
        ->type_name("WIDTH");
    app.add_flag("--checksums", hca.checksums,
                 "Verify and make the signatures of commands from the start");
    app.add_option_function<std::vector<std::string>>(
           "--capability",
           [&hca](const std::vector<std::string>& texts) {
               for (const std::string& text : texts)
                   parse_capability(text, hca);
           },
           "Give a general capability this value, for example dct=0")
        ->check(CLI::Validator(
            [](const std::string& text) {
                HcaOptions unused;
                return parse_capability(text, unused);
            },
            ""))
        ->type_name("NAME=VALUE");
}

void describe(CLI::App& app, Options& options, std::vector<std::filesystem::path>& sockets,
              std::optional<std::filesystem::path>& configuration) {
    static const std::map<std::string, spdlog::level::level_enum> levels{
        {"trace", spdlog::level::trace}, {"debug", spdlog::level::debug},
        {"info", spdlog::level::info},   {"warn", spdlog::level::warn},
        {"error", spdlog::level::err},   {"off", spdlog::level::off}};
    app.add_option("--hca", sockets,
                   "Listen on this UNIX socket for a virtual machine; once for each HCA")
        ->type_name("SOCKET");
    app.add_option("--config", configuration, "Read this configuration file (TOML) as well")
        ->type_name("FILE");
    describe_hca(app, options.common);
    app.add_option("--pcap", options.packet_capture, "Capture every packet on the wire")
        ->type_name("FILE");
    app.add_option("--log", options.command_log, "Log every command by name and field")
        ->type_name("FILE");
    app.add_option("--control", options.control,
                   "Listen on this UNIX socket for commands; \"help\" lists them")
        ->type_name("SOCKET");
    app.add_option("--violations", options.violations,
                   "At the end, write the driver's violations of the interface there")
        ->type_name("FILE");
    app.add_option("--allow", options.allow_list, "Violations that are known (TOML)")
        ->type_name("FILE");
    app.add_option("--log-level", options.log_level,
                   "What goes to standard error: trace, debug, info, warn, error or off")
        ->transform(CLI::CheckedTransformer(levels).description(""))
        ->type_name("LEVEL");
}

/// Reads one key of a table into an option that is still empty.
template <class T>
void take(const toml::table& table, std::string_view key, std::optional<T>& option) {
    if (!option) {
        if (const auto value = table[key].value<T>())
            option = *value;
    }
}

void take(const toml::table& table, std::string_view key, std::string& option) {
    if (option.empty())
        option = table[key].value_or(std::string{});
}

void take_path(const toml::table& table, std::string_view key,
               std::optional<std::filesystem::path>& option) {
    if (!option) {
        if (const auto value = table[key].value<std::string>())
            option = *value;
    }
}

std::optional<std::string> unknown_key(const toml::table& table,
                                       std::initializer_list<std::string_view> known) {
    for (const auto& [key, value] : table) {
        if (std::ranges::find(known, key.str()) == known.end())
            return fmt::format("line {}: unknown key \"{}\"", key.source().begin.line, key.str());
    }
    return {};
}

std::expected<void, std::string> take_hca(const toml::table& table, HcaOptions& hca) {
    take(table, "profile", hca.profile);
    take(table, "device_id", hca.device_id);
    take(table, "virtual_function", hca.virtual_function);
    take(table, "guid", hca.guid);
    take(table, "vectors", hca.vectors);
    take(table, "ports", hca.ports);
    take(table, "boot_pages", hca.boot_pages);
    take(table, "init_pages", hca.init_pages);
    take(table, "regular_pages", hca.regular_pages);
    take(table, "checksums", hca.checksums);
    take(table, "link_speed", hca.link_speed);
    take(table, "link_width", hca.link_width);
    const toml::table* capabilities = table["capabilities"].as_table();
    if (capabilities == nullptr)
        return {};
    for (const auto& [name, value] : *capabilities) {
        const auto number = value.value<std::uint64_t>();
        if (!number)
            return std::unexpected(fmt::format("line {}: capability {} is not a number",
                                               value.source().begin.line, name.str()));
        hca.capabilities.emplace_back(std::string(name.str()), *number);
    }
    return {};
}

constexpr std::initializer_list<std::string_view> hca_keys{
    "socket",    "profile",    "device_id",  "virtual_function", "guid",
    "vectors",   "ports",      "boot_pages", "init_pages",       "regular_pages",
    "checksums", "link_speed", "link_width", "capabilities"};
constexpr std::initializer_list<std::string_view> top_keys{
    "hca", "defaults", "log", "control", "violations", "allow", "pcap"};

std::expected<void, std::string> take_hcas(const toml::table& document, Options& options) {
    const toml::array* entries = document["hca"].as_array();
    // Sockets on the command line replace those of the file.
    if (entries == nullptr || !options.hcas.empty())
        return {};
    for (const toml::node& entry : *entries) {
        const toml::table* table = entry.as_table();
        if (table == nullptr)
            return std::unexpected(std::string("\"hca\" is not a list of tables"));
        if (auto unknown = unknown_key(*table, hca_keys))
            return std::unexpected(*unknown);
        HcaOptions hca;
        hca.socket = (*table)["socket"].value_or(std::string{});
        if (auto taken = take_hca(*table, hca); !taken)
            return taken;
        options.hcas.push_back(std::move(hca));
    }
    return {};
}

std::expected<void, std::string> take_document(const toml::table& document, Options& options) {
    if (auto unknown = unknown_key(document, top_keys))
        return std::unexpected(*unknown);
    if (const toml::table* defaults = document["defaults"].as_table()) {
        if (auto unknown = unknown_key(*defaults, hca_keys))
            return std::unexpected(*unknown);
        if (auto taken = take_hca(*defaults, options.common); !taken)
            return taken;
    }
    take_path(document, "log", options.command_log);
    take_path(document, "control", options.control);
    take_path(document, "violations", options.violations);
    take_path(document, "allow", options.allow_list);
    take_path(document, "pcap", options.packet_capture);
    return take_hcas(document, options);
}

std::expected<void, std::string> check(const Options& options) {
    if (options.hcas.empty())
        return std::unexpected(std::string("no HCA: --hca SOCKET is missing"));
    for (std::size_t number = 0; number < options.hcas.size(); ++number) {
        if (options.hcas[number].socket.empty())
            return std::unexpected(fmt::format("HCA {} has no socket", number));
        if (const auto settings = settings_of(options, number); !settings)
            return std::unexpected(settings.error());
        if (const auto link = link_of(options, number); !link)
            return std::unexpected(link.error());
    }
    return {};
}

/// What one HCA says, else what all say.
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
        if (!name.empty() && by_id != settings.profile)
            return std::unexpected(
                fmt::format("device id {:04x} belongs to {}, not to {}", *id, by_id->name, name));
        settings.profile = by_id;
        settings.virtual_function = *id == by_id->virtual_function_id;
    }
    if (const auto vf = either(own.virtual_function, common.virtual_function))
        settings.virtual_function = *vf;
    return {};
}

std::expected<void, std::string> check_capability(const std::string& name, std::uint64_t value) {
    const hwtab::Field* field = hwtab::cmd_hca_cap.find(name);
    if (field == nullptr)
        return std::unexpected(fmt::format("there is no capability \"{}\"", name));
    if (field->width < 64 && (value >> field->width) != 0)
        return std::unexpected(fmt::format("capability {}: {} exceeds {}", name, value,
                                           (std::uint64_t{1} << field->width) - 1));
    return {};
}

} // namespace

std::expected<void, std::string> read_configuration(const std::filesystem::path& file,
                                                    Options& options) {
    try {
        const toml::table document = toml::parse_file(file.string());
        auto taken = take_document(document, options);
        if (!taken)
            return std::unexpected(
                fmt::format("configuration {}: {}", file.string(), taken.error()));
        return taken;
    } catch (const toml::parse_error& error) {
        return std::unexpected(fmt::format("configuration {}, line {}: {}", file.string(),
                                           error.source().begin.line, error.description()));
    }
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
    settings.msix_vectors = either(own.vectors, common.vectors).value_or(settings.msix_vectors);
    const std::uint32_t ports = either(own.ports, common.ports).value_or(1);
    if (ports < 1 || ports > most_ports)
        return std::unexpected(fmt::format("{} ports: 1 to {} are possible", ports, most_ports));
    settings.ports = static_cast<std::uint8_t>(ports);
    if (settings.msix_vectors < 1 || settings.msix_vectors > most_vectors)
        return std::unexpected(
            fmt::format("{} vectors: 1 to {} are possible", settings.msix_vectors, most_vectors));
    hca::PageDemand& pages = settings.pages;
    pages.boot = either(own.boot_pages, common.boot_pages).value_or(pages.boot);
    pages.init = either(own.init_pages, common.init_pages).value_or(pages.init);
    pages.regular = either(own.regular_pages, common.regular_pages).value_or(pages.regular);
    settings.command_checksums = either(own.checksums, common.checksums).value_or(false);
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
        return std::unexpected(fmt::format("link speed \"{}\" is none of {}", speed, join(speeds)));
    if (!found_width)
        return std::unexpected(fmt::format("link width \"{}\" is none of {}", width, join(widths)));
    return LinkSettings{*found_speed, *found_width};
}

std::expected<Options, EarlyEnd> parse_command_line(int argc, char** argv) {
    Options options;
    std::vector<std::filesystem::path> sockets;
    std::optional<std::filesystem::path> configuration;
    CLI::App app("Emulated ConnectX host channel adapters for virtual machines (QEMU's "
                 "vfio-user-pci).");
    describe(app, options, sockets, configuration);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return std::unexpected(EarlyEnd{app.exit(error)});
    }
    for (const auto& socket : sockets)
        options.hcas.emplace_back().socket = socket;
    std::expected<void, std::string> outcome;
    if (configuration)
        outcome = read_configuration(*configuration, options);
    if (outcome)
        outcome = check(options);
    if (!outcome) {
        fmt::print(stderr, "cxemu: {}\n", outcome.error());
        return std::unexpected(EarlyEnd{EXIT_FAILURE});
    }
    return options;
}

} // namespace cxemu::program
