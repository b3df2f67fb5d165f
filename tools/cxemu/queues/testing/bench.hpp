// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// An HCA without a virtual machine, with memory and a clock that the test controls. Objects are
/// created by commands, as in a driver.
#pragma once

#include "base/event_loop.hpp"
#include "check/checker.hpp"
#include "check/fault_plan.hpp"
#include "commands/table.hpp"
#include "hca/hca.hpp"
#include "memory/memory_keys.hpp"
#include "queues/event_queues.hpp"
#include "queues/extended_receive_queue.hpp"
#include "queues/work_queues.hpp"
#include "tables/commands_events.hpp"
#include "tables/commands_memory.hpp"
#include "tables/commands_objects.hpp"
#include "tables/commands_queue_pairs.hpp"
#include "tables/commands_receive_queues.hpp"
#include "vfio_user/testing/guest_memory.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace cxemu::queues::testing {

/// The bit of this event type in the event_bitmask of an EQ.
constexpr std::uint64_t bit(hca::EventType type) {
    return 1ULL << static_cast<unsigned>(type);
}

/// A command with its input and output.
template <const hwtab::Command& command>
class Call {
public:
    /// \param list bytes of the list at the end of the input
    explicit Call(std::size_t list = 0)
        : input_(command.input->size + list), output_(command.output->size) {
        in().template set<"opcode">(command.opcode);
    }

    [[nodiscard]] hwtab::View<*command.input> in() {
        return hwtab::View<*command.input>{std::span(input_)};
    }
    [[nodiscard]] hwtab::View<*command.output> out() {
        return hwtab::View<*command.output>{std::span(output_)};
    }
    [[nodiscard]] std::span<std::byte> input() { return input_; }

    bool output_is_false = false; ///< the fault plan has forged the output

    hca::CommandResult run(hca::Hca& hca, const hca::CommandTable& table, std::uint16_t op_mod,
                           std::uint16_t uid) {
        hca::CommandContext context{.hca = hca,
                                    .input = input_,
                                    .output = output_,
                                    .uid = uid,
                                    .op_mod = op_mod,
                                    .output_length = static_cast<std::uint32_t>(output_.size()),
                                    .output_is_false = output_is_false,
                                    .explanation = {},
                                    .defer_hook = {}};
        return table.find(command.opcode)->handler(context);
    }

private:
    std::vector<std::byte> input_;
    std::vector<std::byte> output_;
};

class Bench {
public:
    static constexpr std::uint64_t memory_start = 0x100000; ///< bus address
    static constexpr std::size_t memory_size = 8 << 20;     ///< bytes
    static constexpr std::uint32_t vectors = 8;

    Bench() : Bench(default_settings()) {}
    explicit Bench(const hca::HcaSettings& settings) : Bench(settings, nullptr) {}
    /// For several benches on one loop, whose clock the test advances. \p loop must outlive this.
    explicit Bench(EventLoop& loop) : Bench(default_settings(), &loop) {}
    Bench(const hca::HcaSettings& settings, EventLoop& loop) : Bench(settings, &loop) {}

    [[nodiscard]] static hca::HcaSettings default_settings();
    /// default_settings() with another value for a general capability
    [[nodiscard]] static hca::HcaSettings with_capability(std::string_view name,
                                                          std::uint64_t value);

    // --- Time and events -------------------------------------------------------------------------

    /// Runs deferred work and due timers.
    void settle();
    /// \pre the bench has a loop of its own
    void advance(EventLoop::Duration time);

    /// Number of interrupts since the last call.
    std::uint64_t take_interrupts();
    /// Adds a line to the fault plan; it must be valid.
    void add_fault(std::string_view line) { EXPECT_TRUE(faults_.add(line)) << line; }
    [[nodiscard]] std::uint64_t violations(const check::Rule& rule) const {
        return checker_.counted(rule);
    }

    // --- Memory of the host ----------------------------------------------------------------------

