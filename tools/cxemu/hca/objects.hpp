// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// All objects of a function: one table per kind.
///
/// The classes of objects are in the directories that implement their behaviour (mkeys in memory/,
/// queues in queues/, ...); the few without behaviour are at the end of this file. A class names
/// its kind with a static member `kind`, and objects.of<CompletionQueue>() is its table.
#pragma once

#include "hca/object_table.hpp"

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <utility>
#include <vector>

namespace cxemu::hca {

class Capabilities;

/// First EQN of the adapter in the trace of 2016 (see hca/origin.hpp).
inline constexpr std::uint32_t first_event_queue = 0x10;
/// Small mkey indices are reserved: 0, and 0x100 terminates a scatter list.
inline constexpr std::uint32_t first_memory_key = 0x800;
/// QPNs 0 and 1 are special on the wire, so they are no object numbers.
inline constexpr std::uint32_t first_queue_pair = 0x40;

/// \return the name of a kind in messages: "completion queue"
std::string_view name_of(ObjectKind kind);

/// The number range of \p kind with the current capabilities.
NumberRange number_range(ObjectKind kind, const Capabilities& capabilities);

template <class T>
concept NumberedObject = std::derived_from<T, Object> && requires {
    { T::kind } -> std::convertible_to<ObjectKind>;
};

class Objects {
public:
    /// \param capabilities limits of the device; must outlive this
    explicit Objects(const Capabilities& capabilities) : capabilities_(capabilities) {}

    /// The table of the objects of class \p T. Each kind has exactly one class.
    template <NumberedObject T>
    ObjectTable<T>& of() {
        auto& table = tables_[static_cast<std::size_t>(T::kind)];
        if (!table)
            table = std::make_unique<ObjectTable<T>>(number_range(T::kind, capabilities_));
        return static_cast<ObjectTable<T>&>(*table);
    }

    /// The object of that kind and number, of any class, or nullptr.
    [[nodiscard]] Object* find_any(ObjectKind kind, std::uint32_t number) const;

    /// Number of objects of \p kind, and of all.
    [[nodiscard]] std::size_t count(ObjectKind kind) const;
    [[nodiscard]] std::size_t count() const;

    /// Objects of user context \p uid, over all kinds.
    [[nodiscard]] std::size_t owned_by(std::uint16_t uid) const;

    /// Removes all objects, and restarts the numbers within the current capabilities.
    void clear();

    /// Numbers of existing and created objects by kind.
    [[nodiscard]] nlohmann::json to_json() const;

private:
    const Capabilities& capabilities_;
    std::array<std::unique_ptr<AnyObjectTable>, object_kinds> tables_;
};

// --- Objects without behaviour of their own ------------------------------------------------------

/// PD: mkeys, QPs and receive queues must be in the same one to work together.
class ProtectionDomain final : public Object {
public:
    static constexpr ObjectKind kind = ObjectKind::protection_domain;
    using Object::Object;
};

/// The UAR pages in a page of the host, usually one; page n is at n * Capabilities::uar_size() in
/// BAR 0.
class Uar final : public Object {
public:
    static constexpr ObjectKind kind = ObjectKind::uar;
    using Object::Object;

    /// Half of an 8-byte doorbell written as two 4-byte writes (32-bit guests).
    struct Half {
        std::uint32_t offset = 0; ///< in the page, of the first half; 0: none pending
        std::uint32_t value = 0;
    };
    Half half;
};

class XrcDomain final : public Object {
public:
    static constexpr ObjectKind kind = ObjectKind::xrc_domain;
    using Object::Object;
};

class TransportDomain final : public Object {
public:
    static constexpr ObjectKind kind = ObjectKind::transport_domain;
    using Object::Object;
};

/// A user context; its number is the uid in command headers.
class UserContext final : public Object {
public:
    static constexpr ObjectKind kind = ObjectKind::user_context;
    UserContext(ObjectIdentity identity, std::uint32_t capabilities)
        : Object(identity), capabilities_(capabilities) {}

