// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "fake_kernel.hpp"
#include "xrcrcv/xrcrcv.h"

#include <cerrno>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xrcrcv::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/** Handle of the XRC domain; not 0, which uninitialized memory might contain. */
constexpr std::uint32_t domain_handle = 42;
/** A number without a QP: the fake kernel counts from 0x100. */
constexpr std::uint32_t free_number = 0x99;

class Calls : public ::testing::Test {
protected:
    /** Creates a QP and clears the list of requests. */
    std::uint32_t created() {
        std::uint32_t qpn = 0;

        EXPECT_EQ(xrcrcv_create(domain_.get(), &qpn), 0);
        kernel_.requests.clear();
        return qpn;
    }

    FakeKernel kernel_;
    FakeDomain domain_{kernel_, domain_handle};
};

/** Expects that the function returns an error and stores it in errno. */
template <typename Function>
void expect_error(int expected, Function function) {
    errno = 0;
    EXPECT_EQ(function(), expected);
    EXPECT_EQ(errno, expected);
}

/** Calls each function that takes an XRC domain with otherwise valid arguments. */
template <typename Check>
void with_each_call(ibv_xrcd* xrcd, std::uint32_t qpn, Check check) {
    ibv_qp_attr attr{};
    ibv_qp_init_attr init_attr{};
    std::uint32_t created = 0;

    check([&] { return xrcrcv_create(xrcd, &created); });
    check([&] { return xrcrcv_modify(xrcd, qpn, &attr, IBV_QP_STATE); });
    check([&] { return xrcrcv_query(xrcd, qpn, &attr, IBV_QP_STATE, &init_attr); });
    check([&] { return xrcrcv_register(xrcd, qpn); });
    check([&] { return xrcrcv_unregister(xrcd, qpn); });
}

TEST_F(Calls, NullArgumentsRefused) {
    const std::uint32_t qpn = created();
    ibv_qp_attr attr{};
    ibv_qp_init_attr init_attr{};

    with_each_call(nullptr, qpn, [](auto call) { expect_error(EINVAL, call); });
    expect_error(EINVAL, [&] { return xrcrcv_create(domain_.get(), nullptr); });
    expect_error(EINVAL, [&] { return xrcrcv_modify(domain_.get(), qpn, nullptr, IBV_QP_STATE); });
    expect_error(EINVAL, [&] { return xrcrcv_query(domain_.get(), qpn, nullptr, 0, &init_attr); });
    expect_error(EINVAL, [&] { return xrcrcv_query(domain_.get(), qpn, &attr, 0, nullptr); });
    EXPECT_EQ(xrcrcv_supported(nullptr), 0);
    EXPECT_THAT(kernel_.requests, IsEmpty());
}

TEST_F(Calls, DriverWithoutRegistrationsGetsNoRequest) {
    const std::uint32_t qpn = created();

    kernel_.has_registrations = false;
    with_each_call(domain_.get(), qpn, [](auto call) { expect_error(ENOSYS, call); });
    EXPECT_EQ(xrcrcv_supported(domain_.context()), 0);
    EXPECT_THAT(kernel_.requests, IsEmpty());
}

TEST_F(Calls, OtherDriverGetsNoRequest) {
    const std::uint32_t qpn = created();

    kernel_.driver_id = 2; // RDMA_DRIVER_MLX4
    with_each_call(domain_.get(), qpn, [](auto call) { expect_error(ENOSYS, call); });
    EXPECT_EQ(xrcrcv_supported(domain_.context()), 0);
    EXPECT_THAT(kernel_.requests, IsEmpty());
}

TEST_F(Calls, RemovedDeviceReturnsEio) {
    const std::uint32_t qpn = created();

    kernel_.is_gone = true;
    with_each_call(domain_.get(), qpn, [](auto call) { expect_error(EIO, call); });
    EXPECT_EQ(xrcrcv_supported(domain_.context()), 0);
}

TEST_F(Calls, SupportQueryKeepsErrno) {
    errno = 77;
    EXPECT_EQ(xrcrcv_supported(domain_.context()), 1);
    kernel_.has_registrations = false;
    EXPECT_EQ(xrcrcv_supported(domain_.context()), 0);
    EXPECT_EQ(errno, 77);
}

TEST_F(Calls, UnknownDomainRefused) {
    const std::uint32_t qpn = created();

    // The handle is unused or belongs to another object.
    kernel_.domains = {domain_handle + 1};
    with_each_call(domain_.get(), qpn, [](auto call) { expect_error(EINVAL, call); });
    kernel_.other_handles = {domain_handle};
    with_each_call(domain_.get(), qpn, [](auto call) { expect_error(EINVAL, call); });
    EXPECT_THAT(kernel_.qps, SizeIs(1));
    EXPECT_THAT(kernel_.registrations, SizeIs(1));
    EXPECT_THAT(kernel_.open_handles, IsEmpty());
}

