// SPDX-License-Identifier: GPL-2.0-or-later
#include "hca/hca.hpp"

#include "check/command_log.hpp"
#include "hca/rules.hpp"

#include <algorithm>
#include <cassert>
#include <nlohmann/json.hpp>

namespace cxemu::hca {

namespace {

/// Firmware initialization time after a reset.
constexpr auto initializing_time = std::chrono::milliseconds(10);

std::string_view name_of(pci::ResetCause cause) {
    switch (cause) {
    case pci::ResetCause::function_level:
        return "function level";
    case pci::ResetCause::bus:
        return "bus";
    case pci::ResetCause::client_gone:
        return "virtual machine gone";
    }
    return "unknown";
}

nlohmann::json to_json(const CommandQueueStatistics& statistics, std::uint32_t outstanding) {
    return {{"doorbells", statistics.doorbells},
            {"doorbells_ignored", statistics.doorbells_ignored},
            {"commands", statistics.commands},
            {"delivery_errors", statistics.delivery_errors},
            {"outputs_lost", statistics.outputs_lost},
            {"events", statistics.events},
            {"outstanding", outstanding},
            {"max_outstanding", statistics.max_outstanding},
            {"faults", statistics.faults}};
}

nlohmann::json to_json(const DoorbellStatistics& statistics) {
    return {{"completion_queue", statistics.completion_queue},
            {"event_queue", statistics.event_queue},
            {"send", statistics.send},
            {"blue_flame_data", statistics.blue_flame_data},
            {"requests", statistics.requests},
            {"without_uar", statistics.without_uar},
            {"undecoded", statistics.undecoded}};
}

nlohmann::json to_json(const vfio_user::DmaStatistics& statistics) {
    return {{"reads", statistics.reads},
            {"writes", statistics.writes},
            {"bytes_read", statistics.bytes_read},
            {"bytes_written", statistics.bytes_written},
            {"master_aborts", statistics.master_aborts},
            {"refused", statistics.refused},
            {"maps", statistics.maps},
            {"unmaps", statistics.unmaps}};
}

nlohmann::json to_json(const vfio_user::InterruptStatistics& statistics) {
    return {{"raised", statistics.raised},
            {"delivered", statistics.delivered},
            {"held_pending", statistics.held_pending},
            {"invalid_vector", statistics.invalid_vector}};
}

} // namespace

std::string_view name_of(FunctionState state) {
    switch (state) {
    case FunctionState::disabled:
        return "disabled";
    case FunctionState::commands:
        return "not enabled";
    case FunctionState::enabled:
        return "enabled";
    case FunctionState::initialized:
        return "initialized";
    }
    return "in an unknown state";
}

Hca::Hca(const HcaEnvironment& environment, HcaSettings settings, CommandTable table, Log log)
    : environment_(environment), settings_(std::move(settings)), log_(std::move(log)),
      capabilities_(settings_), objects_(capabilities_), health_(environment.loop),
      clock_(environment.loop, capabilities_.clock_frequency()),
      init_segment_(clock_, settings_, health_), pages_(*this),
      doorbells_(objects_,
                 [this](std::string_view reason, std::uint32_t page, std::uint32_t offset,
                        std::size_t size) { report_doorbell(reason, page, offset, size); }),
      device_memory_(settings_.bar_size, capabilities_.current<"device_memory">() != 0),
      dispatcher_(*this, std::move(table)), internal_spaces_(*this, dispatcher_),
      command_queue_(*this, dispatcher_),
      initializing_(environment.loop, [this] { init_segment_.set_initializing(false); }) {
    environment_.dma.set_local_memory(device_memory_.bytes());
    doorbells_.record_in(environment_.envelope);
    if (settings_.write_combining)
        doorbells_.combine_writes(environment_.loop);
    begin_initializing();
}

/// Destruction order: objects may refer to parts, a part to parts added before it, and all of them
/// to this.
Hca::~Hca() {
    environment_.dma.set_local_memory({});
    command_queue_.stop();
    objects_.clear();
    while (!parts_.empty())
        parts_.pop_back();
}

vfio_user::DmaSpace& Hca::dma() {
    if (state_ != FunctionState::initialized)
        violation(rules::dma_outside_service, "while the function is {}", hca::name_of(state_));
    return environment_.dma;
}

bool Hca::post_event(EventType type, std::uint8_t sub_type, std::span<const std::byte> data) {
    return event_sink_ != nullptr && event_sink_->post_event(type, sub_type, data);
}

fabric::HcaPort* Hca::port(std::uint32_t number) const {
    return number >= 1 && number <= ports_.size() ? ports_[number - 1] : nullptr;
}

nlohmann::json Part::statistics() const {
    return {};
}

Part& Hca::find_part(std::type_index type) const {
    const auto found = std::ranges::find(parts_, type, [](const auto& part) { return part.first; });
    assert(found != parts_.end() && "a part is used that has not been added");
    return *found->second;
}

// --- State of the function -----------------------------------------------------------------------

void Hca::initialize_function() {
    state_ = FunctionState::initialized;
    for (const auto& [type, part] : parts_)
        part->function_initialized();
}

void Hca::tear_down_function(bool graceful) {
    if (graceful)
        report_left_objects();
    stop_parts();
    state_ = std::min(state_, FunctionState::enabled);
}

void Hca::stop_parts() {
    doorbells_.drop();
    for (const auto& [type, part] : parts_)
        part->function_torn_down();
    objects_.clear();
    device_memory_.reset();
}

void Hca::report_left_objects() {
    for (std::size_t i = 0; i < object_kinds; ++i) {
        const auto kind = static_cast<ObjectKind>(i);
        if (const std::size_t count = objects_.count(kind); count != 0)
            violation(rules::objects_left_at_teardown, "{} ({})", hca::name_of(kind), count);
    }
    if (const std::size_t count = device_memory_.allocations(); count != 0)
        violation(rules::objects_left_at_teardown, "MEMIC allocation ({})", count);
}

void Hca::fail_fatally(const HealthReport& report) {
    log_->error("fatal failure, health syndrome {:#x}", static_cast<unsigned>(report.syndrome));
    health_.set_report(report);
    command_queue_.stop();
    stop_parts();
    state_ = FunctionState::disabled;
}

void Hca::begin_initializing() {
    init_segment_.set_initializing(true);
    initializing_.start(initializing_time);
}

void Hca::start_command_queue(std::uint64_t address) {
    log_->debug("command queue at {:#x}", address);
    if (state_ != FunctionState::disabled)
        stop_parts();
    dispatcher_.begin_bring_up();
    command_queue_.start(address);
    init_segment_.set_interface(NicInterface::full_driver);
    state_ = FunctionState::commands;
}

/// Software leaves the full driver mode: at shutdown, or for error recovery.
void Hca::change_interface(NicInterface mode) {
    if (mode == NicInterface::software_reset) {
        drop_everything(pci::ResetCause::function_level);
        begin_initializing();
        return;
    }
    command_queue_.stop();
    stop_parts();
    pages_.reset();
    state_ = FunctionState::disabled;
    init_segment_.set_interface(NicInterface::disabled);
}

void Hca::drop_everything(pci::ResetCause cause) {
    command_queue_.stop();
    for (const auto& [type, part] : parts_)
        part->reset(cause);
    doorbells_.drop();
    capabilities_.reset();
    objects_.clear();
    device_memory_.reset();
    pages_.reset();
    health_.reset();
    init_segment_.reset();
    internal_spaces_.reset();
    state_ = FunctionState::disabled;
    issi_ = 0;
}

// --- pci::DeviceModel ----------------------------------------------------------------------------

void Hca::reset(pci::ResetCause cause) {
    ++resets_;
    log_->info("reset ({})", name_of(cause));
    if (check::CommandLog* command_log = environment_.command_log)
        command_log->note(fmt::format("{} reset ({})", settings_.name, name_of(cause)));
    drop_everything(cause);
    begin_initializing();
}

void Hca::bar_read(std::uint64_t offset, std::span<std::byte> out) {
    std::ranges::fill(out, std::byte{0});
    if (offset + out.size() <= InitSegment::size)
        init_segment_.read(offset, out);
    else if (!device_memory_.decodes(offset))
        doorbells_.read(static_cast<std::uint32_t>(offset / capabilities_.uar_size()));
    else if (!device_memory_.read(offset, out))
        report_device_memory(offset, out.size());
}

void Hca::bar_write(std::uint64_t offset, std::span<const std::byte> data) {
    if (offset + data.size() <= InitSegment::size)
        return init_segment_write(offset, data);
    if (device_memory_.decodes(offset)) {
        if (!device_memory_.write(offset, data))
            report_device_memory(offset, data.size());
        return;
    }
    const std::uint64_t uar_size = capabilities_.uar_size();
    doorbells_.write(static_cast<std::uint32_t>(offset / uar_size),
                     static_cast<std::uint32_t>(offset % uar_size), data,
                     static_cast<std::uint32_t>(capabilities_.current<"log_bf_reg_size">()));
}

void Hca::init_segment_write(std::uint64_t offset, std::span<const std::byte> data) {
    doorbells_.flush();
    const InitSegmentRequest request = init_segment_.write(offset, data);
    if (request.unexpected)
        violation(rules::bar_access_undecoded, "{} bytes at {:#x}", data.size(), offset);
    if (request.interface)
        change_interface(*request.interface);
    if (request.queue_address)
        start_command_queue(*request.queue_address);
    if (request.doorbells == 0)
        return;
    // A doorbell is not a violation while software has not noticed a reset.
    if (!command_queue_.running() && state_ != FunctionState::disabled)
        violation(rules::doorbell_without_queue, "vector {:#x}", request.doorbells);
    command_queue_.ring(request.doorbells);
}

void Hca::report_doorbell(std::string_view reason, std::uint32_t page, std::uint32_t offset,
                          std::size_t size) {
    if (state_ == FunctionState::disabled)
        return;
    const bool known = objects_.of<Uar>().find(page) != nullptr;
    violation(known ? rules::doorbell_undecoded : rules::doorbell_of_unknown_uar,
              "{} bytes at {:#x} of page {:#x}: {}", size, offset, page, reason);
}

void Hca::report_device_memory(std::uint64_t offset, std::size_t size) {
    if (state_ != FunctionState::disabled)
        violation(rules::bar_access_undecoded, "{} bytes at {:#x}, MEMIC", size, offset);
}

void Hca::vectors_changed(std::uint32_t first, std::uint32_t count) {
    for (const auto& [type, part] : parts_)
        part->vectors_changed(first, count);
}

void Hca::dma_unmapping(std::uint64_t iova, std::uint64_t size) {
    for (const auto& [type, part] : parts_)
        part->dma_unmapping(iova, size);
}

bool Hca::has_space(std::uint16_t space) const {
    return InternalSpaces::has(space);
}

std::optional<std::uint32_t> Hca::space_read(std::uint16_t space, std::uint32_t address) {
    return internal_spaces_.read(space, address);
}

bool Hca::space_write(std::uint16_t space, std::uint32_t address, std::uint32_t value) {
    return internal_spaces_.write(space, address, value);
}

nlohmann::json Hca::statistics() const {
    nlohmann::json commands = nlohmann::json::object();
    for (const auto& [opcode, counts] : dispatcher_.statistics())
        commands[fmt::format("{:#05x} {}", opcode, dispatcher_.name_of(opcode))] = {
            {"count", counts.count}, {"failed", counts.failed}};
    nlohmann::json parts = nlohmann::json::object();
    for (const auto& [type, part] : parts_)
        parts[std::string(part->name())] = part->statistics();
    return {{"name", settings_.name},
            {"state", hca::name_of(state_)},
            {"resets", resets_},
            {"command_queue", to_json(command_queue_.statistics(), command_queue_.outstanding())},
            {"commands", commands},
            {"objects", objects_.to_json()},
            {"pages", pages_.to_json()},
            {"doorbells", to_json(doorbells_.statistics())},
            {"dma", to_json(environment_.dma.statistics())},
            {"interrupts", to_json(environment_.interrupts.statistics())},
            {"parts", parts}};
}

} // namespace cxemu::hca
