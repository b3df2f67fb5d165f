// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Tests the names of 2008; compiled with the header of 2008.
#include "fake_kernel.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <infiniband/verbs.h>

namespace xrcrcv::tests {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/** Handle of the XRC domain; any number. */
constexpr std::uint32_t domain_handle = 42;

class NamesOf2008 : public ::testing::Test {
protected:
    /** Programs of 2008 set only the XRC domain. */
    ibv_qp_init_attr garbage_with_domain() {
        ibv_qp_init_attr init_attr;

        std::memset(&init_attr, 0xa5, sizeof(init_attr));
        init_attr.xrc_domain = domain_.get();
        return init_attr;
    }

    FakeKernel kernel_;
    FakeDomain domain_{kernel_, domain_handle};
};

template <typename Function>
void expect_error(int expected, Function function) {
    errno = 0;
    EXPECT_EQ(function(), expected);
    EXPECT_EQ(errno, expected);
}

template <typename Function>
void expect_no_object(int expected, Function function) {
    errno = 0;
    EXPECT_EQ(function(), nullptr);
    EXPECT_EQ(errno, expected);
}

TEST_F(NamesOf2008, CreateRequiresDomainOnly) {
    ibv_qp_init_attr init_attr = garbage_with_domain();
    std::uint32_t qpn = 0;

    EXPECT_EQ(ibv_create_xrc_rcv_qp(&init_attr, &qpn), 0);
    EXPECT_EQ(kernel_.qps.at(qpn), domain_handle);
}

TEST_F(NamesOf2008, CallsHaveOwnEffects) {
    ibv_qp_init_attr init_attr = garbage_with_domain();
    ibv_qp_attr attr{};
    std::uint32_t qpn = 0;

    ASSERT_EQ(ibv_create_xrc_rcv_qp(&init_attr, &qpn), 0);
    kernel_.requests.clear();
    kernel_.query_response.dest_qp_num = 0x777;
    EXPECT_EQ(ibv_modify_xrc_rcv_qp(domain_.get(), qpn, &attr, IBV_QP_STATE), 0);
    EXPECT_EQ(ibv_query_xrc_rcv_qp(domain_.get(), qpn, &attr, 0, &init_attr), 0);
    EXPECT_EQ(attr.dest_qp_num, 0x777U);
    EXPECT_EQ(init_attr.xrc_domain, domain_.get());
    EXPECT_EQ(ibv_reg_xrc_rcv_qp(domain_.get(), qpn), 0);
    EXPECT_EQ(ibv_unreg_xrc_rcv_qp(domain_.get(), qpn), 0);
    EXPECT_THAT(kernel_.requests,
                ElementsAre("find", "open", "modify", "destroy", "find", "open", "query", "destroy",
                            "register", "find", "unregister"));
    EXPECT_THAT(kernel_.registrations, IsEmpty());
}

TEST_F(NamesOf2008, NullArgumentsRefused) {
    ibv_qp_init_attr init_attr = garbage_with_domain();
    ibv_srq_init_attr srq_init_attr{};
    ibv_qp_attr attr{};
    ibv_pd pd{};
    ibv_cq cq{};
    std::uint32_t qpn = 0;

    expect_no_object(EINVAL, [&] { return ibv_open_xrc_domain(nullptr, -1, O_CREAT); });
    expect_error(EINVAL, [&] { return ibv_close_xrc_domain(nullptr); });
    expect_no_object(
        EINVAL, [&] { return ibv_create_xrc_srq(nullptr, domain_.get(), &cq, &srq_init_attr); });
    expect_no_object(EINVAL, [&] { return ibv_create_xrc_srq(&pd, nullptr, &cq, &srq_init_attr); });
    expect_no_object(
        EINVAL, [&] { return ibv_create_xrc_srq(&pd, domain_.get(), nullptr, &srq_init_attr); });
    expect_no_object(EINVAL, [&] { return ibv_create_xrc_srq(&pd, domain_.get(), &cq, nullptr); });
    expect_error(EINVAL, [&] { return ibv_create_xrc_rcv_qp(nullptr, &qpn); });
    expect_error(EINVAL, [&] { return ibv_create_xrc_rcv_qp(&init_attr, nullptr); });
    init_attr.xrc_domain = nullptr;
    expect_error(EINVAL, [&] { return ibv_create_xrc_rcv_qp(&init_attr, &qpn); });
    expect_error(EINVAL, [&] { return ibv_modify_xrc_rcv_qp(nullptr, 1, &attr, 0); });
    expect_error(EINVAL, [&] { return ibv_modify_xrc_rcv_qp(domain_.get(), 1, nullptr, 0); });
    expect_error(EINVAL, [&] { return ibv_query_xrc_rcv_qp(nullptr, 1, &attr, 0, &init_attr); });
    expect_error(EINVAL,
                 [&] { return ibv_query_xrc_rcv_qp(domain_.get(), 1, nullptr, 0, &init_attr); });
    expect_error(EINVAL, [&] { return ibv_query_xrc_rcv_qp(domain_.get(), 1, &attr, 0, nullptr); });
    expect_error(EINVAL, [&] { return ibv_reg_xrc_rcv_qp(nullptr, 1); });
    expect_error(EINVAL, [&] { return ibv_unreg_xrc_rcv_qp(nullptr, 1); });
    EXPECT_THAT(kernel_.requests, IsEmpty());
}

TEST_F(NamesOf2008, DomainWithoutFileAndCreationRefused) {
    for (const int flags : {0, O_EXCL})
        expect_no_object(EINVAL, [&] { return ibv_open_xrc_domain(domain_.context(), -1, flags); });
}

/** An open device whose XRC domain is opened and closed without libibverbs. */
class OpenedDomain : public NamesOf2008 {
protected:
    OpenedDomain() {
        verbs_.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
        verbs_.sz = sizeof(verbs_);
        verbs_.open_xrcd = [](ibv_context*, ibv_xrcd_init_attr*) { return opened; };
        verbs_.close_xrcd = [](ibv_xrcd* domain) {
            closed = domain;
            return 0;
        };
        opened = domain_.get();
        opened->context = &verbs_.context;
        verbs_.context.cmd_fd = FakeKernel::command_fd;
        closed = nullptr;
    }

