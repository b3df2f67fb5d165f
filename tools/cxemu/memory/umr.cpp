// SPDX-License-Identifier: GPL-2.0-or-later
#include "memory/umr.hpp"

#include "check/envelope.hpp"
#include "tables/work_queue.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace cxemu::memory {

namespace {

using Control = hwtab::ConstView<hwtab::wqe_umr_ctrl_seg>;
using KeySegment = hwtab::ConstView<hwtab::mkey_seg>;
using Check = std::expected<void, UmrFault>;

constexpr std::size_t key_segment_offset = hwtab::wqe_umr_ctrl_seg.size;
constexpr std::size_t list_offset = key_segment_offset + hwtab::mkey_seg.size;
constexpr std::uint64_t page_size_mask =
    hwtab::value<hwtab::mkey_mask, "page_size"> | hwtab::value<hwtab::mkey_mask, "page_size_5">;

/// Bits of the mkc that one bit of mkey_mask selects.
struct MaskedField {
    std::uint64_t mask;
    std::uint32_t offset; ///< bits
    std::uint32_t width;
};

template <hwtab::FixedString mask_name, hwtab::FixedString field_name>
consteval MaskedField masked() {
    constexpr hwtab::Target target = hwtab::locate(hwtab::mkc, field_name.view());
    static_assert(target.field != nullptr);
    return {hwtab::value<hwtab::mkey_mask, mask_name>, target.offset, target.field->width};
}

/// log_page_size has two bits in the mask: one for its five lower bits, one for the highest.
consteval MaskedField page_size(bool high) {
    constexpr hwtab::Target target = hwtab::locate(hwtab::mkc, "log_page_size");
    return high ? MaskedField{hwtab::value<hwtab::mkey_mask, "page_size_5">, target.offset, 1}
                : MaskedField{hwtab::value<hwtab::mkey_mask, "page_size">, target.offset + 1,
                              target.field->width - 1};
}

/// Everything but the PD.
constexpr std::array masked_fields{
    masked<"len", "len">(),
    masked<"len", "length64">(),
    page_size(false),
    page_size(true),
    masked<"start_addr", "start_addr">(),
    masked<"en_rinval", "en_rinval">(),
    masked<"en_sigerr", "expected_sigerr_count">(),
    masked<"bsf_en", "bsf_en">(),
    masked<"key", "mkey_7_0">(),
    masked<"qpn", "qpn">(),
    masked<"lr", "lr">(),
    masked<"lw", "lw">(),
    masked<"rr", "rr">(),
    masked<"rw", "rw">(),
    masked<"a", "a">(),
    masked<"small_fence", "small_fence_on_rdma_read_response">(),
    masked<"relaxed_ordering_write", "relaxed_ordering_write">(),
    masked<"relaxed_ordering_read", "relaxed_ordering_read">(),
    masked<"free", "free">(),
};

constexpr std::uint64_t atomic_mask = hwtab::value<hwtab::mkey_mask, "a">;
constexpr std::uint64_t relaxed_write_mask =
    hwtab::value<hwtab::mkey_mask, "relaxed_ordering_write">;
constexpr std::uint64_t relaxed_read_mask = hwtab::value<hwtab::mkey_mask, "relaxed_ordering_read">;
constexpr std::uint64_t domain_mask = hwtab::value<hwtab::mkey_mask, "pd">;

constexpr std::uint64_t known_mask = [] {
    std::uint64_t mask = domain_mask;
    for (const MaskedField& field : masked_fields)
        mask |= field.mask;
    return mask;
}();

template <hwtab::FixedString name>
bool has_flag(Control control) {
    return (control.get<"flags">() & hwtab::value<hwtab::umr_flags, name>) != 0;
}

/// KLMs and KSMs refer to mkeys of the same PD, so user space may write them (memory windows,
/// mlx5dv_mkey). All other entries are bus addresses, which only the kernel may write.
bool is_indirect(const MemoryKey& key) {
    return key.mode() == AccessMode::klm || key.mode() == AccessMode::ksm;
}

bool has_strided_block(std::span<const std::byte> entries) {
    if (entries.size() < hwtab::stride_block_ctrl_seg.size)
        return false;
    return hwtab::ConstView<hwtab::stride_block_ctrl_seg>{entries}.get<"op">() ==
           hwtab::value<hwtab::stride_block_op, "repeat">;
}

class Execution {
public:
    Execution(MemoryKeys& keys, const UmrRequest& request)
        : keys_(keys), request_(request), control_(request.body.first(key_segment_offset)),
          segment_(request.body.subspan(key_segment_offset)) {}

