// SPDX-License-Identifier: GPL-2.0-or-later
#include "program/configuration.hpp"

#include "base/numbers.hpp"

#include <algorithm>
#include <concepts>
#include <limits>
#include <string_view>
#include <toml++/toml.hpp>

namespace cxemu::program {

namespace {

/// Reads the keys of a table into options. An option that is set already keeps its value. finish()
/// returns the first error.
class TableReader {
public:
    explicit TableReader(const toml::table& table) : table_(table) {}

    void take(std::string_view key, std::string& option);
    void take(std::string_view key, std::filesystem::path& option);
    void take(std::string_view key, std::optional<std::filesystem::path>& option);
    void take(std::string_view key, std::optional<bool>& option);
    /// A list of strings.
    void take(std::string_view key, std::vector<std::string>& option);
    template <std::unsigned_integral T>
    void take(std::string_view key, std::optional<T>& option);
    /// A number, or a string of hexadecimal digits (a TOML number has 63 bits only).
    template <std::unsigned_integral T>
    void take_hexadecimal(std::string_view key, std::optional<T>& option);
    /// A table of numbers.
    void take(std::string_view key, std::vector<std::pair<std::string, std::uint64_t>>& option);
    void take(std::string_view key, std::optional<spdlog::level::level_enum>& option);

    /// A table, or a list of tables, that the caller reads. \return nullptr when there is none
    const toml::table* table(std::string_view key);
    const toml::array* list(std::string_view key);

    /// \return the first error, or that a key is unknown
    std::expected<void, std::string> finish();

    [[nodiscard]] const std::vector<std::string>& keys() const { return keys_; }

private:
    const toml::node* find(std::string_view key);
    void fail(std::string_view key, const toml::node& node, std::string_view expected);

