// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The subnet management agent of a node: M_Key check, attributes, responses (InfiniBand
/// specification, 14.2). For routing see directed_route.hpp.
#pragma once

#include "base/event_loop.hpp"
#include "fabric/mad.hpp"
#include "fabric/managed_node.hpp"
#include "fabric/management_key.hpp"
#include "fabric/trap_sender.hpp"

#include <cstdint>
#include <expected>
#include <functional>
#include <optional>

namespace cxemu::fabric {

/// Reason why a MAD has no response.
enum class MadRefusal : std::uint8_t {
    no_agent,      ///< unsupported class, version or method
    key_violation, ///< M_Key violation
};

/// Origin of a MAD.
struct MadOrigin {
    std::uint8_t port = 1;           ///< port of the node at which it arrived
    Lid remote_lid = permissive_lid; ///< SLID of the packet
    bool check_key = true;
};

class SubnetAgent {
public:
    /// \param send_trap sends a MAD to the subnet manager; false when it is unreachable
    SubnetAgent(EventLoop& loop, ManagedNode& node, std::function<bool(const Mad&)> send_trap);

    /// Handles Get, Set and TrapRepress.
    /// \return the response, empty inside for TrapRepress. For directed route its D bit is set; hop
    /// pointer and paths do not change
    std::expected<std::optional<Mad>, MadRefusal> process(const Mad& request,
                                                          const MadOrigin& origin);

    [[nodiscard]] const MKey& key() const { return key_; }
    [[nodiscard]] const TrapSender& traps() const { return traps_; }

    /// Traps to the subnet manager. They are dropped while its LID is unknown.
    void report_link_state_change();
    void report_local_change(LocalChange change);
    void report_system_image_guid();
    /// \param trap 257 or 258
    struct KeyNotice {
        std::uint16_t trap;
        std::uint32_t key;
        std::uint8_t sl;
        Lid source;
        Lid destination;
        std::uint32_t source_qp;
        std::uint32_t destination_qp;
        Gid source_gid;
        Gid destination_gid;
    };
    void report_key_violation(const KeyNotice& details);
    /// Trap 259.
    void report_switch_p_key(std::uint8_t port, std::uint16_t p_key, const Lrh& local);

    /// Set(PortInfo) has changed the M_Key protection of the node.
    void key_settings_changed() { key_.settings_changed(); }

    /// Clears traps and the M_Key lease.
    void reset();

private:
    void report_bad_management_key(const Mad& request, const MadOrigin& origin);
    MadStatus work(Mad& mad, const MadOrigin& origin, bool show_key);
    MadStatus notice_attribute(Mad& mad, bool set);
    void raise(Notice notice);

    ManagedNode& node_;
    MKey key_;
    TrapSender traps_;
};

} // namespace cxemu::fabric