    Check run() {
        for (const auto step :
             {&Execution::find_key, &Execution::check_state, &Execution::find_domain,
              &Execution::fetch_lists, &Execution::take_signature_format}) {
            if (const Check result = (this->*step)(); !result)
                return result;
        }
        if (check::Envelope* envelope = keys_.hca().envelope())
            record(*envelope);
        apply();
        return {};
    }

private:
    [[nodiscard]] Check check_capabilities() const;
    Check find_key();
    Check check_state();
    Check find_domain();
    Check fetch_lists();
    Check fetch_inline(std::span<std::byte> out);
    Check fetch_pointed(std::span<std::byte> out);
    Check check_room();
    Check take_signature_format();
    void apply();
    void record(check::Envelope& envelope) const;
    void record_translation(check::Envelope& envelope, const std::string& subject) const;

    [[nodiscard]] std::uint64_t translation_offset() const {
        if (!has_flag<"translation_offset_en">(control_))
            return 0;
        return (control_.get<"xlt_offset_47_16">() << 16U | control_.get<"xlt_offset">()) *
               MemoryKey::octoword;
    }

    MemoryKeys& keys_;
    const UmrRequest& request_;
    Control control_;
    KeySegment segment_;
    MemoryKey* key_ = nullptr;
    hca::Reference<hca::ProtectionDomain> domain_; ///< new PD
    std::vector<std::byte> translation_;
    std::vector<std::byte> format_bytes_;
    std::optional<Bsf> signature_format_;
};

/// Fields that capabilities gate.
Check Execution::check_capabilities() const {
    const auto& capabilities = keys_.hca().capabilities();
    if (control_.get<"xlt_offset_47_16">() != 0 &&
        capabilities.current<"umr_extended_translation_offset">() == 0)
        return std::unexpected(UmrFault::malformed);
    if ((control_.get<"mkey_mask">() & page_size_mask) != 0 &&
        capabilities.current<"umr_modify_entity_size_disabled">() != 0)
        return std::unexpected(UmrFault::not_supported);
    if ((control_.get<"mkey_mask">() & atomic_mask) != 0 &&
        capabilities.current<"umr_modify_atomic_disabled">() != 0)
        return std::unexpected(UmrFault::not_supported);
    if ((control_.get<"mkey_mask">() & relaxed_write_mask) != 0 &&
        capabilities.current<"relaxed_ordering_write_umr">() == 0)
        return std::unexpected(UmrFault::not_supported);
    if ((control_.get<"mkey_mask">() & relaxed_read_mask) != 0 &&
        capabilities.current<"relaxed_ordering_read_umr">() == 0)
        return std::unexpected(UmrFault::not_supported);
    return {};
}

Check Execution::find_key() {
    if ((control_.get<"mkey_mask">() & ~known_mask) != 0)
        return std::unexpected(UmrFault::malformed);
    if (const Check checked = check_capabilities(); !checked)
        return checked;
    key_ = keys_.hca().objects().of<MemoryKey>().find(request_.key >> MemoryKey::variant_bits);
    if (key_ == nullptr)
        return std::unexpected(UmrFault::unknown_key);
    return {};
}

Check Execution::check_state() {
    const auto fields = key_->context();
    if (fields.get<"umr_en">() == 0)
        return std::unexpected(UmrFault::not_changeable);
    if (!request_.rights.privileged && !request_.accessor.is_in(fields.get<"pd">()))
        return std::unexpected(UmrFault::foreign_domain);
    if (!request_.rights.fast_registration && !is_indirect(*key_))
        return std::unexpected(UmrFault::no_fast_registration);
    if (has_flag<"check_free">(control_) && fields.get<"free">() != 0)
        return std::unexpected(UmrFault::key_is_free);
    if (has_flag<"check_not_free">(control_) && fields.get<"free">() == 0)
        return std::unexpected(UmrFault::key_is_not_free);
    const auto bound_to = fields.get<"qpn">();
    if (has_flag<"check_qpn">(control_) && bound_to != MemoryKey::any_queue_pair &&
        bound_to != request_.accessor.queue_pair)
        return std::unexpected(UmrFault::foreign_queue_pair);
    return {};
}

Check Execution::find_domain() {
    if ((control_.get<"mkey_mask">() & domain_mask) == 0)
        return {};
    if (!request_.rights.privileged)
        return std::unexpected(UmrFault::not_permitted);
    auto* domain = keys_.hca().objects().of<hca::ProtectionDomain>().find(
        static_cast<std::uint32_t>(segment_.get<"pd">()));
    if (domain == nullptr)
        return std::unexpected(UmrFault::unknown_domain);
    domain_ = hca::Reference<hca::ProtectionDomain>(*domain);
    return {};
}

/// Reads the translation entries and the BSF that follows them. Both are either inline in the WQE
/// or in the memory of its data segments.
Check Execution::fetch_lists() {
    const std::size_t size = control_.get<"xlt_octowords">() * MemoryKey::octoword;
    const bool shares_field = has_flag<"translation_offset_en">(control_);
    const std::size_t format_size =
        shares_field ? 0 : control_.get<"bsf_octowords">() * MemoryKey::octoword;
    std::vector<std::byte> lists(size + format_size);
    const Check fetched = has_flag<"inline">(control_) ? fetch_inline(lists) : fetch_pointed(lists);
    if (!fetched)
        return fetched;
    const auto format = lists.begin() + static_cast<std::ptrdiff_t>(size);
    format_bytes_.assign(format, lists.end());
    lists.erase(format, lists.end());
    translation_ = std::move(lists);
    return check_room();
}

Check Execution::fetch_inline(std::span<std::byte> out) {
    const auto list = request_.body.subspan(list_offset);
    if (list.size() < out.size())
        return std::unexpected(UmrFault::malformed);
    std::ranges::copy(list.first(out.size()), out.begin());
    return {};
}

Check Execution::fetch_pointed(std::span<std::byte> out) {
    std::vector<DataSegment> list;
    std::uint64_t listed = 0;
    auto rest = request_.body.subspan(list_offset);
    while (listed < out.size() && rest.size() >= hwtab::wqe_data_seg.size) {
        const hwtab::ConstView<hwtab::wqe_data_seg> pointer{rest};
        list.push_back({.length = static_cast<std::uint32_t>(pointer.get<"byte_count">()),
                        .key = static_cast<std::uint32_t>(pointer.get<"lkey">()),
                        .address = pointer.get<"addr">()});
        listed += list.back().length;
        rest = rest.subspan(hwtab::wqe_data_seg.size);
    }
    if (listed < out.size())
        return std::unexpected(UmrFault::malformed);
    Accessor who = request_.accessor;
    who.resd_lkey &= keys_.hca().capabilities().current<"umr_ptr_rlky">() != 0;
    if (!keys_.gather(who, list, 0, out))
        return std::unexpected(UmrFault::unreachable);
    return {};
}

/// The zeros that pad a list do not count.
Check Execution::check_room() {
    const std::uint64_t capacity = key_->translation_capacity();
    const std::uint64_t offset = translation_offset();
    const std::uint64_t room = offset < capacity ? capacity - offset : 0;
    if (translation_.size() > room) {
        const auto excess = std::span(translation_).subspan(room);
        if (std::ranges::any_of(excess, [](std::byte byte) { return byte != std::byte{0}; }))
            return std::unexpected(UmrFault::translation_too_long);
        translation_.resize(room);
    }
    const auto format_room = key_->context().get<"bsf_octword_size">() * MemoryKey::octoword;
    if (format_bytes_.size() > format_room)
        return std::unexpected(UmrFault::translation_too_long);
    return {};
}

Check Execution::take_signature_format() {
    if (format_bytes_.empty())
        return {};
    const auto format = decode_bsf(format_bytes_);
    if (!format) {
        keys_.hca().log()->warn("UMR of key {:#x}, BSF: {}", request_.key,
                                describe(format.error()));
        return std::unexpected(UmrFault::bad_signature_format);
    }
    signature_format_ = *format;
    return {};
}

void Execution::apply() {
    const auto mask = control_.get<"mkey_mask">();
    std::byte* context = key_->mutable_context().memory().data();
    for (const MaskedField& field : masked_fields) {
        if ((mask & field.mask) != 0)
            hwtab::write_bits(
                context, field.offset, field.width,
                hwtab::read_bits(segment_.memory().data(), field.offset, field.width));
    }
    if (domain_)
        key_->set_domain(std::move(domain_));
    if (!translation_.empty()) {
        key_->write_translation(translation_offset(), translation_);
        if (keys_.hca().capabilities().current<"pg">() != 0)
            key_->give_entries_rights();
    }
    if (signature_format_)
        key_->set_signature_format(*signature_format_);
    key_->forget_transfers();
}

/// The access mode of an mkey determines the meaning of its entries, and which fields a UMR may
/// set.
void Execution::record(check::Envelope& envelope) const {
    const std::string subject = fmt::format(
        "umr {} of {}",
        hwtab::name_of(hwtab::mkey_access_mode, static_cast<std::uint64_t>(key_->mode())),
        request_.rights.privileged ? "reg_umr" : "others");
    envelope.record(subject + " ctrl", hwtab::wqe_umr_ctrl_seg, control_.memory());
    envelope.record(subject + " mkey", hwtab::mkey_seg,
                    segment_.memory().first(hwtab::mkey_seg.size));
    record_translation(envelope, subject);
    if (!format_bytes_.empty())
        envelope.record(subject + " bsf", hwtab::bsf, format_bytes_);
}

void Execution::record_translation(check::Envelope& envelope, const std::string& subject) const {
    if (key_->mode() != AccessMode::klm && key_->mode() != AccessMode::ksm)
        return;
    std::span<const std::byte> rest(translation_);
    const bool is_strided = has_strided_block(rest);
    if (is_strided) {
        envelope.record(subject + " stride", hwtab::stride_block_ctrl_seg, rest);
        rest = rest.subspan(hwtab::stride_block_ctrl_seg.size);
    }
    const hwtab::Layout& entry = is_strided                        ? hwtab::stride_block_entry
                                 : key_->mode() == AccessMode::ksm ? hwtab::ksm
                                                                   : hwtab::klm;
    for (std::uint32_t i = 0; i < check::Envelope::elements_recorded && rest.size() >= entry.size;
         ++i) {
        envelope.record(fmt::format("{} {}", subject, entry.name), entry, rest.first(entry.size));
        rest = rest.subspan(entry.size);
    }
}

} // namespace

