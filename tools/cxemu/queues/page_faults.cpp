// SPDX-License-Identifier: GPL-2.0-or-later
#include "queues/page_faults.hpp"

#include "base/byte_order.hpp"
#include "queues/work_queues.hpp"
#include "tables/events.hpp"
#include "tables/object_values.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace cxemu::queues {

namespace {

template <hwtab::FixedString name>
constexpr auto form = static_cast<std::uint8_t>(hwtab::value<hwtab::page_fault_subtype, name>);

bool is_remote(FaultPlace place) {
    return place == FaultPlace::remote_write || place == FaultPlace::remote_read;
}
bool is_requester(FaultPlace place) {
    return place == FaultPlace::send_or_write || place == FaultPlace::read_or_atomic;
}

/// This part of the EQE is reserved in mlx5_ifc.h, but drivers read the token there.
constexpr std::size_t token_offset = 0xc;

void fill_request_form(hca::EventData& data, const PageFault& fault, std::uint32_t work_queue,
                       std::uint32_t token) {
    const bool is_shared = fault.place == FaultPlace::receive && fault.shared_receive;
    const hwtab::View<hwtab::wqe_associated_page_fault_event> event{data};
    event.set<"bytes_committed">(fault.committed);
    event.set<"wqe_index">(fault.index);
    event.set<"len">(fault.packet);
    event.set<"requestor">(is_requester(fault.place) ? 1 : 0);
    event.set<"write_read">(fault.place != FaultPlace::send_or_write && !is_shared ? 1 : 0);
    event.set<"qpn">(work_queue);
    store_be(std::span(data).subspan(token_offset), token);
}

void fill_remote_form(hca::EventData& data, const PageFault& fault, std::uint32_t token) {
    const hwtab::View<hwtab::rdma_page_fault_event> event{data};
    event.set<"bytes_committed">(fault.committed);
    event.set<"r_key">(fault.key);
    event.set<"packet_len">(fault.packet);
    event.set<"rdma_op_len">(fault.length);
    event.set<"rdma_va">(fault.address);
    event.set<"rdma">(1);
    event.set<"write">(fault.place == FaultPlace::remote_write ? 1 : 0);
    event.set<"qp_number">(token);
}

constexpr unsigned log_page = 12;
constexpr std::uint64_t page = 1ULL << log_page;

std::uint64_t count_pages(const memory::AbsentMemory& absent) {
    constexpr std::uint64_t max_pages = (1ULL << 20U) - 1;
    const std::uint64_t bytes = absent.address % page + absent.length;
    return std::clamp<std::uint64_t>((bytes + page - 1) / page, 1, max_pages);
}

/// Prefetch hint: the same number of pages after the absent ones, within the mkey. Software may
/// ignore it.
std::uint16_t suggest_pages(const memory::MemoryKeys& keys, const memory::AbsentMemory& absent) {
    constexpr std::uint64_t max_pages = 0xffff;
    const std::uint64_t pages = count_pages(absent);
    const auto key = keys.find(absent.key);
    const std::uint64_t end = 2 * pages * page - absent.address % page;
    return key && (*key)->contains(absent.address, end)
               ? static_cast<std::uint16_t>(std::min(pages, max_pages))
               : std::uint16_t{0};
}

/// EQE of a memory page fault. mlx5_ifc.h does not have its layout, which is taken from drivers.
/// Lengths are in pages of 4 KiB, beginning with the page of the address.
void fill_memory_form(hca::EventData& data, const memory::AbsentMemory& absent,
                      std::uint16_t suggested, std::uint32_t token) {
    constexpr std::byte last_of_fault{0x80};
    constexpr std::size_t suggested_behind_at = 0x2;
    constexpr std::size_t token_at = 0x8;
    constexpr std::size_t pages_at = 0xc;
    constexpr std::size_t key_at = 0x10;
    constexpr std::size_t address_at = 0x14;
    const std::span bytes_of_event(data);
    data[0] = last_of_fault;
    store_be(bytes_of_event.subspan(suggested_behind_at), suggested);
    store_be(bytes_of_event.subspan(token_at), token);
    store_be(bytes_of_event.subspan(pages_at),
             static_cast<std::uint32_t>(count_pages(absent) << log_page));
    store_be(bytes_of_event.subspan(key_at), absent.key);
    store_be(bytes_of_event.subspan(address_at), absent.address);
}

} // namespace

