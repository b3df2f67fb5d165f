// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Numbered objects, their owners and references.
#pragma once

#include <concepts>
#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

namespace cxemu::hca {

/// Kinds of objects; their traits are in objects.hpp.
enum class ObjectKind : std::uint8_t {
    protection_domain,
    uar,
    xrc_domain,
    transport_domain,
    user_context,
    user_memory,
    memory_key,
    signature_variable, ///< PSV
    event_queue,
    completion_queue,
    queue_pair,
    receive_memory_pool, ///< RMP
    shared_receive_queue,
    xrc_shared_receive_queue,
    extended_receive_queue, ///< XRQ
    dynamically_connected_target,
    queue_counter_set,
    general_object,
    reserved_number_range,
    scheduling_element,
};
inline constexpr std::size_t object_kinds = 20;

/// User context of the kernel itself.
inline constexpr std::uint16_t kernel_uid = 0;
/// Virtual user context: objects that the kernel creates with this uid are shared by all user
/// contexts.
inline constexpr std::uint16_t shared_uid = 0xffff;

/// Number and owner, given to the constructor of an object by its table.
struct ObjectIdentity {
    std::uint32_t number = 0;
    std::uint16_t uid = kernel_uid; ///< user context that created it
};

/// Base of all objects. The memory of an object is kept while a Reference exists; the object itself
/// (its number) exists until it is destroyed by a command or by a reset.
class Object : public std::enable_shared_from_this<Object> {
public:
    explicit Object(ObjectIdentity identity) : identity_(identity) {}
    virtual ~Object() = default;
    Object(const Object&) = delete;
    Object& operator=(const Object&) = delete;

    [[nodiscard]] std::uint32_t number() const { return identity_.number; }
    [[nodiscard]] std::uint16_t uid() const { return identity_.uid; }
    [[nodiscard]] std::uint32_t references() const { return references_; }

private:
    template <class T>
    friend class Reference;

    ObjectIdentity identity_;
    std::uint32_t references_ = 0; ///< number of references from other objects
};

/// A reference from one object to another: while it exists the target cannot be destroyed by a
/// command. Empty when default constructed.
template <class T>
class Reference {
public:
    Reference() = default;
    explicit Reference(T& target)
        : target_(std::static_pointer_cast<T>(target.shared_from_this())) {
        ++static_cast<Object&>(*target_).references_;
    }
    Reference(Reference&& other) noexcept : target_(std::move(other.target_)) {}
    Reference& operator=(Reference&& other) noexcept {
        if (this != &other) {
            reset();
            target_ = std::move(other.target_);
        }
        return *this;
    }
    Reference(const Reference&) = delete;
    Reference& operator=(const Reference&) = delete;
    ~Reference() { reset(); }

    void reset() {
        if (target_)
            --static_cast<Object&>(*target_).references_;
        target_.reset();
    }

    [[nodiscard]] T* get() const { return target_.get(); }
    T& operator*() const { return *target_; }
    T* operator->() const { return target_.get(); }
    explicit operator bool() const { return target_ != nullptr; }

private:
    std::shared_ptr<T> target_;
};

enum class TableError : std::uint8_t {
    full,    ///< all numbers are in use
    unknown, ///< no object has this number
    foreign, ///< the object is owned by another user context
    busy,    ///< other objects refer to it
};

/// Numbers of a table: first, first + step, ..., first + (capacity - 1) * step. A number between
/// two of these names the object of the lower one.
struct NumberRange {
    std::uint32_t first = 0;
    std::uint32_t capacity = 0; ///< number of objects
    std::uint32_t step = 1;
};

/// Interface common to all tables.
class AnyObjectTable {
public:
    explicit AnyObjectTable(NumberRange range) : range_(range), next_(range.first) {}
    virtual ~AnyObjectTable() = default;
    AnyObjectTable(const AnyObjectTable&) = delete;
    AnyObjectTable& operator=(const AnyObjectTable&) = delete;

    [[nodiscard]] virtual std::size_t size() const = 0;
    [[nodiscard]] virtual Object* find_any(std::uint32_t number) const = 0;
    /// Number of objects of a user context.
    [[nodiscard]] virtual std::size_t owned_by(std::uint16_t uid) const = 0;
    /// Removes all objects, referenced or not, and allocates numbers of \p range from now on.
    virtual void clear(NumberRange range) = 0;

    [[nodiscard]] const NumberRange& range() const { return range_; }
    /// Objects created since power-on.
    [[nodiscard]] std::uint64_t created() const { return created_; }

protected:
    /// The next number that \p taken does not contain; numbers are reused as late as possible.
    /// \pre size() < capacity
    template <class Map>
    std::uint32_t take_number(const Map& taken) {
        while (taken.contains(next_))
            advance();
        const std::uint32_t number = next_;
        advance();
        ++created_;
        return number;
    }