std::string_view describe(UmrFault fault) {
    switch (fault) {
    case UmrFault::malformed:
        return "a segment is missing, or a mask has unknown bits";
    case UmrFault::unknown_key:
        return "no memory key has this index";
    case UmrFault::unknown_domain:
        return "no protection domain has the new number";
    case UmrFault::not_changeable:
        return "the key was created without permission for UMR";
    case UmrFault::foreign_domain:
        return "the key is in another PD";
    case UmrFault::not_permitted:
        return "only privileged queue pairs may change this field";
    case UmrFault::not_supported:
        return "the device cannot change this field by UMR";
    case UmrFault::no_fast_registration:
        return "the key holds bus addresses, and the queue pair was created without fre";
    case UmrFault::key_is_free:
        return "the request demands a key in use";
    case UmrFault::key_is_not_free:
        return "the request demands a free key";
    case UmrFault::foreign_queue_pair:
        return "the key is bound to another queue pair";
    case UmrFault::translation_too_long:
        return "more entries than the key has room for";
    case UmrFault::unreachable:
        return "the entries could not be read";
    case UmrFault::bad_signature_format:
        return "the BSF is invalid";
    }
    return "unknown fault";
}

Check execute_umr(MemoryKeys& keys, const UmrRequest& request) {
    const Check result = request.body.size() < list_offset
                             ? Check(std::unexpected(UmrFault::malformed))
                             : Execution(keys, request).run();
    ++(result ? keys.counters().umr_executed : keys.counters().umr_refused);
    if (!result)
        keys.hca().log()->debug("UMR of key {:#x}: {}", request.key, describe(result.error()));
    return result;
}

} // namespace cxemu::memory
