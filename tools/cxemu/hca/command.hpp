// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Context and result of a command handler. Handlers are in commands/, by subject.
///
/// ```cpp
/// CommandResult dealloc_pd(CommandContext& context) {
///     const auto in = context.in<hwtab::dealloc_pd_in>();
///     return context.destroy<ProtectionDomain>(in.get<"pd">());
/// }
/// ```
#pragma once

#include "hca/objects.hpp"
#include "hca/syndrome.hpp"
#include "hwtab/view.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <span>
#include <spdlog/fmt/fmt.h>
#include <string>
#include <string_view>
#include <utility>

namespace cxemu::hca {

class Hca;

/// Status of a command, in the first byte of its output.
enum class CommandStatus : std::uint8_t {
    ok = 0x00,
    internal_error = 0x01,
    bad_operation = 0x02,
    bad_parameter = 0x03,
    bad_system_state = 0x04,
    bad_resource = 0x05,
    resource_busy = 0x06,
    not_ready = 0x07,
    exceeds_limit = 0x08,
    bad_resource_state = 0x09,
    bad_index = 0x0a,
    no_resources = 0x0f,
    bad_qp_state = 0x10,
    bad_packet = 0x30,
    bad_size_with_outstanding_cqes = 0x40,
    bad_input_length = 0x50,
    bad_output_length = 0x51,
};

/// "BAD_PARAMETER", as the log prints it.
std::string_view name_of(CommandStatus status);

struct CommandResult {
    CommandStatus status = CommandStatus::ok;
    Syndrome syndrome = Syndrome::none;
    bool deferred = false; ///< completes later, through CommandContext::defer()

    static constexpr CommandResult ok() { return {}; }
    static constexpr CommandResult fail(CommandStatus status, Syndrome syndrome) {
        return {.status = status, .syndrome = syndrome};
    }
    static constexpr CommandResult later() { return {.deferred = true}; }

    explicit operator bool() const { return status == CommandStatus::ok; }
};

/// A command that completes later. Other slots continue meanwhile. If it is dropped without
/// completion, hardware owns the slot until reset.
class DeferredCommand {
public:
    virtual ~DeferredCommand() = default;

    /// The zeroed output, like CommandContext::output. Empty once the function has been reset.
    virtual std::span<std::byte> output() = 0;

    /// Completes the command. No effect once the function has been reset, or when called again.
    virtual void complete(CommandResult result, std::string explanation = {}) = 0;
};

struct CommandContext {
    Hca& hca;
    /// Inline part and mailboxes, contiguous; at least as long as the input layout in the tables.
    /// Only the page of SET_HCA_CAP may end after the first capabilities.
    std::span<const std::byte> input;
    /// Zeroed; at least as long as the output layout in the tables and as the requested length.
    /// Status and syndrome are filled in afterwards.
    std::span<std::byte> output;
    std::uint16_t uid = 0; ///< user context of the command; 0 or shared_uid: the kernel
    std::uint16_t op_mod = 0;
    std::uint32_t output_length = 0; ///< requested bytes; the rest is cut off
    bool output_is_false = false;    ///< a fault plan corrupts the output

    /// Whether the kernel has issued the command, not a user context.
    [[nodiscard]] bool is_by_kernel() const { return uid == kernel_uid || uid == shared_uid; }

    /// Reason of a failure, for the log.
    std::string explanation;
    std::function<std::shared_ptr<DeferredCommand>()> defer_hook;

    template <const hwtab::Layout& layout>
    [[nodiscard]] hwtab::ConstView<layout> in() const {
        return hwtab::ConstView<layout>{input};
    }
    template <const hwtab::Layout& layout>
    [[nodiscard]] hwtab::View<layout> out() const {
        return hwtab::View<layout>{output};
    }

    /// Fails with an explanation of the argument, its value and its limit.
    template <class... Arguments>
    CommandResult fail(CommandStatus status, Syndrome syndrome,
                       fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        explanation = fmt::format(format, std::forward<Arguments>(arguments)...);
        return CommandResult::fail(status, syndrome);
    }

    /// The result of a lookup, creation or destruction that a table refused. An unknown or foreign
    /// number, and an object that is still referenced, are reported to the checker.
    CommandResult refuse(TableError error, ObjectKind kind, std::uint32_t number);

    /// The result for an unsupported op_mod.
    CommandResult refuse_op_mod();

    /// Finds an object to refer to. \return the object, or the error result
    template <NumberedObject T>
    std::expected<T*, CommandResult> find(std::uint32_t number);

    /// Finds an object that user contexts may use although the kernel owns it; then the kernel must
    /// have shared it.
    template <NumberedObject T>
    std::expected<T*, CommandResult> find_shared(std::uint32_t number);

    /// Finds an object to change.
    template <NumberedObject T>
    std::expected<T*, CommandResult> find_owned(std::uint32_t number);

    /// Takes an object out of its table. \return the object, or the error result
    template <NumberedObject T>
    std::expected<std::shared_ptr<T>, CommandResult> take(std::uint32_t number);

    /// Destroys an object without further cleanup.
    template <NumberedObject T>
    CommandResult destroy(std::uint32_t number);

    /// Defers completion: the handler keeps the handle and returns CommandResult::later().
    [[nodiscard]] std::shared_ptr<DeferredCommand> defer() const { return defer_hook(); }

    /// The objects of the function: shorthand for hca.objects().
    [[nodiscard]] Objects& objects() const;
};

using CommandHandler = CommandResult (*)(CommandContext&);

/// States of the function in which a command is allowed.
enum class CommandScope : std::uint8_t {
    always,      ///< once the command queue runs
    enabled,     ///< between ENABLE_HCA and DISABLE_HCA
    initialized, ///< between INIT_HCA and TEARDOWN_HCA
};

/// Entry of a command table.
struct CommandEntry {
    const hwtab::Command* command;
    CommandHandler handler;
    CommandScope scope = CommandScope::initialized;
};

// --- Implementation ------------------------------------------------------------------------------

template <NumberedObject T>
std::expected<T*, CommandResult> CommandContext::find_shared(std::uint32_t number) {
    const auto found = find<T>(number);
    if (found && !is_by_kernel() && (*found)->uid() == kernel_uid)
        return std::unexpected(refuse(TableError::foreign, T::kind, number));
    return found;
}

template <NumberedObject T>
std::expected<T*, CommandResult> CommandContext::find(std::uint32_t number) {
    const auto found = objects().template of<T>().find(number, uid);
    if (!found)
        return std::unexpected(refuse(found.error(), T::kind, number));
    return *found;
}

template <NumberedObject T>
std::expected<T*, CommandResult> CommandContext::find_owned(std::uint32_t number) {
    const auto found = objects().template of<T>().find_owned(number, uid);
    if (!found)
        return std::unexpected(refuse(found.error(), T::kind, number));
    return *found;
}

template <NumberedObject T>
std::expected<std::shared_ptr<T>, CommandResult> CommandContext::take(std::uint32_t number) {
    auto taken = objects().template of<T>().erase(number, uid);
    if (!taken)
        return std::unexpected(refuse(taken.error(), T::kind, number));
    return *std::move(taken);
}

template <NumberedObject T>
CommandResult CommandContext::destroy(std::uint32_t number) {
    const auto taken = take<T>(number);
    return taken ? CommandResult::ok() : taken.error();
}

} // namespace cxemu::hca
