// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/**
 * @file
 * ioctl() of a test program: what the RDMA core and the driver do for the library, without a
 * device.
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

/** An open device with XRC domains, QPs and registrations. One at a time: ioctl() uses the newest.
 */
class FakeKernel {
public:
    /** File descriptors of no file, so that nothing else takes them. */
    static constexpr int command_fd = 1000001;
    static constexpr int events_fd = 1000002;

    FakeKernel();
    FakeKernel(const FakeKernel&) = delete;
    FakeKernel& operator=(const FakeKernel&) = delete;
    FakeKernel(FakeKernel&&) = delete;
    FakeKernel& operator=(FakeKernel&&) = delete;
    ~FakeKernel();

    /** RDMA_DRIVER_MLX5 of the kernel's interface; another one is that of a device of another kind.
     */
    std::uint32_t driver_id = 1;
    /** cxib has them, mlx5_ib does not. */
    bool has_registrations = true;
    /** The device was removed. */
    bool is_gone = false;
    /** Handles of XRC domains. */
    std::set<std::uint32_t> domains;
    /** Numbers of receive QPs, with the handle of their XRC domain. */
    std::map<std::uint32_t, std::uint32_t> qps;
    /** QP handles that are open, with the number of the QP. */
    std::map<std::uint32_t, std::uint32_t> open_handles;
    /** Handles of registrations, with the number of the QP. */
    std::map<std::uint32_t, std::uint32_t> registrations;
    /** Requests that fail instead, by name, with their errno. */
    std::map<std::string, int> failures;
    /** Requests that fail the first time, by name, with their errno. */
    std::map<std::string, int> first_failures;
    /** Called when one of these fails. */
    std::function<void()> on_failure = [] {};
    /** Handles of objects that are no XRC domains. */
    std::set<std::uint32_t> other_handles;
    /** Names of the requests that arrived with the handle of an XRC domain. */
    std::vector<std::string> requests;
    /** File descriptor of events of the last registration. */
    int registered_events_fd = -1;
    /** The last request to modify. */
    ib_uverbs_modify_qp modify{};
    /** The last request to query. */
    ib_uverbs_query_qp query{};
    /** The response to a query. */
    ib_uverbs_query_qp_resp query_response{};
    /** User handle of the last QP that was created or opened. */
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

/** An XRC domain as libibverbs has it, of a context of the fake kernel. */
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
