// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Records of subnet administration, and the comparison with those of queries (InfiniBand
/// specification, 15.2).
#pragma once

#include "fabric/mad.hpp"
#include "hwtab/view.hpp"
#include "subnet_manager/routing.hpp"
#include "subnet_manager/subnet.hpp"
#include "tables/datagrams.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace cxemu::subnet_manager {

/// Status of a response.
enum class SaStatus : std::uint16_t {
    ok = hwtab::value<hwtab::sa_status, "success">,
    bad_version = hwtab::value<hwtab::mad_status, "bad_version">,
    unsupported_method = hwtab::value<hwtab::mad_status, "unsupported_method">,
    unsupported_attribute = hwtab::value<hwtab::mad_status, "unsupported_method_attrib">,
    no_resources = hwtab::value<hwtab::sa_status, "no_resources">,
    request_invalid = hwtab::value<hwtab::sa_status, "req_invalid">,
    no_records = hwtab::value<hwtab::sa_status, "no_records">,
    too_many_records = hwtab::value<hwtab::sa_status, "too_many_records">,
    invalid_gid = hwtab::value<hwtab::sa_status, "req_invalid_gid">,
    insufficient_components = hwtab::value<hwtab::sa_status, "req_insufficient_components">,
};

using Record = std::vector<std::byte>;

/// A request to subnet administration.
struct SaRequest {
    fabric::MadMethod method = fabric::MadMethod::get;
    std::uint64_t mask = 0;          ///< fields of the record that the query names
    std::uint32_t modifier = 0;      ///< attribute modifier
    std::span<const std::byte> data; ///< the record of the query, 200 bytes
    Guid requester = 0;              ///< port GUID
    bool trusted = false;            ///< the request has the SM_Key
};

/// Contents of a response: one record, or for GetTable any number of records.
struct SaReply {
    SaStatus status = SaStatus::ok;
    std::vector<Record> records{};
};

/// A field that a query can name.
struct Component {
    std::uint64_t bit = 0;    ///< of the component mask
    std::uint32_t offset = 0; ///< bits
    std::uint32_t width = 0;  ///< bits
};

template <const hwtab::Layout& layout, hwtab::FixedString field>
consteval Component component(unsigned bit) {
    const hwtab::Target target = hwtab::locate(layout, field.view());
    return {std::uint64_t{1} << bit, target.offset, target.width * target.field->count};
}

/// Returns true if the fields that \p mask selects are equal. Bits without a component are ignored.
bool matches(std::span<const Component> components, std::uint64_t mask,
             std::span<const std::byte> record, std::span<const std::byte> query);

/// A comparison by selector (hwtab::sa_selector). \return true if \p value matches \p wanted
bool is_selected(std::uint64_t selector, std::uint64_t value, std::uint64_t wanted);

/// All NodeRecords that match, one for each end port.
std::vector<Record> node_records(const Subnet& subnet, const LidTable& lids,
                                 const SaRequest& request);

/// All PortInfoRecords that match, external ports of switches included. With bit 31 of the
/// attribute modifier the CapabilityMask matches when it has all bits of the query.
std::vector<Record> port_info_records(const Subnet& subnet, const LidTable& lids,
                                      const SaRequest& request);

/// The code of the data rate of an active port (hwtab::rate_code).
std::uint8_t rate_code_of(const SubnetPort& port);
/// The data rate behind a code, in 100 Mb/s, to compare codes; 0 for an unknown one.
std::uint32_t data_rate_of(std::uint64_t rate_code);

} // namespace cxemu::subnet_manager
