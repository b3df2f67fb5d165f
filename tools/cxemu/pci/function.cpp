// SPDX-License-Identifier: GPL-2.0-or-later
#include "pci/function.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <utility>

namespace cxemu::pci {
namespace {

constexpr std::uint64_t page_size = 4096;
constexpr std::uint64_t widest_access = 8;
constexpr std::byte unsupported{0xff}; ///< each byte of a read without completer

/// Splits [offset, offset + size) into naturally aligned accesses of 1, 2, 4 or 8 bytes.
template <typename Visit>
void for_each_access(std::uint64_t offset, std::size_t size, Visit visit) {
    std::size_t done = 0;
    while (done < size) {
        const std::uint64_t at = offset + done;
        const std::uint64_t alignment = at == 0 ? widest_access : at & -at;
        const std::uint64_t rest = std::bit_floor(size - done);
        const auto piece = static_cast<std::size_t>(std::min({alignment, rest, widest_access}));
        visit(at, done, piece);
        done += piece;
    }
}

bool in_page(std::uint64_t offset, std::uint64_t page) {
    return offset >= page && offset < page + page_size;
}

} // namespace

Function::Function(const FunctionConfig& config, Log log)
    : settings_(config), log_(std::move(log)), config_space_(config), dma_(log_),
      interrupts_(config.msix_vectors, log_) {
    apply_enables();
}

std::uint64_t Function::region_size(std::uint32_t index) const {
    switch (index) {
    case vfio_user::region::bar0:
        return settings_.bar0_size;
    case vfio_user::region::config:
        return ConfigSpace::size;
    default:
        return 0;
    }
}

std::expected<void, int> Function::region_read(std::uint32_t index, std::uint64_t offset,
                                               std::span<std::byte> out) {
    if (index == vfio_user::region::bar0) {
        bar_read(offset, out);
    } else if (index == vfio_user::region::config) {
        config_read(offset, out);
    } else {
        return std::unexpected(EINVAL);
    }
    return {};
}

std::expected<void, int> Function::region_write(std::uint32_t index, std::uint64_t offset,
                                                std::span<const std::byte> data) {
    if (index == vfio_user::region::bar0)
        bar_write(offset, data);
    else if (index == vfio_user::region::config)
        config_write(offset, data);
    else
        return std::unexpected(EINVAL);
    return {};
}

bool Function::completes_memory_requests() {
    if (removed_)
        return false;
    const bool completes =
        model_ != nullptr && config_space_.memory_enabled() && config_space_.powered();
    if (!completes) {
        ++statistics_.unsupported_requests;
        config_space_.note_unsupported_request();
    }
    return completes;
}

void Function::bar_read(std::uint64_t offset, std::span<std::byte> out) {
    ++statistics_.bar_reads;
    if (!completes_memory_requests()) {
        std::ranges::fill(out, unsupported);
        return;
    }
    for_each_access(offset, out.size(), [&](std::uint64_t at, std::size_t done, std::size_t size) {
        const auto piece = out.subspan(done, size);
        if (in_page(at, msix_pending_offset))
            interrupts_.read_pending_bits(at - msix_pending_offset, piece);
        else if (in_page(at, msix_table_offset))
            std::ranges::fill(piece, std::byte{0}); // the client keeps the table
        else
            model_->bar_read(at, piece);
    });
}

void Function::bar_write(std::uint64_t offset, std::span<const std::byte> data) {
    ++statistics_.bar_writes;
    if (!completes_memory_requests())
        return;
    for_each_access(offset, data.size(), [&](std::uint64_t at, std::size_t done, std::size_t size) {
        if (!in_page(at, msix_pending_offset) && !in_page(at, msix_table_offset))
            model_->bar_write(at, data.subspan(done, size));
    });
}

void Function::config_read(std::uint64_t offset, std::span<std::byte> out) {
    ++statistics_.config_reads;
    if (removed_) {
        std::ranges::fill(out, unsupported);
        return;
    }
    const std::uint64_t aborts = dma_.statistics().master_aborts;
    if (std::exchange(master_aborts_noted_, aborts) != aborts)
        config_space_.note_master_abort();
    config_space_.read(offset, out);
    gateway_.read(offset, out);
}

void Function::config_write(std::uint64_t offset, std::span<const std::byte> data) {
    ++statistics_.config_writes;
    if (removed_)
        return;
    gateway_.write(offset, data, model_);
    if (config_space_.write(offset, data))
        reset(ResetCause::function_level);
    else
        apply_enables();
}

void Function::apply_enables() {
    const bool bus_master =
        !removed_ && config_space_.bus_master_enabled() && config_space_.powered();
    const bool msix = !removed_ && config_space_.msix_enabled();
    dma_.set_bus_master(bus_master);
    if (msix_enabled_ && !msix)
        interrupts_.clear_pending();
    msix_enabled_ = msix;
    interrupts_.set_enabled(bus_master && msix && !config_space_.msix_function_masked());
    if (std::exchange(bus_master_, bus_master) != bus_master && model_ != nullptr)
        model_->bus_master_changed(bus_master);
}

void Function::reset() {
    reset(ResetCause::bus);
}

void Function::reset(ResetCause cause) {
    log_->debug("{}", cause == ResetCause::function_level ? "function level reset"
                      : cause == ResetCause::bus          ? "bus reset"
                                                          : "reset because the client is gone");
    if (cause == ResetCause::function_level)
        ++statistics_.function_level_resets;
    else if (cause == ResetCause::bus)
        ++statistics_.bus_resets;
    config_space_.reset(cause == ResetCause::client_gone ? ConfigSpace::ResetScope::everything
                                                         : ConfigSpace::ResetScope::keep_sticky);
    gateway_.reset();
    master_aborts_noted_ = dma_.statistics().master_aborts;
    apply_enables();
    interrupts_.clear_pending();
    if (model_ != nullptr)
        model_->reset(cause);
}

void Function::interrupts_changed(std::uint32_t first, std::uint32_t count) {
    if (model_ != nullptr)
        model_->vectors_changed(first, count);
}

void Function::dma_unmapping(std::uint64_t iova, std::uint64_t size) {
    if (model_ != nullptr)
        model_->dma_unmapping(iova, size);
}

void Function::client_connected() {
    if (model_ != nullptr)
        model_->client_connected();
}

void Function::remove() {
    log_->info("removed");
    removed_ = true;
    reset(ResetCause::bus);
}

bool Function::insert() {
    if (!removed_)
        return false;
    log_->info("inserted");
    removed_ = false;
    reset(ResetCause::client_gone);
    return true;
}

void Function::client_gone() {
    removed_ = false;
    reset(ResetCause::client_gone);
}

} // namespace cxemu::pci