    [[nodiscard]] std::uint32_t capabilities() const { return capabilities_; }

private:
    std::uint32_t capabilities_;
};

/// UMEM: registered host memory that contexts refer to instead of listing page addresses.
class UserMemory final : public Object {
public:
    static constexpr ObjectKind kind = ObjectKind::user_memory;

    /// \param log_page_size of each element of \p pages, log2 of bytes
    /// \param page_offset of the first byte in the first page, bytes
    UserMemory(ObjectIdentity identity, std::uint32_t log_page_size, std::uint32_t page_offset,
               std::vector<std::uint64_t> pages)
        : Object(identity), log_page_size_(log_page_size), page_offset_(page_offset),
          pages_(std::move(pages)) {}

    [[nodiscard]] std::uint32_t log_page_size() const { return log_page_size_; }
    [[nodiscard]] std::uint32_t page_offset() const { return page_offset_; }
    [[nodiscard]] const std::vector<std::uint64_t>& pages() const { return pages_; }
    /// Size from the first byte on.
    [[nodiscard]] std::uint64_t size() const {
        return (pages_.size() << log_page_size_) - page_offset_;
    }

private:
    std::uint32_t log_page_size_;
    std::uint32_t page_offset_;
    std::vector<std::uint64_t> pages_; ///< I/O virtual addresses
};

/// An object whose type is a number in its command. The device only stores it.
class GeneralObject final : public Object {
public:
    static constexpr ObjectKind kind = ObjectKind::general_object;

    GeneralObject(ObjectIdentity identity, std::uint16_t type) : Object(identity), type_(type) {}

    [[nodiscard]] std::uint16_t type() const { return type_; }

private:
    std::uint16_t type_;
};

/// Range of reserved QPNs without QPs. Software announces such a QPN to the peer of a connection
/// that ends at another object, for example a DCT. All ranges have the same size and are above the
/// QPNs of QPs.
class ReservedNumberRange final : public Object {
public:
    static constexpr ObjectKind kind = ObjectKind::reserved_number_range;
    static constexpr std::uint32_t first = 0x80'0000;
    static constexpr std::uint32_t log_size = 6;   ///< of a range
    static constexpr std::uint32_t log_total = 20; ///< of all ranges

    using Object::Object;

    /// The table number of the range that starts with \p number.
    static constexpr std::uint32_t table_number(std::uint32_t number) { return number >> log_size; }

    /// The first number of the range, which identifies it in commands.
    [[nodiscard]] std::uint32_t start() const { return number() << log_size; }
};

/// A scheduling element: QPs share the bandwidth of the adapter by nodes and queue groups below
/// them. The device stores and validates the tree; it doesn't enforce the rates.
class SchedulingElement final : public Object {
public:
    static constexpr ObjectKind kind = ObjectKind::scheduling_element;
    static constexpr std::uint32_t largest_share = 100;

    enum class Type : std::uint8_t { node = 0, group = 4 };

    /// \param parent empty for a root
    SchedulingElement(ObjectIdentity identity, Type type, Reference<SchedulingElement> parent)
        : Object(identity), type_(type), parent_(std::move(parent)) {}

    [[nodiscard]] Type type() const { return type_; }
    /// Weight among the elements of the parent; 0: the default.
    [[nodiscard]] std::uint32_t share() const { return share_; }
    void set_share(std::uint32_t share) { share_ = share; }
    /// Maximum average bandwidth, Mbit/s; 0: unlimited.
    [[nodiscard]] std::uint32_t limit() const { return limit_; }
    void set_limit(std::uint32_t limit) { limit_ = limit; }

private:
    Type type_;
    Reference<SchedulingElement> parent_;
    std::uint32_t share_ = 0;
    std::uint32_t limit_ = 0;
};

} // namespace cxemu::hca
