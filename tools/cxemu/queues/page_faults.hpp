// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Page faults: accesses that wait until software has brought in a page.
///
/// ```
///   transport ──raise()──► event ──► software: brings pages in, updates the memory key
///       ▲                                  │
///       └── Transport::page_fault_resumed() ◄── resume() ◄── PAGE_FAULT_RESUME
/// ```
///
/// Where faults name the memory, they name the key whose translation lacks the page. Software may
/// know nothing of that key any more, although a key that covers it (of a region of several parts)
/// still refers to it, and then answers with an error. So such an error is not final: the fault is
/// told again, in the terms of the key that refers to the one before, which software knows how to
/// update. The error is final when it answers the key that the access itself named.
#pragma once

#include "hca/events.hpp"
#include "memory/memory_keys.hpp"

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <vector>

namespace cxemu::queues {

class QueuePair;
class WorkQueues;

/// Where a queue pair met a page that isn't present.
enum class FaultPlace : std::uint8_t {
    send_or_write,  ///< the data of a send or RDMA write
    read_or_atomic, ///< the memory for the answer to an RDMA read or atomic
    receive,        ///< the memory of a receive request
    remote_write,   ///< what the peer writes, or changes by an atomic
    remote_read,    ///< what the peer reads
};

/// Faults in the memory of a work request name the request, those in memory that the peer has
/// named name the range. A device that pages by memory says what memory::MemoryKeys found missing.
struct PageFault {
    FaultPlace place = FaultPlace::send_or_write;
    std::uint32_t committed = 0; ///< bytes of the message that are done
    std::uint32_t packet = 0;    ///< bytes of the packet that can't be completed

    std::uint16_t index = 0;                       ///< of the work request, in its queue
    std::optional<std::uint32_t> shared_receive{}; ///< number of the queue that the request is from

    std::uint32_t key = 0;     ///< that the peer named
    std::uint64_t address = 0; ///< where the peer's operation begins
    std::uint32_t length = 0;  ///< bytes of the peer's operation
};

/// Why a fault can't be resumed.
enum class ResumeFault : std::uint8_t {
    unknown_token, ///< no fault has it, or its queue pair is gone
    other_queue,   ///< the fault is one of another work queue
};

class PageFaults {
public:
    /// Tokens are 24 bits wide.
    static constexpr std::uint32_t token_mask = 0xff'ffff;

    explicit PageFaults(WorkQueues& queues) : queues_(queues) {}

    /// Tells software. Transport::page_fault_resumed() is called when it has answered.
    /// \pre if the device pages by memory: the last access of the memory keys met the fault
    /// \return the token of the fault; nothing when there is nobody to tell, so the access fails
    std::optional<std::uint32_t> raise(const QueuePair& queue_pair, const PageFault& fault);

    /// Software has done what it could. The transport hears of it unless software is told again.
    /// \param work_queue number of the queue that software believes to wait, if it says
    /// \param resolved the access may be tried again; otherwise it fails
    std::expected<void, ResumeFault> resume(std::uint64_t token,
                                            std::optional<std::uint32_t> work_queue, bool resolved);

    /// The queue pair is going. A queue pair that was reset keeps its faults: software answers them
    /// in any case.
    void forget(const QueuePair& queue_pair);
    void clear() { waiting_.clear(); }

    [[nodiscard]] std::uint64_t raised() const { return raised_; }

private:
    struct Waiting {
        std::uint32_t queue_pair = 0;
        std::uint32_t work_queue = 0; ///< as the event named it
        /// What is missing, in the terms of the key that software was told, then of those further
        /// out. Empty where faults name requests.
        std::vector<memory::AbsentMemory> absent;
    };

    std::uint32_t next_token();
    bool post(const QueuePair& queue_pair, const PageFault& fault, std::uint32_t token);
    bool post_memory(const memory::AbsentMemory& absent, std::uint32_t token);
    bool tell_next_key(Waiting& waiting, std::uint32_t token);

    WorkQueues& queues_;
    std::map<std::uint32_t, Waiting> waiting_; ///< by token
    std::uint32_t last_token_ = 0;
    std::uint64_t raised_ = 0;
};

} // namespace cxemu::queues