std::uint32_t PageFaults::next_token() {
    do
        last_token_ = (last_token_ + 1) & token_mask;
    while (last_token_ == 0 || waiting_.contains(last_token_));
    return last_token_;
}

bool PageFaults::post(const QueuePair& queue_pair, const PageFault& fault, std::uint32_t token) {
    hca::EventData data{};
    if (is_remote(fault.place)) {
        fill_remote_form(data, fault, token);
        return queues_.hca().post_event(hca::EventType::page_fault, form<"rdma">, data);
    }
    fill_request_form(data, fault, fault.shared_receive.value_or(queue_pair.number()), token);
    return queues_.hca().post_event(hca::EventType::page_fault, form<"wqe">, data);
}

bool PageFaults::post_memory(const memory::AbsentMemory& absent, std::uint32_t token) {
    hca::EventData data{};
    fill_memory_form(data, absent, suggest_pages(queues_.memory(), absent), token);
    return queues_.hca().post_event(hca::EventType::page_fault, form<"memory">, data);
}

std::optional<std::uint32_t> PageFaults::raise(const QueuePair& queue_pair,
                                               const PageFault& fault) {
    hca::Hca& hca = queues_.hca();
    if (hca.capabilities().current<"pg">() == 0)
        return std::nullopt;
    const std::uint32_t token = next_token();
    Waiting waiting{.queue_pair = queue_pair.number(),
                    .work_queue = is_remote(fault.place)
                                      ? token
                                      : fault.shared_receive.value_or(queue_pair.number()),
                    .absent = {}};
    if (hca.capabilities().on_demand_paging<"mem_page_fault">() != 0)
        waiting.absent = queues_.memory().absent_memory();
    hca.log()->debug("queue pair {:#x}: page fault {:#x} ({} bytes done)", queue_pair.number(),
                     token, fault.committed);
    const bool posted = waiting.absent.empty() ? post(queue_pair, fault, token)
                                               : post_memory(waiting.absent.front(), token);
    if (!posted)
        return std::nullopt;
    waiting_.emplace(token, std::move(waiting));
    ++raised_;
    return token;
}

/// Passes over mkeys that have been destroyed since the fault.
/// \return false when all mkeys have been reported, or the EQE can't be posted
bool PageFaults::report_next_key(Waiting& waiting, std::uint32_t token) {
    while (waiting.absent.size() > 1) {
        waiting.absent.erase(waiting.absent.begin());
        const memory::AbsentMemory& next = waiting.absent.front();
        if (!queues_.memory().find(next.key))
            continue;
        queues_.hca().log()->debug("page fault {:#x}: again, for memory key {:#x}", token,
                                   next.key);
        return post_memory(next, token);
    }
    return false;
}

std::expected<void, ResumeFault>
PageFaults::resume(std::uint64_t token, std::optional<std::uint32_t> work_queue, bool resolved) {
    const auto found = waiting_.find(static_cast<std::uint32_t>(token));
    if (token > token_mask || found == waiting_.end())
        return std::unexpected(ResumeFault::unknown_token);
    if (work_queue && *work_queue != found->second.work_queue)
        return std::unexpected(ResumeFault::other_queue);
    QueuePair* queue_pair = queues_.hca().objects().of<QueuePair>().find(found->second.queue_pair);
    if (queue_pair != nullptr && !resolved && report_next_key(found->second, found->first))
        return {};
    waiting_.erase(found);
    if (queue_pair == nullptr)
        return std::unexpected(ResumeFault::unknown_token);
    if (Transport* transport = queues_.transport_of(*queue_pair))
        transport->page_fault_resumed(*queue_pair, static_cast<std::uint32_t>(token), resolved);
    return {};
}

void PageFaults::forget(const QueuePair& queue_pair) {
    std::erase_if(waiting_, [&](const auto& entry) {
        return entry.second.queue_pair == queue_pair.number();
    });
}

} // namespace cxemu::queues
