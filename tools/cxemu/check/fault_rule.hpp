// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// One line of a fault plan: what it strikes, how often, and what it does.
///
/// ```
/// command CREATE_CQ nth=2 status=BAD_PARAMETER syndrome=0x1234
/// packet drop 1% service=rc @hca0
/// cqe nth=3 lie=qpn:0x77
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

/// Which of the things that a rule matches it strikes.
struct FaultTrigger {
    static constexpr std::uint32_t certain = 1'000'000;

    std::uint64_t first = 1;           ///< counted from 1
    std::uint64_t every = 1;           ///< from the first on, each this-many-th
    std::optional<std::uint64_t> most; ///< how often at most
    std::uint32_t chance = certain;    ///< in millionths
};

/// What happens to a command.
struct CommandFault {
    enum class Garbage : std::uint8_t { none, output, everything };

    bool no_answer = false;             ///< it is neither carried out nor answered
    bool lost_answer = false;           ///< it is carried out and not answered
    bool no_event = false;              ///< it is answered, but no event says so
    std::optional<std::uint8_t> status; ///< it is not carried out, and fails so
    std::uint32_t syndrome = 0;
    EventLoop::Duration delay{};         ///< of the answer
    Garbage garbage = Garbage::none;     ///< the output is random; with or without its header
    std::uint64_t garbage_seed = 0;      ///< set by the plan
    std::optional<std::uint32_t> length; ///< the entry's output length
    std::optional<std::uint8_t> token;   ///< of the entry
    std::optional<std::uint8_t> mailbox_token;
    std::optional<std::uint8_t> signature; ///< of the entry
    std::optional<std::uint8_t> delivery;  ///< delivery status of the entry
    /// Offset in bytes and value of 32-bit words of the output.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> words;
};

struct CommandRule {
    std::optional<std::uint16_t> opcode; ///< empty: every command
    CommandFault fault;
};

/// What happens to a packet.
enum class PacketFault : std::uint8_t {
    drop,
    duplicate,
    reorder, ///< it is held back until the next one has passed
    corrupt, ///< a bit is wrong, and a checksum tells
    forge,   ///< a bit behind the local route header is wrong, and the checksums are right
    delay,
};

enum class PacketDirection : std::uint8_t {
    from_hca,
    to_hca,
};

/// What a plan needs to know about a packet.
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
    bool spare_management = false; ///< leaves queue pairs 0 and 1 alone
};

/// What happens to an entry of a completion or event queue.
struct EntryFault {
    enum class Companion : std::uint8_t { none, same, random, unknown };

    bool drop = false;   ///< it is not written
    bool random = false; ///< all but the owner bit
    /// Another entry that is written after it.
    Companion companion = Companion::none;
    std::uint64_t seed = 0; ///< of what is random; set by the plan
    /// Offset in bits, width and value of what is overwritten.
    struct Lie {
        std::uint32_t offset;
        std::uint32_t width;
        std::uint64_t value;
    };
    std::vector<Lie> lies;
};

enum class EntryKind : std::uint8_t { completion, event };

/// What a plan needs to know about an entry.
struct EntryFacts {
    EntryKind kind = EntryKind::completion;
    std::uint32_t queue = 0;
    std::uint8_t type = 0;        ///< opcode of a completion, type of an event
    std::uint32_t queue_pair = 0; ///< of a completion
    bool is_management = false;   ///< that is queue pair 0 or 1
};

struct EntryRule {
    EntryKind kind = EntryKind::completion;
    std::optional<std::uint32_t> queue;
    std::optional<std::uint8_t> type;
    std::optional<std::uint32_t> queue_pair;
    bool spare_management = false; ///< leaves queue pairs 0 and 1 alone
    EntryFault fault;
};

/// What happens to a device as a whole.
struct DeviceFault {
    enum class Kind : std::uint8_t {
        health,           ///< the health report says that something failed
        health_stuck,     ///< the health counter stops
        surprise_removal, ///< nobody answers any more
        function_reset,   ///< a function level reset that nobody has asked for
        event,            ///< an entry in every event queue that no event caused
    };
    Kind kind = Kind::health;
    std::uint8_t syndrome = 1;
    bool warning = false;              ///< the report is not fatal
    EventLoop::Duration gone_for{};    ///< the removed device comes back then; zero: never
    std::optional<std::uint8_t> event; ///< type of the entry; empty: it is random
    std::uint64_t seed = 0;            ///< of what is random; set by the plan
};

/// Strikes at a time, or instead of a command.
struct DeviceRule {
    DeviceFault fault;
    EventLoop::Duration after{};
    EventLoop::Duration period{};        ///< zero: once
    bool on_command = false;             ///< else at a time
    std::optional<std::uint16_t> opcode; ///< which command; empty: every one
};

struct FaultRule {
    std::string text;   ///< the line
    std::string device; ///< "hca0"; empty: every one
    FaultTrigger trigger;
    std::variant<CommandRule, PacketRule, EntryRule, DeviceRule> what;
};

/// Reads one line that is not empty.
/// \return an error text that names the word and what is possible
std::expected<FaultRule, std::string> parse_fault(std::string_view line);

/// The line without its comment and the blanks around it.
std::string_view strip_comment(std::string_view line);

} // namespace cxemu::check
