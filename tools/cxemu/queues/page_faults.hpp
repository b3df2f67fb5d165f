// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Page faults: accesses that wait until software has faulted in a page.
///
/// ```
///   transport ──raise()──► event ──► software: brings pages in, updates the mkey
///       ▲                                  │
///       └── Transport::page_fault_resumed() ◄── resume() ◄── PAGE_FAULT_RESUME
/// ```
///
/// A memory page fault names the mkey whose translation lacks the page. If that is the child mkey
/// of an implicit ODP MR, software may already have destroyed it while the parent still refers to
/// it, and resumes with an error. Such an error is not final: the fault is raised again for the
/// mkey that refers to the child, which software can update. An error for the mkey of the access
/// itself is final.
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

/// Kind of access that has faulted.
enum class FaultPlace : std::uint8_t {
    send_or_write,  ///< gather of a send or RDMA write
    read_or_atomic, ///< scatter of an RDMA read or atomic response
    receive,        ///< scatter of a receive WQE
    remote_write,   ///< RDMA write or atomic by the peer
    remote_read,    ///< RDMA read by the peer
};

/// WQE page faults name the WQE, RDMA page faults name the range of the peer's operation. Memory
/// page faults name the memory that memory::MemoryKeys has found absent.
struct PageFault {
    FaultPlace place = FaultPlace::send_or_write;
    std::uint32_t committed = 0; ///< bytes of the message that are done
    std::uint32_t packet = 0;    ///< bytes of the packet that can't be completed

    std::uint16_t index = 0;                       ///< of the WQE, in its queue
    std::optional<std::uint32_t> shared_receive{}; ///< number of the SRQ of the WQE

    std::uint32_t key = 0;     ///< R_Key
    std::uint64_t address = 0; ///< where the peer's operation begins
    std::uint32_t length = 0;  ///< bytes of the peer's operation
};

/// Why a fault can't be resumed.
enum class ResumeFault : std::uint8_t {
    unknown_token, ///< no fault has it, or its QP has been destroyed
    other_queue,   ///< the fault is of another work queue
};

class PageFaults {
public:
    /// Tokens are 24 bits wide.
    static constexpr std::uint32_t token_mask = 0xff'ffff;

    explicit PageFaults(WorkQueues& queues) : queues_(queues) {}

    /// Posts a page fault EQE. Transport::page_fault_resumed() is called after PAGE_FAULT_RESUME.
    /// \pre with memory page faults: the last access through the mkeys has faulted
    /// \return the token of the fault; empty when no EQ has subscribed, so the access fails
    std::optional<std::uint32_t> raise(const QueuePair& queue_pair, const PageFault& fault);

    /// PAGE_FAULT_RESUME. The transport is notified unless the fault is raised again.
    /// \param work_queue number of the work queue in the input, if any
    /// \param resolved the access may be tried again; otherwise it fails
    std::expected<void, ResumeFault> resume(std::uint64_t token,
                                            std::optional<std::uint32_t> work_queue, bool resolved);

    /// The QP is being destroyed. A QP that is reset keeps its faults, because software resumes
    /// them in any case.
    void forget(const QueuePair& queue_pair);
    void clear() { waiting_.clear(); }

    [[nodiscard]] std::uint64_t raised() const { return raised_; }

private:
    struct Waiting {
        std::uint32_t queue_pair = 0;
        std::uint32_t work_queue = 0; ///< number in the EQE
        /// Absent memory of the reported mkey, then of the mkeys that refer to it. Empty for WQE
        /// and RDMA page faults.
        std::vector<memory::AbsentMemory> absent;
    };

    std::uint32_t next_token();
    bool post(const QueuePair& queue_pair, const PageFault& fault, std::uint32_t token);
    bool post_memory(const memory::AbsentMemory& absent, std::uint32_t token);
    bool report_next_key(Waiting& waiting, std::uint32_t token);

    WorkQueues& queues_;
    std::map<std::uint32_t, Waiting> waiting_; ///< by token
    std::uint32_t last_token_ = 0;
    std::uint64_t raised_ = 0;
};

} // namespace cxemu::queues