    /// Maps the first \p size bytes of the memory, after the test has unmapped all of it.
    void map_memory(std::size_t size);

    /// Zeroed pages. \return their bus address
    std::uint64_t allocate(std::size_t size);
    [[nodiscard]] std::span<std::byte> at(std::uint64_t address, std::size_t size);
    void store32(std::uint64_t address, std::uint32_t value);
    [[nodiscard]] std::uint32_t load32(std::uint64_t address);

    // --- Commands --------------------------------------------------------------------------------

    template <const hwtab::Command& command>
    hca::CommandResult run(Call<command>& call, std::uint16_t op_mod = 0, std::uint16_t uid = 0) {
        return call.run(hca_, table_, op_mod, uid);
    }

    /// Enables memory page faults. \pre the device supports them
    void have_faults_name_memory();
    std::uint32_t make_domain();
    std::uint32_t make_uar();
    std::uint32_t make_xrc_domain();

    struct EventQueueOptions {
        std::uint32_t log_size = 4;
        std::uint32_t vector = 0;
        std::uint64_t events = 0; ///< bit n: type n
        bool overrun_ignored = false;
        std::uint32_t page_offset = 0;
    };
    EventQueue& make_event_queue(const EventQueueOptions& options);
    EventQueue& make_event_queue() { return make_event_queue({}); }

    struct CompletionQueueOptions {
        std::uint32_t log_size = 4;
        std::uint8_t entry_size_code = 0;
        std::uint32_t period = 0; ///< microseconds
        std::uint32_t max_count = 0;
        std::uint8_t period_mode = 0;
        bool overrun_ignored = false;
        std::optional<MiniFormat> mini_format = std::nullopt; ///< compresses
    };
    CompletionQueue& make_completion_queue(const CompletionQueueOptions& options);
    CompletionQueue& make_completion_queue() { return make_completion_queue({}); }

    struct QueuePairOptions {
        ServiceType service = ServiceType::unreliable_datagram;
        std::uint32_t log_sends = 4;    ///< WQEBBs, log2
        std::uint32_t log_receives = 2; ///< entries of 32 bytes, log2
        bool has_sends = true;
        ReceiveSource receives = ReceiveSource::own_queue;
        std::uint32_t shared_receive = 0; ///< number of the SRQ
        std::uint32_t xrc_domain = 0;
        CompletionQueue* completions = nullptr; ///< nullptr: a new one of 64 entries
        std::uint32_t user_index = SharedReceiveQueue::no_user_index;
        std::uint8_t send_record_mode = 0; ///< send_dbr_mode
        std::uint32_t log_streams = 0;     ///< of a DCI; 0: none
        std::uint32_t log_failed = 0;      ///< streams that may fail
        std::uint8_t offload = 0;          ///< offload_type
        bool fast_registration = false;    ///< fre
    };
    QueuePair& make_queue_pair(const QueuePairOptions& options);
    QueuePair& make_queue_pair() { return make_queue_pair({}); }

    /// From RESET to \p state (INIT, RTR or RTS) by commands.
    void bring_to(QueuePair& queue_pair, QueuePairState state);

    /// Runs a transition command with a context; the input has the fields for RTS.
    template <const hwtab::Command& command>
    hca::CommandResult transit(const QueuePair& queue_pair, std::uint64_t mask = 0) {
        Call<command> call;
        call.in().template set<"qpn">(queue_pair.number());
        call.in().template set<"opt_param_mask">(mask);
        fill_context(call.in().template nested<"qpc", hwtab::qpc>());
        return run(call);
    }
    static void fill_context(hwtab::View<hwtab::qpc> context);

    struct SharedReceiveOptions {
        bool linked_list = true;
        bool has_next_segments = true;
        std::uint32_t log_entries = 2;
        std::uint32_t log_stride = 6; ///< bytes, log2
        std::uint16_t limit = 0;
    };
    ReceiveMemoryPool& make_receive_pool(const SharedReceiveOptions& options);
    XrcSharedReceiveQueue& make_xrc_receive_queue(std::uint32_t xrc_domain,
                                                  CompletionQueue& completions,
                                                  std::uint32_t user_index);

