// SPDX-License-Identifier: GPL-2.0-or-later
#include "queues/wqe_envelope.hpp"

#include "hwtab/view.hpp"
#include "memory/memory_keys.hpp"
#include "queues/data_pointer.hpp"
#include "queues/send_wqe.hpp"
#include "tables/work_queue.hpp"

#include <algorithm>
#include <spdlog/fmt/fmt.h>
#include <string>
#include <utility>

namespace cxemu::queues {

namespace {

using Control = hwtab::ConstView<hwtab::wqe_ctrl_seg>;

std::string subject_of(ServiceType service, Control control) {
    std::string subject = fmt::format("send {} {}", name_of(service),
                                      hwtab::name_of(hwtab::wqe_opcode, control.get<"opcode">()));
    if (const auto variant = control.get<"opmod">(); variant != 0)
        subject += fmt::format(" {:#x}", variant);
    return subject;
}

/// Records the segments of one WQE in order.
class Recording {
public:
    Recording(check::Envelope& envelope, std::string subject, std::span<const std::byte> rest)
        : envelope_(envelope), subject_(std::move(subject)), rest_(rest) {}

    [[nodiscard]] std::span<const std::byte> rest() const { return rest_; }

    /// \param size bytes of the segment; the segment ends at the end of the WQE at the latest
    void take(std::string_view name, const hwtab::Layout& layout, std::size_t size) {
        const auto bytes = rest_.first(std::min(size, rest_.size()));
        envelope_.record(fmt::format("{} {}", subject_, name), layout, bytes);
        list(name);
        rest_ = rest_.subspan(bytes.size());
    }
    void take(std::string_view name, const hwtab::Layout& layout) {
        take(name, layout, layout.size);
    }

    /// Operands without a layout are named only.
    void skip(std::string_view name, std::size_t size) {
        list(name);
        rest_ = rest_.subspan(std::min(size, rest_.size()));
    }

    void take_data() {
        while (rest_.size() >= ds_size) {
            const hwtab::ConstView<hwtab::wqe_data_seg> head{rest_};
            if (head.get<"inline_seg">() == 0) {
                take("data", hwtab::wqe_data_seg);
                continue;
            }
            const std::size_t length =
                hwtab::ConstView<hwtab::wqe_inline_seg>{rest_}.get<"byte_count">();
            const std::size_t padded =
                (hwtab::wqe_inline_seg.size + length + ds_size - 1) / ds_size * ds_size;
            take("inline", hwtab::wqe_inline_seg, padded);
        }
    }

    void finish() const { envelope_.note(subject_, "segments", segments_); }

private:
    /// Consecutive segments of one kind are recorded as one, with a plus sign.
    void list(std::string_view name) {
        if (name != last_)
            segments_ += fmt::format("{}{}", segments_.empty() ? "" : " ", name);
        else if (!segments_.ends_with('+'))
            segments_ += '+';
        last_ = name;
    }

    check::Envelope& envelope_;
    std::string subject_;
    std::string segments_;
    std::string_view last_;
    std::span<const std::byte> rest_;
};

void take_address(Recording& recording) {
    if (recording.rest().size() < hwtab::base_av.size)
        return;
    const hwtab::ConstView<hwtab::base_av> address{recording.rest()};
    if (address.get<"extended">() != 0)
        recording.take("av", hwtab::av);
    else
        recording.take("base_av", hwtab::base_av);
}

/// The tables have a layout only for masked operands of 8 bytes.
void take_masked(Recording& recording, SendOpcode opcode, std::uint64_t variant) {
    if (variant != hwtab::value<hwtab::masked_atomic_opmod, "bytes_8">)
        recording.skip("operands", masked_operands_length(opcode, masked_operand_size(variant)));
    else if (opcode == SendOpcode::masked_compare_swap)
        recording.take("masked_atomic", hwtab::wqe_masked_atomic_seg);
    else
        recording.take("masked_fetch_add", hwtab::wqe_masked_fetch_add_seg);
}

void take_operation(Recording& recording, ServiceType service, SendOpcode opcode,
                    std::uint64_t variant) {
    if (service == ServiceType::extended_reliable_connection)
        recording.take("xrc", hwtab::wqe_xrc_seg);
    if (is_datagram(service) || service == ServiceType::dci)
        take_address(recording);
    if (opcode == SendOpcode::rdma_write || opcode == SendOpcode::rdma_write_immediate ||
        opcode == SendOpcode::rdma_read || is_atomic(opcode))
        recording.take("raddr", hwtab::wqe_raddr_seg);
    if (has_masks(opcode))
        take_masked(recording, opcode, variant);
    else if (is_atomic(opcode))
        recording.take("atomic", hwtab::wqe_atomic_seg);
    recording.take_data();
}

} // namespace

void record_send(check::Envelope& envelope, ServiceType service, std::span<const std::byte> entry) {
    const Control control{entry};
    const auto opcode = static_cast<SendOpcode>(control.get<"opcode">());
    Recording recording(envelope, subject_of(service, control), entry);
    recording.take("ctrl", hwtab::wqe_ctrl_seg);
    switch (opcode) {
    case SendOpcode::nop:
    case SendOpcode::reg_umr:
        break;
    case SendOpcode::set_psv:
        recording.take("set_psv", hwtab::seg_set_psv);
        break;
    case SendOpcode::tag_matching:
        recording.take("tm", hwtab::wqe_tm_seg);
        recording.take_data();
        break;
    default:
        take_operation(recording, service, opcode, control.get<"opmod">());
    }
    recording.finish();
}

void record_receive(check::Envelope& envelope, std::string_view queue,
                    std::span<const std::byte> segments) {
    const std::string subject = fmt::format("receive {} data", queue);
    while (segments.size() >= hwtab::wqe_data_seg.size) {
        const hwtab::ConstView<hwtab::wqe_data_seg> pointer{segments};
        envelope.record(subject, hwtab::wqe_data_seg, segments.first(hwtab::wqe_data_seg.size));
        if (pointer.get<"lkey">() == memory::SpecialKeys::terminate_scatter_list)
            return;
        segments = segments.subspan(hwtab::wqe_data_seg.size);
    }
}

} // namespace cxemu::queues