    void restart_numbers(NumberRange range) {
        range_ = range;
        next_ = range.first;
    }

    /// The number with which the object that \p number names was created.
    [[nodiscard]] std::uint32_t first_number(std::uint32_t number) const {
        return number < range_.first ? number : number - (number - range_.first) % range_.step;
    }

private:
    void advance() {
        next_ += range_.step;
        if ((next_ - range_.first) / range_.step >= range_.capacity)
            next_ = range_.first;
    }

    NumberRange range_;
    std::uint32_t next_;
    std::uint64_t created_ = 0;
};

/// The objects of one kind, by number.
template <std::derived_from<Object> T>
class ObjectTable final : public AnyObjectTable {
public:
    using AnyObjectTable::AnyObjectTable;

    /// Creates an object with T(ObjectIdentity, arguments...). \return the object, or `full`
    template <class... Arguments>
    std::expected<T*, TableError> create(std::uint16_t uid, Arguments&&... arguments) {
        if (objects_.size() >= range().capacity)
            return std::unexpected(TableError::full);
        const std::uint32_t number = take_number(objects_);
        auto object =
            std::make_shared<T>(ObjectIdentity{number, uid}, std::forward<Arguments>(arguments)...);
        return objects_.emplace(number, std::move(object)).first->second.get();
    }

    /// \return the object, or nullptr
    [[nodiscard]] T* find(std::uint32_t number) const {
        const auto found = objects_.find(first_number(number));
        return found == objects_.end() ? nullptr : found->second.get();
    }

    /// The object, if a command of user context \p uid may refer to it. The kernel may refer to all
    /// objects, a user context to its own and to those of the kernel. \return the object, `unknown`
    /// or `foreign`
    [[nodiscard]] std::expected<T*, TableError> find(std::uint32_t number,
                                                     std::uint16_t uid) const {
        T* object = find(number);
        if (object == nullptr)
            return std::unexpected(TableError::unknown);
        const bool for_all = object->uid() == kernel_uid || object->uid() == shared_uid;
        if (uid != kernel_uid && uid != shared_uid && !for_all && object->uid() != uid)
            return std::unexpected(TableError::foreign);
        return object;
    }

    /// The object, if user context \p uid owns it and may modify or destroy it. The kernel owns
    /// shared objects.
    [[nodiscard]] std::expected<T*, TableError> find_owned(std::uint32_t number,
                                                           std::uint16_t uid) const {
        T* object = find(number);
        if (object == nullptr || object->number() != number)
            return std::unexpected(TableError::unknown);
        const bool shared = object->uid() == shared_uid && uid == kernel_uid;
        if (object->uid() != uid && !shared)
            return std::unexpected(TableError::foreign);
        return object;
    }

    /// Removes the object from the table for a destroy command of user context \p uid.
    /// \return the object, for further cleanup, or `unknown`, `foreign`, `busy`
    std::expected<std::shared_ptr<T>, TableError> erase(std::uint32_t number, std::uint16_t uid) {
        const auto found = find_owned(number, uid);
        if (!found)
            return std::unexpected(found.error());
        if ((*found)->references() != 0)
            return std::unexpected(TableError::busy);
        return std::move(objects_.extract(number).mapped());
    }

    /// Removes the object from the table like erase(), even if it is referenced: its number is
    /// free, its memory is kept until the last reference is dropped. \return the object, `unknown`
    /// or `foreign`
    std::expected<std::shared_ptr<T>, TableError> release(std::uint32_t number, std::uint16_t uid) {
        const auto found = find_owned(number, uid);
        if (!found)
            return std::unexpected(found.error());
        return std::move(objects_.extract(number).mapped());
    }

    /// Calls \p visit for each object, by number. It must not create or erase objects.
    template <class Visit>
    void for_each(Visit visit) const {
        for (const auto& [number, object] : objects_)
            visit(*object);
    }

    [[nodiscard]] std::size_t size() const override { return objects_.size(); }
    [[nodiscard]] Object* find_any(std::uint32_t number) const override { return find(number); }
    [[nodiscard]] std::size_t owned_by(std::uint16_t uid) const override {
        std::size_t count = 0;
        for (const auto& [number, object] : objects_)
            count += object->uid() == uid ? 1 : 0;
        return count;
    }
    void clear(NumberRange range) override {
        objects_.clear();
        restart_numbers(range);
    }

private:
    std::map<std::uint32_t, std::shared_ptr<T>> objects_;
};

} // namespace cxemu::hca