    struct ExtendedReceiveOptions {
        std::uint32_t log_entries = 6; ///< of 64 bytes
        std::uint32_t log_tags = 3;
        bool fetches_rendezvous = true;
        CompletionQueue* completions = nullptr; ///< nullptr: a new one of 64 entries
        std::uint32_t user_index = SharedReceiveQueue::no_user_index;
    };
    /// Creates an XRQ with tag matching.
    ExtendedReceiveQueue& make_extended_receive_queue(const ExtendedReceiveOptions& options);

    // --- Driver actions --------------------------------------------------------------------------

    /// Writes a WQE to the SQ at WQEBB \p index. \param bytes multiple of 16
    void write_send(QueuePair& queue_pair, std::uint16_t index, std::span<const std::byte> bytes);
    /// A signaled NOP WQE.
    static std::vector<std::byte> nop(const QueuePair& queue_pair, std::uint16_t index);
    /// Sets the send counter of the doorbell record.
    void record_sends(const QueuePair& queue_pair, std::uint16_t counter);
    /// Rings for a WQE of one WQEBB that ends at \p counter.
    /// \param record the doorbell record; \p counter without it
    void ring_sends(QueuePair& queue_pair, std::uint16_t counter,
                    std::optional<std::uint16_t> record = std::nullopt);
    /// Sets the receive counter of the doorbell record.
    void post_receives(QueuePair& queue_pair, std::uint16_t counter);

    /// A PA mkey for the bench's memory with all rights.
    std::uint32_t make_physical_key();
    /// An MTT mkey with umr_en and translations_octword_size \p xlt_octowords.
    /// \return the mkey, with variant 0
    std::uint32_t make_changeable_key(std::uint64_t xlt_octowords = 4);

    // --- Objects that were created last, or are created at first use -----------------------------

    [[nodiscard]] std::uint32_t domain();
    [[nodiscard]] hca::Uar& uar();
    [[nodiscard]] EventQueue& event_queue();

    [[nodiscard]] hca::Hca& hca() { return hca_; }
    [[nodiscard]] WorkQueues& queues() { return hca_.part<WorkQueues>(); }
    [[nodiscard]] memory::MemoryKeys& keys() { return hca_.part<memory::MemoryKeys>(); }
    [[nodiscard]] vfio_user::DmaSpace& dma() { return dma_; }

    /// Fills a pas list with the addresses of pages from \p first on.
    static void list_pages(std::span<std::byte> list, std::uint64_t first);

    /// Reads entry \p index of the ring of an EQ.
    [[nodiscard]] hwtab::ConstView<hwtab::eqe> event(const EventQueue& queue, std::uint32_t index);
    /// Reads entry \p index of the ring of a CQ of 64-byte entries.
    [[nodiscard]] hwtab::ConstView<hwtab::cqe64> completion(const CompletionQueue& queue,
                                                            std::uint32_t index);
    [[nodiscard]] hwtab::ConstView<hwtab::err_cqe> error(const CompletionQueue& queue,
                                                         std::uint32_t index);

private:
    Bench(const hca::HcaSettings& settings, EventLoop* loop);

    EventLoop::TimePoint now_{std::chrono::seconds(1000)};
    EventLoop own_loop_;
    EventLoop& loop_;
    vfio_user::testing::GuestMemory memory_;
    vfio_user::DmaSpace dma_;
    vfio_user::InterruptSet interrupts_;
    check::Checker checker_;
    check::FaultPlan faults_{loop_, make_silent_log()};
    hca::CommandTable table_;
    hca::Hca hca_;
    std::uint64_t next_address_ = memory_start;
    std::uint64_t interrupts_seen_ = 0;
    std::uint32_t domain_ = 0;
    hca::Uar* uar_ = nullptr;
    EventQueue* event_queue_ = nullptr;
};

} // namespace cxemu::queues::testing
