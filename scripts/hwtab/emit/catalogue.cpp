// SPDX-License-Identifier: GPL-2.0-or-later
#include "emit/catalogue.hpp"

#include "emit/json.hpp"

#include <algorithm>
#include <functional>
#include <set>

namespace hwtab::emit {

Shape shape_of(const Field& field) {
    if (field.is_list()) {
        return Shape::list;
    }
    if (field.is_structured()) {
        return field.is_array() ? Shape::sequence : Shape::structure;
    }
    if (field.is_array()) {
        return field.width == bits_per_byte ? Shape::bytes : Shape::numbers;
    }
    return field.width > bits_per_word ? Shape::word64 : Shape::bits;
}

std::vector<const Layout*> structures_of(const Field& field) {
    std::vector<const Layout*> result(field.alternatives.begin(), field.alternatives.end());
    if (field.layout != nullptr) {
        result.push_back(field.layout);
    }
    return result;
}

Catalogue::Catalogue(std::span<const Group* const> groups) : groups_(groups) {
    for (const Group* group : groups_) {
        for (const Layout* layout : group->layouts) {
            group_of_[layout] = group;
        }
    }
    collect_enumerations();
    for (const Group* group : groups_) {
        dumps_[group] = json_of(*group, enumerations_[group]);
    }
    dump_ = json_of(*this);
}

void Catalogue::collect_enumerations() {
    std::set<const Enumeration*> taken;
    const auto take = [&](const Group* group, const Enumeration* enumeration) {
        if (enumeration != nullptr && taken.insert(enumeration).second) {
            enumerations_[group].push_back(enumeration);
        }
    };
    for (const Group* group : groups_) {
        for (const Enumeration* enumeration : group->enumerations) {
            take(group, enumeration);
        }
    }
    for (const Group* group : groups_) {
        for (const Layout* layout : group->layouts) {
            for (const Field& field : layout->fields) {
                take(group, field.values);
            }
        }
        for (const Command* command : group->commands) {
            take(group, command->op_mods);
        }
    }
}

const Group& Catalogue::group_of(const Layout& layout) const {
    return *group_of_.at(&layout);
}

const std::vector<const Enumeration*>& Catalogue::enumerations_of(const Group& group) const {
    static const std::vector<const Enumeration*> none;
    const auto found = enumerations_.find(&group);
    return found == enumerations_.end() ? none : found->second;
}

const std::string& Catalogue::dump_of(const Group& group) const {
    return dumps_.at(&group);
}

std::vector<const Layout*> Catalogue::in_order_of_use(const Group& group) {
    std::vector<const Layout*> ordered;
    const std::function<void(const Layout*)> visit = [&](const Layout* layout) {
        if (std::ranges::find(group.layouts, layout) == group.layouts.end() ||
            std::ranges::find(ordered, layout) != ordered.end()) {
            return;
        }
        for (const Field& field : layout->fields) {
            std::ranges::for_each(structures_of(field), visit);
        }
        ordered.push_back(layout);
    };
    std::ranges::for_each(group.layouts, visit);
    return ordered;
}

std::vector<const Group*> Catalogue::needed_by(const Group& group) const {
    std::vector<const Group*> needed;
    for (const Layout* layout : group.layouts) {
        for (const Field& field : layout->fields) {
            for (const Layout* part : structures_of(field)) {
                const Group* home = &group_of(*part);
                if (home != &group && std::ranges::find(needed, home) == needed.end()) {
                    needed.push_back(home);
                }
            }
        }
    }
    std::ranges::sort(needed, {}, &Group::name);
    return needed;
}

} // namespace hwtab::emit