    const toml::table& table_;
    std::vector<std::string> keys_; ///< read so far
    std::optional<std::string> error_;
};

const toml::node* TableReader::find(std::string_view key) {
    keys_.emplace_back(key);
    return table_.get(key);
}

void TableReader::fail(std::string_view key, const toml::node& node, std::string_view expected) {
    if (!error_)
        error_ = fmt::format("line {}: \"{}\" is not {}", node.source().begin.line, key, expected);
}

void TableReader::take(std::string_view key, std::string& option) {
    const toml::node* node = find(key);
    if (node == nullptr)
        return;
    if (!node->is_string())
        return fail(key, *node, "a text");
    if (option.empty())
        option = node->value_or(std::string());
}

void TableReader::take(std::string_view key, std::filesystem::path& option) {
    std::string text;
    take(key, text);
    if (option.empty())
        option = text;
}

void TableReader::take(std::string_view key, std::optional<std::filesystem::path>& option) {
    std::string text;
    take(key, text);
    if (!option && !text.empty())
        option = text;
}

void TableReader::take(std::string_view key, std::optional<bool>& option) {
    const toml::node* node = find(key);
    if (node == nullptr)
        return;
    if (!node->is_boolean())
        return fail(key, *node, "true or false");
    if (!option)
        option = node->value<bool>();
}

void TableReader::take(std::string_view key, std::vector<std::string>& option) {
    const toml::node* node = find(key);
    if (node == nullptr)
        return;
    const toml::array* texts = node->as_array();
    if (texts == nullptr ||
        !std::ranges::all_of(*texts, [](const auto& item) { return item.is_string(); }))
        return fail(key, *node, "a list of texts");
    if (!option.empty())
        return;
    for (const toml::node& text : *texts)
        option.push_back(text.value_or(std::string()));
}

template <std::unsigned_integral T>
void TableReader::take(std::string_view key, std::optional<T>& option) {
    const toml::node* node = find(key);
    if (node == nullptr)
        return;
    constexpr std::uint64_t max = std::numeric_limits<T>::max();
    const auto value = node->value_exact<std::int64_t>();
    if (!value || *value < 0 || static_cast<std::uint64_t>(*value) > max)
        return fail(key, *node, fmt::format("a number of 0 to {}", max));
    if (!option)
        option = static_cast<T>(*value);
}

template <std::unsigned_integral T>
void TableReader::take_hexadecimal(std::string_view key, std::optional<T>& option) {
    constexpr std::size_t digits = 2 * sizeof(T);
    const toml::node* node = table_.get(key);
    if (node == nullptr || !node->is_string())
        return take(key, option);
    keys_.emplace_back(key);
    const auto value = parse_hexadecimal(node->value_or(std::string_view()), digits);
    if (!value)
        return fail(key, *node, fmt::format("a hexadecimal number of 1 to {} digits", digits));
    if (!option)
        option = static_cast<T>(*value);
}

void TableReader::take(std::string_view key,
                       std::vector<std::pair<std::string, std::uint64_t>>& option) {
    const toml::table* values = table(key);
    if (values == nullptr)
        return;
    TableReader reader(*values);
    for (const auto& [name, node] : *values) {
        std::optional<std::uint64_t> value;
        reader.take(name.str(), value);
        // Inserts at the front: the last value of a capability takes effect, so options that are
        // already set must be last.
        option.emplace(option.begin(), std::string(name.str()), value.value_or(0));
    }
    if (const auto finished = reader.finish(); !finished && !error_)
        error_ = finished.error();
}

void TableReader::take(std::string_view key, std::optional<spdlog::level::level_enum>& option) {
    std::string name;
    take(key, name);
    if (name.empty())
        return;
    const auto level = log_levels().find(name);
    if (level == log_levels().end())
        return fail(key, *table_.get(key), "a log level");
    if (!option)
        option = level->second;
}

const toml::table* TableReader::table(std::string_view key) {
    const toml::node* node = find(key);
    if (node != nullptr && !node->is_table())
        fail(key, *node, "a table");
    return node == nullptr ? nullptr : node->as_table();
}

const toml::array* TableReader::list(std::string_view key) {
    const toml::node* node = find(key);
    if (node == nullptr)
        return nullptr;
    const toml::array* tables = node->as_array();
    const bool fits = tables != nullptr && std::ranges::all_of(*tables, [](const auto& item) {
                          return item.is_table();
                      });
    if (!fits)
        fail(key, *node, "a list of tables");
    return fits ? tables : nullptr;
}

std::expected<void, std::string> TableReader::finish() {
    if (error_)
        return std::unexpected(*error_);
    for (const auto& [key, node] : table_) {
        if (std::ranges::find(keys_, key.str()) == keys_.end())
            return std::unexpected(
                fmt::format("line {}: unknown key \"{}\"", key.source().begin.line, key.str()));
    }
    return {};
}

// --- Keys ----------------------------------------------------------------------------------------

void take_hca(TableReader& reader, HcaOptions& hca) {
    reader.take("profile", hca.profile);
    reader.take_hexadecimal("device_id", hca.device_id);
    reader.take("virtual_function", hca.virtual_function);
    reader.take_hexadecimal("guid", hca.guid);
    reader.take("vectors", hca.vectors);
    reader.take("ports", hca.ports);
    reader.take("boot_pages", hca.boot_pages);
    reader.take("init_pages", hca.init_pages);
    reader.take("regular_pages", hca.regular_pages);
    reader.take("checksums", hca.checksums);
    reader.take("write_combining", hca.write_combining);
    reader.take("signature_stop", hca.signature_stop);
    reader.take("signature_report", hca.signature_report);
    reader.take("link_speed", hca.link_speed);
    reader.take("link_width", hca.link_width);
    reader.take("capabilities", hca.capabilities);
}

std::expected<void, std::string> take_defaults(const toml::table* table, HcaOptions& common) {
    if (table == nullptr)
        return {};
    TableReader reader(*table);
    take_hca(reader, common);
    return reader.finish();
}

/// Sockets on the command line replace those of the file.
std::expected<void, std::string> take_hcas(const toml::array* entries, Options& options) {
    const bool replaced = !options.hcas.empty();
    for (std::size_t i = 0; entries != nullptr && i < entries->size(); ++i) {
        TableReader reader(*entries->get(i)->as_table());
        HcaOptions hca;
        reader.take("socket", hca.socket);
        take_hca(reader, hca);
        if (auto finished = reader.finish(); !finished)
            return finished;
        if (!replaced)
            options.hcas.push_back(std::move(hca));
    }
    return {};
}

void take_top_level(TableReader& reader, Options& options) {
    reader.take("subnet_manager", options.subnet_manager);
    reader.take("log", options.command_log);
    reader.take("control", options.control);
    reader.take("violations", options.violations);
    reader.take("allow", options.allow_list);
    reader.take("envelope", options.envelope);
    reader.take("pcap", options.packet_capture);
    reader.take("pcap_snap", options.capture_snap);
    reader.take("pcap_size", options.capture_size);
    reader.take("log_level", options.log_level);
    reader.take("fault_seed", options.fault_seed);
    reader.take("faults", options.faults);
    reader.take("fault", options.fault);
}

std::expected<void, std::string> take_document(const toml::table& document, Options& options) {
    TableReader reader(document);
    take_top_level(reader, options);
    const toml::table* defaults = reader.table("defaults");
    const toml::array* hcas = reader.list("hca");
    if (auto finished = reader.finish(); !finished)
        return finished;
    if (auto taken = take_defaults(defaults, options.common); !taken)
        return taken;
    return take_hcas(hcas, options);
}

} // namespace

std::vector<std::string> configuration_keys() {
    const toml::table empty;
    TableReader reader(empty);
    Options unused;
    take_top_level(reader, unused);
    auto keys = reader.keys();
    keys.insert(keys.end(), {"defaults", "hca"});
    return keys;
}

std::vector<std::string> hca_configuration_keys() {
    const toml::table empty;
    TableReader reader(empty);
    HcaOptions unused;
    take_hca(reader, unused);
    return reader.keys();
}

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

} // namespace cxemu::program
