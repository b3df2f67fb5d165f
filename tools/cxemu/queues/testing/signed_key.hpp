// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// A signature mkey, created and used as in a driver.
#pragma once

#include "memory/memory_keys.hpp"
#include "memory/testing/signature_description.hpp"
#include "memory/umr.hpp"
#include "queues/testing/bench.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <vector>

namespace cxemu::queues::testing {

/// Place of the KLMs and the BSF of a UMR.
enum class UmrLists : std::uint8_t { in_request, in_memory };

/// An mkey with all rights, whose two PSVs start with all ones.
class SignedKey {
public:
    explicit SignedKey(Bench& bench);

    /// PSV numbers for BSFs.
    [[nodiscard]] std::uint32_t wire_variable() const { return wire_; }
    [[nodiscard]] std::uint32_t memory_variable() const { return memory_; }
    [[nodiscard]] std::uint32_t key() const { return key_; }

    /// Registers \p length bytes at bus address \p address with signatures, by a UMR with the
    /// number of seen errors.
    std::expected<void, memory::UmrFault>
    configure(std::uint64_t address, std::uint32_t length,
              memory::testing::SignatureDescription& description,
              UmrLists lists = UmrLists::in_request);
    /// The next UMR acknowledges one more error.
    void error_seen() { ++errors_seen_; }

private:
    std::uint32_t make_variable();
    std::vector<std::byte> place(std::vector<std::byte> lists, UmrLists where);

    Bench& bench_;
    std::uint32_t whole_memory_;
    std::uint32_t wire_;
    std::uint32_t memory_;
    std::uint32_t key_ = 0;
    std::uint32_t errors_seen_ = 1; ///< initial value of drivers
};

} // namespace cxemu::queues::testing
