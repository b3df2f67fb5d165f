// SPDX-License-Identifier: GPL-2.0-or-later
#include "queues/tag_operation.hpp"

#include "queues/receive_queue.hpp"

namespace cxemu::queues {

std::optional<TagOperation> decode_tag_operation(const SendWqe& request) {
    if (request.body().size() < hwtab::wqe_tm_seg.size)
        return std::nullopt;
    const hwtab::ConstView<hwtab::wqe_tm_seg> fields{request.body()};
    TagOperation operation{.kind = static_cast<TagOperation::Kind>(fields.get<"opcode">()),
                           .reported = fields.get<"cqe_req">() != 0,
                           .handled = std::nullopt,
                           .index = static_cast<std::uint16_t>(fields.get<"index">()),
                           .tag = fields.get<"append_tag">(),
                           .mask = fields.get<"append_mask">(),
                           .memory = {}};
    if (fields.get<"sw_cnt_valid">() != 0)
        operation.handled = static_cast<std::uint16_t>(fields.get<"sw_cnt">());
    switch (operation.kind) {
    case TagOperation::Kind::append:
        operation.memory = decode_scatter_list(request.body().subspan(hwtab::wqe_tm_seg.size));
        return operation;
    case TagOperation::Kind::none:
    case TagOperation::Kind::remove:
        return operation;
    }
    return std::nullopt;
}

} // namespace cxemu::queues
