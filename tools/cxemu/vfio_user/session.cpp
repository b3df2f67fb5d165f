// SPDX-License-Identifier: GPL-2.0-or-later
#include "vfio_user/session.hpp"

#include "vfio_user/version.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

namespace cxemu::vfio_user {
namespace {

constexpr std::uint32_t device_info_size = 16;
constexpr std::uint32_t region_info_size = 32;
constexpr std::uint32_t irq_info_size = 16;
constexpr std::uint32_t irq_set_size = 20;
constexpr std::uint32_t dma_map_size = 32;
constexpr std::uint32_t dma_unmap_size = 24;
constexpr std::uint32_t multi_write_data = 8;

constexpr std::unexpected invalid{EINVAL};

/// Whether messages of this kind may carry descriptors at all.
bool takes_fds(Command command) {
    return command == Command::dma_map || command == Command::device_set_irqs;
}

std::size_t statistics_slot(Command command) {
    const auto number = static_cast<std::size_t>(command);
    return number < SessionStatistics::command_slots ? number : 0;
}

std::vector<std::byte> make_reply(const Header& request, std::span<const std::byte> body,
                                  int error) {
    Header reply{.id = request.id, .command = request.command};
    reply.size = static_cast<std::uint32_t>(Header::wire_size + body.size());
    reply.flags = header_flag::type_reply | (error != 0 ? header_flag::error : 0);
    reply.error = static_cast<std::uint32_t>(error);
    return WireWriter().put_header(reply).put_bytes(body).take();
}

} // namespace

struct Session::IrqRequest {
    std::uint32_t data; ///< one of irq_flag::data_*
    std::uint32_t action;
    std::uint32_t first;
    std::uint32_t count;
    std::span<const std::byte> bools; ///< with data_bool: one byte for each vector
};

Session::Session(Device& device, Log log, SessionStatistics& statistics)
    : device_(device), log_(std::move(log)), statistics_(statistics) {
    ++statistics_.connections;
    device_.client_connected();
}

Session::~Session() {
    device_.dma().clear();
    device_.interrupts().release_all();
    device_.client_gone();
}

std::vector<std::byte> Session::handle(Message message) {
    if (message.header.type() == header_flag::type_reply) {
        ++statistics_.unexpected_replies;
        if (limiter_.allow())
            log_->warn("ignored a reply to nothing that was asked ({})",
                       name_of(message.header.command));
        return {};
    }
    ++statistics_.messages.at(statistics_slot(message.header.command));
    const Result result = dispatch(message);
    note(message.header, result);
    if (!message.header.wants_reply())
        return {};
    return result ? make_reply(message.header, *result, 0)
                  : make_reply(message.header, {}, result.error());
}

void Session::note(const Header& header, const Result& result) {
    log_->trace("{} id {} size {} -> {}", name_of(header.command), header.id, header.size,
                result ? 0 : result.error());
    if (result)
        return;
    ++(header.wants_reply() ? statistics_.errors_with_reply : statistics_.errors_without_reply);
    if (limiter_.allow())
        log_->warn("{} ({}) of {} bytes failed: {}", name_of(header.command),
                   static_cast<unsigned>(header.command), header.size,
                   std::strerror(result.error()));
}

Session::Result Session::dispatch(Message& message) {
    const auto command = message.header.command;
    if (message.header.type() != header_flag::type_command ||
        message.fds.size() > limit::message_fds || (!message.fds.empty() && !takes_fds(command)) ||
        negotiated_ == (command == Command::version))
        return invalid;
    switch (command) {
    case Command::version:
        return version(message.body);
    case Command::device_get_info:
        return get_info(message.body);
    case Command::device_get_region_info:
        return get_region_info(message.body);
    case Command::device_get_irq_info:
        return get_irq_info(message.body);
    case Command::device_set_irqs:
        return set_irqs(message.body, std::move(message.fds));
    case Command::region_read:
        return region_read(message.body);
    case Command::region_write:
        return region_write(message.body);
    case Command::region_write_multi:
        return region_write_multi(message.body);
    case Command::dma_map:
        return dma_map(message.body, std::move(message.fds));
    case Command::dma_unmap:
        return dma_unmap(message.body);
    case Command::device_reset:
        return reset();
    case Command::device_get_region_io_fds:
    case Command::dma_read:
    case Command::dma_write:
    case Command::dirty_pages:
    case Command::device_feature:
    case Command::mig_data_read:
    case Command::mig_data_write:
        return std::unexpected(ENOTSUP);
    }
    return std::unexpected(ENOSYS);
}

Session::Result Session::version(std::span<const std::byte> body) {
    const auto checked = check_client_version(body);
    if (!checked) {
        log_->warn("VERSION refused: {}", checked.error());
        return invalid;
    }
    negotiated_ = true;
    return make_version_reply(body.size());
}

Session::Result Session::get_info(std::span<const std::byte> body) {
    WireReader reader(body);
    const auto argsz = reader.take<std::uint32_t>();
    if (body.size() < device_info_size || argsz < device_info_size)
        return invalid;
    return WireWriter()
        .put(device_info_size)
        .put(info_flag::device_reset | info_flag::device_pci)
        .put(region::count)
        .put(irq::count)
        .take();
}

Session::Result Session::get_region_info(std::span<const std::byte> body) {
    WireReader reader(body);
    const auto argsz = reader.take<std::uint32_t>();
    reader.take<std::uint32_t>(); // flags, for the reply
    const auto index = reader.take<std::uint32_t>();
    if (body.size() < region_info_size || argsz < region_info_size || index >= region::count)
        return invalid;
    // The client can map no region, because with a mappable region QEMU waits for every write.
    const std::uint64_t size = device_.region_size(index);
    const std::uint32_t flags = size > 0 ? info_flag::region_read | info_flag::region_write : 0;
    return WireWriter()
        .put(region_info_size)
        .put(flags)
        .put(index)
        .put(std::uint32_t{0}) // no capabilities
        .put(size)
        .put(std::uint64_t{0}) // offset, for mapping
        .take();
}

Session::Result Session::get_irq_info(std::span<const std::byte> body) {
    WireReader reader(body);
    const auto argsz = reader.take<std::uint32_t>();
    reader.take<std::uint32_t>(); // flags, for the reply
    const auto index = reader.take<std::uint32_t>();
    if (body.size() < irq_info_size || argsz < irq_info_size || index >= irq::count)
        return invalid;
    // The NORESIZE flag is not set, because with it QEMU removes all vectors whenever one is added.
    const bool exists = index == irq::msix;
    return WireWriter()
        .put(irq_info_size)
        .put(exists ? info_flag::irq_eventfd : std::uint32_t{0})
        .put(index)
        .put(exists ? device_.interrupts().size() : std::uint32_t{0})
        .take();
}

Session::Result Session::set_irqs(std::span<const std::byte> body, std::vector<UniqueFd> fds) {
    WireReader reader(body);
    const auto argsz = reader.take<std::uint32_t>();
    const auto flags = reader.take<std::uint32_t>();
    const auto index = reader.take<std::uint32_t>();
    IrqRequest request{};
    request.data = flags & irq_flag::data_mask;
    request.action = flags & irq_flag::actions;
    request.first = reader.take<std::uint32_t>();
    request.count = reader.take<std::uint32_t>();
    if (request.data == irq_flag::data_bool)
        request.bools = reader.take_bytes(request.count);
    if (!reader.complete() || argsz < irq_set_size || index >= irq::count ||
        flags != (request.data | request.action))
        return invalid;
    if (request.data != irq_flag::data_eventfd && !fds.empty())
        return invalid;
    if (index != irq::msix) // an interrupt index without vectors may only be disabled
        return request.count == 0 ? Result(Body{}) : invalid;
    const auto applied = apply_irqs(request, std::move(fds));
    if (!applied)
        return std::unexpected(applied.error());
    device_.interrupts_changed(request.first, request.count);
    return Body{};
}

std::expected<void, int> Session::apply_irqs(const IrqRequest& request, std::vector<UniqueFd> fds) {
    InterruptSet& interrupts = device_.interrupts();
    if (request.first > interrupts.size() || request.count > interrupts.size() - request.first)
        return invalid;
    log_->debug("SET_IRQS data {} action {:#x} vectors {}+{} with {} fds", request.data,
                request.action, request.first, request.count, fds.size());
    switch (request.data) {
    case irq_flag::data_none:
        if (request.action == irq_flag::action_trigger && request.count == 0) {
            interrupts.release_all();
            return {};
        }
        return apply_irq_action(request.action, request.first, request.count);
    case irq_flag::data_bool:
        for (std::uint32_t i = 0; i < request.count; ++i)
            if (request.bools[i] != std::byte{0})
                if (auto done = apply_irq_action(request.action, request.first + i, 1); !done)
                    return done;
        return {};
    case irq_flag::data_eventfd:
        if (request.action != irq_flag::action_trigger ||
            (!fds.empty() && fds.size() != request.count))
            return invalid;
        fds.resize(request.count); // no descriptor: disables all vectors
        return interrupts.assign(request.first, std::move(fds));
    default:
        return invalid;
    }
}

std::expected<void, int> Session::apply_irq_action(std::uint32_t action, std::uint32_t first,
                                                   std::uint32_t count) {
    switch (action) {
    case irq_flag::action_mask_vectors:
        return device_.interrupts().set_masked(first, count, true);
    case irq_flag::action_unmask_vectors:
        return device_.interrupts().set_masked(first, count, false);
    case irq_flag::action_trigger:
        return device_.interrupts().trigger(first, count);
    default:
        return invalid;
    }
}

bool Session::within_region(std::uint32_t index, std::uint64_t offset, std::uint64_t count) const {
    if (index >= region::count || count == 0)
        return false;
    const std::uint64_t size = device_.region_size(index);
    return offset <= size && count <= size - offset;
}

Session::Result Session::region_read(std::span<const std::byte> body) {
    WireReader reader(body);
    const auto offset = reader.take<std::uint64_t>();
    const auto index = reader.take<std::uint32_t>();
    const auto count = reader.take<std::uint32_t>();
    if (!reader.complete() || count > limit::data_transfer || !within_region(index, offset, count))
        return invalid;
    WireWriter reply;
    reply.put(offset).put(index).put(count);
    const auto done = device_.region_read(index, offset, reply.put_zeros(count));
    if (!done)
        return std::unexpected(done.error());
    return reply.take();
}

Session::Result Session::region_write(std::span<const std::byte> body) {
    WireReader reader(body);
    const auto offset = reader.take<std::uint64_t>();
    const auto index = reader.take<std::uint32_t>();
    const auto count = reader.take<std::uint32_t>();
    if (!reader.complete() || reader.rest().size() != count || !within_region(index, offset, count))
        return invalid;
    const auto done = device_.region_write(index, offset, reader.rest());
    if (!done)
        return std::unexpected(done.error());
    return WireWriter().put(offset).put(index).put(count).take();
}

Session::Result Session::region_write_multi(std::span<const std::byte> body) {
    WireReader reader(body);
    const auto writes = reader.take<std::uint64_t>();
    for (std::uint64_t i = 0; i < writes; ++i) {
        const auto offset = reader.take<std::uint64_t>();
        const auto index = reader.take<std::uint32_t>();
        const auto count = reader.take<std::uint32_t>();
        const auto data = reader.take_bytes(multi_write_data);
        if (!reader.complete() || count > data.size() || !within_region(index, offset, count))
            return invalid;
        const auto done = device_.region_write(index, offset, data.first(count));
        if (!done)
            return std::unexpected(done.error());
    }
    if (!reader.complete() || !reader.rest().empty())
        return invalid;
    return WireWriter().put(writes).take();
}

Session::Result Session::dma_map(std::span<const std::byte> body, std::vector<UniqueFd> fds) {
    WireReader reader(body);
    const auto argsz = reader.take<std::uint32_t>();
    const auto flags = reader.take<std::uint32_t>();
    DmaMapRequest request;
    request.file_offset = reader.take<std::uint64_t>();
    request.iova = reader.take<std::uint64_t>();
    request.size = reader.take<std::uint64_t>();
    request.readable = (flags & dma_flag::readable) != 0;
    request.writable = (flags & dma_flag::writable) != 0;
    if (!reader.complete() || argsz < dma_map_size || fds.size() > 1 ||
        (flags & ~(dma_flag::readable | dma_flag::writable)) != 0)
        return invalid;
    const bool with_file = !fds.empty();
    const auto done = device_.dma().map(request, with_file ? std::move(fds.front()) : UniqueFd());
    log_->debug("DMA_MAP {:#x}+{:#x} {}{} {} offset {:#x}: {}", request.iova, request.size,
                request.readable ? "r" : "-", request.writable ? "w" : "-",
                with_file ? "file" : "no file", request.file_offset,
                done ? "ok" : std::strerror(done.error()));
    return done ? Result(Body{}) : std::unexpected(done.error());
}

Session::Result Session::dma_unmap(std::span<const std::byte> body) {
    WireReader reader(body);
    const auto argsz = reader.take<std::uint32_t>();
    const auto flags = reader.take<std::uint32_t>();
    const auto iova = reader.take<std::uint64_t>();
    const auto size = reader.take<std::uint64_t>();
    if (!reader.complete() || argsz < dma_unmap_size)
        return invalid;
    if (flags == dma_flag::unmap_all && iova == 0 && size == 0)
        return dma_unmap_all();
    if (flags != 0)
        return std::unexpected(ENOTSUP);
    device_.dma_unmapping(iova, size);
    const auto unmapped = device_.dma().unmap(iova, size);
    log_->debug("DMA_UNMAP {:#x}+{:#x}: {}", iova, size,
                unmapped ? "ok" : std::strerror(unmapped.error()));
    if (!unmapped)
        return std::unexpected(unmapped.error());
    return WireWriter().put(dma_unmap_size).put(flags).put(iova).put(*unmapped).take();
}

Session::Result Session::dma_unmap_all() {
    device_.dma_unmapping(0, UINT64_MAX);
    device_.dma().clear();
    return WireWriter()
        .put(dma_unmap_size)
        .put(dma_flag::unmap_all)
        .put(std::uint64_t{0})
        .put(std::uint64_t{0})
        .take();
}

Session::Result Session::reset() {
    device_.reset();
    return Body{};
}

} // namespace cxemu::vfio_user
