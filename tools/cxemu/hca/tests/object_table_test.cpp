// SPDX-License-Identifier: GPL-2.0-or-later
#include "hca/object_table.hpp"
#include "hca/objects.hpp"

#include <gtest/gtest.h>

namespace cxemu::hca {
namespace {

class Thing final : public Object {
public:
    using Object::Object;
    Reference<ProtectionDomain> domain;
};

TEST(ObjectTable, EveryNumberOfRangeGiven) {
    ObjectTable<Thing> table({.first = 5, .capacity = 3});
    EXPECT_EQ((*table.create(0))->number(), 5U);
    EXPECT_EQ((*table.create(0))->number(), 6U);
    EXPECT_EQ((*table.create(0))->number(), 7U);
    EXPECT_EQ(table.create(0).error(), TableError::full);
}

TEST(ObjectTable, NumbersBetweenStepsStandForObject) {
    ObjectTable<Thing> table({.first = 8, .capacity = 2, .step = 4});
    const Thing* first = *table.create(0);
    const Thing* second = *table.create(0);
    EXPECT_EQ(table.create(0).error(), TableError::full);
    EXPECT_EQ(first->number(), 8U);
    EXPECT_EQ(second->number(), 12U);
    EXPECT_EQ(table.find(7), nullptr);
    EXPECT_EQ(table.find(11), first);
    EXPECT_EQ(table.find(15), second);
    EXPECT_EQ(table.find(16), nullptr);
    EXPECT_EQ(table.erase(11, 0).error(), TableError::unknown) << "only its own number ends it";
    ASSERT_TRUE(table.erase(8, 0));
    EXPECT_EQ((*table.create(0))->number(), 8U);
}

TEST(ObjectTable, NumberFreedReusedLast) {
    ObjectTable<Thing> table({.first = 0, .capacity = 4});
    (void)table.create(0);
    ASSERT_TRUE(table.erase(0, 0));
    EXPECT_EQ((*table.create(0))->number(), 1U);
    EXPECT_EQ((*table.create(0))->number(), 2U);
    EXPECT_EQ((*table.create(0))->number(), 3U);
    EXPECT_EQ((*table.create(0))->number(), 0U);
}

TEST(ObjectTable, ObjectReferencedEraseRefused) {
    ObjectTable<ProtectionDomain> domains({.first = 1, .capacity = 4});
    ProtectionDomain& domain = **domains.create(0);
    Reference<ProtectionDomain> reference(domain);
    EXPECT_EQ(domains.erase(1, 0).error(), TableError::busy);
    Reference<ProtectionDomain> moved = std::move(reference);
    EXPECT_EQ(domain.references(), 1U) << "moving a reference doesn't add one";
    moved.reset();
    EXPECT_TRUE(domains.erase(1, 0));
    EXPECT_EQ(domains.find(1), nullptr);
}

TEST(ObjectTable, ForeignObjectRefused) {
    ObjectTable<Thing> table({.first = 0, .capacity = 4});
    (void)table.create(0);
    (void)table.create(7);
    EXPECT_TRUE(table.find(0, 7)) << "the kernel's objects can be referred to";
    EXPECT_TRUE(table.find(1, 0)) << "the kernel can refer to all";
    EXPECT_EQ(table.find(1, 8).error(), TableError::foreign);
    EXPECT_EQ(table.erase(1, 8).error(), TableError::foreign);
    EXPECT_EQ(table.erase(0, 7).error(), TableError::foreign);
    EXPECT_EQ(table.owned_by(7), 1U);
}

TEST(ObjectTable, SharedUidObjectsUsableByAll) {
    ObjectTable<Thing> table({.first = 0, .capacity = 4});
    (void)table.create(shared_uid);
    EXPECT_TRUE(table.find(0, 7));
    EXPECT_EQ(table.erase(0, 7).error(), TableError::foreign);
    EXPECT_TRUE(table.erase(0, kernel_uid));
}

TEST(ObjectTable, ClearReferencedObjectsInAnyOrder) {
    ObjectTable<ProtectionDomain> domains({.first = 1, .capacity = 4});
    ObjectTable<Thing> things({.first = 1, .capacity = 4});
    (*things.create(0))->domain = Reference<ProtectionDomain>(**domains.create(0));
    domains.clear(domains.range());
    EXPECT_EQ(domains.size(), 0U);
    things.clear(things.range());
    EXPECT_EQ((*domains.create(0))->number(), 1U) << "numbers start anew";
}

TEST(ObjectTable, ClearedTableUsesNewRange) {
    ObjectTable<Thing> table({.first = 1, .capacity = 4});
    (void)table.create(0);
    table.clear({.first = 8, .capacity = 1});
    EXPECT_EQ((*table.create(0))->number(), 8U);
    EXPECT_EQ(table.create(0).error(), TableError::full);
}

} // namespace
} // namespace cxemu::hca