TEST_F(Calls, DomainWithoutStoredHandleRefused) {
    const std::uint32_t qpn = created();

    // Without the bit, the number in the handle's place happens to be a valid domain.
    domain_.set_comp_mask(0);
    with_each_call(domain_.get(), qpn, [](auto call) { expect_error(ENOTSUP, call); });
    EXPECT_THAT(kernel_.requests, IsEmpty());
}

TEST_F(Calls, CreateLeavesRegistrationWithoutHandle) {
    std::uint32_t qpn = 0;

    EXPECT_EQ(xrcrcv_create(domain_.get(), &qpn), 0);
    EXPECT_THAT(kernel_.requests, ElementsAre("find", "create", "register", "destroy"));
    EXPECT_EQ(kernel_.qps.at(qpn), domain_handle);
    EXPECT_THAT(kernel_.registrations, SizeIs(1));
    EXPECT_EQ(kernel_.registrations.begin()->second, qpn);
    EXPECT_THAT(kernel_.open_handles, IsEmpty());
    EXPECT_EQ(kernel_.registered_events_fd, FakeKernel::events_fd);
}

TEST_F(Calls, FailedCreateLeavesNothing) {
    std::uint32_t qpn = free_number;

    kernel_.failures["create"] = ENOMEM;
    expect_error(ENOMEM, [&] { return xrcrcv_create(domain_.get(), &qpn); });
    kernel_.failures = {{"register", EAGAIN}};
    expect_error(EAGAIN, [&] { return xrcrcv_create(domain_.get(), &qpn); });
    EXPECT_THAT(kernel_.open_handles, IsEmpty());
    kernel_.failures = {{"destroy", EIO}};
    expect_error(EIO, [&] { return xrcrcv_create(domain_.get(), &qpn); });
    EXPECT_THAT(kernel_.registrations, IsEmpty());
    EXPECT_EQ(qpn, free_number);
}

TEST_F(Calls, CreateRegisteredByOtherThreadSucceeds) {
    std::uint32_t qpn = 0;

    kernel_.failures["register"] = EEXIST;
    EXPECT_EQ(xrcrcv_create(domain_.get(), &qpn), 0);
    EXPECT_THAT(kernel_.open_handles, IsEmpty());
}

TEST_F(Calls, MissingKernelFieldsReturnNotSupported) {
    const std::uint32_t qpn = created();

    kernel_.failures = {{"find", EOPNOTSUPP}, {"register", EOPNOTSUPP}};
    with_each_call(domain_.get(), qpn, [](auto call) { expect_error(ENOTSUP, call); });
    EXPECT_EQ(xrcrcv_supported(domain_.context()), 1);
}

TEST_F(Calls, RegisterTwiceSucceeds) {
    const std::uint32_t qpn = created();

    EXPECT_EQ(xrcrcv_register(domain_.get(), qpn), 0);
    EXPECT_THAT(kernel_.registrations, SizeIs(1));
}

TEST_F(Calls, RegisterUsesContextEvents) {
    kernel_.qps[0x55] = domain_handle;
    EXPECT_EQ(xrcrcv_register(domain_.get(), 0x55), 0);
    EXPECT_EQ(kernel_.registered_events_fd, FakeKernel::events_fd);
    EXPECT_THAT(kernel_.requests, ElementsAre("register"));
}

TEST_F(Calls, UnregisterEndsRegistration) {
    const std::uint32_t qpn = created();
    const std::uint32_t other = created();

    EXPECT_EQ(xrcrcv_unregister(domain_.get(), qpn), 0);
    EXPECT_THAT(kernel_.requests, ElementsAre("find", "unregister"));
    EXPECT_THAT(kernel_.registrations, SizeIs(1));
    EXPECT_EQ(kernel_.registrations.begin()->second, other);
    expect_error(EINVAL, [&] { return xrcrcv_unregister(domain_.get(), qpn); });
}

TEST_F(Calls, UnregisterOvertakenByThreadRefused) {
    const std::uint32_t qpn = created();

    // The other thread destroys the registration before FIND is repeated.
    for (const int error : {ENOENT, EBUSY}) {
        kernel_.first_failures = {{"unregister", error}};
        kernel_.on_failure = [&] { kernel_.registrations.clear(); };
        expect_error(EINVAL, [&] { return xrcrcv_unregister(domain_.get(), qpn); });
    }
}

TEST_F(Calls, UnregisterWaitsForRegisteringThread) {
    for (const int error : {ENOENT, EBUSY}) {
        const std::uint32_t qpn = created();

        kernel_.first_failures = {{"unregister", error}};
        EXPECT_EQ(xrcrcv_unregister(domain_.get(), qpn), 0);
        EXPECT_THAT(kernel_.requests, ElementsAre("find", "unregister", "find", "unregister"));
        EXPECT_THAT(kernel_.registrations, IsEmpty());
    }
}

