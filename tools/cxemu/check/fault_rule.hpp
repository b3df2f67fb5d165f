// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// One line of a fault plan: selection, frequency and kind of a fault.
///
/// ```
/// command CREATE_CQ nth=2 status=BAD_PARAMETER syndrome=0x1234
/// packet drop 1% service=rc @hca0
/// cqe nth=3 field=qpn:0x77
/// health syndrome=1 after=2s
/// ```
///
/// A line is a kind (`command`, `packet`, `cqe`, `eqe`, `event`, `health`, `flr`,
/// `surprise-removal`) and words in any order. What follows a `#` is a comment. The manual page has
/// all words.
#pragma once

#include "base/event_loop.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace cxemu::check {

/// Selects the matches of a rule into which it injects its fault.
struct FaultTrigger {
    static constexpr std::uint32_t certain = 1'000'000;

    std::uint64_t first = 1;                     ///< counted from 1
    std::uint64_t every = 1;                     ///< from the first on, every n-th
    std::optional<std::uint64_t> max_injections; ///< maximum number of injections
    std::uint32_t chance = certain;              ///< probability, in millionths
};

/// The fault of a command.
struct CommandFault {
    enum class Garbage : std::uint8_t { none, output, everything };

    bool hang = false;                  ///< neither executed nor completed
    bool drop_completion = false;       ///< executed but not completed
    bool drop_eqe = false;              ///< completed without completion event
    std::optional<std::uint8_t> status; ///< fails with this status without being executed
    std::uint32_t syndrome = 0;
    EventLoop::Duration delay{};         ///< of the completion
    Garbage garbage = Garbage::none;     ///< random output, with or without its header
    std::uint64_t garbage_seed = 0;      ///< set by the plan
    std::optional<std::uint32_t> length; ///< output length in the command queue entry
    std::optional<std::uint8_t> token;   ///< in the command queue entry
    std::optional<std::uint8_t> mailbox_token;
    std::optional<std::uint8_t> signature; ///< in the command queue entry
    std::optional<std::uint8_t> delivery;  ///< delivery status in the command queue entry
    /// Byte offset and value of 32-bit words of the output.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> words;
};

struct CommandRule {
    std::optional<std::uint16_t> opcode; ///< empty: every command
    CommandFault fault;
};

/// The fault of a packet.
enum class PacketFault : std::uint8_t {
    drop,
    duplicate,
    reorder,           ///< held back until the next packet has passed
    corrupt,           ///< a flipped bit that a CRC detects
    corrupt_valid_crc, ///< a flipped bit behind the LRH, with valid CRCs
    delay,
};

enum class PacketDirection : std::uint8_t {
    from_hca,
    to_hca,
};

/// The properties of a packet that rules match.
struct PacketFacts {
    std::string_view device = {}; ///< "hca0", the HCA at the link
    std::uint8_t port = 1;
    PacketDirection direction = PacketDirection::from_hca;
    std::uint8_t opcode = 0;
    std::uint32_t destination_qp = 0;
};

struct PacketRule {
    PacketFault fault = PacketFault::drop;
    EventLoop::Duration delay{};
    std::optional<std::uint8_t> port;
    std::optional<PacketDirection> direction;
    std::optional<std::uint8_t> opcode;
    std::optional<std::uint8_t> service; ///< upper three bits of the opcode
    std::optional<std::uint32_t> destination_qp;
    bool spare_management = false; ///< excludes QP0 and QP1
};

/// The fault of a CQE or EQE.
struct EntryFault {
    enum class Companion : std::uint8_t { none, same, random, unknown };

    bool drop = false;   ///< the entry is not written
    bool random = false; ///< all but the owner bit
    /// An additional entry that is written after it.
    Companion companion = Companion::none;
    std::uint64_t seed = 0; ///< of random values; set by the plan
    /// Bit offset, width and value of a forged field.
    struct ForgedField {
        std::uint32_t offset;
        std::uint32_t width;
        std::uint64_t value;
    };
    std::vector<ForgedField> forged_fields;
    /// Of the additional entry.
    std::vector<ForgedField> companion_fields;
};

enum class EntryKind : std::uint8_t { completion, event };

/// The properties of a CQE or EQE that rules match.
struct EntryFacts {
    EntryKind kind = EntryKind::completion;
    std::uint32_t queue = 0;
    std::uint8_t type = 0;                    ///< opcode of a CQE, type of an EQE
    std::uint32_t queue_pair = 0;             ///< of a CQE
    std::optional<std::uint8_t> wqe_opcode{}; ///< of the request that a CQE completes
    bool is_management = false;               ///< of QP0 or QP1
};

struct EntryRule {
    EntryKind kind = EntryKind::completion;
    std::optional<std::uint32_t> queue;
    std::optional<std::uint8_t> type;
    std::optional<std::uint32_t> queue_pair;
    std::optional<std::uint8_t> wqe_opcode;
    bool spare_management = false; ///< excludes QP0 and QP1
    EntryFault fault;
};

/// A fault of a whole device.
struct DeviceFault {
    enum class Kind : std::uint8_t {
        health,           ///< the health buffer reports a failure
        health_stuck,     ///< the health counter stops
        surprise_removal, ///< the device stops responding
        function_reset,   ///< a function level reset not requested by the host
        event,            ///< an EQE without cause in every EQ
    };
    Kind kind = Kind::health;
    std::uint8_t syndrome = 1;
    bool warning = false;              ///< the syndrome is not fatal
    EventLoop::Duration gone_for{};    ///< until the removed device returns; zero: for ever
    std::optional<std::uint8_t> event; ///< type of the EQE; empty: random
    std::uint64_t seed = 0;            ///< of random values; set by the plan
};

/// Injects its fault at a time, or instead of a command.
struct DeviceRule {
    DeviceFault fault;
    EventLoop::Duration after{};
    EventLoop::Duration period{};        ///< zero: once
    bool on_command = false;             ///< else by time
    std::optional<std::uint16_t> opcode; ///< of the command; empty: any
};

struct FaultRule {
    std::string text;   ///< the line
    std::string device; ///< "hca0"; empty: any
    FaultTrigger trigger;
    std::variant<CommandRule, PacketRule, EntryRule, DeviceRule> what;
};

/// Parses one line that is not empty.
/// \return an error text that names the word and the valid ones
std::expected<FaultRule, std::string> parse_fault(std::string_view line);

/// The line without its comment and surrounding blanks.
std::string_view strip_comment(std::string_view line);

} // namespace cxemu::check
