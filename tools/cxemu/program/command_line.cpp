// SPDX-License-Identifier: GPL-2.0-or-later
#include "program/command_line.hpp"

#include "base/numbers.hpp"
#include "program/configuration.hpp"
#include "program/profile_list.hpp"

#include <CLI/CLI.hpp>
#include <cstdlib>

namespace cxemu::program {

namespace {

/// "name=value" of a capability. \return an error text, empty for none
std::string parse_capability(const std::string& text, HcaOptions& options) {
    const auto equals = text.find('=');
    if (equals == std::string::npos)
        return fmt::format("\"{}\" is not NAME=VALUE", text);
    const auto value = parse_number(std::string_view(text).substr(equals + 1));
    if (!value)
        return fmt::format("\"{}\" is not a number", text.substr(equals + 1));
    options.capabilities.emplace_back(text.substr(0, equals), *value);
    return {};
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

CLI::IsMember one_of(auto&& names) {
    CLI::IsMember validator(std::vector<std::string>(names.begin(), names.end()));
    validator.description("");
    return validator;
}

void describe_model(CLI::App& app, HcaOptions& hca) {
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

void describe_resources(CLI::App& app, HcaOptions& hca) {
    app.add_option("--vectors", hca.vectors, "Number of MSI-X vectors (default 64)")
        ->check(CLI::Range(1U, max_vectors));
    app.add_option("--ports", hca.ports, "Ports of an HCA (default 1)")
        ->check(CLI::Range(1U, max_ports));
    app.add_option("--boot-pages", hca.boot_pages, "Pages that the firmware asks for at boot")
        ->check(CLI::Range(0U, max_pages));
    app.add_option("--init-pages", hca.init_pages, "Pages that INIT_HCA needs")
        ->check(CLI::Range(0U, max_pages));
    app.add_option("--regular-pages", hca.regular_pages,
                   "Pages that the firmware asks for at run time")
        ->check(CLI::Range(0U, max_pages));
    app.add_option("--link-speed", hca.link_speed,
                   fmt::format("Speed of the links: {}", fmt::join(link_speeds, ", ")))
        ->check(one_of(link_speeds))
        ->type_name("SPEED");
    app.add_option("--link-width", hca.link_width,
                   fmt::format("Width of the links: {}", fmt::join(link_widths, ", ")))
        ->check(one_of(link_widths))
        ->type_name("WIDTH");
    app.add_flag("--checksums", hca.checksums,
                 "Verify and make the signatures of commands from the start");
    app.add_flag("--write-combining", hca.write_combining,
                 "Combine writes as a processor does, and take requests from doorbell registers");
}

void describe_signatures(CLI::App& app, HcaOptions& hca) {
    app.add_option("--signature-stop", hca.signature_stop,
                   fmt::format("What a queue pair with drain_sigerr still starts after a signature "
                               "error, up to: {} (default next)",
                               fmt::join(signature_stops, ", ")))
        ->check(one_of(signature_stops))
        ->type_name("PLACE");
    app.add_option("--signature-report", hca.signature_report,
                   fmt::format("Place of a signature error's completion, relative to that of the "
                               "transfer: {} (default before)",
                               fmt::join(signature_reports, ", ")))
        ->check(one_of(signature_reports))
        ->type_name("PLACE");
}

void describe_fabric(CLI::App& app, Options& options) {
    app.add_flag("--subnet-manager", options.subnet_manager,
                 "Run a subnet manager with subnet administration in the switch");
}

void describe_files(CLI::App& app, Options& options) {
    app.add_option("--pcap", options.packet_capture, "Capture every packet on the wire")
        ->type_name("FILE");
    app.add_option("--pcap-snap", options.capture_snap, "Capture so much of each packet at most")
        ->check(CLI::Range(min_snap, max_snap))
        ->type_name("BYTES");
    app.add_option("--pcap-size", options.capture_size, "End the capture at this size of its file")
        ->check(CLI::Range(1U, max_capture_size))
        ->type_name("MEGABYTES");
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
    app.add_option("--envelope", options.envelope,
                   "At the end, add there what fields and values the driver used (TOML)")
        ->type_name("FILE");
    app.add_option_function<std::string>(
           "--log-level",
           [&options](const std::string& text) { options.log_level = log_levels().at(text); },
           "What goes to standard error: trace, debug, info, warn, error or off")
        ->check(CLI::IsMember(&log_levels()).description(""))
        ->type_name("LEVEL");
}

void describe_faults(CLI::App& app, Options& options) {
    app.add_option("--faults", options.faults, "Let go wrong what this fault plan says")
        ->type_name("FILE");
    app.add_option("--fault", options.fault,
                   "A line of a fault plan, such as \"packet drop 1%\"; can be repeated")
        ->type_name("LINE");
    app.add_option("--fault-seed", options.fault_seed,
                   "Seed of what is random in a fault plan (default 1)")
        ->type_name("NUMBER");
}

/// The parser and its results.
struct CommandLine {
    CommandLine() {
        app.add_option("--hca", sockets,
                       "Listen on this UNIX socket for a virtual machine; once for each HCA")
            ->type_name("SOCKET");
        app.add_option("--config", configuration, "Read this configuration file (TOML) as well")
            ->type_name("FILE");
        app.add_flag("--list-profiles", list, "List the models, and end");
        app.add_flag("-v,--verbose", verbose,
                     "With --list-profiles: each capability, and where its value comes from");
        describe_model(app, options.common);
        describe_resources(app, options.common);
        describe_signatures(app, options.common);
        describe_fabric(app, options);
        describe_files(app, options);
        describe_faults(app, options);
    }

    CLI::App app{"Emulated ConnectX host channel adapters for virtual machines (QEMU's "
                 "vfio-user-pci)."};
    Options options;
    std::vector<std::filesystem::path> sockets;
    std::optional<std::filesystem::path> configuration;
    bool list = false;
    bool verbose = false;
};

std::expected<Options, std::string> complete(CommandLine& line) {
    for (const auto& socket : line.sockets)
        line.options.hcas.emplace_back().socket = socket;
    if (line.configuration) {
        if (auto read = read_configuration(*line.configuration, line.options); !read)
            return std::unexpected(read.error());
    }
    if (auto checked = check(line.options); !checked)
        return std::unexpected(checked.error());
    return std::move(line.options);
}

} // namespace

std::expected<Options, EarlyEnd> parse_command_line(int argc, char** argv) {
    CommandLine line;
    try {
        line.app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return std::unexpected(EarlyEnd{line.app.exit(error)});
    }
    if (line.list) {
        fmt::print("{}", profile_list(line.verbose));
        return std::unexpected(EarlyEnd{EXIT_SUCCESS});
    }
    auto options = complete(line);
    if (options)
        return *std::move(options);
    fmt::print(stderr, "cxemu: {}\n", options.error());
    return std::unexpected(EarlyEnd{EXIT_FAILURE});
}

std::string command_line_help() {
    return CommandLine().app.help();
}

} // namespace cxemu::program
