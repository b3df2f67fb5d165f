// SPDX-License-Identifier: GPL-2.0-or-later
#include "hca/doorbell_router.hpp"

#include "base/byte_order.hpp"
#include "check/envelope.hpp"
#include "hwtab/view.hpp"
#include "tables/work_queue.hpp"

#include <array>
#include <fmt/format.h>
#include <utility>

namespace cxemu::hca {

namespace {

constexpr std::uint32_t cq_doorbell = hwtab::value<hwtab::uar_offset, "cq_doorbell">;
constexpr std::uint32_t eq_doorbell_arm = hwtab::value<hwtab::uar_offset, "eq_doorbell_arm">;
constexpr std::uint32_t eq_doorbell_update = hwtab::value<hwtab::uar_offset, "eq_doorbell">;
constexpr std::uint32_t recordless_doorbell = 0x600; ///< of send queues without DBR
constexpr std::uint32_t blue_flame_area = hwtab::value<hwtab::uar_offset, "blue_flame">;
constexpr std::uint32_t blue_flame_registers = 4;
constexpr std::size_t pair_size = 8;

/// Bytes of a BlueFlame register. UAR pages have pairs of them.
std::uint32_t buffer_size(std::uint32_t log_bf_reg_size) {
    return (1U << log_bf_reg_size) / 2;
}

bool is_in_register(std::uint32_t offset, std::uint32_t log_bf_reg_size) {
    return offset >= blue_flame_area &&
           offset < blue_flame_area + (blue_flame_registers << log_bf_reg_size);
}

/// Offset in the BlueFlame register; 0 is the doorbell.
std::uint32_t offset_in_buffer(std::uint32_t offset, std::uint32_t log_bf_reg_size) {
    return (offset - blue_flame_area) % buffer_size(log_bf_reg_size);
}

} // namespace

DoorbellRouter::DoorbellRouter(Objects& objects, Complaint complain)
    : objects_(objects), complain_(std::move(complain)) {}

void DoorbellRouter::undecoded(const Uar& uar, std::uint32_t offset, std::size_t size) {
    ++statistics_.undecoded;
    complain_("decoded by no doorbell", uar.number(), offset, size);
}

void DoorbellRouter::write(std::uint32_t page, std::uint32_t offset,
                           std::span<const std::byte> data, std::uint32_t log_bf_reg_size) {
    Uar* uar = objects_.of<Uar>().find(page);
    if (uar == nullptr) {
        ++statistics_.without_uar;
        complain_("the page is no UAR", page, offset, data.size());
        return;
    }
    if (handler_ == nullptr)
        return undecoded(*uar, offset, data.size());
    record_write(offset, data.size(), log_bf_reg_size);
    if (combine(page, offset, data, log_bf_reg_size))
        return;
    if (offset == eq_doorbell_arm || offset == eq_doorbell_update)
        return ring_event_queue(*uar, offset, data);
    if (offset == cq_doorbell || offset == cq_doorbell + 4 || offset == recordless_doorbell ||
        offset == recordless_doorbell + 4)
        return ring_pair(*uar, offset, data);
    if (!is_in_register(offset, log_bf_reg_size))
        return undecoded(*uar, offset, data.size());
    if (offset_in_buffer(offset, log_bf_reg_size) < pair_size)
        return ring_pair(*uar, offset, data);
    ++statistics_.blue_flame_data;
}

void DoorbellRouter::record(std::string_view name, const hwtab::Layout& layout,
                            std::span<const std::byte> data) const {
    if (envelope_ != nullptr)
        envelope_->record(fmt::format("doorbell {}", name), layout, data);
}

/// All BlueFlame registers of a page are recorded as one, and so are all offsets in a register.
void DoorbellRouter::record_write(std::uint32_t offset, std::size_t size,
                                  std::uint32_t log_bf_reg_size) const {
    if (envelope_ == nullptr)
        return;
    std::string place = fmt::format("{:#x}", offset);
    if (is_in_register(offset, log_bf_reg_size)) {
        const std::uint32_t inside = offset_in_buffer(offset, log_bf_reg_size);
        place = inside < pair_size ? fmt::format("register {:#x}", inside) : "register behind 0x7";
    } else if (offset >= blue_flame_area) {
        return;
    }
    envelope_->note("uar", "writes", fmt::format("{} bytes at {}", size, place));
}

void DoorbellRouter::combine_writes(EventLoop& loop) {
    combined_.emplace(loop, [this](const CombinedWrite& write) { take_combined(write); });
}

void DoorbellRouter::read(std::uint32_t page) {
    if (combined_)
        combined_->flush(page);
}

void DoorbellRouter::flush() {
    if (combined_)
        combined_->flush();
}

void DoorbellRouter::drop() {
    if (combined_)
        combined_->drop();
}

/// \return whether the processor holds the write back
bool DoorbellRouter::combine(std::uint32_t page, std::uint32_t offset,
                             std::span<const std::byte> data, std::uint32_t log_bf_reg_size) {
    if (!combined_)
        return false;
    if (is_in_register(offset, log_bf_reg_size) && data.size() == pair_size &&
        combined_->take({.page = page,
                         .offset = offset,
                         .buffer_offset = offset_in_buffer(offset, log_bf_reg_size),
                         .buffer_size = buffer_size(log_bf_reg_size)},
                        data.first<pair_size>()))
        return true;
    combined_->flush(page);
    return false;
}

void DoorbellRouter::take_combined(const CombinedWrite& write) {
    Uar* uar = objects_.of<Uar>().find(write.page);
    if (uar == nullptr || handler_ == nullptr)
        return; // the UAR has been destroyed meanwhile
    if (!write.whole)
        return ring(*uar, write.offset, std::span(write.bytes).first<pair_size>());
    ++statistics_.requests;
    handler_->send_request(*uar, write.bytes);
}

void DoorbellRouter::ring_event_queue(Uar& uar, std::uint32_t offset,
                                      std::span<const std::byte> data) {
    if (data.size() != sizeof(std::uint32_t))
        return undecoded(uar, offset, data.size());
    const auto value = load_be<std::uint32_t>(data);
    ++statistics_.event_queue;
    record(offset == eq_doorbell_arm ? "eq arm" : "eq", hwtab::eq_doorbell, data);
    handler_->event_queue_doorbell(uar, static_cast<std::uint8_t>(value >> 24), value & 0xff'ffff,
                                   offset == eq_doorbell_arm);
}

/// Rings an 8-byte doorbell. If \p data is only its first half, the half is kept until the second
/// one arrives.
void DoorbellRouter::ring_pair(Uar& uar, std::uint32_t offset, std::span<const std::byte> data) {
    if (data.size() == pair_size) {
        uar.half = {};
        return ring(uar, offset, data.first<pair_size>());
    }
    if (data.size() != sizeof(std::uint32_t))
        return undecoded(uar, offset, data.size());
    if (offset % pair_size == 0) {
        uar.half = {.offset = offset, .value = load_be<std::uint32_t>(data)};
        return;
    }
    if (uar.half.offset + sizeof(std::uint32_t) != offset)
        return undecoded(uar, offset, data.size());
    std::array<std::byte, pair_size> both{};
    store_be(std::span(both).first<4>(), uar.half.value);
    store_be(std::span(both).last<4>(), load_be<std::uint32_t>(data));
    const std::uint32_t start = uar.half.offset;
    uar.half = {};
    ring(uar, start, both);
}

void DoorbellRouter::ring(Uar& uar, std::uint32_t offset, std::span<const std::byte, 8> data) {
    if (offset == cq_doorbell) {
        ++statistics_.completion_queue;
        record("cq", hwtab::cq_doorbell, data);
        handler_->completion_queue_doorbell(uar, load_be<std::uint32_t>(data.first<4>()),
                                            load_be<std::uint32_t>(data.last<4>()));
        return;
    }
    ++statistics_.send;
    record("send", hwtab::send_doorbell, data);
    handler_->send_doorbell(uar, data);
}

} // namespace cxemu::hca
