// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// SRQs: receive memory pools (RMP), basic SRQs (CREATE_SRQ) and XRC SRQs. XRQs are in a separate
/// file.
#pragma once

#include "hca/objects.hpp"
#include "hwtab/view.hpp"
#include "memory/host_buffer.hpp"
#include "queues/completion_queue.hpp"
#include "queues/receive_queue.hpp"
#include "tables/contexts.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>

namespace cxemu::hca {
class Hca;
}

namespace cxemu::queues {

class TagList;

/// Attributes of all kinds, from their contexts.
struct SharedReceiveAttributes {
    bool linked_list = true;       ///< next segments order the WQEs; otherwise a ring
    bool has_next_segments = true; ///< at the beginning of WQEs, also of some rings
    std::uint32_t log_entries = 0;
    std::uint32_t log_stride = 0; ///< bytes, log2
    bool has_signatures = false;
    std::uint64_t doorbell_record = 0; ///< bus address
    std::uint16_t limit = 0;           ///< 0: not armed
};

struct SharedReceiveResources {
    memory::HostBuffer buffer;
    hca::Reference<hca::ProtectionDomain> domain;
    hca::Reference<hca::XrcDomain> xrc_domain;     ///< empty unless it is an XRC SRQ
    hca::Reference<CompletionQueue> completions;   ///< empty: the CQ of the QP
    hca::Reference<hca::UserMemory> buffer_memory; ///< empty unless the buffer is in a umem
    hca::Reference<hca::UserMemory> record_memory; ///< empty unless the doorbell record is in one
};

/// The device follows a linked list of WQEs by next_wqe_index, which software rewrites when it
/// frees slots. An SRQ with an invalid chain or counter enters the error state and posts a
/// catastrophic error event.
class SharedReceiveQueue : public hca::Object {
public:
    SharedReceiveQueue(hca::ObjectIdentity identity, hca::Hca& hca,
                       const SharedReceiveAttributes& attributes, SharedReceiveResources resources);

    /// Takes the next WQE; reads the doorbell record.
    std::expected<RecvWqe, ReceiveFault> take();

    /// Arms one limit event, which is posted when fewer than \p limit WQEs are left, possibly at
    /// once.
    void arm(std::uint16_t limit);

    /// Number of posted WQEs that are not taken; reads the doorbell record.
    std::uint16_t available();

    [[nodiscard]] std::uint32_t protection_domain() const { return resources_.domain->number(); }
    /// XRC domain of an XRC SRQ, or nullptr.
    [[nodiscard]] const hca::XrcDomain* xrc_domain() const { return resources_.xrc_domain.get(); }
    /// CQ of the SRQ, or nullptr: that of the QP.
    [[nodiscard]] CompletionQueue* completions() const { return resources_.completions.get(); }
    /// User index for CQEs; 0xffffff: the number.
    [[nodiscard]] virtual std::uint32_t user_index() const { return no_user_index; }
    static constexpr std::uint32_t no_user_index = 0xffffff;
    /// The tag list, or nullptr without tag matching.
    [[nodiscard]] virtual TagList* tags() { return nullptr; }
    /// Rendezvous offload: the device fetches the data of a matching rendezvous.
    [[nodiscard]] virtual bool fetches_rendezvous() const { return false; }

    [[nodiscard]] bool stopped() const { return stopped_; }
    [[nodiscard]] std::uint16_t limit() const { return attributes_.limit; }
    [[nodiscard]] std::uint16_t posted() const { return posted_; }
    [[nodiscard]] std::uint16_t taken() const { return taken_; }
    [[nodiscard]] const memory::HostBuffer& buffer() const { return resources_.buffer; }
    /// Bus address of the receive counter.
    [[nodiscard]] std::uint64_t doorbell_record() const { return attributes_.doorbell_record; }

private:
    std::expected<void, ReceiveFault> poll();
    std::expected<std::uint16_t, ReceiveFault> next_slot(std::span<const std::byte> entry,
                                                         std::uint16_t slot);
    std::unexpected<ReceiveFault> stop(ReceiveFault fault, std::string_view why);
    void check_limit();
    void post_event(hca::EventType type);

    hca::Hca& hca_;
    SharedReceiveAttributes attributes_;
    SharedReceiveResources resources_;
    ReceiveRing ring_;
    std::uint16_t posted_ = 0;
    std::uint16_t taken_ = 0;
    std::uint16_t head_ = 0; ///< slot of the next entry of a linked list
    bool stopped_ = false;
};

class ReceiveMemoryPool final : public SharedReceiveQueue {
public:
    static constexpr hca::ObjectKind kind = hca::ObjectKind::receive_memory_pool;

    /// \param context of the layout rmpc
    ReceiveMemoryPool(hca::ObjectIdentity identity, hca::Hca& hca,
                      std::span<const std::byte> context, const SharedReceiveAttributes& attributes,
                      SharedReceiveResources resources);

    [[nodiscard]] hwtab::ConstView<hwtab::rmpc> context() const {
        return hwtab::ConstView<hwtab::rmpc>{context_};
    }
    /// Writes current state, limit and counters to the context.
    void refresh();

private:
    std::array<std::byte, hwtab::rmpc.size> context_{};
};

class BasicSharedReceiveQueue final : public SharedReceiveQueue {
public:
    static constexpr hca::ObjectKind kind = hca::ObjectKind::shared_receive_queue;

    /// \param context of the layout srqc
    BasicSharedReceiveQueue(hca::ObjectIdentity identity, hca::Hca& hca,
                            std::span<const std::byte> context,
                            const SharedReceiveAttributes& attributes,
                            SharedReceiveResources resources);

    [[nodiscard]] hwtab::ConstView<hwtab::srqc> context() const {
        return hwtab::ConstView<hwtab::srqc>{context_};
    }
    void refresh();

private:
    std::array<std::byte, hwtab::srqc.size> context_{};
};

class XrcSharedReceiveQueue final : public SharedReceiveQueue {
public:
    static constexpr hca::ObjectKind kind = hca::ObjectKind::xrc_shared_receive_queue;

    /// \param context of the layout xrc_srqc
    XrcSharedReceiveQueue(hca::ObjectIdentity identity, hca::Hca& hca,
                          std::span<const std::byte> context,
                          const SharedReceiveAttributes& attributes,
                          SharedReceiveResources resources);

    [[nodiscard]] hwtab::ConstView<hwtab::xrc_srqc> context() const {
        return hwtab::ConstView<hwtab::xrc_srqc>{context_};
    }
    [[nodiscard]] std::uint32_t user_index() const override;
    void refresh();

private:
    std::array<std::byte, hwtab::xrc_srqc.size> context_{};
};

} // namespace cxemu::queues
