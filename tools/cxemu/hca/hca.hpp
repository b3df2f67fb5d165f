// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// One HCA: the block diagram of the device.
///
/// ```
///            BAR 0 ──┬─ init segment ── health
///                    │       └─ command queue ── dispatcher ── handlers (commands/)
///                    └─ UAR pages ── doorbell router ──────────┐
///   objects by number  capabilities  firmware pages            │
///   parts of other directories: EQs, work queues, mkeys,     ◄─┘
///     transport;  ports (fabric/)
/// ```
///
/// Dependencies between directories: hca/ uses base, vfio_user, pci, check and the hardware tables.
/// memory/, queues/ and transport/ use hca/, and add themselves as Part, EventSink and
/// DoorbellHandler. fabric/ doesn't depend on HCAs. commands/ uses all of them.
#pragma once

#include "base/event_loop.hpp"
#include "base/log.hpp"
#include "check/checker.hpp"
#include "hca/capabilities.hpp"
#include "hca/command_dispatcher.hpp"
#include "hca/command_queue.hpp"
#include "hca/device_clock.hpp"
#include "hca/device_memory.hpp"
#include "hca/device_profile.hpp"
#include "hca/doorbell_router.hpp"
#include "hca/events.hpp"
#include "hca/firmware_pages.hpp"
#include "hca/health.hpp"
#include "hca/init_segment.hpp"
#include "hca/internal_spaces.hpp"
#include "hca/objects.hpp"
#include "hca/part.hpp"
#include "pci/device_model.hpp"
#include "vfio_user/dma_space.hpp"
#include "vfio_user/interrupt_set.hpp"

#include <concepts>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <typeindex>
#include <utility>
#include <vector>

namespace cxemu::fabric {
class HcaPort;
}
namespace cxemu::check {
class CommandLog;
class Envelope;
class FaultPlan;
} // namespace cxemu::check

namespace cxemu::hca {

/// Initialization state of the function.
enum class FunctionState : std::uint8_t {
    disabled,    ///< after reset: no command queue, no DMA
    commands,    ///< the command queue runs
    enabled,     ///< ENABLE_HCA
    initialized, ///< INIT_HCA: objects can be created
};

std::string_view name_of(FunctionState state);

/// External references of an HCA; all of them must outlive it.
struct HcaEnvironment {
    EventLoop& loop;
    vfio_user::DmaSpace& dma;
    vfio_user::InterruptSet& interrupts;
    check::Checker& checker;
    check::CommandLog* command_log = nullptr; ///< nullptr: commands are not logged
    check::FaultPlan* faults = nullptr;       ///< nullptr: no faults are injected
    check::Envelope* envelope = nullptr;      ///< nullptr: no envelope is recorded
};

class Hca final : public pci::DeviceModel {
public:
    Hca(const HcaEnvironment& environment, HcaSettings settings, CommandTable table, Log log);
    ~Hca() override;
    Hca(const Hca&) = delete;
    Hca& operator=(const Hca&) = delete;

    // --- Environment ----------------------------------------------------------------------------

    [[nodiscard]] EventLoop& loop() const { return environment_.loop; }
    /// Guest memory. Callers must not store the reference: a call while the function must not do
    /// DMA is reported to the checker.
    [[nodiscard]] vfio_user::DmaSpace& dma();
    /// Guest memory for DMA before INIT_HCA: the command queue and the firmware pages.
    [[nodiscard]] vfio_user::DmaSpace& firmware_dma() const { return environment_.dma; }
    [[nodiscard]] vfio_user::InterruptSet& interrupts() const { return environment_.interrupts; }
    [[nodiscard]] check::CommandLog* command_log() const { return environment_.command_log; }
    [[nodiscard]] check::FaultPlan* faults() const { return environment_.faults; }
    [[nodiscard]] check::Envelope* envelope() const { return environment_.envelope; }
    [[nodiscard]] const Log& log() const { return log_; }
    [[nodiscard]] const HcaSettings& settings() const { return settings_; }
    [[nodiscard]] const std::string& name() const { return settings_.name; }

    /// Reports a violation by software to the strict checker.
    template <class... Arguments>
    void violation(const check::Rule& rule, fmt::format_string<Arguments...> format,
                   Arguments&&... arguments) {
        environment_.checker.report(rule, settings_.name,
                                    fmt::format(format, std::forward<Arguments>(arguments)...));
    }

    // --- Blocks of the device
    // ---------------------------------------------------------------------

