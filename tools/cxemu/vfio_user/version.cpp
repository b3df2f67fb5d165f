// SPDX-License-Identifier: GPL-2.0-or-later
#include "vfio_user/version.hpp"

#include "vfio_user/dma_space.hpp"
#include "vfio_user/protocol.hpp"

#include <fmt/format.h>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string_view>

namespace cxemu::vfio_user {
namespace {

using nlohmann::json;

constexpr std::uint16_t our_major = 0;
constexpr std::uint16_t our_minor = 0;
constexpr std::size_t longest_text = 65536;

std::expected<void, std::string> check_capabilities(const json& document) {
    if (!document.is_object())
        return std::unexpected("the version data is not a JSON object");
    const auto capabilities = document.find("capabilities");
    if (capabilities == document.end())
        return {};
    if (!capabilities->is_object())
        return std::unexpected("\"capabilities\" is not a JSON object");
    for (const char* name : {"max_msg_fds", "max_data_xfer_size", "pgsizes", "max_dma_maps"}) {
        const auto value = capabilities->find(name);
        if (value != capabilities->end() && !value->is_number_unsigned())
            return std::unexpected(fmt::format("\"{}\" is not an unsigned number", name));
    }
    return {};
}

} // namespace

std::expected<void, std::string> check_client_version(std::span<const std::byte> body) {
    WireReader reader(body);
    const auto major = reader.take<std::uint16_t>();
    reader.take<std::uint16_t>(); // any minor version will do
    if (!reader.complete())
        return std::unexpected(fmt::format("a body of {} bytes is too short", body.size()));
    if (major != our_major)
        return std::unexpected(
            fmt::format("major version {} is not supported, only {}", major, our_major));
    const auto rest = reader.rest();
    if (rest.empty())
        return {};
    if (rest.size() > longest_text)
        return std::unexpected(
            fmt::format("{} bytes of capabilities, the limit is {}", rest.size(), longest_text));
    if (rest.back() != std::byte{0})
        return std::unexpected("the capabilities do not end with a NUL byte");
    const std::string_view text(reinterpret_cast<const char*>(rest.data()), rest.size() - 1);
    const json document = json::parse(text, nullptr, false);
    if (document.is_discarded())
        return std::unexpected("the capabilities are not JSON");
    return check_capabilities(document);
}

std::vector<std::byte> make_version_reply(std::size_t limit) {
    // write_multiple is not offered, because with it QEMU sends every write through another thread,
    // which is slower.
    const json document{{"capabilities",
                         {{"max_msg_fds", limit::message_fds},
                          {"max_data_xfer_size", limit::data_transfer},
                          {"pgsizes", DmaSpace::page_size},
                          {"max_dma_maps", DmaSpace::max_maps}}}};
    const std::string text = document.dump();
    WireWriter writer;
    writer.put(our_major).put(our_minor);
    if (2 * sizeof(std::uint16_t) + text.size() + 1 <= limit)
        writer.put_bytes(std::as_bytes(std::span(text.c_str(), text.size() + 1)));
    return writer.take();
}

} // namespace cxemu::vfio_user
