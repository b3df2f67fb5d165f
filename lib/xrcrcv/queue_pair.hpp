// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/**
 * @file
 * QP handles of the RDMA core for XRC receive QPs. Each one exists during one call of the library.
 */
#pragma once

#include "domain.hpp"

#include <cstdint>

namespace xrcrcv {

/**
 * A handle of a QP in the kernel. The destructor destroys the handle; the QP continues to exist if
 * it is registered or open elsewhere. All functions return 0 or a positive errno.
 */
class QueuePair {
public:
    explicit QueuePair(const Domain& domain) : domain_(domain) {}
    QueuePair(const QueuePair&) = delete;
    QueuePair& operator=(const QueuePair&) = delete;
    QueuePair(QueuePair&&) = delete;
    QueuePair& operator=(QueuePair&&) = delete;
    ~QueuePair() { (void)close(); }

    /** Creates a QP. */
    [[nodiscard]] int create();

    /** Opens the QP with this number. EINVAL: the XRC domain has no such QP. */
    [[nodiscard]] int open(std::uint32_t qpn);

    /** Modifies the attributes in @p mask. */
    [[nodiscard]] int modify(const ibv_qp_attr& attr, int mask) const;

    /** Returns all attributes. */
    [[nodiscard]] int query(ibv_qp_attr& attr, ibv_qp_init_attr& init_attr) const;

    /** Destroys the handle, if there is one. */
    int close();

    /** Number of the QP that was created or opened. */
    [[nodiscard]] std::uint32_t number() const { return number_; }

private:
    const Domain& domain_;
    bool has_handle_ = false;
    std::uint32_t handle_ = 0;
    std::uint32_t number_ = 0;
};

} // namespace xrcrcv