    [[nodiscard]] Capabilities& capabilities() { return capabilities_; }
    [[nodiscard]] Objects& objects() { return objects_; }
    [[nodiscard]] Health& health() { return health_; }
    [[nodiscard]] const DeviceClock& clock() const { return clock_; }
    [[nodiscard]] InitSegment& init_segment() { return init_segment_; }
    [[nodiscard]] FirmwarePages& pages() { return pages_; }
    [[nodiscard]] CommandQueue& command_queue() { return command_queue_; }
    [[nodiscard]] DoorbellRouter& doorbells() { return doorbells_; }
    [[nodiscard]] DeviceMemory& device_memory() { return device_memory_; }

    /// Adds a block of another directory: creates and owns T(Hca&, arguments...).
    template <std::derived_from<Part> T, class... Arguments>
    T& add(Arguments&&... arguments) {
        auto part = std::make_unique<T>(*this, std::forward<Arguments>(arguments)...);
        T& reference = *part;
        parts_.emplace_back(typeid(T), std::move(part));
        return reference;
    }
    /// The block of class \p T. \pre it has been added
    template <std::derived_from<Part> T>
    [[nodiscard]] T& part() const {
        return static_cast<T&>(find_part(typeid(T)));
    }

    /// Sets the receiver of events; nullptr: none.
    void set_event_sink(EventSink* sink) { event_sink_ = sink; }
    [[nodiscard]] EventSink* event_sink() const { return event_sink_; }
    /// Posts an event. \return false when no EQ has subscribed
    bool post_event(EventType type, std::uint8_t sub_type, std::span<const std::byte> data);

    /// The ports, number 1 first. They are owned by the builder of the fabric.
    void add_port(fabric::HcaPort& port) { ports_.push_back(&port); }
    [[nodiscard]] std::size_t port_count() const { return ports_.size(); }
    /// \return port \p number, counted from 1, or nullptr
    [[nodiscard]] fabric::HcaPort* port(std::uint32_t number) const;

    // --- State of the function
    // --------------------------------------------------------------------

    [[nodiscard]] FunctionState state() const { return state_; }
    void set_state(FunctionState state) { state_ = state; }
    /// ISSI chosen by software.
    [[nodiscard]] std::uint16_t issi() const { return issi_; }
    void set_issi(std::uint16_t issi) { issi_ = issi; }

    /// INIT_HCA, after its arguments have been checked.
    void initialize_function();
    /// TEARDOWN_HCA. \param graceful software has destroyed its objects; remaining ones are
    /// reported to the checker
    void tear_down_function(bool graceful);

    /// A fatal error: health report, no more DMA.
    void fail_fatally(const HealthReport& report);

    /// The output of the control socket's `stats`.
    [[nodiscard]] nlohmann::json statistics() const;

    // --- pci::DeviceModel
    // -------------------------------------------------------------------------

    void bar_read(std::uint64_t offset, std::span<std::byte> out) override;
    void bar_write(std::uint64_t offset, std::span<const std::byte> data) override;
    void reset(pci::ResetCause cause) override;
    void vectors_changed(std::uint32_t first, std::uint32_t count) override;
    void dma_unmapping(std::uint64_t iova, std::uint64_t size) override;
    [[nodiscard]] bool has_space(std::uint16_t space) const override;
    std::optional<std::uint32_t> space_read(std::uint16_t space, std::uint32_t address) override;
    bool space_write(std::uint16_t space, std::uint32_t address, std::uint32_t value) override;

private:
    [[nodiscard]] Part& find_part(std::type_index type) const;
    void init_segment_write(std::uint64_t offset, std::span<const std::byte> data);
    void start_command_queue(std::uint64_t address);
    void change_interface(NicInterface mode);
    void begin_initializing();
    void drop_everything(pci::ResetCause cause);
    void stop_parts();
    void report_left_objects();
    void report_doorbell(std::string_view reason, std::uint32_t page, std::uint32_t offset,
                         std::size_t size);
    void report_device_memory(std::uint64_t offset, std::size_t size);

    HcaEnvironment environment_;
    HcaSettings settings_;
    Log log_;
    Capabilities capabilities_;
    Objects objects_;
    Health health_;
    DeviceClock clock_;
    InitSegment init_segment_;
    FirmwarePages pages_;
    DoorbellRouter doorbells_;
    DeviceMemory device_memory_;
    CommandDispatcher dispatcher_;
    InternalSpaces internal_spaces_;
    CommandQueue command_queue_;
    std::vector<std::pair<std::type_index, std::unique_ptr<Part>>> parts_; ///< in order of addition
    EventSink* event_sink_ = nullptr;
    std::vector<fabric::HcaPort*> ports_;
    Timer initializing_;
    FunctionState state_ = FunctionState::disabled;
    std::uint16_t issi_ = 0;
    std::uint64_t resets_ = 0;
};

} // namespace cxemu::hca