    ibv_xrcd* open() { return ibv_open_xrc_domain(&verbs_.context, -1, O_CREAT); }

    static inline ibv_xrcd* opened;
    static inline ibv_xrcd* closed;

private:
    verbs_context verbs_{};
};

TEST_F(OpenedDomain, DriverWithRegistrationsKeepsIt) {
    EXPECT_EQ(open(), opened);
    EXPECT_EQ(closed, nullptr);
}

TEST_F(OpenedDomain, DriverWithoutRegistrationsClosesIt) {
    kernel_.has_registrations = false;
    expect_no_object(ENOSYS, [&] { return open(); });
    EXPECT_EQ(closed, opened);
}

TEST_F(OpenedDomain, DeviceRemovedMeanwhileReturnsEio) {
    kernel_.is_gone = true;
    expect_no_object(EIO, [&] { return open(); });
    EXPECT_EQ(closed, opened);
}

TEST_F(OpenedDomain, FailedQueryReturnsItsError) {
    kernel_.failures["find"] = ENOMEM;
    expect_no_object(ENOMEM, [&] { return open(); });
    EXPECT_EQ(closed, opened);
}

TEST(HeaderOf2008, MembersSharePlacesWithCurrentOnes) {
    ibv_send_wr wr{};
    ibv_async_event event{};

    wr.xrc_remote_srq_num = 0x1234;
    EXPECT_EQ(wr.qp_type.xrc.remote_srqn, 0x1234U);
    event.element.port_num = 0x4321;
    EXPECT_EQ(event.element.xrc_qp_num, 0x4321U);
    EXPECT_EQ(IBV_QPT_XRC, IBV_QPT_XRC_SEND);
    // The value is that of the kernel's interface. Later values of the enumeration are unchanged.
    EXPECT_EQ(IBV_QPT_XRC_RECV, 10);
}

/** Arguments of the last call of libibverbs' ibv_create_qp(), which this test replaces. */
ibv_qp_init_attr created_with;

TEST(HeaderOf2008, CreateQpByAddressOrMemberDropsSrq) {
    struct {
        ibv_qp* (*ibv_create_qp)(ibv_pd*, ibv_qp_init_attr*);
    } const verbs{.ibv_create_qp = &ibv_create_qp};
    ibv_srq srq{};
    ibv_qp_init_attr init_attr{.srq = &srq, .qp_type = IBV_QPT_XRC};

    for (const auto create : {verbs.ibv_create_qp, &ibv_create_qp}) {
        created_with.srq = &srq;
        EXPECT_EQ(create(nullptr, &init_attr), nullptr);
        EXPECT_EQ(created_with.srq, nullptr);
        EXPECT_EQ(init_attr.srq, &srq);
    }
    init_attr.qp_type = IBV_QPT_RC;
    EXPECT_EQ(ibv_create_qp(nullptr, &init_attr), nullptr);
    EXPECT_EQ(created_with.srq, &srq);
}

} // namespace
} // namespace xrcrcv::tests

#undef ibv_create_qp

extern "C" ibv_qp* ibv_create_qp(ibv_pd* /*pd*/, ibv_qp_init_attr* init_attr) {
    xrcrcv::tests::created_with = *init_attr;
    return nullptr;
}