TEST_F(Calls, ClosingDomainReturnsBusy) {
    const std::uint32_t qpn = created();

    kernel_.failures = {{"find", EBUSY}, {"register", EBUSY}};
    with_each_call(domain_.get(), qpn, [](auto call) { expect_error(EBUSY, call); });
}

TEST_F(Calls, UnknownQpnRefused) {
    ibv_qp_attr attr{};
    ibv_qp_init_attr init_attr{};

    expect_error(EINVAL, [&] { return xrcrcv_register(domain_.get(), free_number); });
    expect_error(EINVAL, [&] { return xrcrcv_unregister(domain_.get(), free_number); });
    expect_error(EINVAL, [&] { return xrcrcv_modify(domain_.get(), free_number, &attr, 0); });
    expect_error(EINVAL,
                 [&] { return xrcrcv_query(domain_.get(), free_number, &attr, 0, &init_attr); });
}

TEST_F(Calls, ModifyAndQueryAlwaysCloseHandle) {
    const std::uint32_t qpn = created();
    ibv_qp_attr attr{};
    ibv_qp_init_attr init_attr{};

    EXPECT_EQ(xrcrcv_modify(domain_.get(), qpn, &attr, IBV_QP_STATE), 0);
    EXPECT_EQ(xrcrcv_query(domain_.get(), qpn, &attr, 0, &init_attr), 0);
    kernel_.failures = {{"modify", EINVAL}, {"query", ENOMEM}};
    expect_error(EINVAL, [&] { return xrcrcv_modify(domain_.get(), qpn, &attr, IBV_QP_STATE); });
    expect_error(ENOMEM, [&] { return xrcrcv_query(domain_.get(), qpn, &attr, 0, &init_attr); });
    EXPECT_THAT(kernel_.open_handles, IsEmpty());
    EXPECT_THAT(kernel_.requests, ElementsAre("find", "open", "modify", "destroy", "find", "open",
                                              "query", "destroy", "find", "open", "modify",
                                              "destroy", "find", "open", "query", "destroy"));
}

TEST_F(Calls, FailedQueryChangesNothing) {
    const std::uint32_t qpn = created();
    ibv_qp_attr attr{};
    ibv_qp_init_attr init_attr{};

    attr.dest_qp_num = 0x1234;
    init_attr.sq_sig_all = 5;
    kernel_.failures["query"] = ENOMEM;
    expect_error(ENOMEM, [&] { return xrcrcv_query(domain_.get(), qpn, &attr, 0, &init_attr); });
    EXPECT_EQ(attr.dest_qp_num, 0x1234);
    EXPECT_EQ(init_attr.sq_sig_all, 5);
}

TEST_F(Calls, SuccessKeepsErrno) {
    const std::uint32_t qpn = created();
    ibv_qp_attr attr{};
    ibv_qp_init_attr init_attr{};

    errno = 77;
    EXPECT_EQ(xrcrcv_modify(domain_.get(), qpn, &attr, IBV_QP_STATE), 0);
    EXPECT_EQ(xrcrcv_query(domain_.get(), qpn, &attr, 0, &init_attr), 0);
    EXPECT_EQ(xrcrcv_register(domain_.get(), qpn), 0);
    EXPECT_EQ(xrcrcv_unregister(domain_.get(), qpn), 0);
    EXPECT_EQ(errno, 77);
}

TEST_F(Calls, EventOfClosedHandleAcknowledged) {
    (void)created();
    ibv_async_event event{};

    // libibverbs takes the user handle as the QP, and counts the acknowledgement there.
    event.event_type = IBV_EVENT_COMM_EST;
    event.element.qp = reinterpret_cast<ibv_qp*>(static_cast<std::uintptr_t>(kernel_.user_handle));
    ibv_ack_async_event(&event);
    EXPECT_EQ(event.element.qp->events_completed, 1U);
}

TEST(Event, FlagMarksEventsOfRegisteredQps) {
    ibv_async_event event{};
    std::uint32_t qpn = 1;
    ibv_event_type type = IBV_EVENT_SM_CHANGE;

    event.element.port_num = 0xabcdef;
    event.event_type = IBV_EVENT_PORT_ACTIVE;
    EXPECT_EQ(xrcrcv_event(&event, &qpn, &type), 0);
    EXPECT_EQ(qpn, 1U);
    EXPECT_EQ(type, IBV_EVENT_SM_CHANGE);
    // Value of the kernel: 4 is IBV_EVENT_COMM_EST.
    const std::uint32_t flagged = 0x80000004;
    std::memcpy(&event.event_type, &flagged, sizeof(flagged));
    EXPECT_EQ(xrcrcv_event(&event, &qpn, &type), 1);
    EXPECT_EQ(qpn, 0xabcdefU);
    EXPECT_EQ(type, IBV_EVENT_COMM_EST);
}

} // namespace
} // namespace xrcrcv::tests
