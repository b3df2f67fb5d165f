// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/**
 * @file
 * ioctl() for tests: replaces the RDMA core and the driver without a device.
 */
#pragma once

#include <cstdint>
#include <functional>
#include <infiniband/verbs.h>
#include <map>
#include <rdma/ib_user_verbs.h>
#include <set>
#include <string>
#include <vector>

namespace xrcrcv::tests {

/**
 * An open device with XRC domains, QPs and registrations. ioctl() uses the newest one.
 */
class FakeKernel {
public:
    /** File descriptors that no open file has. */
    static constexpr int command_fd = 1000001;
    static constexpr int events_fd = 1000002;

    FakeKernel();
    FakeKernel(const FakeKernel&) = delete;
    FakeKernel& operator=(const FakeKernel&) = delete;
    FakeKernel(FakeKernel&&) = delete;
    FakeKernel& operator=(FakeKernel&&) = delete;
    ~FakeKernel();

    /**
     * RDMA_DRIVER_MLX5 of the kernel's interface; other values are other drivers.
     */
    std::uint32_t driver_id = 1;
    /** cxib supports registrations, mlx5_ib does not. */
    bool has_registrations = true;
    /** The device was removed. */
    bool is_gone = false;
    /** Handles of XRC domains. */
    std::set<std::uint32_t> domains;
    /** Numbers of receive QPs with the handle of their XRC domain. */
    std::map<std::uint32_t, std::uint32_t> qps;
    /** Open QP handles with the number of their QP. */
    std::map<std::uint32_t, std::uint32_t> open_handles;
    /** Handles of registrations with the number of their QP. */
    std::map<std::uint32_t, std::uint32_t> registrations;
    /** Errno of requests that fail, by name. */
    std::map<std::string, int> failures;
    /** Errno of requests that fail the first time, by name. */
    std::map<std::string, int> first_failures;
    /** Called when one of these requests fails. */
    std::function<void()> on_failure = [] {};
    /** Handles of other objects than XRC domains. */
    std::set<std::uint32_t> other_handles;
    /** Names of the requests that arrived with the handle of an XRC domain. */
    std::vector<std::string> requests;
    /** Event file descriptor of the last registration. */
    int registered_events_fd = -1;
    /** The last modify request. */
    ib_uverbs_modify_qp modify{};
    /** The last query request. */
    ib_uverbs_query_qp query{};
    /** The response to a query. */
    ib_uverbs_query_qp_resp query_response{};
    /** User handle of the last created or opened QP. */
    std::uint64_t user_handle = 0;

    /** ioctl(RDMA_VERBS_IOCTL) of command_fd: 0 or a positive errno. */
    int execute(void* message);

private:
    struct Call;

    int dispatch(Call& call);
    int device(Call& call);
    int write_command(Call& call);
    int registration(Call& call);
    int failure(const std::string& name);
    int check_domain(std::uint64_t handle) const;
    int add_handle(Call& call, std::uint32_t qpn);
    int create_qp(Call& call);
    int open_qp(Call& call);
    int destroy_qp(Call& call);
    int register_qp(Call& call, std::uint32_t qpn);
    int unregister_qp(Call& call, std::uint32_t qpn);

    std::uint32_t next_ = 7;
};

/** An XRC domain of libibverbs in a context of the fake kernel. */
class FakeDomain {
public:
    FakeDomain(FakeKernel& kernel, std::uint32_t handle);

    ibv_xrcd* get() { return &memory_.xrcd; }
    ibv_context* context() { return &context_; }
    void set_comp_mask(std::uint32_t mask) { memory_.comp_mask = mask; }

private:
    ibv_context context_{};
    struct {
        ibv_xrcd xrcd;
        std::uint32_t comp_mask;
        std::uint32_t handle;
    } memory_{};
};

} // namespace xrcrcv::tests
